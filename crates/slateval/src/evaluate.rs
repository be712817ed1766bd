//! From a summary to answers: one distribution per policy, how sure it is, and what it rests on.

use crate::block::Segment;
use crate::cell::Cell;
use crate::comparison::{Compared, compare, disparities};
use crate::correction::{Corrected, Correction, CorrectionChoice};
use crate::diagnostics::{self, Check, Diagnostics, Status};
use crate::distribution::Distribution;
use crate::error::{Error, Result};
use crate::estimator::{Estimator, weight_design_effect};
use crate::evaluation::{
    Cdf, CdfBand, Comparison, Evaluation, Interaction, Interval, LogFacts, OrderTest, PolicyEvaluation,
    QuantileEstimate, RewardFacts, SegmentEvaluation, Selection, TailEstimate,
};
use crate::interactions::interactions;
use crate::order_test::Tested;
use crate::selection::{tests_of_structure, trust_in_structure};
use crate::settings::Settings;
use crate::spec::{LOGGING, PolicySpec, Spec};
use crate::structure::Structure;
use crate::summary::Summary;
use crate::trust::{Trust, Trusts};
use crate::uncertainty::{COARSE, CurveBand, FINE, Level, Limits, NO_VARIANCE, Uncertainty};
use crate::weighted::{Bin, Weighted, occupied};

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
        let total = self.total_for(settings)?;
        let (min, max) = total.bins.range().ok_or(Error::NoRows)?;
        let reward = RewardFacts { min, max, distinct: total.bins.distinct() };
        let (policies, comparisons, trusts) = evaluate_cell(&self.spec, &total, None, settings)?;
        let segments = self.evaluate_segments(&trusts, settings)?;
        Ok(Evaluation {
            log: LogFacts { rows: total.rows, slots: self.slots(), reward },
            comparisons,
            disparities: disparities(&policies, &segments, settings),
            policies,
            segments,
        })
    }

    /// All rows, if these settings suit them.
    pub(crate) fn total_for(&self, settings: &Settings) -> Result<Cell> {
        settings.check_for(&self.spec)?;
        let total = self.total()?;
        self.spec.structure.check_longest(total.slots)?;
        Ok(total)
    }

    fn evaluate_segments(&self, whole: &[Trusts], settings: &Settings) -> Result<Vec<SegmentEvaluation>> {
        let Some(column) = &self.spec.by else { return Ok(Vec::new()) };
        let settings = &Settings { draws: settings.draws.min(SEGMENT_DRAWS), ..settings.clone() };
        let evaluate = |(value, cell): (&Segment, &Cell)| {
            let (policies, comparisons, _) = evaluate_cell(&self.spec, cell, Some(whole), settings)?;
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

    /// How strongly each two slots' effects on the reward depend on each other, strongest first. Needs a specification
    /// with [`interactions`](Spec::interactions).
    ///
    /// # Errors
    /// As [`evaluate`](Summary::evaluate), and [`Error::BadSetting`] if what it needs was not kept.
    pub fn interactions(&self, settings: &Settings) -> Result<Vec<Interaction>> {
        settings.check_for(&self.spec)?;
        let total = self.total()?;
        if total.layout.pairs.is_empty() {
            return Err(Error::BadSetting {
                setting: "interactions",
                value: "on".into(),
                why: "this summary was made without them".into(),
            });
        }
        let (bins, rows) = occupied(&total);
        let of = |(p, policy): (usize, &PolicySpec)| interactions(&total, p, &policy.name, (&bins, &rows), settings);
        Ok(self.spec.policies.iter().enumerate().flat_map(of).collect())
    }
}

/// Draws for each segment, of which there may be a thousand.
pub(crate) const SEGMENT_DRAWS: usize = 500;

/// Every policy of a cell, how they compare, and how far each target can be trusted. A segment is told the latter of the
/// whole log.
pub(crate) fn evaluate_cell(
    spec: &Spec,
    cell: &Cell,
    whole: Option<&[Trusts]>,
    settings: &Settings,
) -> Result<(Vec<PolicyEvaluation>, Vec<Comparison>, Vec<Trusts>)> {
    let (bins, rows) = occupied(cell);
    let logging = Estimator::of_logging(cell, Weighted::of_logging(cell, 0, &rows), &bins);
    let (uncertainty, _) = Uncertainty::new(cell, &rows, Level::of(&logging), None, settings)?;
    let diagnostics = Diagnostics::of_logging(cell.rows as f64);
    let mut policies =
        vec![describe((LOGGING, Level::of(&logging)), &[uncertainty], (None, &Trusts::STAND), diagnostics, settings)];
    let mut comparisons = Vec::new();
    let mut targets: Vec<Target<'_>> = (0..spec.policies.len())
        .map(|policy| Target::new(spec, cell, policy, &bins, &rows, settings))
        .collect::<Result<_>>()?;
    for (target, whole) in targets.iter_mut().zip(whole.unwrap_or_default()) {
        target.trusts = target.trusts.within(whole);
    }
    for target in &targets {
        let beside = Estimator::of_logging(cell, Weighted::of_logging(cell, target.policy, &rows), &bins);
        let (evaluation, comparison) = target.evaluate(cell, &rows, &beside, settings)?;
        policies.push(evaluation);
        comparisons.push(comparison);
    }
    for (policy, baseline) in cell.shape.compared() {
        comparisons.push(targets[policy].compare_with(&targets[baseline], cell, &rows, settings)?);
    }
    Ok((policies, comparisons, targets.into_iter().map(|target| target.trusts).collect()))
}

/// A target policy with its estimators: one of a fixed structure, or one of each order.
pub(crate) struct Target<'a> {
    name: &'a str,
    pub(crate) policy: usize,
    estimators: Vec<Estimator<'a>>,
    pub(crate) selection: Option<Selection>,
    /// For a structure asked for by name, whether anything shows in the log that it leaves out.
    tests: Vec<OrderTest>,
    /// How far its intervals can be trusted.
    pub(crate) trusts: Trusts,
    chi: Option<Check>,
    /// The places of the estimators used at each level of trust in the chosen order: first as chosen, then one above.
    pub(crate) levels: Vec<Places>,
}

