//! What the tests, examples and measurements of several crates share: random numbers that are the same on every machine,
//! and small logs as plain arrays.
//!
//! It depends on none of the other crates, so that each of them can use it in its tests.

mod log;
mod random;

pub use log::Log;
pub use random::{Random, uniform};
