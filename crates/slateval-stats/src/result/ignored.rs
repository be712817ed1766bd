//! Files that were found in a directory and left out, because they are no logs that can be read.

use std::fmt;

use crate::names::names;
use crate::spec::shown::shown;

/// Why a file of a directory was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum IgnoreReason {
    /// Text whose name does not say which format it has. CSV has no first bytes of its own.
    Text,
    /// The same, packed with gzip or zstd.
    PackedText,
    /// Packed with gzip or zstd, and no text.
    Packed,
    /// It begins like a Parquet or Arrow file and does not end like one: damaged, or still being written.
    Unfinished,
    /// Neither the name nor the first bytes are those of a known format.
    UnknownContents,
    /// No bytes.
    Empty,
    /// Packed with bzip2.
    Bzip2,
    /// Packed with xz.
    Xz,
    /// Packed with LZ4.
    Lz4,
    /// Packed with Snappy.
    Snappy,
    /// A zip archive.
    Zip,
    /// An ORC file.
    Orc,
    /// An Avro file.
    Avro,
    /// A Hadoop sequence file.
    SequenceFile,
    /// A Parquet file whose footer is encrypted.
    EncryptedParquet,
    /// A saved summary, or the unfinished work of a reading.
    Summary,
    /// A pipe, a socket or a device.
    NotAFile,
    /// A file that cannot be opened, so that its contents are not known.
    Unreadable,
}

names!(IgnoreReason {
    Text: "text",
    PackedText: "packed-text",
    Packed: "packed",
    Unfinished: "unfinished",
    UnknownContents: "unknown-contents",
    Empty: "empty",
    Bzip2: "bzip2",
    Xz: "xz",
    Lz4: "lz4",
    Snappy: "snappy",
    Zip: "zip",
    Orc: "orc",
    Avro: "avro",
    SequenceFile: "sequence-file",
    EncryptedParquet: "encrypted-parquet",
    Summary: "summary",
    NotAFile: "not-a-file",
    Unreadable: "unreadable",
});

impl IgnoreReason {
    /// What the file is, to stand behind its name.
    pub fn in_words(self) -> &'static str {
        match self {
            IgnoreReason::Text => "text without an ending such as .csv or .jsonl",
            IgnoreReason::PackedText => "packed text without an ending such as .csv.gz or .jsonl.zst",
            IgnoreReason::Packed => "packed with gzip or zstd, but not text: unpack it",
            IgnoreReason::Unfinished => {
                "begins like a Parquet or Arrow file and does not end like one: damaged, or still being written"
            }
            IgnoreReason::UnknownContents => "unknown ending and contents",
            IgnoreReason::Empty => "empty",
            IgnoreReason::Bzip2 => "compressed with bzip2",
            IgnoreReason::Xz => "compressed with xz",
            IgnoreReason::Lz4 => "compressed with LZ4",
            IgnoreReason::Snappy => "compressed with Snappy",
            IgnoreReason::Zip => "a zip archive",
            IgnoreReason::Orc => "an ORC file",
            IgnoreReason::Avro => "an Avro file",
            IgnoreReason::SequenceFile => "a Hadoop sequence file",
            IgnoreReason::EncryptedParquet => "an encrypted Parquet file",
            IgnoreReason::Summary => "written by slateval, no log",
            IgnoreReason::NotAFile => "not a file",
            IgnoreReason::Unreadable => "cannot be opened",
        }
    }

    /// The reason of this name. A later version may know more reasons.
    pub fn of_name(name: &str) -> Self {
        let known = IgnoreReason::ALL.into_iter().find(|reason| reason.as_str() == name);
        known.unwrap_or(IgnoreReason::UnknownContents)
    }
}

/// A file that was left out, and why. Shown, its name stays on the line whatever it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IgnoredFile {
    /// What it is called.
    pub name: String,
    /// Why it was left out.
    pub reason: IgnoreReason,
}

impl IgnoredFile {
    /// Files that messages name.
    const SHOWN: usize = 3;

    /// The first files with what they are, and how many more there are.
    pub fn several(files: &[IgnoredFile], all: u64) -> String {
        let first: Vec<String> = files.iter().take(IgnoredFile::SHOWN).map(ToString::to_string).collect();
        match all.saturating_sub(first.len() as u64) {
            0 => first.join(", "),
            more => format!("{} and {more} more", first.join(", ")),
        }
    }
}

impl fmt::Display for IgnoredFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", shown(&self.name), self.reason.in_words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_names_of_their_own() {
        for reason in IgnoreReason::ALL {
            assert_eq!(IgnoreReason::of_name(reason.as_str()), reason);
            #[cfg(feature = "serde")]
            assert_eq!(serde_json::to_value(reason).ok(), Some(reason.as_str().into()));
        }
        assert_eq!(IgnoreReason::of_name("a later one"), IgnoreReason::UnknownContents);
    }
}
