//! [`Stream`]: work that runs in order, beside that of other streams.

use std::fmt;
use std::sync::Arc;

use crate::cuda::{Context, OwnedStream};
use crate::device::{Device, Kind};
use crate::error::GpuError;

/// A queue of launches of one device.
///
/// Launches on one stream run in order. Launches on different streams may run at the same time, except where one needs what
/// the other writes: buffers know who used them last, and a launch waits on the device for those that matter to it.
///
/// The emulator runs every launch at once and to its end, whatever its stream.
///
/// ```
/// use stratape_cuda::{Device, Grid, Stream};
///
/// let device = Device::new()?;
/// let (left, right) = (Stream::new(&device)?, Stream::new(&device)?);
/// let grids = [Grid::blocks(8).stream(&left), Grid::blocks(8).stream(&right)];
/// // … launches …
/// left.synchronize()?;
/// right.synchronize()?;
/// # let _ = grids;
/// # Ok::<(), stratape_cuda::GpuError>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    owner: Kind,
    raw: Option<Arc<OwnedStream>>,
}

impl Stream {
    /// A new stream of the device.
    ///
    /// ```
    /// # use stratape_cuda::{Device, Stream};
    /// let stream = Stream::new(&Device::emulator())?;
    /// # let _ = stream;
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device) -> Result<Self, GpuError> {
        let owner = device.kind().clone();
        let raw = match &owner {
            Kind::Cuda(context) => Some(Arc::new(Context::new_stream(context)?)),
            Kind::Emulator(_) => None,
        };
        Ok(Self { owner, raw })
    }

    /// Waits for everything that was put on the stream.
    ///
    /// ```
    /// # use stratape_cuda::{Device, Stream};
    /// Stream::new(&Device::emulator())?.synchronize()?;
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If something launched earlier has failed.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        self.raw.as_ref().map_or(Ok(()), |stream| stream.synchronize())
    }

    pub(crate) fn owner(&self) -> &Kind {
        &self.owner
    }

    pub(crate) fn raw(&self) -> Option<&OwnedStream> {
        self.raw.as_deref()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("device", &self.owner.name()).finish_non_exhaustive()
    }
}
