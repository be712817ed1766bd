//! What can go wrong, named after what the user did.

use slateval::shown;

/// Everything the simulators can refuse.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting outside its range.
    #[error("{setting} `{}`: {}", shown(.value), shown(.why))]
    BadSetting {
        /// The setting's name.
        setting: &'static str,
        /// The value given.
        value: String,
        /// The values it may have.
        why: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {}", shown(.path), shown(.reason))]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A line of a ratings file that holds no rating.
    #[error(
        "{}, line {line}: `{}` is no {what}; a line is userId,movieId,rating,timestamp", shown(.path), shown(.value)
    )]
    BadRating {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// What was found.
        value: String,
        /// What was expected.
        what: &'static str,
    },
    /// Ratings that no simulator can be made of.
    #[error("these ratings are not enough: {}", shown(.0))]
    TooFewRatings(
        /// What is missing.
        String,
    ),
    /// A file that cannot be written.
    #[error("cannot write the log: {}", shown(.0))]
    Write(
        /// Why.
        String,
    ),
    /// An estimator's refusal.
    #[error(transparent)]
    Estimator(
        /// What it said.
        #[from]
        slateval::Error,
    ),
}

impl Error {
    pub(crate) fn setting(setting: &'static str, value: impl ToString, why: impl Into<String>) -> Self {
        Error::BadSetting { setting, value: value.to_string(), why: why.into() }
    }
}

/// A result of the simulators.
pub type Result<T> = std::result::Result<T, Error>;
