//! The engine on `io_uring`: many blocks in flight from one submitting thread, and one thread
//! that reaps what the kernel has finished.
//!
//! A job's block lives in the table of jobs in flight until its completion has been seen, so the
//! kernel never holds a pointer to memory that someone else could get.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread;

use io_uring::{IoUring, opcode, types};

use super::super::TierError;
use super::engine::{Engine, Job};
use super::file::{DiskFault, DiskFile, Way};
use crate::sync::lock;

/// Completion with this number tells the reaping thread that no more jobs will come.
const CLOSE: u64 = u64::MAX;

pub(super) struct Uring {
    ring: Arc<Ring>,
    /// Whether the reaping thread runs; it starts with the first job.
    reaped: OnceLock<bool>,
}

struct Ring {
    uring: IoUring,
    file: Arc<DiskFile>,
    /// The submission queue is used under this lock only.
    flight: Mutex<Flight>,
}

#[derive(Default)]
struct Flight {
    jobs: HashMap<u64, Job>,
    /// Jobs for which the ring had no place yet.
    waiting: VecDeque<Job>,
    next: u64,
    most: usize,
}

impl Uring {
    pub(super) fn new(file: &Arc<DiskFile>, in_flight: usize) -> io::Result<Self> {
        let entries = (in_flight + 1).next_power_of_two().clamp(8, 256) as u32;
        let uring = IoUring::new(entries)?;
        let flight = Flight { most: entries as usize - 1, ..Flight::default() };
        let ring = Arc::new(Ring { uring, file: Arc::clone(file), flight: Mutex::new(flight) });
        Ok(Self { ring, reaped: OnceLock::new() })
    }

    fn start_reaping(&self) -> bool {
        let reaper = Arc::clone(&self.ring);
        let thread = thread::Builder::new().name("tape-uring".to_owned());
        thread.spawn(move || reaper.reap()).is_ok()
    }
}

impl Engine for Uring {
    fn submit(&self, job: Job) {
        if *self.reaped.get_or_init(|| self.start_reaping()) {
            self.ring.launch(job);
        } else {
            let error = io::Error::other("no thread could be started to follow the transfer");
            job.finish(Err(TierError::Io(error)));
        }
    }

    fn name(&self) -> &'static str {
        "io_uring"
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        if self.reaped.get() != Some(&true) {
            return;
        }
        let _flight = self.ring.flight();
        let nop = opcode::Nop::new().build().user_data(CLOSE);
        // SAFETY: a no-op refers to no memory, and the lock is held.
        let pushed = unsafe { self.ring.uring.submission_shared().push(&nop) };
        if pushed.is_ok() {
            let _ = self.ring.enter_kernel();
        }
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

    /// Puts a job into the ring, or among those that wait, or ends it with an error.
    fn launch(&self, job: Job) {
        let refused = {
            let mut flight = self.flight();
            if flight.jobs.len() >= flight.most {
                flight.waiting.push_back(job);
                return;
            }
            self.put(&mut flight, job)
        };
        if let Some((job, error)) = refused {
            job.finish(Err(error.into()));
        }
    }

    /// Hands the next part of a job to the kernel. Gives the job back if that fails.
    fn put(&self, flight: &mut Flight, mut job: Job) -> Option<(Job, io::Error)> {
        let (from, mut to) = (job.moved, job.block.len());
        loop {
            match self.file.fault(job.way, to - from) {
                None => break,
                Some(DiskFault::Interrupt) => {}
                Some(DiskFault::Fail(kind)) => return Some((job, kind.into())),
                Some(DiskFault::Short(len)) => {
                    to = job.shortened(len);
                    break;
                }
            }
        }
        let fd = types::Fd(self.file.as_fd().as_raw_fd());
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
        // stays in the table, unmoved on the heap, until the kernel reports this number.
        let pushed = unsafe { self.uring.submission_shared().push(&entry.user_data(number)) };
        let result = match pushed {
            Ok(()) => self.enter_kernel(),
            Err(_) => Err(io::Error::other("the submission queue is full")),
        };
        match result {
            Ok(()) => None,
            // A failure that left the entry in the queue will be taken up by the next call; only
            // an entry that was never pushed leaves the job to us.
            Err(_) if pushed.is_ok() => None,
            Err(error) => flight.jobs.remove(&number).map(|job| (job, error)),
        }
    }

    fn enter_kernel(&self) -> io::Result<()> {
        loop {
            match self.uring.submit() {
                Ok(_) => return Ok(()),
                Err(error) => {
                    match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
                        Some(rustix::io::Errno::INTR) => {}
                        Some(rustix::io::Errno::AGAIN | rustix::io::Errno::BUSY) => {
                            thread::yield_now();
                        }
                        _ => return Err(error),
                    }
                }
            }
        }
    }

    /// The reaping thread: ends jobs, or sends them on where they stopped short.
    fn reap(&self) {
        let mut closing = false;
        loop {
            if closing && self.flight().jobs.is_empty() {
                return;
            }
            if let Err(error) = self.uring.submit_and_wait(1)
                && error.kind() != io::ErrorKind::Interrupted
            {
                thread::yield_now();
            }
            // SAFETY: only this thread takes completions.
            let finished: Vec<(u64, i32)> = unsafe { self.uring.completion_shared() }
                .map(|entry| (entry.user_data(), entry.result()))
                .collect();
            for (number, result) in finished {
                if number == CLOSE {
                    closing = true;
                } else {
                    self.complete(number, result);
                }
            }
        }
    }

    fn complete(&self, number: u64, result: i32) {
        let mut ended = Vec::new();
        {
            let mut flight = self.flight();
            let Some(mut job) = flight.jobs.remove(&number) else {
                return;
            };
            match self.judge(&mut job, result) {
                Verdict::Finished(result) => ended.push((job, result)),
                Verdict::GoOn => {
                    let refused = self.put(&mut flight, job);
                    ended.extend(refused.map(|(job, error)| (job, Err(error.into()))));
                }
            }
            while flight.jobs.len() < flight.most
                && let Some(next) = flight.waiting.pop_front()
            {
                let refused = self.put(&mut flight, next);
                ended.extend(refused.map(|(job, error)| (job, Err(error.into()))));
            }
        }
        for (job, result) in ended {
            job.finish(result);
        }
    }

    fn judge(&self, job: &mut Job, result: i32) -> Verdict {
        if let Ok(bytes) = usize::try_from(result) {
            return match job.advance(bytes) {
                Ok(()) if !job.is_complete() => Verdict::GoOn,
                result => Verdict::Finished(result),
            };
        }
        let error = io::Error::from_raw_os_error(-result);
        match error.kind() {
            io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => Verdict::GoOn,
            io::ErrorKind::InvalidInput if job.retry_through_cache(&self.file) => Verdict::GoOn,
            _ => Verdict::Finished(Err(error.into())),
        }
    }
}

enum Verdict {
    Finished(Result<(), TierError>),
    GoOn,
}
