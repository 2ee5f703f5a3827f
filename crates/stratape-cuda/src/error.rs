//! [`GpuError`]: what went wrong, what is still valid, what to do.

use std::fmt;

use stratape_tape::{ErrorKind, TapeError};

/// An operation of a device failed.
///
/// None of them loses data on the host; each variant says what happens to buffers.
///
/// ```
/// use stratape_cuda::{Device, GpuError};
///
/// let (here, there) = (Device::emulator(), Device::emulator());
/// let x = here.upload(&[1.0, 2.0])?;
/// let mut y = there.zeros::<f64>(2)?;
/// assert!(matches!(y.copy_from(&x), Err(GpuError::WrongDevice { .. })));
/// # Ok::<(), GpuError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no CUDA device, or not the one that was asked for.
    NoDevice {
        /// What is missing.
        reason: String,
    },
    /// The driver is older than what this library or a kernel needs.
    DriverTooOld {
        /// What it does not know.
        missing: String,
    },
    /// The library that compiles kernels cannot be loaded.
    NvrtcMissing,
    /// Device memory is exhausted.
    OutOfMemory {
        /// Bytes that were asked for.
        asked: usize,
        /// Bytes that are free.
        free: usize,
    },
    /// The host has no memory for a copy.
    OutOfHostMemory {
        /// Bytes that were asked for.
        asked: usize,
    },
    /// A kernel was refused by the compiler of its device.
    Compile {
        /// The kernel's name.
        kernel: String,
        /// Its text, as it was given to the compiler.
        text: String,
        /// The compiler's error.
        log: String,
    },
    /// A launch is larger than the device allows.
    GridLimit {
        /// Which extent.
        what: String,
        /// What was requested.
        asked: u64,
        /// The most that is allowed.
        limit: u64,
    },
    /// A launch without threads.
    EmptyGrid {
        /// Which extent is zero.
        what: String,
    },
    /// A block asks for more shared memory than there is.
    SharedMemory {
        /// Bytes of dynamic shared memory that were asked for.
        asked: usize,
        /// The most that is allowed, for this kernel if it is known.
        limit: usize,
    },
    /// A kernel declares more shared memory than a device has for that.
    StaticSharedMemory {
        /// The kernel.
        kernel: String,
        /// Bytes that its arrays take.
        declared: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// A buffer or a stream was used with a device it does not belong to.
    WrongDevice {
        /// What it is.
        what: String,
        /// The device it belongs to.
        belongs_to: String,
        /// The device it was used with.
        used_with: String,
    },
    /// Two lengths that must be equal are not.
    Length {
        /// Of what.
        what: String,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// A result that a buffer without elements does not have.
    Empty {
        /// The result.
        what: String,
    },
    /// A launch was given another argument than the kernel has.
    Argument {
        /// The kernel's name.
        kernel: String,
        /// The argument, counted from 0.
        index: usize,
        /// What the kernel takes there.
        expected: String,
        /// What it was given.
        found: String,
    },
    /// A buffer on a tape holds elements of another type than was asked for.
    ElementType {
        /// What it holds.
        expected: String,
        /// What was requested.
        found: String,
    },
    /// A layer below device memory failed: no memory of the host, or a disk.
    Spill {
        /// What it said.
        message: String,
    },
    /// A kernel stopped at something that it, or the emulator, checks.
    Fault(KernelFault),
    /// A kernel made the device unusable for the rest of the process.
    ContextLost {
        /// The driver's error.
        message: String,
    },
    /// The tape of a host function's gradient failed.
    Tape {
        /// What it said.
        message: String,
    },
    /// The device cannot do this.
    Unsupported(String),
    /// A call of the driver failed for another reason.
    Driver {
        /// The call.
        call: &'static str,
        /// The driver's error.
        message: String,
    },
}

/// An operation on a device failed in a function that a tape is recorded of.
impl From<GpuError> for TapeError {
    fn from(error: GpuError) -> Self {
        ErrorKind::Attached(Box::new(error)).into()
    }
}

impl From<TapeError> for GpuError {
    fn from(error: TapeError) -> Self {
        let message = error.to_string();
        match error.into_kind() {
            ErrorKind::Attached(inner) => {
                inner.downcast().map_or(Self::Tape { message }, |own| *own)
            }
            _ => Self::Tape { message },
        }
    }
}

/// Where and why a kernel stopped.
///
/// ```
/// use stratape_cuda::{FaultKind, KernelFault};
///
/// let fault = KernelFault {
///     kernel: "axpy".to_owned(),
///     kind: FaultKind::OutOfBounds,
///     thread: [3, 0, 0],
///     block: [1, 0, 0],
///     detail: "index 260 of `x`, which has 259 elements".to_owned(),
/// };
/// assert_eq!(
///     fault.to_string(),
///     "kernel `axpy`: out of bounds in thread (3, 0, 0) of block (1, 0, 0): index 260 of `x`, which has 259 elements"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFault {
    /// The kernel's name.
    pub kernel: String,
    /// What happened.
    pub kind: FaultKind,
    /// The thread in its block: x, y, z.
    pub thread: [u32; 3],
    /// The block in its grid: x, y, z.
    pub block: [u32; 3],
    /// What is known beyond that; may be empty.
    pub detail: String,
}

