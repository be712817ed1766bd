//! What can go wrong with an address such as `s3://…`.

use super::brief;

/// Why something that is not on this machine cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// This build has no object storage.
    #[error(
        "{address}: this build reads local files only; build slateval with `--features object-store`, download the file, \
         or pipe it in as an Arrow IPC stream and read `-`",
        address = brief(.address)
    )]
    NotBuilt {
        /// The address given.
        address: String,
    },
    /// A scheme that nobody knows here.
    #[error(
        "{address}: `{scheme}` is not read; use s3://, gs://, az://, http://, https:// or file://, or a path",
        address = brief(.address), scheme = brief(.scheme)
    )]
    UnknownScheme {
        /// The address given.
        address: String,
        /// What stands before the colon.
        scheme: String,
    },
    /// An address that leads nowhere.
    #[error("{address}: not a valid address: {reason}", address = brief(.address), reason = brief(.reason))]
    BadAddress {
        /// The address given.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Secrets in the address of a bucket, where they are not used.
    #[error(
        "{address}: the address of a bucket holds no user, password or signature; leave them out and set {credentials}. \
         A signed address begins with https://",
        address = brief(.address)
    )]
    SecretsInAddress {
        /// The address given, without them.
        address: String,
        /// Where credentials are looked for.
        credentials: &'static str,
    },
    /// An object whose name has an empty part, say.
    #[error(
        "{address}: among the objects listed for it is one whose name cannot be read: {reason}; rename it, or give an \
         address or a pattern that leaves it out",
        address = brief(.address), reason = brief(.reason)
    )]
    BadKey {
        /// The address given.
        address: String,
        /// What is wrong with which name.
        reason: String,
    },
    /// An object that does not exist.
    #[error(
        "{address}: there is no such object, and none below that name; check the bucket and the key",
        address = brief(.address)
    )]
    Missing {
        /// The address given.
        address: String,
    },
    /// Credentials that are wrong, or may not do this.
    #[error(
        "{address}: access is refused ({reason}); check that the credentials may list and read it: {credentials}",
        address = brief(.address), reason = brief(.reason)
    )]
    Denied {
        /// The address.
        address: String,
        /// What the server said.
        reason: String,
        /// Where credentials are looked for.
        credentials: &'static str,
    },
    /// No credentials at all.
    #[error("{address}: no credentials were found; set {credentials}", address = brief(.address))]
    NoCredentials {
        /// The address.
        address: String,
        /// Where credentials are looked for.
        credentials: &'static str,
    },
    /// Credentials or other settings of which no client can be made.
    #[error(
        "{address}: the settings of the environment cannot be used ({reason}); check {credentials}",
        address = brief(.address), reason = brief(.reason)
    )]
    BadSettings {
        /// The address.
        address: String,
        /// What is wrong.
        reason: String,
        /// Where credentials are looked for.
        credentials: &'static str,
    },
    /// A request that the server does not accept.
    #[error(
        "{address}: the server refuses the request: {reason}; check the address, and for a bucket its region and endpoint",
        address = brief(.address), reason = brief(.reason)
    )]
    Refused {
        /// The address.
        address: String,
        /// What the server said.
        reason: String,
    },
    /// A profile that cannot be used.
    #[error("AWS profile `{profile}`: {reason}", reason = brief(.reason), profile = brief(.profile))]
    BadProfile {
        /// The profile.
        profile: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A server that cannot be reached, or that does not answer to the end.
    #[error(
        "{address}: reading broke off, after retries too: {reason}; check the network and the server, then run again",
        address = brief(.address), reason = brief(.reason)
    )]
    BrokenOff {
        /// The address.
        address: String,
        /// What happened.
        reason: String,
    },
    /// A server that cannot show who it is.
    #[error(
        "{address}: the server's certificate is not trusted ({reason}); if the server is your own, set SSL_CERT_FILE to \
         a file with the certificate of its authority",
        address = brief(.address), reason = brief(.reason)
    )]
    Untrusted {
        /// The address.
        address: String,
        /// What is wrong with the certificate.
        reason: String,
    },
    /// A server that answers without encryption, or with one that is not understood.
    #[error(
        "{address}: the server does not speak https at this port ({reason}); if it serves files without encryption, use http://",
        address = brief(.address), reason = brief(.reason)
    )]
    NotEncrypted {
        /// The address.
        address: String,
        /// What came in place of an encrypted answer.
        reason: String,
    },
    /// A web server that does not tell a file's size.
    #[error(
        "{address}: this server does not tell the file's size, which reading needs; download the file",
        address = brief(.address)
    )]
    NoRanges {
        /// The address.
        address: String,
    },
    /// A file that has to be fetched as a whole and does not fit into memory.
    #[error(
        "{address}: this server sends whole files only, and this format is not read from front to end, so the file has to be \
         held in memory: {needed} MB, where {limit} MB are allowed for all such files. Download it, or allow more memory",
        address = brief(.address)
    )]
    WholeTooLarge {
        /// The address.
        address: String,
        /// Megabytes of the file.
        needed: u64,
        /// Megabytes that are allowed.
        limit: u64,
    },
    /// A directory or a pattern on a web server.
    #[error(
        "{address}: web servers do not list files, so each file needs an address of its own; directories and patterns \
         work with s3://, gs:// and az://",
        address = brief(.address)
    )]
    NoListing {
        /// The address given.
        address: String,
    },
    /// An object that was replaced while it was read.
    #[error(
        "{address}: it changed since the log was opened, so its rows may be read in part or twice; run again when it is \
         complete",
        address = brief(.address)
    )]
    Changed {
        /// The address.
        address: String,
    },
}
