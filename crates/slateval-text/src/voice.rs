//! In whose terms settings are named: flags on the command line, keyword arguments in Python.

use slateval_stats::{Finding, Reason};

use crate::{InWords, condition, printable};

/// Who is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Voice {
    /// Someone at the command line: `--bins log`.
    #[default]
    CommandLine,
    /// Someone in Python: `bins="log"`.
    Python,
    /// A program that calls the library: no front end is named.
    Plain,
}

impl Voice {
    /// A setting with a value: `--bins log` or `bins="log"`.
    pub fn setting(self, name: &str, value: &str) -> String {
        match self {
            Voice::CommandLine => format!("--{name} {value}"),
            Voice::Python => format!("{}=\"{value}\"", name.replace('-', "_")),
            Voice::Plain => format!("{name} {value}"),
        }
    }

    /// A setting by its name: `--bins` or `bins`.
    pub fn flag(self, name: &str) -> String {
        match self {
            Voice::CommandLine => format!("--{name}"),
            Voice::Python => name.replace('-', "_"),
            Voice::Plain => name.to_owned(),
        }
    }

    /// What has everything, where a page or a table leaves something out.
    pub fn everything(self) -> &'static str {
        match self {
            Voice::CommandLine => "the file that --json writes",
            Voice::Python => "to_dict()",
            Voice::Plain => "the evaluation",
        }
    }

    /// What has every point of the CDFs.
    pub fn whole_cdfs(self) -> &'static str {
        match self {
            Voice::CommandLine => "the files that --cdf and --json --full-cdf write",
            Voice::Python => "to_dict(full_cdf=True) and each policy's cdf",
            Voice::Plain => "the evaluation's policies and segments",
        }
    }

    /// Why an interval is missing, or what stands against it.
    pub fn reason(self, reason: &Reason) -> String {
        printable(&reason.in_words(self)).into_owned()
    }

    /// The same as it follows a mark: `(…)? holds if …`.
    pub fn after_mark(self, reason: &Reason) -> String {
        match condition(reason) {
            Some(condition) => format!("holds if {}", printable(&condition)),
            None => self.reason(reason),
        }
    }

    /// What a check found.
    pub fn finding(self, finding: &Finding) -> String {
        printable(&finding.in_words(self)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_spoken_to_in_own_terms() {
        let coarse = Reason::CoarseBin { reward: None, share: 0.34 };
        assert!(Voice::CommandLine.reason(&coarse).ends_with("34% of the distribution: use --bins log"));
        assert!(Voice::Python.reason(&coarse).ends_with("34% of the distribution: use bins=\"log\""));
        assert!(Voice::Plain.reason(&coarse).ends_with("34% of the distribution: use logarithmic bins"));
    }
}
