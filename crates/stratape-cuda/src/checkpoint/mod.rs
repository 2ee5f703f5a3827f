//! Buffers as states of time loops: [`Snapshot`], and a store of snapshots on the device.

mod state;
mod store;

use stratape_checkpoint::Snapshot;
use stratape_checkpoint::snapshot::{Decoder, Encoder, Malformed};

use crate::buffer::{Buffer, RawBuffer, Shape};
use crate::device::Kind;
use crate::element::Element;
use crate::error::GpuError;
use crate::stream::Stream;

pub use self::state::{DeviceState, StateReader, StateWriter};
pub use self::store::DeviceStore;

/// A buffer is the state of a time loop, or a part of it: copies in memory are copies on its device.
///
/// ```
/// use stratape_checkpoint::{Strategy, TimeLoop};
/// use stratape_cuda::{Buffer, Device, GpuError};
///
/// // Stands for a launch: x ← x².
/// fn square(x: &mut Buffer<f64>) -> Result<(), GpuError> {
///     let host: Vec<f64> = x.download()?.iter().map(|x| x * x).collect();
///     x.write(&host)
/// }
///
/// let device = Device::new()?;
/// let mut result = Ok(()); // of all launches
/// let (x, dx, _) = TimeLoop::new(device.upload(&[1.01, 0.99])?)
///     .steps(8)
///     .slots(3)
///     .schedule(Strategy::Revolve)
///     .gradient(
///         |_, x| {
///             let squared = square(x);
///             result = result.clone().and(squared);
///         },
///         |_| vec![1.0, 1.0],
///         |_, x, dx: &mut Vec<f64>| {
///             let x = x.download().unwrap_or_default();
///             dx.iter_mut().zip(x).for_each(|(dx, x)| *dx *= 2.0 * x);
///         },
///     )?;
/// result?;
/// assert!((dx[0] - 256.0 * x.download()?[0] / 1.01).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The encoded form, for snapshots on disk and for checks, goes through host memory. A buffer that is decoded, as in a resumed run,
/// is allocated on the device that the original was on: the CUDA device of the same number, or an emulated one. A buffer that cannot be copied holds
/// the error, as with [`Clone`]; one that cannot be written is malformed when it is read.
impl<T: Element> Snapshot for Buffer<T> {
    fn encoded_len(&self) -> usize {
        HEADER + self.raw().shape().bytes()
    }

    fn encode(&self, out: &mut Encoder<'_>) {
        let len = self.raw().shape().bytes();
        let bytes = self.bytes();
        let (emulated, number) = self.raw().owner().number();
        let tag = match &bytes {
            Ok(_) => CUDA + u8::from(emulated),
            Err(_) => FAILED,
        };
        out.bytes(&[tag]);
        out.bytes(&number.to_le_bytes());
        out.bytes(&(self.len() as u64).to_le_bytes());
        match bytes {
            Ok(bytes) => out.bytes(&bytes),
            // There may be no memory for as many zeros at once.
            Err(_) => (0..len).for_each(|_| out.bytes(&[0])),
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (number, len) = header(from)?;
        let owner = Kind::find(number);
        let owner =
            owner.map_err(|_| from.malformed("preceded by a buffer of a device there is"))?;
        Self::decode_on(&owner, len, from)
    }

    fn decode_into(&mut self, from: &mut Decoder<'_>) -> Result<(), Malformed> {
        let (_, len) = header(from)?;
        if len != self.len() || self.raw().check().is_err() {
            *self = Self::decode_on(&self.raw().owner().clone(), len, from)?;
            return Ok(());
        }
        let bytes = from.bytes(self.raw().shape().bytes())?;
        let written = self.raw().write_bytes(bytes);
        written.map_err(|_| from.malformed("preceded by what the device takes"))
    }

    fn copy_from(&mut self, other: &Self) {
        self.assign(other);
    }
}

/// The tag of a buffer, the number of its device, its elements.
const HEADER: usize = 17;
const FAILED: u8 = 0;
const CUDA: u8 = 1;
const EMULATED: u8 = 2;

impl<T: Element> Buffer<T> {
    /// The elements as bytes.
    fn bytes(&self) -> Result<Vec<u8>, GpuError> {
        let len = self.raw().shape().bytes();
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| GpuError::OutOfHostMemory { asked: len })?;
        bytes.resize(len, 0);
        self.raw().read_bytes(&mut bytes)?;
        Ok(bytes)
    }

    fn decode_on(owner: &Kind, len: usize, from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        // Before memory is asked for: the bytes must be there.
        let bytes = from.bytes(len.saturating_mul(size_of::<T>()))?;
        let made = RawBuffer::new(owner, Shape::of::<T>(len)).and_then(|made| {
            made.write_bytes(bytes)?;
            Ok(Self::from_raw(made))
        });
        made.map_err(|_| from.malformed("preceded by a buffer that the device has memory for"))
    }

    /// A buffer with anything in it, in the order of a stream.
    fn unwritten(owner: &Kind, len: usize, stream: &Stream) -> Result<Self, GpuError> {
        RawBuffer::on(owner, Shape::of::<T>(len), stream, true).map(Self::from_raw)
    }
}

/// The number of a device, and of elements.
fn header(from: &mut Decoder<'_>) -> Result<((bool, u64), usize), Malformed> {
    let emulated = match from.bytes(1)? {
        [CUDA] => false,
        [EMULATED] => true,
        _ => return Err(from.malformed("preceded by a buffer that could be written")),
    };
    let mut word = || -> Result<u64, Malformed> {
        let mut word = [0; 8];
        word.copy_from_slice(from.bytes(8)?);
        Ok(u64::from_le_bytes(word))
    };
    let (number, len) = (word()?, word()?);
    let len = usize::try_from(len);
    let len = len.map_err(|_| from.malformed("preceded by a number of elements that fit"))?;
    Ok(((emulated, number), len))
}
