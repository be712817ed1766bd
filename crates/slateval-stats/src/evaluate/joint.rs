//! Joint intervals of linear combinations in one cell of a summary.
//! See docs/methods.md, section 6.15.
//!
//! A sum of moments has the interval of [`moment`](crate::interval::moment): the standard error of the sum of their
//! influence functions, times t quantiles moved by the Edgeworth shift. A sum of metrics read off CDFs has the interval
//! that [`CurveErrors`] gives it; in its draws all policies of a group move together.

use crate::interval::curve_errors::CurveErrors;
use crate::interval::limits::{plus, scaled};
use crate::interval::readings::{Readings, read};
use std::result;

use crate::correction::weight_sums::{Bin, WeightSums};
use crate::distribution::estimator::Estimator;
use crate::evaluate::SEGMENT_DRAWS;
use crate::evaluate::combination::{FailedCheck, Worth};
use crate::evaluate::describe::Spread;
use crate::evaluate::joint_terms::{JointTerms, Kind, Member, PolicyTerm, Who};
use crate::evaluate::policy_trust::{Part, PolicyTrust};
use crate::evaluate::target::Target;
use crate::influence::design::{designed_rows, observed_rows};
use crate::interval::bernstein::Guaranteed;
use crate::interval::draws::Grids;
use crate::interval::limits::{Limits, Reach, bounds, can_have_intervals, has_enough_rows};
use crate::interval::moment::{self, Moment, MomentPart};
use crate::interval::policy::Estimators;
use crate::interval::standing;
use crate::result::check::CheckName;
use crate::result::interval::{Bounds, Interval};
use crate::result::reason::Reason;
use crate::result::trust::Trust;
use crate::spec::combination::Metric;
use crate::spec::error::Result;
use crate::spec::settings::{Band, MAX_DRAWS, Settings};
use crate::spec::specification::{LOGGING, Spec};
use crate::sums::cell::Cell;

/// The error of some members' CDFs, kept for other combinations that need the same: of these members, at this step
/// (the chosen order or the guard), at this confidence and from this many draws.
#[derive(Debug)]
struct Drawn<'a> {
    members: Vec<Member>,
    step: usize,
    confidence: f64,
    draws: usize,
    errors: CurveErrors<'a>,
}

/// Draws that should lie beyond each end of an interval.
const BEYOND: f64 = 10.0;

/// A cell with everything that combinations share.
pub(crate) struct JointIntervals<'a> {
    spec: &'a Spec,
    cell: &'a Cell,
    places: &'a [u32],
    settings: Settings,
    /// Draws for intervals.
    draws: usize,
    /// The policies that are used, and logging beside each.
    targets: Vec<Option<Target<'a>>>,
    logging: Vec<Option<Estimator<'a>>>,
    logging_trust: PolicyTrust,
    /// What draws are read for.
    readings: Readings,
    grids: &'a Grids,
    drawn: Vec<Drawn<'a>>,
}

