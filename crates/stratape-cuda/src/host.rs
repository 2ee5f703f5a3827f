//! What gradients of host functions call: functions under `#[gradient]` that use buffers and launch kernels.
//!
//! The intermediate language knows a buffer as a number. What it holds is in the `Session` of the gradient that runs on the thread: all buffers of the function, in *versions*.
//! An operation that changes a buffer makes a new version and leaves the old one on the tape; its adjoint puts the old one back, so that on the way back each operation finds what
//! it had on the way there. Old versions move from the device to the host where there are many (`saved`). Adjoints of buffers are kept beside them, and exist where something has flowed into them.
//!
//! Every operation is a pair of functions, as halves of a call are: the first pushes, the second pops (`operations`, `launches`).

mod launches;
mod operations;
mod saved;
mod session;
mod world;

pub use self::launches::{
    Adjoints, Float, Given, Launched, launch, launch_backward, map, map_backward,
};
pub use self::operations::*;
pub use self::session::{
    Scope, adopt, adopt_device, adopt_mut, adopt_mut_with, adopt_stream, adopt_with,
};
pub use self::world::World;
