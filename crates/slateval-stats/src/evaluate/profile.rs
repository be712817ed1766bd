//! Quantiles and tails at every level, for pictures and for readers who ask for one level more.

use crate::evaluate::evaluate_cell;
use crate::evaluate::policy_trust::Part;
use crate::evaluate::target::Steps;
use crate::result::comparison::Comparison;
use crate::result::evaluation::{PolicyEvaluation, Source};
use crate::result::interval::{Interval, QuantileEstimate, TailEstimate};
use crate::spec::error::Result;
use crate::spec::settings::Settings;
use crate::sums::Sums;

/// VaR, CVaR and differences of policies over many levels: the whole log's, as [`Sums::evaluate`] gives them for few.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Profile {
    /// Probabilities, ascending: of tails for VaR and CVaR, of quantiles for their differences.
    pub levels: Vec<f64>,
    /// The policy that wrote the log, then the targets as given.
    pub policies: Vec<PolicyProfile>,
    /// As in the evaluation.
    pub comparisons: Vec<ComparisonProfile>,
}

/// One policy's tails.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PolicyProfile {
    /// Its name.
    pub name: String,
    /// VaR of the tail of each level.
    pub var: Vec<Interval>,
    /// CVaR of the tail of each level.
    pub cvar: Vec<Interval>,
}

/// A target against another policy.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ComparisonProfile {
    /// The target.
    pub policy: String,
    /// What it is compared with.
    pub baseline: String,
    /// Difference of CVaR of the tail of each level.
    pub cvar: Vec<Interval>,
    /// Difference of the quantiles of each level.
    pub quantiles: Vec<Interval>,
    /// The same with intervals that hold at all levels at once.
    pub quantile_band: Vec<Interval>,
}

impl Profile {
    /// Levels for a picture: steps of 2.5%, finer in the outer twentieths, and the settings' own.
    pub fn levels(settings: &Settings) -> Vec<f64> {
        let outer = [1, 5, 10, 25].into_iter();
        let tenths = outer.clone().chain((50..=950).step_by(25)).chain(outer.map(|tenths| 1000 - tenths));
        let own = settings.alphas.iter().chain(&settings.quantiles).copied();
        let mut levels: Vec<f64> = tenths.map(|i| f64::from(i) / 1000.0).chain(own).collect();
        levels.sort_unstable_by(f64::total_cmp);
        levels.dedup();
        levels
    }
}

impl Sums {
    /// Every policy's tails and differences at many levels, such as [`Profile::levels`]. At a level of the settings the
    /// numbers are those of [`evaluate`](Sums::evaluate); only conditional intervals have
    /// [`if_order_holds`](Interval::if_order_holds).
    ///
    /// # Errors
    /// As [`evaluate`](Sums::evaluate).
    pub fn profile(&self, source: &Source, levels: &[f64], settings: &Settings) -> Result<Profile> {
        let dense =
            Settings { alphas: levels.to_vec(), quantiles: levels.to_vec(), at_least: Vec::new(), ..settings.clone() };
        let total = self.total_for(&dense)?;
        // CVaR without its bias needs the draws of the chosen order too.
        let steps = if settings.debias_cvar { Steps::Every } else { Steps::Shown };
        let skipped = self.skipped_check(source);
        let whole = Part::Whole { skipped: skipped.as_ref() };
        let (policies, comparisons, _) = evaluate_cell(self.spec(), total, whole, steps, &dense)?;
        Ok(Profile {
            levels: levels.to_vec(),
            policies: policies.into_iter().map(PolicyProfile::from).collect(),
            comparisons: comparisons.into_iter().map(ComparisonProfile::from).collect(),
        })
    }
}

impl From<PolicyEvaluation> for PolicyProfile {
    fn from(policy: PolicyEvaluation) -> Self {
        PolicyProfile { name: policy.name, var: tails(policy.var), cvar: tails(policy.cvar) }
    }
}

impl From<Comparison> for ComparisonProfile {
    fn from(comparison: Comparison) -> Self {
        ComparisonProfile {
            policy: comparison.policy,
            baseline: comparison.baseline,
            cvar: tails(comparison.cvar),
            quantiles: quantiles(comparison.quantiles),
            quantile_band: quantiles(comparison.quantile_band),
        }
    }
}

fn tails(estimates: Vec<TailEstimate>) -> Vec<Interval> {
    estimates.into_iter().map(|t| shown(t.interval)).collect()
}

fn quantiles(estimates: Vec<QuantileEstimate>) -> Vec<Interval> {
    estimates.into_iter().map(|q| shown(q.interval)).collect()
}

/// Without the ends of the chosen order, but where they are the only ones.
fn shown(interval: Interval) -> Interval {
    let if_order_holds = interval.if_order_holds.filter(|_| interval.conditional);
    Interval { if_order_holds, ..interval }
}