impl<'a> JointIntervals<'a> {
    pub(crate) fn new(
        spec: &'a Spec,
        cell: &'a Cell,
        (bins, places): (&[Bin], &'a [u32]),
        used: &[PolicyTerm],
        settings: &Settings,
        part: Part<'_>,
        grids: &'a Grids,
    ) -> Result<Self> {
        let is_segment = part.is_segment();
        // The order is chosen with as many draws as in an evaluation.
        let few = if is_segment { settings.draws.min(SEGMENT_DRAWS) } else { settings.draws };
        let draws = if is_segment { settings.draws.min(few.max(enough_draws(settings.confidence))) } else { few };
        let settings = Settings { draws: few, ..settings.clone() };
        let is_used = |policy: usize| used.iter().any(|part| part.who == Who::Target(policy));
        let policies = 0..spec.policies.len();
        let beside = |policy: usize| Estimator::of_logging(cell, WeightSums::of_logging(cell, policy, places), bins);
        let logging: Vec<Option<Estimator<'_>>> =
            policies.clone().map(|p| (p == 0 || is_used(p)).then(|| beside(p))).collect();
        let target = |policy: usize| match &logging[policy] {
            Some(beside) if is_used(policy) => {
                Target::new(spec, cell, (bins, places), (policy, part), beside, &settings, grids).map(Some)
            }
            _ => Ok(None),
        };
        let targets = policies.map(target).collect::<Result<_>>()?;
        let readings = Readings::new(used.iter().map(|part| part.metric), settings.tail);
        Ok(JointIntervals {
            spec,
            cell,
            places,
            settings,
            draws,
            targets,
            logging,
            logging_trust: part.trust_in_logging(),
            readings,
            grids,
            drawn: Vec::new(),
        })
    }

    /// The sum of the parts and a constant.
    pub(crate) fn interval(&mut self, parts: &[PolicyTerm], constant: f64) -> Result<Interval> {
        let mut estimate = 0.0;
        let (mut exact, mut uncertain) = (constant, Vec::new());
        for part in parts {
            match self.value(part) {
                Ok((value, is_exact)) => {
                    estimate += part.coefficient * value;
                    if is_exact {
                        exact += part.coefficient * value;
                    } else {
                        uncertain.push(*part);
                    }
                }
                Err(reason) => return Ok(Interval::missing(reason)),
            }
        }
        estimate += constant;
        if uncertain.is_empty() {
            return Ok(Interval::exact(exact));
        }
        let compared: Vec<(usize, usize)> = self.cell.kept.compared().collect();
        let groups = match self.settings.band {
            // A guaranteed band holds everywhere at once, but for one policy.
            Band::Bernstein => vec![JointTerms::of_all(&uncertain)],
            Band::Multiplier | Band::None => JointTerms::split(&uncertain, &compared),
        };
        let settings = self.settings_for(groups.len())?;
        let mut limits = Vec::new();
        for group in &groups {
            limits.push(self.limits(group, &settings)?);
            estimate -= self.bias(group, &settings);
        }
        let limits = added_up(&limits, exact);
        let selected = self.targets_of(parts).any(|target| target.selection.is_some());
        let trust = self.trust(&uncertain);
        Ok(standing::interval(estimate, &limits.iter().collect::<Vec<_>>(), selected, &trust))
    }

    /// How far a sum of parts can be trusted: as far as the least trusted of them.
    fn trust(&self, parts: &[PolicyTerm]) -> Trust {
        let logging = &self.logging_trust.in_intervals(LOGGING, None);
        let of = |part: &PolicyTerm| {
            let trusts = match part.who {
                Who::Logging => Some(logging),
                Who::Target(policy) => self.targets[policy].as_ref().map(|target| &target.trusts),
            };
            let Some(trusts) = trusts else { return &Trust::Stands };
            match part.metric {
                Metric::Ess => &Trust::Stands,
                Metric::Mean => &trusts.mean,
                Metric::Variance | Metric::Std => &trusts.variance,
                Metric::Quantile(_) | Metric::Cvar(_) | Metric::Probability(_) => &trusts.cdf,
            }
        };
        parts.iter().map(of).fold(&Trust::Stands, Trust::and).clone()
    }

    /// Checks that spoil a policy's numbers. That too much was left out of the log is said once, of the first policy: it is
    /// the same log.
    pub(crate) fn failed_checks(&self, parts: &[PolicyTerm]) -> Vec<FailedCheck> {
        let targets = self.targets_of(parts).map(|target| {
            // What is known without error rests on no check but that.
            let is_uncertain =
                parts.iter().any(|part| part.who == Who::Target(target.policy) && part.metric != Metric::Ess);
            (self.spec.policies[target.policy].name.as_str(), &target.trust, is_uncertain)
        });
        let mut failed: Vec<FailedCheck> = Vec::new();
        for (policy, trust, is_uncertain) in targets.chain([(LOGGING, &self.logging_trust, true)]) {
            for check in trust.spoiling() {
                let is_said = match check.name() {
                    CheckName::Skipped => failed.iter().any(|f| f.check.name() == CheckName::Skipped),
                    _ => !is_uncertain,
                };
                if !is_said {
                    failed.push(FailedCheck { policy: policy.to_owned(), check: check.clone() });
                }
            }
        }
        failed
    }

    /// The policy for which the log is worth the fewest places, among those that are not known without error.
    pub(crate) fn worth(&self, parts: &[PolicyTerm]) -> Option<Worth> {
        let of = |part: &PolicyTerm| {
            let (member, policy) = match part.who {
                Who::Logging => (Member::Logging { beside: 0 }, LOGGING),
                Who::Target(policy) => (Member::Target(policy), self.spec.policies[policy].name.as_str()),
            };
            let estimators = self.estimators(member, 0)?;
            let estimator = match part.metric {
                Metric::Ess => return None,
                Metric::Mean => estimators.mean,
                Metric::Variance | Metric::Std => estimators.variance,
                Metric::Quantile(_) | Metric::Cvar(_) | Metric::Probability(_) => estimators.cdf,
            };
            Some(Worth { policy: policy.to_owned(), rows: designed_rows(estimator) })
        };
        parts.iter().filter_map(of).min_by(|a, b| a.rows.total_cmp(&b.rows))
    }

    /// The targets that parts are about, each once.
    fn targets_of(&self, parts: &[PolicyTerm]) -> impl Iterator<Item = &Target<'a>> {
        let is_meant = |target: &&Target<'a>| parts.iter().any(|part| part.who == Who::Target(target.policy));
        self.targets.iter().flatten().filter(is_meant).collect::<Vec<_>>().into_iter()
    }

