//! Less noise from the same rows: the sums of one weight, and the correction that makes its estimates less noisy.
//! See docs/methods.md, section 4.

pub(crate) mod corrected;
pub(crate) mod factors;
pub(crate) mod terms;
pub(crate) mod weight_sums;
