//! Random programs, and what is asked of them: right in the interpreter, right through rustc in several ways, and every construct of the guide among them.

mod random;

mod buffers;
mod checkpointed;
mod compiled;
mod coverage;
mod distributed_sums;
mod interpreted;
mod mutation;
mod parallel;
mod promoted;
mod rewound;
mod stencils;
mod text;
mod wrapped;
