//! From a summary to one distribution for each weight: corrections, moments and influence functions.

pub(crate) mod asymmetry;
pub(crate) mod correction;
pub(crate) mod design;
pub(crate) mod distribution;
pub(crate) mod estimator;
pub(crate) mod factors;
pub(crate) mod influence;
pub(crate) mod leverage;
pub(crate) mod reward_tail;
pub(crate) mod terms;
pub(crate) mod weight_sums;
