//! [`RemoteRun`]: a time loop that another process, on another machine, can go on with.
//!
//! ```text
//! PREFIX/stratape.lock                       text: who works here, written again every few seconds
//! PREFIX/stratape.manifest, PREFIX/stratape-TOKEN-…   the files of the run, as in a directory
//! ```
//!
//! A directory's lock goes with its process; an object stays. So it is a lease: one that has not been written again for several of
//! its own periods is taken over. Who finds that another has taken over its lease writes nothing more.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::path::Path;
use stratape_checkpoint::RunPlace;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::client::Client;
use crate::counters::RemoteStats;
use crate::engine::Engine;
use crate::error::{Failure, RemoteError};
use crate::options::RemoteOptions;
use crate::owner;
use crate::place::Place;

const LOCK: &str = "stratape.lock";
const HEAD: &str = "stratape lease, format 1";
/// A lease is written so often, unless the heartbeat of the options is shorter.
const PERIOD: Duration = Duration::from_secs(5);
/// Periods without a word after which a lease is void.
const MISSED: u32 = 4;

/// A place in an object store for a time loop that can be resumed: [`TimeLoop::resume_in`](stratape_checkpoint::TimeLoop::resume_in).
///
/// Snapshots, the last state and the adjoint are objects below the prefix, which belongs to this run alone. A process that is killed leaves them, and the same
/// program goes on with them, on another machine if need be; its result is the same to the last bit. A complete run leaves nothing.
///
/// One process works there at a time: it holds a lease, an object that it writes every few seconds. After a crash the next process
/// waits until the lease is void, twenty seconds unless the [heartbeat](RemoteOptions::heartbeat) is set to less than five.
///
/// ```
/// use stratape_checkpoint::TimeLoop;
/// use stratape_remote::RemoteRun;
///
/// let (_, dx, report) = TimeLoop::new(0.5_f64)
///     .steps(1000)
///     .slots(3)
///     .disk_slots("", 20) // how many snapshots may be in the store
///     .resume_in(RemoteRun::open("memory:///runs/17")?)
///     .gradient(|_, x| *x = x.sin(), |_| 1.0_f64, |_, x, dx| *dx *= x.cos())?;
/// assert_eq!(report.reversed, 1000);
/// # assert!(dx > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RemoteRun {
    shared: Arc<Shared>,
    engine: Engine,
}

struct Shared {
    client: Client,
    /// This process, in the lease.
    holder: String,
    period: Duration,
    /// Whether the lease is held.
    held: AtomicBool,
    /// Whether another has taken it over.
    lost: AtomicBool,
    given_up: Notify,
    /// Held while the lease is written, and while it is deleted.
    renewing: tokio::sync::Mutex<()>,
}

impl RemoteRun {
    /// Opens a store by its URL with the default settings; see [`RemoteTier::open`](crate::RemoteTier::open). The lease is taken when the loop is run.
    ///
    /// # Errors
    /// A URL that names no store, or one whose client is not compiled in.
    pub fn open(url: &str) -> Result<Self, RemoteError> {
        Self::open_with(url, RemoteOptions::new())
    }

    /// Opens a store by its URL.
    ///
    /// # Errors
    /// As [`open`](Self::open); also for settings that cannot work.
    pub fn open_with(url: &str, options: RemoteOptions) -> Result<Self, RemoteError> {
        options.check()?;
        Self::start(Place::open(url)?, options)
    }

    /// Uses a client that you have made, and objects below `prefix`.
    ///
    /// # Errors
    /// Settings that cannot work.
    pub fn on(
        store: Arc<dyn ObjectStore>,
        prefix: &str,
        options: RemoteOptions,
    ) -> Result<Self, RemoteError> {
        options.check()?;
        Self::start(Place::of(store, prefix), options)
    }

    fn start(place: Place, options: RemoteOptions) -> Result<Self, RemoteError> {
        let engine = Engine::start(options.in_flight.saturating_add(2))?;
        let shared = Arc::new(Shared {
            period: options.heartbeat.min(PERIOD),
            client: Client::new(place, options),
            holder: owner::new_token(),
            held: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            given_up: Notify::new(),
            renewing: tokio::sync::Mutex::default(),
        });
        Ok(Self { shared, engine })
    }

