//! [`Snapshot`]: states that can be stored and loaded.

use std::fmt;

/// A state that can be copied, and written as bytes.
///
/// Numbers, `bool`, arrays, `Vec`, `Box`, `Option`, `String` and tuples of these implement it; structs and enums derive it with
/// `#[derive(Clone, Snapshot)]`. A `Vec` of numbers is copied and written at once; so is a `Vec` of structs that are
/// plain data, marked with `#[snapshot(plain)]`.
///
/// The encoded form must hold *everything* the step depends on: a cache that is left out, an open file or a random number
/// generator behind a global would give different results the second time. `TimeLoop::check` finds such steps.
///
/// ```
/// use stratape_checkpoint::{Snapshot, snapshot};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Fluid {
///     density: Vec<f64>,
///     time: f64,
/// }
///
/// // What the derive generates:
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
///
/// let fluid = Fluid { density: vec![1.0, 2.0], time: 0.5 };
/// let bytes = snapshot::to_bytes(&fluid);
/// assert_eq!(snapshot::from_bytes::<Fluid>(&bytes)?, fluid);
/// # Ok::<(), snapshot::Malformed>(())
/// ```
pub trait Snapshot: Clone + Send {
    /// Bytes of the written form.
    fn encoded_len(&self) -> usize;

    /// Writes it: [`encoded_len`](Self::encoded_len) bytes.
    fn encode(&self, out: &mut Encoder<'_>);

    /// Reads one.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes are not the ones of such a state.
    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed>;

    /// Reads one into this one's memory.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); this one may have been changed then.
    fn decode_into(&mut self, from: &mut Decoder<'_>) -> Result<(), Malformed> {
        *self = Self::decode(from)?;
        Ok(())
    }

    /// Becomes a copy of another, in the memory it has.
    fn copy_from(&mut self, other: &Self) {
        self.clone_from(other);
    }

    /// Bytes of the written form of all items.
    fn slice_len(items: &[Self]) -> usize {
        items.iter().map(Self::encoded_len).sum()
    }

    /// Writes all items.
    fn encode_slice(items: &[Self], out: &mut Encoder<'_>) {
        items.iter().for_each(|item| item.encode(out));
    }

    /// Reads all items.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_slice(items: &mut [Self], from: &mut Decoder<'_>) -> Result<(), Malformed> {
        items.iter_mut().try_for_each(|item| item.decode_into(from))
    }

    /// Reads `count` items.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_vec(count: usize, from: &mut Decoder<'_>) -> Result<Vec<Self>, Malformed> {
        (0..count).map(|_| Self::decode(from)).collect()
    }

    /// Copies all items; there are as many on both sides.
    fn copy_slice(items: &mut [Self], others: &[Self]) {
        items.iter_mut().zip(others).for_each(|(item, other)| item.copy_from(other));
    }
}

/// Bytes that are not a state of the expected type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where reading stopped.
    pub at: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} of the stored state should be {}", self.at, self.expected)
    }
}

impl std::error::Error for Malformed {}

/// Where a state is written to.
#[derive(Debug)]
pub struct Encoder<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Writes bytes.
    ///
    /// # Panics
    /// When the state writes more than its `encoded_len`.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }
}

/// Where a state is read from.
#[derive(Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`Malformed`] when there are fewer.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let bytes = self.bytes.get(self.at..self.at.saturating_add(count));
        let bytes = bytes.ok_or_else(|| self.malformed("followed by more"))?;
        self.at += count;
        Ok(bytes)
    }

    /// An error at this place.
    pub fn malformed(&self, expected: &'static str) -> Malformed {
        Malformed { at: self.at, expected }
    }

    fn end(&self) -> Result<(), Malformed> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.malformed("the last")) }
    }
}

/// The written form of a state.
pub fn to_bytes<S: Snapshot>(state: &S) -> Vec<u8> {
    let mut bytes = vec![0; state.encoded_len()];
    write_to(state, &mut bytes);
    bytes
}

/// A state from its written form.
///
/// # Errors
/// [`Malformed`].
pub fn from_bytes<S: Snapshot>(bytes: &[u8]) -> Result<S, Malformed> {
    let mut decoder = Decoder::new(bytes);
    let state = S::decode(&mut decoder)?;
    decoder.end()?;
    Ok(state)
}

/// Writes a state into bytes that are there, [`encoded_len`](Snapshot::encoded_len) of them.
///
/// # Panics
/// When there are fewer.
pub fn write_to<S: Snapshot>(state: &S, bytes: &mut [u8]) {
    state.encode(&mut Encoder::new(bytes));
}

