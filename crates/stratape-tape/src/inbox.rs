//! Where finished transfers wait for their tape to collect them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::block::Block;
use crate::codec::Receipt;
use crate::error::TierError;
use crate::key::SlabKey;
use crate::sync::{Condvar, Mutex, lock_modelled, wait_for};

/// A transfer that has ended.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) key: SlabKey,
    /// The block that was sent, or one that is as good; `None` only with an error, from a tier that
    /// kept the block or handed back another. Then the memory is gone, and after a write what was
    /// in it.
    pub(crate) block: Option<Block>,
    /// Bytes of the block that was sent.
    pub(crate) len: usize,
    pub(crate) what: Transfer,
}

#[derive(Debug)]
pub(crate) enum Transfer {
    Wrote(Result<Receipt, TierError>),
    Read(Result<(), TierError>),
}

/// A queue with one taker. Generic so that the model checker can run it with small messages.
#[derive(Debug)]
pub(crate) struct Inbox<M> {
    /// `None` once nobody will collect any more.
    queue: Mutex<Option<VecDeque<M>>>,
    arrived: Condvar,
}

impl<M> Inbox<M> {
    pub(crate) fn new() -> Self {
        Self { queue: Mutex::new(Some(VecDeque::new())), arrived: Condvar::new() }
    }

    /// Leaves a message, or hands it back when the inbox is closed.
    pub(crate) fn put(&self, message: M) -> Result<(), M> {
        match lock_modelled(&self.queue).as_mut() {
            Some(queue) => queue.push_back(message),
            None => return Err(message),
        }
        self.arrived.notify_one();
        Ok(())
    }

    /// What has arrived, oldest first; does not wait.
    pub(crate) fn collect(&self) -> VecDeque<M> {
        lock_modelled(&self.queue).as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// What has arrived; whatever comes later is handed back to its sender.
    pub(crate) fn close(&self) -> VecDeque<M> {
        lock_modelled(&self.queue).take().unwrap_or_default()
    }

    /// Waits until something has arrived, but not much longer than `patience`. Returns what there
    /// is, and how long that took.
    pub(crate) fn wait(&self, patience: Duration) -> (VecDeque<M>, Duration) {
        let start = Instant::now();
        let mut queue = lock_modelled(&self.queue);
        while queue.as_ref().is_some_and(VecDeque::is_empty)
            && let Some(left) = patience.checked_sub(start.elapsed())
        {
            queue = wait_for(&self.arrived, queue, left);
        }
        let arrived = queue.as_mut().map(std::mem::take).unwrap_or_default();
        (arrived, start.elapsed())
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::{Duration, Inbox};
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn no_message_is_lost_and_no_waiter_sleeps_on() {
        loom::model(|| {
            let inbox = Arc::new(Inbox::new());
            let senders: Vec<_> = (0..2)
                .map(|number| {
                    let inbox = Arc::clone(&inbox);
                    thread::spawn(move || inbox.put(number).unwrap())
                })
                .collect();
            let mut seen = Vec::new();
            while seen.len() < 2 {
                seen.extend(inbox.wait(Duration::MAX).0);
            }
            seen.sort_unstable();
            assert_eq!(seen, [0, 1]);
            senders.into_iter().for_each(|sender| sender.join().unwrap());
        });
    }

    #[test]
    fn a_message_is_collected_or_handed_back() {
        loom::model(|| {
            let inbox = Arc::new(Inbox::new());
            let sender = {
                let inbox = Arc::clone(&inbox);
                thread::spawn(move || inbox.put(7).is_err())
            };
            let collected = inbox.close().len();
            let handed_back = sender.join().unwrap();
            assert_eq!(collected + usize::from(handed_back), 1);
        });
    }
}
