//! What can go wrong, named after what the user did.

use crate::spec::field::Field;
use crate::spec::shown::shown;

/// Everything the estimators can refuse.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that no reward or probability can have.
    #[error("{field}{} is {value} in row {row} (counted from 0): {}", of_policy(policy), field.rule())]
    BadValue {
        /// The row, from 0: of the block, or of the data in memory.
        row: usize,
        /// Which column.
        field: Field,
        /// The target policy whose column it is.
        policy: Option<String>,
        /// The value found.
        value: f64,
    },
    /// A slot that one policy has and another does not.
    #[error(
        "slot {} of row {row} (counted from 0) is missing, NaN, for {missing} but not for {present}: a slot that a slate \
         does not have is missing for logging and for every target",
        slot + 1, missing = shown(.missing), present = shown(.present)
    )]
    HalfMissing {
        /// The row, from 0.
        row: usize,
        /// The slot, from 0.
        slot: usize,
        /// Who does not have it: `logging`, or a target.
        missing: String,
        /// Who has it.
        present: String,
    },
    /// Data in memory whose lengths do not fit together.
    #[error("{}: {}", shown(.what), shown(.why))]
    BadShape {
        /// Which data.
        what: String,
        /// What is wrong with its length.
        why: String,
    },
    /// Data in memory that the structure needs and that were not given.
    #[error("structure {} needs {}, and none were given", shown(.structure), shown(.what))]
    MissingData {
        /// Which data.
        what: String,
        /// The structure as written.
        structure: String,
    },
    /// A structure that cannot be read, or that the slates cannot have.
    #[error("structure `{}`: {}", shown(.text), shown(.why))]
    BadStructure {
        /// The structure as written.
        text: String,
        /// What is wrong with it.
        why: String,
    },
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
    /// Too few draws for intervals of this confidence.
    #[error("draws `{draws}`: a confidence of {confidence} takes at least {needed}")]
    TooFewDraws {
        /// The draws asked for.
        draws: usize,
        /// The confidence asked for.
        confidence: f64,
        /// The fewest that it takes.
        needed: f64,
    },
    /// Two summaries of different things.
    #[error("these summaries do not fit together: {}", shown(&.0.join("; ")))]
    Mismatch(
        /// One entry for each difference.
        Vec<String>,
    ),
    /// Rows of one file in two summaries that are to become one.
    #[error("{}{}: its rows would count twice", shown(.name), counted_already(.name, .known))]
    Duplicate {
        /// What the file is called in the summary that was to be merged.
        name: String,
        /// What it is called here.
        known: String,
    },
    /// Files with one row per slot that number their slots differently.
    #[error(
        "{one} numbers the slots of a slate from {first}, and {other} from {second}: one of them may lack the first slots \
         of its slates; number them alike", one = shown(.one), other = shown(.other)
    )]
    OtherPositions {
        /// A file.
        one: String,
        /// The number of its slates' first slot.
        first: u8,
        /// Another file.
        other: String,
        /// The number of its slates' first slot.
        second: u8,
    },
    /// A summary without rows has no distribution.
    #[error("there are no rows: an empty log says nothing about any policy")]
    NoRows,
    /// More segments than an evaluation can be read for.
    #[error("`{}` has more than {limit} different values: segment by something coarser", shown(.column))]
    TooManySegments {
        /// The column that rows are segmented by.
        column: String,
        /// The largest number allowed.
        limit: usize,
    },
    /// The weights are too large for double precision.
    #[error(
        "the weights of policy `{policy}` overflow double precision: a logging propensity is almost zero \
         (the smallest is {smallest:e}); mend it if it is wrong, or use a structure of lower order. Dropping such rows \
         biases the result", policy = shown(.policy)
    )]
    Overflow {
        /// The target policy.
        policy: String,
        /// The smallest logging propensity seen.
        smallest: f64,
    },
    /// A reward whose powers are too large for double precision.
    #[error(
        "a reward of {largest:e} overflows double precision when it is squared and squared again: is it a placeholder for \
         a missing one? Give the row its reward, or measure rewards in larger units. Drop such rows only if rewards are \
         missing at random: otherwise the result is biased"
    )]
    HugeReward {
        /// The largest reward in size.
        largest: f64,
    },
    /// Rewards whose squares vanish in double precision.
    #[error(
        "rewards are no larger than {largest:e}: their squares vanish in double precision, and every interval would have \
         no width. Measure rewards in smaller units"
    )]
    TinyReward {
        /// The largest reward in size.
        largest: f64,
    },
    /// Bytes that are not a summary, or not a whole one.
    #[error("not a readable summary: {}", shown(.0))]
    Format(
        /// What is wrong with the bytes.
        String,
    ),
}

impl Error {
    /// The same, for rows that have others before them.
    pub fn after(mut self, rows: usize) -> Self {
        if let Error::BadValue { row, .. } | Error::HalfMissing { row, .. } = &mut self {
            *row += rows;
        }
        self
    }
}

/// A result of the estimators.
pub type Result<T> = std::result::Result<T, Error>;

fn counted_already(name: &str, known: &str) -> String {
    if name == known { " is counted already".into() } else { format!(" is counted already, as {}", shown(known)) }
}

fn of_policy(policy: &Option<String>) -> String {
    policy.as_ref().map_or(String::new(), |name| format!(" of `{}`", shown(name)))
}
