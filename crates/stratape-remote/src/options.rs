//! [`RemoteOptions`]: how many requests at once, how often they are tried, how long anything is waited for.

use std::time::Duration;

use crate::error::RemoteError;

/// Settings of a [`RemoteTier`](crate::RemoteTier) or a [`RemoteStore`](crate::RemoteStore). The defaults suit a store in the same region.
///
/// ```
/// use std::time::Duration;
/// use stratape_remote::{RemoteOptions, RemoteTier};
///
/// let options = RemoteOptions::new().in_flight(64).attempts(8).request_timeout(Duration::from_secs(20));
/// let tier = RemoteTier::open_with("memory:///far", options)?;
/// tier.close()?;
/// # Ok::<(), stratape_remote::RemoteError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    pub(crate) in_flight: usize,
    pub(crate) attempts: u32,
    pub(crate) first_pause: Duration,
    pub(crate) longest_pause: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) heartbeat: Duration,
    pub(crate) closing: Duration,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl RemoteOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            in_flight: 32,
            attempts: 5,
            first_pause: Duration::from_millis(50),
            longest_pause: Duration::from_secs(5),
            request_timeout: Duration::from_secs(20),
            heartbeat: Duration::from_secs(60),
            closing: Duration::from_secs(30),
        }
    }

    /// Slabs that are written and read at once. Default 32.
    ///
    /// A tape has at most [`TapeOptions::in_flight`](stratape_tape::TapeOptions::in_flight) of each under way (16 unless told otherwise): raise both for
    /// a store with a high latency.
    #[must_use]
    pub fn in_flight(mut self, slabs: usize) -> Self {
        self.in_flight = slabs;
        self
    }

    /// How often a request is tried before its failure is reported. Default 5.
    ///
    /// Failures that another attempt does not change (a missing object, refused credentials, a full device) are reported at once.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// The pause before the second attempt, and the longest there is. Default 50 ms and 5 s.
    ///
    /// The pause doubles with every attempt; the time waited is drawn at random between half of it and all of it.
    #[must_use]
    pub fn pauses(mut self, first: Duration, longest: Duration) -> Self {
        self.first_pause = first;
        self.longest_pause = longest;
        self
    }

    /// How long an answer, and each part of one, is waited for. Default 20 s. The clients of the clouds give up after 30 s themselves.
    ///
    /// A tape whose store answers nothing at all waits for [`TapeOptions::patience`](stratape_tape::TapeOptions::patience), two minutes unless told otherwise.
    /// Keep the time for all attempts below that.
    #[must_use]
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.request_timeout = limit;
        self
    }

    /// How often the heartbeat is written that tells a live owner from a dead one. Default one minute.
    #[must_use]
    pub fn heartbeat(mut self, every: Duration) -> Self {
        self.heartbeat = every;
        self
    }

    /// How long [`close`](crate::RemoteTier::close), and dropping the tier, waits until all objects are deleted. Default 30 s.
    #[must_use]
    pub fn closing(mut self, limit: Duration) -> Self {
        self.closing = limit;
        self
    }

    pub(crate) fn check(&self) -> Result<(), RemoteError> {
        let refused = |what: &str| Err(RemoteError::Options(what.to_owned()));
        if self.in_flight == 0 {
            return refused("zero slabs in flight; at least one must be able to move");
        }
        if self.attempts == 0 {
            return refused("zero attempts; a request must be tried once");
        }
        if self.heartbeat.is_zero() {
            return refused("a heartbeat at every moment; give the time between two");
        }
        Ok(())
    }
}
