//! From a summary to answers: one distribution per policy, and what it rests on.

use crate::block::Segment;
use crate::cell::Cell;
use crate::comparison::{compare, disparities};
use crate::correction::{Corrected, Correction, CorrectionChoice};
use crate::diagnostics::{self, Check, Diagnostics, Status};
use crate::distribution::{Distribution, Tail};
use crate::error::{Error, Result};
use crate::evaluation::{
    Cdf, Evaluation, Interval, LogFacts, PolicyEvaluation, QuantileEstimate, RewardFacts, SegmentEvaluation,
    TailEstimate,
};
use crate::settings::Settings;
use crate::spec::{LOGGING, Spec};
use crate::structure::Structure;
use crate::summary::Summary;
use crate::weighted::{Bin, Weighted, occupied, term};

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
            half_width: None,
            if_order_holds: None,
            reason: None,
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
