//! What the user gave to find a log by: a path on this machine, or the address of something elsewhere.

use std::fmt;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use slateval::redacted;

use crate::error::{RemoteError, RemoteFault};
use crate::find::location::Location;

/// A path, or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A path, a directory or a pattern on this machine.
    Local(PathBuf),
    Remote(Remote),
}

/// Something elsewhere.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) scheme: Scheme,
    /// Web servers only: what stands before `@`, as it was typed.
    pub(crate) user: Option<String>,
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

    /// Where credentials are looked for.
    pub(crate) fn credentials(self) -> &'static str {
        match self {
            Scheme::S3 => {
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; AWS_SKIP_SIGNATURE=true for a public bucket"
            }
            Scheme::Gcs => "GOOGLE_APPLICATION_CREDENTIALS; GOOGLE_SKIP_SIGNATURE=true for a public bucket",
            Scheme::Azure => {
                "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_CLIENT_ID; \
                 AZURE_SKIP_SIGNATURE=true for a public container"
            }
            Scheme::Http | Scheme::Https => {
                "a user and a password (https://user:password@…), or an address that is signed"
            }
        }
    }
}

impl Address {
    pub(crate) fn remote(&self) -> Option<&Remote> {
        match self {
            Address::Local(_) => None,
            Address::Remote(remote) => Some(remote),
        }
    }

    /// What a location stands for. What is on this machine is a path, whatever it is called.
    pub(crate) fn of(location: &Location) -> Result<Address, RemoteError> {
        let path = location.with_secrets();
        let Some(given) = path.to_str().filter(|_| path.symlink_metadata().is_err()) else {
            return Ok(Address::Local(path.into()));
        };
        let (scheme, rest) = given.split_once(':').unwrap_or(("", given));
        let scheme = scheme.to_ascii_lowercase();
        let known = SCHEMES.iter().find(|(name, _)| *name == scheme);
        match (scheme.as_str(), known, rest.strip_prefix("//")) {
            ("file", ..) if rest.starts_with('/') => file_path(given, rest).map(Address::Local),
            ("dbfs", ..) if rest.starts_with('/') => {
                local_part(given, format!("/dbfs/{}", rest.trim_start_matches('/'))).map(Address::Local)
            }
            (_, Some((_, scheme)), Some(rest)) => Remote::of(given, *scheme, rest).map(Address::Remote),
            (_, None, Some(_)) if !scheme.is_empty() => Err(RemoteFault::UnknownScheme { scheme }.at(redacted(given))),
            // What `pathlib` makes of an address, and what else is no path.
            (_, Some(_), None) if rest.starts_with('/') => Err(bad(given, ONE_SLASH)),
            _ if redacted(given) != given => Err(bad(given, ONE_SLASH)),
            _ => Ok(Address::Local(path.into())),
        }
    }
}

const ONE_SLASH: &str = "two slashes belong behind the colon; a path object drops one of them: pass text";

fn bad(given: &str, reason: &str) -> RemoteError {
    RemoteFault::BadAddress { reason: reason.into() }.at(redacted(given))
}

/// The path in `file:/x`, `file:///x` or `file://localhost/x`.
fn file_path(given: &str, rest: &str) -> Result<PathBuf, RemoteError> {
    let path = rest.strip_prefix("//").map_or(rest, |rest| rest.strip_prefix("localhost").unwrap_or(rest));
    if !path.starts_with('/') {
        return Err(bad(given, "a file on this machine has no server: write file:///path"));
    }
    // Spark writes `%20` for a blank; people write what they see.
    if Path::new(path).exists() { Ok(path.into()) } else { local_part(given, decode(path)) }
}

/// The path of an address that is on this machine, unless something follows it that belongs to web addresses.
fn local_part(given: &str, path: String) -> Result<PathBuf, RemoteError> {
    if redacted(given) != given {
        return Err(bad(given, "what follows `?` or `#` belongs to web addresses; leave it out"));
    }
    Ok(path.into())
}

