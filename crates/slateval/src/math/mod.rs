//! Linear algebra, normal quantiles, vector instructions: nothing that knows of slates.

pub(crate) mod column;
pub(crate) mod fetch;
pub(crate) mod fold;
pub(crate) mod lanes;
pub(crate) mod linear;
pub(crate) mod normal;
pub(crate) mod normals;
pub(crate) mod singles;
pub(crate) mod student;
pub(crate) mod vector;
