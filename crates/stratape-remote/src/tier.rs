//! [`RemoteTier`]: slabs as objects.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::path::Path;
use stratape_tape::tier::{Block, Done, SlabKey, Tier, TierError};
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use crate::client::Client;
use crate::counters::{RemoteStats, add, read};
use crate::engine::Engine;
use crate::error::RemoteError;
use crate::loan::{self, Loan};
use crate::options::RemoteOptions;
use crate::owner::{self, Names};
use crate::place::Place;

/// How long a client may keep a slab's bytes after it has answered; one that keeps them longer is handed copies from then on.
const KEPT: Duration = Duration::from_millis(100);

/// A tier whose slabs are objects of a store.
///
/// Requests run on a background thread, [many at once](RemoteOptions::in_flight); those that fail are made again after a pause, and then the
/// failure is an error of the call on the tape that needed the slab. Slabs travel without a copy. What comes back is held against the
/// tape's [checksums](stratape_tape::TapeOptions::checksum), so that a store that returns something else than was written is an error as well.
///
/// ```
/// use std::sync::Arc;
/// use stratape_remote::RemoteTier;
/// use stratape_tape::{LayeredTape, TapeOptions};
///
/// let tier = Arc::new(RemoteTier::open("memory:///tapes")?);
/// let mut tape: LayeredTape<f64> =
///     TapeOptions::new().memory(256 << 10).slab_bytes(32 << 10).tier(tier.clone()).open()?;
/// for i in 0..100_000 {
///     tape.push(f64::from(i))?;
/// }
/// for i in (0..100_000).rev() {
///     assert_eq!(tape.pop()?, Some(f64::from(i)));
/// }
/// println!("{}\n{}", tape.stats(), tier.stats());
/// drop(tape);
/// tier.close()?; // all objects are deleted when this returns
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Objects are deleted as the tape shrinks, and all that are left by [`close`](Self::close) or when the tier is dropped. What a process that
/// was killed leaves behind is found by [`Sweep`](crate::Sweep).
pub struct RemoteTier {
    shared: Arc<Shared>,
    engine: Engine,
}

struct Shared {
    client: Client,
    token: String,
    names: Names,
    /// One for every slab that may be under way.
    permits: Semaphore,
    /// Bytes of every slab that is stored.
    stored: Mutex<Stored>,
    /// Objects to be deleted.
    doomed: Mutex<Doomed>,
    /// Whether the client keeps what it is handed.
    keeps_payloads: AtomicBool,
    closed: AtomicBool,
    /// Ends the heartbeat.
    quiet: Notify,
    /// Held while the heartbeat is written, and while it is deleted.
    beating: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Stored {
    slabs: HashMap<SlabKey, u64>,
    bytes: u64,
}

#[derive(Default)]
struct Doomed {
    objects: Vec<Path>,
    /// Whether a task is at work on them.
    attended: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RemoteTier {
    /// Opens a store with the default settings: `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`, `file:///directory` or
    /// `memory:///`. Credentials, regions and endpoints come from the environment, by the names that the clients of the clouds use
    /// (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME` and so on).
    ///
    /// The first heartbeat is written before this returns, so that wrong credentials show here.
    ///
    /// # Errors
    /// A URL that names no store or one whose client is not compiled in, a store that cannot be reached or written to.
    pub fn open(url: &str) -> Result<Self, RemoteError> {
        Self::open_with(url, RemoteOptions::new())
    }

    /// Opens a store. See [`open`](Self::open).
    ///
    /// # Errors
    /// As there; also for settings that cannot work.
    pub fn open_with(url: &str, options: RemoteOptions) -> Result<Self, RemoteError> {
        options.check()?;
        Self::start(Place::open(url)?, options)
    }

    /// Uses a client that you have made, and objects below `prefix`: for what a URL and the environment cannot say.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use object_store::memory::InMemory;
    /// use stratape_remote::{RemoteOptions, RemoteTier};
    ///
    /// let tier = RemoteTier::on(Arc::new(InMemory::new()), "tapes", RemoteOptions::new())?;
    /// # tier.close()?;
    /// # Ok::<(), stratape_remote::RemoteError>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
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
        let token = owner::new_token();
        let shared = Arc::new(Shared {
            names: Names::new(&place.base, &token),
            token,
            permits: Semaphore::new(options.in_flight.min(Semaphore::MAX_PERMITS)),
            stored: Mutex::default(),
            doomed: Mutex::default(),
            keeps_payloads: AtomicBool::new(place.keeps_payloads),
            closed: AtomicBool::new(false),
            quiet: Notify::new(),
            beating: tokio::sync::Mutex::default(),
            client: Client::new(place, options),
        });
        const WHAT: &str = "writing the first heartbeat";
        let first = Arc::clone(&shared);
        let begun = Instant::now();
        let beaten = engine.run(shared.longest_request(), async move { first.beat().await });
        let url = &shared.client.place.url;
        let failed = match beaten {
            Some(Ok(())) => None,
            Some(Err(failure)) => Some(failure.into_remote_error(url, WHAT)),
            None => {
                let (url, waited) = (url.to_string(), begun.elapsed());
                Some(RemoteError::Silent { url, what: WHAT, waited })
            }
        };
        if let Some(error) = failed {
            engine.stop();
            return Err(error);
        }
        engine.handle.spawn(Arc::clone(&shared).keep_beating());
        Ok(Self { shared, engine })
    }

