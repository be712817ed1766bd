//! What the numbers rest on.

pub(crate) mod assumptions;
pub(crate) mod diagnostics;
pub(crate) mod propensities;
pub(crate) mod rows;
