//! What the user gave to find a log by: a path on this machine, or the address of something elsewhere.

use std::path::{Path, PathBuf};

use crate::error::RemoteError;

/// A path, or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A path, a directory or a pattern on this machine.
    Local(String),
    Remote(Remote),
}

/// Something elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) scheme: Scheme,
    /// The bucket, the container (also `container@account.dfs.core.windows.net`), or the server.
    pub(crate) host: String,
    /// Without the slash before it.
    pub(crate) key: String,
    /// Web servers only: what stands behind the question mark.
    pub(crate) query: Option<String>,
}

/// Who keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scheme {
    S3,
    Gcs,
    Azure,
    Http,
    Https,
}

const SCHEMES: [(&str, Scheme); 11] = [
    ("s3", Scheme::S3),
    ("s3a", Scheme::S3),
    ("s3n", Scheme::S3),
    ("gs", Scheme::Gcs),
    ("gcs", Scheme::Gcs),
    ("az", Scheme::Azure),
    ("azure", Scheme::Azure),
    ("abfs", Scheme::Azure),
    ("abfss", Scheme::Azure),
    ("http", Scheme::Http),
    ("https", Scheme::Https),
];

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Scheme::S3 => "s3",
            Scheme::Gcs => "gs",
            Scheme::Azure => "az",
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    pub(crate) fn is_web(self) -> bool {
        matches!(self, Scheme::Http | Scheme::Https)
    }
}

impl Address {
    pub(crate) fn remote(&self) -> Option<&Remote> {
        match self {
            Address::Local(_) => None,
            Address::Remote(remote) => Some(remote),
        }
    }

    pub(crate) fn of(given: &str) -> Result<Address, RemoteError> {
        let Some((scheme, rest)) = given.split_once(':').filter(|_| Path::new(given).symlink_metadata().is_err())
        else {
            return Ok(Address::Local(given.into()));
        };
        let scheme = scheme.to_ascii_lowercase();
        let known = SCHEMES.iter().find(|(name, _)| *name == scheme);
        match (scheme.as_str(), known, rest.strip_prefix("//")) {
            ("file", ..) if rest.starts_with('/') => Ok(Address::Local(file_path(rest))),
            ("dbfs", ..) if rest.starts_with('/') => {
                Ok(Address::Local(format!("/dbfs/{}", rest.trim_start_matches('/'))))
            }
            (_, Some((_, scheme)), Some(rest)) => Remote::of(given, *scheme, rest).map(Address::Remote),
            // What `pathlib` makes of an address.
            (_, Some(_), None) if rest.starts_with('/') => {
                let reason = "two slashes belong behind the colon; a path object drops one of them: pass text".into();
                Err(RemoteError::BadAddress { address: given.into(), reason })
            }
            (_, None, Some(_)) => Err(RemoteError::UnknownScheme { address: given.into(), scheme }),
            _ => Ok(Address::Local(given.into())),
        }
    }
}

/// The path in `file:/x`, `file:///x` or `file://localhost/x`.
fn file_path(rest: &str) -> String {
    let path = rest.strip_prefix("//").map_or(rest, |rest| rest.strip_prefix("localhost").unwrap_or(rest));
    // Spark writes `%20` for a blank; people write what they see.
    if Path::new(path).exists() { path.into() } else { decode(path) }
}

// A build without object storage refuses addresses, and asks no more of them.
#[cfg_attr(not(feature = "object-store"), allow(dead_code))]
impl Remote {
    fn of(given: &str, scheme: Scheme, rest: &str) -> Result<Remote, RemoteError> {
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) if scheme.is_web() => (rest, Some(query.to_owned())),
            _ => (rest, None),
        };
        let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
        if host.is_empty() {
            let reason = "the bucket or server is missing".into();
            return Err(RemoteError::BadAddress { address: given.into(), reason });
        }
        Ok(Remote { scheme, host: host.into(), key: key.into(), query })
    }

    /// What finds it again.
    pub(crate) fn full(&self) -> String {
        let query = self.query.as_ref().map_or(String::new(), |query| format!("?{query}"));
        format!("{}://{}/{}{query}", self.scheme.name(), self.host, self.key)
    }

    /// What messages and results call it: queries and users of web addresses may be secrets.
    pub(crate) fn shown(&self) -> PathBuf {
        let host = match self.host.rsplit_once('@') {
            Some((_, host)) if self.scheme.is_web() => host,
            _ => &self.host,
        };
        format!("{}://{host}/{}", self.scheme.name(), self.key).into()
    }

    /// The same place with another key.
    pub(crate) fn with_key(&self, key: &str) -> Remote {
        Remote { key: key.into(), ..self.clone() }
    }

    /// Whether the key is a pattern. A web address may well have brackets.
    pub(crate) fn is_pattern(&self) -> bool {
        self.key.contains(if self.scheme.is_web() { &['*'][..] } else { &['*', '?', '['] })
    }
}

/// Spark and Hive write `%20` for what a name cannot hold, and so do addresses.
pub(crate) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn full(given: &str) -> String {
        match Address::of(given).unwrap() {
            Address::Local(path) => path,
            Address::Remote(remote) => remote.full(),
        }
    }

    #[test]
    fn every_engines_addresses_are_translated() {
        for (given, wanted) in [
            ("logs/day=1/*.parquet", "logs/day=1/*.parquet"),
            ("s3://b/k.parquet", "s3://b/k.parquet"),
            ("s3a://b/k", "s3://b/k"),
            ("S3N://b/k", "s3://b/k"),
            ("gcs://b/k", "gs://b/k"),
            ("abfss://c@a.dfs.core.windows.net/k", "az://c@a.dfs.core.windows.net/k"),
            ("az://c/k", "az://c/k"),
            ("https://h/k.csv?sig=1", "https://h/k.csv?sig=1"),
            ("s3://b", "s3://b/"),
            ("s3://b/what?.csv", "s3://b/what?.csv"),
            ("file:/x/y", "/x/y"),
            ("file:///x/a%20b", "/x/a b"),
            ("file://localhost/x", "/x"),
            ("dbfs:/x/y", "/dbfs/x/y"),
            ("dbfs:///x/y", "/dbfs/x/y"),
            ("C:\\logs", "C:\\logs"),
        ] {
            assert_eq!(full(given), wanted, "{given}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (given, message) in [
            ("hdfs://n/x", "`hdfs` is not read"),
            ("s3:/b/k", "a path object drops one of them"),
            ("s3:///k", "the bucket or server is missing"),
        ] {
            let error = Address::of(given).unwrap_err().to_string();
            assert!(error.contains(given) && error.contains(message), "{error}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let Address::Remote(remote) = Address::of("https://me:pw@h/k.csv?sig=secret").unwrap() else { panic!() };
        assert_eq!(remote.shown(), Path::new("https://h/k.csv"));
    }

    #[test]
    fn a_percent_sign_alone_stays() {
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%41"), "%zzA");
        assert_eq!(decode("ä%2"), "ä%2");
    }
}
