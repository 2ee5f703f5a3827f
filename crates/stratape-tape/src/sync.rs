//! The locks of the parts that threads share, and a shield against what others throw.
//!
//! The parts that the model checker looks at take `Mutex`, `Condvar` and `Arc` from here; the others
//! take those of the standard library, and [`lock`] as well.
//!
//! No lock is ever poisoned for us: a thread that panicked while holding one cannot have left the
//! data half done, since every critical section of this crate either runs no foreign code or is safe
//! to stop in.

#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex as StdMutex, MutexGuard as StdGuard, PoisonError};
use std::time::Duration;

use crate::events;

/// Calls foreign code on a thread of ours, which its panics must not end. `None` if it panicked.
pub(crate) fn shielded<R>(what: &str, call: impl FnOnce() -> R) -> Option<R> {
    match panic::catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => Some(result),
        Err(payload) => {
            discard(payload, 3);
            // Who listens to events is foreign as well.
            let tell = AssertUnwindSafe(|| events::warn!(what, "foreign code panicked"));
            if let Err(payload) = panic::catch_unwind(tell) {
                discard(payload, 3);
            }
            None
        }
    }
}

/// Drops what was thrown, which may throw something else when it is dropped, and so on; the last is
/// leaked.
fn discard(payload: Box<dyn Any + Send>, attempts: u32) {
    if attempts == 0 {
        return std::mem::forget(payload);
    }
    if let Err(next) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        discard(next, attempts - 1);
    }
}

/// Takes a lock of the standard library.
#[inline]
pub(crate) fn lock<T>(mutex: &StdMutex<T>) -> StdGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a lock that the model checker knows.
#[inline]
pub(crate) fn lock_modelled<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the lock up until notified, or for so long.
pub(crate) fn wait_for<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    most: Duration,
) -> MutexGuard<'a, T> {
    condvar.wait_timeout(guard, most).unwrap_or_else(PoisonError::into_inner).0
}

/// A process, by its number: to tell a child of `fork`, where what was started before is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    pub(crate) fn current() -> Self {
        Self(std::process::id())
    }

    pub(crate) fn is_current(self) -> bool {
        self == Self::current()
    }
}
