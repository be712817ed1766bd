//! Which order of weights the data ask for, and how strongly slots interact.

pub(crate) mod choice;
pub(crate) mod interactions;
pub(crate) mod order_test;
