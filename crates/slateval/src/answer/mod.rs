//! What is answered: plain values without methods that compute, as they go into JSON.

pub(crate) mod check;
pub(crate) mod comparison;
pub(crate) mod diagnostics;
pub(crate) mod evaluation;
pub(crate) mod interval;
pub(crate) mod parts;
pub(crate) mod selection;
