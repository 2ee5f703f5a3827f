//! Which slab holds element `i` of an in-memory tape, in a handful of instructions.
//!
//! Slabs double from [`FIRST_BYTES`] up to [`CAP_BYTES`] and stay at that size; every slab holds
//! a power of two of elements. Slab `k` below the cap holds `first << k` elements, so with
//! `p = i + first` the slab is the position of p's highest bit, and the offset is the rest of p.
//! Above the cap it is a shift and a mask.

/// Size of the first slab.
pub(crate) const FIRST_BYTES: usize = 4 << 10;
/// Size at which slabs stop growing.
pub(crate) const CAP_BYTES: usize = 4 << 20;

/// The slab sizes for elements of one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    first_log: u32,
    cap_log: u32,
}

impl Geometry {
    pub(crate) const fn of<T>() -> Self {
        Self::of_size(if size_of::<T>() == 0 {
            1
        } else {
            size_of::<T>()
        })
    }

    const fn of_size(size: usize) -> Self {
        Self {
            first_log: fit_log(FIRST_BYTES, size),
            cap_log: fit_log(CAP_BYTES, size),
        }
    }

    /// Elements in slab `k`.
    #[inline]
    pub(crate) const fn capacity(self, k: usize) -> usize {
        let steps = (self.cap_log - self.first_log) as usize;
        1 << (self.first_log as usize + if k < steps { k } else { steps })
    }

    /// Elements in the slabs below slab `k`.
    #[inline]
    pub(crate) const fn before(self, k: usize) -> usize {
        let (first, steps) = (
            1 << self.first_log,
            (self.cap_log - self.first_log) as usize,
        );
        if k <= steps {
            (first << k) - first
        } else {
            ((k - steps + 1) << self.cap_log) - first
        }
    }

    /// Slab and offset of element `i`, counted from the first slab.
    #[inline(always)]
    pub(crate) const fn locate(self, i: usize) -> (usize, usize) {
        let p = i + (1 << self.first_log);
        let steps = (self.cap_log - self.first_log) as usize;
        if p >> self.cap_log != 0 {
            (
                steps + (p >> self.cap_log) - 1,
                p & ((1 << self.cap_log) - 1),
            )
        } else {
            let top = p.ilog2();
            ((top - self.first_log) as usize, p - (1 << top))
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
    fn locate_agrees_with_a_walk_over_the_slabs() {
        for size in [1, 2, 8, 12, 24, 100, 4096, 5000, CAP_BYTES, CAP_BYTES * 3] {
            let geometry = Geometry::of_size(size);
            let (mut slab, mut offset) = (0, 0);
            for i in 0..(4 * CAP_BYTES / size).clamp(50, 1 << 21) {
                assert_eq!(
                    geometry.locate(i),
                    (slab, offset),
                    "size {size}, element {i}"
                );
                assert_eq!(geometry.before(slab) + offset, i);
                offset += 1;
                if offset == geometry.capacity(slab) {
                    (slab, offset) = (slab + 1, 0);
                }
            }
        }
    }

    #[test]
    fn slabs_stay_within_the_cap() {
        let geometry = Geometry::of::<f64>();
        assert_eq!(geometry.capacity(0) * 8, FIRST_BYTES);
        assert_eq!(geometry.capacity(1000) * 8, CAP_BYTES);
    }
}
