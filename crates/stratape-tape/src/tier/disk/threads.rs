//! The engine that works everywhere: a few threads, each moving one block at a time. They start with
//! the jobs.

use std::io;
use std::sync::Mutex;
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::engine::{Engine, Job};
use super::file::{DiskFault, Way};
use crate::sync::lock;

/// More threads than this do not help any disk we know.
const MOST_THREADS: usize = 8;

pub(super) struct Threads {
    most: usize,
    started: Mutex<usize>,
    jobs: Sender<Job>,
    queue: Receiver<Job>,
}

impl Threads {
    pub(super) fn new(in_flight: usize) -> Self {
        let (jobs, queue) = unbounded();
        let most = in_flight.clamp(1, MOST_THREADS);
        Self { most, started: Mutex::new(0), jobs, queue }
    }

    /// Starts a thread unless there are enough. Whether there is one at all.
    fn start(&self) -> bool {
        let mut started = lock(&self.started);
        if *started < self.most {
            let queue = self.queue.clone();
            let work = move || queue.into_iter().for_each(run);
            let thread = thread::Builder::new().name(format!("tape-io-{started}"));
            *started += usize::from(thread.spawn(work).is_ok());
        }
        *started > 0
    }
}

impl Engine for Threads {
    fn submit(&self, job: Job) {
        // Without threads the work is done here: slower, never wrong.
        if !self.start() {
            return run(job);
        }
        if let Err(unsent) = self.jobs.send(job) {
            run(unsent.into_inner());
        }
    }

    fn name(&self) -> &'static str {
        "threads"
    }
}

fn run(mut job: Job) {
    while !job.is_complete() {
        match step(&mut job) {
            Ok(bytes) => {
                if let Err(error) = job.advance(bytes) {
                    return job.finish(Err(error));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The file system changed its mind about direct I/O; it need not stop us.
            Err(error)
                if error.kind() == io::ErrorKind::InvalidInput && job.retry_through_cache() => {}
            Err(error) => return job.finish(Err(error.into())),
        }
    }
    job.finish(Ok(()));
}

fn step(job: &mut Job) -> io::Result<usize> {
    let (from, mut to) = (job.moved, job.block.len());
    match job.file.fault(job.way, to - from) {
        None => {}
        Some(DiskFault::Fail(kind)) => return Err(kind.into()),
        Some(DiskFault::Interrupt) => return Err(io::ErrorKind::Interrupted.into()),
        Some(DiskFault::Short(len)) => to = job.shortened(len),
    }
    let offset = job.offset + from as u64;
    match job.way {
        Way::Out => job.file.transfer_out(&job.block.bytes()[from..to], offset),
        Way::In => job.file.transfer_in(&mut job.block.bytes_mut()[from..to], offset),
    }
}
