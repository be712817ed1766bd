//! Linear combinations of metrics, such as `mean(new) - 0.98 mean(logging)`, with intervals that know that all policies
//! are judged by the same rows.
//! See docs/methods.md, section 6.15.

use crate::correction::weight_sums::occupied;
use crate::evaluate::joint::JointIntervals;
use crate::evaluate::joint_terms::{PolicyTerm, Who};
use crate::evaluate::policy_trust::{Part, PolicyTrust};
use crate::evaluate::{SEGMENT_DRAWS, no_segment};
use crate::interval::draws::Grids;
use crate::result::check::Check;
use crate::result::evaluation::Source;
use crate::result::interval::Interval;
use crate::spec::combination::Combination;
use crate::spec::error::{Error, Result};
use crate::spec::segment::Segment;
use crate::spec::settings::Settings;
use crate::spec::specification::{LOGGING, Spec};
use crate::sums::Sums;
use crate::sums::cell::Cell;

/// What is known of a combination.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Combined {
    /// The estimate with its interval.
    pub interval: Interval,
    /// Checks that leave no number of their policy to be relied on ([`Diagnostics::spoiled`](crate::Diagnostics::spoiled)),
    /// for which the interval is [`refuted`](Interval::refuted). In a segment, those of the whole log count too.
    pub failed: Vec<FailedCheck>,
    /// What the log is worth for the policy that it is worth least for; none if nothing is uncertain.
    pub worth: Option<Worth>,
}

/// How many rows of a policy's own a log is worth: the design effective sample size, in clusters as far as rows are alike
/// in them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct Worth {
    /// The policy.
    pub policy: String,
    /// The rows.
    pub rows: f64,
}

/// A check that a policy failed.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(not(feature = "__construct"), non_exhaustive)]
pub struct FailedCheck {
    /// The policy.
    pub policy: String,
    /// What was found.
    pub check: Check,
}

impl Sums {
    /// A linear combination of metrics with its interval, for the whole log or for one segment.
    ///
    /// The interval is joint: what moves several terms at once is not counted twice. One term, or a target minus logging or
    /// the baseline, has the interval that [`evaluate`](Sums::evaluate) gives it. Terms that cannot be judged together,
    /// which are moments with what is read off the CDF, and two targets of which neither is the specification's
    /// [`baseline`](Spec::baseline), are split into groups; each of `g` groups gets an interval at
    /// `1 - (1 - confidence) / g`, and the ends are added up. That holds at least as often as asked for, and is wider than it
    /// could be.
    ///
    /// With [`Band::Bernstein`](crate::Band::Bernstein), only quantiles and probabilities of one policy have an interval.
    ///
    /// # Errors
    /// As [`evaluate`](Sums::evaluate), and [`Error::BadSetting`] for a policy, a segment or a level that there is not.
    pub fn combination(
        &self,
        source: &Source,
        combination: &Combination,
        segment: Option<&Segment>,
        settings: &Settings,
    ) -> Result<Interval> {
        let mut found = self.combinations(source, std::slice::from_ref(combination), segment, settings)?;
        Ok(found.swap_remove(0).interval)
    }

    /// Several at once, which costs hardly more than one: they share the order chosen from the data and the draws.
    ///
    /// # Errors
    /// As [`combination`](Sums::combination).
    pub fn combinations(
        &self,
        source: &Source,
        combinations: &[Combination],
        segment: Option<&Segment>,
        settings: &Settings,
    ) -> Result<Vec<Combined>> {
        settings.check_for(self.spec())?;
        let parts = combinations.iter().map(|c| parts(c, self.spec())).collect::<Result<Vec<_>>>()?;
        match segment {
            None => {
                let total = self.total()?;
                self.spec().structure.check_longest(total.slots)?;
                let skipped = self.skipped_check(source);
                self.combine(total, combinations, &parts, settings, Part::Whole { skipped: skipped.as_ref() })
            }
            Some(segment) => {
                let cell = self.segments.get(segment).ok_or_else(|| no_segment(segment))?;
                let whole = self.trusts_of_parts(source, &parts, settings)?;
                self.combine(cell, combinations, &parts, settings, Part::Segment { whole: &whole })
            }
        }
    }

