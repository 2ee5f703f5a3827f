//! [`RemoteStats`]: what has been asked of a store.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a [`RemoteTier`](crate::RemoteTier) has asked of its store. `Display` prints it as a table.
///
/// ```
/// use stratape_remote::RemoteTier;
///
/// let tier = RemoteTier::open("memory:///counted")?;
/// assert_eq!(tier.stats().retries, 0);
/// println!("{}", tier.stats());
/// # tier.close()?;
/// # Ok::<(), stratape_remote::RemoteError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteStats {
    /// Which store: its URL without credentials, and what the client calls it.
    pub store: String,
    /// The directory of this owner's objects.
    pub token: String,
    /// Requests made, every attempt counted, those for heartbeats and lists included.
    pub requests: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Requests that failed for good.
    pub failures: u64,
    /// Objects written.
    pub objects_written: u64,
    /// Their bytes.
    pub bytes_written: u64,
    /// Objects read.
    pub objects_read: u64,
    /// Their bytes.
    pub bytes_read: u64,
    /// Objects deleted.
    pub objects_deleted: u64,
    /// Objects that could not be deleted; [`close`](crate::RemoteTier::close) tries again.
    pub undeleted: u64,
    /// Slabs on their way now.
    pub in_flight: u64,
    /// The most there ever were.
    pub in_flight_peak: u64,
    /// Bytes stored now.
    pub stored_bytes: u64,
    /// Heartbeats that could not be written.
    pub missed_heartbeats: u64,
}

impl fmt::Display for RemoteStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "{name:<14} {value}");
        row("store", self.store.clone())?;
        row("owner", self.token.clone())?;
        row(
            "requests",
            format!("{}, {} retries, {} failed", self.requests, self.retries, self.failures),
        )?;
        row("written", format!("{} objects, {} bytes", self.objects_written, self.bytes_written))?;
        row("read", format!("{} objects, {} bytes", self.objects_read, self.bytes_read))?;
        row("deleted", format!("{} objects, {} left", self.objects_deleted, self.undeleted))?;
        row("in flight", format!("{}, peak {}", self.in_flight, self.in_flight_peak))?;
        row("stored", format!("{} bytes", self.stored_bytes))?;
        row("heartbeats", format!("{} missed", self.missed_heartbeats))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) requests: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) objects_written: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
    pub(crate) objects_read: AtomicU64,
    pub(crate) bytes_read: AtomicU64,
    pub(crate) objects_deleted: AtomicU64,
    pub(crate) undeleted: AtomicU64,
    pub(crate) in_flight: AtomicU64,
    pub(crate) in_flight_peak: AtomicU64,
    pub(crate) missed_heartbeats: AtomicU64,
}

pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

pub(crate) fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Counters {
    /// Counts something as in flight until the guard is dropped.
    pub(crate) fn moving(&self) -> Moving<'_> {
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.in_flight_peak.fetch_max(now, Ordering::Relaxed);
        Moving(self)
    }

    pub(crate) fn snapshot(&self, store: String, token: String, stored_bytes: u64) -> RemoteStats {
        RemoteStats {
            store,
            token,
            requests: read(&self.requests),
            retries: read(&self.retries),
            failures: read(&self.failures),
            objects_written: read(&self.objects_written),
            bytes_written: read(&self.bytes_written),
            objects_read: read(&self.objects_read),
            bytes_read: read(&self.bytes_read),
            objects_deleted: read(&self.objects_deleted),
            undeleted: read(&self.undeleted),
            in_flight: read(&self.in_flight),
            in_flight_peak: read(&self.in_flight_peak),
            stored_bytes,
            missed_heartbeats: read(&self.missed_heartbeats),
        }
    }
}

pub(crate) struct Moving<'a>(&'a Counters);

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
