//! A target policy with its estimators, the order chosen from the data and how far it can be trusted.
//! See docs/methods.md, sections 4.6 and 7.5.

use std::ops::Range;

use crate::checks::{assumptions, propensities, rows};
use crate::correction::corrected::Corrected;
use crate::correction::weight_sums::{Bin, WeightSums};
use crate::distribution::estimator::Estimator;
use crate::evaluate::comparison::{Compared, Side, compare};
use crate::evaluate::describe::{Described, describe};
use crate::evaluate::policy_trust::{Part, PolicyTrust};
use crate::influence::design::design_second_moment;
use crate::influence::function::weight_design_effect;
use crate::interval::draws::Grids;
use crate::interval::policy::{Estimators, Uncertainty};
use crate::order::choice::{tests_of_structure, trust_in_structure};
use crate::order::order_test::Tested;
use crate::result::check::{Check, Status};
use crate::result::comparison::Comparison;
use crate::result::diagnostics::Diagnostics;
use crate::result::evaluation::PolicyEvaluation;
use crate::result::finding::{Finding, Remedy};
use crate::result::selection::{OrderTest, Selection};
use crate::result::trust::{Trust, Trusts};
use crate::spec::correction::{Correction, CorrectionChoice};
use crate::spec::error::{Error, Result};
use crate::spec::propensity_source::PropensitySource;
use crate::spec::settings::Settings;
use crate::spec::specification::{LOGGING, Spec};
use crate::spec::structure::Structure;
use crate::sums::cell::Cell;

/// A target policy with its estimators: one of a fixed structure, or one of each order that something is read from.
pub(crate) struct Target<'a> {
    name: &'a str,
    pub(crate) policy: usize,
    estimators: Vec<Estimator<'a>>,
    pub(crate) selection: Option<Selection>,
    /// What its estimates rest on, but for what is only known once there are intervals.
    diagnostics: Diagnostics,
    /// What speaks against its intervals.
    pub(crate) trust: PolicyTrust,
    /// How far each of its intervals can be trusted.
    pub(crate) trusts: Trusts,
    /// The places of the estimators: first of the chosen orders, then of those that intervals are taken at.
    pub(crate) steps: Vec<Places>,
}

/// Which estimator the CDF, the mean and the variance are read from.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    cdf: usize,
    mean: usize,
    variance: usize,
}

/// The orders that intervals are computed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// The chosen order, and the one that intervals are taken at.
    Every,
    /// Only the one whose ends are shown of what is read off the CDF.
    Shown,
}

impl<'a> Target<'a> {
    /// A policy of the specification, in a part of the log; `logging` is the logging policy beside the target's ratios.
    pub(crate) fn new(
        spec: &'a Spec,
        cell: &'a Cell,
        (bins, places): (&[Bin], &[u32]),
        (policy, part): (usize, Part<'_>),
        logging: &Estimator<'a>,
        settings: &Settings,
        grids: &Grids,
    ) -> Result<Self> {
        let name = spec.policies[policy].name.as_str();
        let is_auto = spec.structure == Structure::Auto;
        let fixed = settings.order(spec)?;
        let chosen = is_auto && fixed.is_none();
        let totals = &logging.sums.totals;
        let weighted = |order: usize, places: &[u32]| {
            if is_auto {
                WeightSums::of_order(cell, totals, order, places)
            } else {
                WeightSums::of_structure(cell, totals, places)
            }
        };
        let structure = |order: usize| if is_auto { Structure::Order(order) } else { spec.structure.clone() };
        let lowest = fixed.unwrap_or(1);
        let first = weighted(lowest, places);
        check_finite(cell, &first, name)?;
        let effect = weight_design_effect(cell, &first);
        let chi = propensities::chi(&structure(lowest), settings.correction, &first, effect);
        let chi_usable = chi.as_ref().is_some_and(|check| check.status != Status::Fail);
        let correction = resolve(settings.correction, &spec.structure, chi.as_ref(), name)?;
        let estimator = |sums: WeightSums<'a>, order: usize| {
            Estimator::of_target(cell, sums, structure(order), (correction, chi_usable), bins)
        };
        let mut estimators = vec![estimator(first, lowest)];
        let tested = Tested { cell, policy, bins, occupied: places, logging, settings, grids };
        let selection = chosen.then(|| {
            // What an order is worth does not need its bins.
            let above = (2..=cell.kept.basis.count())
                .map(|order| design_ess(&structure(order), &weighted(order, &[]), chi_usable));
            let design_ess: Vec<Option<f64>> = std::iter::once(estimators[0].design_ess).chain(above).collect();
            Selection::choose(&tested, &estimators[0], &design_ess)
        });
        let (tests, trusts) = match &selection {
            Some(selection) => (Vec::new(), selection.trusts().clone()),
            None => {
                let highest_kept = if is_auto { cell.kept.basis.count().min(cell.slots) } else { 0 };
                let tests = tests_of_structure(&tested, &estimators[0], lowest + 1..=highest_kept);
                let trusts = trust_in_structure(&structure(lowest), &tests);
                (tests, trusts)
            }
        };
        let read = selection.as_ref().map_or(vec![Orders { cdf: lowest, mean: lowest, variance: lowest }], orders);
        // Only the orders that something is read from are made.
        let mut made = vec![lowest];
        let mut place = |order: usize| {
            made.iter().position(|known| *known == order).unwrap_or_else(|| {
                made.push(order);
                estimators.push(estimator(weighted(order, places), order));
                made.len() - 1
            })
        };
        let steps: Vec<Places> = read
            .iter()
            .map(|of| Places { cdf: place(of.cdf), mean: place(of.mean), variance: place(of.variance) })
            .collect();
        let evidence = Evidence {
            propensities: spec.propensities,
            chi,
            selection: selection.as_ref(),
            tests: &tests,
            trusts: &part.structure(policy + 1, &trusts),
        };
        let chosen = &estimators[steps[0].cdf];
        let diagnostics = evidence.diagnostics(cell, chosen, settings);
        let trust = part.trust(policy + 1, evidence.trusts.clone(), &diagnostics.checks);
        let trusts = trust.in_intervals(name, chosen.structure.as_ref());
        Ok(Target { name, policy, estimators, selection, diagnostics, trust, trusts, steps })
    }

