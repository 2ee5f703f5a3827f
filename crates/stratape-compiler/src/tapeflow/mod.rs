//! TapeFlow: what lies where on the tape, and when it moves.
//!
//! Four passes, in this order. [`REGIONS`] puts what an iteration saves in one frame, and the frames of a loop side by side; [`LAYERS`] says how many of them are on
//! the way at once; [`STREAMS`] says what happens where one layer ends and the next begins; [`SCRATCHPAD`] gives each value its place in a frame. A function is
//! valid after each of them, and computes the same.

mod frame;
mod layers;
mod regions;
mod scratchpad;
mod streams;

pub(crate) use self::frame::{Frames, SHORT, is_counted};
pub use self::layers::LAYERS;
pub use self::regions::{Found, REGIONS, record_bytes};
pub(crate) use self::regions::{contains, is_short, regions, uses_tape};
pub use self::scratchpad::SCRATCHPAD;
pub use self::streams::STREAMS;
