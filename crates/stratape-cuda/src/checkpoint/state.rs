//! [`DeviceState`]: states that a [`DeviceStore`](super::DeviceStore) keeps without writing them as bytes.

use stratape_checkpoint::store::{TierError, missing};
use stratape_checkpoint::{Snapshot, snapshot};

use super::store::told;
use crate::buffer::Buffer;
use crate::device_tape::{Key, Layers};
use crate::element::Element;

/// A state of a time loop that consists of buffers and of values in host memory.
///
/// Buffers, numbers, `bool`, arrays, lists and tuples of such are; lists must have the same length at all times. Implement it for structs of your
/// own by naming every part, in the same order both times:
///
/// ```
/// use stratape_checkpoint::{Snapshot, snapshot};
/// use stratape_cuda::{Buffer, DeviceState, StateReader, StateWriter};
///
/// #[derive(Clone)]
/// struct Fluid {
///     density: Buffer<f64>,
///     time: f64,
/// }
///
/// impl DeviceState for Fluid {
///     fn save(&self, parts: &mut StateWriter<'_>) {
///         parts.buffer(&self.density);
///         parts.value(&self.time);
///     }
///     fn load(&mut self, parts: &mut StateReader<'_>) {
///         parts.buffer(&mut self.density);
///         parts.value(&mut self.time);
///     }
/// }
///
/// // What `#[derive(Snapshot)]` of the crate `stratape` generates:
/// impl Snapshot for Fluid {
///     fn encoded_len(&self) -> usize {
///         self.density.encoded_len() + self.time.encoded_len()
///     }
///     fn encode(&self, out: &mut snapshot::Encoder<'_>) {
///         self.density.encode(out);
///         self.time.encode(out);
///     }
///     fn decode(from: &mut snapshot::Decoder<'_>) -> Result<Self, snapshot::Malformed> {
///         Ok(Self { density: Snapshot::decode(from)?, time: Snapshot::decode(from)? })
///     }
/// }
/// ```
pub trait DeviceState: Snapshot {
    /// Hands over every part, buffers and values.
    fn save(&self, parts: &mut StateWriter<'_>);

    /// Takes every part back, in the same order.
    fn load(&mut self, parts: &mut StateReader<'_>);
}

/// Where the parts of a state are handed over. See [`DeviceState`].
pub struct StateWriter<'a> {
    pub(super) layers: &'a mut Layers,
    pub(super) step: u64,
    /// Buffers so far.
    pub(super) count: u32,
    pub(super) values: Vec<u8>,
    pub(super) bytes: u64,
    pub(super) result: Result<(), TierError>,
}

impl StateWriter<'_> {
    /// A buffer, which is copied. See [`DeviceState`] for an example.
    pub fn buffer<T: Element>(&mut self, buffer: &Buffer<T>) {
        if self.result.is_err() {
            return;
        }
        let copied =
            self.layers.owner().check(buffer.raw().owner(), "a buffer of the state").and_then(
                |()| self.layers.insert_copy((self.step, self.count), buffer.raw(), None),
            );
        match copied {
            Ok(()) => {
                self.count += 1;
                self.bytes += buffer.raw().shape().bytes() as u64;
            }
            Err(error) => self.result = Err(told(error)),
        }
    }

    /// A value in memory of the host. See [`DeviceState`] for an example.
    pub fn value<V: Snapshot>(&mut self, value: &V) {
        let bytes = snapshot::to_bytes(value);
        self.values.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.values.extend_from_slice(&bytes);
        self.bytes += bytes.len() as u64;
    }
}

/// Where the parts of a state are taken back. See [`DeviceState`].
pub struct StateReader<'a> {
    pub(super) layers: &'a mut Layers,
    pub(super) step: usize,
    pub(super) count: u32,
    pub(super) values: &'a [u8],
    pub(super) result: Result<(), TierError>,
}

impl StateReader<'_> {
    /// The next buffer, into this one. See [`DeviceState`] for an example.
    pub fn buffer<T: Element>(&mut self, buffer: &mut Buffer<T>) {
        if self.result.is_ok() {
            let key = (self.step as u64, self.count);
            self.count += 1;
            self.result = self.fill(key, buffer);
        }
    }

    fn fill<T: Element>(&mut self, key: Key, buffer: &mut Buffer<T>) -> Result<(), TierError> {
        let shape = self.layers.shape(key).ok_or_else(|| missing(self.step))?;
        shape.check::<T>().map_err(told)?;
        let fits = buffer.len() == shape.len
            && self.layers.owner().is(buffer.raw().owner())
            && buffer.raw().check().is_ok();
        if !fits {
            let (owner, stream) = (self.layers.owner(), self.layers.stream());
            *buffer = Buffer::unwritten(owner, shape.len, stream).map_err(told)?;
        }
        match self.layers.read(key, buffer.raw()).map_err(told)? {
            true => Ok(()),
            false => Err(missing(self.step)),
        }
    }

    /// The next value, into this one. See [`DeviceState`] for an example.
    pub fn value<V: Snapshot>(&mut self, value: &mut V) {
        if self.result.is_ok() {
            self.result = self.read_value(value);
        }
    }

    fn read_value<V: Snapshot>(&mut self, value: &mut V) -> Result<(), TierError> {
        let (len, rest) = self.values.split_first_chunk::<8>().ok_or_else(|| missing(self.step))?;
        let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let (bytes, rest) = rest.split_at_checked(len).ok_or_else(|| missing(self.step))?;
        self.values = rest;
        snapshot::read_into(value, bytes).map_err(|e| TierError::Undecodable(e.to_string()))
    }
}

impl<T: Element> DeviceState for Buffer<T> {
    fn save(&self, parts: &mut StateWriter<'_>) {
        parts.buffer(self);
    }

    fn load(&mut self, parts: &mut StateReader<'_>) {
        parts.buffer(self);
    }
}

macro_rules! values {
    ($($type:ty)*) => {$(
        impl DeviceState for $type {
            fn save(&self, parts: &mut StateWriter<'_>) {
                parts.value(self);
            }

            fn load(&mut self, parts: &mut StateReader<'_>) {
                parts.value(self);
            }
        }
    )*};
}

values! { f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool }

impl<S: DeviceState> DeviceState for Vec<S> {
    fn save(&self, parts: &mut StateWriter<'_>) {
        self.iter().for_each(|part| part.save(parts));
    }

    fn load(&mut self, parts: &mut StateReader<'_>) {
        self.iter_mut().for_each(|part| part.load(parts));
    }
}

impl<S: DeviceState, const N: usize> DeviceState for [S; N] {
    fn save(&self, parts: &mut StateWriter<'_>) {
        self.iter().for_each(|part| part.save(parts));
    }

    fn load(&mut self, parts: &mut StateReader<'_>) {
        self.iter_mut().for_each(|part| part.load(parts));
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+))*) => {$(
        impl<$($name: DeviceState),+> DeviceState for ($($name,)+) {
            fn save(&self, parts: &mut StateWriter<'_>) {
                $(self.$index.save(parts);)+
            }

            fn load(&mut self, parts: &mut StateReader<'_>) {
                $(self.$index.load(parts);)+
            }
        }
    )*};
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}
