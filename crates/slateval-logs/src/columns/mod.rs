//! Columns: what the user calls them, where in a file's schema they are, and which role each plays.

mod agree;
mod describe;
mod hint;
mod label;
mod layout;
mod names;
mod overlap;
mod types;
mod wanted;

pub use describe::{ColumnRole, ColumnUse, Description};
pub use names::{Named, Names};
pub use overlap::Overlap;
pub use wanted::{Columns, RowFormat, Source, TargetColumns};

pub(crate) use agree::check_files;
pub(crate) use label::{Label, Place};
pub(crate) use layout::{Arrangement, Found, Keys, Layout, MAX_SLOTS, Scalar, SlotColumns};
pub(crate) use types::{is_reward, offset_of};
