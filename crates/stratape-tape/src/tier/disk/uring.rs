//! The engine on `io_uring`: many blocks in flight from one submitting thread, and one thread
//! that reaps what the kernel has finished.
//!
//! A job's block lives in the table of jobs in flight until its completion has been seen, so the
//! kernel never holds a pointer to memory that someone else could get.
//!
//! A sandbox may allow the ring to be made and refuse to enter the kernel with it, at once or from some
//! moment on. The first is found out by a no-op when the ring is made; after the second all jobs go to
//! threads. For that, entries are handed to the kernel under the lock alone, one at a time: when it
//! takes none, the one in the queue is the job in hand.

use std::collections::{HashMap, VecDeque};
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use super::engine::{Engine, Job};
use super::file::{DiskFault, Way};
use super::threads::Threads;
use crate::error::TierError;
use crate::events;
use crate::sync::{Process, lock, shielded};

/// Completion with this number tells that the bell was rung: no more jobs will come.
const CLOSE: u64 = u64::MAX;
/// How long the kernel may be too busy to take an entry.
const MOST_BUSY: Duration = Duration::from_secs(1);
/// `POLLIN`: there is something to read.
const POLL_IN: u32 = 1;
/// `IORING_ENTER_GETEVENTS`: wait for completions.
const GET_EVENTS: u32 = 1;

pub(super) struct Uring {
    ring: Arc<Ring>,
    /// Whether the reaping thread runs; it starts with the first job.
    reaped: OnceLock<bool>,
    /// A ring is shared with the children of `fork`, which must not touch it.
    process: Process,
}

struct Ring {
    uring: IoUring,
    /// The submission queue is used under this lock only.
    flight: Mutex<Flight>,
    /// Set when the kernel refuses to be entered; no entry is handed to it from then on.
    refused: AtomicBool,
    instead: Threads,
    /// A byte in this pipe wakes the reaping thread.
    bell: (PipeReader, PipeWriter),
}

#[derive(Default)]
struct Flight {
    jobs: HashMap<u64, Job>,
    /// Jobs for which the ring had no place yet.
    waiting: VecDeque<Job>,
    next: u64,
    most: usize,
    /// No more jobs will come.
    closed: bool,
}

impl Uring {
    pub(super) fn new(in_flight: usize) -> io::Result<Self> {
        let entries = (in_flight + 1).next_power_of_two().clamp(8, 256) as u32;
        let mut uring = IoUring::new(entries)?;
        probe(&mut uring)?;
        let flight = Flight { most: entries as usize - 1, ..Flight::default() };
        let ring = Ring {
            uring,
            flight: Mutex::new(flight),
            refused: AtomicBool::new(false),
            instead: Threads::new(in_flight),
            bell: io::pipe()?,
        };
        Ok(Self { ring: Arc::new(ring), reaped: OnceLock::new(), process: Process::current() })
    }

    fn start_reaping(&self) -> bool {
        let reaper = Arc::clone(&self.ring);
        let thread = thread::Builder::new().name("tape-uring".to_owned());
        thread.spawn(move || reaper.reap()).is_ok()
    }
}

/// Whether the kernel can be entered with the ring: sends a no-op there and back.
fn probe(uring: &mut IoUring) -> io::Result<()> {
    let nop = opcode::Nop::new().build();
    // SAFETY: a no-op refers to no memory.
    let pushed = unsafe { uring.submission().push(&nop) };
    pushed.map_err(io::Error::other)?;
    loop {
        match uring.submit_and_wait(1) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other.map(drop)?,
        }
    }
    match uring.completion().next() {
        Some(entry) if entry.result() == 0 => Ok(()),
        _ => Err(io::Error::other("a no-op through io_uring came to nothing")),
    }
}

impl Engine for Uring {
    fn submit(&self, job: Job) {
        if *self.reaped.get_or_init(|| self.start_reaping()) {
            self.ring.launch(job);
        } else {
            self.ring.instead.submit(job);
        }
    }

