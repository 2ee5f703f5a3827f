//! The background thread: a runtime of its own, on which all requests of one tier run.
//!
//! It ends when it is told to, never by being dropped, so that the last handle to a tier may be dropped anywhere, by a callback on this
//! very thread as well.

use std::io;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::Notify;

use crate::error::RemoteError;

#[derive(Clone)]
pub(crate) struct Engine {
    pub(crate) handle: Handle,
    thread: ThreadId,
    stop: Arc<Notify>,
    /// Children of `fork` have no such thread.
    process: u32,
}

impl Engine {
    /// Starts the thread; up to `blocking` more run what cannot be done without waiting, such as calls to a file system.
    pub(crate) fn start(blocking: usize) -> Result<Self, RemoteError> {
        let (report, started) = mpsc::channel();
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let run = move || {
            let runtime = Builder::new_current_thread()
                .enable_all()
                .thread_name("tape-remote-io")
                .max_blocking_threads(blocking)
                .thread_keep_alive(Duration::from_secs(2))
                .build();
            match runtime {
                Err(error) => drop(report.send(Err(error))),
                Ok(runtime) => {
                    drop(report.send(Ok((runtime.handle().clone(), thread::current().id()))));
                    runtime.block_on(stopped.notified());
                    // Callbacks of the tape that still run are not waited for.
                    runtime.shutdown_background();
                }
            }
        };
        let thread = thread::Builder::new().name("tape-remote".to_owned());
        thread.spawn(run).map_err(RemoteError::Thread)?;
        let gone = || io::Error::other("it ended before it began");
        let started = started.recv().map_err(|_| RemoteError::Thread(gone()))?;
        let (handle, thread) = started.map_err(RemoteError::Thread)?;
        Ok(Self { handle, thread, stop, process: std::process::id() })
    }

    /// Whether the thread is in this process.
    pub(crate) fn is_here(&self) -> bool {
        self.process == std::process::id()
    }

    /// Whether waiting for the thread would be waiting for oneself.
    pub(crate) fn is_current(&self) -> bool {
        thread::current().id() == self.thread
    }

    /// Ends the thread. What is under way is dropped.
    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Runs a future there and waits for it; `None` after `limit`, and where there is nobody to run it.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        if !self.is_here() || self.is_current() {
            return None;
        }
        let (report, result) = mpsc::channel();
        self.handle.spawn(async move {
            let _ = report.send(future.await);
        });
        result.recv_timeout(limit).ok()
    }
}
