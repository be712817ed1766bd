//! Files that were found beside those of a summary's log and left out: each once by name, however often it was found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slateval_stats::{IgnoreReason, IgnoredFile, redacted};

/// Files that are kept by name, the first ones in the order of names.
pub(crate) const NAMED: usize = 1000;

/// Files that were left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct IgnoredFiles {
    named: BTreeMap<String, IgnoreReason>,
    /// How many more there are.
    more: u64,
}

impl IgnoredFiles {
    pub(crate) fn add(&mut self, file: IgnoredFile) {
        self.named.insert(redacted(&file.name).into_owned(), file.reason);
        self.keep_first();
    }

    /// Takes in those of another summary. Where both have more files than are named, mostly the same directory was
    /// searched twice, so the larger number of unnamed files is kept.
    pub(crate) fn merge(&mut self, other: &IgnoredFiles) {
        self.more = self.more.max(other.more);
        self.named.extend(other.named.iter().map(|(name, &reason)| (name.clone(), reason)));
        self.keep_first();
    }

    fn keep_first(&mut self) {
        while self.named.len() > NAMED {
            self.named.pop_last();
            self.more = self.more.saturating_add(1);
        }
    }

    /// Takes back a file that was read since.
    pub(crate) fn forget(&mut self, name: &str) {
        self.named.remove(name);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// The files that are known by name, in the order of names.
    pub(crate) fn list(&self) -> Vec<IgnoredFile> {
        self.named.iter().map(|(name, &reason)| IgnoredFile { name: name.clone(), reason }).collect()
    }

    /// How many there are, named or not.
    pub(crate) fn count(&self) -> u64 {
        self.more.saturating_add(self.named.len() as u64)
    }
}

/// The same in a summary's header.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct IgnoredHeader {
    files: Vec<FileHeader>,
    #[serde(default)]
    more: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct FileHeader {
    name: String,
    reason: String,
}

impl IgnoredHeader {
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(crate) fn new(ignored: &IgnoredFiles) -> Self {
        let file = |(name, reason): (&String, &IgnoreReason)| FileHeader {
            name: name.clone(),
            reason: reason.as_str().into(),
        };
        IgnoredHeader { files: ignored.named.iter().map(file).collect(), more: ignored.more }
    }

    pub(crate) fn into_files(self) -> IgnoredFiles {
        let mut ignored = IgnoredFiles { named: BTreeMap::new(), more: self.more };
        for FileHeader { name, reason } in self.files {
            ignored.add(IgnoredFile { name, reason: IgnoreReason::of_name(&reason) });
        }
        ignored
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn files(names: std::ops::Range<usize>) -> IgnoredFiles {
        let mut files = IgnoredFiles::default();
        names.for_each(|i| files.add(IgnoredFile { name: format!("{i:05}.orc"), reason: IgnoreReason::Orc }));
        files
    }

    #[test]
    fn a_file_that_is_found_again_counts_once() {
        let mut state = files(0..3);
        state.merge(&files(1..5));
        assert_eq!((state.count(), state.list().len()), (5, 5));
        state.forget("00001.orc");
        assert_eq!(state.count(), 4);
    }

    #[test]
    fn of_many_files_the_first_are_named_and_all_are_counted() {
        let mut state = files(0..1200);
        assert_eq!((state.count(), state.list().len()), (1200, NAMED));
        state.merge(&files(0..1200));
        assert_eq!(state.count(), 1200, "the same directory again");
        let json = serde_json::to_string(&IgnoredHeader::new(&state)).unwrap();
        assert_eq!(serde_json::from_str::<IgnoredHeader>(&json).unwrap().into_files(), state);
    }
}
