//! What several fuzz targets share.

mod logs;
mod summaries;

pub use logs::read_log;
pub use summaries::{evaluate, with_checksum};
