//! Linear algebra and normal numbers: nothing that knows of slates.

pub(crate) mod fold;
pub(crate) mod linear;
pub(crate) mod normal;
pub(crate) mod normals;
pub(crate) mod student;