/// Which estimator the CDF, the mean and the variance are read from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Places {
    cdf: usize,
    mean: usize,
    variance: usize,
}

impl<'a> Target<'a> {
    pub(crate) fn new(
        spec: &'a Spec,
        cell: &'a Cell,
        policy: usize,
        bins: &[Bin],
        rows: &[u32],
        settings: &Settings,
    ) -> Result<Self> {
        let name = spec.policies[policy].name.as_str();
        let kept = spec.structure == Structure::Auto;
        let fixed = settings.order(spec)?;
        let chosen = kept && fixed.is_none();
        let weighted = |order: usize| {
            if kept {
                Weighted::of_order(cell, policy, order, rows)
            } else {
                Weighted::of_structure(cell, policy, rows)
            }
        };
        let structure = |order: usize| if kept { Structure::Order(order) } else { spec.structure.clone() };
        let lowest = fixed.unwrap_or(1);
        let highest = if chosen { cell.shape.basis } else { lowest };
        let first = weighted(lowest);
        check_finite(cell, &first, name)?;
        let effect = weight_design_effect(cell, &first);
        let chi = diagnostics::chi(&structure(lowest), settings.correction, &first, effect);
        let chi_usable = chi.as_ref().is_some_and(|check| check.status != Status::Fail);
        let correction = resolve(settings.correction, &spec.structure, chi.as_ref(), name)?;
        let estimators: Vec<Estimator<'a>> = std::iter::once(first)
            .chain((lowest + 1..=highest).map(weighted))
            .zip(lowest..)
            .map(|(sums, order)| Estimator::of_target(cell, sums, structure(order), (correction, chi_usable), bins))
            .collect();
        let design_effect = Estimator::of_logging(cell, Weighted::of_logging(cell, policy, rows), bins).design_effect;
        let tested = Tested { cell, policy, bins, occupied: rows, design_effect, settings };
        let told_apart = cell.shape.basis > 1;
        let selection = chosen.then(|| Selection::choose(&tested, &estimators));
        let (tests, trusts) = match &selection {
            Some(selection) => (Vec::new(), selection.trusts(cell.slots, told_apart)),
            None => {
                let kept = if kept { cell.shape.basis.min(cell.slots) } else { 0 };
                let tests = tests_of_structure(&tested, &estimators[0], lowest + 1..=kept);
                let trusts = trust_in_structure(&tests);
                (tests, trusts)
            }
        };
        let levels = selection.as_ref().map_or(vec![Places { cdf: 0, mean: 0, variance: 0 }], levels);
        Ok(Target { name, policy, estimators, selection, tests, trusts, chi, levels })
    }

