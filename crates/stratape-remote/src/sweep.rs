//! [`Sweep`]: what owners that are gone have left in a store.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use object_store::ObjectStore;
use object_store::path::Path;

use crate::client::Client;
use crate::engine::Engine;
use crate::error::RemoteError;
use crate::options::RemoteOptions;
use crate::owner::{self, Kind, Names};
use crate::place::Place;

/// Age of a heartbeat from which its owner is taken for dead, unless something else is asked for.
pub const DEFAULT_OLDER_THAN: Duration = Duration::from_secs(24 * 60 * 60);

/// So many heartbeats in a row an owner may miss, whatever age is asked for.
const MISSED: u32 = 4;
/// Stores tell times in seconds, and clocks differ a little.
const BLUR: Duration = Duration::from_secs(2);
/// How often a heartbeat is taken to be written that does not say so.
const ASSUMED: Duration = Duration::from_secs(60);

/// Finds and removes objects whose owners were killed before they could delete them.
///
/// `stratape tape sweep URL` does the same on the command line.
///
/// ```
/// use stratape_remote::{DEFAULT_OLDER_THAN, RemoteTier, Sweep};
///
/// let owner = RemoteTier::open("memory:///shared")?; // alive
/// let sweep = Sweep::open("memory:///shared")?;
/// for leftover in sweep.leftovers()? {
///     println!("{leftover}");
///     if leftover.is_dead(DEFAULT_OLDER_THAN) {
///         sweep.remove(&leftover, DEFAULT_OLDER_THAN)?;
///     }
/// }
/// # assert_eq!(sweep.leftovers()?.len(), 1);
/// # owner.close()?;
/// # Ok::<(), stratape_remote::RemoteError>(())
/// ```
pub struct Sweep {
    client: Client,
    engine: Engine,
    longest: Duration,
}

/// The objects of one owner, alive or not.
///
/// ```
/// use std::time::Duration;
/// # use stratape_remote::{RemoteTier, Sweep};
/// # let owner = RemoteTier::open("memory:///owned")?;
/// # let sweep = Sweep::open("memory:///owned")?;
/// let found = sweep.leftovers()?;
/// assert_eq!((found[0].objects, found[0].token.as_str()), (1, owner.token()));
/// assert!(!found[0].is_dead(Duration::ZERO)); // it was written just now
/// # owner.close()?;
/// # Ok::<(), stratape_remote::RemoteError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// The owner.
    pub token: String,
    /// Its objects, the heartbeat included.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects below its prefix that it has not written; they are never removed.
    pub foreign: u64,
    /// Time since the heartbeat was written; without one, since the last object was.
    pub age: Duration,
    /// How often the heartbeat is written while the owner is alive; `None` if there is no heartbeat.
    pub every: Option<Duration>,
}

/// What has been removed.
///
/// ```
/// use stratape_remote::Removed;
///
/// let mut sum = Removed::default();
/// sum += Removed { objects: 3, bytes: 100 };
/// assert_eq!((sum.objects, sum.bytes), (3, 100));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl std::ops::AddAssign for Removed {
    fn add_assign(&mut self, other: Self) {
        self.objects += other.objects;
        self.bytes += other.bytes;
    }
}

impl Leftover {
    /// Whether the owner is taken for dead: its heartbeat is `older_than` old, and at least four times as old as it should ever become.
    pub fn is_dead(&self, older_than: Duration) -> bool {
        let late = self.every.unwrap_or(ASSUMED).saturating_mul(MISSED).saturating_add(BLUR);
        self.age >= older_than.max(late)
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { token, objects, bytes, age, every, .. } = self;
        let what = if every.is_some() { "heartbeat" } else { "no heartbeat, last object" };
        write!(f, "{token}: {objects} objects, {bytes} bytes, {what} {} s ago", age.as_secs())
    }
}

/// The objects of one owner.
struct Found {
    leftover: Leftover,
    /// The heartbeat is the last.
    objects: Vec<(Path, u64)>,
}

impl Sweep {
    /// Opens a store by its URL, as [`RemoteTier::open`](crate::RemoteTier::open) does. Nothing is written to it.
    ///
    /// # Errors
    /// A URL that names no store, or one whose client is not compiled in.
    pub fn open(url: &str) -> Result<Self, RemoteError> {
        Self::start(Place::open(url)?, RemoteOptions::new())
    }

    /// Uses a client that you have made, with objects below `prefix`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use object_store::memory::InMemory;
    /// use stratape_remote::{RemoteOptions, Sweep};
    ///
    /// let sweep = Sweep::on(Arc::new(InMemory::new()), "tapes", RemoteOptions::new())?;
    /// assert!(sweep.leftovers()?.is_empty());
    /// # Ok::<(), stratape_remote::RemoteError>(())
    /// ```
    ///
    /// # Errors
    /// Settings that cannot work.
    pub fn on(
        store: Arc<dyn ObjectStore>,
        prefix: &str,
        options: RemoteOptions,
    ) -> Result<Self, RemoteError> {
        Self::start(Place::of(store, prefix), options)
    }

