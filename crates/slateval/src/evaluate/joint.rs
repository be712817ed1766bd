//! Joint intervals of linear combinations in one cell of a summary.
//!
//! Moments have normal intervals from the sum of their influence functions; what is read off CDFs has percentiles of
//! draws in which all policies of a group move together.

use std::result;

use crate::answer::check::Check;
use crate::answer::interval::{Bounds, Interval};
use crate::answer::reason::Reason;
use crate::answer::trust::Trust;
use crate::estimate::asymmetry::{WeightShape, tail_values};
use crate::estimate::design::{designed_rows, observed_rows};
use crate::estimate::distribution::Curve;
use crate::estimate::estimator::Estimator;
use crate::estimate::weight_sums::{Bin, WeightSums};
use crate::evaluate::SEGMENT_DRAWS;
use crate::evaluate::combination::{FailedCheck, Metric, Worth};
use crate::evaluate::describe::Spread;
use crate::evaluate::joint_terms::{JointTerms, Kind, Member, PolicyTerm, Who, kind};
use crate::evaluate::target::Target;
use crate::question::error::Result;
use crate::question::settings::{Band, MAX_DRAWS, Settings};
use crate::question::spec::{LOGGING, Spec};
use crate::question::tail::Tail;
use crate::summary::cell::Cell;
use crate::uncertainty::bands::{CurveBand, invert, pointwise};
use crate::uncertainty::bernstein::Guaranteed;
use crate::uncertainty::drawn::{TailDraws, reward_range, stretched, tail_interval, wider};
use crate::uncertainty::draws::{Draws, central};
use crate::uncertainty::limits::{
    COARSE, FINE, Limits, bin_is_fine_enough, bounds, can_have_intervals, has_enough_rows, has_light_tail,
    tail_has_enough_rows,
};
use crate::uncertainty::moment::{self, Moment, MomentPart};
use crate::uncertainty::policy::Estimators;
use crate::uncertainty::process::Process;
use crate::uncertainty::standing;

/// The error process of some members at one level of trust, with its draws by their number.
#[derive(Debug)]
struct Drawn {
    members: Vec<Member>,
    at: usize,
    process: Process,
    draws: Vec<(usize, Draws)>,
}

/// Draws that should lie beyond each end of an interval.
const BEYOND: f64 = 10.0;

/// A cell with everything that combinations share.
pub(crate) struct JointIntervals<'a> {
    spec: &'a Spec,
    cell: &'a Cell,
    rows: &'a [u32],
    settings: Settings,
    /// Draws for intervals.
    draws: usize,
    /// The policies that are used, and logging beside each.
    targets: Vec<Option<Target<'a>>>,
    logging: Vec<Option<Estimator<'a>>>,
    /// What draws are read for.
    functionals: Vec<Metric>,
    drawn: Vec<Drawn>,
}

