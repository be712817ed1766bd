//! The paper's experiments, run again: many trials of an estimator against a known truth.
//!
//! A [`Study`] is a simulation, a truth and the sizes of logs; [`Study::run`] gives an error for each trial, size and
//! estimator. [`experiments`] has the paper's own, [`report`] shows them beside its printed figures, [`figure`] draws them.

mod estimators;
pub mod experiments;
pub mod figure;
mod measure;
mod published;
pub mod report;
mod run;

pub use estimators::{Estimator, estimators};
pub use measure::{Metric, Stat};
pub use published::{Published, published};
pub use run::{Results, Study};
