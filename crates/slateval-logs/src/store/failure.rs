//! What went wrong, in our terms.

use std::error::Error as _;

use slateval::redacted_text;

use crate::error::{RemoteError, RemoteFault, brief};
use crate::find::address::Remote;

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

/// What the client says before what the server sent along. Servers repeat the address that they were asked for, with its
/// signature.
const ANSWERED: [&str; 2] = ["Server returned non-2xx status code: ", "Server returned error response: "];

/// Statuses of the client's own fault that are tried again all the same: too slow, and too many requests.
const RETRIED: [u16; 2] = [408, 429];

pub(crate) fn failure(remote: &Remote, error: &object_store::Error) -> RemoteError {
    fault(remote, error).at(remote.name())
}

fn fault(remote: &Remote, error: &object_store::Error) -> RemoteFault {
    let text = error.to_string();
    let credentials = remote.scheme.credentials();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match error {
        _ if has(&METADATA_SERVERS) || has(&[NO_ACCOUNT]) => RemoteFault::NoCredentials { credentials },
        object_store::Error::NotFound { .. } => RemoteFault::Missing,
        object_store::Error::Precondition { .. } => RemoteFault::Changed,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            RemoteFault::Denied { reason: denial(&text), credentials }
        }
        // The address itself was looked at before.
        object_store::Error::InvalidPath { source } => RemoteFault::BadKey { reason: source.to_string() },
        _ if has(&DENIED) => RemoteFault::Denied { reason: denial(&text), credentials },
        _ if has(&MISSING) => RemoteFault::Missing,
        _ if remote.scheme.is_web() && has(&NO_RANGES) => RemoteFault::NoRanges,
        _ => match encryption(error) {
            Some(rustls::Error::InvalidCertificate(reason)) => RemoteFault::Untrusted { reason: format!("{reason:?}") },
            Some(rustls::Error::InvalidMessage(reason)) => RemoteFault::NotEncrypted { reason: format!("{reason:?}") },
            _ => {
                let last = innermost(error);
                let is_refused =
                    status(&last).is_some_and(|code| (400..500).contains(&code) && !RETRIED.contains(&code));
                let reason = brief(&redacted_text(&without_body(last)));
                if is_refused { RemoteFault::Refused { reason } } else { RemoteFault::BrokenOff { reason } }
            }
        },
    }
}

/// What went wrong before any request was sent: nothing was tried, and no server is to blame.
pub(crate) fn misconfigured(remote: &Remote, error: &object_store::Error) -> RemoteError {
    let fault = match fault(remote, error) {
        RemoteFault::BrokenOff { reason } if remote.scheme.is_web() => RemoteFault::BadAddress { reason },
        RemoteFault::BrokenOff { reason } => {
            RemoteFault::BadSettings { reason, credentials: remote.scheme.credentials() }
        }
        other => other,
    };
    fault.at(remote.name())
}

/// Why there is no encrypted connection, if that is what happened.
fn encryption(error: &object_store::Error) -> Option<&rustls::Error> {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref() {
            return Some(error);
        }
        // An error of the system's names what it was made of by another way than `source`.
        let made_of = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = made_of.map(|inner| inner as &(dyn std::error::Error + 'static)).or_else(|| error.source());
    }
    None
}

/// What is at the bottom of an error: `Connection refused`, and not how often it was tried.
fn innermost(error: &object_store::Error) -> String {
    let mut last: &(dyn std::error::Error + 'static) = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

/// The status that a server answered with.
fn status(text: &str) -> Option<u16> {
    text.strip_prefix(ANSWERED[0])?.get(..3)?.parse().ok()
}

/// A message without what the server sent along, but for its code.
fn without_body(text: String) -> String {
    let Some((answered, body)) = ANSWERED.iter().find_map(|words| text.split_once(words)) else { return text };
    let status = if answered.is_empty() { body.split(':').next().unwrap_or_default() } else { "" };
    let status = Some(status).filter(|status| status.starts_with(|c: char| c.is_ascii_digit())).unwrap_or("an error");
    match code(body) {
        Some(code) => format!("the server answered {status} ({code})"),
        None => format!("the server answered {status}"),
    }
}

/// The code in the XML that a server sends along, or else the status.
fn denial(text: &str) -> String {
    let status = || DENIED.iter().find(|word| text.contains(**word)).copied();
    code(text).or_else(status).unwrap_or("403 Forbidden").to_owned()
}

/// The code in the XML that a server sends along.
fn code(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    code.chars().all(|c| c.is_ascii_alphanumeric()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_sends_along_is_left_out_but_for_its_code() {
        for (text, wanted) in [
            ("Server returned non-2xx status code: 500 Internal Server Error: GET /a?SIG", "500 Internal Server Error"),
            ("Server returned non-2xx status code: 400 Bad Request: <Code>Odd</Code> SIG", "400 Bad Request (Odd)"),
            ("Server returned error response: <Code>SlowDown</Code> SIG", "an error (SlowDown)"),
        ] {
            assert_eq!(without_body(text.into()), format!("the server answered {wanted}"));
        }
        assert_eq!(without_body("Connection refused".into()), "Connection refused");
    }
}
