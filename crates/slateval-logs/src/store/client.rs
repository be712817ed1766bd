//! How a bucket is reached: settings from the environment and from profiles, and the client made of them.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, HeaderMap, HeaderValue, ObjectStore, RetryConfig};
use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::AUTHORIZATION;

use crate::error::{RemoteFault, Result};
use crate::find::address::{Remote, Scheme};
use crate::store::failure::misconfigured;
use crate::store::profile::Profile;

/// Retries of one request. A server that is gone is given up after some seconds.
const RETRIES: usize = 7;

/// No retry begins later than this after the first try.
const RETRY_FOR: Duration = Duration::from_secs(30);

/// How long a connection may take, and how long a server may be silent.
const TIMEOUTS: [(ClientConfigKey, &str); 3] = [
    (ClientConfigKey::ConnectTimeout, "5 seconds"),
    (ClientConfigKey::ReadTimeout, "15 seconds"),
    (ClientConfigKey::Timeout, "5 minutes"),
];

/// Variables that decide how a bucket is reached.
const VARIABLES: [&str; 6] = ["AWS_", "AZURE_", "GOOGLE_", "IDENTITY_", "MSI_", "SERVICE_ACCOUNT"];

/// A bucket.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// What lists objects by the beginning of their names, where the server can do that. `store` lists whole
    /// directories.
    pub(crate) pages: Option<Arc<dyn PaginatedListStore>>,
}

impl Client {
    fn with_pages<S: ObjectStore + PaginatedListStore>(store: S) -> Client {
        let store = Arc::new(store);
        Client { store: store.clone(), pages: Some(store) }
    }
}

/// Everything that a client is made of.
pub(crate) struct Settings<'a> {
    remote: &'a Remote,
    profile: Option<Profile>,
}

impl<'a> Settings<'a> {
    pub(crate) fn of(remote: &'a Remote) -> Result<Self> {
        let profile = if remote.scheme == Scheme::S3 { Profile::of_environment()? } else { None };
        Ok(Settings { remote, profile })
    }

    /// The same for all addresses that one client can serve.
    pub(crate) fn key(&self) -> String {
        let wanted = |name: &str| VARIABLES.iter().any(|prefix| name.starts_with(prefix));
        let mut variables: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| wanted(name))
            .collect();
        variables.sort();
        let Remote { scheme, user, host, query, .. } = self.remote;
        format!("{scheme:?} {user:?} {host} {query:?} {:?} {variables:?}", self.profile)
    }

    pub(crate) fn build(&self) -> Result<Client> {
        let built = match self.remote.scheme {
            Scheme::S3 => self.s3(),
            Scheme::Gcs => self.gcs(),
            Scheme::Azure => self.azure(),
            Scheme::Http | Scheme::Https => self.web(),
        };
        Ok(built.map_err(|e| misconfigured(self.remote, &e))?)
    }

    fn s3(&self) -> object_store::Result<Client> {
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(&self.remote.host).with_retry(retries());
        if let Some(profile) = &self.profile {
            builder = profile.apply(builder);
        }
        let endpoints = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
        let endpoint = endpoints.iter().find_map(|key| builder.get_config_value(key));
        if let Some(endpoint) = endpoint {
            // The client takes for granted that this is an address.
            let wrong = |e| format!("AWS_ENDPOINT_URL is not an address: {e}").into();
            Url::parse(&endpoint).map_err(|e| object_store::Error::Generic { store: "S3", source: wrong(e) })?;
            if is_plain(&endpoint) {
                builder = builder.with_allow_http(true);
            }
        }
        for (key, value) in TIMEOUTS {
            builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
        }
        Ok(Client::with_pages(builder.build()?))
    }

    fn gcs(&self) -> object_store::Result<Client> {
        let mut builder =
            GoogleCloudStorageBuilder::from_env().with_bucket_name(&self.remote.host).with_retry(retries());
        for (key, value) in TIMEOUTS {
            builder = builder.with_config(GoogleConfigKey::Client(key), value);
        }
        Ok(Client::with_pages(builder.build()?))
    }

    fn azure(&self) -> object_store::Result<Client> {
        let mut builder = MicrosoftAzureBuilder::from_env().with_retry(retries());
        builder = match self.remote.host.contains('@') {
            true => builder.with_url(format!("abfss://{}/", self.remote.host)),
            false => builder.with_container_name(&self.remote.host),
        };
        if builder.get_config_value(&AzureConfigKey::Endpoint).is_some_and(|endpoint| is_plain(&endpoint)) {
            builder = builder.with_allow_http(true);
        }
        for (key, value) in TIMEOUTS {
            builder = builder.with_config(AzureConfigKey::Client(key), value);
        }
        Ok(Client { store: Arc::new(builder.build()?), pages: None })
    }

    /// A web server; one file of it, if a query belongs to the file.
    fn web(&self) -> object_store::Result<Client> {
        let address = match self.remote.query {
            Some(_) => self.remote.full(),
            None => self.remote.with_key("").full(),
        };
        let mut options = ClientOptions::new().with_allow_http(true);
        if let Some(user) = &self.remote.user {
            options = options.with_default_headers(HeaderMap::from_iter([(AUTHORIZATION, basic_authentication(user))]));
        }
        for (key, value) in TIMEOUTS {
            options = options.with_config(key, value);
        }
        let builder = HttpBuilder::new().with_url(address).with_client_options(options).with_retry(retries());
        Ok(Client { store: Arc::new(builder.build()?), pages: None })
    }
}

/// The header that hands over a user and a password. A redirection to another server goes without it.
fn basic_authentication(user: &str) -> HeaderValue {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let pair: Vec<u8> = percent_decode_str(user).chain(*b":").chain(percent_decode_str(password)).collect();
    // Letters and digits: nothing that a header cannot hold.
    let text = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair));
    let mut value = HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("Basic"));
    value.set_sensitive(true);
    value
}

/// Whether a server was named that does without encryption: whoever names it wants no other.
fn is_plain(endpoint: &str) -> bool {
    endpoint.starts_with("http://")
}

fn retries() -> RetryConfig {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(300), max_backoff: Duration::from_secs(8), base: 2.0 };
    RetryConfig { backoff, max_retries: RETRIES, retry_timeout: RETRY_FOR }
}

/// The location of an object within its client's bucket.
pub(crate) fn location(remote: &Remote) -> Result<object_store::path::Path> {
    let found = match (remote.scheme.is_web(), &remote.query) {
        (true, Some(_)) => Ok(object_store::path::Path::default()),
        (true, None) => object_store::path::Path::from_url_path(&remote.key),
        (false, _) => object_store::path::Path::parse(&remote.key),
    };
    Ok(found.map_err(|e| RemoteFault::BadAddress { reason: e.to_string() }.at(remote.name()))?)
}
