//! The slabs of an in-memory tape: how large each is, and how element `i` is found in one step.
//!
//! Slabs double from one page to [`CAP_BYTES`] and stay at that size. A *page* here is the unit of
//! the directory, [`PAGE_BYTES`] or one element: every slab is a whole number of pages, and the
//! directory has an entry a page, so that finding an element is one shift and one load whatever
//! the slab sizes are.

/// Size of the first slab, and of a page of the directory.
pub(crate) const PAGE_BYTES: usize = 16 << 10;
/// Size at which slabs stop growing: a slab being filled for the first time should still be in the
/// second-level cache after the kernel has cleared it.
pub(crate) const CAP_BYTES: usize = 1 << 20;

/// The slab sizes for elements of one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    page_log: u32,
    cap_log: u32,
}

impl Geometry {
    pub(crate) const fn of<T>() -> Self {
        Self::of_size(if size_of::<T>() == 0 { 1 } else { size_of::<T>() })
    }

    const fn of_size(size: usize) -> Self {
        Self { page_log: fit_log(PAGE_BYTES, size), cap_log: fit_log(CAP_BYTES, size) }
    }

    /// Elements of a page.
    pub(crate) const fn page(self) -> usize {
        1 << self.page_log
    }

    /// The page of element `i`, counted from the first slab.
    #[inline(always)]
    pub(crate) const fn page_of(self, i: usize) -> usize {
        i >> self.page_log
    }

    /// Elements in slab `k`.
    #[inline]
    pub(crate) const fn capacity(self, k: usize) -> usize {
        let steps = (self.cap_log - self.page_log) as usize;
        1 << (self.page_log as usize + if k < steps { k } else { steps })
    }

    /// Elements in the slabs below slab `k`.
    #[inline]
    pub(crate) const fn before(self, k: usize) -> usize {
        let (first, steps) = (1 << self.page_log, (self.cap_log - self.page_log) as usize);
        if k <= steps { (first << k) - first } else { ((k - steps + 1) << self.cap_log) - first }
    }

    /// The slab of element `i`.
    pub(crate) const fn slab_of(self, i: usize) -> usize {
        let p = i + self.page();
        if p >> self.cap_log != 0 {
            (self.cap_log - self.page_log) as usize + (p >> self.cap_log) - 1
        } else {
            (p.ilog2() - self.page_log) as usize
        }
    }
}

/// log2 of the most elements of `size` bytes, a power of two and at least one, in `bytes`.
const fn fit_log(bytes: usize, size: usize) -> u32 {
    let count = bytes / size;
    if count == 0 { 0 } else { count.ilog2() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_agree_with_a_walk_over_the_slabs() {
        for size in [1, 2, 8, 12, 24, 100, 4096, 5000, 20_000, CAP_BYTES, CAP_BYTES * 3] {
            let geometry = Geometry::of_size(size);
            let (mut slab, mut offset) = (0, 0);
            for i in 0..(8 * CAP_BYTES / size).clamp(50, 1 << 21) {
                assert_eq!(geometry.slab_of(i), slab, "size {size}, element {i}");
                assert_eq!(geometry.before(slab) + offset, i);
                offset += 1;
                if offset == geometry.capacity(slab) {
                    (slab, offset) = (slab + 1, 0);
                }
            }
        }
    }

    #[test]
    fn slabs_are_whole_pages_within_the_cap() {
        let geometry = Geometry::of::<f64>();
        assert_eq!(geometry.capacity(0) * 8, PAGE_BYTES);
        assert_eq!(geometry.capacity(1000) * 8, CAP_BYTES);
        for slab in 0..20 {
            assert_eq!(geometry.capacity(slab) % geometry.page(), 0);
        }
    }
}
