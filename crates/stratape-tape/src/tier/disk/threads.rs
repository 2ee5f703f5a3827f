//! The engine that works everywhere: a few threads, each moving one block at a time.

use std::io;
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Sender, unbounded};

use super::super::TierError;
use super::engine::{Engine, Job};
use super::file::{DiskFault, DiskFile, Way};

/// More threads than this do not help any disk we know.
const MOST_THREADS: usize = 8;

pub(super) struct Threads {
    jobs: Sender<Job>,
}

impl Threads {
    pub(super) fn start(file: &Arc<DiskFile>, in_flight: usize) -> io::Result<Self> {
        let (jobs, queue) = unbounded::<Job>();
        for number in 0..in_flight.clamp(1, MOST_THREADS) {
            let (file, queue) = (Arc::clone(file), queue.clone());
            let work = move || {
                for job in queue {
                    run(&file, job);
                }
            };
            let started = thread::Builder::new().name(format!("tape-io-{number}")).spawn(work);
            if let Err(error) = started
                && number == 0
            {
                return Err(error);
            }
        }
        Ok(Self { jobs })
    }
}

impl Engine for Threads {
    fn submit(&self, job: Job) {
        if let Err(refused) = self.jobs.send(job) {
            let gone = io::Error::other("the I/O threads are gone");
            refused.into_inner().finish(Err(TierError::Io(gone)));
        }
    }

    fn name(&self) -> &'static str {
        "threads"
    }
}

fn run(file: &DiskFile, mut job: Job) {
    while !job.is_complete() {
        match step(file, &mut job) {
            Ok(bytes) => {
                if let Err(error) = job.advance(bytes) {
                    return job.finish(Err(error));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The file system changed its mind about direct I/O; it need not stop us.
            Err(error)
                if error.kind() == io::ErrorKind::InvalidInput && job.retry_through_cache(file) => {
            }
            Err(error) => return job.finish(Err(error.into())),
        }
    }
    job.finish(Ok(()));
}

fn step(file: &DiskFile, job: &mut Job) -> io::Result<usize> {
    let (from, mut to) = (job.moved, job.block.len());
    match file.fault(job.way, to - from) {
        None => {}
        Some(DiskFault::Fail(kind)) => return Err(kind.into()),
        Some(DiskFault::Interrupt) => return Err(io::ErrorKind::Interrupted.into()),
        Some(DiskFault::Short(len)) => to = job.shortened(len),
    }
    let offset = job.offset + from as u64;
    match job.way {
        Way::Out => file.transfer_out(&job.block.bytes()[from..to], offset),
        Way::In => file.transfer_in(&mut job.block.bytes_mut()[from..to], offset),
    }
}
