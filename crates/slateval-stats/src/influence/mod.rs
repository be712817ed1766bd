//! How much each row moves an estimate: what every standard error is made of.
//! See docs/methods.md, section 6.

pub(crate) mod asymmetry;
pub(crate) mod design;
pub(crate) mod function;
pub(crate) mod leverage;
