//! Memory from the kernel, in pieces of large mappings.
//!
//! A mapping, and the first write to each of its pages, goes through one lock of the process. Sixteen threads that map a slab at a time, of pages of
//! 4 KiB, wait for each other far longer than their work takes. So once a thread has asked for some memory, its mappings grow with what it has asked for,
//! begin at a huge page, and are advised to consist of such: slabs are cut from them, and a page fault serves two of them.
//!
//! A piece is given back to the kernel by itself. What a thread has not cut up goes when the thread does.

use std::cell::RefCell;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// The size of a huge page, on all machines that matter here.
const HUGE: usize = 2 << 20;

/// A thread that has asked for so much is taken to ask for more. Before, mappings are those asked for: a huge page costs as much as all of them.
const GROW_FROM: usize = HUGE;

/// The largest mapping that is cut into pieces.
const LARGEST: usize = 64 << 20;

/// What is left of a thread's last mapping.
struct Reserve {
    next: usize,
    left: usize,
    /// How much the thread has asked for.
    asked: usize,
}

thread_local! {
    static RESERVE: RefCell<Reserve> = const { RefCell::new(Reserve { next: 0, left: 0, asked: 0 }) };
}

impl Drop for Reserve {
    fn drop(&mut self) {
        if let Some(rest) = NonNull::new(std::ptr::with_exposed_provenance_mut(self.next)) {
            // SAFETY: nothing has been cut from what is left.
            unsafe { unmap(rest, self.left) };
        }
    }
}

impl Reserve {
    fn cut(&mut self, len: usize) -> Option<NonNull<u8>> {
        let before = self.asked;
        self.asked = self.asked.saturating_add(len);
        if before < GROW_FROM || len > LARGEST / 4 {
            return map_alone(len);
        }
        if self.left < len {
            let size = self.asked.next_power_of_two().clamp(4 * HUGE, LARGEST);
            let Some(start) = map_huge(size) else { return map_alone(len) };
            let rest = std::mem::replace(self, Self { next: start, left: size, asked: self.asked });
            drop(rest);
        }
        let piece = NonNull::new(std::ptr::with_exposed_provenance_mut(self.next));
        self.next += len;
        self.left -= len;
        piece
    }
}

/// Fresh memory, zero, of a whole number of pages.
pub(super) fn map(len: usize) -> Option<NonNull<u8>> {
    let cut = RESERVE.try_with(|reserve| reserve.try_borrow_mut().ok()?.cut(len));
    match cut {
        Ok(Some(piece)) => Some(piece),
        // The thread is on its way out, or there is not that much memory in one piece.
        Ok(None) | Err(_) => map_alone(len),
    }
}

fn map_alone(len: usize) -> Option<NonNull<u8>> {
    // SAFETY: a fresh private mapping at an address of the kernel's choice touches nothing else.
    let mapping = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            len,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
    };
    NonNull::new(mapping.ok()?.cast())
}

/// A mapping of huge pages, if the kernel likes: its address.
fn map_huge(size: usize) -> Option<usize> {
    let whole = map_alone(size + HUGE)?;
    let at = whole.as_ptr().expose_provenance();
    let start = at.next_multiple_of(HUGE);
    let piece = |at: usize| NonNull::new(std::ptr::with_exposed_provenance_mut(at));
    for (from, to) in [(at, start), (start + size, at + size + HUGE)] {
        if from < to
            && let Some(edge) = piece(from)
        {
            // SAFETY: the edges of the mapping, which nothing uses.
            unsafe { unmap(edge, to - from) };
        }
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let memory = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: the range is this mapping, and the advice changes no contents. It may be refused.
        let _ = unsafe { madvise(memory, size, Advice::LinuxHugepage) };
    }
    Some(start)
}

/// Gives memory back.
///
/// # Safety
/// The memory is a piece that [`map`] gave, or a part of one, and nothing uses it any more.
pub(super) unsafe fn unmap(ptr: NonNull<u8>, len: usize) {
    if len > 0 {
        // SAFETY: forwarded from the caller. Unmapping memory of ours cannot fail, unless a mapping would be cut in two and there are too many.
        let _ = unsafe { munmap(ptr.as_ptr().cast(), len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_zero_apart_and_go_one_by_one() {
        std::thread::spawn(|| {
            let len = 1 << 20;
            let pieces: Vec<_> = (0..40).map(|_| map(len).unwrap()).collect();
            for (number, piece) in pieces.iter().enumerate() {
                // SAFETY: the piece is ours, and of that length.
                let bytes = unsafe { std::slice::from_raw_parts_mut(piece.as_ptr(), len) };
                assert!(bytes.iter().all(|byte| *byte == 0));
                bytes.fill(number as u8 + 1);
            }
            for (number, piece) in pieces.into_iter().enumerate().rev() {
                // SAFETY: as above.
                let bytes = unsafe { std::slice::from_raw_parts(piece.as_ptr(), len) };
                assert!(bytes.iter().all(|byte| *byte == number as u8 + 1));
                // SAFETY: nothing uses it any more.
                unsafe { unmap(piece, len) };
            }
            // Asks from scratch what was given back.
            assert!(map(3 * len).is_some_and(|piece| {
                // SAFETY: as above.
                unsafe { std::slice::from_raw_parts(piece.as_ptr(), len) }
                    .iter()
                    .all(|byte| *byte == 0)
            }));
        })
        .join()
        .unwrap();
    }
}