/// Reads a state from its written form into another one's memory.
///
/// ```
/// use stratape_checkpoint::{Snapshot, snapshot};
///
/// let state = vec![1.0, 2.0];
/// let mut bytes = vec![0; state.encoded_len()];
/// snapshot::write_to(&state, &mut bytes);
/// let mut other = vec![0.0; 2];
/// snapshot::read_into(&mut other, &bytes)?;
/// assert_eq!(other, state);
/// # Ok::<(), snapshot::Malformed>(())
/// ```
///
/// # Errors
/// [`Malformed`]; the state may have been changed.
pub fn read_into<S: Snapshot>(state: &mut S, bytes: &[u8]) -> Result<(), Malformed> {
    let mut decoder = Decoder::new(bytes);
    state.decode_into(&mut decoder)?;
    decoder.end()
}

/// For types that are plain data: written as they lie in memory, a slice in one piece.
#[doc(hidden)]
#[macro_export]
macro_rules! plain_snapshot {
    ($($ty:ty),* $(,)?) => { $(
        impl $crate::Snapshot for $ty {
            fn encoded_len(&self) -> usize {
                ::core::mem::size_of::<Self>()
            }
            fn encode(&self, out: &mut $crate::snapshot::Encoder<'_>) {
                out.bytes($crate::bytemuck::bytes_of(self));
            }
            fn decode(
                from: &mut $crate::snapshot::Decoder<'_>,
            ) -> ::core::result::Result<Self, $crate::snapshot::Malformed> {
                let bytes = from.bytes(::core::mem::size_of::<Self>())?;
                Ok($crate::bytemuck::pod_read_unaligned(bytes))
            }
            fn copy_from(&mut self, other: &Self) {
                *self = *other;
            }
            fn slice_len(items: &[Self]) -> usize {
                ::core::mem::size_of_val(items)
            }
            fn encode_slice(items: &[Self], out: &mut $crate::snapshot::Encoder<'_>) {
                out.bytes($crate::bytemuck::cast_slice(items));
            }
            fn decode_slice(
                items: &mut [Self],
                from: &mut $crate::snapshot::Decoder<'_>,
            ) -> ::core::result::Result<(), $crate::snapshot::Malformed> {
                let bytes = from.bytes(::core::mem::size_of_val(items))?;
                $crate::bytemuck::cast_slice_mut::<Self, u8>(items).copy_from_slice(bytes);
                Ok(())
            }
            fn decode_vec(
                count: usize,
                from: &mut $crate::snapshot::Decoder<'_>,
            ) -> ::core::result::Result<::std::vec::Vec<Self>, $crate::snapshot::Malformed> {
                let size = ::core::mem::size_of::<Self>();
                let bytes = from.bytes(count.saturating_mul(size))?;
                let mut items = ::std::vec![<Self as $crate::bytemuck::Zeroable>::zeroed(); count];
                $crate::bytemuck::cast_slice_mut::<Self, u8>(&mut items).copy_from_slice(bytes);
                Ok(items)
            }
            fn copy_slice(items: &mut [Self], others: &[Self]) {
                items.copy_from_slice(others);
            }
        }
    )* };
}

plain_snapshot!(f32, f64, i8, i16, i32, i64, i128, u8, u16, u32, u64, u128, isize, usize);

impl Snapshot for bool {
    fn encoded_len(&self) -> usize {
        1
    }

    fn encode(&self, out: &mut Encoder<'_>) {
        out.bytes(&[u8::from(*self)]);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        match from.bytes(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(from.malformed("preceded by 0 or 1")),
        }
    }
}

impl Snapshot for () {
    fn encoded_len(&self) -> usize {
        0
    }

    fn encode(&self, _: &mut Encoder<'_>) {}

    fn decode(_: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(())
    }
}

impl<T: Snapshot> Snapshot for Vec<T> {
    fn encoded_len(&self) -> usize {
        8 + T::slice_len(self)
    }

    fn encode(&self, out: &mut Encoder<'_>) {
        (self.len() as u64).encode(out);
        T::encode_slice(self, out);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let count = decode_len(from)?;
        T::decode_vec(count, from)
    }

    fn decode_into(&mut self, from: &mut Decoder<'_>) -> Result<(), Malformed> {
        let count = decode_len(from)?;
        if count == self.len() {
            return T::decode_slice(self, from);
        }
        *self = T::decode_vec(count, from)?;
        Ok(())
    }

    fn copy_from(&mut self, other: &Self) {
        if self.len() == other.len() {
            T::copy_slice(self, other);
        } else {
            self.clone_from(other);
        }
    }
}

/// A number of items; never more than there are bytes.
fn decode_len(from: &mut Decoder<'_>) -> Result<usize, Malformed> {
    let count = u64::decode(from)?;
    let left = from.bytes.len() - from.at;
    usize::try_from(count)
        .ok()
        .filter(|count| *count <= left)
        .ok_or_else(|| from.malformed("preceded by a number of items that fit"))
}

impl Snapshot for String {
    fn encoded_len(&self) -> usize {
        8 + self.len()
    }