    /// At the confidence that each of some groups needs.
    fn settings_for(&self, groups: usize) -> Result<Settings> {
        let confidence = match groups {
            1 => self.settings.confidence,
            _ => 1.0 - (1.0 - self.settings.confidence) / groups as f64,
        };
        let draws = match groups {
            1 => self.draws,
            _ => self.draws.max(enough_draws(confidence)),
        };
        let settings = Settings { confidence, draws, ..self.settings.clone() };
        settings.check_for(self.spec)?;
        Ok(settings)
    }

    fn estimators(&self, member: Member, step: usize) -> Option<Estimators<'_, 'a>> {
        match member {
            Member::Logging { beside } => self.logging[beside].as_ref().map(Estimators::of),
            Member::Target(policy) => self.targets[policy].as_ref().map(|target| target.estimators_at(step)),
        }
    }

    /// The estimators of a part's policy.
    fn estimators_of(
        &self,
        part: &PolicyTerm,
        group: &JointTerms,
        step: usize,
    ) -> result::Result<Estimators<'_, 'a>, Reason> {
        group.place(part.who).and_then(|m| self.estimators(group.members[m], step)).ok_or(Reason::NotEvaluated)
    }

    /// What a part is estimated step, and whether without error.
    fn value(&self, part: &PolicyTerm) -> result::Result<(f64, bool), Reason> {
        let member = match part.who {
            Who::Logging => Member::Logging { beside: 0 },
            Who::Target(policy) => Member::Target(policy),
        };
        let estimators = self.estimators(member, 0).ok_or(Reason::NotEvaluated)?;
        let moments = &estimators.mean.moments;
        Ok(match part.metric {
            Metric::Ess => (observed_rows(estimators.cdf), true),
            Metric::Mean => (moments.reward_mean(), false),
            Metric::Variance | Metric::Std => {
                let spread = Spread::new(&estimators.variance.distribution, estimators.variance.moments.variance);
                let variance = spread.variance()?;
                (if part.metric == Metric::Std { variance.sqrt() } else { variance }, false)
            }
            metric => (read(metric, estimators.cdf.distribution.curve(), self.settings.tail), false),
        })
    }

    /// A group's limits at each order that they are taken at.
    fn limits(&mut self, group: &JointTerms, settings: &Settings) -> Result<Vec<Limits>> {
        let targets = || group.members.iter().filter_map(|member| self.target(*member));
        let count = targets().map(|target| target.steps.len()).max().unwrap_or(1);
        let mut limits = Vec::new();
        for step in 0..count {
            limits.push(match (can_have_intervals(self.cell, settings), group.kind) {
                (Err(reason), _) => Err(reason),
                _ if settings.band == Band::Bernstein => self.guaranteed(group, step, settings)?,
                (_, Kind::Moments) => self.moments(group, step, settings),
                (_, Kind::Curves) => self.curves(group, step, settings),
            });
        }
        Ok(limits)
    }

