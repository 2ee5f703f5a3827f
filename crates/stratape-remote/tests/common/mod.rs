//! What the test files share: stores that are slow, fail and lie, and the stores that every test runs on.

#![allow(dead_code, reason = "no test file uses all of it")]

pub(crate) mod oscillators;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::future::pending;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};
use stratape_remote::{RemoteOptions, RemoteTier};
use tokio::time::sleep;

/// The URL of a real store that the tests are to use as well.
pub(crate) const URL: &str = "STRATAPE_REMOTE_URL";

/// Settings with which failures are quick.
pub(crate) fn hasty() -> RemoteOptions {
    RemoteOptions::new()
        .pauses(Duration::from_millis(1), Duration::from_millis(4))
        .request_timeout(Duration::from_secs(10))
        .closing(Duration::from_secs(20))
}

/// Runs a test in memory, in a directory, and on the store that the environment names, if it does.
pub(crate) fn on_every_store(test: impl Fn(&str)) {
    test(&format!("memory:///{}", unique()));
    let directory = tempfile::tempdir().unwrap();
    test(&format!("file://{}", directory.path().join("tapes").display()));
    match std::env::var(URL) {
        Ok(url) => test(&format!("{}/{}", url.trim_end_matches('/'), unique())),
        Err(_) => eprintln!("skipped on a real store: {URL} is not set (ci/remote sets it)"),
    }
}

/// A name that no other test has.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    format!("test-{}-{now}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Waits for something another thread will do. Fails the test after far longer than it can take.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut reached: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !reached() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Runs a future to its end.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// The objects of a store, by name.
pub(crate) fn objects(store: &dyn ObjectStore) -> Vec<String> {
    wait(store.list(None).map(|object| object.unwrap().location.to_string()).collect())
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Put,
    Get,
    Delete,
    List,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    None,
    /// A failure that may pass.
    Fail,
    /// One that does not.
    Refuse,
    /// The request is done, and a failure reported.
    FailAfter,
    Delay(Duration),
    Hang,
    Panic,
    /// Of a `get`: another bit.
    WrongBytes,
    /// Fewer bytes than the object is said to have.
    CutOff,
    /// A shorter object.
    Shorter,
    /// A longer object.
    Longer,
    /// More bytes than it is said to have.
    Overflow,
    NotThere,
    /// What another object holds.
    Swapped,
    /// Of a `put`: success is reported and nothing stored.
    Swallow,
}

type Plan = Box<dyn Fn(u64, Request, &Path) -> Trouble + Send + Sync>;

/// A store in memory that does what a plan says. The plan is told the number of requests of the same kind before this one.
pub(crate) struct Troubled {
    pub(crate) below: InMemory,
    plan: Plan,
    counts: [AtomicU64; 4],
}

impl Troubled {
    pub(crate) fn new(
        plan: impl Fn(u64, Request, &Path) -> Trouble + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { below: InMemory::new(), plan: Box::new(plan), counts: Default::default() })
    }

    pub(crate) fn tier(self: &Arc<Self>, options: RemoteOptions) -> RemoteTier {
        RemoteTier::on(Arc::clone(self) as Arc<dyn ObjectStore>, "tests", options).unwrap()
    }

    pub(crate) fn slabs(&self) -> Vec<String> {
        objects(&self.below).into_iter().filter(|name| name.contains("/slab-")).collect()
    }

    async fn trouble(&self, request: Request, path: &Path) -> Result<Trouble> {
        // Heartbeats are never in trouble: these tests are about slabs.
        if path.filename() == Some("heartbeat") {
            return Ok(Trouble::None);
        }
        let number = self.counts[request as usize].fetch_add(1, Ordering::SeqCst);
        let trouble = (self.plan)(number, request, path);
        match trouble {
            Trouble::Fail => Err(failed()),
            Trouble::Refuse => {
                let (path, source) = (path.to_string(), "refused".into());
                Err(Error::PermissionDenied { path, source })
            }
            Trouble::Delay(pause) => {
                sleep(pause).await;
                Ok(Trouble::None)
            }
            Trouble::Hang => pending().await,
            Trouble::Panic => panic!("the store panics"),
            trouble => Ok(trouble),
        }
    }
}

