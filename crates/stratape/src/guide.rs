//! The guide: the pages of the folder `docs`, in the order in which most people need them.
//!
//! | page | |
//! |---|---|
//! | [A first gradient](first_gradient) | from an empty crate to a fitted model |
//! | [A tour](tour) | one inverse problem, from a first gradient to an optimiser |
//! | [Gradients](gradient) | the calling convention, modules, derivatives by hand, kinks, memory |
//! | [Several files and crates](several_files) | functions, structs and constants from other files |
//! | [Why a gradient can be trusted](correctness) | what is proved, tested and assumed; how to check one yourself |
//! | [Which results are bit for bit the same](bits) | across threads, budgets, machines and checkpoints |
//! | [What is accepted](accepted) | every construct with an example; rewrites for those that are refused |
//! | [Why is my tape so big?](explain) | how to read `stratape explain` |
//! | [Tapes larger than memory](mod@tape) | budgets, disks, faults, saved tapes, the tape on its own |
//! | [Time loops](checkpointing) | schedules, snapshots, resuming after a crash |
//! | [Pictures of a run](pictures) | the tape over time, the course of a time loop |
//! | [Threads](threads) | parallel loops, workers, lanes, shared tapes |
//! | [Kernels on a GPU](mod@gpu) | kernels in Rust, their gradients, devices and the emulator |
//! | [Programs on many ranks](distributed) | messages and collective operations of MPI |
//! | [From C and C++](c_and_cpp) | the tape and the schedules for other tools |
//! | [TapeFlow](tapeflow) | regions, layers and streams |
//! | [Performance](performance) | how to measure, and what was measured |
//! | [LULESH](lulesh) | the gradient of a whole hydrodynamics program |
//! | [Troubleshooting](troubleshooting) | by error message |
//! | [The format of saved tapes](tape_format) | for tools that read them |
//!
//! This module exists in the documentation only. Links to files of the repository are left out here.

#[doc = include_str!("../guide/first-gradient.md")]
pub mod first_gradient {}
#[doc = include_str!("../guide/tour.md")]
pub mod tour {}
#[doc = include_str!("../guide/gradient.md")]
pub mod gradient {}
#[doc = include_str!("../guide/several-files.md")]
pub mod several_files {}
#[doc = include_str!("../guide/correctness.md")]
pub mod correctness {}
#[doc = include_str!("../guide/bits.md")]
pub mod bits {}
#[doc = include_str!("../guide/accepted.md")]
pub mod accepted {}
#[doc = include_str!("../guide/explain.md")]
pub mod explain {}
#[doc = include_str!("../guide/tape.md")]
pub mod tape {}
#[doc = include_str!("../guide/checkpointing.md")]
pub mod checkpointing {}
#[doc = include_str!("../guide/pictures.md")]
pub mod pictures {}
#[doc = include_str!("../guide/threads.md")]
pub mod threads {}
// Its examples need the feature.
#[cfg_attr(any(not(doctest), feature = "gpu"), doc = include_str!("../guide/gpu.md"))]
pub mod gpu {}
#[doc = include_str!("../guide/distributed.md")]
pub mod distributed {}
#[doc = include_str!("../guide/c-and-cpp.md")]
pub mod c_and_cpp {}
#[doc = include_str!("../guide/tapeflow.md")]
pub mod tapeflow {}
#[doc = include_str!("../guide/performance.md")]
pub mod performance {}
#[doc = include_str!("../guide/lulesh.md")]
pub mod lulesh {}
#[doc = include_str!("../guide/troubleshooting.md")]
pub mod troubleshooting {}
#[doc = include_str!("../guide/tape-format.md")]
pub mod tape_format {}
