//! Where objects go: a client of a store, and a prefix in it, from a URL.

use std::fmt;
use std::sync::{Arc, OnceLock};

use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreScheme};
use url::Url;

use crate::error::RemoteError;

/// A store and a prefix.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) base: Path,
    /// For people: without user names, passwords and queries.
    pub(crate) url: Arc<str>,
    /// Whether the store keeps the very memory it is handed, so that it must be a copy.
    pub(crate) keeps_payloads: bool,
}

/// `memory:///` names one store for the whole process, as any other URL names one for all of the world.
static IN_MEMORY: OnceLock<Arc<InMemory>> = OnceLock::new();

impl Place {
    pub(crate) fn open(text: &str) -> Result<Self, RemoteError> {
        let wrong = |url: &str, why: &dyn fmt::Display| RemoteError::Url {
            url: url.to_owned(),
            why: why.to_string(),
        };
        // What cannot be taken apart may hold a password anywhere.
        let url = Url::parse(text).map_err(|error| {
            wrong(text.split_once("://").map_or(text, |(scheme, _)| scheme), &error)
        })?;
        let shown = shown(&url);
        let (scheme, path) =
            ObjectStoreScheme::parse(&url).map_err(|error| wrong(&shown, &error))?;
        let failed = |source| RemoteError::Store { url: shown.clone(), what: "opening it", source };
        let mut base = path;
        let store: Arc<dyn ObjectStore> = match scheme {
            ObjectStoreScheme::Memory => IN_MEMORY.get_or_init(Arc::default).clone(),
            ObjectStoreScheme::Local => {
                let directory = url
                    .to_file_path()
                    .map_err(|()| wrong(&shown, &"it is no path of this system"))?;
                std::fs::create_dir_all(&directory).map_err(|error| {
                    failed(object_store::Error::Generic {
                        store: "LocalFileSystem",
                        source: Box::new(error),
                    })
                })?;
                base = Path::default();
                let store = LocalFileSystem::new_with_prefix(directory).map_err(failed)?;
                Arc::new(store.with_automatic_cleanup(true))
            }
            ref other => cloud(other, &url, &shown)?,
        };
        let keeps_payloads = scheme == ObjectStoreScheme::Memory;
        Ok(Self { store, base, url: shown.into(), keeps_payloads })
    }

    /// A client that the user has made.
    pub(crate) fn of(store: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        let base = Path::from(prefix);
        let url = format!("{store}/{base}").into();
        Self { store, base, url, keeps_payloads: false }
    }
}

/// A URL as it may be shown.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // These fail for URLs that can have none.
    let _ = url.set_password(None);
    if url.scheme().starts_with("http") {
        let _ = url.set_username("");
    }
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// Attempts are made, counted and limited here, and not by the client as well.
#[cfg(feature = "http")]
#[allow(dead_code, reason = "`http` is of no use alone")]
fn once() -> object_store::RetryConfig {
    // The first to install one wins, which may be the program.
    let _ = rustls::crypto::ring::default_provider().install_default();
    object_store::RetryConfig { max_retries: 0, ..Default::default() }
}

fn cloud(
    scheme: &ObjectStoreScheme,
    url: &Url,
    shown: &str,
) -> Result<Arc<dyn ObjectStore>, RemoteError> {
    match scheme {
        ObjectStoreScheme::AmazonS3 => amazon(url, shown),
        ObjectStoreScheme::GoogleCloudStorage => google(url, shown),
        ObjectStoreScheme::MicrosoftAzure => azure(url, shown),
        _ => Err(RemoteError::Url {
            url: shown.to_owned(),
            why: "a server of plain HTTP is not supported".to_owned(),
        }),
    }
}

/// Defines how the client for a cloud is made, and what is said where it is not compiled in.
macro_rules! client {
    ($name:ident, $feature:literal, $forwarded:literal, $builder:path) => {
        #[cfg(feature = $feature)]
        fn $name(url: &Url, shown: &str) -> Result<Arc<dyn ObjectStore>, RemoteError> {
            use $builder as Builder;
            let built = Builder::from_env().with_url(url.as_str()).with_retry(once()).build();
            let what = "reading its settings from the environment";
            built
                .map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
                .map_err(|source| RemoteError::Store { url: shown.to_owned(), what, source })
        }

        #[cfg(not(feature = $feature))]
        fn $name(_: &Url, shown: &str) -> Result<Arc<dyn ObjectStore>, RemoteError> {
            Err(RemoteError::NotBuilt { url: shown.to_owned(), feature: $forwarded })
        }
    };
}

client!(amazon, "s3", "remote-s3", object_store::aws::AmazonS3Builder);
client!(google, "gcs", "remote-gcs", object_store::gcp::GoogleCloudStorageBuilder);
client!(azure, "azure", "remote-azure", object_store::azure::MicrosoftAzureBuilder);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_secrets() {
        for text in ["s3://key:secret@bucket/prefix?token=secret", "https://u:secret@host/x"] {
            let shown = shown(&Url::parse(text).unwrap());
            assert!(!shown.contains("secret"), "{shown}");
        }
        let error = Place::open("s3://user:secret@[bad").err().unwrap();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn missing_clients_name_their_feature() {
        for (url, feature, built) in [
            ("s3://bucket/a", "remote-s3", cfg!(feature = "s3")),
            ("gs://bucket/a", "remote-gcs", cfg!(feature = "gcs")),
            ("az://container/a", "remote-azure", cfg!(feature = "azure")),
        ] {
            if !built {
                assert!(Place::open(url).err().unwrap().to_string().contains(feature));
            }
        }
        assert!(Place::open("https://example.com/x").is_err());
        assert!(Place::open("nonsense").is_err());
    }
}
