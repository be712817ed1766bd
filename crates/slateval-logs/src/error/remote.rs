//! What can go wrong with an address such as `s3://…`.

use super::brief;

/// Something that is not on this machine and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {fault}", brief(.address))]
pub struct RemoteError {
    /// The address, without its secrets.
    pub address: String,
    /// Why it cannot be read.
    pub fault: RemoteFault,
}

/// Why something that is not on this machine cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteFault {
    /// This build has no object storage.
    #[error(
        "this build reads local files only; build slateval with `--features object-store`, download the file, \
         or pipe it in as an Arrow IPC stream and read `-`"
    )]
    NotBuilt,
    /// A scheme that nobody knows here.
    #[error(
        "`{scheme}` is not read; use s3://, gs://, az://, http://, https:// or file://, or a path",
        scheme = brief(.scheme)
    )]
    UnknownScheme {
        /// What stands before the colon.
        scheme: String,
    },
    /// An address that leads nowhere.
    #[error("not a valid address: {reason}", reason = brief(.reason))]
    BadAddress {
        /// What is wrong with it.
        reason: String,
    },
    /// Secrets in the address of a bucket, where they are not used.
    #[error(
        "the address of a bucket holds no user, password or signature; leave them out and set {credentials}. \
         A signed address begins with https://"
    )]
    SecretsInAddress {
        /// Where credentials are looked for.
        credentials: &'static str,
    },
    /// An object whose name has an empty part, say.
    #[error(
        "among the objects listed for it is one whose name cannot be read: {reason}; rename it, or give an \
         address or a pattern that leaves it out",
        reason = brief(.reason)
    )]
    BadKey {
        /// What is wrong with which name.
        reason: String,
    },
    /// An object that does not exist.
    #[error("there is no such object, and none below that name; check the bucket and the key")]
    Missing,
    /// Credentials that are wrong, or may not do this.
    #[error(
        "access is refused ({reason}); check that the credentials may list and read it: {credentials}",
        reason = brief(.reason)
    )]
    Denied {
        /// What the server said.
        reason: String,
        /// Where credentials are looked for.
        credentials: &'static str,
    },
    /// No credentials at all.
    #[error("no credentials were found; set {credentials}")]
    NoCredentials {
        /// Where credentials are looked for.
        credentials: &'static str,
    },
    /// Credentials or other settings of which no client can be made.
    #[error(
        "the settings of the environment cannot be used ({reason}); check {credentials}",
        reason = brief(.reason)
    )]
    BadSettings {
        /// What is wrong.
        reason: String,
        /// Where credentials are looked for.
        credentials: &'static str,
    },
    /// A request that the server does not accept.
    #[error(
        "the server refuses the request: {reason}; check the address, and for a bucket its region and endpoint",
        reason = brief(.reason)
    )]
    Refused {
        /// What the server said.
        reason: String,
    },
    /// A server that cannot be reached, or that does not answer to the end.
    #[error(
        "reading broke off, after retries too: {reason}; check the network and the server, then run again",
        reason = brief(.reason)
    )]
    BrokenOff {
        /// What happened.
        reason: String,
    },
    /// A server that cannot show who it is.
    #[error(
        "the server's certificate is not trusted ({reason}); if the server is your own, set SSL_CERT_FILE to \
         a file with the certificate of its authority",
        reason = brief(.reason)
    )]
    Untrusted {
        /// What is wrong with the certificate.
        reason: String,
    },
    /// A server that answers without encryption, or with one that is not understood.
    #[error(
        "the server does not speak https at this port ({reason}); if it serves files without encryption, use http://",
        reason = brief(.reason)
    )]
    NotEncrypted {
        /// What came in place of an encrypted answer.
        reason: String,
    },
    /// A web server that does not tell a file's size.
    #[error("this server does not tell the file's size, which reading needs; download the file")]
    NoRanges,
    /// A file that has to be fetched as a whole and does not fit into memory.
    #[error(
        "this server sends whole files only, and this format is not read from front to end, so the file has to be \
         held in memory: {needed} MB, where {limit} MB are allowed for all such files. Download it, or allow more memory"
    )]
    WholeTooLarge {
        /// Megabytes of the file.
        needed: u64,
        /// Megabytes that are allowed.
        limit: u64,
    },
    /// A directory or a pattern on a web server.
    #[error(
        "web servers do not list files, so each file needs an address of its own; directories and patterns \
         work with s3://, gs:// and az://"
    )]
    NoListing,
    /// An object that was replaced while it was read.
    #[error(
        "it changed since the log was opened, so its rows may be read in part or twice; run again when it is \
         complete"
    )]
    Changed,
}

impl RemoteFault {
    /// The error of an address.
    pub(crate) fn at(self, address: impl Into<String>) -> RemoteError {
        RemoteError { address: address.into(), fault: self }
    }
}
