//! Reading a log: its files cut into tasks, tasks run on threads, and their summaries merged in order.

mod batches;
mod gather;
mod log;
mod merge;
mod progress;
mod record;
mod tasks;
mod units;

pub use batches::Batches;
pub use log::Log;
pub use progress::Progress;
pub use record::{Record, provenance};
pub use tasks::{Task, partial};