    fn name(&self) -> &'static str {
        if self.ring.is_refused() { "threads, after io_uring was refused" } else { "io_uring" }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        if self.reaped.get() != Some(&true) || !self.process.is_current() {
            return;
        }
        self.ring.flight().closed = true;
        // Wakes the reaping thread also where the kernel can no longer be entered with the ring.
        let _ = (&self.ring.bell.1).write(&[0]);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // The reaping thread keeps the ring until the last job has ended. Should it be gone before,
        // the kernel may still use the memory of the rest: it is better leaked than given away.
        let jobs = std::mem::take(&mut self.flight().jobs);
        jobs.into_values().for_each(std::mem::forget);
    }
}

impl Ring {
    fn flight(&self) -> MutexGuard<'_, Flight> {
        lock(&self.flight)
    }

    fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Puts a job into the ring, or among those that wait, or ends it otherwise.
    fn launch(&self, job: Job) {
        let returned = {
            let mut flight = self.flight();
            if flight.jobs.len() >= flight.most && !self.is_refused() {
                flight.waiting.push_back(job);
                return;
            }
            self.put(&mut flight, job)
        };
        self.settle(returned);
    }

    /// What becomes of a job that is not in the kernel's hands. Without the lock: it calls back.
    fn settle(&self, returned: Option<Returned>) {
        match returned {
            None => {}
            Some(Returned::Ended(job, result)) => job.finish(result),
            Some(Returned::Refused(job)) => self.instead.submit(job),
        }
    }

    /// Hands the next part of a job to the kernel. Gives the job back if that fails.
    fn put(&self, flight: &mut Flight, mut job: Job) -> Option<Returned> {
        if self.is_refused() {
            return Some(Returned::Refused(job));
        }
        let (from, mut to) = (job.moved, job.block.len());
        loop {
            match job.file.fault(job.way, to - from) {
                None => break,
                Some(DiskFault::Interrupt) => {}
                Some(DiskFault::Fail(kind)) => {
                    return Some(Returned::Ended(job, Err(io::Error::from(kind).into())));
                }
                Some(DiskFault::Short(len)) => {
                    to = job.shortened(len);
                    break;
                }
            }
        }
        let fd = types::Fd(job.file.as_fd().as_raw_fd());
        let offset = job.offset + from as u64;
        let len = u32::try_from(to - from).unwrap_or(1 << 30);
        let number = flight.next;
        flight.next += 1;
        let entry = match job.way {
            Way::Out => opcode::Write::new(fd, job.block.bytes()[from..to].as_ptr(), len)
                .offset(offset)
                .build(),
            Way::In => opcode::Read::new(fd, job.block.bytes_mut()[from..to].as_mut_ptr(), len)
                .offset(offset)
                .build(),
        };
        flight.jobs.insert(number, job);
        // SAFETY: the lock is held, so nobody else pushes. The memory belongs to the job, which
        // stays in the table, unmoved on the heap, until the kernel reports this number; so does
        // the file.
        let pushed = unsafe { self.uring.submission_shared().push(&entry.user_data(number)) };
        let entered = match pushed {
            Ok(()) => self.enter_kernel(),
            Err(_) => Err(io::Error::other("the submission queue is full")),
        };
        let Err(error) = entered else { return None };
        self.refused.store(true, Ordering::Relaxed);
        events::warn!(%error, "io_uring is refused; going on with threads");
        // SAFETY: the lock is held. The kernel takes entries when it is entered under the lock, and
        // no other way, so an entry that is still there will never be looked at.
        let taken = unsafe { self.uring.submission_shared() }.is_empty() && pushed.is_ok();
        if taken {
            return None;
        }
        flight.jobs.remove(&number).map(Returned::Refused)
    }

    /// Has the kernel take what is in the queue. The lock must be held.
    fn enter_kernel(&self) -> io::Result<()> {
        let mut busy_since = None;
        loop {
            let error = match self.uring.submit() {
                // SAFETY: the lock is held, so nobody else uses the queue.
                Ok(_) if unsafe { self.uring.submission_shared() }.is_empty() => return Ok(()),
                // It took fewer than there are; it was short of memory for the rest.
                Ok(_) => Errno::AGAIN.into(),
                Err(error) => error,
            };
            match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::INTR) => {}
                Some(Errno::AGAIN | Errno::BUSY)
                    if busy_since.get_or_insert_with(Instant::now).elapsed() < MOST_BUSY =>
                {
                    thread::yield_now();
                }
                _ => return Err(error),
            }
        }
    }

    /// The reaping thread: ends jobs, or sends them on where they stopped short.
    fn reap(&self) {
        self.listen();
        loop {
            {
                let flight = self.flight();
                if flight.closed && flight.jobs.is_empty() {
                    return;
                }
            }
            // SAFETY: no argument is passed. No entry is handed over here, only completions are
            // waited for.
            let waited = unsafe { self.uring.submitter().enter::<()>(0, 1, GET_EVENTS, None) };
            if let Err(error) = waited
                && error.kind() != io::ErrorKind::Interrupted
            {
                // Completions arrive without us too; they are looked for instead of waited for.
                thread::sleep(Duration::from_millis(1));
            }
            // SAFETY: only this thread takes completions.
            let finished: Vec<(u64, i32)> = unsafe { self.uring.completion_shared() }
                .map(|entry| (entry.user_data(), entry.result()))
                .collect();
            for (number, result) in finished {
                // All jobs depend on this thread, and who listens to its events may panic.
                if number != CLOSE {
                    shielded("the end of a transfer", || self.complete(number, result));
                }
            }
        }
    }

    /// Has the bell complete something. Done by the reaping thread: what a thread has asked for ends
    /// when the thread does.
    fn listen(&self) {
        let _flight = self.flight();
        let fd = types::Fd(self.bell.0.as_raw_fd());
        let entry = opcode::PollAdd::new(fd, POLL_IN).build().user_data(CLOSE);
        // SAFETY: a poll refers to no memory of ours, and the lock is held.
        let pushed = unsafe { self.uring.submission_shared().push(&entry) };
        if pushed.is_err() || self.enter_kernel().is_err() {
            // Then waiting fails as well, and the thread looks for itself.
            self.refused.store(true, Ordering::Relaxed);
        }
    }

    fn complete(&self, number: u64, result: i32) {
        let mut returned = Vec::new();
        {
            let mut flight = self.flight();
            let Some(mut job) = flight.jobs.remove(&number) else {
                return;
            };
            match judge(&mut job, result) {
                Verdict::Finished(result) => returned.push(Returned::Ended(job, result)),
                Verdict::GoOn => returned.extend(self.put(&mut flight, job)),
            }
            while (flight.jobs.len() < flight.most || self.is_refused())
                && let Some(next) = flight.waiting.pop_front()
            {
                returned.extend(self.put(&mut flight, next));
            }
        }
        for job in returned {
            self.settle(Some(job));
        }
    }
}

fn judge(job: &mut Job, result: i32) -> Verdict {
    if let Ok(bytes) = usize::try_from(result) {
        return match job.advance(bytes) {
            Ok(()) if !job.is_complete() => Verdict::GoOn,
            result => Verdict::Finished(result),
        };
    }
    match Errno::from_raw_os_error(-result) {
        // The last one: the thread that submitted the job has ended, and its requests with it.
        Errno::INTR | Errno::AGAIN | Errno::CANCELED => Verdict::GoOn,
        Errno::INVAL if job.retry_through_cache() => Verdict::GoOn,
        error => Verdict::Finished(Err(io::Error::from(error).into())),
    }
}

enum Verdict {
    Finished(Result<(), TierError>),
    GoOn,
}

/// A job that the kernel does not have.
enum Returned {
    Ended(Job, Result<(), TierError>),
    /// To be done some other way.
    Refused(Job),
}
