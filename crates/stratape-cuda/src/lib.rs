//! Devices, buffers and launches for the kernels of [Stratape](https://docs.rs/stratape): CUDA where there is a device, an
//! emulator everywhere.
//!
//! | I want | use |
//! |---|---|
//! | a device, or the emulator if there is none | [`Device::new`] |
//! | data on it and back | [`Device::upload`], [`Buffer::download`] |
//! | the shape of a launch | [`Grid`] |
//! | launches beside each other | [`Stream`] |
//! | a shadow that is overwritten | [`fresh`] |
//! | a stack of buffers larger than device memory | [`DeviceTape`] |
//! | the state of a time loop, or its snapshots, on a device | a [`Buffer`], [`DeviceStore`] |
//! | slabs of tapes, and other host memory, that the device copies by itself | [`PinnedSource`] |
//! | to know why a launch failed | [`GpuError`], [`Device::checking`] |
//!
//! ```
//! use stratape_cuda::{Device, Grid};
//!
//! let gpu = Device::new()?;
//! println!("running on {gpu}");
//! let x = gpu.upload(&[1.0, 2.0, 3.0])?;
//! let grid = Grid::blocks(x.len().div_ceil(256)).threads(256);
//! // `axpy::launch(&gpu, grid, …)?`, as `#[stratape::kernel]` generates it
//! assert_eq!(x.download()?, [1.0, 2.0, 3.0]);
//! # let _ = grid;
//! # Ok::<(), stratape_cuda::GpuError>(())
//! ```
//!
//! Nothing of CUDA is needed to build. The driver and NVRTC, the library that compiles kernels, are loaded when the first device
//! is asked for; where one is missing, [`Device::new`] returns the emulator. A compiled kernel is kept in the user's cache
//! directory (`$XDG_CACHE_HOME/stratape/kernels`; `STRATAPE_CACHE` names another, or none if it is empty).
//!
//! | variable | effect |
//! |---|---|
//! | `STRATAPE_GPU` | `emulator`: [`Device::new`] returns the emulator. `cuda`: it fails where there is no device |
//! | `STRATAPE_GPU_CHECK` | `1`: launches are [checked](Device::checking). `0`: they are not |
//! | `STRATAPE_CACHE` | the directory of compiled kernels; empty: none |

mod blas;
mod buffer;
mod cache;
mod checkpoint;
mod cuda;
mod device;
mod device_tape;
mod election;
mod element;
mod emulator;
mod error;
mod grid;
#[doc(hidden)]
#[allow(missing_docs, clippy::missing_errors_doc)]
pub mod host;
mod kernel;
mod launch;
pub mod nvrtc;
mod pinned;
mod stream;

pub use self::buffer::{Buffer, Shadow, fresh};
pub use self::checkpoint::{DeviceState, DeviceStore, StateReader, StateWriter};
pub use self::device::Device;
pub use self::device_tape::{
    DeviceTape, DeviceTapeOptions, DeviceTapeStats, LayerStats, PushError,
};
pub use self::element::{Element, ScalarType};
pub use self::error::{FaultKind, GpuError, KernelFault};
pub use self::grid::{Dim3, Grid};
pub use self::pinned::PinnedSource;
pub use self::stream::Stream;

/// For emitted code.
#[doc(hidden)]
pub mod __private {
    pub use crate::blas::{BlasProduct, blas_product};
    pub use crate::buffer::{bits_of, only, same_length, unwritten};
    pub use crate::element::ScalarType;
    pub use crate::grid::over;
    pub use crate::host;
    pub use crate::kernel::{
        Arg, BufferMut, BufferRef, Constant, Elect, Factor, Fresh, Kernel, KernelText, Order,
        Param, ShadowRef, Tape,
    };
    pub use crate::launch::launch;
}
