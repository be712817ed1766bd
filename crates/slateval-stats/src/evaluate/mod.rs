//! From a summary to answers: one distribution per policy, how sure it is, and what it rests on.

pub(crate) mod combination;
pub(crate) mod comparison;
pub(crate) mod describe;
pub(crate) mod joint;
pub(crate) mod joint_terms;
pub(crate) mod policy_trust;
pub(crate) mod profile;
pub(crate) mod target;

use std::borrow::Cow;

use crate::checks::rows;
use crate::correction::weight_sums::{WeightSums, occupied};
use crate::distribution::estimator::Estimator;
use crate::evaluate::comparison::disparities;
use crate::evaluate::describe::{Described, describe};
use crate::evaluate::policy_trust::{Part, PolicyTrust};
use crate::evaluate::target::{Steps, Target};
use crate::interval::draws::{Grids, in_parallel};
use crate::interval::policy::{Estimators, Uncertainty};
use crate::interval::thinning::FEW_DRAWS;
use crate::order::interactions::interactions;
use crate::result::check::Check;
use crate::result::comparison::Comparison;
use crate::result::diagnostics::Diagnostics;
use crate::result::evaluation::{Evaluation, LogFacts, PolicyEvaluation, RewardFacts, SegmentEvaluation, Source};
use crate::result::selection::Interaction;
use crate::spec::error::{Error, Result};
use crate::spec::segment::Segment;
use crate::spec::settings::Settings;
use crate::spec::specification::{LOGGING, PolicySpec, Spec};
use crate::sums::Sums;
use crate::sums::cell::Cell;

impl Sums {
    /// The reward distribution of every policy, with what it rests on.
    ///
    /// # Errors
    /// [`Error::NoRows`] for an empty summary; [`Error::BadSetting`] and [`Error::TooFewDraws`] for settings out of
    /// their range; [`Error::BadStructure`] if no slate has the slots that the structure names; [`Error::HugeReward`]
    /// and [`Error::Overflow`] if rewards or weights are too large for double precision.
    pub fn evaluate(&self, source: &Source, settings: &Settings) -> Result<Evaluation> {
        let total = self.total_for(settings)?;
        let settings = &for_few_rewards(settings, total);
        let skipped = self.skipped_check(source);
        let whole = Part::Whole { skipped: skipped.as_ref() };
        let (mut policies, comparisons, trusts) = evaluate_cell(self.spec(), total, whole, Steps::Every, settings)?;
        add_skipped(&mut policies, skipped.as_ref());
        let segments = self.evaluate_segments(&trusts, settings)?;
        Ok(Evaluation {
            log: facts(self, source, total)?,
            comparisons,
            disparities: disparities(&policies, &segments, settings),
            policies,
            segments,
        })
    }

    /// The whole log without its segments, or one segment by itself: what [`evaluate`](Sums::evaluate) says of it, at
    /// a fraction of the cost. For readers who ask one question more.
    ///
    /// # Errors
    /// As [`evaluate`](Sums::evaluate), and [`Error::BadSetting`] for a segment that there is not.
    pub fn evaluate_part(&self, source: &Source, segment: Option<&Segment>, settings: &Settings) -> Result<Evaluation> {
        let total = self.total_for(settings)?;
        let Some(segment) = segment else {
            let skipped = self.skipped_check(source);
            let whole = Part::Whole { skipped: skipped.as_ref() };
            let (mut policies, comparisons, _) = evaluate_cell(self.spec(), total, whole, Steps::Every, settings)?;
            add_skipped(&mut policies, skipped.as_ref());
            return part((self, source), total, policies, comparisons);
        };
        let whole = self.trusts(source, total, |_| true, settings)?;
        let cell = self.segments.get(segment).ok_or_else(|| no_segment(segment))?;
        let settings = of_segments(settings);
        let of_segment = Part::Segment { whole: &whole };
        let (policies, comparisons, _) = evaluate_cell(self.spec(), cell, of_segment, Steps::Every, &settings)?;
        part((self, source), cell, policies, comparisons)
    }

