//! Where finished transfers wait for their tape to collect them.

use std::collections::VecDeque;
use std::time::Instant;

use crate::block::Block;
use crate::codec::Receipt;
use crate::sync::{Condvar, Mutex, lock};
use crate::tier::{SlabKey, TierError};

/// A transfer that has ended. The block comes back whatever happened.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) key: SlabKey,
    pub(crate) block: Block,
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
    queue: Mutex<VecDeque<M>>,
    arrived: Condvar,
}

impl<M> Inbox<M> {
    pub(crate) fn new() -> Self {
        Self {
            queue: Mutex::new(VecDeque::new()),
            arrived: Condvar::new(),
        }
    }

    pub(crate) fn put(&self, message: M) {
        lock(&self.queue).push_back(message);
        self.arrived.notify_one();
    }

    /// What has arrived, oldest first; does not wait.
    pub(crate) fn collect(&self) -> VecDeque<M> {
        std::mem::take(&mut *lock(&self.queue))
    }

    /// Waits until something has arrived. Returns it, and how long that took.
    pub(crate) fn wait(&self) -> (VecDeque<M>, std::time::Duration) {
        let start = Instant::now();
        let mut queue = lock(&self.queue);
        while queue.is_empty() {
            queue = self
                .arrived
                .wait(queue)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        (std::mem::take(&mut *queue), start.elapsed())
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::Inbox;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn no_message_is_lost_and_no_waiter_sleeps_on() {
        loom::model(|| {
            let inbox = Arc::new(Inbox::new());
            let senders: Vec<_> = (0..2)
                .map(|number| {
                    let inbox = Arc::clone(&inbox);
                    thread::spawn(move || inbox.put(number))
                })
                .collect();
            let mut seen = Vec::new();
            while seen.len() < 2 {
                seen.extend(inbox.wait().0);
            }
            seen.sort_unstable();
            assert_eq!(seen, [0, 1]);
            senders
                .into_iter()
                .for_each(|sender| sender.join().unwrap());
        });
    }
}