    /// What has been asked of the store.
    ///
    /// ```
    /// let run = stratape_remote::RemoteRun::open("memory:///counted/run")?;
    /// assert_eq!(run.stats().requests, 0);
    /// # Ok::<(), stratape_remote::RemoteError>(())
    /// ```
    pub fn stats(&self) -> RemoteStats {
        let Shared { client, holder, .. } = &*self.shared;
        let store = format!("{} ({})", client.place.url, client.place.store);
        client.counters.snapshot(store, holder.clone(), 0)
    }

    /// Runs a request on the thread and waits for it.
    fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        request: impl Future<Output = io::Result<T>> + Send + 'static,
    ) -> io::Result<T> {
        if !self.engine.is_here() {
            return Err(io::Error::other("this process was forked; the run is its parent's"));
        }
        let silent = || io::Error::new(io::ErrorKind::TimedOut, "the object store does not answer");
        self.engine.run(limit, request).ok_or_else(silent)?
    }

    /// How long a request can take with all its attempts.
    fn patience(&self) -> Duration {
        let RemoteOptions { attempts, request_timeout, longest_pause, .. } =
            self.shared.client.options;
        request_timeout.saturating_add(longest_pause).saturating_mul(attempts)
    }
}

impl Shared {
    fn path(&self, name: &str) -> Path {
        self.client.place.base.clone().join(name)
    }

    fn failed(&self, failure: Failure) -> io::Error {
        let kind = match &failure {
            Failure::Timeout(_) => io::ErrorKind::TimedOut,
            Failure::Store(object_store::Error::PermissionDenied { .. }) => {
                io::ErrorKind::PermissionDenied
            }
            _ => io::ErrorKind::Other,
        };
        let error = failure.into_remote_error(&self.client.place.url, "a request").to_string();
        io::Error::new(kind, error)
    }

    /// Refuses to change anything without the lease.
    fn check_lease(&self) -> io::Result<()> {
        if self.lost.load(Ordering::SeqCst) {
            let why = "another process has taken the run over; this one writes nothing more";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
        }
        Ok(())
    }

    fn lease(&self) -> String {
        // Every one differs from the one before: who waits for it to change sees that.
        let (period, word) = (self.period.as_millis(), owner::random());
        format!("{HEAD}\nevery {period} ms\nholder {}\nword {word:016x}\n", self.holder)
    }

    async fn read_lease(&self) -> io::Result<Option<Bytes>> {
        match self.client.get_small(&self.path(LOCK)).await.result {
            Ok((_, text)) => Ok(Some(text)),
            Err(failure) if failure.is_not_found() => Ok(None),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    async fn write_lease(&self) -> io::Result<()> {
        let put = self.client.put(&self.path(LOCK), self.lease().into()).await;
        put.result.map_err(|failure| self.failed(failure))
    }

    /// Whether the lease that is there is ours.
    async fn is_ours(&self) -> io::Result<bool> {
        Ok(self.read_lease().await?.is_some_and(|text| holder(&text) == Some(self.holder.clone())))
    }

    /// Takes the lease, after waiting until the one that is there is void.
    async fn take(&self) -> io::Result<()> {
        if let Some(found) = self.read_lease().await? {
            let Some(period) = period(&found) else {
                let why = format!("its `{LOCK}` is not one of ours; give the run another prefix");
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            };
            let begun = Instant::now();
            let void = period.saturating_mul(MISSED);
            tracing::info!(?void, "waiting for a lease to become void");
            while begun.elapsed() < void {
                sleep(period.min(Duration::from_secs(1))).await;
                match self.read_lease().await? {
                    Some(text) if text == found => {}
                    Some(_) => {
                        let why = "another process is at work there";
                        return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
                    }
                    None => break,
                }
            }
        }
        // Of several that find it void, the last to write has it; all the others see that when they look again.
        self.write_lease().await?;
        sleep((self.period / 4).min(Duration::from_millis(500))).await;
        if !self.is_ours().await? {
            let why = "another process has taken it at the same moment";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
        }
        self.held.store(true, Ordering::SeqCst);
        Ok(())
    }

    async fn keep(self: Arc<Self>) {
        loop {
            if timeout(self.period, self.given_up.notified()).await.is_ok() {
                return;
            }
            let _renewing = self.renewing.lock().await;
            if !self.held.load(Ordering::SeqCst) {
                return;
            }
            match self.is_ours().await {
                Ok(true) => {
                    if let Err(error) = self.write_lease().await {
                        tracing::warn!(%error, "the lease of a run could not be written again");
                    }
                }
                Ok(false) => {
                    tracing::warn!("another process has taken over a run");
                    self.lost.store(true, Ordering::SeqCst);
                    return;
                }
                Err(error) => tracing::warn!(%error, "the lease of a run could not be read"),
            }
        }
    }
}

/// The value of a line of a lease.
fn line(text: &[u8], key: &str) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?.strip_prefix(HEAD)?;
    text.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned)
}

