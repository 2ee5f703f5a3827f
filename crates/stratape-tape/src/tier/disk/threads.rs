//! The engine that works everywhere: a few threads, each moving one block at a time. They start with
//! the first job.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;

use crossbeam_channel::{SendError, Sender, unbounded};

use super::engine::{Engine, Job};
use super::file::{DiskFault, DiskFile, Way};

/// More threads than this do not help any disk we know.
const MOST_THREADS: usize = 8;

pub(super) struct Threads {
    file: Arc<DiskFile>,
    count: usize,
    /// Set with the first job; empty inside if no thread could be started.
    jobs: OnceLock<Option<Sender<Job>>>,
}

impl Threads {
    pub(super) fn new(file: &Arc<DiskFile>, in_flight: usize) -> Self {
        let count = in_flight.clamp(1, MOST_THREADS);
        Self { file: Arc::clone(file), count, jobs: OnceLock::new() }
    }

    fn start(&self) -> Option<Sender<Job>> {
        let (jobs, queue) = unbounded::<Job>();
        let mut started = 0;
        for number in 0..self.count {
            let (file, queue) = (Arc::clone(&self.file), queue.clone());
            let work = move || {
                for job in queue {
                    run(&file, job);
                }
            };
            let thread = thread::Builder::new().name(format!("tape-io-{number}"));
            started += usize::from(thread.spawn(work).is_ok());
        }
        (started > 0).then_some(jobs)
    }
}

impl Engine for Threads {
    fn submit(&self, job: Job) {
        let unsent = match self.jobs.get_or_init(|| self.start()) {
            Some(jobs) => jobs.send(job).err().map(SendError::into_inner),
            None => Some(job),
        };
        // Without threads the work is done here: slower, never wrong.
        if let Some(job) = unsent {
            run(&self.file, job);
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
