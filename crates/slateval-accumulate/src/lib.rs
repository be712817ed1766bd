//! Rows of slates into the sums of `slateval-stats`, fast.
//!
//! ```text
//! Slate, Block ──> Accumulator ──> Sums
//! ```
//!
//! An [`Accumulator`] takes rows one by one, as a [`Slate`], or in a [`Block`] of up to 128 of them, which readers of files
//! fill column by column. It checks a whole block before it adds the first row, so that a refused block changes nothing. Rows
//! wait only in here; [`Accumulator::finish`] gives sums of all of them.
//!
//! What is summed is said by `slateval-stats`: [`Cell`](slateval_stats::sums::Cell) and its parts. How it is summed fast is said
//! by `kernel`, and what the kernel has to compute by `reference`, a plain accumulator that the tests compare it with.
//!
//! ```
//! use slateval_accumulate::{Accumulator, Slate};
//! use slateval_stats::{Settings, Source, Spec, Structure};
//!
//! // Two actions, shown equally often; the first is worth 1. The target shows it in 9 of 10 slates.
//! let mut rows = Accumulator::new(Spec::new(Structure::Additive, ["new"]))?;
//! rows.record(&Slate::new(1.0).logging(&[0.5]).targets(&[&[0.9]]))?;
//! rows.record(&Slate::new(0.0).logging(&[0.5]).targets(&[&[0.1]]))?;
//!
//! let evaluation = rows.finish().evaluate(&Source::default(), &Settings::default())?;
//! assert_eq!(evaluation.policies[1].mean.estimate, Some(0.9));
//! # Ok::<(), slateval_stats::Error>(())
//! ```

mod accumulator;
mod block;
mod kernel;
#[cfg(test)]
mod oracle_tests;
pub mod reference;
mod segments;
mod slate;

pub use accumulator::Accumulator;
pub use block::Block;
pub use slate::Slate;
