//! Reading a log: its files cut into tasks, tasks run on threads, and their summaries merged in order.

mod batches;
mod checkpoint;
#[cfg(test)]
mod checkpoint_tests;
mod gather;
mod known;
mod log;
mod merge;
mod plan_differences;
mod progress;
mod record;
mod second_look;
mod tasks;
mod units;

pub use batches::Batches;
pub use checkpoint::Checkpoints;
pub use log::Log;
pub use progress::Progress;
pub use record::{Record, provenance};
pub use tasks::{Task, partial};
