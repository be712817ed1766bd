//! What checks found.

use crate::result::check::{Check, CheckName, Status};
use crate::result::reason::Reason;
use crate::result::selection::SelectionReason;
use crate::spec::correction::Correction;
use crate::spec::structure::Structure;

/// What a check found, with the numbers that say it.
///
/// `slateval-text` puts it into words.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Slot ratios and weights have mean 1, as they should.
    RatiosAverageOne,
    /// A ratio or the weight has another mean than 1.
    RatioMean {
        /// The slot, counted from 1; none for the weight.
        slot: Option<usize>,
        /// The mean.
        mean: f64,
        /// How far it lies from 1, in standard errors.
        deviation: f64,
        /// Whether the weights came ready-made.
        is_given: bool,
    },
    /// In these slots, counted from 1, the target is hardly ever likelier than logging.
    FewHits {
        /// The slots.
        slots: Vec<usize>,
        /// The fewest rows that would tell something.
        needed: u64,
    },
    /// The log lacks a part of what the target shows, and hardly any row makes up for it.
    NotShown {
        /// The slot, counted from 1.
        slot: Option<usize>,
        /// The share of the target that the log has: the mean of the ratio.
        share: f64,
    },
    /// The logging propensities were estimated from the log, and are taken as known.
    PropensitiesAreEstimated,
    /// Chi agrees with the logged ratios.
    ChiAgrees,
    /// Chi is below 0, which no policy's is.
    NegativeChi {
        /// How often.
        times: u64,
        /// Whether the correction would have used it.
        was_wanted: bool,
    },
    /// Too few rows to check chi by.
    ChiUntested,
    /// Chi disagrees with the logged ratios.
    ChiDisagrees {
        /// The slot where it does most, counted from 1.
        slot: usize,
        /// By how many standard errors.
        deviation: f64,
        /// Whether it was left unused for that, though the correction would have used it.
        was_dropped: bool,
    },
    /// The logging policy's slots look independent.
    SlotsLookIndependent,
    /// They do not.
    SlotsLookDependent {
        /// By how many standard errors.
        deviation: f64,
        /// The number of candidates that a log without repeats would have been drawn from, if the propensities tell it.
        pool: Option<usize>,
        /// What helps.
        remedy: Remedy,
    },
    /// The structure takes the target's slots to be independent given the context, which no log can show.
    TakesSlotsForIndependent(Structure),
    /// The log is worth this many rows of the target's own.
    WorthRows {
        /// The rows.
        rows: f64,
        /// Whether they are enough.
        is_enough: bool,
        /// What helps if they are not.
        remedy: Remedy,
    },
    /// The smallest tail rests on this many effective rows.
    TailRows {
        /// The tail's probability.
        alpha: f64,
        /// The rows.
        rows: f64,
        /// Whether they are enough.
        is_enough: bool,
    },
    /// No single row decides the result.
    WeightIsSpread,
    /// One row carries this share of all weight.
    WeightIsConcentrated(f64),
    /// All weights are 0.
    NoWeight,
    /// No single reward decides the mean or the variance.
    RewardsAreSpread,
    /// The rewards' tail is so heavy that rows not yet seen may decide the variance.
    RewardsHaveHeavyTail {
        /// The tail's index.
        index: f64,
        /// Whether such rows may decide the mean as well.
        decides_mean: bool,
        /// The largest shares of one row.
        shares: RowShares,
    },
    /// A single reward weighs heavily in the mean and the variance.
    LargeReward(RowShares),
    /// The paper's weight of this order is biased.
    PaperOrderIsBiased(usize),
    /// How the order was chosen, and what vouches for it.
    Order(Box<SelectionReason>),
    /// No effect shows that the structure leaves out.
    StructureStands(Structure),
    /// Effects show that the structure leaves out.
    StructureRefuted {
        /// What shows.
        why: Reason,
        /// What cannot be relied on.
        spoils: Vec<Functional>,
        /// What helps.
        remedy: Remedy,
    },
    /// Rows are clustered.
    Clusters {
        /// The groups that hold clusters.
        groups: usize,
        /// The groups that there are.
        of: usize,
        /// How far they go.
        enough: Enough,
    },
    /// What a guaranteed band rests on.
    Guarantee {
        /// The smallest weight that there can be.
        least: f64,
        /// The largest.
        most: f64,
        /// What the guarantee lacks; none if it stands.
        lacks: Option<Lack>,
    },
    /// The weight never varies, so that it cannot correct anything.
    WeightNeverVaries,
    /// The slot ratios are linearly dependent: the correction uses fewer of them.
    RatiosDependent,
    /// The ratios of these slots, counted from 1, never vary: the correction does without them. That is normal for a
    /// target that leaves these slots as they are.
    RatiosNeverVary(Vec<usize>),
    /// The weights sum to almost nothing or less, so that they cannot be made to sum to 1.
    WeightsSumToNothing {
        /// Their mean, which should be 1.
        mean: f64,
        /// The correction asked for.
        correction: Correction,
    },
    /// One row has no variance.
    VarianceOfOneRow,
    /// The variance came out at or below 0 and is not given.
    NoVariance(Remedy),
    /// The variance has an estimate, but no interval.
    VarianceHasNoInterval(Reason),
    /// The quantile of a level lies in a bin that holds much of the distribution.
    CoarseBin {
        /// The level.
        level: f64,
        /// The share of the bin.
        share: f64,
    },
    /// Rows or files that could not be used were left out of the log.
    PartsSkipped {
        /// The rows.
        rows: u64,
        /// Their share in all rows.
        share: f64,
        /// Whole files.
        files: u64,
    },
}

