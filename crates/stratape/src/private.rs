//! What emitted code calls. Not for use by hand: it may change in any version.

use stratape_tape::{RecordTape, TapeError};

pub use crate::workspace::Borrowed;
use crate::workspace::Workspace;

/// The tape of a workspace, empty.
pub fn begin(workspace: &mut Workspace) -> &mut RecordTape {
    let tape = workspace.tape();
    if !tape.is_empty() {
        tape.clear();
    }
    tape
}

/// The result of a gradient on a tape in memory, which fails only when memory runs out.
#[track_caller]
#[expect(clippy::panic, reason = "as `Vec` does when there is no memory")]
pub fn settle<T>(result: Result<T, TapeError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the gradient's tape: {error}"),
    }
}

/// A shadow has the length of what it shadows.
#[track_caller]
#[expect(clippy::panic, reason = "a caller's mistake, found before anything is touched")]
pub fn same_length(name: &str, len: usize, shadow: usize) {
    if len != shadow {
        panic!("the shadow of `{name}` has length {shadow}, but `{name}` has length {len}");
    }
}

/// `index < len`, with the panic of indexing.
#[inline]
#[track_caller]
pub fn check_index(index: usize, len: usize) {
    if index >= len {
        out_of_bounds(index, len);
    }
}

#[cold]
#[track_caller]
#[expect(clippy::panic, reason = "the primal panics here too")]
fn out_of_bounds(index: usize, len: usize) -> ! {
    panic!("index out of bounds: the len is {len} but the index is {index}");
}

/// `from <= to && to <= len`, with the panic of slicing.
#[inline]
#[track_caller]
pub fn check_range(from: usize, to: usize, len: usize) {
    if from > to || to > len {
        out_of_range(from, to, len);
    }
}

#[cold]
#[track_caller]
#[expect(clippy::panic, reason = "the primal panics here too")]
fn out_of_range(from: usize, to: usize, len: usize) -> ! {
    if from > to {
        panic!("slice index starts at {from} but ends at {to}");
    }
    panic!("range end index {to} out of range for slice of length {len}");
}
