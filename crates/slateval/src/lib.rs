//! The whole reward distribution of a new slate policy, from logs of the deployed one.
mod bins;
mod block;
mod cell;
mod correction;
mod diagnostics;
mod distribution;
mod error;
mod evaluation;
mod features;
mod format;
mod gram;
mod linear;
mod normal;
mod settings;
mod spec;
mod structure;
mod summary;
mod tally;
mod weight;
mod weighted;

pub use bins::{Binning, Scale};
pub use block::{Block, Field, Segment};
pub use correction::{Correction, CorrectionChoice};
pub use diagnostics::{Check, DesignSource, Diagnostics, Status};
pub use distribution::Tail;
pub use error::{Error, Result};
pub use evaluation::{
    Cdf, Comparison, Disparity, Evaluation, Interval, LogFacts, PolicyEvaluation, QuantileEstimate, RewardFacts,
    SegmentEvaluation, TailEstimate,
};
pub use settings::Settings;
pub use spec::{LOGGING, PolicySpec, Spec};
pub use structure::{Family, Needs, Pool, Structure, TargetSlots};
pub use summary::Summary;
pub use weight::ranking_weight;