// A build without object storage refuses addresses, and asks no more of them.
#[cfg_attr(not(feature = "object-store"), allow(dead_code))]
impl Remote {
    fn of(given: &str, scheme: Scheme, rest: &str) -> Result<Remote, RemoteError> {
        // No server sees what follows `#`.
        let rest = if scheme.is_web() { rest.split('#').next().unwrap_or_default() } else { rest };
        let (place, query) = match rest.split_once('?') {
            Some((rest, query)) if scheme.is_web() => (rest, Some(query.to_owned())),
            _ => (rest, None),
        };
        let (host, key) = place.split_once('/').unwrap_or((place, ""));
        let (user, host) = match host.rsplit_once('@') {
            Some((user, host)) if scheme.is_web() => (Some(user.to_owned()), host),
            _ => (None, host),
        };
        let found = Remote { scheme, user, host: host.into(), key: key.into(), query };
        if host.is_empty() {
            return Err(bad(given, "the bucket or server is missing"));
        }
        let shown = redacted(given);
        let is_server = shown.split_once("://").is_some_and(|(_, rest)| rest.starts_with(host));
        if scheme.is_web() && !(found.has_port_or_none() && is_server) {
            let reason = "what follows the server's colon is no port; in a password, write / as %2F, ? as %3F, # as %23 \
                          and @ as %40";
            return Err(bad(given, reason));
        }
        // Names of objects have no user in them, and no signature.
        if !scheme.is_web() && redacted(&found.full()) != found.full() {
            return Err(RemoteFault::SecretsInAddress { credentials: scheme.credentials() }.at(redacted(given)));
        }
        Ok(found)
    }

    /// Whether what follows the server's colon, if there is one, is a port.
    fn has_port_or_none(&self) -> bool {
        let port = self.host.rsplit_once(':').map_or("", |(_, port)| port);
        port.ends_with(']') || port.is_empty() || port.parse::<u16>().is_ok()
    }

    /// What finds it again, but for the user.
    pub(crate) fn full(&self) -> String {
        let query = self.query.as_ref().map_or(String::new(), |query| format!("?{query}"));
        format!("{}://{}/{}{query}", self.scheme.name(), self.host, self.key)
    }

    /// What finds it again.
    pub(crate) fn location(&self) -> Location {
        match &self.user {
            Some(user) => self.full().replacen("://", &format!("://{user}@"), 1).into(),
            None => self.full().into(),
        }
    }

    /// What messages and results call it.
    pub(crate) fn shown(&self) -> PathBuf {
        redacted(&self.full()).into_owned().into()
    }

    /// The same as text.
    pub(crate) fn name(&self) -> String {
        self.shown().display().to_string()
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

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shown(), f)
    }
}

/// Spark and Hive write `%20` for what a name cannot hold, and so do addresses.
pub(crate) fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn full(given: &str) -> String {
        match Address::of(&given.into()).unwrap() {
            Address::Local(path) => path.to_str().unwrap().into(),
            Address::Remote(remote) => remote.location().with_secrets().to_str().unwrap().into(),
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
            ("https://me:pw@h:80/k.csv?sig=1#part", "https://me:pw@h:80/k.csv?sig=1"),
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

    fn refusal(given: &str) -> String {
        Address::of(&given.into()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (given, message) in [
            ("hdfs://n/x", "`hdfs` is not read"),
            ("s3:/b/k", "a path object drops one of them"),
            ("s3:///k", "the bucket or server is missing"),
            ("http://h:x/k", "is no port"),
        ] {
            let error = refusal(given);
            assert!(error.contains(&*redacted(given)) && error.contains(message), "{error}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let Address::Remote(remote) = Address::of(&"https://me:pw@h/k.csv?sig=secret".into()).unwrap() else {
            panic!()
        };
        assert_eq!(remote.shown(), Path::new("https://h/k.csv"));
        assert_eq!(format!("{remote:?}"), "\"https://h/k.csv\"");
    }

    #[test]
    fn secrets_are_refused_where_they_are_not_sent() {
        for (given, message) in [
            ("s3://HUSH:HUSH@b/k", "AWS_ACCESS_KEY_ID"),
            ("gs://HUSH:HUSH@b/k", "GOOGLE_APPLICATION_CREDENTIALS"),
            ("az://HUSH:HUSH@c/k", "AZURE_STORAGE_SAS_TOKEN"),
            ("az://c/k?sv=1&sig=HUSH", "AZURE_STORAGE_SAS_TOKEN"),
            ("s3://b/k?X-Amz-Signature=HUSH", "https://"),
            ("ftp://HUSH:HUSH@h/k?HUSH#HUSH", "`ftp` is not read"),
            ("http:/HUSH:HUSH@h/k?HUSH", "two slashes"),
            ("http:HUSH:HUSH@h/k?HUSH", "two slashes"),
            ("/here/https:/HUSH:HUSH@h/k?HUSH", "two slashes"),
            ("http://HUSH:P/HUSH@h/k?HUSH", "write / as %2F"),
            ("file://HUSH:HUSH@h/k", "file:///path"),
            ("file:///k?sig=HUSH", "leave it out"),
            ("dbfs:/k?sig=HUSH", "leave it out"),
        ] {
            let error = refusal(given);
            assert!(error.contains(message) && error.contains("k"), "{error}");
            assert!(!error.contains("HUSH"), "{error}");
        }
    }

    #[test]
    fn a_percent_sign_alone_stays() {
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%41"), "%zzA");
        assert_eq!(decode("ä%2"), "ä%2");
    }
}