    fn side(&self) -> Side<'_, '_, 'a> {
        Side { name: self.name, estimators: self.estimators_at(0) }
    }

    /// The estimators of the chosen orders, and at 1 those that intervals are taken at where these are others.
    pub(crate) fn estimators_at(&self, step: usize) -> Estimators<'_, 'a> {
        let Places { cdf, mean, variance } = self.steps[step.min(self.steps.len() - 1)];
        Estimators { cdf: &self.estimators[cdf], mean: &self.estimators[mean], variance: &self.estimators[variance] }
    }

    /// The target by itself, and against the logging policy.
    pub(crate) fn evaluate(
        &self,
        cell: &Cell,
        places: &[u32],
        logging: &Estimator<'_>,
        steps: Steps,
        settings: &Settings,
        grids: &Grids,
    ) -> Result<(PolicyEvaluation, Comparison)> {
        let (mut own, mut differences) = (Vec::new(), Vec::new());
        for step in wanted(steps, self.steps.len(), &self.trusts.cdf) {
            let beside = Some(Estimators::of(logging));
            let (uncertainty, difference) =
                Uncertainty::new(cell, places, self.estimators_at(step), beside, settings, grids)?;
            own.push(uncertainty);
            differences.extend(difference);
        }
        let compared = Compared {
            policy: self.side(),
            baseline: Side { name: LOGGING, estimators: Estimators::of(logging) },
            selected: self.selection.is_some(),
            trusts: &self.trusts,
        };
        let comparison = compare(compared, &differences, settings);
        let mut diagnostics = self.diagnostics.clone();
        let guarantee = own.last().and_then(|u| u.guarantee);
        diagnostics.checks.extend(guarantee.map(|g| assumptions::guarantee(g, self.selection.is_some())));
        let described = Described {
            name: self.name,
            estimators: self.estimators_at(0),
            selection: self.selection.as_ref(),
            trusts: &self.trusts,
        };
        Ok((describe(described, &own, diagnostics, settings), comparison))
    }

    pub(crate) fn compare_with(
        &self,
        other: &Target<'_>,
        cell: &Cell,
        places: &[u32],
        steps: Steps,
        settings: &Settings,
        grids: &Grids,
    ) -> Result<Comparison> {
        let both = |of: fn(&Trusts) -> &Trust| of(&self.trusts).and(of(&other.trusts)).clone();
        let trusts = Trusts { cdf: both(|t| &t.cdf), mean: both(|t| &t.mean), variance: both(|t| &t.variance) };
        let mut differences = Vec::new();
        for step in wanted(steps, self.steps.len().max(other.steps.len()), &trusts.cdf) {
            let beside = Some(other.estimators_at(step));
            let (_, difference) = Uncertainty::new(cell, places, self.estimators_at(step), beside, settings, grids)?;
            differences.extend(difference);
        }
        let compared = Compared {
            policy: self.side(),
            baseline: other.side(),
            selected: self.selection.is_some(),
            trusts: &trusts,
        };
        Ok(compare(compared, &differences, settings))
    }
}