fn period(text: &[u8]) -> Option<Duration> {
    line(text, "every ")?.strip_suffix(" ms")?.parse().ok().map(Duration::from_millis)
}

fn holder(text: &[u8]) -> Option<String> {
    line(text, "holder ")
}

impl RunPlace for RemoteRun {
    fn lock(&self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        // Another one may have to be waited for.
        self.ask(self.patience() * 4, async move {
            shared.take().await?;
            tokio::spawn(shared.keep());
            Ok(())
        })
    }

    fn unlock(&self) {
        if !self.shared.held.swap(false, Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(&self.shared);
        self.shared.given_up.notify_one();
        let _ = self.ask(self.shared.client.options.closing, async move {
            let _renewing = shared.renewing.lock().await;
            if shared.is_ours().await? {
                shared.client.delete(vec![shared.path(LOCK)]).await;
            }
            Ok(())
        });
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.shared.check_lease()?;
        let (shared, path) = (Arc::clone(&self.shared), self.shared.path(name));
        let bytes = Bytes::copy_from_slice(bytes);
        self.ask(self.patience(), async move {
            let put = shared.client.put(&path, bytes).await;
            put.result.map_err(|failure| shared.failed(failure))
        })
    }

    fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        if self.size(name)?.is_some_and(|len| len > most) {
            let why = format!("`{name}` is longer than it can be");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        let (shared, path) = (Arc::clone(&self.shared), self.shared.path(name));
        self.ask(self.patience(), async move {
            match shared.client.get_small(&path).await.result {
                Ok((_, bytes)) => Ok(Some(bytes.into())),
                Err(failure) if failure.is_not_found() => Ok(None),
                Err(failure) => Err(shared.failed(failure)),
            }
        })
    }

    fn delete(&self, name: &str) -> io::Result<()> {
        self.shared.check_lease()?;
        let (shared, path) = (Arc::clone(&self.shared), self.shared.path(name));
        self.ask(self.patience(), async move {
            if shared.client.delete(vec![path]).await.is_empty() {
                return Ok(());
            }
            Err(io::Error::other("an object could not be deleted"))
        })
    }

    fn list(&self) -> io::Result<Vec<(String, u64)>> {
        let shared = Arc::clone(&self.shared);
        self.ask(self.patience(), async move {
            let base = &shared.client.place.base;
            let listed = shared.client.list(base).await.result;
            let listed = listed.map_err(|failure| shared.failed(failure))?;
            let name = |object: &object_store::ObjectMeta| {
                let mut parts = object.location.prefix_match(base)?;
                let (name, None) = (parts.next()?, parts.next()) else { return None };
                Some((name.as_ref().to_owned(), object.size))
            };
            Ok(listed.iter().filter_map(name).collect())
        })
    }

    fn size(&self, name: &str) -> io::Result<Option<u64>> {
        let (shared, path) = (Arc::clone(&self.shared), self.shared.path(name));
        self.ask(self.patience(), async move {
            match shared.client.head(&path).await.result {
                Ok(found) => Ok(Some(found.size)),
                Err(failure) if failure.is_not_found() => Ok(None),
                Err(failure) => Err(shared.failed(failure)),
            }
        })
    }

    fn describe(&self) -> String {
        self.shared.client.place.url.to_string()
    }
}

impl Drop for RemoteRun {
    fn drop(&mut self) {
        self.unlock();
        self.engine.stop();
    }
}

impl fmt::Debug for RemoteRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteRun").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
