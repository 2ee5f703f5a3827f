//! Runs kernels: all threads of a grid, with the memory that they share.
//!
//! In: a [kernel](stratape_ir::Function::kernel), a [`Launch`], and [arguments](Arg). Out: memory as the kernel leaves it, or the first [`Fault`] with the thread that it
//! happened to. It is the oracle for kernels, and the emulator that they run on where there is no device.
//!
//! The threads of a block run in step: a statement is executed for all of them before the next, under a mask of those that take part (`machine`; `memory` knows what they see). Blocks run one after the other,
//! or several at a time ([`Launch::workers`]). Whoever wants to know whether that hides a missing barrier asks for [`Launch::check`]: accesses are then
//! remembered (`races`), and two threads that meet in one number without a barrier between them are reported.
//!
//! A number is a 64-bit *cell*: the bits of a float (of an `f32` in the lower half), an integer extended to 64 bits, a `bool` as 0 or 1.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use stratape_interp::simt::{self, Arg, Launch};
//! use stratape_ir::text;
//!
//! let kernel = text::parse_function(
//!     "fn double(@x: &mut [f64]) kernel {
//!        i = builtin thread_idx_x
//!        a = @x[i]
//!        b = a + a
//!        @x[i] = b
//!      }",
//! )?;
//! let cells: Vec<AtomicU64> = [1.0_f64, 2.5].iter().map(|x| AtomicU64::new(x.to_bits())).collect();
//! simt::run(&kernel, &Launch::new([1, 1, 1], [2, 1, 1]), &[Arg::Memory(&cells)])?;
//! assert_eq!(f64::from_bits(cells[1].load(Ordering::Relaxed)), 5.0);
//!
//! // A third thread has no element.
//! let fault = simt::run(&kernel, &Launch::new([1, 1, 1], [3, 1, 1]), &[Arg::Memory(&cells)]);
//! assert!(fault.is_err_and(|fault| fault.thread == [2, 0, 0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
mod machine;
mod memory;
mod operation;
mod races;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use self::machine::Machine;
pub use self::memory::static_shared;
use self::races::Races;
use stratape_ir::{Function, Param};

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks of the grid, along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block, along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory that a block may take.
    pub shared_bytes: usize,
    /// Whether races, reads of shared memory that nobody wrote, and integers that overflow are reported.
    pub check: bool,
    /// How many blocks run at a time. Blocks run in their order where it is 1, and always if accesses are checked.
    pub workers: usize,
    /// What constant expressions stand for, by their text.
    pub constants: HashMap<String, f64>,
}

impl Launch {
    /// A launch that checks, one block at a time.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        let constants = HashMap::new();
        Self { grid, block, shared_bytes: 48 << 10, check: true, workers: 1, constants }
    }

    fn threads(&self) -> usize {
        self.block.iter().map(|one| *one as usize).product()
    }

    fn blocks(&self) -> usize {
        self.grid.iter().map(|one| *one as usize).product()
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A number, as a cell.
    Value(u64),
    /// Memory behind a reference.
    Memory(&'a [AtomicU64]),
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An index that memory does not have.
    OutOfBounds,
    /// Two threads access one number, one of them writes, and nothing orders them.
    Race,
    /// Not all threads of a block come to a barrier, or of a warp to an exchange.
    Divergence,
    /// Shared memory is read that nobody wrote.
    Uninitialised,
    /// An assertion of the kernel does not hold.
    Assertion,
    /// An integer overflows, or is divided by zero.
    Arithmetic,
    /// Dynamic shared memory is larger than the launch says.
    SharedMemory,
    /// The kernel or its arguments are none that can be run.
    Malformed,
}

/// A fault, and the first thread that it happened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The thread in its block.
    pub thread: [u32; 3],
    /// The block in the grid.
    pub block: [u32; 3],
    /// What happened.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread: [x, y, z], block: [bx, by, bz], message, .. } = self;
        write!(f, "{message} (thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz}))")
    }
}

impl Error for Fault {}

fn malformed<T>(message: impl Into<String>) -> Result<T, Fault> {
    let message = message.into();
    Err(Fault { kind: FaultKind::Malformed, thread: [0; 3], block: [0; 3], message })
}

/// Runs a kernel.
///
/// # Errors
/// The first fault, of the block that comes first among those that were run. What memory holds is then unspecified.
pub fn run(kernel: &Function, launch: &Launch, args: &[Arg<'_>]) -> Result<(), Fault> {
    if !kernel.kernel {
        return malformed(format!("`{}` is no kernel", kernel.name));
    }
    if kernel.params.len() != args.len() {
        let (wanted, given) = (kernel.params.len(), args.len());
        return malformed(format!("`{}` takes {wanted} arguments, not {given}", kernel.name));
    }
    for (param, arg) in kernel.params.iter().zip(args) {
        if matches!(param, Param::Value(_)) != matches!(arg, Arg::Value(_)) {
            return malformed("a number was given for memory, or memory for a number");
        }
    }
    let (threads, blocks) = (launch.threads(), launch.blocks());
    if threads == 0 || blocks == 0 {
        return malformed("a grid has at least one block, and a block one thread");
    }
    if launch.check {
        let mut races = Races::new(kernel, args);
        let mut machine = Machine::new(kernel, launch, args)?;
        return (0..blocks).try_for_each(|block| machine.run(block, Some(&mut races)));
    }
    let workers = launch.workers.clamp(1, blocks);
    if workers == 1 {
        let mut machine = Machine::new(kernel, launch, args)?;
        return (0..blocks).try_for_each(|block| machine.run(block, None));
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let first: Mutex<Option<(usize, Fault)>> = Mutex::new(None);
    let work = || {
        let mut machine = match Machine::new(kernel, launch, args) {
            Ok(machine) => machine,
            Err(fault) => return note(&first, 0, fault),
        };
        while !failed.load(Ordering::Relaxed) {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks {
                return;
            }
            if let Err(fault) = machine.run(block, None) {
                failed.store(true, Ordering::Relaxed);
                note(&first, block, fault);
            }
        }
    };
    std::thread::scope(|scope| {
        (0..workers).for_each(|_| {
            scope.spawn(work);
        });
    });
    match first.into_inner() {
        Ok(Some((_, fault))) => Err(fault),
        Ok(None) => Ok(()),
        Err(_) => malformed("a worker panicked"),
    }
}

/// Keeps the fault of the block that comes first.
fn note(first: &Mutex<Option<(usize, Fault)>>, block: usize, fault: Fault) {
    if let Ok(mut known) = first.lock()
        && known.as_ref().is_none_or(|(other, _)| *other > block)
    {
        *known = Some((block, fault));
    }
}
