//! Handles: names of objects in a table, so that a wrong one is noticed.
//!
//! To C a handle is a pointer that is never followed. Its bits are the number of an entry of the table and the entry's
//! *generation*, which grows whenever an object is closed. Entries are used again but never given back, so that a stale handle can
//! be looked at safely, and is found out by its generation.
//!
//! One compare-and-swap on the state of an entry finds out whether the handle is open and takes the object for the length
//! of a call. So two threads that call on one object get a status, not a data race, in release builds as well.
//!
//! Not noticed: a handle that was made up, if it happens to name an open object; a stale one after its entry has been used again
//! two thousand million times.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::records::Records;
use crate::schedule::OpenSchedule;
use crate::stash::OpenStash;
use crate::status::Failure;
use crate::status::stratape_status::{
    STRATAPE_BUSY, STRATAPE_CLOSED, STRATAPE_NULL, STRATAPE_OUT_OF_MEMORY, STRATAPE_PANIC,
    STRATAPE_WRONG_KIND, STRATAPE_WRONG_THREAD,
};
use ::stratape_tape::{RawTape, TapeOptions};

const _: () = assert!(size_of::<usize>() == 8, "a handle holds an entry and a generation");

/// What a handle can name.
pub(crate) enum Object {
    Options(Box<TapeOptions>),
    Tape(Box<RawTape>),
    Records(Box<Records>),
    Stash(Box<OpenStash>),
    Schedule(Box<OpenSchedule>),
}

/// A kind of object.
pub(crate) trait Kind: Sized {
    /// For messages.
    const NAME: &'static str;
    /// Whether debug builds tie it to a thread.
    const OWNED: bool;
    fn wrap(self) -> Object;
    fn of(object: &mut Object) -> Option<&mut Self>;
}

macro_rules! kinds {
    ($($kind:ty, $variant:ident, $name:literal, $owned:literal;)*) => { $(
        impl Kind for $kind {
            const NAME: &'static str = $name;
            const OWNED: bool = $owned;
            fn wrap(self) -> Object {
                Object::$variant(Box::new(self))
            }
            fn of(object: &mut Object) -> Option<&mut Self> {
                match object {
                    Object::$variant(object) => Some(object),
                    _ => None,
                }
            }
        }
    )* };
}

kinds! {
    TapeOptions, Options, "options", false;
    RawTape, Tape, "tape", true;
    Records, Records, "tape of records", true;
    OpenStash, Stash, "stash", true;
    OpenSchedule, Schedule, "schedule", false;
}

const OPEN: u64 = 1;
const BUSY: u64 = 2;
const POISONED: u64 = 4;
const GENERATION: u32 = 8;

struct Entry {
    /// Generation and flags.
    state: AtomicU64,
    owner: AtomicU64,
    object: UnsafeCell<Option<Object>>,
}

// SAFETY: the object is reached only by the thread that has set `BUSY`, and every kind of object may change threads.
unsafe impl Sync for Entry {}

const FIRST: usize = 256;
/// The table, in pieces that double: an entry never moves.
static PIECES: [OnceLock<Box<[Entry]>>; 24] = [const { OnceLock::new() }; 24];
static FREE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static USED: AtomicU32 = AtomicU32::new(0);
const MOST: u32 = ((FIRST << 24) - FIRST - 1) as u32;

fn piece_of(number: u32) -> (usize, usize) {
    let place = number as usize + FIRST;
    let piece = (place.ilog2() - FIRST.ilog2()) as usize;
    (piece, place - (FIRST << piece))
}

fn entry(number: u32) -> Option<&'static Entry> {
    let (piece, offset) = piece_of(number);
    PIECES.get(piece)?.get()?.get(offset)
}

fn new_entry() -> Entry {
    Entry { state: AtomicU64::new(0), owner: AtomicU64::new(0), object: UnsafeCell::new(None) }
}

/// This thread, as a number that no other thread of the process ever has.
fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.try_with(|number| *number).unwrap_or(0)
}

fn name(handle: *const c_void) -> Result<(u32, u64), Failure> {
    let bits = handle as usize as u64;
    if bits == 0 {
        return Err(Failure::new(STRATAPE_NULL, "the handle is null"));
    }
    let number = (bits as u32).checked_sub(1).ok_or_else(closed)?;
    Ok((number, bits >> 32))
}

fn closed() -> Failure {
    Failure::new(STRATAPE_CLOSED, "the handle was closed, or never opened")
}

/// Puts an object into the table and gives its handle.
pub(crate) fn open<K: Kind>(object: K) -> Result<*mut c_void, Failure> {
    let reused = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let number = match reused {
        Some(number) => number,
        None => USED
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                (used < MOST).then_some(used + 1)
            })
            .map_err(|_| Failure::new(STRATAPE_OUT_OF_MEMORY, "too many open handles"))?,
    };
    let (piece, offset) = piece_of(number);
    let entries = PIECES[piece].get_or_init(|| (0..FIRST << piece).map(|_| new_entry()).collect());
    let entry = &entries[offset];
    let generation = entry.state.load(Ordering::Acquire) >> GENERATION;
    // SAFETY: an entry that is not open belongs to whoever has its number, and that is this call alone.
    unsafe { *entry.object.get() = Some(object.wrap()) };
    entry.owner.store(this_thread(), Ordering::Relaxed);
    entry.state.store(generation << GENERATION | OPEN, Ordering::Release);
    Ok((generation << 32 | u64::from(number + 1)) as usize as *mut c_void)
}

/// An entry whose object this call has to itself.
struct Held {
    entry: &'static Entry,
    idle: u64,
    number: u32,
}

