//! Check mode: steps are run again and compared, bit by bit.

use stratape_tape::checksum;

use crate::error::CheckpointError;
use crate::snapshot::{Snapshot, read_into, to_bytes};

/// Steps run twice at once, from the start of a loop.
const TWICE: usize = 3;

/// The checksum of the state after each step, from the first time it was run.
#[derive(Debug, Default)]
pub(crate) struct Reruns {
    after: Vec<Option<u32>>,
}

impl Reruns {
    /// Runs a step. The first few are run twice at once; each is compared with every time it was run before.
    pub(crate) fn step<S: Snapshot>(
        &mut self,
        at: usize,
        state: &mut S,
        step: &mut dyn FnMut(usize, &mut S),
    ) -> Result<(), CheckpointError> {
        let before = (at < TWICE).then(|| to_bytes(state));
        step(at, state);
        let after = to_bytes(state);
        if let Some(before) = before {
            let mut again = state.clone();
            read_into(&mut again, &before).map_err(|error| CheckpointError::NotReproducible {
                step: at,
                byte: Some(error.at),
            })?;
            step(at, &mut again);
            let again = to_bytes(&again);
            if let Some(byte) = first_difference(&after, &again) {
                return Err(CheckpointError::NotReproducible { step: at, byte: Some(byte) });
            }
        }
        let sum = checksum(&after);
        if self.after.len() <= at {
            self.after.resize(at + 1, None);
        }
        match self.after[at].replace(sum) {
            Some(known) if known != sum => {
                Err(CheckpointError::NotReproducible { step: at, byte: None })
            }
            _ => Ok(()),
        }
    }
}

fn first_difference(one: &[u8], other: &[u8]) -> Option<usize> {
    if one == other {
        return None;
    }
    let common = one.iter().zip(other).position(|(a, b)| a != b);
    Some(common.unwrap_or(one.len().min(other.len())))
}