    pub(crate) fn level(&self, at: usize) -> Level<'_, 'a> {
        let Places { cdf, mean, variance } = self.levels[at.min(self.levels.len() - 1)];
        Level { cdf: &self.estimators[cdf], mean: &self.estimators[mean], variance: &self.estimators[variance] }
    }

    /// The target by itself, and against the logging policy.
    fn evaluate(
        &self,
        cell: &Cell,
        rows: &[u32],
        logging: &Estimator<'_>,
        settings: &Settings,
    ) -> Result<(PolicyEvaluation, Comparison)> {
        let (mut own, mut differences) = (Vec::new(), Vec::new());
        for at in 0..self.levels.len() {
            let (uncertainty, difference) =
                Uncertainty::new(cell, rows, self.level(at), Some(Level::of(logging)), settings)?;
            own.push(uncertainty);
            differences.extend(difference);
        }
        let level = self.level(0);
        let compared = Compared {
            policy: (self.name, level),
            baseline: (LOGGING, Level::of(logging)),
            selected: self.selection.is_some(),
            trusts: &self.trusts,
        };
        let comparison = compare(compared, &differences, settings);
        let diagnostics = self.diagnostics(cell, &own, settings);
        let basis = (self.selection.as_ref(), &self.trusts);
        let evaluation = describe((self.name, level), &own, basis, diagnostics, settings);
        Ok((evaluation, comparison))
    }

    fn compare_with(&self, other: &Target<'_>, cell: &Cell, rows: &[u32], settings: &Settings) -> Result<Comparison> {
        let mut differences = Vec::new();
        for at in 0..self.levels.len().max(other.levels.len()) {
            let (_, difference) = Uncertainty::new(cell, rows, self.level(at), Some(other.level(at)), settings)?;
            differences.extend(difference);
        }
        let both = |of: fn(&Trusts) -> &Trust| of(&self.trusts).and(of(&other.trusts)).clone();
        let trusts = Trusts { cdf: both(|t| &t.cdf), mean: both(|t| &t.mean), variance: both(|t| &t.variance) };
        let compared = Compared {
            policy: (self.name, self.level(0)),
            baseline: (other.name, other.level(0)),
            selected: self.selection.is_some(),
            trusts: &trusts,
        };
        Ok(compare(compared, &differences, settings))
    }

    pub(crate) fn diagnostics(&self, cell: &Cell, uncertainty: &[Uncertainty], settings: &Settings) -> Diagnostics {
        let estimator = self.level(0).cdf;
        let mut diagnostics = Diagnostics::new(estimator, &settings.alphas);
        diagnostics.checks.extend(self.chi.clone());
        diagnostics.checks.extend(controls_check(&estimator.corrected));
        diagnostics.checks.extend(self.selection.as_ref().map(|s| diagnostics::order(s, &self.trusts)));
        let named = estimator.structure.as_ref().filter(|_| self.selection.is_none());
        diagnostics.checks.extend(named.and_then(|s| diagnostics::structure(s, &self.tests, &self.trusts)));
        diagnostics
            .checks
            .extend(cell.groups.as_ref().map(|groups| diagnostics::clusters(groups.occupied(), groups.count)));
        let guarantee = uncertainty.last().and_then(|u| u.guarantee);
        diagnostics.checks.extend(guarantee.map(|g| diagnostics::guarantee(g, self.selection.is_some())));
        diagnostics
    }
}