/// What a target's checks are made from, beside its estimator.
struct Evidence<'e> {
    propensities: PropensitySource,
    chi: Option<Check>,
    selection: Option<&'e Selection>,
    /// For a structure asked for by name, whether anything shows in the log that it leaves out.
    tests: &'e [OrderTest],
    /// How far its structure can be trusted.
    trusts: &'e Trusts,
}

impl Evidence<'_> {
    fn diagnostics(&self, cell: &Cell, estimator: &Estimator<'_>, settings: &Settings) -> Diagnostics {
        let mut diagnostics = Diagnostics::new(estimator, &settings.alphas);
        diagnostics.checks.extend(propensities::estimated(self.propensities));
        diagnostics.checks.extend(self.chi.clone());
        diagnostics.checks.extend(controls_check(&estimator.corrected));
        diagnostics.checks.extend(self.selection.map(|s| assumptions::order(s, self.trusts)));
        let named = estimator.structure.as_ref().filter(|_| self.selection.is_none());
        let remedy = Remedy::after(&propensities::of_estimator(estimator));
        diagnostics.checks.extend(named.and_then(|s| assumptions::structure(s, self.tests, self.trusts, remedy)));
        diagnostics.checks.extend(cell.clusters.as_ref().map(|groups| rows::clusters(groups.occupied(), groups.count)));
        diagnostics
    }
}

/// The places of the orders that intervals are computed at, of `all`. A conditional interval has the ends of the first,
/// every other those of the last.
fn wanted(steps: Steps, all: usize, trust: &Trust) -> Range<usize> {
    match (steps, trust) {
        (Steps::Every, _) => 0..all,
        (Steps::Shown, Trust::Conditional(_)) => 0..1,
        (Steps::Shown, _) => all - 1..all,
    }
}

/// The orders that the CDF, the mean and the variance are read at.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Orders {
    cdf: usize,
    mean: usize,
    variance: usize,
}

/// As chosen, and one order above where the log can carry it.
fn orders(selection: &Selection) -> Vec<Orders> {
    let chosen = Orders { cdf: selection.cdf, mean: selection.mean, variance: selection.variance };
    let above = |order: usize| selection.guard(order);
    let guard = Orders { cdf: above(chosen.cdf), mean: above(chosen.mean), variance: above(chosen.variance) };
    if guard == chosen { vec![chosen] } else { vec![chosen, guard] }
}

/// `n / E[G^2]`.
fn design_ess(structure: &Structure, sums: &WeightSums<'_>, chi_usable: bool) -> Option<f64> {
    let (second, _) = design_second_moment(structure, sums, chi_usable);
    (second > 0.0 && second.is_finite()).then(|| sums.n / second)
}

/// Rewards below this have fourth powers that double precision cannot tell from 0, or not in full.
const TINY: f64 = 1e-75;

fn check_finite(cell: &Cell, sums: &WeightSums<'_>, name: &str) -> Result<()> {
    let largest = cell.bins.range().map(|(lo, hi)| lo.abs().max(hi.abs()));
    if let Some(largest) = largest.filter(|&r| r > 0.0 && r < TINY) {
        return Err(Error::TinyReward { largest });
    }
    if sums.totals.are_finite() {
        return Ok(());
    }
    if let Some(largest) = largest.filter(|r| !(r.powi(4) * sums.n).is_finite()) {
        return Err(Error::HugeReward { largest });
    }
    let smallest = sums.tally().smallest.iter().copied().fold(1.0, f64::min);
    Err(Error::Overflow { policy: name.to_owned(), smallest })
}

fn controls_check(corrected: &Corrected) -> Option<Check> {
    let note = corrected.note.clone()?;
    let status = match note {
        _ if corrected.gave_up => Status::Fail,
        // Normal for a target that changes some of many slots.
        Finding::RatiosNeverVary(_) => Status::Ok,
        _ => Status::Warn,
    };
    Some(Check::new(status, None, note))
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
