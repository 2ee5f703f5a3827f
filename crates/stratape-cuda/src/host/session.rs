//! [`Session`]: the buffers of a host function whose gradient runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::buffer::{Buffer, RawBuffer, Shape, Store};
use crate::device::{Device, Kind};
use crate::element::{Element, ScalarType};
use crate::error::GpuError;
use crate::stream::Stream;

use super::operations::sum_into;
use super::saved::{Kept, Saved};

thread_local! {
    /// Of the gradients that run on this thread, the innermost last.
    static SESSIONS: RefCell<Vec<Session>> = const { RefCell::new(Vec::new()) };
}

/// The buffers of a gradient that runs, by number.
#[derive(Default)]
pub(super) struct Session {
    devices: Vec<Device>,
    streams: Vec<Stream>,
    slots: BTreeMap<usize, Slot>,
    /// What they held where the loop under `#[checkpoint]` that runs has begun.
    start: Option<Arc<BTreeMap<usize, Slot>>>,
    /// Adjoints that are not zero.
    shadows: HashMap<usize, Arc<RawBuffer>>,
    borrowed: HashMap<usize, Borrowed>,
    made: usize,
    saved: Saved,
}

/// A buffer: where it is, and what it holds.
#[derive(Clone)]
pub(super) struct Slot {
    pub(super) device: Device,
    pub(super) content: Content,
}

/// A version of a buffer. No operation changes one that others can see.
#[derive(Clone)]
pub(super) enum Content {
    /// Zeros, of a type that the first use tells.
    Zeros(usize),
    Elements(Arc<RawBuffer>),
}

