//! The statistics of slateval: from the sums of a log to the reward distribution that another policy would have.
//!
//! Everything is computed from [`Sums`], which have a fixed size and merge. This crate does no I/O, keeps no rows, and has no
//! `unsafe`; `slateval-accumulate` turns rows into sums, and `slateval` is the front door for both.
//!
//! ```text
//! Sums ──> Weight ──> Correction ──> Distribution ──> Interval ──> Trust ──> Evaluation
//! sums/    weights    correction/    distribution/    interval/    order/    evaluate/
//! ```
//!
//! | module | what | docs/methods.md |
//! |---|---|---|
//! | [`sums`] | what is summed of a log: bins of rewards, moments, tallies; how two logs' sums add up | section 3 |
//! | [`weights`] | the importance weight `G` of one slate: [`Structure`], [`ranking_weight`] | section 2 |
//! | `correction` | which multiple of each weight is added up, so that estimates are less noisy: [`Correction`] | section 4 |
//! | `distribution` | the CDF of corrected weights, raw and repaired; mean, variance, quantiles, VaR, CVaR | section 5 |
//! | `influence` | how much each row moves an estimate; standard errors, leverage, design second moments | section 6 |
//! | `interval` | intervals and bands from standard errors and draws, and when they may be given | section 6 |
//! | `order` | which order of weights the data ask for, and how far that can be trusted | section 7 |
//! | `checks` | what the numbers rest on: [`Check`], [`Finding`] | section 8 |
//! | `evaluate` | all of it for each policy, comparison, segment and combination: [`Sums::evaluate`] | sections 5 to 8 |
//! | `spec`, `result` | what is asked and what is answered: plain types | – |
//!
//! ```
//! use slateval_stats::{Settings, Source, Spec, Structure, Sums};
//!
//! let sums = Sums::new(Spec::new(Structure::Auto, ["new"]))?;
//! // No slate has been added: there is nothing to evaluate.
//! assert!(sums.evaluate(&Source::default(), &Settings::default()).is_err());
//! # Ok::<(), slateval_stats::Error>(())
//! ```
#![forbid(unsafe_code)]

// The plain accumulator, for the tests: a dependency on its crate would be on another build of this one, with types that are
// not these.
#[cfg(test)]
extern crate self as slateval_stats;
#[cfg(test)]
#[path = "../../slateval-accumulate/src/reference.rs"]
#[expect(unreachable_pub, reason = "it is public in its own crate")]
mod reference;

mod names;

mod math;

mod spec;

mod result;

pub mod sums;

pub mod weights;

mod correction;

mod distribution;

mod influence;

mod interval;

mod order;

mod checks;

mod evaluate;

pub use evaluate::combination::{Combined, FailedCheck, Worth};
pub use evaluate::profile::{ComparisonProfile, PolicyProfile, Profile};
pub use math::fold::fold;
pub use result::check::{Check, CheckName, Status};
pub use result::comparison::{Comparison, Disparity, Dominance};
pub use result::diagnostics::{DesignSource, Diagnostics, WeightHistogram};
pub use result::evaluation::{
    Evaluation, InputFacts, LogFacts, PolicyEvaluation, RewardFacts, SegmentEvaluation, Source,
};
pub use result::finding::{Enough, Finding, Functional, Lack, Remedy, RowShares};
pub use result::ignored::{IgnoreReason, IgnoredFile};
pub use result::interval::{Bounds, Cdf, CdfBand, Interval, ProbabilityEstimate, QuantileEstimate, TailEstimate};
pub use result::reason::{Effects, Reason, TailMetric, Untested, WayOut};
pub use result::refutation::Refutation;
pub use result::selection::{FunctionalTest, Interaction, OrderTest, Selection, SelectionReason};
pub use result::skipped::{SkipReason, Skipped, SkippedExample};
pub use result::trust::{Trust, Trusts};
pub use spec::binning::{Binning, Scale};
pub use spec::combination::{Combination, Metric, Term};
pub use spec::correction::{Correction, CorrectionChoice};
pub use spec::day::Day;
pub use spec::error::{Error, Result};
pub use spec::field::Field;
pub use spec::propensity_source::PropensitySource;
pub use spec::redacted::{command_line, redacted, redacted_command, redacted_text};
pub use spec::segment::Segment;
pub use spec::settings::{Band, Settings};
pub use spec::shown::{is_obeyed, shown};
pub use spec::specification::{LOGGING, PolicySpec, Spec};
pub use spec::structure::{Family, Needs, ORDERS, Pool, Structure, TargetSlots};
pub use spec::tail::Tail;
pub use sums::Sums;
pub use weights::ranking_weight;
