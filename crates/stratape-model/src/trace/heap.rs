//! [`Heap`]: where arrays lie, as the C library places them.
//!
//! A compiler that saves values one by one asks `malloc` for an array for each of them, and so does the caller for arguments. glibc puts a header of
//! 8 bytes before each array, which begins at a multiple of 16; arrays of less than 128 KiB lie one after the other, larger ones have pages of
//! their own, below those that were asked for before. So two arrays of 32 KiB begin 32 KiB and 16 bytes apart, nearly the same set of a cache, and
//! two of 2 MiB begin 2 MiB and a page apart.

/// From so many bytes on an array has pages of its own.
const MAPPED: u64 = 128 << 10;
const PAGE: u64 = 4096;

/// Arrays that have been placed.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    /// Where the next small array's header lies.
    next: u64,
    /// The lowest page of its own that an array has.
    mapped: u64,
}

impl Heap {
    /// Small arrays from an address upwards, large ones from another one downwards.
    pub(super) fn new(small: u64, large: u64) -> Self {
        Self { next: small, mapped: large }
    }

    /// Places an array, and returns where its first element lies.
    pub(super) fn place(&mut self, bytes: u64) -> u64 {
        if bytes >= MAPPED {
            self.mapped -= (bytes + 16).next_multiple_of(PAGE).min(self.mapped);
            return self.mapped + 16;
        }
        let chunk = self.next;
        self.next += (bytes + 8).next_multiple_of(16).max(32);
        chunk + 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_lie_as_malloc_places_them() {
        let mut heap = Heap::new(0x1000, 0x100_0000);
        // 32768 bytes and 8 of a header are 32776, in sixteens 32784.
        let columns = [heap.place(32768), heap.place(32768), heap.place(1), heap.place(8)];
        assert_eq!(columns, [0x1010, 0x1010 + 32784, 0x1010 + 65568, 0x1010 + 65600]);
        // 2 MiB and 16 bytes are 513 pages; the next one lies below.
        let first = heap.place(2 << 20);
        assert_eq!(first, 0x100_0000 - 513 * 4096 + 16);
        assert_eq!(heap.place(128 << 10), first - 33 * 4096);
    }
}
