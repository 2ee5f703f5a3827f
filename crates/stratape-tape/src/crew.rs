//! The background threads of tapes, shared by all tapes of a process that spill to one device.
//!
//! A [`Crew`] is called to a [`Member`] that has work, and lets it do a part of that; members take turns. A
//! tape on a tier of the user's own has a crew of its own: what such a tier does, waiting for ever
//! included, is for its own tape to bear.

use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use crate::events;
use crate::registry::Registry;
use crate::sync::lock;

/// With nothing to do for this long, there is time to clean up.
const QUIET: Duration = Duration::from_millis(5);
/// Encoding is faster than any disk, so a few threads keep up with all of them.
const MOST_SHARED: usize = 4;

static CREWS: Registry<Crew> = Registry::new();

/// Someone with work for a background thread.
pub(crate) trait Member: Send + Sync {
    /// Does a part of the work, and calls the crew again for the rest. Returns whether there is
    /// something to clean up in a quiet moment.
    fn work(self: Arc<Self>) -> bool;

    /// Cleans something up. Returns whether there is more.
    fn clean(&self) -> bool;
}

/// Threads that work for their members. They start with the work and end with the crew.
pub(crate) struct Crew {
    most: usize,
    started: Mutex<usize>,
    calls: Sender<Arc<dyn Member>>,
    queue: Receiver<Arc<dyn Member>>,
}

impl Crew {
    /// The crew for all tapes that spill to a device.
    pub(crate) fn of_device(device: u64) -> Arc<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let Ok(crew) = CREWS
            .get(device, || Ok::<_, std::convert::Infallible>(Self::new(cores.min(MOST_SHARED))));
        crew
    }

    /// A crew for one member alone.
    pub(crate) fn private() -> Arc<Self> {
        Arc::new(Self::new(1))
    }

    fn new(most: usize) -> Self {
        let (calls, queue) = unbounded();
        Self { most, started: Mutex::new(0), calls, queue }
    }

    /// Has a thread work for the member. Without threads the work is done here: slower, never wrong.
    pub(crate) fn call(&self, member: Arc<dyn Member>) {
        if !self.start() {
            member.work();
        } else if let Err(unsent) = self.calls.send(member) {
            unsent.into_inner().work();
        }
    }

    /// Starts a thread if calls are waiting and there are not enough. Whether there is one at all.
    fn start(&self) -> bool {
        let mut started = lock(&self.started);
        if *started == 0 || (*started < self.most && !self.queue.is_empty()) {
            let queue = self.queue.clone();
            let thread = thread::Builder::new().name("tape-depot".to_owned());
            match thread.spawn(move || serve(&queue)) {
                Ok(_) => *started += 1,
                Err(error) => {
                    events::warn!(%error, "no background thread for the tape; spilling will overlap less");
                }
            }
        }
        *started > 0
    }
}

/// A thread of a crew.
fn serve(queue: &Receiver<Arc<dyn Member>>) {
    let mut untidy: Vec<Weak<dyn Member>> = Vec::new();
    loop {
        let called = if untidy.is_empty() {
            queue.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            queue.recv_timeout(QUIET)
        };
        match called {
            Ok(member) => {
                let known = Arc::downgrade(&member);
                if member.work() && !untidy.iter().any(|other| other.ptr_eq(&known)) {
                    untidy.push(known);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                untidy.retain(|member| member.upgrade().is_some_and(|member| member.clean()));
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