    /// Whether what was left out may bias the rest; none if nothing was.
    pub(crate) fn skipped_check(&self, source: &Source) -> Option<Check> {
        rows::skipped(&source.skipped, self.rows(), source.inputs.len())
    }

    /// All rows, if these settings suit them.
    pub(crate) fn total_for(&self, settings: &Settings) -> Result<&Cell> {
        settings.check_for(self.spec())?;
        let total = self.total()?;
        self.spec().structure.check_longest(total.slots)?;
        settings.structure.iter().try_for_each(|structure| structure.check_longest(total.slots))?;
        Ok(total)
    }

    /// How far each policy can be trusted over the whole log, logging first; of targets, those that are asked for.
    pub(crate) fn trusts(
        &self,
        source: &Source,
        total: &Cell,
        is_asked: impl Fn(usize) -> bool,
        settings: &Settings,
    ) -> Result<Vec<PolicyTrust>> {
        let skipped = self.skipped_check(source);
        let part = Part::Whole { skipped: skipped.as_ref() };
        let (bins, places) = occupied(total);
        let grids = &Grids::new(&bins, settings.draws);
        let of = |policy: usize| {
            if !is_asked(policy) {
                return Ok(PolicyTrust::default());
            }
            let logging = Estimator::of_logging(total, WeightSums::of_logging(total, policy, &places), &bins);
            let target = Target::new(self.spec(), total, (&bins, &places), (policy, part), &logging, settings, grids)?;
            Ok(target.trust)
        };
        std::iter::once(Ok(part.trust_in_logging())).chain((0..self.spec().policies.len()).map(of)).collect()
    }

    /// Each on one thread, several of them at once.
    fn evaluate_segments(&self, whole: &[PolicyTrust], settings: &Settings) -> Result<Vec<SegmentEvaluation>> {
        let Some(column) = &self.spec().by else { return Ok(Vec::new()) };
        let threads = settings.threads;
        let settings = &of_segments(settings);
        let cells: Vec<(&Segment, &Cell)> = self.segments.iter().collect();
        let evaluate = |segment: usize| {
            let (value, cell) = cells[segment];
            let (policies, comparisons, _) =
                evaluate_cell(self.spec(), cell, Part::Segment { whole }, Steps::Every, settings)?;
            Ok(SegmentEvaluation {
                column: column.clone(),
                value: value.clone(),
                rows: cell.rows,
                policies,
                comparisons,
            })
        };
        in_parallel(cells.len(), threads, evaluate).into_iter().collect()
    }

    /// How strongly each two slots' effects on the reward depend on each other, strongest first. Needs a specification
    /// with [`interactions`](Spec::interactions).
    ///
    /// # Errors
    /// As [`evaluate`](Sums::evaluate), and [`Error::BadSetting`] if what it needs was not kept.
    pub fn interactions(&self, settings: &Settings) -> Result<Vec<Interaction>> {
        settings.check_for(self.spec())?;
        let total = self.total()?;
        if total.layout.pairs.is_empty() {
            return Err(Error::BadSetting {
                setting: "interactions",
                value: "on".into(),
                why: "this summary was made without them".into(),
            });
        }
        let (bins, places) = occupied(total);
        let grids = Grids::new(&bins, settings.draws);
        let of = |(p, policy): (usize, &PolicySpec)| {
            interactions(total, p, &policy.name, (&bins, &places), settings, &grids)
        };
        Ok(self.spec().policies.iter().enumerate().flat_map(of).collect())
    }
}

/// Where nobody asked for probabilities and there are few distinct rewards: those of all rewards but the smallest.
fn for_few_rewards<'s>(settings: &'s Settings, total: &Cell) -> Cow<'s, Settings> {
    let is_few = total.bins.distinct().is_some_and(|count| count <= Evaluation::FEW_REWARDS);
    if !is_few || !settings.at_least.is_empty() {
        return Cow::Borrowed(settings);
    }
    let at_least = occupied(total).0.iter().skip(1).map(|bin| bin.max).collect();
    Cow::Owned(Settings { at_least, ..settings.clone() })
}