impl<'a> JointIntervals<'a> {
    pub(crate) fn new(
        spec: &'a Spec,
        cell: &'a Cell,
        (bins, rows): (&[Bin], &'a [u32]),
        used: &[PolicyTerm],
        settings: &Settings,
        is_segment: bool,
    ) -> Result<Self> {
        // The order is chosen with as many draws as in an evaluation.
        let few = if is_segment { settings.draws.min(SEGMENT_DRAWS) } else { settings.draws };
        let draws = if is_segment { settings.draws.min(few.max(enough_draws(settings.confidence))) } else { few };
        let settings = Settings { draws: few, ..settings.clone() };
        let is_used = |policy: usize| used.iter().any(|part| part.who == Who::Target(policy));
        let target = |policy: usize| Target::new(spec, cell, policy, bins, rows, &settings);
        let policies = 0..spec.policies.len();
        let targets = policies.clone().map(|p| is_used(p).then(|| target(p)).transpose()).collect::<Result<_>>()?;
        let logging = |policy: usize| Estimator::of_logging(cell, WeightSums::of_logging(cell, policy, rows), bins);
        let logging = policies.map(|p| (p == 0 || is_used(p)).then(|| logging(p))).collect();
        let mut functionals = Vec::new();
        for part in used.iter().filter(|part| kind(part.metric) == Some(Kind::Curves)) {
            if !functionals.contains(&part.metric) {
                functionals.push(part.metric);
            }
        }
        Ok(JointIntervals { spec, cell, rows, settings, draws, targets, logging, functionals, drawn: Vec::new() })
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
        let levels = added_up(&limits, exact);
        let selected = self.targets_of(parts).any(|target| target.selection.is_some());
        let trust = self.trust(&uncertain);
        Ok(standing::interval(estimate, &levels.iter().collect::<Vec<_>>(), selected, &trust))
    }

    /// How far a sum of parts can be trusted: as far as the least trusted of them.
    fn trust(&self, parts: &[PolicyTerm]) -> Trust {
        let of = |part: &PolicyTerm| {
            let Who::Target(policy) = part.who else { return &Trust::Stands };
            let Some(target) = &self.targets[policy] else { return &Trust::Stands };
            match part.metric {
                Metric::Ess => &Trust::Stands,
                Metric::Mean => &target.trusts.mean,
                Metric::Variance | Metric::Std => &target.trusts.variance,
                Metric::Quantile(_) | Metric::Cvar(_) | Metric::Probability(_) => &target.trusts.cdf,
            }
        };
        parts.iter().map(of).fold(&Trust::Stands, Trust::and).clone()
    }

    /// Checks that spoil a policy's numbers.
    pub(crate) fn failed_checks(&self, parts: &[PolicyTerm]) -> Vec<FailedCheck> {
        let of = |target: &Target<'a>| {
            let diagnostics = target.diagnostics(self.cell, &[], &self.settings);
            let policy = &self.spec.policies[target.policy].name;
            let failed = |check: &Check| FailedCheck { policy: policy.clone(), check: check.clone() };
            diagnostics.spoiled().map(failed).collect::<Vec<_>>()
        };
        // What is known without error rests on no check.
        let uncertain: Vec<PolicyTerm> = parts.iter().copied().filter(|part| part.metric != Metric::Ess).collect();
        self.targets_of(&uncertain).flat_map(of).collect()
    }