    fn encode(&self, out: &mut Encoder<'_>) {
        (self.len() as u64).encode(out);
        out.bytes(self.as_bytes());
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let len = decode_len(from)?;
        let bytes = from.bytes(len)?.to_vec();
        Self::from_utf8(bytes).map_err(|_| from.malformed("preceded by text"))
    }
}

impl<T: Snapshot, const N: usize> Snapshot for [T; N] {
    fn encoded_len(&self) -> usize {
        T::slice_len(self)
    }

    fn encode(&self, out: &mut Encoder<'_>) {
        T::encode_slice(self, out);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let items = T::decode_vec(N, from)?;
        items.try_into().map_err(|_| from.malformed("the end of an array"))
    }

    fn decode_into(&mut self, from: &mut Decoder<'_>) -> Result<(), Malformed> {
        T::decode_slice(self, from)
    }

    fn copy_from(&mut self, other: &Self) {
        T::copy_slice(self, other);
    }
}

impl<T: Snapshot> Snapshot for Box<T> {
    fn encoded_len(&self) -> usize {
        (**self).encoded_len()
    }

    fn encode(&self, out: &mut Encoder<'_>) {
        (**self).encode(out);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        T::decode(from).map(Self::new)
    }

    fn decode_into(&mut self, from: &mut Decoder<'_>) -> Result<(), Malformed> {
        (**self).decode_into(from)
    }

    fn copy_from(&mut self, other: &Self) {
        (**self).copy_from(other);
    }
}

impl<T: Snapshot> Snapshot for Option<T> {
    fn encoded_len(&self) -> usize {
        1 + self.as_ref().map_or(0, T::encoded_len)
    }

    fn encode(&self, out: &mut Encoder<'_>) {
        self.is_some().encode(out);
        if let Some(inner) = self {
            inner.encode(out);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        bool::decode(from)?.then(|| T::decode(from)).transpose()
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+))*) => { $(
        impl<$($name: Snapshot),+> Snapshot for ($($name,)+) {
            fn encoded_len(&self) -> usize {
                0 $(+ self.$index.encoded_len())+
            }
            fn encode(&self, out: &mut Encoder<'_>) {
                $(self.$index.encode(out);)+
            }
            fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
                Ok(($($name::decode(from)?,)+))
            }
            fn decode_into(&mut self, from: &mut Decoder<'_>) -> Result<(), Malformed> {
                $(self.$index.decode_into(from)?;)+
                Ok(())
            }
            fn copy_from(&mut self, other: &Self) {
                $(self.$index.copy_from(&other.$index);)+
            }
        }
    )* };
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<S: Snapshot + PartialEq + fmt::Debug>(state: &S, mut other: S) {
        let bytes = to_bytes(state);
        assert_eq!(bytes.len(), state.encoded_len());
        assert_eq!(&from_bytes::<S>(&bytes).unwrap(), state);
        read_into(&mut other, &bytes).unwrap();
        assert_eq!(&other, state);
        for cut in 0..bytes.len() {
            assert!(from_bytes::<S>(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(from_bytes::<S>(&longer).is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        round(&1.5_f64, 0.0);
        round(&vec![1.0_f32, -2.0], vec![0.0; 2]);
        round(&vec![1_u16, 2, 3], vec![]);
        round(&vec![vec![1.0], vec![], vec![2.0, 3.0]], vec![vec![]; 3]);
        round(&([1_i64, 2], true, Some(vec![false, true])), ([0, 0], false, None));
        round(&(String::from("ab"), Box::new(7_u8), ((),)), (String::new(), Box::new(0), ((),)));
        round(&[[1.0_f64; 3]; 2], [[0.0; 3]; 2]);
        round(&Some(vec![Some(1_u8), None]), None);
    }

    #[test]
    fn copies_keep_their_memory() {
        let mut copy = vec![0.0; 1000];
        let place = copy.as_ptr();
        copy.copy_from(&vec![2.0; 1000]);
        assert_eq!((copy.as_ptr(), copy[999]), (place, 2.0));
        read_into(&mut copy, &to_bytes(&vec![3.0; 1000])).unwrap();
        assert_eq!((copy.as_ptr(), copy[0]), (place, 3.0));
    }

    #[test]
    fn a_length_beyond_the_data_is_no_allocation() {
        let mut bytes = to_bytes(&vec![1.0_f64]);
        bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(from_bytes::<Vec<f64>>(&bytes).is_err());
        assert!(from_bytes::<Vec<()>>(&bytes).is_err());
    }
}
