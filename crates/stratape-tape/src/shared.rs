//! [`SharedTape`]: one tape, several threads, and who pushed what.
//!
//! Everything happens under one lock, so operations are linearizable. Entries are kept in runs of
//! one owner. A push by the owner of the topmost run just pushes, so that ownership costs one
//! compare while threads take turns in long stretches. An owner's runs are chained, which makes
//! taking back one's own latest entry O(1) wherever it lies. An entry taken from the middle leaves
//! a hole, which goes when it comes to the top.
//!
//! Invariants: runs cover the places without gaps, in order, and the topmost one is kept apart, in
//! `top`. Of a run's places the first `live` hold entries; in the topmost run that is all of them,
//! and at least one unless the tape is empty. `latest[owner]` is the number of
//! that owner's topmost run with an entry, and `previous` links on to the next below. `holes`
//! counts places without an entry.

use std::fmt;
use std::mem::MaybeUninit;

use crate::sync::{Arc, Mutex, MutexGuard, lock_modelled};
use crate::tape::Tape;

/// Who pushed an entry. [`Owner::ANYONE`] is what pushed through the tape's own handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(u32);

impl Owner {
    /// The owner of entries pushed without a [`Writer`].
    pub const ANYONE: Self = Self(0);
}

/// A tape that several threads push to and pop from. Cloning makes another handle to it.
///
/// Every operation takes a lock; `push_slice` and `pop_slice` take it once. Where each worker can
/// have a tape of its own, [`Lanes`](crate::Lanes) scale better. Cloning and dropping elements in
/// the slice operations happens under the lock, so an element's `Clone` and `Drop` must not use the
/// tape.
///
/// ```
/// use std::thread;
/// use stratape_tape::SharedTape;
///
/// let tape = SharedTape::new();
/// let writers: Vec<_> = (0..2).map(|_| tape.writer()).collect();
/// thread::scope(|scope| {
///     for writer in &writers {
///         scope.spawn(|| (0..100).for_each(|i| writer.push(i)));
///     }
/// });
/// // However the pushes interleaved, each writer gets its own back, in order.
/// for writer in &writers {
///     for i in (0..100).rev() {
///         assert_eq!(writer.pop(), Some(i));
///     }
/// }
/// assert!(tape.is_empty());
/// ```
pub struct SharedTape<T> {
    stack: Arc<Mutex<Stack<T>>>,
}

/// A handle that pushes under its own name, and pops what it pushed.
///
/// Clones share the name: the reverse pass may run on another thread than the forward pass.
pub struct Writer<T> {
    tape: SharedTape<T>,
    owner: Owner,
}

struct Stack<T> {
    places: Tape<MaybeUninit<T>>,
    top: Run,
    below: Vec<Run>,
    latest: Vec<Link>,
    holes: usize,
}

#[derive(Clone, Copy)]
struct Run {
    owner: Owner,
    start: usize,
    live: usize,
    previous: Link,
}

impl Run {
    /// The topmost run of an empty tape: nobody's, so that the first push begins one.
    const NONE: Self = Self { owner: Owner(u32::MAX), start: 0, live: 0, previous: None };
}

/// The number of a run, if there is one.
type Link = Option<usize>;

impl<T> SharedTape<T> {
    /// An empty tape.
    pub fn new() -> Self {
        let stack = Stack {
            places: Tape::new(),
            top: Run::NONE,
            below: Vec::new(),
            latest: vec![None],
            holes: 0,
        };
        Self { stack: Arc::new(Mutex::new(stack)) }
    }

    /// A handle whose entries carry a new name.
    pub fn writer(&self) -> Writer<T> {
        let mut stack = self.stack();
        let owner = Owner(stack.latest.len() as u32);
        stack.latest.push(None);
        drop(stack);
        Writer { tape: self.clone(), owner }
    }

    /// Puts `value` on top.
    #[inline]
    pub fn push(&self, value: T) {
        self.stack().push(Owner::ANYONE, value);
    }

    /// Takes the topmost entry, whoever pushed it.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.stack().pop().map(|(value, _)| value)
    }

    /// Takes the topmost entry, with its owner.
    pub fn pop_with_owner(&self) -> Option<(T, Owner)> {
        self.stack().pop()
    }

    /// Clones `values` onto the tape, in order, with nothing in between.
    pub fn push_slice(&self, values: &[T])
    where
        T: Clone,
    {
        self.stack().push_slice(Owner::ANYONE, values);
    }

    /// Takes up to `out.len()` entries off the top, into the front of `out`, in the order in which
    /// they were pushed. Returns how many.
    pub fn pop_slice(&self, out: &mut [T]) -> usize {
        let mut stack = self.stack();
        let count = out.len().min(stack.len());
        fill_backwards(&mut out[..count], || stack.pop().map(|(value, _)| value));
        count
    }

    /// Entries on the tape.
    pub fn len(&self) -> usize {
        self.stack().len()
    }

    /// Whether nothing is on the tape.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn stack(&self) -> MutexGuard<'_, Stack<T>> {
        lock_modelled(&self.stack)
    }
}

impl<T> Writer<T> {
    /// The name its entries carry.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// The tape it writes to.
    pub fn tape(&self) -> &SharedTape<T> {
        &self.tape
    }

