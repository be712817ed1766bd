//! Rows: record batches into blocks of slates, and these into a summary.

mod budget;
mod dictionary;
mod done;
mod faults;
mod labels;
mod lists;
mod long;
mod numbers;
mod rows;
mod times;
mod wide;

pub(crate) use budget::Budget;
pub(crate) use done::{Base, Done};
pub(crate) use faults::Faults;
pub(crate) use rows::Rows;
