//! Whether the numbers of a summary that was read can be the sums of a log. A checksum shows damage; it does not show that
//! the numbers were sums once.
//! See docs/methods.md, section 3.7.
//!
//! Every check is an identity or an inequality that holds for any rows, with an allowance for rounding:
//!
//! | file | what |
//! |---|---|
//! | `rewards` | bins hold whole numbers of rows whose rewards lie in them; powers of the reward lie where the bins allow |
//! | `weights` | counts, extremes and powers of each weight agree with each other and with its sums over bins |
//! | `slots` | the same of each slot's ratios, and of pairs of slots |
//! | `products` | products with rewards lie where the bins allow; all others obey Cauchy's and Schwarz's inequality |
//! | `joint` | products of many features together are those of some rows |
//! | `clusters` | groups of clusters add up to the bins and to the log |
//! | `segments` | segments add up to the whole log |

mod clusters;
mod joint;
mod policy;
mod products;
mod rewards;
mod segments;
mod slots;
mod weights;

use std::fmt;

use crate::spec::segment::Segment;
use crate::spec::specification::Spec;
use crate::sums::cell::Cell;
use crate::sums::check::policy::PolicyView;
use crate::sums::check::rewards::RewardView;

pub(crate) use segments::segments_add_up;

/// A part of what is kept of a log or of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Rewards,
    Moments,
    Weights,
    Slots,
    Bins,
    Baseline,
    Clusters,
    Segments,
}

impl Section {
    fn name(self) -> &'static str {
        match self {
            Section::Rewards => "rewards",
            Section::Moments => "sums of rewards and weights",
            Section::Weights => "weights",
            Section::Slots => "slots",
            Section::Bins => "bins",
            Section::Baseline => "products with the baseline",
            Section::Clusters => "clusters",
            Section::Segments => "segments",
        }
    }
}

/// Numbers that no log can have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    section: Section,
    /// The policy's place in the specification, where it is about one.
    policy: Option<usize>,
    what: String,
}

impl Fault {
    pub(crate) fn new(section: Section, what: impl Into<String>) -> Self {
        Fault { section, policy: None, what: what.into() }
    }

    pub(crate) fn of_policy(self, policy: usize) -> Self {
        Fault { policy: Some(policy), ..self }
    }

    /// As a sentence, given the specification and the segment, if it is about one.
    pub(crate) fn in_words(&self, spec: &Spec, segment: Option<&Segment>) -> String {
        let target = self.policy.and_then(|p| spec.policies.get(p)).map(|p| format!(" of target `{}`", p.name));
        let place = match segment {
            Some(segment) => format!("in segment `{segment}`"),
            None => "in the whole log".to_owned(),
        };
        format!(
            "its numbers are those of no log: {place}, the {}{} contradict each other: {}",
            self.section.name(),
            target.unwrap_or_default(),
            self.what
        )
    }
}

/// Nothing, or what contradicts.
pub(crate) type Sound = Result<(), Fault>;

/// How far a sum over rows may lie from the exact one, as a share of the sum of its terms' sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounding(f64);

impl Rounding {
    /// Terms are added one by one at worst. The constant allows for merges, moved origins and what is computed here.
    pub(crate) fn of(rows: u64) -> Self {
        Rounding((64.0 * f64::EPSILON * (rows as f64 + 1024.0)).min(0.25))
    }

    /// What a sum of terms whose sizes sum up to `size` may be off by.
    fn of_sum(self, size: f64) -> f64 {
        self.0 * size
    }
}

/// Numbers from one to another.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    const ZERO: Span = Span { low: 0.0, high: 0.0 };

    fn plus(self, other: Span) -> Span {
        Span { low: self.low + other.low, high: self.high + other.high }
    }

    /// Times a number that is not negative.
    fn times(self, by: f64) -> Span {
        Span { low: by * self.low, high: by * self.high }
    }

    fn around(middle: f64, half: f64) -> Span {
        Span { low: middle - half, high: middle + half }
    }

    fn wider(self, by: f64) -> Span {
        Span { low: self.low - by, high: self.high + by }
    }

    /// The powers of its numbers.
    fn power(self, power: i32) -> Span {
        let (a, b) = (self.low.powi(power), self.high.powi(power));
        let low = if power % 2 == 0 && self.low <= 0.0 && self.high >= 0.0 { 0.0 } else { a.min(b) };
        Span { low, high: a.max(b) }
    }

    /// The sizes of its numbers.
    fn sizes(self) -> Span {
        let least = if self.low <= 0.0 && self.high >= 0.0 { 0.0 } else { self.low.abs().min(self.high.abs()) };
        Span { low: least, high: self.size() }
    }

    /// The largest size of its numbers.
    fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
}

/// Refuses a number outside a span. A span whose ends overflow allows everything.
fn within(section: Section, name: impl fmt::Display, value: f64, span: Span) -> Sound {
    if value < span.low || value > span.high {
        let Span { low, high } = span;
        return Err(Fault::new(section, format!("{name} is {value:e}, and must lie between {low:e} and {high:e}")));
    }
    Ok(())
}

/// Refuses numbers that are not finite: no sum over a log is.
pub(crate) fn all_finite(section: Section, numbers: &[f64]) -> Sound {
    match numbers.iter().find(|x| !x.is_finite()) {
        Some(odd) => {
            Err(Fault::new(section, format!("a sum is {odd}; it was damaged, or weights or rewards overflowed")))
        }
        None => Ok(()),
    }
}

/// A number of rows, or of anything else that is counted.
pub(crate) fn count(section: Section, name: impl fmt::Display, number: f64) -> Result<u64, Fault> {
    if number >= 0.0 && number <= u64::MAX as f64 && number.fract() == 0.0 {
        return Ok(number as u64);
    }
    Err(Fault::new(section, format!("{name} is {number:e}, which counts nothing")))
}

impl Cell {
    /// Refuses numbers that no rows can have summed up to.
    pub(crate) fn check(&self) -> Sound {
        let rewards = RewardView::new(self)?;
        let policies: Vec<PolicyView<'_>> =
            (0..self.policies.len()).map(|p| PolicyView::new(self, &rewards, p)).collect();
        for (p, view) in policies.iter().enumerate() {
            let check = || {
                rewards.check_moments(view)?;
                weights::check(view)?;
                slots::check(view, &rewards)?;
                products::check(self, view, &rewards)?;
                joint::check(self, view, &rewards)
            };
            check().map_err(|fault: Fault| fault.of_policy(p))?;
        }
        products::check_baselines(self, &rewards, &policies)?;
        clusters::check(self, &rewards, &policies)
    }
}
