//! Options: how much memory, where the rest goes, and by which way.
//!
//! Paths end in a zero byte. Options are used again as often as one likes, and closed like everything else.

use std::ffi::{c_char, c_void};
use std::time::Duration;

use ::stratape_tape::{IoEngine, TapeOptions};

use crate::handle;
use crate::status::stratape_status::STRATAPE_INVALID;
use crate::status::{Failure, call, path, put, stratape_status};

/// Settings of a tape. Opaque.
pub struct stratape_options {
    _opaque: u8,
}

/// The I/O engine that moves slabs.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum stratape_engine {
    /// io_uring where the kernel allows it, threads otherwise.
    STRATAPE_ENGINE_AUTO = 0,
    /// io_uring, or `STRATAPE_UNAVAILABLE`.
    STRATAPE_ENGINE_URING = 1,
    /// Threads with `pread` and `pwrite`.
    STRATAPE_ENGINE_THREADS = 2,
}

fn set(
    options: *mut stratape_options,
    change: impl FnOnce(TapeOptions) -> TapeOptions,
) -> stratape_status {
    call(|| {
        handle::with(options.cast(), |options: &mut TapeOptions| {
            *options = change(std::mem::take(options));
            Ok(())
        })
    })
}

/// Makes options with the defaults: 1 GiB in memory, the rest in the system's directory for temporary files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_options_open(out: *mut *mut stratape_options) -> stratape_status {
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, || Ok(TapeOptions::new())) })
}

/// Closes options. Tapes that were opened with them go on. Null does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_close(options: *mut stratape_options) -> stratape_status {
    call(|| handle::close::<TapeOptions>(options.cast()))
}

/// Bytes of slabs kept in memory. A tape needs three slabs at least; from about sixteen on, transfers overlap fully with work.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_memory(
    options: *mut stratape_options,
    bytes: usize,
) -> stratape_status {
    set(options, |options| options.memory(bytes))
}

/// The directory for the spill file, on a fast local disk if possible.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_options_spill_to(
    options: *mut stratape_options,
    directory: *const c_char,
) -> stratape_status {
    // SAFETY: a path from C.
    match unsafe { path(directory) } {
        Ok(directory) => set(options, |options| options.spill_to(directory)),
        Err(failure) => call(|| Err(failure)),
    }
}

/// Bytes of a slab, the unit that moves between memory and disk. Default 1 MiB, or an eighth of the memory if that is less.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_slab_bytes(
    options: *mut stratape_options,
    bytes: usize,
) -> stratape_status {
    set(options, |options| options.slab_bytes(bytes))
}

/// The I/O engine: one of `stratape_engine`.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_engine(
    options: *mut stratape_options,
    engine: i32,
) -> stratape_status {
    let engine = match engine {
        0 => IoEngine::Auto,
        1 => IoEngine::Uring,
        2 => IoEngine::Threads,
        other => {
            let text = format!("{other} is no I/O engine");
            return call(|| Err(Failure::new(STRATAPE_INVALID, text)));
        }
    };
    set(options, |options| options.engine(engine))
}

/// The most bytes the spill file may hold; beyond it, pushes return `STRATAPE_FULL`.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_disk_limit(
    options: *mut stratape_options,
    bytes: u64,
) -> stratape_status {
    set(options, |options| options.disk_limit(bytes))
}

/// Slabs written, and slabs read, at once. Default 16.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_in_flight(
    options: *mut stratape_options,
    slabs: usize,
) -> stratape_status {
    set(options, |options| options.in_flight(slabs))
}

/// How long to wait for a disk that does not answer, in milliseconds. Default two minutes.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_patience(
    options: *mut stratape_options,
    milliseconds: u64,
) -> stratape_status {
    set(options, |options| options.patience(Duration::from_millis(milliseconds)))
}

/// Whether slabs carry a checksum that is verified when they come back. Default true.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_checksum(
    options: *mut stratape_options,
    on: bool,
) -> stratape_status {
    set(options, |options| options.checksum(on))
}

/// Whether to bypass the page cache where the file system can. Default true.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_direct(
    options: *mut stratape_options,
    on: bool,
) -> stratape_status {
    set(options, |options| options.direct(on))
}

/// Takes memory and spill directory from the environment: `STRATAPE_MEMORY` (bytes, or with a unit: `64M`, `2GiB`) and
/// `STRATAPE_SPILL`. Variables that are not set change nothing; a number that makes no sense is `STRATAPE_INVALID`.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_options_environment(options: *mut stratape_options) -> stratape_status {
    call(|| {
        let found = environment()?;
        handle::with(options.cast(), |options: &mut TapeOptions| {
            *options = found.apply(std::mem::take(options));
            Ok(())
        })
    })
}

/// What the environment says of tapes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    pub(crate) memory: Option<usize>,
    spill: Option<std::ffi::OsString>,
}

impl Environment {
    /// Whether it says anything.
    pub(crate) fn speaks(&self) -> bool {
        self.memory.is_some() || self.spill.is_some()
    }

    pub(crate) fn apply(self, mut options: TapeOptions) -> TapeOptions {
        if let Some(memory) = self.memory {
            options = options.memory(memory);
        }
        if let Some(directory) = self.spill {
            options = options.spill_to(directory);
        }
        options
    }
}

/// Reads `STRATAPE_MEMORY` and `STRATAPE_SPILL`. Empty counts as not set.
pub(crate) fn environment() -> Result<Environment, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let memory = match set("STRATAPE_MEMORY") {
        None => None,
        Some(text) => Some(text.to_str().and_then(parse_bytes).ok_or_else(|| {
            let text = format!(
                "STRATAPE_MEMORY is {text:?}; give bytes, or a number with K, M, G or T, such as 64M or 2GiB"
            );
            Failure::new(STRATAPE_INVALID, text)
        })?),
    };
    Ok(Environment { memory, spill: set("STRATAPE_SPILL") })
}

/// `4096`, `64M`, `2 GiB`: units are powers of 1024.
fn parse_bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: usize = text[..digits].parse().ok()?;
    let shift = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// The options of a handle, or the defaults for null.
pub(crate) fn get(options: *const stratape_options) -> Result<TapeOptions, Failure> {
    if options.is_null() {
        return Ok(TapeOptions::new());
    }
    handle::with(options.cast(), |options: &mut TapeOptions| Ok(options.clone()))
}

/// Makes an object and puts its handle where the caller wants it.
///
/// # Safety
/// As for [`put`].
pub(crate) unsafe fn put_handle<K: handle::Kind, H>(
    out: *mut *mut H,
    make: impl FnOnce() -> Result<K, Failure>,
) -> Result<(), Failure> {
    // First, so that nothing is made for nowhere, and a program that ignores the status has a null handle.
    // SAFETY: the caller's word.
    unsafe { put(out, std::ptr::null_mut())? };
    let opened: *mut c_void = handle::open(make()?)?;
    // SAFETY: as above.
    unsafe { put(out, opened.cast()) }
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn sizes_as_people_write_them() {
        assert_eq!(parse_bytes("4096"), Some(4096));
        assert_eq!(parse_bytes(" 64M "), Some(64 << 20));
        assert_eq!(parse_bytes("2 GiB"), Some(2 << 30));
        assert_eq!(parse_bytes("1t"), Some(1 << 40));
        for wrong in ["", "M", "-1", "1.5G", "64X", "99999999999999999999", "99999999999T"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }
}