impl Held {
    fn take(handle: *const c_void) -> Result<Self, Failure> {
        let (number, generation) = name(handle)?;
        let entry = entry(number).ok_or_else(closed)?;
        let state = entry.state.load(Ordering::Relaxed);
        if state >> GENERATION != generation || state & OPEN == 0 {
            return Err(closed());
        }
        let idle = state & !BUSY;
        let busy = || {
            Failure::new(
                STRATAPE_BUSY,
                "another thread is using it right now; one thread at a time may",
            )
        };
        match entry.state.compare_exchange(idle, idle | BUSY, Ordering::Acquire, Ordering::Relaxed)
        {
            Ok(_) => Ok(Self { entry, idle, number }),
            Err(now) if now & BUSY != 0 && now >> GENERATION == generation => Err(busy()),
            Err(_) => Err(closed()),
        }
    }

    #[allow(clippy::mut_from_ref, reason = "`BUSY` makes this the only way to the object")]
    fn object(&mut self) -> Result<&mut Object, Failure> {
        // SAFETY: this call has set `BUSY`, and takes it away only when it is dropped.
        unsafe { &mut *self.entry.object.get() }.as_mut().ok_or_else(closed)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let poison = if std::thread::panicking() { POISONED } else { 0 };
        self.entry.state.store(self.idle | poison, Ordering::Release);
    }
}

/// Runs `body` on the object of a handle.
pub(crate) fn with<K: Kind, R>(
    handle: *const c_void,
    body: impl FnOnce(&mut K) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let mut held = Held::take(handle)?;
    if held.idle & POISONED != 0 {
        let text = format!("this {} met a bug in an earlier call, and can only be closed", K::NAME);
        return Err(Failure::new(STRATAPE_PANIC, text));
    }
    let owner = held.entry.owner.load(Ordering::Relaxed);
    let object = K::of(held.object()?).ok_or_else(|| {
        Failure::new(STRATAPE_WRONG_KIND, format!("the handle is not that of a {}", K::NAME))
    })?;
    if cfg!(debug_assertions) && K::OWNED && owner != this_thread() {
        let text = format!(
            "this {} belongs to another thread; hand it over with its `adopt` function, called on the new thread",
            K::NAME
        );
        return Err(Failure::new(STRATAPE_WRONG_THREAD, text));
    }
    body(object)
}

/// Makes the calling thread the owner.
pub(crate) fn adopt<K: Kind>(handle: *const c_void) -> Result<(), Failure> {
    let mut held = Held::take(handle)?;
    K::of(held.object()?).ok_or_else(|| {
        Failure::new(STRATAPE_WRONG_KIND, format!("the handle is not that of a {}", K::NAME))
    })?;
    held.entry.owner.store(this_thread(), Ordering::Relaxed);
    Ok(())
}

/// Closes a handle and drops its object. Null is fine.
pub(crate) fn close<K: Kind>(handle: *mut c_void) -> Result<(), Failure> {
    if handle.is_null() {
        return Ok(());
    }
    let mut held = Held::take(handle)?;
    let object = held.object()?;
    K::of(object).ok_or_else(|| {
        Failure::new(STRATAPE_WRONG_KIND, format!("the handle is not that of a {}", K::NAME))
    })?;
    let (entry, number, generation) = (held.entry, held.number, held.idle >> GENERATION);
    // SAFETY: as in `Held::object`.
    let object = unsafe { &mut *entry.object.get() }.take();
    std::mem::forget(held);
    let next = (generation + 1) & (u64::from(u32::MAX) >> 1);
    entry.state.store(next << GENERATION, Ordering::Release);
    FREE.lock().unwrap_or_else(PoisonError::into_inner).push(number);
    drop(object);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::call;
    use crate::status::stratape_status::STRATAPE_OK;

    #[test]
    fn pieces_cover_every_number_once() {
        let mut expected = (0, 0);
        for number in 0..5000 {
            assert_eq!(piece_of(number), expected);
            expected.1 += 1;
            if expected.1 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn a_panic_is_a_status_and_closes_the_object_to_all_but_closing() {
        let handle = open(TapeOptions::new()).expect("there is room");
        let status = call(|| {
            with(handle, |_: &mut TapeOptions| -> Result<(), Failure> { panic!("as a test") })
        });
        assert_eq!(status, STRATAPE_PANIC);
        assert_eq!(call(|| with(handle, |_: &mut TapeOptions| Ok(()))), STRATAPE_PANIC);
        assert_eq!(call(|| close::<TapeOptions>(handle)), STRATAPE_OK);
        assert_eq!(call(|| close::<TapeOptions>(handle)), STRATAPE_CLOSED);
    }

    #[test]
    fn a_call_during_a_call_is_busy() {
        let handle = open(TapeOptions::new()).expect("there is room");
        let inner = with(handle, |_: &mut TapeOptions| {
            Ok(call(|| with(handle, |_: &mut TapeOptions| Ok(()))))
        });
        assert_eq!(inner.expect("the outer call is fine"), STRATAPE_BUSY);
        close::<TapeOptions>(handle).expect("it is idle again");
    }

    #[test]
    fn handles_made_of_anything_are_refused() {
        for bits in [1_usize, 2, 77, 1 << 32, usize::MAX, usize::MAX << 32, 0x7fff_ffff_ffff_fff0] {
            let handle = bits as *mut c_void;
            let status = call(|| with(handle, |_: &mut RawTape| Ok(())));
            assert!(
                matches!(status, STRATAPE_CLOSED | STRATAPE_WRONG_KIND | STRATAPE_BUSY),
                "{bits:#x}: {status:?}"
            );
        }
    }
}
