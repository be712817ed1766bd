//! What is answered: plain values without methods that compute, as they go into JSON.

pub(crate) mod check;
pub(crate) mod comparison;
pub(crate) mod diagnostics;
pub(crate) mod evaluation;
pub(crate) mod finding;
pub(crate) mod ignored;
pub(crate) mod interval;
pub(crate) mod parts;
pub(crate) mod reason;
pub(crate) mod refutation;
pub(crate) mod selection;
pub(crate) mod skipped;
pub(crate) mod trust;
