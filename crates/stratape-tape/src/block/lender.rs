//! Memory of others: an object that lends its bytes to a block, and takes them back when the block is dropped.

use std::ptr::NonNull;

use crate::error::SourceError;
use crate::sync::shielded;

/// An object whose bytes are in use.
///
/// It lies in a box of its own and is not touched between [`new`](Self::new), which borrows its bytes, and its destructor. In
/// terms of lifetimes: the exclusive borrow that `as_mut` takes lasts until just before the object is dropped. So what safe code can do
/// with a `&mut [u8]` can be done with the bytes, for as long as the lender lives, whatever the object is.
pub(super) struct Lender {
    /// Owned. A raw pointer and not the box, since moving a box claims all that it leads to.
    object: NonNull<dyn AsMut<[u8]> + Send>,
}

// SAFETY: the object is `Send`, and nothing but the destructor touches it.
unsafe impl Send for Lender {}
// SAFETY: a shared lender gives access to nothing.
unsafe impl Sync for Lender {}

impl Lender {
    /// Borrows the object's bytes. They are valid until the lender is dropped, and nobody else has them.
    pub(super) fn new(
        memory: impl AsMut<[u8]> + Send + 'static,
    ) -> Result<(Self, NonNull<[u8]>), SourceError> {
        let memory: Box<dyn AsMut<[u8]> + Send> = Box::new(memory);
        let object = NonNull::from(Box::leak(memory));
        let lender = Self { object };
        // SAFETY: the object was just leaked from its box, so it is there, and this is the only way to it.
        let borrow = || NonNull::from(unsafe { &mut *object.as_ptr() }.as_mut());
        let bytes = shielded("the memory of a block", borrow).ok_or(SourceError::Panicked)?;
        Ok((lender, bytes))
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `Box::leak` and is made a box again only here.
        let memory = unsafe { Box::from_raw(self.object.as_ptr()) };
        // Blocks are dropped in places that must not unwind.
        shielded("the destructor of a block's memory", || drop(memory));
    }
}
