//! What an evaluation says: plain values, as they go into JSON.

use serde::Serialize;

use crate::block::Segment;
use crate::correction::Correction;
use crate::diagnostics::{Diagnostics, Status};
use crate::structure::Structure;
use crate::trust::Trust;
use crate::uncertainty::Limits;

/// Everything a log says about its target policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The log itself.
    pub log: LogFacts,
    /// The policy that wrote the log, then the targets as given.
    pub policies: Vec<PolicyEvaluation>,
    /// Each target against the logging policy, then against the baseline, if there is one.
    pub comparisons: Vec<Comparison>,
    /// The same for each segment, ascending.
    pub segments: Vec<SegmentEvaluation>,
    /// How far apart segments are.
    pub disparities: Vec<Disparity>,
}

/// What is known of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogFacts {
    /// Number of slates.
    pub rows: u64,
    /// Number of slots of the longest slate; none where slots play no role.
    pub slots: Option<usize>,
    /// The logged rewards.
    pub reward: RewardFacts,
}

/// What is known of the logged rewards.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RewardFacts {
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// How many different ones, while they are told apart.
    pub distinct: Option<usize>,
}

/// An estimate with its interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Interval {
    /// The estimate; none if there is no sensible one.
    pub estimate: Option<f64>,
    /// Lower end of the interval.
    pub lower: Option<f64>,
    /// Upper end of the interval.
    pub upper: Option<f64>,
    /// The narrower interval that holds if the order chosen from the data is right; none where no order was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_order_holds: Option<Bounds>,
    /// Whether there is an interval only under a structure that the log is too thin to test: then `lower` and `upper` are
    /// none, and [`if_order_holds`](Self::if_order_holds) has it.
    #[serde(skip_serializing_if = "is_false")]
    pub conditional: bool,
    /// Whether the log contradicts the structure that was asked for by name, and that the interval rests on.
    #[serde(skip_serializing_if = "is_false")]
    pub refuted: bool,
    /// Why something is missing, or what stands against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The two ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// Lower end.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
}

/// A quantile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuantileEstimate {
    /// Its level.
    pub level: f64,
    /// The estimate.
    #[serde(flatten)]
    pub interval: Interval,
}

/// VaR or CVaR at one tail probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TailEstimate {
    /// The tail's probability.
    pub alpha: f64,
    /// The estimate.
    #[serde(flatten)]
    pub interval: Interval,
}

/// The CDF at the largest reward of each bin: `F(v)` counts rewards `<= v`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cdf {
    /// Where.
    pub reward: Vec<f64>,
    /// As estimated: it may fall or leave [0, 1].
    pub raw: Vec<f64>,
    /// Made a CDF by rearrangement.
    pub estimate: Vec<f64>,
    /// Lower end of the band.
    pub lower: Vec<Option<f64>>,
    /// Upper end of the band.
    pub upper: Vec<Option<f64>>,
    /// Half the width of a band of constant width, before it is clipped to [0, 1].
    pub half_width: Option<f64>,
    /// The narrower band that holds if the order chosen from the data is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_order_holds: Option<CdfBand>,
    /// As for an [`Interval`].
    #[serde(skip_serializing_if = "is_false")]
    pub conditional: bool,
    /// As for an [`Interval`].
    #[serde(skip_serializing_if = "is_false")]
    pub refuted: bool,
    /// Why there is no band, or what stands against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A band around a CDF.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CdfBand {
    /// Its lower end.
    pub lower: Vec<Option<f64>>,
    /// Its upper end.
    pub upper: Vec<Option<f64>>,
}

/// How the order of the weights was chosen from the data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selection {
    /// What was found out about each order from 2 on.
    pub orders: Vec<OrderTest>,
    /// The order used for the CDF and what is read off it.
    pub cdf: usize,
    /// The order used for the mean.
    pub mean: usize,
    /// The order used for variance and standard deviation: that of the squared reward, which is seldom the mean's.
    pub variance: usize,
    /// The order that the CDF's band is centred at: one more than its estimate's, where the log can carry it.
    pub band: Option<usize>,
    /// Why, in words.
    pub reason: String,
}

/// Whether effects of exactly this many slots show in the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrderTest {
    /// How many slots.
    pub order: usize,
    /// Whether effects of more slots are meant as well.
    #[serde(skip_serializing_if = "is_false")]
    pub and_above: bool,
    /// `sup_v |mean[H (1{R <= v} - p(v))]|` with `H = e_order(Z)` and `p` the logged CDF.
    pub statistic: f64,
    /// What it has to exceed.
    pub critical: f64,
    /// Whether it does.
    pub active: bool,
    /// Effective sample size of weights up to this order.
    pub design_ess: Option<f64>,
    /// The same for the mean: `|mean[H (R - mean R)]|`.
    pub mean: FunctionalTest,
    /// The same for the second moment: `|mean[H ((R - mean R)^2 - var R)]|`.
    pub variance: FunctionalTest,
}

/// One test of one order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FunctionalTest {
    /// The statistic.
    pub statistic: f64,
    /// What it has to exceed.
    pub critical: f64,
    /// Whether it does.
    pub active: bool,
}

/// How strongly two slots' effects on the reward depend on each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interaction {
    /// The policy whose change of slots it is.
    pub policy: String,
    /// The two slots, counted from 1.
    pub slots: [usize; 2],
    /// `sup_v |mean[Z_j Z_k (1{R <= v} - p(v))]|`: how far the pair moves the CDF.
    pub strength: f64,
    /// What it has to exceed to be told from noise, all pairs considered.
    pub critical: f64,
    /// Whether it does.
    pub active: bool,
}

