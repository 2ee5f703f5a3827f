//! The slabs of a [`Tape`](super::Tape), in a box of their own.
//!
//! They are apart from the tape's hot fields for a reason: the cold paths take the slabs and give
//! back where to go on, by value, so that the address of the tape itself is never handed to code
//! that LLVM cannot see. It then knows that nothing else changes the cursor, and keeps it in a
//! register through a loop of pushes or pops, as it does with an index into a raw array.
//!
//! Invariants: `blocks[..current]` are in use, all but the last of them full; the others are spare.
//! `pages` has an entry for every page of every block: the address that element 0 of the tape would
//! have if all of it lay in one piece with that page. Adding an element's index to its page's entry
//! gives its place.

use std::alloc::Layout;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::block::Block;
use crate::error::OutOfMemory;
use crate::geometry::Geometry;
use crate::pool::Pool;

pub(super) struct Slabs<T> {
    blocks: Vec<Block>,
    pages: Vec<*const T>,
    current: usize,
    pool: Option<Pool>,
    owns: PhantomData<T>,
}

/// A slab that has become the topmost one, or none: two registers.
#[repr(C)]
pub(super) struct Entered<T> {
    pub(super) base: Option<NonNull<T>>,
    pub(super) capacity: usize,
}

/// Makes a spare slab, and the box for all of them if need be. `inline` is the size of the tape's
/// inline buffer. If there is no memory, nothing is spare afterwards.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions, reason = "`extern \"C\"` only to rule out unwinding")]
pub(super) extern "C" fn grow<T>(
    slabs: Option<Box<Slabs<T>>>,
    inline: usize,
) -> Option<Box<Slabs<T>>> {
    let mut slabs = slabs.or_else(|| try_box(Slabs::new(None)))?;
    // A failure shows in there being no spare slab.
    let _ = slabs.add(inline);
    Some(slabs)
}

/// Enters the spare slab above the present one, empty, if there is one.
#[cold]
#[inline(never)]
pub(super) extern "C" fn step_up<T>(slabs: &mut Slabs<T>) -> Entered<T> {
    if slabs.current == slabs.blocks.len() {
        return Entered { base: None, capacity: 0 };
    }
    slabs.enter(slabs.current)
}

/// Leaves the empty topmost slab for the full one below it, or for the full inline buffer.
#[cold]
#[inline(never)]
pub(super) extern "C" fn step_down<T>(slabs: &mut Slabs<T>) -> Entered<T> {
    match slabs.current.checked_sub(2) {
        None => slabs.leave(),
        Some(slab) => slabs.enter(slab),
    }
}

impl<T> Slabs<T> {
    const GEOMETRY: Geometry = Geometry::of::<T>();

    pub(super) fn new(pool: Option<Pool>) -> Self {
        Self { blocks: Vec::new(), pages: Vec::new(), current: 0, pool, owns: PhantomData }
    }

    /// The slabs that hold elements, lowest first.
    pub(super) fn in_use(&self) -> &[Block] {
        &self.blocks[..self.current]
    }

    /// Elements that all slabs together have room for.
    pub(super) fn capacity(&self) -> usize {
        Self::GEOMETRY.before(self.blocks.len())
    }

    /// Slabs, spare ones included.
    pub(super) fn count(&self) -> usize {
        self.blocks.len()
    }

    /// Bytes of slab number `slab`.
    pub(super) fn bytes_of(slab: usize) -> usize {
        Self::GEOMETRY.capacity(slab).saturating_mul(size_of::<T>())
    }

    pub(super) fn own_pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }

    /// The place of element `index` of a tape with `inline` elements in its inline buffer.
    ///
    /// # Safety
    /// The element must be on the tape, and not in the inline buffer.
    #[inline(always)]
    pub(super) unsafe fn place(&self, index: usize, inline: usize) -> *const T {
        let page = Self::GEOMETRY.page_of(index - inline);
        // SAFETY: the element lies in a slab, so its page has an entry.
        let origin = unsafe { *self.pages.get_unchecked(page) };
        origin.wrapping_add(index)
    }

    /// Makes the slab with the last of the first `in_slabs` elements the topmost one. Returns it,
    /// with the number of elements in the slabs below it.
    pub(super) fn cut(&mut self, in_slabs: usize) -> (Entered<T>, usize) {
        match in_slabs.checked_sub(1) {
            None => (self.leave(), 0),
            Some(last) => {
                let slab = Self::GEOMETRY.slab_of(last);
                (self.enter(slab), Self::GEOMETRY.before(slab))
            }
        }
    }

    /// Hands the slabs that are not in use to the pool.
    pub(super) fn release_spare(&mut self) {
        self.pages.truncate(Self::GEOMETRY.before(self.current) / Self::GEOMETRY.page());
        self.pages.shrink_to_fit();
        let pool = self.pool.as_ref().unwrap_or_else(|| Pool::global());
        for mut block in self.blocks.drain(self.current..) {
            block.taint();
            pool.give(block);
        }
        self.blocks.shrink_to_fit();
    }

    /// Makes a spare slab.
    fn add(&mut self, inline: usize) -> Result<(), OutOfMemory> {
        let bytes = Self::bytes_of(self.blocks.len());
        let capacity = Self::GEOMETRY.capacity(self.blocks.len());
        let new_pages = capacity / Self::GEOMETRY.page();
        self.blocks.try_reserve(1).map_err(|_| OutOfMemory { bytes })?;
        self.pages.try_reserve(new_pages).map_err(|_| OutOfMemory { bytes })?;
        let pool = self.pool.as_ref().unwrap_or_else(|| Pool::global());
        let block = pool.take_raw(bytes, align_of::<T>());
        let mut block = block.map_err(|error| error.as_out_of_memory(bytes))?;
        // Slabs double, so most of this one will be used if any of it is.
        block.populate();
        let first = inline + Self::GEOMETRY.before(self.blocks.len());
        let origin = block.ptr().cast::<T>().as_ptr().wrapping_sub(first);
        self.pages.extend(std::iter::repeat_n(origin.cast_const(), new_pages));
        self.blocks.push(block);
        Ok(())
    }

    /// Makes `slab` the topmost in use.
    fn enter(&mut self, slab: usize) -> Entered<T> {
        self.current = slab + 1;
        let base = Some(self.blocks[slab].ptr().cast());
        Entered { base, capacity: Self::GEOMETRY.capacity(slab) }
    }

    fn leave(&mut self) -> Entered<T> {
        self.current = 0;
        Entered { base: None, capacity: 0 }
    }
}

impl<T> Drop for Slabs<T> {
    fn drop(&mut self) {
        self.current = 0;
        self.release_spare();
    }
}

/// `Box::new`, or nothing when the system has no memory.
fn try_box<T>(value: T) -> Option<Box<T>> {
    const { assert!(size_of::<T>() > 0) };
    let layout = Layout::new::<T>();
    // SAFETY: the layout has a size; the memory is that of a `Box<T>`, and is initialised before
    // it becomes one.
    unsafe {
        let place = std::alloc::alloc(layout).cast::<T>();
        if place.is_null() {
            return None;
        }
        place.write(value);
        Some(Box::from_raw(place))
    }
}
