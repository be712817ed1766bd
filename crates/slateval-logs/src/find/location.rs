//! What the user gave to find a log by, without a way to print its secrets.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::name_of;
use crate::find::address::Address;
use crate::find::detect::STDIN;

/// A path, a pattern or an address, as the user gave it.
///
/// An address may hold a user, a password and a signature. They are used to fetch the log and are never shown: all that a
/// location can be turned into outside this crate is its name, which has none of them. `Display`, `Debug` and `Serialize`
/// give that name.
///
/// ```
/// let location = slateval_logs::Location::from("https://me:pw@host/a.csv?sig=1");
/// assert_eq!(location.to_string(), "https://host/a.csv");
/// assert_eq!(format!("{location:?}"), "\"https://host/a.csv\"");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Location(PathBuf);

impl Location {
    /// What summaries, results and messages call it.
    pub fn name(&self) -> String {
        name_of(&self.0)
    }

    /// The path on this machine; `None` for an address.
    pub fn local(&self) -> Option<PathBuf> {
        match Address::of(self) {
            Ok(Address::Local(path)) => Some(path),
            _ => None,
        }
    }

    /// Whether it is `-`.
    pub fn is_standard_input(&self) -> bool {
        self.0 == Path::new(STDIN)
    }

    /// All of it, for what fetches it.
    pub(crate) fn with_secrets(&self) -> &Path {
        &self.0
    }
}

impl<T: Into<PathBuf>> From<T> for Location {
    fn from(given: T) -> Self {
        Location(given.into())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name())
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name(), f)
    }
}

impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// Of a record, which may have been written before records were redacted.
impl<'de> Deserialize<'de> for Location {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Location::from(slateval::redacted(&text).as_ref()))
    }
}

/// How a [`Task`](crate::Task) is written, so that another machine can read its file: with the secrets of its address.
pub(crate) mod with_secrets {
    use super::{Deserialize, Deserializer, Location, PathBuf, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(location: &Location, serializer: S) -> Result<S::Ok, S::Error> {
        location.with_secrets().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Location, D::Error> {
        PathBuf::deserialize(deserializer).map(Location)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_prints_a_secret() {
        for given in ["http://USER:PW@h/k?SIG#FRAG", "http:/h/k?SIG", "ftp://USER:PW@h/k", "s3://KEY:SECRET@b/k"] {
            let location = Location::from(given);
            let json = serde_json::to_string(&location).unwrap_or_default();
            for shown in [location.to_string(), location.name(), format!("{location:?} {location:#?}"), json] {
                assert!(!["USER", "PW", "SIG", "FRAG", "KEY", "SECRET"].iter().any(|s| shown.contains(s)), "{shown}");
                assert!(shown.contains('k'), "{shown}");
            }
            assert_eq!(location.with_secrets(), Path::new(given));
            assert_eq!(location.local(), None);
        }
        assert_eq!(Location::from("logs/what?.csv").local(), Some("logs/what?.csv".into()));
    }

    #[test]
    fn records_of_before_lose_their_secrets() {
        let read: Location = serde_json::from_str(r#""http://USER:PW@h/k?SIG""#).unwrap_or_else(|_| "".into());
        assert_eq!(read, Location::from("http://h/k"));
    }
}
