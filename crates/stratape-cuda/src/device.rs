//! [`Device`]: a CUDA device or the emulator.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::buffer::Buffer;
use crate::cuda::Context;
use crate::element::Element;
use crate::error::GpuError;
use crate::grid::Limits;

/// Where kernels run: a CUDA device, or the emulator, which runs them on the CPU.
///
/// A device is a handle: clones mean the same device, and cost nothing. Buffers and streams belong to the device they were
/// made with.
///
/// ```
/// use stratape_cuda::Device;
///
/// let gpu = Device::new()?;
/// println!("running on {gpu}");
/// let x = gpu.upload(&[1.0, 2.0, 3.0])?;
/// assert_eq!(x.download()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), stratape_cuda::GpuError>(())
/// ```
///
/// Environment variables: `STRATAPE_GPU=emulator` makes [`Device::new`] return the emulator, `STRATAPE_GPU=cuda` makes it
/// fail where it would; `STRATAPE_GPU_CHECK=1` or `0` turns [checking](Self::checking) on or off for every new device.
#[derive(Clone)]
pub struct Device {
    kind: Kind,
    checking: bool,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Cuda(Arc<Context>),
    Emulator(Arc<Emulator>),
}

/// What tells one emulated device from another.
pub(crate) struct Emulator {
    name: String,
    id: u64,
}

/// The emulated devices there are, by their number.
static EMULATORS: Mutex<Vec<Weak<Emulator>>> = Mutex::new(Vec::new());

impl Emulator {
    fn new(name: String) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let emulator = Arc::new(Self { name, id: NEXT.fetch_add(1, Ordering::Relaxed) });
        let mut all = EMULATORS.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&emulator));
        emulator
    }

    fn find(id: u64) -> Option<Arc<Self>> {
        let all = EMULATORS.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).find(|emulator| emulator.id == id)
    }
}

impl Kind {
    /// Whether buffers of the one can be used with the other.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cuda(a), Self::Cuda(b)) => Arc::ptr_eq(a, b),
            (Self::Emulator(a), Self::Emulator(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Cuda(context) => context.name(),
            Self::Emulator(emulator) => &emulator.name,
        }
    }

    /// What finds the device again: whether it is emulated, and its number.
    pub(crate) fn number(&self) -> (bool, u64) {
        match self {
            Self::Cuda(context) => (false, context.ordinal() as u64),
            Self::Emulator(emulator) => (true, emulator.id),
        }
    }

    /// The device of that number. An emulated one that is gone, or was another process's, is as good as any other.
    pub(crate) fn find((emulated, number): (bool, u64)) -> Result<Self, GpuError> {
        if emulated {
            let known = Emulator::find(number).map(Self::Emulator);
            return Ok(known.unwrap_or_else(|| Device::fallback("for a stored buffer").kind));
        }
        let ordinal = usize::try_from(number).unwrap_or(usize::MAX);
        Context::open(ordinal).map(Self::Cuda)
    }

    /// Refuses what belongs to another device.
    pub(crate) fn check(&self, owner: &Self, what: &str) -> Result<(), GpuError> {
        if self.is(owner) {
            return Ok(());
        }
        // Two devices may have one name; the text must not say that the buffer is where it belongs.
        let same = self.name() == owner.name();
        Err(GpuError::WrongDevice {
            what: what.to_owned(),
            belongs_to: owner.name().to_owned(),
            used_with: format!("{}{}", if same { "another " } else { "" }, self.name()),
        })
    }
}

impl Device {
    /// The first CUDA device, if its driver and NVRTC are there; the emulator otherwise. [`name`](Self::name) says which, and
    /// why.
    ///
    /// ```
    /// let device = stratape_cuda::Device::new()?;
    /// assert_eq!(device.is_emulator(), device.name().starts_with("emulator"));
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If there is a device and it cannot be used; if the device of `STRATAPE_GPU` does not exist.
    pub fn new() -> Result<Self, GpuError> {
        match std::env::var("STRATAPE_GPU").ok().as_deref() {
            Some("emulator") => return Ok(Self::fallback("as STRATAPE_GPU asks")),
            Some("cuda") => return Self::cuda(0),
            None | Some("") => {}
            Some(other) => {
                return Err(GpuError::Unsupported(format!(
                    "STRATAPE_GPU is `{other}`; it may be `emulator` or `cuda`"
                )));
            }
        }
        match Self::cuda(0) {
            Err(GpuError::NoDevice { reason }) => Ok(Self::fallback(&reason)),
            Err(GpuError::DriverTooOld { missing }) => {
                Ok(Self::fallback(&format!("the CUDA driver is too old: {missing}")))
            }
            Err(GpuError::NvrtcMissing) => Ok(Self::fallback("NVRTC not found")),
            other => other,
        }
    }

    /// The CUDA device of that number.
    ///
    /// Two calls with one number give the same device.
    ///
    /// ```
    /// use stratape_cuda::Device;
    ///
    /// match Device::cuda(0) {
    ///     Ok(device) => println!("{device}"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    /// If there is no such device, no driver, no NVRTC, or the driver is too old.
    pub fn cuda(ordinal: usize) -> Result<Self, GpuError> {
        Ok(Self::with(Kind::Cuda(Context::open(ordinal)?), false))
    }