impl Content {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Zeros(len) => *len,
            Self::Elements(raw) => raw.len(),
        }
    }

    /// Whether two versions are one.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Zeros(a), Self::Zeros(b)) => a == b,
            (Self::Elements(a), Self::Elements(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// A parameter of the function: the caller's buffer, and its shadow.
#[derive(Clone)]
struct Borrowed {
    own: Arc<RawBuffer>,
    shadow: Option<Arc<RawBuffer>>,
    /// What the function has made of it.
    made: Option<Content>,
}

/// A session that lasts as long as this value.
#[derive(Debug)]
#[must_use]
pub struct Scope(());

impl Scope {
    pub fn open() -> Self {
        SESSIONS.with_borrow_mut(|all| all.push(Session::default()));
        Self(())
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // What it holds is given back outside the borrow.
        let ended = SESSIONS.try_with(|all| all.try_borrow_mut().ok()?.pop());
        drop(ended);
    }
}

/// Does something in the session of the thread.
pub(super) fn within<R>(
    f: impl FnOnce(&mut Session) -> Result<R, GpuError>,
) -> Result<R, GpuError> {
    SESSIONS.with_borrow_mut(|all| match all.last_mut() {
        Some(session) => f(session),
        None => Err(GpuError::Unsupported(
            "operations on a device in a part of a gradient that runs on another thread: leave out `#[parallel]` and `workers`".to_owned(),
        )),
    })
}

impl Session {
    /// Keeps a version for the way back.
    pub(super) fn keep(&mut self, content: Content) -> Kept {
        self.saved.keep(content)
    }

    /// A copy of a buffer, to be a new version.
    pub(super) fn duplicate(&self, raw: &RawBuffer) -> Result<Arc<RawBuffer>, GpuError> {
        self.saved.duplicate(raw).map(Arc::new)
    }

    pub(super) fn add(&mut self, device: Device, content: Content) -> usize {
        self.made += 1;
        self.slots.insert(self.made, Slot { device, content });
        self.made
    }

    pub(super) fn slots(&self) -> (BTreeMap<usize, Slot>, usize) {
        (self.slots.clone(), self.made)
    }

    pub(super) fn set_slots(&mut self, slots: BTreeMap<usize, Slot>, made: usize) {
        (self.slots, self.made) = (slots, made);
    }

    pub(super) fn begin(&mut self, start: Option<Arc<BTreeMap<usize, Slot>>>) {
        self.start = start;
    }

    pub(super) fn start(&self) -> Option<Arc<BTreeMap<usize, Slot>>> {
        self.start.clone()
    }

    pub(super) fn device(&self, at: usize) -> Result<Device, GpuError> {
        self.devices.get(at).cloned().ok_or_else(lost)
    }

    pub(super) fn stream(&self, at: usize) -> Option<Stream> {
        self.streams.get(at.checked_sub(1)?).cloned()
    }

    fn slot(&mut self, id: usize) -> Result<&mut Slot, GpuError> {
        self.slots.get_mut(&id).ok_or_else(lost)
    }

    pub(super) fn device_of(&mut self, id: usize) -> Result<Device, GpuError> {
        Ok(self.slot(id)?.device.clone())
    }

    pub(super) fn content(&mut self, id: usize) -> Result<Content, GpuError> {
        Ok(self.slot(id)?.content.clone())
    }

    /// Sets a version, and returns the one before.
    pub(super) fn replace(&mut self, id: usize, content: Content) -> Result<Content, GpuError> {
        Ok(std::mem::replace(&mut self.slot(id)?.content, content))
    }

    /// What a buffer holds, as elements of a type, which is its own unless that is open.
    pub(super) fn elements(
        &mut self,
        id: usize,
        (scalar, arity): (ScalarType, usize),
    ) -> Result<Arc<RawBuffer>, GpuError> {
        let slot = self.slot(id)?;
        match &slot.content {
            Content::Elements(raw) => Ok(Arc::clone(raw)),
            Content::Zeros(len) => {
                let raw = Arc::new(RawBuffer::zeros(
                    slot.device.kind(),
                    Shape { scalar, arity, len: *len },
                )?);
                slot.content = Content::Elements(Arc::clone(&raw));
                Ok(raw)
            }
        }
    }

    /// What a buffer holds.
    pub(super) fn typed<T: Element>(&mut self, id: usize) -> Result<Buffer<T>, GpuError> {
        Buffer::sharing(&*self.elements(id, (T::SCALAR, T::ARITY))?)
    }

    pub(super) fn has_shadow(&self, id: usize) -> bool {
        self.shadows.contains_key(&id)
    }

    pub(super) fn take_shadow(&mut self, id: usize) -> Option<Arc<RawBuffer>> {
        self.shadows.remove(&id)
    }

    /// The adjoint of a buffer is zero again.
    pub(super) fn clear_shadow(&mut self, id: usize) {
        self.shadows.remove(&id);
    }

    /// The adjoint of a buffer, to be added to in place.
    pub(super) fn shadow(
        &mut self,
        id: usize,
        like: &RawBuffer,
    ) -> Result<Arc<RawBuffer>, GpuError> {
        if let Some(shadow) = self.shadows.get(&id) {
            return Ok(Arc::clone(shadow));
        }
        let shadow = Arc::new(RawBuffer::zeros(like.owner(), like.shape())?);
        self.shadows.insert(id, Arc::clone(&shadow));
        Ok(shadow)
    }

    /// Adds to the adjoint of a buffer. What is added may become the adjoint itself.
    pub(super) fn add_to_shadow(
        &mut self,
        id: usize,
        adjoint: Arc<RawBuffer>,
    ) -> Result<(), GpuError> {
        let device = self.device_of(id)?;
        match self.shadows.get(&id) {
            Some(shadow) => sum_into(&device, shadow, &adjoint),
            None => {
                self.shadows.insert(id, adjoint);
                Ok(())
            }
        }
    }

    /// Notes what the function has made of a parameter.
    pub(super) fn finish(&mut self, id: usize) -> Result<(), GpuError> {
        let content = self.content(id)?;
        if let Some(borrowed) = self.borrowed.get_mut(&id) {
            borrowed.made = Some(content);
        }
        Ok(())
    }

    /// The weights of a parameter that is a result.
    pub(super) fn weigh(&mut self, id: usize) -> Result<(), GpuError> {
        let Some(Borrowed { shadow: Some(shadow), .. }) = self.borrowed.get(&id).cloned() else {
            return Ok(());
        };
        self.add_to_shadow(id, Arc::new(shadow.duplicate(None)?))
    }

    /// Adds the adjoint of a parameter to its shadow; of one that is a result, sets both. Comes last: until then what the caller has passed is needed.
    pub(super) fn hand_out(&mut self, id: usize, is_result: bool) -> Result<(), GpuError> {
        let Some(Borrowed { own, shadow, made }) = self.borrowed.get(&id).cloned() else {
            return Ok(());
        };
        match made {
            Some(Content::Elements(raw)) if !Arc::ptr_eq(&raw, &own) => own.copy_from(&raw)?,
            Some(Content::Zeros(_)) => own.fill_zero()?,
            _ => {}
        }
        let Some(shadow) = shadow else { return Ok(()) };
        let adjoint = self.take_shadow(id);
        match (adjoint, is_result) {
            (Some(adjoint), true) => shadow.copy_from(&adjoint),
            (None, true) => shadow.fill_zero(),
            (Some(adjoint), false) => sum_into(&self.device_of(id)?, &shadow, &adjoint),
            (None, false) => Ok(()),
        }
    }
}

fn lost() -> GpuError {
    GpuError::Unsupported("a buffer of another function was used in a gradient".to_owned())
}

fn note<T>(list: impl FnOnce(&mut Session) -> &mut Vec<T>, item: T) -> Result<usize, GpuError> {
    within(|session| {
        let list = list(session);
        list.push(item);
        Ok(list.len())
    })
}

/// The number of a device of the caller's.
///
/// # Errors
/// Outside a [`Scope`].
pub fn adopt_device(device: &Device) -> Result<usize, GpuError> {
    Ok(note(|session| &mut session.devices, device.clone())? - 1)
}

/// The number of a stream of the caller's.
///
/// # Errors
/// Outside a [`Scope`].
pub fn adopt_stream(stream: &Stream) -> Result<usize, GpuError> {
    note(|session| &mut session.streams, stream.clone())
}

fn adopted(own: Arc<RawBuffer>, shadow: Option<Arc<RawBuffer>>) -> Result<usize, GpuError> {
    if let Some(shadow) = &shadow {
        own.owner().check(shadow.owner(), "a shadow")?;
        crate::buffer::same_length("a shadow", own.len(), shadow.len())?;
    }
    let device = Device::of(own.owner().clone(), own.is_checking());
    within(|session| {
        let id = session.add(device, Content::Elements(Arc::clone(&own)));
        session.borrowed.insert(id, Borrowed { own, shadow, made: None });
        Ok(id)
    })
}

/// The number of a parameter.
///
/// # Errors
/// Outside a [`Scope`].
pub fn adopt<T: Element>(buffer: &Buffer<T>) -> Result<usize, GpuError> {
    adopted(buffer.shared(), None)
}

/// The number of a parameter with a shadow.
///
/// # Errors
/// Outside a [`Scope`]; if the shadow has another length, or is elsewhere.
pub fn adopt_with<T: Element>(
    buffer: &Buffer<T>,
    shadow: &mut Buffer<T>,
) -> Result<usize, GpuError> {
    adopted(buffer.shared(), Some(shadow.shared()))
}

/// The number of a parameter that the function changes.
///
/// # Errors
/// Outside a [`Scope`].
pub fn adopt_mut<T: Element>(buffer: &mut Buffer<T>) -> Result<usize, GpuError> {
    adopted(buffer.shared(), None)
}

/// The number of a parameter that the function changes, with a shadow.
///
/// # Errors
/// Outside a [`Scope`]; if the shadow has another length, or is elsewhere.
pub fn adopt_mut_with<T: Element>(
    buffer: &mut Buffer<T>,
    shadow: &mut Buffer<T>,
) -> Result<usize, GpuError> {
    adopted(buffer.shared(), Some(shadow.shared()))
}

/// The kinds of memory of two buffers, if they are of one.
pub(super) fn both<'a>(a: &'a RawBuffer, b: &'a RawBuffer) -> (&'a Store, &'a Store, &'a Kind) {
    (a.store(), b.store(), a.owner())
}