    /// What has been asked of the store.
    pub fn stats(&self) -> RemoteStats {
        let Shared { client, token, .. } = &*self.shared;
        let store = format!("{} ({})", client.place.url, client.place.store);
        client.counters.snapshot(store, token.clone(), self.stored_bytes())
    }

    /// The name of this owner: objects are below `PREFIX/stratape-TOKEN/`.
    ///
    /// ```
    /// # let tier = stratape_remote::RemoteTier::open("memory:///named")?;
    /// assert_eq!(tier.token().len(), 32);
    /// # tier.close()?;
    /// # Ok::<(), stratape_remote::RemoteError>(())
    /// ```
    pub fn token(&self) -> &str {
        &self.shared.token
    }

    /// Waits for what is under way and deletes all objects of this tier. Nothing can be stored or read afterwards.
    ///
    /// Dropping the tier does the same, but a tape gives its tier up on a background thread, which ends with the process: at the
    /// end of a program, keep a handle and call this.
    ///
    /// # Errors
    /// When objects are left: the store refuses, or has not answered within the time for [closing](RemoteOptions::closing).
    pub fn close(&self) -> Result<(), RemoteError> {
        if !self.engine.is_here() || self.shared.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let (shared, engine) = (Arc::clone(&self.shared), self.engine.clone());
        let (report, closed) = mpsc::channel();
        self.engine.handle.spawn(async move {
            let left = shared.delete_all().await;
            let _ = report.send(left);
            engine.stop();
        });
        if self.engine.is_current() {
            // It goes on by itself.
            return Ok(());
        }
        let limit = self.shared.client.options.closing;
        let url = || self.shared.client.place.url.to_string();
        match closed.recv_timeout(limit) {
            Ok(Ok(0)) => Ok(()),
            Ok(Ok(objects)) => Err(RemoteError::Left { url: url(), objects }),
            Ok(Err(error)) => Err(error),
            Err(_) => {
                self.engine.stop();
                Err(RemoteError::Silent { url: url(), what: "deleting all objects", waited: limit })
            }
        }
    }

    /// Refuses an operation, if there is nobody to do it.
    fn refusal(&self) -> Option<TierError> {
        if !self.engine.is_here() {
            return Some(TierError::Forked);
        }
        self.shared.closed.load(Ordering::SeqCst).then(closed)
    }
}

fn closed() -> TierError {
    std::io::Error::other("the object store was closed; open another tier").into()
}

impl Shared {
    /// How long a request can take with all its attempts.
    fn longest_request(&self) -> Duration {
        let RemoteOptions { attempts, request_timeout, longest_pause, .. } = self.client.options;
        request_timeout.saturating_add(longest_pause).saturating_mul(attempts)
    }

