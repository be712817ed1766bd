//! What went wrong, in our terms.

use std::error::Error as _;

use crate::error::{RemoteError, brief};
use crate::formats::address::{Remote, Scheme};

/// Servers on the machine itself that hand out credentials: the last thing tried where there are no others.
const METADATA_SERVERS: [&str; 2] = ["169.254.169.254", "metadata.google.internal"];

/// What the client says where a web server does not send parts of a file, or does not tell its size.
const NO_RANGES: [&str; 4] = ["Range request not supported", "non-partial response", "Content-Range", "Content-Length"];

/// What the client says where nobody told it whose containers are meant.
const NO_ACCOUNT: &str = "Account must be specified";

/// What servers call a bucket, a container or an object that they do not have.
const MISSING: [&str; 3] = ["NoSuchBucket", "NoSuchKey", "ContainerNotFound"];

/// What refused credentials are called where the kind of error does not tell, as in a listing.
const DENIED: [&str; 5] =
    ["403 Forbidden", "401 Unauthorized", "ExpiredToken", "InvalidToken", "AuthorizationHeaderMalformed"];

pub(crate) fn failure(remote: &Remote, error: &object_store::Error) -> RemoteError {
    let address = remote.shown().display().to_string();
    let text = error.to_string();
    let credentials = credentials(remote.scheme);
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match error {
        _ if has(&METADATA_SERVERS) || has(&[NO_ACCOUNT]) => RemoteError::NoCredentials { address, credentials },
        object_store::Error::NotFound { .. } => RemoteError::Missing { address },
        object_store::Error::Precondition { .. } => RemoteError::Changed { address },
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            RemoteError::Denied { address, reason: denial(&text), credentials }
        }
        // The address itself was looked at before.
        object_store::Error::InvalidPath { source } => RemoteError::BadKey { address, reason: source.to_string() },
        _ if has(&DENIED) => RemoteError::Denied { address, reason: denial(&text), credentials },
        _ if has(&MISSING) => RemoteError::Missing { address },
        _ if remote.scheme.is_web() && has(&NO_RANGES) => RemoteError::NoRanges { address },
        _ => match distrust(error) {
            Some(reason) => RemoteError::Untrusted { address, reason },
            None => RemoteError::BrokenOff { address, reason: brief(&deepest(error)) },
        },
    }
}

/// Why a server's certificate is not trusted, if that is what happened.
fn distrust(error: &object_store::Error) -> Option<String> {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(reason)) = error.downcast_ref() {
            return Some(format!("{reason:?}"));
        }
        // An error of the system's names what it was made of by another way than `source`.
        let made_of = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = made_of.map(|inner| inner as &(dyn std::error::Error + 'static)).or_else(|| error.source());
    }
    None
}

/// What is at the bottom of an error: `Connection refused`, and not how often it was tried.
fn deepest(error: &object_store::Error) -> String {
    let mut last = error.source();
    while let Some(next) = last.and_then(std::error::Error::source) {
        last = Some(next);
    }
    last.map_or_else(|| error.to_string(), ToString::to_string)
}

/// The code in the XML that a server sends along, or else the status.
fn denial(text: &str) -> String {
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let status = || DENIED.iter().find(|word| text.contains(**word)).copied();
    code.map(|(code, _)| code).or_else(status).unwrap_or("403 Forbidden").to_owned()
}

fn credentials(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; AWS_SKIP_SIGNATURE=true for a public bucket"
        }
        Scheme::Gcs => "GOOGLE_APPLICATION_CREDENTIALS; GOOGLE_SKIP_SIGNATURE=true for a public bucket",
        Scheme::Azure => {
            "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_CLIENT_ID; \
             AZURE_SKIP_SIGNATURE=true for a public container"
        }
        Scheme::Http | Scheme::Https => "an address that is signed, or a server that asks for none",
    }
}
