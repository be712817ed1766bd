//! Files: found by paths, patterns and addresses, and told apart by name or first bytes.

pub(crate) mod address;
pub(crate) mod candidates;
mod contents;
pub(crate) mod detect;
pub(crate) mod discover;
mod identity;
mod location;
pub(crate) mod place;
mod waiting;

pub(crate) use candidates::SortedOut;
pub(crate) use detect::{Format, begins_with};
pub(crate) use discover::{files, partitions};
pub(crate) use identity::Identity;
pub use location::Location;
pub(crate) use location::with_secrets;
pub(crate) use place::Place;
pub(crate) use waiting::side_by_side;
