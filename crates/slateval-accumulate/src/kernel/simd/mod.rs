//! Columns of rows, and vector instructions: nothing that knows of slates.

pub(crate) mod column;
pub(crate) mod fetch;
pub(crate) mod lanes;
pub(crate) mod singles;
pub(crate) mod vector;
