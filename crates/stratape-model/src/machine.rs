//! [`Machine`]: the hardware as plain data, and the check that it can be built.

mod check;

use crate::ModelError;

/// What a computation runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Addition and subtraction.
    Add,
    /// Multiplication.
    Multiply,
    /// Division.
    Divide,
    /// Square root.
    SquareRoot,
    /// `exp`, `ln`, `sin` and their like.
    Special,
    /// Comparison, selection, negation, absolute value, minimum, maximum.
    Simple,
}

impl Unit {
    /// Every unit, in the order of [`PassReport::operations`](crate::PassReport::operations).
    pub const ALL: [Self; 6] =
        [Self::Add, Self::Multiply, Self::Divide, Self::SquareRoot, Self::Special, Self::Simple];
}

/// How long an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timing {
    /// Cycles from its start to its result.
    pub latency: u64,
    /// Whether a unit can start another operation in the next cycle, instead of after the latency.
    pub pipelined: bool,
}

/// The timing of each operation.
///
/// The paper gives none. The defaults are those of the out-of-order processor of gem5, on which its simulator is built: additions 2 cycles,
/// products 4, both pipelined; divisions 12 and square roots 24, not pipelined, since they iterate on one unit. That processor has no special
/// functions; 32 cycles, not pipelined, is a range reduction and six steps of a polynomial (each a product and half of an addition) on one
/// unit. Simple operations take one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after the units")]
pub struct Timings {
    pub add: Timing,
    pub multiply: Timing,
    pub divide: Timing,
    pub square_root: Timing,
    pub special: Timing,
    pub simple: Timing,
}

impl Timings {
    /// The timing of an operation on this unit.
    pub fn of(&self, unit: Unit) -> Timing {
        match unit {
            Unit::Add => self.add,
            Unit::Multiply => self.multiply,
            Unit::Divide => self.divide,
            Unit::SquareRoot => self.square_root,
            Unit::Special => self.special,
            Unit::Simple => self.simple,
        }
    }
}

impl Default for Timings {
    fn default() -> Self {
        Self {
            add: Timing { latency: 2, pipelined: true },
            multiply: Timing { latency: 4, pipelined: true },
            divide: Timing { latency: 12, pipelined: false },
            square_root: Timing { latency: 24, pipelined: false },
            special: Timing { latency: 32, pipelined: false },
            simple: Timing { latency: 1, pipelined: true },
        }
    }
}

/// The cache: set-associative, LRU, write-back, write-allocate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheSettings {
    /// Bytes.
    pub size: u64,
    /// Lines of a set.
    pub ways: u64,
    /// Bytes of a line.
    pub line: u64,
    /// Accesses that can start in a cycle.
    pub ports: u32,
    /// Cycles of a hit, and of finding out that it is none.
    pub latency: u64,
    /// Lines that can be on their way from DRAM at a time.
    pub misses_in_flight: u32,
    /// Whether a store that misses is done when its line has been asked for (a store buffer holds the value), instead of when the line is
    /// there.
    pub posted_stores: bool,
}

/// The scratchpad: banks, each with one access a cycle. Consecutive words of 8 bytes lie in consecutive banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScratchpadSettings {
    /// Bytes of all banks; 0 means there is none, and the tape goes through the cache.
    pub bytes: u64,
    /// Number of banks.
    pub banks: u64,
    /// Cycles of an access.
    pub latency: u64,
}

/// The memory behind cache and streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DramSettings {
    /// Bandwidth in 10⁶ bytes a second.
    pub megabytes_per_second: u64,
    /// Cycles from a request to its first byte.
    pub latency: u64,
}

/// The two engines that move layers of the tape between scratchpad and DRAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamSettings {
    /// Bytes that an engine holds or has asked for, beside those in the scratchpad.
    pub buffer: u64,
    /// Whether a layer has half of the scratchpad, so that the other half drains or fills meanwhile.
    pub double_buffer: bool,
    /// Records that a layer may span, the factor by which the compiler unrolls loops; 0 for as many as there is room for.
    pub layer_records: u64,
}

/// What waits at the boundary of two layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Barrier {
    /// Everything: no node of a layer starts before all of the layer before are done.
    Everything,
    /// Accesses to the tape alone, which the full/empty bits of the scratchpad order. Other nodes of the next layer, its loads through the
    /// cache above all, may start as soon as the window has room for them.
    Tape,
}

