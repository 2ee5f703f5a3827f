//! [`World`]: what all buffers of a gradient hold, as a part of the state of a time loop.
//!
//! Versions do not change, so a state in memory costs nothing but the versions themselves, which it keeps alive. Buffers that an iteration makes for itself are left out, so that a
//! loop of many steps holds no more than one of few. Only what differs from the start of the loop is written to a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use stratape_checkpoint::Snapshot;
use stratape_checkpoint::snapshot::{Decoder, Encoder, Malformed};

use crate::buffer::{RawBuffer, Shape};
use crate::element::ScalarType;
use crate::error::GpuError;

use super::session::{Content, Slot, within};

type Slots = BTreeMap<usize, Slot>;

/// What buffers hold, at one time of a loop.
#[derive(Clone)]
pub struct World {
    slots: Slots,
    /// What they held when the loop began; it is not written.
    start: Option<Arc<Slots>>,
    /// The number of the last buffer by then, and now.
    first: usize,
    made: usize,
    /// What was read from a file, until it is needed.
    read: Vec<Read>,
}

/// A buffer as a file has it.
#[derive(Clone)]
struct Read {
    id: usize,
    scalar: ScalarType,
    arity: usize,
    len: usize,
    /// The scalars; nothing if they are zeros of any type.
    bytes: Option<Vec<u8>>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("made", &self.made).finish_non_exhaustive()
    }
}

impl World {
    /// What buffers hold where a loop begins.
    ///
    /// # Errors
    /// Outside a session.
    pub fn here() -> Result<Self, GpuError> {
        within(|session| {
            let (slots, made) = session.slots();
            let start = Some(Arc::new(slots.clone()));
            session.begin(start.clone());
            Ok(Self { slots, start, first: made, made, read: Vec::new() })
        })
    }

    /// Buffers hold this again.
    ///
    /// # Errors
    /// If what was read from a file does not fit the device.
    pub fn enter(&mut self) -> Result<(), GpuError> {
        within(|session| {
            if self.start.is_none() {
                self.start = session.start();
            }
            let started = self.start.clone().unwrap_or_default();
            for Read { id, scalar, arity, len, bytes } in std::mem::take(&mut self.read) {
                let device = match started.get(&id) {
                    Some(slot) => slot.device.clone(),
                    None => session.device(0)?,
                };
                let content = match bytes {
                    None => Content::Zeros(len),
                    Some(bytes) => {
                        let raw = RawBuffer::new(device.kind(), Shape { scalar, arity, len })?;
                        raw.write_bytes(&bytes)?;
                        Content::Elements(Arc::new(raw))
                    }
                };
                self.slots.insert(id, Slot { device, content });
            }
            for (id, slot) in started.iter().filter(|(id, _)| **id <= self.first) {
                self.slots.entry(*id).or_insert_with(|| slot.clone());
            }
            session.set_slots(self.slots.clone(), self.made);
            Ok(())
        })
    }

    /// Becomes what buffers hold now. Those made since the loop began are left out, but for those by these numbers.
    ///
    /// # Errors
    /// Outside a session.
    pub fn leave(&mut self, carried: &[usize]) -> Result<(), GpuError> {
        within(|session| {
            let (mut slots, made) = session.slots();
            slots.retain(|id, _| *id <= self.first || carried.contains(id));
            (self.slots, self.made) = (slots, made);
            Ok(())
        })
    }

    /// What differs from the start of the loop.
    fn changed(&self) -> Vec<(usize, &Content)> {
        let same = |id: &usize, slot: &Slot| {
            let start = self.start.as_ref().and_then(|start| start.get(id));
            start.is_some_and(|start| start.content.is(&slot.content))
        };
        let changed = self.slots.iter().filter(|(id, slot)| !same(id, slot));
        changed.map(|(id, slot)| (*id, &slot.content)).collect()
    }
}

const SCALARS: [ScalarType; 13] = [
    ScalarType::Bool,
    ScalarType::F32,
    ScalarType::F64,
    ScalarType::I8,
    ScalarType::I16,
    ScalarType::I32,
    ScalarType::I64,
    ScalarType::Isize,
    ScalarType::U8,
    ScalarType::U16,
    ScalarType::U32,
    ScalarType::U64,
    ScalarType::Usize,
];

/// Number, kind of content, scalar, arity, length.
const HEAD: usize = 5 * 8;

fn body_len(content: &Content) -> usize {
    match content {
        Content::Zeros(_) => 0,
        Content::Elements(raw) => raw.shape().bytes(),
    }
}

impl Snapshot for World {
    fn encoded_len(&self) -> usize {
        3 * 8 + self.changed().iter().map(|(_, content)| HEAD + body_len(content)).sum::<usize>()
    }

    fn encode(&self, out: &mut Encoder<'_>) {
        let changed = self.changed();
        let word = |out: &mut Encoder<'_>, word: usize| out.bytes(&(word as u64).to_le_bytes());
        for number in [self.first, self.made, changed.len()] {
            word(out, number);
        }
        for (id, content) in changed {
            let (scalar, arity, len) = match content {
                Content::Zeros(len) => (ScalarType::F64, 1, *len),
                Content::Elements(raw) => (raw.scalar(), raw.arity(), raw.len()),
            };
            let bytes = match content {
                Content::Zeros(_) => Some(Vec::new()),
                Content::Elements(raw) => {
                    let mut bytes = vec![0; body_len(content)];
                    raw.read_bytes(&mut bytes).is_ok().then_some(bytes)
                }
            };
            // 0: zeros, 1: elements, 2: they could not be read from the device, and the state is made again from the one before.
            let kind = match (content, &bytes) {
                (Content::Zeros(_), _) => 0,
                (_, Some(_)) => 1,
                (_, None) => 2,
            };
            let scalar = SCALARS.iter().position(|one| *one == scalar).unwrap_or_default();
            for number in [id, kind, scalar, arity, len] {
                word(out, number);
            }
            out.bytes(&bytes.unwrap_or_else(|| vec![0; body_len(content)]));
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let word = |from: &mut Decoder<'_>| -> Result<usize, Malformed> {
            let bytes = from.bytes(8)?;
            let word = bytes.try_into().map_or(u64::MAX, u64::from_le_bytes);
            usize::try_from(word).map_err(|_| from.malformed("a number of buffers"))
        };
        let (first, made, count) = (word(from)?, word(from)?, word(from)?);
        let mut read = Vec::new();
        for _ in 0..count {
            let (id, kind, scalar) = (word(from)?, word(from)?, word(from)?);
            let (arity, len) = (word(from)?, word(from)?);
            let scalar = SCALARS.get(scalar).copied();
            let scalar = scalar.ok_or_else(|| from.malformed("a type of numbers"))?;
            let scalars = len.checked_mul(arity).and_then(|n| n.checked_mul(scalar.bytes()));
            let bytes = match kind {
                0 => None,
                1 => {
                    let length = scalars.ok_or_else(|| from.malformed("the length of a buffer"))?;
                    Some(from.bytes(length)?.to_vec())
                }
                _ => return Err(from.malformed("the elements of a buffer")),
            };
            read.push(Read { id, scalar, arity, len, bytes });
        }
        Ok(Self { slots: Slots::new(), start: None, first, made, read })
    }
}
