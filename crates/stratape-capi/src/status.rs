//! Statuses, the text of the last failure, and the guard around every call.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::stratape_tape::tier::TierError;
use ::stratape_tape::{ErrorKind, OutOfMemory, TapeError};
use stratape_checkpoint::schedule::ScheduleError;

/// How a call went.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum stratape_status {
    /// It did what it says.
    STRATAPE_OK = 0,
    /// Nothing is left: a pop from an empty tape, the end of a schedule. No failure, and `stratape_last_error` is unchanged.
    STRATAPE_EMPTY = 1,
    /// A pointer or a handle is null that must not be.
    STRATAPE_NULL = 2,
    /// The handle was closed, or never opened.
    STRATAPE_CLOSED = 3,
    /// The handle is that of another kind of object.
    STRATAPE_WRONG_KIND = 4,
    /// Another thread is inside a call on the same object.
    STRATAPE_BUSY = 5,
    /// Debug builds: the tape belongs to another thread, which has not let it be adopted.
    STRATAPE_WRONG_THREAD = 6,
    /// Another size than that of what is on the tape, or a cursor that is none of this tape's.
    STRATAPE_WRONG_SIZE = 7,
    /// An argument or an option that cannot work.
    STRATAPE_INVALID = 8,
    /// An index or a mark above the tape.
    STRATAPE_OUT_OF_RANGE = 9,
    /// The disk, or the limit on it, is full. The tape is as before.
    STRATAPE_FULL = 10,
    /// The disk failed. The tape is as before, and the call may be repeated.
    STRATAPE_IO = 11,
    /// Data came back damaged.
    STRATAPE_DAMAGED = 12,
    /// A slab is gone for good.
    STRATAPE_LOST = 13,
    /// No memory.
    STRATAPE_OUT_OF_MEMORY = 14,
    /// The file is no saved tape of such elements.
    STRATAPE_NOT_A_TAPE = 15,
    /// The I/O engine that was asked for is not to be had here.
    STRATAPE_UNAVAILABLE = 16,
    /// A bug in the library. The object can only be closed.
    STRATAPE_PANIC = 17,
}

use stratape_status::*;

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

/// The text of the last failure on this thread: what happened, what still holds, what to do. Empty if there was none.
///
/// The text is valid until the next call on this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_last_error() -> *const c_char {
    LAST.try_with(|last| last.try_borrow().map_or(c"".as_ptr(), |text| text.as_ptr()))
        .unwrap_or(c"".as_ptr())
}

/// A few words for a status, for programs that have nothing better to say. Any number is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_status_text(status: i32) -> *const c_char {
    const TEXTS: [&CStr; 18] = [
        c"all is well",
        c"nothing is left",
        c"a null pointer",
        c"a handle that was closed, or never opened",
        c"a handle of another kind",
        c"in use by another thread",
        c"owned by another thread",
        c"another size than what is on the tape",
        c"an argument that cannot work",
        c"above the tape",
        c"the disk is full",
        c"the disk failed",
        c"damaged data",
        c"a slab is lost",
        c"no memory",
        c"not a saved tape of such elements",
        c"not available here",
        c"a bug in the library",
    ];
    let found = usize::try_from(status).ok().and_then(|status| TEXTS.get(status));
    found.map_or(c"an unknown status".as_ptr(), |text| text.as_ptr())
}

/// The version of the library, as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn stratape_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: stratape_status,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(status: stratape_status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// No failure, but nothing to hand out either.
    pub(crate) fn empty() -> Self {
        Self::new(STRATAPE_EMPTY, "")
    }
}

impl From<TapeError> for Failure {
    fn from(error: TapeError) -> Self {
        Self::new(status_of(&error), error.to_string())
    }
}

impl From<OutOfMemory> for Failure {
    fn from(error: OutOfMemory) -> Self {
        Self::new(STRATAPE_OUT_OF_MEMORY, error.to_string())
    }
}

impl From<TierError> for Failure {
    fn from(error: TierError) -> Self {
        Self::new(tier_status(&error), error.to_string())
    }
}

impl From<ScheduleError> for Failure {
    fn from(error: ScheduleError) -> Self {
        Self::new(STRATAPE_INVALID, error.to_string())
    }
}

fn status_of(error: &TapeError) -> stratape_status {
    match error.kind() {
        ErrorKind::Options(_) | ErrorKind::RegionTooLarge { .. } => STRATAPE_INVALID,
        ErrorKind::EngineUnavailable { .. } => STRATAPE_UNAVAILABLE,
        ErrorKind::Lost { .. } => STRATAPE_LOST,
        ErrorKind::OutOfMemory(_) => STRATAPE_OUT_OF_MEMORY,
        ErrorKind::Mismatch { .. } => STRATAPE_WRONG_SIZE,
        ErrorKind::NotThisTape { .. } => STRATAPE_NOT_A_TAPE,
        ErrorKind::Spill { source, .. } | ErrorKind::Fetch { source, .. } => tier_status(source),
        ErrorKind::SavedFile { source, .. } | ErrorKind::SpillDirectory { source, .. } => {
            match source.kind() {
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                    STRATAPE_FULL
                }
                _ => STRATAPE_IO,
            }
        }
        _ => STRATAPE_IO,
    }
}