/// A machine to model.
///
/// The defaults are the TapeFlow paper's Table III with a cache of 32k; what the table leaves open is explained at the fields.
///
/// ```
/// use stratape_model::Machine;
///
/// let baseline = Machine::baseline().with_cache("32k")?;
/// let tapeflow = Machine::default().with_cache("2k")?;
/// assert_eq!((baseline.scratchpad.bytes, baseline.cache.ways), (0, 4));
/// assert_eq!((tapeflow.scratchpad.bytes, tapeflow.cache.ways), (512, 2));
/// assert_eq!(tapeflow.layer_bytes(), 256);
///
/// // What cannot be built says what to write instead.
/// let mut odd = Machine::default();
/// odd.cache.size = 3000;
/// assert!(odd.check().is_err());
/// # Ok::<(), stratape_model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Machine {
    /// Clock in MHz: 2000.
    pub clock_mhz: u64,
    /// Functional units: 16, a grid of 4 × 4. Each can do every operation.
    pub units: u32,
    /// How long operations take.
    pub timings: Timings,
    /// Nodes that start in a cycle: 8.
    pub issue_width: u32,
    /// Nodes in flight: 512. The paper gives none, but has the compiler unroll loops and place a layer on the grid while streams fill the room of the
    /// next. That needs the nodes of a whole scratchpad in flight: 64 values, with three to eight nodes for each in the nine programs.
    pub window: usize,
    /// 32k, 4 ways, lines of 64 bytes. 2 ports: the paper's energy model of the cache has as many. A hit takes 2 cycles. 16 lines in flight
    /// are what the DRAM's bandwidth and latency need to be saturated (9.6 bytes × 107 cycles), so that cache and streams are equals. Stores
    /// are posted.
    pub cache: CacheSettings,
    /// 512 bytes in 8 banks of 64, 1 cycle.
    pub scratchpad: ScratchpadSettings,
    /// DDR4 at 19.2 GB/s. 100 cycles are 50 ns: row and column of DDR4-2400 (28 ns) and a memory controller.
    pub dram: DramSettings,
    /// A buffer of 1024 bytes an engine, as many as the cache can have in flight; double buffering.
    pub streams: StreamSettings,
    /// Everything waits. The paper ends each layer with a barrier, and gives as its purpose that a layer has the tape of one region only;
    /// whether other accesses wait as well it does not say. With layers of a few dozen values this decides whether the misses of a layer
    /// overlap with those of the next.
    pub barrier: Barrier,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            clock_mhz: 2000,
            units: 16,
            timings: Timings::default(),
            issue_width: 8,
            window: 512,
            cache: CacheSettings {
                size: 32 << 10,
                ways: 4,
                line: 64,
                ports: 2,
                latency: 2,
                misses_in_flight: 16,
                posted_stores: true,
            },
            scratchpad: ScratchpadSettings { bytes: 512, banks: 8, latency: 1 },
            dram: DramSettings { megabytes_per_second: 19_200, latency: 100 },
            streams: StreamSettings { buffer: 1024, double_buffer: true, layer_records: 0 },
            barrier: Barrier::Everything,
        }
    }
}

impl Machine {
    /// The default without a scratchpad: the tape goes through the cache.
    pub fn baseline() -> Self {
        Self::default().with_scratchpad(0)
    }

    /// This machine with a cache of the given [`size`], with the ways that Table III has for it: 2 up to 16k, 4 at 32k, all at 64k, 8 at
    /// 128k. A size between two entries takes the ways of the larger one.
    ///
    /// # Errors
    /// If the text is no size, or no cache of that size can be built.
    pub fn with_cache(mut self, text: &str) -> Result<Self, ModelError> {
        self.cache.size = size(text)?;
        self.cache.ways = match self.cache.size {
            0..=0x4000 => 2,
            0x4001..=0x8000 => 4,
            0x8001..=0x1_0000 => self.cache.size / self.cache.line.max(1),
            _ => 8,
        };
        self.check()?;
        Ok(self)
    }

    /// This machine with a scratchpad of so many bytes in as many banks as before; 0 for none.
    pub fn with_scratchpad(mut self, bytes: u64) -> Self {
        self.scratchpad.bytes = bytes;
        self
    }

    /// Bytes of the tape that a layer has room for: half of the scratchpad under double buffering, else all of it.
    pub fn layer_bytes(&self) -> u64 {
        if self.streams.double_buffer { self.scratchpad.bytes / 2 } else { self.scratchpad.bytes }
    }

    /// Bytes of other layers that an engine may hold while one runs.
    pub(crate) fn stream_ahead(&self) -> u64 {
        let half = if self.streams.double_buffer { self.scratchpad.bytes / 2 } else { 0 };
        half + self.streams.buffer
    }
}

/// Bytes of a size such as `512`, `32k` or `1M`.
///
/// ```
/// use stratape_model::size;
/// assert_eq!(size("32k"), Ok(32768));
/// assert_eq!(size("1M"), Ok(1 << 20));
/// assert_eq!(size("64"), Ok(64));
/// assert!(size("32 kilobytes").unwrap_err().to_string().contains("`32k`"));
/// ```
///
/// # Errors
/// If the text is no size.
pub fn size(text: &str) -> Result<u64, ModelError> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let wrong = || ModelError::Size { text: text.to_owned() };
    // `parse` takes a plus sign as well.
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(wrong)
}
