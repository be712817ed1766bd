//! Blocks of logged slates, and the weights of their rows.

pub(crate) mod append;
pub(crate) mod block;
mod block_columns;
mod block_segments;
pub(crate) mod check;
mod gather;
pub(crate) mod ratios;
pub(crate) mod segment_names;
pub(crate) mod slate;
pub(crate) mod weights;
