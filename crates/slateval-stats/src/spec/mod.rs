//! What is asked: which weights, bins and segments a summary keeps ([`specification`]), and how it is evaluated ([`settings`]).

pub(crate) mod binning;
pub(crate) mod combination;
pub(crate) mod correction;
pub(crate) mod day;
pub(crate) mod error;
pub(crate) mod field;
pub(crate) mod propensity_source;
pub(crate) mod redacted;
pub(crate) mod segment;
pub(crate) mod settings;
pub(crate) mod shown;
pub(crate) mod specification;
pub(crate) mod structure;
pub(crate) mod tail;