    /// Puts `value` on top.
    #[inline]
    pub fn push(&self, value: T) {
        self.tape.stack().push(self.owner, value);
    }

    /// Takes this owner's latest entry, wherever it is on the tape.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.tape.stack().pop_own(self.owner)
    }

    /// Clones `values` onto the tape, in order, with nothing in between.
    pub fn push_slice(&self, values: &[T])
    where
        T: Clone,
    {
        self.tape.stack().push_slice(self.owner, values);
    }

    /// Takes back up to `out.len()` of this owner's latest entries, into the front of `out`, in
    /// the order in which they were pushed. Returns how many.
    pub fn pop_slice(&self, out: &mut [T]) -> usize {
        let mut stack = self.tape.stack();
        let count = stack.count_own(self.owner, out.len());
        fill_backwards(&mut out[..count], || stack.pop_own(self.owner));
        count
    }
}

fn fill_backwards<T>(out: &mut [T], mut next: impl FnMut() -> Option<T>) {
    for place in out.iter_mut().rev() {
        if let Some(value) = next() {
            *place = value;
        }
    }
}

impl<T> Stack<T> {
    fn len(&self) -> usize {
        self.places.len() - self.holes
    }

    #[inline]
    fn push(&mut self, owner: Owner, value: T) {
        if self.top.owner != owner {
            self.begin_run(owner);
        }
        self.top.live += 1;
        self.places.push(MaybeUninit::new(value));
    }

    fn push_slice(&mut self, owner: Owner, values: &[T])
    where
        T: Clone,
    {
        for value in values {
            // Cloned first: if that panics, what is on the tape so far is whole.
            let value = value.clone();
            self.push(owner, value);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(T, Owner)> {
        let owner = self.top.owner;
        let value = self.places.pop()?;
        self.top.live -= 1;
        if self.top.live == 0 {
            self.end_run();
        }
        // SAFETY: the topmost run is wholly live, and the place has left the tape.
        Some((unsafe { value.assume_init() }, owner))
    }

    fn pop_own(&mut self, owner: Owner) -> Option<T> {
        if self.top.owner == owner {
            return self.pop().map(|(value, _)| value);
        }
        let latest = &mut self.latest[owner.0 as usize];
        let run = &mut self.below[(*latest)?];
        run.live -= 1;
        let place = run.start + run.live;
        if run.live == 0 {
            *latest = run.previous;
        }
        self.holes += 1;
        // SAFETY: the place was live, and no longer counts as such.
        self.places.get(place).map(|place| unsafe { place.assume_init_read() })
    }

    #[cold]
    fn begin_run(&mut self, owner: Owner) {
        if self.top.owner != Run::NONE.owner {
            self.below.push(self.top);
        }
        let previous = self.latest[owner.0 as usize].replace(self.below.len());
        self.top = Run { owner, start: self.places.len(), live: 0, previous };
    }

    /// The topmost run has no entry left: brings the next one with entries to the top.
    #[cold]
    fn end_run(&mut self) {
        self.latest[self.top.owner.0 as usize] = self.top.previous;
        self.top = Run::NONE;
        while let Some(run) = self.below.pop() {
            if run.live > 0 {
                self.top = run;
                break;
            }
        }
        let places = self.places.len();
        self.places.truncate(self.top.start + self.top.live);
        self.holes -= places - self.places.len();
    }

    /// How many entries the owner has, counted up to `most`.
    fn count_own(&self, owner: Owner, most: usize) -> usize {
        let (mut count, mut next) = (0, self.latest[owner.0 as usize]);
        while let Some(number) = next
            && count < most
        {
            let run = self.below.get(number).unwrap_or(&self.top);
            count += run.live;
            next = run.previous;
        }
        count.min(most)
    }
}

impl<T> Drop for Stack<T> {
    fn drop(&mut self) {
        /// Goes on when an entry's destructor panics.
        struct Rest<'a, T>(&'a mut Stack<T>);
        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                while self.0.pop().is_some() {}
            }
        }
        let rest = Rest(self);
        while rest.0.pop().is_some() {}
    }
}

impl<T> Default for SharedTape<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for SharedTape<T> {
    fn clone(&self) -> Self {
        Self { stack: Arc::clone(&self.stack) }
    }
}

impl<T> Clone for Writer<T> {
    fn clone(&self) -> Self {
        Self { tape: self.tape.clone(), owner: self.owner }
    }
}

impl<T> fmt::Debug for SharedTape<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedTape").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("owner", &self.owner).finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::SharedTape;
    use loom::thread;

    /// Two threads push and take back their own; a third pops whatever is on top. Every entry is
    /// seen exactly once, and each owner sees its own in order.
    #[test]
    fn entries_are_neither_lost_nor_doubled() {
        loom::model(|| {
            let tape = SharedTape::new();
            let workers: Vec<_> = (0..2)
                .map(|number| {
                    let writer = tape.writer();
                    thread::spawn(move || {
                        writer.push(10 * number);
                        writer.push(10 * number + 1);
                        writer.pop().into_iter().collect::<Vec<_>>()
                    })
                })
                .collect();
            let mut seen: Vec<_> = tape.pop().into_iter().collect();
            for worker in workers {
                seen.extend(worker.join().unwrap());
            }
            while let Some(value) = tape.pop() {
                seen.push(value);
            }
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 10, 11]);
        });
    }
}
