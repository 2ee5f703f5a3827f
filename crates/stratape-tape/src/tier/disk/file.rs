//! The file behind the disk tier: made without a name, direct where possible, growing and
//! shrinking by request. Every system call that moves data can be damaged by a test.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FallocateFlags, OFlags};

use crate::sync::shielded;
use crate::temporary::unnamed_in;

/// Out of the process, or into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Out,
    In,
}

/// A system call that is about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskCall {
    /// Bytes are written.
    Write {
        /// How many.
        len: usize,
    },
    /// Bytes are read.
    Read {
        /// How many.
        len: usize,
    },
    /// Room is reserved in the file.
    Reserve,
}

/// What a test makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// Fails with this error.
    Fail(io::ErrorKind),
    /// Is interrupted by a signal.
    Interrupt,
    /// Moves only this many bytes (rounded down to whole pages).
    Short(usize),
}

/// Asked before every call; `None` lets it happen.
pub type DiskFaults = Arc<dyn Fn(DiskCall) -> Option<DiskFault> + Send + Sync>;

pub(crate) struct DiskFile {
    file: File,
    direct: AtomicBool,
    can_reserve: AtomicBool,
    in_memory: bool,
    faults: Option<DiskFaults>,
}

/// `statfs` type of tmpfs and ramfs, whose files are memory in disguise.
#[cfg(target_os = "linux")]
const MEMORY_FILE_SYSTEMS: [i64; 2] = [0x0102_1994, 0x8584_58f6];

impl DiskFile {
    pub(crate) fn unnamed(
        directory: &Path,
        direct: bool,
        faults: Option<DiskFaults>,
    ) -> io::Result<Self> {
        Ok(Self::new(unnamed_in(directory)?, direct, faults))
    }

    pub(crate) fn existing(file: File, direct: bool) -> Self {
        Self::new(file, direct, None)
    }

    /// `direct` is a wish: a file system may refuse the flag here, or a transfer later, after which
    /// the job goes on through the page cache.
    fn new(file: File, direct: bool, faults: Option<DiskFaults>) -> Self {
        let in_memory = is_memory(&file);
        let this = Self {
            file,
            direct: AtomicBool::new(false),
            can_reserve: AtomicBool::new(true),
            in_memory,
            faults,
        };
        if direct && this.set_direct(true).is_ok() {
            this.direct.store(true, Ordering::Relaxed);
        }
        this
    }

    /// Goes on through the page cache.
    pub(crate) fn leave_direct(&self) {
        if self.direct.swap(false, Ordering::Relaxed) {
            // A refusal shows in the next transfer.
            let _ = self.set_direct(false);
        }
    }

    #[cfg(target_os = "linux")]
    fn set_direct(&self, on: bool) -> io::Result<()> {
        let mut flags = rustix::fs::fcntl_getfl(&self.file)?;
        flags.set(OFlags::DIRECT, on);
        Ok(rustix::fs::fcntl_setfl(&self.file, flags)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn set_direct(&self, _: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The device the file lies on, as far as the system tells.
    pub(crate) fn device(&self) -> u64 {
        use std::os::unix::fs::MetadataExt;
        self.file.metadata().map_or(0, |data| data.dev())
    }

    pub(crate) fn describe(&self) -> String {
        let direct = self.direct.load(Ordering::Relaxed);
        let how = if direct { "direct" } else { "through the page cache" };
        let warn = if self.in_memory { ", on a file system in memory" } else { "" };
        format!("{how}{warn}")
    }

    pub(crate) fn fault(&self, way: Way, len: usize) -> Option<DiskFault> {
        self.ask(match way {
            Way::Out => DiskCall::Write { len },
            Way::In => DiskCall::Read { len },
        })
    }

    /// What the test wants to happen to a call; if it panics over that, a failure.
    fn ask(&self, call: DiskCall) -> Option<DiskFault> {
        let faults = self.faults.as_ref()?;
        let failure = Some(DiskFault::Fail(io::ErrorKind::Other));
        shielded("a plan of disk faults", || faults(call)).unwrap_or(failure)
    }

    /// One `pwrite`; may move less than asked.
    pub(crate) fn transfer_out(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pwrite(&self.file, bytes, offset)?)
    }

    /// One `pread`; may move less than asked, zero at the end of the file.
    pub(crate) fn transfer_in(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pread(&self.file, bytes, offset)?)
    }

    /// Makes the file reach to `to` with space behind it, or at least to `at_least`.
    pub(crate) fn reserve(&self, from: u64, to: u64, at_least: u64) -> io::Result<()> {
        if let Some(DiskFault::Fail(kind)) = self.ask(DiskCall::Reserve) {
            return Err(kind.into());
        }
        if !self.can_reserve.load(Ordering::Relaxed) {
            return self.file.set_len(to);
        }
        let allocate = |to| {
            retry(|| rustix::fs::fallocate(&self.file, FallocateFlags::empty(), from, to - from))
        };
        let result = allocate(to).or_else(|_| allocate(at_least));
        match result {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                self.can_reserve.store(false, Ordering::Relaxed);
                self.file.set_len(to)
            }
            other => other,
        }
    }

    /// Whether the file system has less than a tenth of its space free, or less than `bytes`.
    pub(crate) fn is_crowded(&self, bytes: u64) -> bool {
        rustix::fs::fstatvfs(&self.file).is_ok_and(|status| {
            let free = status.f_bavail.saturating_mul(status.f_frsize);
            status.f_bavail < status.f_blocks / 10 || free < bytes
        })
    }

    /// Returns a range's space to the file system. The file keeps its length.
    pub(crate) fn give_back(&self, offset: u64, len: u64) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        retry(|| rustix::fs::fallocate(&self.file, flags, offset, len))
    }
}

impl AsFd for DiskFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn retry(mut call: impl FnMut() -> rustix::io::Result<()>) -> io::Result<()> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            other => return other.map_err(io::Error::from),
        }
    }
}

#[cfg(target_os = "linux")]
#[allow(clippy::unnecessary_cast, reason = "the type differs between machines")]
fn is_memory(file: &File) -> bool {
    // The type of the field differs between architectures.
    #[allow(clippy::unnecessary_cast)]
    let is_one = |kind| MEMORY_FILE_SYSTEMS.contains(&(kind as i64));
    rustix::fs::fstatfs(file).is_ok_and(|status| is_one(status.f_type))
}

#[cfg(not(target_os = "linux"))]
fn is_memory(_: &File) -> bool {
    false
}
