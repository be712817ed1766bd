//! What can go wrong with the work of an interrupted reading.

use super::brief;

/// What is wrong with a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointFault {
    /// A file of another kind.
    #[error("it is not the work of an interrupted reading; choose another name")]
    SomethingElse,
    /// A file that was cut short or changed.
    #[error("it is damaged; remove it to begin again")]
    Damaged,
    /// A checkpoint that another slateval wrote.
    #[error("it is of version {0}, which another slateval wrote; remove it to begin again")]
    OtherVersion(u32),
    /// A checkpoint of other files or settings.
    #[error("it is the work of another reading: {}; remove it to begin again", brief(&.0.join("; ")))]
    Differs(
        /// One entry for each difference.
        Vec<String>,
    ),
    /// A checkpoint that could not be kept.
    #[error("a checkpoint cannot be written: {}", brief(.0))]
    NotKept(
        /// What the system said.
        String,
    ),
}