/// As chosen, and one order above where the log can carry it.
fn levels(selection: &Selection) -> Vec<Places> {
    let chosen = Places { cdf: selection.cdf - 1, mean: selection.mean - 1, variance: selection.variance - 1 };
    let above = |order: usize| selection.guard(order) - 1;
    let guard = Places { cdf: above(selection.cdf), mean: above(selection.mean), variance: above(selection.variance) };
    if guard == chosen { vec![chosen] } else { vec![chosen, guard] }
}

fn check_finite(cell: &Cell, sums: &Weighted<'_>, name: &str) -> Result<()> {
    if cell.policies[sums.policy].gram.to_packed().iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    let largest = cell.bins.range().map(|(lo, hi)| lo.abs().max(hi.abs()));
    if let Some(largest) = largest.filter(|r| !(r.powi(4) * sums.n).is_finite()) {
        return Err(Error::HugeReward { largest });
    }
    let smallest = sums.tally().smallest.iter().copied().fold(1.0, f64::min);
    Err(Error::Overflow { policy: name.to_owned(), smallest })
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

/// Reads everything off a policy's distribution and moments.
fn describe(
    (name, level): (&str, Level<'_, '_>),
    uncertainty: &[Uncertainty],
    (selection, trusts): (Option<&Selection>, &Trusts),
    mut diagnostics: Diagnostics,
    settings: &Settings,
) -> PolicyEvaluation {
    let selected = selection.is_some();
    let trusted = |estimate: f64, of: &dyn Fn(&Uncertainty) -> &Limits, trust: &Trust| {
        Interval::new(estimate, &uncertainty.iter().map(of).collect::<Vec<_>>(), selected, trust)
    };
    let interval = |estimate: f64, of: &dyn Fn(&Uncertainty) -> &Limits| trusted(estimate, of, &trusts.cdf);
    let of_variance = |estimate: f64, of: &dyn Fn(&Uncertainty) -> &Limits| trusted(estimate, of, &trusts.variance);
    let (distribution, curve, tail) = (&level.cdf.distribution, level.cdf.distribution.curve(), settings.tail);
    let (variance, std, check) = match spread(&level.variance.distribution, level.variance.moments.variance) {
        Spread::Constant => (of_variance(0.0, &|u| &u.variance), of_variance(0.0, &|u| &u.std), None),
        Spread::Variance(v) => {
            let guard = uncertainty.last().and_then(|u| u.variance.as_ref().err());
            let check = guard.filter(|reason| reason.starts_with(NO_VARIANCE)).map(|reason| {
                Check::new("variance", Status::Warn, None, format!("the variance has no interval: {reason}"))
            });
            (of_variance(v, &|u| &u.variance), of_variance(v.sqrt(), &|u| &u.std), check)
        }
        Spread::Missing(reason, check) => (Interval::missing(reason), Interval::missing(reason), Some(check)),
    };
    diagnostics.checks.extend(check);
    diagnostics.checks.extend(coarse_bins(distribution, settings));
    let quantile = |(i, &level): (usize, &f64)| QuantileEstimate {
        level,
        interval: interval(curve.quantile(level), &|u| &u.quantiles[i]),
    };
    let var =
        |(i, &alpha): (usize, &f64)| TailEstimate { alpha, interval: interval(curve.var(alpha, tail), &|u| &u.var[i]) };
    let cvar = |(i, &alpha): (usize, &f64)| {
        let bias = uncertainty[0].cvar_bias.as_ref().filter(|_| settings.debias_cvar).map_or(0.0, |bias| bias[i]);
        TailEstimate { alpha, interval: interval(curve.cvar(alpha, tail) - bias, &|u| &u.cvar[i]) }
    };
    PolicyEvaluation {
        name: name.to_owned(),
        structure: level.cdf.structure.clone(),
        correction: level.cdf.structure.as_ref().map(|_| level.cdf.corrected.correction),
        selection: selection.cloned(),
        mean: trusted(level.mean.moments.origin + level.mean.moments.mean, &|u| &u.mean, &trusts.mean),
        variance,
        std,
        iqr: interval(curve.quantile(0.75) - curve.quantile(0.25), &|u| &u.iqr),
        quantiles: settings.quantiles.iter().enumerate().map(quantile).collect(),
        var: settings.alphas.iter().enumerate().map(var).collect(),
        cvar: settings.alphas.iter().enumerate().map(cvar).collect(),
        cdf: describe_cdf(distribution, uncertainty, selected, &trusts.cdf),
        diagnostics,
    }
}

/// The CDF with its band, which always holds the estimate.
fn describe_cdf(distribution: &Distribution, uncertainty: &[Uncertainty], selected: bool, trust: &Trust) -> Cdf {
    let estimate = &distribution.repaired;
    let holding = |band: &CurveBand| {
        let lower = band.lower.iter().zip(estimate).map(|(x, f)| Some(x.min(*f))).collect();
        let upper = band.upper.iter().zip(estimate).map(|(x, f)| Some(x.max(*f))).collect();
        CdfBand { lower, upper }
    };
    let band = |u: Option<&'_ Uncertainty>| u.map_or(Err(String::new()), |u| u.band.clone());
    let (first, last) = (band(uncertainty.first()), band(uncertainty.last()));
    let mut cdf = Cdf {
        reward: distribution.bins.iter().map(|b| b.max).collect(),
        raw: distribution.raw.clone(),
        estimate: estimate.clone(),
        lower: vec![None; estimate.len()],
        upper: vec![None; estimate.len()],
        half_width: None,
        if_order_holds: first.as_ref().ok().filter(|_| selected).map(holding),
        conditional: false,
        refuted: false,
        reason: None,
    };
    match (trust, last) {
        (Trust::Withheld(why), _) => cdf.reason = Some(why.clone()),
        (Trust::Conditional(why), _) => match first {
            Ok(_) => (cdf.conditional, cdf.reason) = (true, Some(why.clone())),
            Err(reason) => cdf.reason = Some(reason),
        },
        (_, Err(reason)) => cdf.reason = Some(reason),
        (Trust::Stands | Trust::Refuted(_), Ok(band)) => {
            let ends = holding(&band);
            (cdf.lower, cdf.upper, cdf.half_width) = (ends.lower, ends.upper, band.half_width);
            if let Trust::Refuted(why) = trust {
                (cdf.refuted, cdf.reason) = (true, Some(why.clone()));
            }
        }
    }
    cdf
}

/// Quantiles and tails are read inside a bin; one that holds much of the distribution has little to say about them.
fn coarse_bins(distribution: &Distribution, settings: &Settings) -> Option<Check> {
    let levels =
        settings.quantiles.iter().copied().chain(settings.alphas.iter().map(|&alpha| settings.tail.level(alpha)));
    let (share, level) =
        levels.map(|level| (distribution.curve().blur(level), level)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let status = match share {
        share if share > COARSE => Status::Fail,
        share if share > FINE => Status::Warn,
        _ => return None,
    };
    let message = format!(
        "the quantile at {level} lies in a bin of rewards that holds {:.0}% of the distribution, so quantiles, VaR and \
         CVaR are coarse: use --bins log for rewards over many orders of magnitude, or more --bins",
        100.0 * share
    );
    Some(Check::new("bins", status, Some(share), message))
}

/// What is known of the variance.
pub(crate) enum Spread {
    Constant,
    Variance(f64),
    Missing(&'static str, Check),
}

pub(crate) fn spread(distribution: &Distribution, variance: f64) -> Spread {
    let rows: f64 = distribution.bins.iter().map(|b| b.rows).sum();
    let constant = distribution.bins.first().map(|b| b.min) == distribution.bins.last().map(|b| b.max);
    if rows <= 1.0 {
        let reason = "one row has no variance";
        return Spread::Missing(reason, Check::new("variance", Status::Fail, None, reason));
    }
    if constant {
        return Spread::Constant;
    }
    if variance > 0.0 {
        return Spread::Variance(variance);
    }
    let message = "the variance came out at or below 0 and is not given: the square of the reward needs a structure of \
                   higher order than its mean, or the log has too few rows";
    let check = Check::new("variance", Status::Fail, Some(variance), message);
    Spread::Missing(NO_VARIANCE, check)
}