/// Settings for one segment of many, which share the threads.
fn of_segments(settings: &Settings) -> Settings {
    Settings { draws: settings.draws.min(SEGMENT_DRAWS), threads: Some(1), ..settings.clone() }
}

pub(crate) fn no_segment(segment: &Segment) -> Error {
    Error::BadSetting { setting: "segment", value: segment.to_string(), why: "the log has no such segment".into() }
}

/// An evaluation of one cell.
fn part(
    (sums, source): (&Sums, &Source),
    cell: &Cell,
    policies: Vec<PolicyEvaluation>,
    comparisons: Vec<Comparison>,
) -> Result<Evaluation> {
    Ok(Evaluation {
        log: facts(sums, source, cell)?,
        policies,
        comparisons,
        segments: Vec::new(),
        disparities: Vec::new(),
    })
}

/// What is known of the log, or of the part of it that a cell holds.
fn facts(sums: &Sums, source: &Source, cell: &Cell) -> Result<LogFacts> {
    let (min, max) = cell.bins.range().ok_or(Error::NoRows)?;
    Ok(LogFacts {
        rows: cell.rows,
        slots: sums.slots(),
        reward: RewardFacts { min, max, distinct: cell.bins.distinct() },
        skipped: source.skipped.clone(),
        ignored: source.ignored.clone(),
        ignored_files: source.ignored_files,
        inputs: source.inputs.clone(),
    })
}

/// Adds the check of what was left out of the whole log to each target's. Which segments those rows were in is not known.
fn add_skipped(policies: &mut [PolicyEvaluation], skipped: Option<&Check>) {
    for target in policies.iter_mut().skip(1) {
        target.diagnostics.checks.extend(skipped.cloned());
    }
}

/// Draws for each segment, of which there may be a thousand.
pub(crate) const SEGMENT_DRAWS: usize = FEW_DRAWS;

/// Every policy of a cell, how they compare, and how far each policy can be trusted.
pub(crate) fn evaluate_cell(
    spec: &Spec,
    cell: &Cell,
    part: Part<'_>,
    steps: Steps,
    settings: &Settings,
) -> Result<(Vec<PolicyEvaluation>, Vec<Comparison>, Vec<PolicyTrust>)> {
    let (bins, places) = occupied(cell);
    let grids = &Grids::new(&bins, settings.draws);
    let beside = |policy: usize| Estimator::of_logging(cell, WeightSums::of_logging(cell, policy, &places), &bins);
    let loggings: Vec<Estimator<'_>> = (0..spec.policies.len()).map(beside).collect();
    let target =
        |(policy, logging)| Target::new(spec, cell, (&bins, &places), (policy, part), logging, settings, grids);
    let targets: Vec<Target<'_>> = loggings.iter().enumerate().map(target).collect::<Result<_>>()?;
    let (logging, trust) = (&loggings[0], part.trust_in_logging());
    let (uncertainty, _) = Uncertainty::new(cell, &places, Estimators::of(logging), None, settings, grids)?;
    let diagnostics = Diagnostics::of_logging(cell.rows as f64);
    let trusts = &trust.in_intervals(LOGGING, None);
    let described = Described { name: LOGGING, estimators: Estimators::of(logging), selection: None, trusts };
    let mut policies = vec![describe(described, &[uncertainty], diagnostics, settings)];
    let mut comparisons = Vec::new();
    for (target, beside) in targets.iter().zip(&loggings) {
        let (evaluation, comparison) = target.evaluate(cell, &places, beside, steps, settings, grids)?;
        policies.push(evaluation);
        comparisons.push(comparison);
    }
    for (policy, baseline) in cell.kept.compared() {
        comparisons.push(targets[policy].compare_with(&targets[baseline], cell, &places, steps, settings, grids)?);
    }
    let trusts = std::iter::once(trust).chain(targets.into_iter().map(|target| target.trust));
    Ok((policies, comparisons, trusts.collect()))
}