/// One policy's reward distribution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyEvaluation {
    /// Its name.
    pub name: String,
    /// The structure used; none for the logging policy, as for the correction.
    pub structure: Option<Structure>,
    /// The correction used.
    pub correction: Option<Correction>,
    /// How the structure was chosen, where it was.
    pub selection: Option<Selection>,
    /// The mean reward.
    pub mean: Interval,
    /// Its variance.
    pub variance: Interval,
    /// Its standard deviation.
    pub std: Interval,
    /// Its interquartile range.
    pub iqr: Interval,
    /// Quantiles.
    pub quantiles: Vec<QuantileEstimate>,
    /// Values at risk.
    pub var: Vec<TailEstimate>,
    /// Conditional values at risk: means of the tails.
    pub cvar: Vec<TailEstimate>,
    /// The whole distribution.
    pub cdf: Cdf,
    /// What it rests on.
    pub diagnostics: Diagnostics,
}

/// A target against another policy: differences, target minus baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The target.
    pub policy: String,
    /// What it is compared with.
    pub baseline: String,
    /// Whether intervals account for both policies being judged by the same rows.
    pub paired: bool,
    /// Difference of means.
    pub mean: Interval,
    /// Differences of CVaR.
    pub cvar: Vec<TailEstimate>,
    /// Differences of quantiles.
    pub quantiles: Vec<QuantileEstimate>,
    /// The same differences with intervals that hold for all of these levels at once: for pictures, not for JSON.
    #[serde(skip)]
    pub quantile_band: Vec<QuantileEstimate>,
    /// Whether one is shown to dominate; none where it cannot be told.
    pub dominance: Option<Dominance>,
}

/// First-order stochastic dominance: whose CDF is shown to lie below the other's wherever either is between 5% and 95%, and
/// nowhere shown to lie above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dominance {
    /// The policy's rewards are larger everywhere.
    Policy,
    /// The baseline's are.
    Baseline,
    /// Neither is shown.
    None,
}

/// One segment of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SegmentEvaluation {
    /// The column it was cut by.
    pub column: String,
    /// Its value.
    pub value: Segment,
    /// Number of slates.
    pub rows: u64,
    /// As for the whole log.
    pub policies: Vec<PolicyEvaluation>,
    /// As for the whole log.
    pub comparisons: Vec<Comparison>,
}

/// The largest difference between two segments under one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disparity {
    /// The policy.
    pub policy: String,
    /// `mean` or `cvar`.
    pub metric: &'static str,
    /// The tail, for CVaR.
    pub alpha: Option<f64>,
    /// The segment with the lowest value.
    pub low: Segment,
    /// The segment with the highest value.
    pub high: Segment,
    /// The difference.
    #[serde(flatten)]
    pub interval: Interval,
}

impl Interval {
    /// An estimate with its limits at each order they are taken at, that of the estimate first. The interval is that of the
    /// last, as far as it is to be trusted, and holds the estimate; where an order was chosen from the data, the first is
    /// given beside it.
    pub(crate) fn new(estimate: f64, levels: &[&Limits], selected: bool, trust: &Trust) -> Self {
        let include =
            |b: &Bounds| Bounds { lower: b.lower.map(|x| x.min(estimate)), upper: b.upper.map(|x| x.max(estimate)) };
        let none = || Err(String::new());
        let last = levels.last().map_or_else(none, |limits| limits.as_ref().map(include).map_err(Clone::clone));
        let first = levels.first().map_or_else(none, |limits| limits.as_ref().map(include).map_err(Clone::clone));
        let if_order_holds = first.as_ref().ok().copied().filter(|_| selected);
        let mut interval = Interval { estimate: Some(estimate), if_order_holds, ..Interval::default() };
        match (trust, last) {
            (Trust::Withheld(why), _) => interval.reason = Some(why.clone()),
            (Trust::Conditional(why), _) => match first {
                Ok(_) => (interval.conditional, interval.reason) = (true, Some(why.clone())),
                Err(reason) => interval.reason = Some(reason),
            },
            (_, Err(reason)) => interval.reason = Some(reason),
            (Trust::Stands | Trust::Refuted(_), Ok(b)) => {
                (interval.lower, interval.upper) = (b.lower, b.upper);
                if b.lower.is_none() || b.upper.is_none() {
                    interval.reason = Some("the band does not reach the level on one side or both".to_owned());
                }
                if let Trust::Refuted(why) = trust {
                    (interval.refuted, interval.reason) = (true, Some(why.clone()));
                }
            }
        }
        interval
    }

    /// A number without error.
    pub(crate) fn exact(estimate: f64) -> Self {
        let estimate = Some(estimate);
        Interval { estimate, lower: estimate, upper: estimate, ..Interval::default() }
    }

    pub(crate) fn missing(reason: &str) -> Self {
        Interval { reason: Some(reason.to_owned()), ..Interval::default() }
    }
}

impl Evaluation {
    /// One policy of the whole log.
    pub fn policy(&self, name: &str) -> Option<&PolicyEvaluation> {
        self.policies.iter().find(|p| p.name == name)
    }

    /// The worst outcome of any check, segments included.
    pub fn worst_status(&self) -> Status {
        let segments = self.segments.iter().flat_map(|s| &s.policies);
        self.policies.iter().chain(segments).map(|p| p.diagnostics.worst_status()).max().unwrap_or(Status::Ok)
    }
}
