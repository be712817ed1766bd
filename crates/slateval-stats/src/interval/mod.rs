//! How far estimates may lie from the truth: draws, intervals and bands, and when they may be given.

pub(crate) mod bands;
pub(crate) mod bernstein;
pub(crate) mod curve_errors;
pub(crate) mod drawable;
pub(crate) mod drawn;
pub(crate) mod drawn_curves;
pub(crate) mod draws;
#[cfg(test)]
mod influence_tests;
pub(crate) mod limits;
pub(crate) mod moment;
pub(crate) mod normals;
pub(crate) mod policy;
pub(crate) mod process;
pub(crate) mod readings;
pub(crate) mod standing;
pub(crate) mod thinning;
#[cfg(test)]
mod thinning_tests;
