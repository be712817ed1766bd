//! The whole reward distribution of a new slate policy, from logs of the deployed one.
//!
//! A recommender fills `K` slots at once and sees one reward `R` for the whole slate. This crate estimates, from logged
//! slates, what distribution `R` would have under another policy, as in *Distributional Off-Policy Evaluation for Slate
//! Recommendations* (SUnO, AAAI-24), and beyond it.
//!
//! ```
//! use slateval::{Settings, Slates};
//!
//! // Four slates of two slots, each of which shows one of two actions with equal probability.
//! // The reward counts the good actions; the new policy shows the good one in 9 of 10 slots.
//! let reward = [0.0, 1.0, 1.0, 2.0];
//! let mu = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]];
//! let pi = [[0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]];
//! let evaluation = Slates::new(&reward).logging(&mu).target("new", &pi).evaluate(&Settings::default())?;
//!
//! let [logging, new] = &evaluation.policies[..] else { unreachable!("one target was given") };
//! assert_eq!(logging.mean.estimate, Some(1.0));
//! assert!((new.mean.estimate.unwrap_or(0.0) - 1.8).abs() < 1e-12);
//! # Ok::<(), slateval::Error>(())
//! ```
//!
//! The crate does no I/O. Everything goes one road:
//!
//! ```text
//! rows ──> weights ──> Sums ──> distribution ──> Evaluation
//! Slates   Structure   Summary  Correction       mean, variance, quantiles, VaR, CVaR, CDF, checks
//! ```
//!
//! **Rows** are slates with a reward, logging propensities `mu_k` and target propensities `pi_k` of the shown actions.
//! Rows come in three ways: all at once from memory, as [`Slates`]; one by one, with [`Accumulator::record`]; or in a
//! [`Block`], which readers of files fill.
//!
//! **Weights.** With slot ratios `Y_k = pi_k / mu_k`, a [`Structure`] says which weight `G` makes
//! `F(v) = E[G 1{R <= v}]` the target's CDF: `1 + sum_k (Y_k - 1)` if the CDF is additive over slots, `prod_k Y_k` if
//! nothing is assumed, and unbiased weights for everything between. [`Structure::Auto`], the default, keeps what the
//! weights of several orders are made of, and chooses the order after the log has been read.
//!
//! **The [`Summary`]** keeps sums of fixed size, whatever the number of rows. Summaries merge: of threads, files, days or
//! machines, in any order.
//!
//! **The distribution.** A [`Correction`] makes the estimate less noisy, and all but [`Correction::None`] make the
//! weights sum to 1. Weights may be negative, so the raw CDF may fall or leave [0, 1]. Clipping and sorting its values
//! makes it a CDF, and never moves it further from the truth.
//!
//! **The [`Evaluation`]** has one distribution per policy, differences to the logging policy, segments, and
//! [`Diagnostics`]: what the numbers rest on.
//!
//! # Errors and panics
//!
//! A call that returns an error has changed nothing.
//!
//! | call | bad data or settings | misuse by the program |
//! |---|---|---|
//! | [`Slates::evaluate`], [`Slates::summary`], [`Slates::add_to`] | `Err` | – |
//! | [`Summary::new`], [`Accumulator::record`], [`Summary::merge`], [`Summary::evaluate`], [`Summary::combination`] | `Err` | – |
//! | [`Summary::add`], [`Accumulator::add`] | `Err` | panic: a block made for another specification |
//! | [`Summary::from_bytes`] | `Err` | – |
//! | [`Block::reset`], [`Block::column_mut`] | – | panic: too many rows, no such column |
//! | [`Structure::weights`] | – | panic: columns of different lengths, no function of slot ratios |
//! | [`Cdf::at_points`] | – | panic: no such point |
//!
//! # Features
//!
//! `serde`, off by default: evaluations and other answers are `Serialize`, without the sentences of [`InWords`]; specifications, settings and what they are made
//! of are also `Deserialize`. [`Summary::to_bytes`] and [`Summary::from_bytes`] are always there.

// Adds summaries together.
mod merging;

#[cfg(test)]
mod pinned_bytes;

// The front door for data in memory.
mod slates;

// What is kept of a log: its sums, and where its rows came from.
mod summary;

pub use slates::Slates;
pub use slates::slots::Slots;
pub use slateval_accumulate::{Accumulator, Block, Slate};
pub use slateval_format::{Content, History, Input};
pub use slateval_stats::{
    Band, Binning, Bounds, Cdf, CdfBand, Check, CheckName, Combination, Combined, Comparison, ComparisonProfile,
    Correction, CorrectionChoice, Day, DesignSource, Diagnostics, Disparity, Dominance, Effects, Enough, Error,
    Evaluation, FailedCheck, Family, Field, Finding, Functional, FunctionalTest, IgnoreReason, IgnoredFile, InputFacts,
    Interaction, Interval, LOGGING, Lack, LogFacts, Metric, Needs, OrderTest, PolicyEvaluation, PolicyProfile,
    PolicySpec, Pool, ProbabilityEstimate, Profile, PropensitySource, QuantileEstimate, Reason, Refutation, Remedy,
    Result, RewardFacts, RowShares, Scale, Segment, SegmentEvaluation, Selection, SelectionReason, Settings,
    SkipReason, Skipped, SkippedExample, Source, Spec, Status, Structure, Sums, Tail, TailEstimate, TailMetric,
    TargetSlots, Term, Trust, Trusts, Untested, WayOut, WeightHistogram, Worth, command_line, is_obeyed,
    ranking_weight, redacted, redacted_text, shown,
};
pub use slateval_text::{InWords, Voice};
pub use summary::Summary;

/// Runs the Rust of the repository's README as a documentation test. The file is no part of the packaged crate, and only
/// documentation tests of the workspace look at it.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