    async fn beat(&self) -> Result<(), crate::error::Failure> {
        let text = owner::heartbeat(self.client.options.heartbeat);
        self.client.put(&self.names.heartbeat(), text.into()).await.result
    }

    async fn keep_beating(self: Arc<Self>) {
        loop {
            if timeout(self.client.options.heartbeat, self.quiet.notified()).await.is_ok() {
                return;
            }
            let _beating = self.beating.lock().await;
            if self.closed.load(Ordering::SeqCst) {
                return;
            }
            if let Err(failure) = self.beat().await {
                add(&self.client.counters.missed_heartbeats, 1);
                tracing::warn!(store = %self.client.place.url, ?failure, "the heartbeat could not be written");
            }
        }
    }

    async fn write(self: Arc<Self>, key: SlabKey, sent: Sent, done: Done) {
        let Ok(permit) = self.permits.acquire().await else {
            let (Sent::Lent(block) | Sent::Copied(block, _)) = sent;
            return done(block, Err(closed()));
        };
        let moving = self.client.counters.moving();
        let path = self.names.slab(key);
        let (block, outcome) = match sent {
            Sent::Copied(block, bytes) => (Some(block), self.client.put(&path, bytes).await),
            Sent::Lent(block) => {
                let (loan, bytes) = Loan::new(block);
                let outcome = self.client.put(&path, bytes).await;
                (self.take_back(loan, &path, outcome.result.is_ok()).await, outcome)
            }
        };
        let result = outcome.result.map_err(|failure| {
            // An attempt that was not answered may have stored it all the same.
            if self.doom(path) {
                tokio::spawn(Arc::clone(&self).delete_doomed());
            }
            failure.into_tier_error(key, &self.client.place.url, outcome.attempts)
        });
        drop((moving, permit));
        // Without the block, dropping `done` says so.
        let Some(block) = block else { return };
        if result.is_ok() {
            let bytes = block.len() as u64;
            add(&self.client.counters.objects_written, 1);
            add(&self.client.counters.bytes_written, bytes);
            let mut stored = lock(&self.stored);
            stored.bytes += bytes;
            stored.bytes -= stored.slabs.insert(key, bytes).unwrap_or(0);
        }
        done(block, result);
    }

    /// Gets a block back from the client. One that keeps what it was handed gets a copy in its place.
    async fn take_back(&self, loan: Loan, path: &Path, stored: bool) -> Option<Block> {
        let loan = match loan.end(KEPT).await {
            Ok(block) => return Some(block),
            Err(loan) => loan,
        };
        self.keeps_payloads.store(true, Ordering::Relaxed);
        if stored && let Ok(copy) = loan.copy() {
            let _ = self.client.put(path, copy).await;
        }
        // Another block with the same bytes will do, if the tape has a checksum to see that by.
        match loan.end(KEPT).await {
            Ok(block) => Some(block),
            Err(loan) => loan.replace().ok(),
        }
    }

    async fn read(self: Arc<Self>, key: SlabKey, block: Block, done: Done) {
        let Ok(permit) = self.permits.acquire().await else {
            return done(block, Err(closed()));
        };
        let moving = self.client.counters.moving();
        let (block, outcome) = self.client.fill(&self.names.slab(key), block).await;
        drop((moving, permit));
        let Some(block) = block else { return };
        if outcome.result.is_ok() {
            add(&self.client.counters.objects_read, 1);
            add(&self.client.counters.bytes_read, block.len() as u64);
        }
        let url = &self.client.place.url;
        let result =
            outcome.result.map_err(|failure| failure.into_tier_error(key, url, outcome.attempts));
        // The tape computes a checksum, and perhaps decompresses: not on the thread that all requests need.
        tokio::task::spawn_blocking(move || done(block, result));
    }

