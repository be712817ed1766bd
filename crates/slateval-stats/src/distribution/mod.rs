//! The CDF that corrected weights give, raw and repaired, and what is read off it.
//! See docs/methods.md, section 5.

pub(crate) mod curve;
pub(crate) mod estimator;
pub(crate) mod reward_tail;
