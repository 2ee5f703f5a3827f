//! States that `serde` can write.

use std::ops::{Deref, DerefMut};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::snapshot::{Decoder, Encoder, Malformed, Snapshot};

/// Makes a [`Snapshot`] of what `serde` can write and read back; slower than a derived one, since it is
/// written once to know its length.
///
/// ```
/// use stratape_checkpoint::{Serde, TimeLoop};
///
/// #[derive(Clone, serde::Serialize, serde::Deserialize)]
/// struct State {
///     x: f64,
/// }
///
/// let (state, dx, _) = TimeLoop::new(Serde(State { x: 0.5 }))
///     .steps(10)
///     .slots(3)
///     .gradient(|_, state| state.x = state.x.sin(), |_| 1.0_f64, |_, state, dx| *dx *= state.x.cos())?;
/// # assert!(dx > 0.0 && state.x > 0.0);
/// # Ok::<(), stratape_checkpoint::CheckpointError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Serde<T>(pub T);

impl<T> Deref for Serde<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Serde<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Serialize + DeserializeOwned + Clone + Send> Snapshot for Serde<T> {
    fn encoded_len(&self) -> usize {
        8 + written(&self.0).len()
    }

    fn encode(&self, out: &mut Encoder<'_>) {
        let bytes = written(&self.0);
        (bytes.len() as u64).encode(out);
        out.bytes(&bytes);
    }

    fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let bytes = Vec::<u8>::decode(from)?;
        let state = postcard::from_bytes(&bytes);
        state.map(Self).map_err(|_| from.malformed("preceded by what serde wrote"))
    }
}

/// What cannot be written is written as nothing, which reading back reports.
fn written<T: Serialize>(state: &T) -> Vec<u8> {
    postcard::to_allocvec(state).unwrap_or_default()
}