/// What kernels are stopped for.
///
/// ```
/// assert_eq!(stratape_cuda::FaultKind::Race.to_string(), "data race");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// An index past the end of a slice or an array.
    OutOfBounds,
    /// Two threads accessed one element without a barrier or an atomic between them, and one of them wrote.
    Race,
    /// A barrier that not all threads of a block reach.
    DivergentBarrier,
    /// A read of shared memory that nothing was written to.
    UninitialisedShared,
    /// An assertion or a panic of the kernel.
    Assertion,
    /// A thread saves more than its part of the device tape can hold.
    TapeExhausted,
    /// A division by zero, or a shift or a conversion outside its range.
    Arithmetic,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfBounds => "out of bounds",
            Self::Race => "data race",
            Self::DivergentBarrier => "barrier that not all threads of the block reach",
            Self::UninitialisedShared => "read of shared memory before it is written",
            Self::Assertion => "assertion failed",
            Self::TapeExhausted => "device tape exhausted",
            Self::Arithmetic => "arithmetic error",
        })
    }
}

impl fmt::Display for KernelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y, z], [i, j, k]) = (self.thread, self.block);
        write!(
            f,
            "kernel `{}`: {} in thread ({x}, {y}, {z}) of block ({i}, {j}, {k})",
            self.kernel, self.kind
        )?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice { reason } => write!(
                f,
                "no CUDA device: {reason}. `Device::new()` and `Device::emulator()` run kernels on the CPU"
            ),
            Self::DriverTooOld { missing } => write!(
                f,
                "the CUDA driver is too old: {missing}. Update the driver, or use `Device::emulator()`"
            ),
            Self::NvrtcMissing => f.write_str(
                "kernels cannot be compiled: the library NVRTC (libnvrtc) was not found. Install the CUDA runtime \
                 libraries and put their directory on LD_LIBRARY_PATH, or use `Device::emulator()`",
            ),
            Self::OutOfMemory { asked, free } => write!(
                f,
                "out of device memory: {asked} bytes were asked for, {free} are free. Buffers that exist are intact; \
                 drop some, or work in parts"
            ),
            Self::OutOfHostMemory { asked } => write!(
                f,
                "out of host memory: {asked} bytes for a copy. Buffers are intact; copy in parts, or free memory"
            ),
            Self::Compile { kernel, text, log } => write!(
                f,
                "kernel `{kernel}` does not compile for its device. Nothing was launched. This is an error of \
                 stratape, or of a compiler that is too old; please report it with this text.\n{}\n\nThe compiler \
                 says:\n{}",
                Numbered(text),
                log.trim_end()
            ),
            Self::GridLimit { what, asked, limit } => write!(
                f,
                "the launch asks for {asked} {what}, the device allows {limit}. Nothing was launched; let each thread \
                 do more, or choose another shape of the grid"
            ),
            Self::EmptyGrid { what } => write!(
                f,
                "the launch has no {what}. Nothing was launched; leave the launch out if there is nothing to do"
            ),
            Self::SharedMemory { asked, limit } => write!(
                f,
                "a block asks for {asked} bytes of dynamic shared memory, {limit} are to be had. Nothing was launched; \
                 use smaller tiles"
            ),
            Self::StaticSharedMemory { kernel, declared, limit } => write!(
                f,
                "kernel `{kernel}` declares {declared} bytes of shared memory, and {limit} are to be had in this way. Nothing was launched; use smaller \
                 tiles, or `dynamic_shared`, which may take more"
            ),
            Self::WrongDevice { what, belongs_to, used_with } => write!(
                f,
                "{what} belongs to {belongs_to} and was used with {used_with}. Nothing was changed; download it from \
                 the one and upload it to the other"
            ),
            Self::Length { what, expected, found } => write!(
                f,
                "{what} has {found} elements and must have {expected}. Nothing was changed"
            ),
            Self::Empty { what } => write!(f, "a buffer without elements has no {what}"),
            Self::Argument { kernel, index, expected, found } => write!(
                f,
                "kernel `{kernel}` takes {expected} as argument {index} and was given {found}. Nothing was launched"
            ),
            Self::ElementType { expected, found } => write!(
                f,
                "the buffer on top of the tape holds elements of type {expected}, and {found} was asked for. It is still \
                 there; pop what was pushed"
            ),
            Self::Spill { message } => write!(
                f,
                "a buffer cannot be moved between the device and what lies below: {message}. What is on the tape is still \
                 there, and the same call tries again"
            ),
            Self::Fault(fault) => {
                write!(f, "{fault}. What the kernel writes to is in an undefined state; other buffers are intact")?;
                match fault.kind {
                    FaultKind::TapeExhausted => f.write_str(
                        ". Give the launch a larger tape with `.tape_bytes(n)`, or launch fewer threads at a time",
                    ),
                    _ => Ok(()),
                }
            }
            Self::Tape { message } => f.write_str(message),
            Self::ContextLost { message } => write!(
                f,
                "the device is lost to this process: {message}. Buffers on it cannot be read any more; memory of the \
                 host is intact. Start the program again; `STRATAPE_GPU_CHECK=1` or the emulator says which access of \
                 which thread it was"
            ),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
            Self::Driver { call, message } => {
                write!(f, "the CUDA driver failed in {call}: {message}. What was on the device before is intact")
            }
        }
    }
}

impl std::error::Error for GpuError {}

/// A text with the line numbers that a compiler's log speaks of.
struct Numbered<'a>(&'a str);

impl fmt::Display for Numbered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.0.lines().enumerate() {
            write!(f, "\n{:4} | {line}", number + 1)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_kernel_is_shown_with_numbers() {
        let error = GpuError::Compile {
            kernel: "axpy".to_owned(),
            text: "a\nb".to_owned(),
            log: "axpy(2): error\n".to_owned(),
        };
        let text = error.to_string();
        assert!(text.contains("`axpy`"));
        assert!(text.contains("\n   2 | b\n"));
        assert!(text.ends_with("axpy(2): error"));
    }

    #[test]
    fn an_exhausted_tape_says_what_to_do() {
        let fault = KernelFault {
            kernel: "walk_grad".to_owned(),
            kind: FaultKind::TapeExhausted,
            thread: [0; 3],
            block: [7, 0, 0],
            detail: String::new(),
        };
        assert!(GpuError::Fault(fault).to_string().contains("`.tape_bytes(n)`"));
    }
}
