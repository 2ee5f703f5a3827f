//! A store behind a limit on time and a number of attempts: every request of this crate goes through here.

use std::collections::HashSet;
use std::io::Read;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use futures_util::{FutureExt, StreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetResultPayload, ObjectMeta, ObjectStore, PutOptions};
use stratape_tape::tier::Block;
use tokio::time::{sleep, timeout};

use crate::counters::{Counters, add};
use crate::error::Failure;
use crate::options::RemoteOptions;
use crate::owner::random;
use crate::place::Place;

/// Objects that one request deletes at most, where a store deletes many with one.
const DELETED_AT_ONCE: usize = 1000;

/// Requests to a store.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) place: Place,
    pub(crate) options: RemoteOptions,
    pub(crate) counters: Arc<Counters>,
}

/// How a request went, and how many attempts it took.
pub(crate) struct Outcome<T> {
    pub(crate) result: Result<T, Failure>,
    pub(crate) attempts: u32,
}

impl Client {
    pub(crate) fn new(place: Place, options: RemoteOptions) -> Self {
        Self { place, options, counters: Arc::default() }
    }

    fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.place.store
    }

    fn tries(&self, what: &'static str) -> Tries<'_> {
        Tries { client: self, what, attempts: 0 }
    }

    /// Between half of the pause and all of it, so that requests that failed together are not made together again.
    fn pause(&self, attempts: u32) -> Duration {
        let RemoteOptions { first_pause, longest_pause, .. } = self.options;
        let doubled = 1_u32.checked_shl(attempts - 1).unwrap_or(u32::MAX);
        let pause = first_pause.saturating_mul(doubled).min(longest_pause);
        pause.div_f64(2.0) + pause.mul_f64(random() as f64 / u64::MAX as f64 / 2.0)
    }

    async fn limited<T>(
        &self,
        request: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, Failure> {
        let limit = self.options.request_timeout;
        // A client may be the user's own; what it throws must not take a slab with it.
        match timeout(limit, AssertUnwindSafe(request).catch_unwind()).await {
            Ok(Ok(result)) => result.map_err(Failure::Store),
            Ok(Err(_)) => {
                let source = "the client panicked".into();
                Err(Failure::Store(object_store::Error::Generic { store: "client", source }))
            }
            Err(_) => Err(Failure::Timeout(limit)),
        }
    }

    pub(crate) async fn put(&self, path: &Path, bytes: Bytes) -> Outcome<()> {
        let mut tries = self.tries("put");
        loop {
            tries.begin();
            let payload = bytes.clone().into();
            let put = self.limited(self.store().put_opts(path, payload, PutOptions::default()));
            match put.await {
                Err(failure) if tries.again(&failure).await => {}
                result => return tries.end(result.map(|_| ())),
            }
        }
    }

    /// The bytes of a small object, and what is known of it.
    pub(crate) async fn get_small(&self, path: &Path) -> Outcome<(ObjectMeta, Bytes)> {
        let mut tries = self.tries("get");
        loop {
            tries.begin();
            let get = self.limited(async {
                let found = self.store().get_opts(path, GetOptions::default()).await?;
                Ok((found.meta.clone(), found.bytes().await?))
            });
            match get.await {
                Err(failure) if tries.again(&failure).await => {}
                result => return tries.end(result),
            }
        }
    }

    /// What is known of an object.
    pub(crate) async fn head(&self, path: &Path) -> Outcome<ObjectMeta> {
        let mut tries = self.tries("head");
        loop {
            tries.begin();
            let options = GetOptions { head: true, ..GetOptions::default() };
            match self.limited(self.store().get_opts(path, options)).await {
                Err(failure) if tries.again(&failure).await => {}
                result => return tries.end(result.map(|found| found.meta)),
            }
        }
    }

    /// Fills a block, whose length is that of the object. `None` in place of the block if it is lost to a panic.
    pub(crate) async fn fill(&self, path: &Path, block: Block) -> (Option<Block>, Outcome<()>) {
        let mut kept = Some(block);
        let mut tries = self.tries("get");
        loop {
            tries.begin();
            match self.fill_once(path, &mut kept).await {
                Err(failure) if tries.again(&failure).await => {}
                result => return (kept, tries.end(result)),
            }
        }
    }

    async fn fill_once(&self, path: &Path, kept: &mut Option<Block>) -> Result<(), Failure> {
        let Some(mut block) = kept.take() else {
            let source = "the memory for the object is lost".into();
            return Err(Failure::Store(object_store::Error::NotSupported { source }));
        };
        let expected = block.len() as u64;
        let found = match self.limited(self.store().get_opts(path, GetOptions::default())).await {
            Ok(found) => found,
            Err(failure) => {
                *kept = Some(block);
                return Err(failure);
            }
        };
        if found.meta.size != expected {
            *kept = Some(block);
            return Err(Failure::Length { expected, found: found.meta.size });
        }
        match found.payload {
            GetResultPayload::File(mut file, _) => {
                // Straight from the file into the slab.
                let read = tokio::task::spawn_blocking(move || {
                    let read = file.read_exact(block.bytes_mut());
                    (block, read)
                });
                let (block, read) = read.await.map_err(|error| Failure::Store(error.into()))?;
                *kept = Some(block);
                read.map_err(|error| {
                    let source = Box::new(error);
                    Failure::Store(object_store::Error::Generic { store: "file", source })
                })
            }
            GetResultPayload::Stream(mut parts) => {
                let filled = self.pour(&mut parts, block.bytes_mut()).await;
                *kept = Some(block);
                match filled? {
                    found if found == expected => Ok(()),
                    found => Err(Failure::Length { expected, found }),
                }
            }
        }
    }

    /// Fills memory with what comes, and says how much came; more than there is room for is only counted.
    async fn pour(
        &self,
        parts: &mut (impl stream::Stream<Item = object_store::Result<Bytes>> + Unpin),
        room: &mut [u8],
    ) -> Result<u64, Failure> {
        let mut filled = 0_usize;
        loop {
            let next = async { parts.next().await.transpose() };
            let Some(part) = self.limited(next).await? else { return Ok(filled as u64) };
            let end = filled.saturating_add(part.len());
            match room.get_mut(filled..end) {
                Some(place) => place.copy_from_slice(&part),
                None => return Ok(end as u64),
            }
            filled = end;
        }
    }

    /// Deletes objects, many with one request where the store can. Returns those that are left. One that is not there is deleted.
    pub(crate) async fn delete(&self, mut objects: Vec<Path>) -> Vec<Path> {
        let mut left = Vec::new();
        while !objects.is_empty() {
            let batch = objects.split_off(objects.len().saturating_sub(DELETED_AT_ONCE));
            left.extend(self.delete_batch(batch).await);
        }
        left
    }

    async fn delete_batch(&self, batch: Vec<Path>) -> HashSet<Path> {
        let mut left: HashSet<Path> = batch.into_iter().collect();
        let mut tries = self.tries("delete");
        loop {
            tries.begin();
            match self.delete_once(&mut left).await {
                Err(failure) if tries.again(&failure).await => {}
                result => {
                    if let Err(failure) = tries.end(result).result {
                        let objects = left.len();
                        tracing::warn!(store = %self.place.url, objects, ?failure, "objects could not be deleted");
                    }
                    return left;
                }
            }
        }
    }

    async fn delete_once(&self, left: &mut HashSet<Path>) -> Result<(), Failure> {
        let wanted: Vec<_> = left.iter().cloned().map(Ok).collect();
        let mut deleted = self.store().delete_stream(stream::iter(wanted).boxed());
        let mut failed = None;
        loop {
            // Failures come between successes; the stream goes on after them.
            let next = async { Ok(deleted.next().await) };
            match self.limited(next).await? {
                Some(Ok(path)) => {
                    left.remove(&path);
                }
                Some(Err(object_store::Error::NotFound { path, .. })) => {
                    left.retain(|object| !is_named(object, &path));
                }
                Some(Err(error)) => failed = Some(Failure::Store(error)),
                None if left.is_empty() => return Ok(()),
                // An object of which nothing is said is not deleted.
                None => {
                    let source = "not all objects were deleted".into();
                    let unsaid = object_store::Error::Generic { store: "delete", source };
                    return Err(failed.unwrap_or(Failure::Store(unsaid)));
                }
            }
        }
    }

    /// All objects below a prefix.
    pub(crate) async fn list(&self, prefix: &Path) -> Outcome<Vec<ObjectMeta>> {
        let mut tries = self.tries("list");
        loop {
            tries.begin();
            match self.list_once(prefix).await {
                Err(failure) if tries.again(&failure).await => {}
                result => return tries.end(result),
            }
        }
    }

    async fn list_once(&self, prefix: &Path) -> Result<Vec<ObjectMeta>, Failure> {
        let mut found = Vec::new();
        let mut objects = self.store().list(Some(prefix));
        loop {
            let next = async { objects.next().await.transpose() };
            match self.limited(next).await? {
                Some(object) => found.push(object),
                None => return Ok(found),
            }
        }
    }

    /// The directories right below the prefix of the place.
    pub(crate) async fn directories(&self) -> Outcome<Vec<Path>> {
        let mut tries = self.tries("list");
        let prefix = Some(&self.place.base).filter(|prefix| !prefix.as_ref().is_empty());
        loop {
            tries.begin();
            match self.limited(self.store().list_with_delimiter(prefix)).await {
                Err(failure) if tries.again(&failure).await => {}
                result => return tries.end(result.map(|found| found.common_prefixes)),
            }
        }
    }
}

/// The attempts at one request: it is made until it succeeds, cannot succeed, or has been made often enough.
struct Tries<'a> {
    client: &'a Client,
    what: &'static str,
    attempts: u32,
}

impl Tries<'_> {
    fn begin(&mut self) {
        self.attempts += 1;
        add(&self.client.counters.requests, 1);
    }

    /// Whether to make the request again. If so, the pause before it is over.
    async fn again(&self, failure: &Failure) -> bool {
        let Self { client, what, attempts } = self;
        if *attempts >= client.options.attempts || !failure.is_transient() {
            return false;
        }
        let pause = client.pause(*attempts);
        tracing::debug!(what, attempts, ?failure, ?pause, "a request is made again");
        add(&client.counters.retries, 1);
        sleep(pause).await;
        true
    }

    fn end<T>(self, result: Result<T, Failure>) -> Outcome<T> {
        if result.as_ref().is_err_and(|failure| !failure.is_not_found()) {
            add(&self.client.counters.failures, 1);
        }
        Outcome { result, attempts: self.attempts }
    }
}

/// Whether a store means this object; some name it by its path in the file system.
fn is_named(object: &Path, name: &str) -> bool {
    let object = object.as_ref();
    name == object || name.ends_with(&format!("/{object}"))
}
