//! [`RemoteError`]: why an object store cannot be used, and what to do.

use std::fmt;
use std::io;
use std::time::Duration;

use object_store::Error as StoreError;
use stratape_tape::tier::{SlabKey, TierError};

/// An object store could not be opened, listed or cleaned up.
///
/// Failures of single slabs are no values of this type: a tape reports them as it does those of a disk
/// ([`TierError`](stratape_tape::tier::TierError)).
///
/// ```
/// use stratape_remote::{RemoteError, RemoteTier};
///
/// let error = RemoteTier::open("ftp://host/directory").unwrap_err();
/// assert!(matches!(error, RemoteError::Url { .. }));
/// assert!(error.to_string().contains("s3://"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum RemoteError {
    /// The URL names no store.
    Url {
        /// The URL, without credentials.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The client for this kind of store is not compiled in.
    NotBuilt {
        /// The URL, without credentials.
        url: String,
        /// The cargo feature of `stratape` that has the client.
        feature: &'static str,
    },
    /// The settings contradict themselves.
    Options(String),
    /// The store could not be reached, or refused.
    Store {
        /// The URL, without credentials.
        url: String,
        /// What was being done.
        what: &'static str,
        /// What the client said.
        source: StoreError,
    },
    /// The background thread could not be started.
    Thread(io::Error),
    /// The store has not answered in time.
    Silent {
        /// The URL, without credentials.
        url: String,
        /// What was being done.
        what: &'static str,
        /// For how long it was waited for.
        waited: Duration,
    },
    /// Objects could not be deleted.
    Left {
        /// The URL, without credentials.
        url: String,
        /// How many objects are left.
        objects: u64,
    },
    /// The owner of these objects may be alive.
    Alive {
        /// The owner.
        token: String,
        /// Age of its heartbeat.
        age: Duration,
    },
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { url, why } => write!(
                f,
                "`{url}` names no object store: {why}. Write s3://bucket/prefix, gs://bucket/prefix, az://container/prefix, \
                 file:///directory or memory:///"
            ),
            Self::NotBuilt { url, feature } => write!(
                f,
                "the client for `{url}` is not compiled in; build with the cargo feature `{feature}`"
            ),
            Self::Options(what) => {
                write!(f, "these settings of an object store cannot work: {what}")
            }
            Self::Store { url, what, source } => write!(
                f,
                "{url}: {what} failed: {source}. Look at the bucket's name, the credentials in the environment, and the network"
            ),
            Self::Thread(error) => {
                write!(f, "no thread for the object store could be started: {error}")
            }
            Self::Silent { url, what, waited } => write!(
                f,
                "{url}: {what} was not done after {:.1} s; `stratape tape sweep` finds what is left there",
                waited.as_secs_f64()
            ),
            Self::Left { url, objects } => write!(
                f,
                "{url}: {objects} objects could not be deleted; `stratape tape sweep` finds them later"
            ),
            Self::Alive { token, age } => write!(
                f,
                "the owner {token} wrote its heartbeat {:.0} s ago and may be alive; nothing of it was removed",
                age.as_secs_f64()
            ),
        }
    }
}

impl std::error::Error for RemoteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store { source, .. } => Some(source),
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}

/// Why one attempt at a request failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Store(StoreError),
    /// No answer within the limit.
    Timeout(Duration),
    /// The object is of another length than what was written.
    Length {
        expected: u64,
        found: u64,
    },
}

impl Failure {
    /// Whether another attempt may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Timeout(_) | Self::Length { .. } => true,
            Self::Store(error) => match error {
                StoreError::Generic { .. } | StoreError::JoinError { .. } => !is_full(error),
                _ => false,
            },
        }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Store(StoreError::NotFound { .. }))
    }

    /// What the tape is told.
    pub(crate) fn into_tier_error(self, key: SlabKey, url: &str, attempts: u32) -> TierError {
        let told = |kind, what: &dyn fmt::Display| {
            let tries = if attempts == 1 { "attempt" } else { "attempts" };
            TierError::Io(io::Error::new(kind, format!("{url}, after {attempts} {tries}: {what}")))
        };
        match self {
            Self::Length { expected, found } => TierError::CutShort { expected, found },
            Self::Timeout(limit) => told(
                io::ErrorKind::TimedOut,
                &format_args!("no answer within {:.1} s", limit.as_secs_f64()),
            ),
            Self::Store(StoreError::NotFound { .. }) => TierError::Missing(key),
            Self::Store(error) if is_full(&error) => TierError::Full { needed: 0, limit: None },
            Self::Store(error) => {
                let kind = match &error {
                    StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
                        io::ErrorKind::PermissionDenied
                    }
                    _ => io::ErrorKind::Other,
                };
                told(kind, &error)
            }
        }
    }

    /// What someone is told who asked for more than a slab.
    pub(crate) fn into_remote_error(self, url: &str, what: &'static str) -> RemoteError {
        let url = url.to_owned();
        match self {
            Self::Timeout(waited) => RemoteError::Silent { url, what, waited },
            Self::Store(source) => RemoteError::Store { url, what, source },
            Self::Length { expected, found } => {
                let source = format!("{found} bytes where {expected} were written").into();
                RemoteError::Store {
                    url,
                    what,
                    source: StoreError::Generic { store: "length", source },
                }
            }
        }
    }
}

/// Whether the device behind a store has no room, which waiting does not change.
fn is_full(error: &StoreError) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            );
        }
        next = error.source();
    }
    false
}