/// What kind of change helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Another structure may.
    Structure,
    /// The propensities did not pass their check, or too few rows tell whether they are right. What they spoil, they spoil for
    /// every structure: none helps.
    Propensities,
}

impl Remedy {
    /// Given the check of propensities.
    pub(crate) fn after(propensities: &Check) -> Self {
        let is_unsupported = matches!(propensities.finding, Finding::FewHits { .. } | Finding::NotShown { .. });
        if propensities.status == Status::Fail || is_unsupported { Remedy::Propensities } else { Remedy::Structure }
    }
}

/// The largest shares of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowShares {
    /// In the weighted squares of the rewards.
    pub squares: f64,
    /// In the weighted rewards.
    pub rewards: f64,
}

/// What is estimated of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Functional {
    /// The CDF and what is read off it.
    Cdf,
    /// The mean.
    Mean,
    /// The variance and the standard deviation.
    Variance,
}

/// Whether there are enough groups of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    /// Enough.
    Yes,
    /// So few that intervals are too narrow.
    Hardly,
    /// Too few for intervals.
    No,
}

/// What keeps a band from being guaranteed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// The order was chosen from the data.
    FixedOrder,
    /// The bounds of the weights come from the log itself.
    KnownBounds,
}

impl Finding {
    /// The check that found it.
    pub fn name(&self) -> CheckName {
        match self {
            Finding::RatiosAverageOne
            | Finding::RatioMean { .. }
            | Finding::FewHits { .. }
            | Finding::NotShown { .. } => CheckName::Propensities,
            Finding::PropensitiesAreEstimated => CheckName::EstimatedPropensities,
            Finding::ChiAgrees | Finding::NegativeChi { .. } | Finding::ChiUntested | Finding::ChiDisagrees { .. } => {
                CheckName::Chi
            }
            Finding::SlotsLookIndependent | Finding::SlotsLookDependent { .. } => CheckName::Factored,
            Finding::TakesSlotsForIndependent(_) => CheckName::TargetSlots,
            Finding::WorthRows { .. } => CheckName::Ess,
            Finding::TailRows { .. } => CheckName::Tail,
            Finding::WeightIsSpread | Finding::WeightIsConcentrated(_) | Finding::NoWeight => CheckName::Concentration,
            Finding::RewardsAreSpread | Finding::RewardsHaveHeavyTail { .. } | Finding::LargeReward(_) => {
                CheckName::Rewards
            }
            Finding::PaperOrderIsBiased(_) => CheckName::Bias,
            Finding::Order(_) => CheckName::Order,
            Finding::StructureStands(_) | Finding::StructureRefuted { .. } => CheckName::Structure,
            Finding::Clusters { .. } => CheckName::Clusters,
            Finding::Guarantee { .. } => CheckName::Guarantee,
            Finding::WeightNeverVaries
            | Finding::RatiosDependent
            | Finding::RatiosNeverVary(_)
            | Finding::WeightsSumToNothing { .. } => CheckName::Correction,
            Finding::VarianceOfOneRow | Finding::NoVariance(_) | Finding::VarianceHasNoInterval(_) => {
                CheckName::Variance
            }
            Finding::CoarseBin { .. } => CheckName::Bins,
            Finding::PartsSkipped { .. } => CheckName::Skipped,
        }
    }
}