fn tier_status(error: &TierError) -> stratape_status {
    match error {
        TierError::Full { .. } => STRATAPE_FULL,
        TierError::Damaged { .. } | TierError::CutShort { .. } | TierError::Undecodable(_) => {
            STRATAPE_DAMAGED
        }
        TierError::OutOfMemory(_) => STRATAPE_OUT_OF_MEMORY,
        TierError::Contract(_) => STRATAPE_LOST,
        _ => STRATAPE_IO,
    }
}

/// Runs the body of a call: failures become a status and a text, panics too.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> stratape_status {
    // What a panic may leave half done is behind a handle, and poisoned there.
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return STRATAPE_OK,
        Ok(Err(failure)) => failure,
        Err(payload) => {
            let what = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            let text = format!("a bug in stratape: {what}; close the object");
            // Dropping what was thrown may panic in turn; it is small, and stays.
            std::mem::forget(payload);
            Failure::new(STRATAPE_PANIC, text)
        }
    };
    if failure.status != STRATAPE_EMPTY {
        remember(&failure.text);
    }
    failure.status
}

fn remember(text: &str) {
    let text = CString::new(text.replace('\0', "?")).unwrap_or_default();
    // On a thread that is ending there is nobody left to ask.
    let _ = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = text;
        }
    });
}

/// Where a result goes.
///
/// # Safety
/// `out` must be null, or point to room for a `T` that nobody else uses.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::new(STRATAPE_NULL, "the pointer to the result is null"));
    }
    // SAFETY: room for a `T`, by the caller's word.
    unsafe { out.write(value) };
    Ok(())
}

/// Bytes that the caller lends for reading. Null is fine for none.
///
/// # Safety
/// `data` must be null, or point to `len` initialised bytes that nobody changes while the slice lives.
pub(crate) unsafe fn bytes<'a>(
    data: *const std::ffi::c_void,
    len: usize,
) -> Result<&'a [u8], Failure> {
    check_buffer(data, len)?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, and as long as the caller says.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), len) })
}

/// Bytes that the caller lends for writing. Null is fine for none.
///
/// # Safety
/// `data` must be null, or point to room for `len` bytes that nobody else uses while the slice lives.
pub(crate) unsafe fn bytes_mut<'a>(
    data: *mut std::ffi::c_void,
    len: usize,
) -> Result<&'a mut [u8], Failure> {
    check_buffer(data, len)?;
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: not null, and as long as the caller says; it is overwritten before it is read.
    Ok(unsafe { std::slice::from_raw_parts_mut(data.cast(), len) })
}

fn check_buffer(data: *const std::ffi::c_void, len: usize) -> Result<(), Failure> {
    if data.is_null() && len > 0 {
        return Err(Failure::new(STRATAPE_NULL, "the pointer to the data is null"));
    }
    if len > isize::MAX as usize {
        return Err(Failure::new(STRATAPE_INVALID, "more bytes than there can be memory"));
    }
    Ok(())
}

/// A path or a name from C.
///
/// # Safety
/// `text` must be null, or end in a zero byte.
pub(crate) unsafe fn path(text: *const c_char) -> Result<std::path::PathBuf, Failure> {
    if text.is_null() {
        return Err(Failure::new(STRATAPE_NULL, "the path is null"));
    }
    // SAFETY: ends in a zero byte, by the caller's word.
    let text = unsafe { CStr::from_ptr(text) };
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(std::ffi::OsStr::from_bytes(text.to_bytes()).into())
    }
    #[cfg(not(unix))]
    Ok(text.to_string_lossy().into_owned().into())
}

/// Writes text into a buffer of C, cut to fit and ended by a zero byte; tells how long it is without that.
///
/// # Safety
/// As for [`bytes_mut`] and [`put`].
pub(crate) unsafe fn text_out(
    text: &str,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: the caller's word.
    let room = unsafe { bytes_mut(buffer.cast(), capacity)? };
    if let Some(most) = room.len().checked_sub(1) {
        let mut end = text.len().min(most);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        room[..end].copy_from_slice(&text.as_bytes()[..end]);
        room[end] = 0;
    }
    if !length.is_null() {
        // SAFETY: the caller's word.
        unsafe { length.write(text.len()) };
    }
    Ok(())
}
