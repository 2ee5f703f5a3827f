//! A tier of named files, one a snapshot, each synced before its write is reported.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};
use stratape_tape::tier::{Block, Done, SlabKey, Tier, TierError};

use super::place::Names;

/// Threads that move blocks: one to write while another reads.
const MOVERS: usize = 2;

/// What a block's file is called, after the token.
pub(super) fn name(key: SlabKey) -> String {
    format!("snapshot-{}-{}", key.depth, key.serial)
}

pub(crate) struct FileTier {
    names: Names,
    jobs: Option<Sender<Job>>,
    movers: Vec<JoinHandle<()>>,
    /// Files that are not needed any more, but that the manifest may name still.
    forgotten: Mutex<Vec<SlabKey>>,
}

struct Job {
    names: Names,
    key: SlabKey,
    write: bool,
    block: Block,
    done: Done,
}

impl FileTier {
    pub(super) fn start(names: Names) -> io::Result<Self> {
        let (jobs, queue) = unbounded::<Job>();
        let mut movers = Vec::new();
        for _ in 0..MOVERS {
            let queue = queue.clone();
            let builder = thread::Builder::new().name("snapshot-files".to_owned());
            movers.push(builder.spawn(move || work(&queue))?);
        }
        Ok(Self { names, jobs: Some(jobs), movers, forgotten: Mutex::new(Vec::new()) })
    }

    /// Deletes what has been forgotten; to be called once no manifest names it.
    pub(crate) fn bury(&self) {
        for key in std::mem::take(&mut *self.forgotten()) {
            self.names.delete(&name(key));
        }
    }

    fn forgotten(&self) -> MutexGuard<'_, Vec<SlabKey>> {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, key: SlabKey, write: bool, block: Block, done: Done) {
        let job = Job { names: self.names.clone(), key, write, block, done };
        match &self.jobs {
            Some(jobs) => {
                if let Err(refused) = jobs.send(job) {
                    refused.into_inner().run();
                }
            }
            None => job.run(),
        }
    }
}

fn work(queue: &Receiver<Job>) {
    while let Ok(job) = queue.recv() {
        job.run();
    }
}

impl Job {
    fn run(self) {
        let Self { names, key, write, mut block, done } = self;
        let result = if write {
            names.write(&name(key), block.bytes()).map_err(TierError::from)
        } else {
            names.read_into(&name(key), block.bytes_mut())
        };
        done(block, result);
    }
}

impl Tier for FileTier {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        self.send(key, true, block, done);
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        self.send(key, false, block, done);
    }

    fn forget(&self, key: SlabKey) {
        self.forgotten().push(key);
    }

    fn stored_bytes(&self) -> u64 {
        self.names.list().unwrap_or_default().iter().map(|(_, len)| len).sum()
    }

    fn describe(&self) -> String {
        "named files (threads, synced)".to_owned()
    }
}

impl Drop for FileTier {
    fn drop(&mut self) {
        self.jobs = None;
        let here = thread::current().id();
        for mover in self.movers.drain(..) {
            // The last handle may be dropped by a mover itself, in a report.
            if mover.thread().id() != here {
                let _ = mover.join();
            }
        }
    }
}
