//! What comes of the rows of a file, or of a part of it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};
use slateval::{Input, Summary};
use twox_hash::XxHash64;

use crate::error::{Error, Result, brief, shown_path};
use crate::slates::faults::Faults;

/// What was read.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) summary: Summary,
    /// Long format: what its slots are numbered from.
    pub(crate) base: Option<Base>,
    /// The file, where it came from one.
    pub(crate) input: Option<Input>,
    /// Whether further parts of the same task follow.
    pub(crate) more: bool,
    /// Rows of the file, bad ones included.
    pub(crate) rows: u64,
    /// Those that cannot be used.
    pub(crate) faults: Faults,
}

impl Done {
    /// Rows that came from memory, or from a part of a file yet to be named.
    pub(crate) fn of_rows(summary: Summary, rows: u64, faults: Faults) -> Self {
        Done { summary, base: None, input: None, more: false, rows, faults }
    }

    /// The summary of a task's last part, all of whose parts are merged: it knows its file. A file without a single row,
    /// good or bad, may get some, and is to be read then: it is not remembered.
    pub(crate) fn complete(mut summary: Summary, input: Option<Input>) -> Summary {
        let (rows, digest) = (summary.rows(), summary.digest());
        let has_rows = rows > 0 || summary.skipped().iter().any(|part| part.rows > 0);
        input.filter(|_| has_rows).into_iter().for_each(|input| summary.add_input(Input { rows, digest, ..input }));
        summary
    }

    /// What a summary remembers of a stream: it has no name of its own, and its sums alone tell it from another.
    pub(crate) fn stream(summary: &Summary) -> Input {
        Input {
            name: "standard input".into(),
            bytes: 0,
            fingerprint: XxHash64::oneshot(0, &summary.to_bytes()),
            row_groups: None,
            rows: 0,
            digest: 0,
            day: None,
            first_position: None,
            content: None,
        }
    }
}

/// What the slots of a file are numbered from. A log has one base: a file that holds only the second slots of slates
/// would else pass for one of whole slates.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Base {
    /// JSON has no place for names that are no text.
    #[serde(serialize_with = "as_text")]
    pub(crate) file: PathBuf,
    /// 0 or 1.
    pub(crate) first: u8,
    pub(crate) slate_column: String,
    pub(crate) position_column: String,
}

fn as_text<S: Serializer>(file: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(&file.display())
}

impl Base {
    /// Refuses a file that numbers slots from another base.
    pub(crate) fn check(&self, other: &Base) -> Result<()> {
        if self.first == other.first {
            return Ok(());
        }
        let (first, second) = (shown_path(&self.file), shown_path(&other.file));
        let (slate, position) = (brief(&self.slate_column), brief(&self.position_column));
        Err(Error::not_one_log(format!(
            "the positions in {first} begin with {} and those in {second} with {}; put all rows of a slate next to each other \
             in one file, sorted by `{slate}, {position}`, and number slots the same way in all files",
            self.first, other.first
        )))
    }
}
