//! What the numbers rest on.

pub(crate) mod diagnostics;