    /// The policy for which the log is worth the fewest rows, among those that are not known without error.
    pub(crate) fn worth(&self, parts: &[PolicyTerm]) -> Option<Worth> {
        let of = |part: &PolicyTerm| {
            let (member, policy) = match part.who {
                Who::Logging => (Member::Logging { beside: 0 }, LOGGING),
                Who::Target(policy) => (Member::Target(policy), self.spec.policies[policy].name.as_str()),
            };
            let level = self.level(member, 0)?;
            let estimator = match part.metric {
                Metric::Ess => return None,
                Metric::Mean => level.mean,
                Metric::Variance | Metric::Std => level.variance,
                Metric::Quantile(_) | Metric::Cvar(_) | Metric::Probability(_) => level.cdf,
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

    fn level(&self, member: Member, at: usize) -> Option<Estimators<'_, 'a>> {
        match member {
            Member::Logging { beside } => self.logging[beside].as_ref().map(Estimators::of),
            Member::Target(policy) => self.targets[policy].as_ref().map(|target| target.level(at)),
        }
    }

    /// The level of a part in a group.
    fn level_of(&self, part: &PolicyTerm, group: &JointTerms, at: usize) -> result::Result<Estimators<'_, 'a>, Reason> {
        group.place(part.who).and_then(|m| self.level(group.members[m], at)).ok_or(Reason::NotEvaluated)
    }

    /// What a part is estimated at, and whether without error.
    fn value(&self, part: &PolicyTerm) -> result::Result<(f64, bool), Reason> {
        let member = match part.who {
            Who::Logging => Member::Logging { beside: 0 },
            Who::Target(policy) => Member::Target(policy),
        };
        let level = self.level(member, 0).ok_or(Reason::NotEvaluated)?;
        let moments = &level.mean.moments;
        Ok(match part.metric {
            Metric::Ess => (observed_rows(level.cdf), true),
            Metric::Mean => (moments.origin + moments.mean, false),
            Metric::Variance | Metric::Std => {
                let spread = Spread::new(&level.variance.distribution, level.variance.moments.variance);
                let variance = spread.variance()?;
                (if part.metric == Metric::Std { variance.sqrt() } else { variance }, false)
            }
            metric => (read(metric, level.cdf.distribution.curve(), self.settings.tail), false),
        })
    }

    /// A group's limits at each level of trust in the chosen orders.
    fn limits(&mut self, group: &JointTerms, settings: &Settings) -> Result<Vec<Limits>> {
        let targets = || group.members.iter().filter_map(|member| self.target(*member));
        let count = targets().map(|target| target.levels.len()).max().unwrap_or(1);
        let mut limits = Vec::new();
        for at in 0..count {
            limits.push(match (can_have_intervals(self.cell, settings), group.kind) {
                (Err(reason), _) => Err(reason),
                _ if settings.band == Band::Bernstein => self.guaranteed(group, at, settings)?,
                (_, Kind::Moments) => self.moments(group, at, settings),
                (_, Kind::Curves) => self.curves(group, at, settings),
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

    fn moments(&self, group: &JointTerms, at: usize, settings: &Settings) -> Limits {
        if group.compares() {
            self.members_carry(group, at)?;
        }
        let part = |part: &PolicyTerm| {
            let level = self.level_of(part, group, at)?;
            let (moment, estimator) = match part.metric {
                Metric::Mean => (Moment::Mean, level.mean),
                Metric::Variance => (Moment::Variance, level.variance),
                _ => (Moment::Std, level.variance),
            };
            Ok(MomentPart { coefficient: part.coefficient, moment, estimator })
        };
        let parts = group.parts.iter().map(part).collect::<result::Result<Vec<_>, Reason>>()?;
        moment::interval(self.cell, &parts, settings)
    }

    fn members_carry(&self, group: &JointTerms, at: usize) -> result::Result<(), Reason> {
        group.members.iter().filter_map(|&m| self.level(m, at)).try_for_each(|level| has_enough_rows(level.cdf))
    }

    fn curves(&mut self, group: &JointTerms, at: usize, settings: &Settings) -> Limits {
        self.members_carry(group, at)?;
        if let [PolicyTerm { coefficient, metric: Metric::Probability(v), .. }] = group.parts[..] {
            let place = self.process(group, at);
            let estimator = self.level(group.members[0], at).ok_or(Reason::NotEvaluated)?.cdf;
            let band = pointwise(&self.drawn[place].process, estimator, 0, group.members.len(), settings);
            return probability(v, estimator, &band).map(|found| scaled(found, coefficient));
        }
        for part in &group.parts {
            says_enough_about(part.metric, self.level_of(part, group, at)?.cdf, settings.tail)?;
        }
        let place = self.process(group, at);
        if let [PolicyTerm { coefficient, metric: Metric::Quantile(level), .. }] = group.parts[..] {
            let estimator = self.level(group.members[0], at).ok_or(Reason::NotEvaluated)?.cdf;
            let band = pointwise(&self.drawn[place].process, estimator, 0, group.members.len(), settings);
            return Ok(scaled(invert(estimator.distribution.curve(), &band, level), coefficient));
        }
        let draws = self.draws(place, settings);
        let (mut sums, mut estimate) = (vec![0.0; settings.draws], 0.0);
        for part in &group.parts {
            let (Some(member), Some(f)) = (group.place(part.who), self.functional(part.metric)) else { continue };
            let values = &self.drawn[place].draws[draws].1.values[member][f];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += part.coefficient * value);
            let curve = self.level_of(part, group, at)?.cdf.distribution.curve();
            estimate += part.coefficient * read(part.metric, curve, settings.tail);
        }
        let shape = self.shape(group, at)?;
        if group.parts.iter().all(|part| matches!(part.metric, Metric::Cvar(_))) {
            return self.tails(group, (at, place), (sums, estimate), &shape, settings);
        }
        Ok(stretched(estimate, central(sums, settings.confidence), wider(&shape, settings)))
    }

    /// The weights of a group's first target.
    fn shape(&self, group: &JointTerms, at: usize) -> result::Result<WeightShape, Reason> {
        let target = group.first_target();
        Ok(WeightShape::of(self.level_of(target, group, at)?.cdf))
    }

    /// CVaRs alone: the shape of their error is that of the first target's, and of logging beside it.
    fn tails(
        &self,
        group: &JointTerms,
        (at, place): (usize, usize),
        (draws, estimate): (Vec<f64>, f64),
        shape: &WeightShape,
        settings: &Settings,
    ) -> Limits {
        let target = group.first_target();
        let (mut blurs, mut is_clumped) = (Vec::new(), false);
        let mut values = [Vec::new(), Vec::new()];
        let process = &self.drawn[place].process;
        for part in &group.parts {
            let Metric::Cvar(alpha) = part.metric else { continue };
            let estimator = self.level_of(part, group, at)?.cdf;
            has_light_tail(estimator, settings.tail)?;
            let curve = estimator.distribution.curve();
            let band = pointwise(process, estimator, group.place(part.who).unwrap_or(0), group.members.len(), settings);
            is_clumped |= crate::uncertainty::drawn::is_clumped(curve, &band, settings.tail.level(alpha));
            blurs.push((part.coefficient, curve.tail_blur(alpha, settings.tail, FINE)));
            let owner = match part.who {
                who if who == target.who => 0,
                Who::Logging => 1,
                Who::Target(_) => continue,
            };
            let own = tail_values(curve, alpha, settings.tail, part.coefficient);
            values[owner].resize(own.len(), 0.0);
            values[owner].iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
        }
        let [of_policy, mut of_logging] = values;
        of_logging.resize(of_policy.len(), 0.0);
        let range = match group.parts[..] {
            [part] => {
                let curve = self.level_of(&part, group, at)?.cdf.distribution.curve();
                Some(reward_range(curve, part.coefficient))
            }
            _ => None,
        };
        let drawn = TailDraws { draws, estimate, is_clumped, range };
        Ok(tail_interval(drawn, shape.of_sum(&of_policy, &of_logging), &blurs, settings))
    }

    /// From empirical Bernstein bounds, which hold for the whole CDF of one policy at once.
    fn guaranteed(&self, group: &JointTerms, at: usize, settings: &Settings) -> Result<Limits> {
        if group.compares() {
            return Ok(Err(Reason::GuaranteeOfOnePolicy));
        }
        let offered = |part: &PolicyTerm| matches!(part.metric, Metric::Quantile(_) | Metric::Probability(_));
        let level = self.level(group.members[0], at).filter(|_| group.parts.iter().all(offered));
        let Some(estimator) = level.map(|level| level.cdf) else {
            return Ok(Err(Reason::GuaranteeNeedsRewardBounds));
        };
        let (band, bins) = (Guaranteed::new(estimator, settings)?, &estimator.distribution.bins);
        let of = |part: &PolicyTerm| match part.metric {
            Metric::Probability(v) => scaled(band.probability(bins, v), part.coefficient),
            Metric::Quantile(q) => scaled(band.quantile(bins, q), part.coefficient),
            _ => Bounds { lower: None, upper: None },
        };
        Ok(Ok(group.parts.iter().map(of).reduce(plus).unwrap_or(bounds((0.0, 0.0)))))
    }

    /// How much larger a group's CVaRs are in the mean of the draws than their estimates, where they are to be corrected.
    fn bias(&mut self, group: &JointTerms, settings: &Settings) -> f64 {
        let is_cvar = |part: &&PolicyTerm| matches!(part.metric, Metric::Cvar(_));
        let drawn = settings.debias_cvar && can_have_intervals(self.cell, settings).is_ok();
        if !drawn || !group.parts.iter().any(|p| is_cvar(&p)) || self.members_carry(group, 0).is_err() {
            return 0.0;
        }
        let place = self.process(group, 0);
        let draws = self.draws(place, settings);
        let (mut mean, mut estimate) = (0.0, 0.0);
        for part in group.parts.iter().filter(is_cvar) {
            let (Some(member), Some(f)) = (group.place(part.who), self.functional(part.metric)) else { continue };
            mean += part.coefficient * self.drawn[place].draws[draws].1.mean(member, f);
            estimate += part.coefficient * self.value(part).map_or(0.0, |(value, _)| value);
        }
        mean - estimate
    }

    fn functional(&self, metric: Metric) -> Option<usize> {
        self.functionals.iter().position(|f| *f == metric)
    }

    /// The place of a group's error process.
    fn process(&mut self, group: &JointTerms, at: usize) -> usize {
        if let Some(known) = self.drawn.iter().position(|d| d.at == at && d.members == group.members) {
            return known;
        }
        let members: Vec<&Estimator<'_>> =
            group.members.iter().filter_map(|&m| self.level(m, at)).map(|level| level.cdf).collect();
        let process = Process::new(self.cell, self.rows, &members);
        self.drawn.push(Drawn { members: group.members.clone(), at, process, draws: Vec::new() });
        self.drawn.len() - 1
    }

    /// The place of its draws.
    fn draws(&mut self, place: usize, settings: &Settings) -> usize {
        let drawn = &self.drawn[place];
        if let Some(known) = drawn.draws.iter().position(|(count, _)| *count == settings.draws) {
            return known;
        }
        let levels = drawn.members.iter().filter_map(|&m| self.level(m, drawn.at));
        let distributions: Vec<_> = levels.map(|level| &level.cdf.distribution).collect();
        let (functionals, tail) = (&self.functionals, settings.tail);
        let read = |curve: Curve<'_>| functionals.iter().map(|&metric| read(metric, curve, tail)).collect();
        let draws = Draws::reading(&drawn.process, &distributions, settings, read);
        self.drawn[place].draws.push((settings.draws, draws));
        self.drawn[place].draws.len() - 1
    }
}

fn read(metric: Metric, curve: Curve<'_>, tail: Tail) -> f64 {
    match metric {
        Metric::Quantile(level) => curve.quantile(level),
        Metric::Cvar(alpha) => curve.cvar(alpha, tail),
        Metric::Probability(v) => curve.probability(v),
        Metric::Mean | Metric::Variance | Metric::Std | Metric::Ess => f64::NAN,
    }
}

/// Whether the log says enough about what is read off a CDF.
fn says_enough_about(metric: Metric, estimator: &Estimator<'_>, tail: Tail) -> result::Result<(), Reason> {
    match metric {
        Metric::Quantile(level) => {
            tail_has_enough_rows(estimator, level.min(1.0 - level))?;
            bin_is_fine_enough(estimator, level)
        }
        Metric::Cvar(alpha) => {
            tail_has_enough_rows(estimator, alpha)?;
            bin_is_fine_enough(estimator, tail.level(alpha))
        }
        Metric::Probability(v) => {
            let curve = estimator.distribution.curve();
            let f = curve.probability(v);
            tail_has_enough_rows(estimator, f.min(1.0 - f))?;
            let (b, share) = curve.place(v);
            let mass = curve.mass(b);
            if share == 1.0 || mass <= COARSE {
                return Ok(());
            }
            Err(Reason::CoarseBin { reward: Some(v), share: mass })
        }
        Metric::Mean | Metric::Variance | Metric::Std | Metric::Ess => Ok(()),
    }
}

/// `F(v)`, which is at most what it is at any later reward and at least what it is at any earlier one: its bounds are
/// those at the nearest ends of bins whose tails carry an interval. What is known inside a bin is known at its ends.
fn probability(v: f64, estimator: &Estimator<'_>, band: &CurveBand) -> Limits {
    let (cdf, curve) = (&estimator.distribution.repaired, estimator.distribution.curve());
    let (place, share) = curve.place(v);
    let carried = |b: &usize| tail_has_enough_rows(estimator, cdf[*b].min(1.0 - cdf[*b])).is_ok();
    let before = if share == 1.0 { place + 1 } else { place };
    let lower = (0..before).rev().find(carried).map(|b| band.lower[b]);
    let upper = (place..cdf.len()).find(carried).map(|b| band.upper[b]);
    if lower.is_none() && upper.is_none() {
        let f = curve.probability(v);
        tail_has_enough_rows(estimator, f.min(1.0 - f))?;
    }
    Ok(bounds((lower.unwrap_or(0.0), upper.unwrap_or(1.0))))
}

/// Times a number; a negative one exchanges the ends.
fn scaled(b: Bounds, by: f64) -> Bounds {
    let (lower, upper) = (b.lower.map(|x| by * x), b.upper.map(|x| by * x));
    if by < 0.0 { Bounds { lower: upper, upper: lower } } else { Bounds { lower, upper } }
}

fn plus(a: Bounds, b: Bounds) -> Bounds {
    let add = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
    Bounds { lower: add(a.lower, b.lower), upper: add(a.upper, b.upper) }
}

/// The groups' limits and a constant added up, level by level; a group of fewer levels stays at its last.
fn added_up(groups: &[Vec<Limits>], constant: f64) -> Vec<Limits> {
    let levels = groups.iter().map(Vec::len).max().unwrap_or(0);
    let at = |level: usize| {
        let mut own = groups.iter().filter_map(|limits| limits.get(level.min(limits.len().saturating_sub(1))));
        own.try_fold(bounds((constant, constant)), |sum, limits| Ok(plus(sum, limits.clone()?)))
    };
    (0..levels).map(at).collect()
}

/// As many draws as leave some beyond each end of an interval.
fn enough_draws(confidence: f64) -> usize {
    ((2.0 * BEYOND / (1.0 - confidence)).ceil() as usize).min(MAX_DRAWS)
}