    fn target(&self, member: Member) -> Option<&Target<'a>> {
        match member {
            Member::Logging { .. } => None,
            Member::Target(policy) => self.targets[policy].as_ref(),
        }
    }

    fn moments(&self, group: &JointTerms, step: usize, settings: &Settings) -> Limits {
        if group.compares() {
            self.members_carry(group, step)?;
        }
        let part = |part: &PolicyTerm| {
            let estimators = self.estimators_of(part, group, step)?;
            let (moment, estimator) = match part.metric {
                Metric::Mean => (Moment::Mean, estimators.mean),
                Metric::Variance => (Moment::Variance, estimators.variance),
                _ => (Moment::Std, estimators.variance),
            };
            Ok(MomentPart { coefficient: part.coefficient, moment, estimator })
        };
        let parts = group.parts.iter().map(part).collect::<result::Result<Vec<_>, Reason>>()?;
        moment::interval(self.cell, &parts, settings)
    }

    fn members_carry(&self, group: &JointTerms, step: usize) -> result::Result<(), Reason> {
        group
            .members
            .iter()
            .filter_map(|&m| self.estimators(m, step))
            .try_for_each(|estimators| has_enough_rows(estimators.cdf))
    }

    fn curves(&mut self, group: &JointTerms, step: usize, settings: &Settings) -> Limits {
        self.members_carry(group, step)?;
        let terms = group.curve_terms().ok_or(Reason::NotEvaluated)?;
        let place = self.errors(group, step, settings);
        self.drawn[place].errors.limits(&self.members(group, step), &terms)
    }

    /// The estimators of a group's CDFs.
    fn members(&self, group: &JointTerms, step: usize) -> Vec<&Estimator<'a>> {
        group.members.iter().filter_map(|&m| self.estimators(m, step)).map(|estimators| estimators.cdf).collect()
    }

    /// From empirical Bernstein bounds, which hold for the whole CDF of one policy at once.
    fn guaranteed(&self, group: &JointTerms, step: usize, settings: &Settings) -> Result<Limits> {
        if group.compares() {
            return Ok(Err(Reason::GuaranteeOfOnePolicy));
        }
        let offered = |part: &PolicyTerm| matches!(part.metric, Metric::Quantile(_) | Metric::Probability(_));
        let estimators = self.estimators(group.members[0], step).filter(|_| group.parts.iter().all(offered));
        let Some(estimator) = estimators.map(|estimators| estimators.cdf) else {
            return Ok(Err(Reason::GuaranteeNeedsRewardBounds));
        };
        let (band, bins) = (Guaranteed::new(estimator, settings)?, &estimator.distribution.bins);
        let of = |part: &PolicyTerm| match part.metric {
            Metric::Probability(v) => scaled(band.probability(bins, v), part.coefficient),
            Metric::Quantile(q) => scaled(band.quantile(bins, q), part.coefficient),
            _ => Bounds { lower: None, upper: None },
        };
        let bounds = group.parts.iter().map(of).reduce(plus).unwrap_or(bounds((0.0, 0.0)));
        Ok(Ok(Reach { bounds, se: None }))
    }

    /// How much larger a group's CVaRs are in the mean of the draws than their estimates, where they are to be corrected.
    fn bias(&mut self, group: &JointTerms, settings: &Settings) -> f64 {
        let is_cvar = |part: &&PolicyTerm| matches!(part.metric, Metric::Cvar(_));
        let drawn = settings.debias_cvar && can_have_intervals(self.cell, settings).is_ok();
        if !drawn || !group.parts.iter().any(|p| is_cvar(&p)) || self.members_carry(group, 0).is_err() {
            return 0.0;
        }
        let Some(terms) = group.curve_terms() else { return 0.0 };
        let place = self.errors(group, 0, settings);
        self.drawn[place].errors.bias(&self.members(group, 0), &terms)
    }

    /// The place of the error of a group's CDFs.
    fn errors(&mut self, group: &JointTerms, step: usize, settings: &Settings) -> usize {
        let (confidence, draws) = (settings.confidence, settings.draws);
        let is_same = |d: &Drawn<'_>| {
            d.step == step && d.members == group.members && d.draws == draws && d.confidence == confidence
        };
        if let Some(known) = self.drawn.iter().position(is_same) {
            return known;
        }
        let members = self.members(group, step);
        let errors =
            CurveErrors::new(self.cell, self.places, &members, self.readings.clone(), settings, &self.grids.of_curves);
        self.drawn.push(Drawn { members: group.members.clone(), step, confidence, draws, errors });
        self.drawn.len() - 1
    }
}

/// The groups' limits and a constant added up, step by step; a group of fewer steps stays at its last.
fn added_up(groups: &[Vec<Limits>], constant: f64) -> Vec<Limits> {
    let steps = groups.iter().map(Vec::len).max().unwrap_or(0);
    let at = |step: usize| {
        let mut own = groups.iter().filter_map(|limits| limits.get(step.min(limits.len().saturating_sub(1))));
        let first = own.next()?.clone().map(|reach| reach.shifted(constant));
        // How the errors of two groups go together is not known.
        let add =
            |sum: Reach, limits: &Limits| Ok(Reach { bounds: plus(sum.bounds, limits.clone()?.bounds), se: None });
        Some(first.and_then(|first| own.try_fold(first, add)))
    };
    (0..steps).filter_map(at).collect()
}

/// As many draws as leave some beyond each end of an interval.
fn enough_draws(confidence: f64) -> usize {
    ((2.0 * BEYOND / (1.0 - confidence)).ceil() as usize).min(MAX_DRAWS)
}