    /// The same in every segment, ascending. What the whole log says of the policies is found out once for all of them.
    ///
    /// # Errors
    /// As [`combination`](Sums::combination).
    pub fn combinations_by_segment(
        &self,
        source: &Source,
        combinations: &[Combination],
        settings: &Settings,
    ) -> Result<Vec<(Segment, Vec<Combined>)>> {
        settings.check_for(self.spec())?;
        let parts = combinations.iter().map(|c| parts(c, self.spec())).collect::<Result<Vec<_>>>()?;
        let whole = self.trusts_of_parts(source, &parts, settings)?;
        let of_segment = |(value, cell): (&Segment, &Cell)| {
            let found = self.combine(cell, combinations, &parts, settings, Part::Segment { whole: &whole })?;
            Ok((value.clone(), found))
        };
        self.segments.iter().map(of_segment).collect()
    }

    /// How far the policies of some combinations can be trusted over the whole log.
    fn trusts_of_parts(
        &self,
        source: &Source,
        parts: &[Vec<PolicyTerm>],
        settings: &Settings,
    ) -> Result<Vec<PolicyTrust>> {
        let total = self.total()?;
        self.spec().structure.check_longest(total.slots)?;
        let is_used = |policy: usize| parts.iter().flatten().any(|part| part.who == Who::Target(policy));
        self.trusts(source, total, is_used, settings)
    }

    fn combine(
        &self,
        cell: &Cell,
        combinations: &[Combination],
        parts: &[Vec<PolicyTerm>],
        settings: &Settings,
        part: Part<'_>,
    ) -> Result<Vec<Combined>> {
        let (bins, rows) = occupied(cell);
        let used: Vec<PolicyTerm> = parts.iter().flatten().copied().collect();
        // As in an evaluation, whose runs of bins follow from its draws.
        let draws = if part.is_segment() { settings.draws.min(SEGMENT_DRAWS) } else { settings.draws };
        let grids = Grids::new(&bins, draws);
        let mut bench = JointIntervals::new(self.spec(), cell, (&bins, &rows), &used, settings, part, &grids)?;
        let one = |(combination, parts): (&Combination, &Vec<PolicyTerm>)| {
            let interval = bench.interval(parts, combination.constant)?;
            Ok(Combined { interval, failed: bench.failed_checks(parts), worth: bench.worth(parts) })
        };
        combinations.iter().zip(parts).map(one).collect()
    }
}

/// The terms with their policies' places; those of the same metric and policy are one, and what cancels is left out.
fn parts(combination: &Combination, spec: &Spec) -> Result<Vec<PolicyTerm>> {
    let mut parts: Vec<PolicyTerm> = Vec::new();
    for term in &combination.terms {
        term.metric.check()?;
        let who = who(&term.policy, spec)?;
        match parts.iter_mut().find(|part| part.metric == term.metric && part.who == who) {
            Some(same) => same.coefficient += term.coefficient,
            None => parts.push(PolicyTerm { coefficient: term.coefficient, metric: term.metric, who }),
        }
    }
    parts.retain(|part| part.coefficient != 0.0);
    Ok(parts)
}

fn who(policy: &str, spec: &Spec) -> Result<Who> {
    if policy == LOGGING {
        return Ok(Who::Logging);
    }
    spec.policies.iter().position(|p| p.name == policy).map(Who::Target).ok_or_else(|| {
        let known: Vec<String> = spec.policies.iter().map(|p| format!("`{}`", p.name)).collect();
        Error::BadSetting {
            setting: "policy",
            value: policy.to_owned(),
            why: format!("there is no such policy, only `{LOGGING}`, {}", known.join(", ")),
        }
    })
}
