//! Lanes: a tape a worker, one budget and one I/O engine for all.

use ::stratape_tape::{RawElement, RawTape};

use crate::handle;
use crate::options::{get, stratape_options};
use crate::status::stratape_status::{STRATAPE_INVALID, STRATAPE_NULL};
use crate::status::{Failure, call, stratape_status};
use crate::tape::stratape_tape;

/// Opens `count` tapes that share the memory in equal parts, the spill file and its engine, and nothing else: one for each worker.
///
/// `out` has room for `count` handles. Each is a tape like any other, used by one thread at a time (in debug builds: after
/// `stratape_tape_adopt` on that thread) and closed by itself. After a failure all of `out` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_lanes_open(
    options: *const stratape_options,
    size: usize,
    align: usize,
    count: usize,
    out: *mut *mut stratape_tape,
) -> stratape_status {
    call(|| {
        if out.is_null() {
            return Err(Failure::new(STRATAPE_NULL, "the pointer to the lanes is null"));
        }
        if count > isize::MAX as usize / size_of::<usize>() {
            return Err(Failure::new(STRATAPE_INVALID, "more lanes than there can be memory"));
        }
        // SAFETY: the caller gives room for `count` handles, and null ones are valid.
        let out = unsafe {
            out.write_bytes(0, count);
            std::slice::from_raw_parts_mut(out, count)
        };
        let lanes = get(options)?.open_raw_lanes(RawElement::new(size, align)?, count)?;
        let mut opened = Vec::with_capacity(count);
        for lane in lanes {
            match handle::open(lane) {
                Ok(lane) => opened.push(lane),
                Err(failure) => {
                    for lane in opened {
                        handle::close::<RawTape>(lane)?;
                    }
                    return Err(failure);
                }
            }
        }
        for (place, lane) in out.iter_mut().zip(opened) {
            *place = lane.cast();
        }
        Ok(())
    })
}