    /// Has an object deleted in the background. Returns whether someone must be set to work.
    fn doom(&self, path: Path) -> bool {
        let mut doomed = lock(&self.doomed);
        doomed.objects.push(path);
        !std::mem::replace(&mut doomed.attended, true)
    }

    /// Deletes what is doomed until nothing is.
    async fn delete_doomed(self: Arc<Self>) {
        loop {
            let objects = {
                let mut doomed = lock(&self.doomed);
                let objects = std::mem::take(&mut doomed.objects);
                doomed.attended = !objects.is_empty();
                objects
            };
            if objects.is_empty() {
                return;
            }
            let wanted = objects.len();
            let left = self.client.delete(objects).await.len();
            add(&self.client.counters.objects_deleted, (wanted - left) as u64);
            add(&self.client.counters.undeleted, left as u64);
        }
    }

    /// Deletes all objects of this owner, whatever became of earlier attempts; the heartbeat last. Returns how many are left.
    async fn delete_all(&self) -> Result<u64, RemoteError> {
        // What is under way would store more.
        let all = self.client.options.in_flight.min(Semaphore::MAX_PERMITS);
        let all = u32::try_from(all).unwrap_or(u32::MAX);
        let _none_moves = self.permits.acquire_many(all).await;
        self.permits.close();
        self.quiet.notify_one();
        lock(&self.doomed).objects.clear();
        let url = &self.client.place.url;
        let found = self.client.list(&self.names.directory).await.result;
        let found = found.map_err(|error| error.into_remote_error(url, "listing what is left"))?;
        let slabs: Vec<Path> = found
            .into_iter()
            .map(|object| object.location)
            .filter(|object| self.names.kind(object) == Some(owner::Kind::Slab))
            .collect();
        let wanted = slabs.len() as u64;
        let left = self.client.delete(slabs).await.len() as u64;
        add(&self.client.counters.objects_deleted, wanted - left);
        if left > 0 {
            return Ok(left);
        }
        let _quiet = self.beating.lock().await;
        lock(&self.stored).slabs.clear();
        lock(&self.stored).bytes = 0;
        Ok(self.client.delete(vec![self.names.heartbeat()]).await.len() as u64)
    }
}

/// How a slab's bytes reach the client.
enum Sent {
    Lent(Block),
    Copied(Block, Bytes),
}

impl Tier for RemoteTier {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        if let Some(error) = self.refusal() {
            return done(block, Err(error));
        }
        let sent = if self.shared.keeps_payloads.load(Ordering::Relaxed) {
            match loan::copy(&block) {
                Ok(bytes) => Sent::Copied(block, bytes),
                Err(error) => return done(block, Err(error)),
            }
        } else {
            Sent::Lent(block)
        };
        self.engine.handle.spawn(Arc::clone(&self.shared).write(key, sent, done));
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        if let Some(error) = self.refusal() {
            return done(block, Err(error));
        }
        self.engine.handle.spawn(Arc::clone(&self.shared).read(key, block, done));
    }

    fn forget(&self, key: SlabKey) {
        if self.refusal().is_some() {
            return;
        }
        {
            let mut stored = lock(&self.shared.stored);
            let bytes = stored.slabs.remove(&key).unwrap_or(0);
            stored.bytes -= bytes;
        }
        if self.shared.doom(self.shared.names.slab(key)) {
            self.engine.handle.spawn(Arc::clone(&self.shared).delete_doomed());
        }
    }

    fn stored_bytes(&self) -> u64 {
        lock(&self.shared.stored).bytes
    }

    fn describe(&self) -> String {
        let Client { place, counters, .. } = &self.shared.client;
        format!(
            "object store {} ({} requests, {} retries, {} in flight)",
            place.url,
            read(&counters.requests),
            read(&counters.retries),
            read(&counters.in_flight)
        )
    }
}

impl Drop for RemoteTier {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::warn!(%error, "objects are left behind");
        }
    }
}

impl fmt::Debug for RemoteTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteTier").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