fn failed() -> Error {
    Error::Generic { store: "troubled", source: "a failure that may pass".into() }
}

fn result_of(path: &Path, said: u64, bytes: &[u8]) -> GetResult {
    let meta = ObjectMeta {
        location: path.clone(),
        last_modified: Default::default(),
        size: said,
        e_tag: None,
        version: None,
    };
    let parts: Vec<_> = bytes.chunks(5000).map(|part| Ok(part.to_vec().into())).collect();
    let payload = GetResultPayload::Stream(futures_util::stream::iter(parts).boxed());
    GetResult {
        payload,
        meta,
        range: Range { start: 0, end: said },
        attributes: Default::default(),
        extensions: Default::default(),
    }
}

#[async_trait]
impl ObjectStore for Troubled {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        match self.trouble(Request::Put, path).await? {
            Trouble::Swallow => {
                Ok(PutResult { e_tag: None, version: None, extensions: Default::default() })
            }
            Trouble::FailAfter => {
                self.below.put_opts(path, payload, opts).await?;
                Err(failed())
            }
            _ => self.below.put_opts(path, payload, opts).await,
        }
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.below.put_multipart_opts(path, opts).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let trouble = self.trouble(Request::Get, path).await?;
        if trouble == Trouble::None {
            return self.below.get_opts(path, options).await;
        }
        let mut bytes = self.below.get(path).await?.bytes().await?.to_vec();
        let said = bytes.len() as u64;
        match trouble {
            Trouble::WrongBytes => bytes[said as usize / 2] ^= 4,
            Trouble::CutOff => bytes.truncate(said as usize - 100),
            Trouble::Shorter => {
                bytes.truncate(said as usize - 4096);
                return Ok(result_of(path, said - 4096, &bytes));
            }
            Trouble::Longer => {
                bytes.extend([0; 4096]);
                return Ok(result_of(path, said + 4096, &bytes));
            }
            Trouble::Overflow => bytes.extend([7; 300]),
            Trouble::NotThere => {
                return Err(Error::NotFound { path: path.to_string(), source: "lost".into() });
            }
            Trouble::Swapped => {
                let others = objects_below(&self.below).await;
                let other = others
                    .iter()
                    .find(|other| *other != path && other.to_string().contains("/slab-"));
                bytes = match other {
                    Some(other) => self.below.get(other).await?.bytes().await?.to_vec(),
                    None => vec![1; said as usize],
                };
            }
            Trouble::FailAfter => return Err(failed()),
            _ => {}
        }
        Ok(result_of(path, said, &bytes))
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let number = self.counts[Request::Delete as usize].fetch_add(1, Ordering::SeqCst);
        match (self.plan)(number, Request::Delete, &Path::default()) {
            Trouble::Fail => futures_util::stream::iter([Err(failed())]).boxed(),
            Trouble::Swallow => futures_util::stream::iter([]).boxed(),
            Trouble::Hang => futures_util::stream::pending().boxed(),
            _ => self.below.delete_stream(paths),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let number = self.counts[Request::List as usize].fetch_add(1, Ordering::SeqCst);
        match (self.plan)(number, Request::List, &Path::default()) {
            Trouble::Fail => futures_util::stream::iter([Err(failed())]).boxed(),
            Trouble::Hang => futures_util::stream::pending().boxed(),
            _ => self.below.list(prefix),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.below.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.below.copy_opts(from, to, options).await
    }
}

async fn objects_below(store: &InMemory) -> Vec<Path> {
    store.list(None).map(|object| object.unwrap().location).collect().await
}

impl fmt::Display for Troubled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Troubled")
    }
}

impl fmt::Debug for Troubled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Troubled")
    }
}
