//! From a summary to answers: one distribution per policy, differences between them, and what they rest on.

use serde::Serialize;

use crate::block::Segment;
use crate::cell::Cell;
use crate::correction::{Corrected, Correction, CorrectionChoice};
use crate::diagnostics::{self, Check, Diagnostics, Status};
use crate::distribution::{Distribution, Tail};
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::spec::{LOGGING, Spec};
use crate::structure::Structure;
use crate::summary::Summary;
use crate::weighted::{Bin, Weighted, occupied, term};

/// Everything a log says about its target policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The log itself.
    pub log: LogFacts,
    /// The policy that wrote the log, then the targets as given.
    pub policies: Vec<PolicyEvaluation>,
    /// Each target against the logging policy.
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interval {
    /// The estimate; none if there is no sensible one.
    pub estimate: Option<f64>,
    /// Lower end of the interval.
    pub lower: Option<f64>,
    /// Upper end of the interval.
    pub upper: Option<f64>,
    /// Why something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
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
    pub selection: Option<()>,
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
    /// Whether one CDF lies below the other everywhere; none where it cannot be told.
    pub dominance: Option<String>,
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

/// Why no interval is given.
const NO_INTERVALS: &str = "intervals are not computed";

impl Interval {
    fn point(estimate: f64) -> Self {
        Interval { estimate: Some(estimate), lower: None, upper: None, reason: Some(NO_INTERVALS.to_owned()) }
    }

    fn missing(reason: &str) -> Self {
        Interval { estimate: None, lower: None, upper: None, reason: Some(reason.to_owned()) }
    }

    fn minus(&self, other: &Interval) -> Interval {
        match (self.estimate, other.estimate) {
            (Some(a), Some(b)) => Interval::point(a - b),
            _ => Interval::missing("one of the two has no estimate"),
        }
    }
}

impl Summary {
    /// The reward distribution of every policy, with what it rests on.
    ///
    /// # Errors
    /// [`Error::NoRows`] for an empty summary, [`Error::BadSetting`], [`Error::Overflow`].
    ///
    /// ```
    /// use slateval::{Block, Field, Settings, Spec, Structure, Summary};
    ///
    /// // Two actions, shown equally often; the first is worth 1. The target shows it in 9 of 10 slates.
    /// let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"]))?;
    /// let mut block = Block::new(summary.spec());
    /// block.reset(2, 1);
    /// block.column_mut(Field::Reward).copy_from_slice(&[1.0, 0.0]);
    /// block.column_mut(Field::Logging { slot: 0 }).fill(0.5);
    /// block.column_mut(Field::Target { policy: 0, slot: 0 }).copy_from_slice(&[0.9, 0.1]);
    /// summary.add(&block)?;
    ///
    /// let evaluation = summary.evaluate(&Settings::default())?;
    /// let new = evaluation.policy("new").expect("it was asked for");
    /// assert!((new.mean.estimate.expect("there are rows") - 0.9).abs() < 1e-12);
    /// # Ok::<(), slateval::Error>(())
    /// ```
    pub fn evaluate(&self, settings: &Settings) -> Result<Evaluation> {
        settings.check_for(&self.spec)?;
        let total = self.total()?;
        self.spec.structure.check_longest(total.slots)?;
        let (min, max) = total.bins.range().ok_or(Error::NoRows)?;
        let reward = RewardFacts { min, max, distinct: total.bins.distinct() };
        let policies = evaluate_cell(&self.spec, &total, settings)?;
        let segments = self.evaluate_segments(settings)?;
        Ok(Evaluation {
            log: LogFacts { rows: total.rows, slots: self.slots(), reward },
            comparisons: compare(&policies),
            disparities: disparities(&policies, &segments),
            policies,
            segments,
        })
    }

    fn evaluate_segments(&self, settings: &Settings) -> Result<Vec<SegmentEvaluation>> {
        let Some(column) = &self.spec.by else { return Ok(Vec::new()) };
        let evaluate = |(value, cell): (&Segment, &Cell)| {
            let policies = evaluate_cell(&self.spec, cell, settings)?;
            let comparisons = compare(&policies);
            Ok(SegmentEvaluation {
                column: column.clone(),
                value: value.clone(),
                rows: cell.rows,
                policies,
                comparisons,
            })
        };
        self.cells.iter().map(evaluate).collect()
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

fn evaluate_cell(spec: &Spec, cell: &Cell, settings: &Settings) -> Result<Vec<PolicyEvaluation>> {
    let (bins, rows) = occupied(cell);
    let mut policies = vec![evaluate_logging(cell, &bins, settings)];
    for (policy, target) in spec.policies.iter().enumerate() {
        let sums = Weighted::new(cell, policy, &rows);
        if !sums.is_finite() {
            if let Some(largest) = largest_reward(cell).filter(|r| !(r.powi(4) * sums.n).is_finite()) {
                return Err(Error::HugeReward { largest });
            }
            let smallest = sums.tally().smallest.iter().copied().fold(1.0, f64::min);
            return Err(Error::Overflow { policy: target.name.clone(), smallest });
        }
        policies.push(evaluate_target(spec, &target.name, &sums, &bins, settings)?);
    }
    Ok(policies)
}

fn largest_reward(cell: &Cell) -> Option<f64> {
    cell.bins.range().map(|(lo, hi)| lo.abs().max(hi.abs()))
}

/// Mean and second moment about the cell's origin, and how the variance follows from them.
struct Moments {
    origin: f64,
    mean: f64,
    variance: f64,
}

fn evaluate_logging(cell: &Cell, bins: &[Bin], settings: &Settings) -> PolicyEvaluation {
    let sums = Weighted::new(cell, 0, &[]);
    let (r, r2) = (sums.rewards()[term::ONE], sums.squared_rewards()[term::ONE]);
    let moments = Moments {
        origin: cell.origin,
        mean: r / sums.n,
        // The unbiased sample variance.
        variance: (r2 - r * r / sums.n) / (sums.n - 1.0),
    };
    let diagnostics = Diagnostics::of_logging(sums.n);
    let distribution = Distribution::logged(bins.to_vec());
    describe(LOGGING, None, None, &distribution, &moments, diagnostics, settings)
}

fn evaluate_target(
    spec: &Spec,
    name: &str,
    sums: &Weighted<'_>,
    bins: &[Bin],
    settings: &Settings,
) -> Result<PolicyEvaluation> {
    let structure = &spec.structure;
    let chi = diagnostics::chi(structure, settings.correction, sums);
    let correction = resolve(settings.correction, structure, chi.as_ref(), name)?;
    let corrected = Corrected::new(correction, structure, sums);
    let mut diagnostics = Diagnostics::new(structure, sums, &settings.alphas);
    diagnostics.checks.extend(chi);
    diagnostics.checks.extend(controls_check(&corrected));
    let masses = sums.by_bin.iter().map(|terms| corrected.estimate(terms, sums.n));
    let distribution = Distribution::new(bins.to_vec(), masses);
    let moments = Moments::of_target(&corrected, sums);
    let used = Some((structure.clone(), corrected.correction));
    let (structure, correction) = used.unzip();
    Ok(describe(name, structure, correction, &distribution, &moments, diagnostics, settings))
}

fn controls_check(corrected: &Corrected) -> Option<Check> {
    let message = corrected.notes.join("; ");
    let status = if corrected.gave_up { Status::Fail } else { Status::Warn };
    (!message.is_empty()).then(|| Check::new("correction", status, None, message))
}

/// What `auto` means for one target, and what a target without a good chi gets in place of `calibrated`.
fn resolve(choice: CorrectionChoice, structure: &Structure, chi: Option<&Check>, name: &str) -> Result<Correction> {
    let usable = chi.is_some_and(|check| check.status != Status::Fail);
    Ok(match choice {
        _ if matches!(structure, Structure::PaperOrder(_)) => Correction::None,
        CorrectionChoice::Fixed(Correction::Calibrated) if chi.is_none() => {
            return Err(Error::BadSetting {
                setting: "correction",
                value: "calibrated".into(),
                why: format!("target `{name}` has no chi column; use auto, or add chi_k = sum_a pi_k(a)^2/mu_k(a) - 1"),
            });
        }
        CorrectionChoice::Auto | CorrectionChoice::Fixed(Correction::Calibrated) => {
            if usable {
                Correction::Calibrated
            } else {
                Correction::ControlVariate
            }
        }
        CorrectionChoice::Fixed(correction) => correction,
    })
}

impl Moments {
    fn of_target(corrected: &Corrected, sums: &Weighted<'_>) -> Self {
        let n = sums.n;
        let (rewards, squares) = (sums.rewards(), sums.squared_rewards());
        let (first, second) = (corrected.estimate(&rewards, n), corrected.estimate(&squares, n));
        let variance = match corrected.correction {
            // Exactly unbiased if E[R^2 | A] has the weight's order. Weights that do not sum to 1 are not indifferent
            // to the origin, so this one is taken about 0.
            Correction::None => {
                let o = sums.origin;
                let totals = sums.totals();
                let (g, gr, gr2) = (totals[term::G], rewards[term::G], squares[term::G]);
                let about_zero = gr + o * g;
                let second = gr2 + 2.0 * o * gr + o * o * g;
                let own_squares =
                    sums.squared_weighted_rewards() + 2.0 * o * rewards[term::GG] + o * o * totals[term::GG];
                second / n - (about_zero * about_zero - own_squares) / (n * (n - 1.0))
            }
            _ => second - first * first,
        };
        // Weights that do not sum to 1 move the origin's share too.
        let total = corrected.estimate(&sums.totals(), n);
        let mean = first + sums.origin * (total - 1.0);
        Moments { origin: sums.origin, mean, variance }
    }
}

/// Reads everything off a distribution and its moments.
fn describe(
    name: &str,
    structure: Option<Structure>,
    correction: Option<Correction>,
    distribution: &Distribution,
    moments: &Moments,
    mut diagnostics: Diagnostics,
    settings: &Settings,
) -> PolicyEvaluation {
    let (variance, std, check) = spread(distribution, moments.variance);
    diagnostics.checks.extend(check);
    diagnostics.checks.extend(coarse_bins(distribution, settings));
    let quantile = |&level: &f64| QuantileEstimate { level, interval: Interval::point(distribution.quantile(level)) };
    let tail = settings.tail;
    let var = |&alpha: &f64| TailEstimate { alpha, interval: Interval::point(distribution.var(alpha, tail)) };
    let cvar = |&alpha: &f64| TailEstimate { alpha, interval: Interval::point(distribution.cvar(alpha, tail)) };
    PolicyEvaluation {
        name: name.to_owned(),
        structure,
        correction,
        selection: None,
        mean: Interval::point(moments.origin + moments.mean),
        variance,
        std,
        iqr: Interval::point(distribution.quantile(0.75) - distribution.quantile(0.25)),
        quantiles: settings.quantiles.iter().map(quantile).collect(),
        var: settings.alphas.iter().map(var).collect(),
        cvar: settings.alphas.iter().map(cvar).collect(),
        cdf: Cdf {
            reward: distribution.bins.iter().map(|b| b.max).collect(),
            raw: distribution.raw.clone(),
            estimate: distribution.repaired.clone(),
            lower: vec![None; distribution.bins.len()],
            upper: vec![None; distribution.bins.len()],
        },
        diagnostics,
    }
}

/// Quantiles and tails are read inside a bin; one that holds much of the distribution has little to say about them.
fn coarse_bins(distribution: &Distribution, settings: &Settings) -> Option<Check> {
    let in_tail = |&alpha: &f64| if settings.tail == Tail::Lower { alpha } else { 1.0 - alpha };
    let levels = settings.quantiles.iter().copied().chain(settings.alphas.iter().map(in_tail));
    let (share, level) = levels.map(|level| (distribution.blur(level), level)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let status = match share {
        share if share > 0.2 => Status::Fail,
        share if share > 0.02 => Status::Warn,
        _ => return None,
    };
    let message = format!(
        "the quantile at {level} lies in a bin of rewards that holds {:.0}% of the distribution, so quantiles, VaR and \
         CVaR are coarse: use --bins log for rewards over many orders of magnitude, or more --bins",
        100.0 * share
    );
    Some(Check::new("bins", status, Some(share), message))
}

/// Variance and standard deviation, or why there are none.
fn spread(distribution: &Distribution, variance: f64) -> (Interval, Interval, Option<Check>) {
    let rows: f64 = distribution.bins.iter().map(|b| b.rows).sum();
    let constant = distribution.bins.first().map(|b| b.min) == distribution.bins.last().map(|b| b.max);
    if constant && rows > 1.0 {
        return (Interval::point(0.0), Interval::point(0.0), None);
    }
    if variance > 0.0 && rows > 1.0 {
        return (Interval::point(variance), Interval::point(variance.sqrt()), None);
    }
    let (reason, message) = if rows > 1.0 {
        (
            "the variance came out at or below 0",
            "the variance came out at or below 0 and is not given: the square of the reward needs a structure of \
             higher order than its mean, or the log has too few rows",
        )
    } else {
        ("one row has no variance", "one row has no variance")
    };
    let value = (rows > 1.0).then_some(variance);
    let missing = Interval::missing(reason);
    (missing.clone(), missing, Some(Check::new("variance", Status::Fail, value, message)))
}

fn compare(policies: &[PolicyEvaluation]) -> Vec<Comparison> {
    let Some((logging, targets)) = policies.split_first() else { return Vec::new() };
    let against = |target: &PolicyEvaluation| Comparison {
        policy: target.name.clone(),
        baseline: logging.name.clone(),
        paired: true,
        mean: target.mean.minus(&logging.mean),
        cvar: target.cvar.iter().zip(&logging.cvar).map(|(t, l)| t.minus(l)).collect(),
        quantiles: target.quantiles.iter().zip(&logging.quantiles).map(|(t, l)| t.minus(l)).collect(),
        dominance: None,
    };
    targets.iter().map(against).collect()
}

impl TailEstimate {
    fn minus(&self, other: &TailEstimate) -> TailEstimate {
        TailEstimate { alpha: self.alpha, interval: self.interval.minus(&other.interval) }
    }
}

impl QuantileEstimate {
    fn minus(&self, other: &QuantileEstimate) -> QuantileEstimate {
        QuantileEstimate { level: self.level, interval: self.interval.minus(&other.interval) }
    }
}

/// The segments furthest apart, for each policy: in mean, and in each CVaR.
fn disparities(policies: &[PolicyEvaluation], segments: &[SegmentEvaluation]) -> Vec<Disparity> {
    let mut found = Vec::new();
    for (p, policy) in policies.iter().enumerate() {
        let mut widest = |metric, alpha, of: &dyn Fn(&PolicyEvaluation) -> Option<f64>| {
            let values = segments.iter().filter_map(|s| Some((&s.value, of(&s.policies[p])?)));
            let low = values.clone().min_by(|a, b| a.1.total_cmp(&b.1));
            let high = values.max_by(|a, b| a.1.total_cmp(&b.1));
            if let (Some((low, least)), Some((high, most))) = (low, high) {
                let (low, high) = (low.clone(), high.clone());
                let interval = Interval::point(most - least);
                found.push(Disparity { policy: policy.name.clone(), metric, alpha, low, high, interval });
            }
        };
        widest("mean", None, &|p| p.mean.estimate);
        for (i, tail) in policy.cvar.iter().enumerate() {
            widest("cvar", Some(tail.alpha), &|p| p.cvar[i].interval.estimate);
        }
    }
    found
}
