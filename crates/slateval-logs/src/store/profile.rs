//! AWS profiles: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::HashMap;
use std::env;
use std::path::PathBuf;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use crate::error::{Error, Result, brief};

/// Variables by which a machine, or a job on it, has credentials of its own.
const OWN: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
];

/// Entries of a profile that need a program or a service to become credentials.
const INDIRECT: [&str; 5] =
    ["sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file"];

type Entries = HashMap<String, String>;

/// What the profile of the environment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profile {
    entries: Vec<(AmazonS3ConfigKey, String)>,
}

impl Profile {
    /// The profile that AWS_PROFILE names, or `default` if there is one. Credentials in variables go before those in files.
    pub(crate) fn of_environment() -> Result<Option<Profile>> {
        let named = variable("AWS_PROFILE").or_else(|| variable("AWS_DEFAULT_PROFILE"));
        let name = named.clone().unwrap_or_else(|| "default".into());
        let files = [("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials")];
        let texts = files.map(|(variable, file)| read(variable, file).unwrap_or_default());
        let mut found: Option<Entries> = None;
        for text in &texts {
            if let Some(entries) = section(text, &name) {
                found.get_or_insert_default().extend(entries);
            }
        }
        let has_own = OWN.iter().any(|name| variable(name).is_some());
        match (found, named) {
            (Some(entries), _) => Profile::of(&name, &entries, has_own).map(Some),
            (None, Some(_)) if !has_own => {
                let reason = "neither the credentials file nor the config file in ~/.aws has it; correct AWS_PROFILE, or \
                              set AWS_SHARED_CREDENTIALS_FILE";
                Err(bad_profile(&name, reason))
            }
            _ => Ok(None),
        }
    }

    fn of(name: &str, entries: &Entries, has_own: bool) -> Result<Profile> {
        let mut kept = Vec::new();
        let mut keep = |key: AmazonS3ConfigKey, name: &str| {
            if let Some(value) = entries.get(name) {
                kept.push((key, value.clone()));
            }
        };
        if !has_own {
            let indirect = INDIRECT.iter().find(|key| entries.contains_key(**key));
            if let (false, Some(key)) = (entries.contains_key("aws_access_key_id"), indirect) {
                let reason = format!(
                    "it has no keys but `{key}`, which is not read; set the keys as variables: `eval \"$(aws configure \
                     export-credentials --profile {name} --format env)\"`"
                );
                return Err(bad_profile(name, &reason));
            }
            keep(AmazonS3ConfigKey::AccessKeyId, "aws_access_key_id");
            keep(AmazonS3ConfigKey::SecretAccessKey, "aws_secret_access_key");
            keep(AmazonS3ConfigKey::Token, "aws_session_token");
        }
        if variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION")).is_none() {
            keep(AmazonS3ConfigKey::Region, "region");
        }
        if variable("AWS_ENDPOINT_URL").or_else(|| variable("AWS_ENDPOINT_URL_S3")).is_none() {
            keep(AmazonS3ConfigKey::Endpoint, "endpoint_url");
        }
        Ok(Profile { entries: kept })
    }

    pub(crate) fn apply(&self, builder: AmazonS3Builder) -> AmazonS3Builder {
        self.entries.iter().fold(builder, |builder, (key, value)| builder.with_config(*key, value))
    }
}

fn bad_profile(name: &str, reason: &str) -> Error {
    Error::Refused(format!("AWS profile `{}`: {}", brief(name), brief(reason)).into())
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// A file that a variable names, or that is in `~/.aws`.
fn read(name: &str, file: &str) -> Option<String> {
    let own = || {
        let home = variable("HOME").or_else(|| variable("USERPROFILE"))?;
        Some(PathBuf::from(home).join(".aws").join(file))
    };
    std::fs::read_to_string(variable(name).map(PathBuf::from).or_else(own)?).ok()
}

/// The entries of a profile: `[name]`, or `[profile name]` in the config file.
fn section(text: &str, name: &str) -> Option<Entries> {
    let mut found: Option<Entries> = None;
    let mut inside = false;
    for line in text.lines() {
        // Entries of an entry are indented.
        if line.starts_with([' ', '\t', '#', ';']) {
            continue;
        }
        if let Some(header) = line.trim().strip_prefix('[').and_then(|line| line.split(']').next()) {
            let header = header.trim();
            inside = header.strip_prefix("profile ").map_or(header, str::trim) == name;
            if inside {
                found.get_or_insert_default();
            }
        } else if let (true, Some((key, value))) = (inside, line.split_once('=')) {
            found.get_or_insert_default().insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const TEXT: &str = "# mine\n[default]\naws_access_key_id = A\naws_secret_access_key=B=C\n\n[profile work]\n\
                        region = eu-west-1\ns3 =\n  max_concurrent_requests = 20\nsso_session = x\n[other]\n";

    #[test]
    fn profiles_are_found_by_either_header() {
        let default = section(TEXT, "default").unwrap();
        assert_eq!((default["aws_access_key_id"].as_str(), default["aws_secret_access_key"].as_str()), ("A", "B=C"));
        let work = section(TEXT, "work").unwrap();
        assert_eq!(work["region"], "eu-west-1");
        assert!(!work.contains_key("max_concurrent_requests"));
        assert!(section(TEXT, "other").unwrap().is_empty());
        assert!(section(TEXT, "none").is_none());
    }

    #[test]
    fn a_profile_without_keys_says_what_to_do() {
        let work = section(TEXT, "work").unwrap();
        let error = Profile::of("work", &work, false).unwrap_err().to_string();
        assert!(error.contains("AWS profile `work`") && error.contains("export-credentials --profile work"), "{error}");
        assert!(Profile::of("work", &work, true).is_ok());
    }
}