    fn start(place: Place, options: RemoteOptions) -> Result<Self, RemoteError> {
        options.check()?;
        let engine = Engine::start(options.in_flight)?;
        // Long lists take their time; each part of one has a limit.
        let longest = Duration::from_secs(60 * 60);
        Ok(Self { client: Client::new(place, options), engine, longest })
    }

    /// All owners that have objects below the prefix, those that are alive as well; the one that was heard of last comes last.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn leftovers(&self) -> Result<Vec<Leftover>, RemoteError> {
        let client = self.client.clone();
        let found = self.run("listing it", async move {
            let mut found = Vec::new();
            let failed = |failure: crate::error::Failure| {
                failure.into_remote_error(&client.place.url, "listing it")
            };
            for directory in client.directories().await.result.map_err(failed)? {
                if let Some(token) = owner::token_of(&directory)
                    && let Some(owner) = look(&client, &token).await?
                {
                    found.push(owner.leftover);
                }
            }
            found.sort_by_key(|owner: &Leftover| std::cmp::Reverse(owner.age));
            Ok(found)
        });
        found?
    }

    /// Removes the objects of an owner, if it is still taken for dead when this looks again.
    ///
    /// # Errors
    /// [`RemoteError::Alive`] if it is not; when the store refuses, or objects are left.
    pub fn remove(
        &self,
        leftover: &Leftover,
        older_than: Duration,
    ) -> Result<Removed, RemoteError> {
        let (client, token) = (self.client.clone(), leftover.token.clone());
        let removed = self.run("removing objects", async move {
            let Some(Found { leftover, mut objects }) = look(&client, &token).await? else {
                return Ok(Removed::default());
            };
            if !leftover.is_dead(older_than) {
                return Err(RemoteError::Alive { token, age: leftover.age });
            }
            // While anything is left there is a heartbeat that tells how old it is.
            let heartbeat = if leftover.every.is_some() { objects.pop() } else { None };
            let mut removed = Removed::default();
            for batch in [objects, heartbeat.into_iter().collect()] {
                let paths = batch.iter().map(|(path, _)| path.clone()).collect();
                let left = client.delete(paths).await;
                if !left.is_empty() {
                    let (url, objects) = (client.place.url.to_string(), left.len() as u64);
                    return Err(RemoteError::Left { url, objects });
                }
                let bytes = batch.iter().map(|(_, bytes)| bytes).sum();
                removed += Removed { objects: batch.len() as u64, bytes };
            }
            Ok(removed)
        });
        removed?
    }

    fn run<T: Send + 'static>(
        &self,
        what: &'static str,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, RemoteError> {
        let url = || self.client.place.url.to_string();
        self.engine.run(self.longest, future).ok_or_else(|| RemoteError::Silent {
            url: url(),
            what,
            waited: self.longest,
        })
    }
}

/// Looks at what an owner has. `None` if that is nothing.
async fn look(client: &Client, token: &str) -> Result<Option<Found>, RemoteError> {
    let names = Names::new(&client.place.base, token);
    let failed =
        |failure: crate::error::Failure| failure.into_remote_error(&client.place.url, "listing it");
    let listed = client.list(&names.directory).await.result.map_err(failed)?;
    let (mut objects, mut foreign, mut last) = (Vec::new(), 0, None);
    for object in listed {
        match names.kind(&object.location) {
            Some(Kind::Slab) => {
                last = last.max(Some(object.last_modified));
                objects.push((object.location, object.size));
            }
            Some(Kind::Heartbeat) => {}
            None => foreign += 1,
        }
    }
    let heartbeat = client.get_small(&names.heartbeat()).await.result;
    let (written, every) = match heartbeat {
        Ok((meta, text)) => {
            objects.push((meta.location, meta.size));
            (Some(meta.last_modified), Some(owner::read_heartbeat(&text).unwrap_or(ASSUMED)))
        }
        Err(failure) if failure.is_not_found() => (last, None),
        Err(failure) => return Err(failed(failure)),
    };
    let Some(written) = written else { return Ok(None) };
    // A clock that is ahead of ours makes objects young, and saves them.
    let age = SystemTime::now().duration_since(written.into()).unwrap_or_default();
    let bytes = objects.iter().map(|(_, bytes)| bytes).sum();
    let leftover = Leftover {
        token: token.to_owned(),
        objects: objects.len() as u64,
        bytes,
        foreign,
        age,
        every,
    };
    Ok(Some(Found { leftover, objects }))
}

impl Drop for Sweep {
    fn drop(&mut self) {
        self.engine.stop();
    }
}

impl fmt::Debug for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweep").field("store", &self.client.place.url).finish_non_exhaustive()
    }
}