    /// An emulated device: the same kernels on the CPU, with every check.
    ///
    /// Each call creates another device, as if the machine had several.
    ///
    /// ```
    /// let device = stratape_cuda::Device::emulator();
    /// assert!(device.is_emulator() && device.is_checking());
    /// ```
    pub fn emulator() -> Self {
        Self::with(Kind::Emulator(Emulator::new("emulator".to_owned())), true)
    }

    /// The emulator that `new` returns without a CUDA device. It is one device, as the CUDA device would be.
    fn fallback(reason: &str) -> Self {
        static SHARED: OnceLock<Arc<Emulator>> = OnceLock::new();
        let emulator = SHARED.get_or_init(|| Emulator::new(format!("emulator ({reason})")));
        Self::with(Kind::Emulator(Arc::clone(emulator)), true)
    }

    fn with(kind: Kind, checking: bool) -> Self {
        let checking = match std::env::var("STRATAPE_GPU_CHECK").ok().as_deref() {
            Some("1") => true,
            Some("0") => false,
            _ => checking,
        };
        Self { kind, checking }
    }

    /// A handle of a device that is open already.
    pub(crate) fn of(kind: Kind, checking: bool) -> Self {
        Self { kind, checking }
    }

    /// The same device, checking or not.
    ///
    /// With checks, a launch waits for the kernel and reports indices out of bounds and failed assertions with their thread;
    /// the emulator also reports data races, divergent barriers and reads of uninitialised shared memory. Without, an
    /// index out of bounds in a kernel is as harmful as in CUDA C++. On for the emulator and off for CUDA devices by default.
    ///
    /// ```
    /// let device = stratape_cuda::Device::emulator().checking(false);
    /// assert!(!device.is_checking());
    /// ```
    #[must_use]
    pub fn checking(mut self, on: bool) -> Self {
        self.checking = on;
        self
    }

    /// Whether launches are checked.
    ///
    /// ```
    /// assert!(stratape_cuda::Device::emulator().checking(true).is_checking());
    /// ```
    pub fn is_checking(&self) -> bool {
        self.checking
    }

    /// Whether this is the emulator.
    ///
    /// ```
    /// assert!(stratape_cuda::Device::emulator().is_emulator());
    /// ```
    pub fn is_emulator(&self) -> bool {
        matches!(self.kind, Kind::Emulator(_))
    }

    /// A description of the device: `NVIDIA H200 (CUDA device 0)`, `emulator (no CUDA driver found)`.
    ///
    /// ```
    /// assert_eq!(stratape_cuda::Device::emulator().name(), "emulator");
    /// ```
    pub fn name(&self) -> &str {
        self.kind.name()
    }

    /// A buffer with these elements.
    ///
    /// ```
    /// let device = stratape_cuda::Device::emulator();
    /// let points = device.upload(&[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])?;
    /// assert_eq!(points.len(), 2);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If device memory is exhausted, or the device fails.
    pub fn upload<T: Element>(&self, elements: &[T]) -> Result<Buffer<T>, GpuError> {
        let mut buffer = Buffer::new(self, elements.len())?;
        buffer.write(elements)?;
        Ok(buffer)
    }

    /// A buffer of this many zeros.
    ///
    /// ```
    /// let device = stratape_cuda::Device::emulator();
    /// assert_eq!(device.zeros::<f32>(3)?.download()?, [0.0; 3]);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If device memory is exhausted, or the device fails.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>, GpuError> {
        let mut buffer = Buffer::new(self, len)?;
        buffer.fill_zero()?;
        Ok(buffer)
    }

    /// A buffer of zeros, as long as another: the shadow of it.
    ///
    /// ```
    /// let device = stratape_cuda::Device::emulator();
    /// let x = device.upload(&[1.0, 2.0])?;
    /// assert_eq!(device.alloc_like(&x)?.download()?, [0.0; 2]);
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If device memory is exhausted, or the device fails.
    pub fn alloc_like<T: Element>(&self, buffer: &Buffer<T>) -> Result<Buffer<T>, GpuError> {
        self.zeros(buffer.len())
    }

    /// Waits for everything that was launched on the device, on every stream.
    ///
    /// ```
    /// stratape_cuda::Device::new()?.synchronize()?;
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// If something launched earlier has failed.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        match &self.kind {
            Kind::Cuda(context) => context.synchronize(),
            // The emulator has finished when a launch returns.
            Kind::Emulator(_) => Ok(()),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    pub(crate) fn limits(&self) -> &Limits {
        match &self.kind {
            Kind::Cuda(context) => context.limits(),
            Kind::Emulator(_) => &Limits::EMULATOR,
        }
    }
}

impl PartialEq for Device {
    /// Whether both are handles of one device.
    fn eq(&self, other: &Self) -> bool {
        self.kind.is(&other.kind)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("name", &self.name())
            .field("checking", &self.checking)
            .finish()
    }
}
