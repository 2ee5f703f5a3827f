//! What emitted code says about a kernel, and how it passes arguments.

use std::sync::OnceLock;

use stratape_ir::Function;

use crate::buffer::{Buffer, RawBuffer, Shadow, element_name};
use crate::element::{Element, ScalarType};
use crate::error::GpuError;
use crate::grid::Grid;

/// A kernel of the program: a `static` of emitted code.
#[derive(Debug)]
pub struct Kernel {
    text: &'static KernelText,
    function: OnceLock<Result<Function, String>>,
}

/// Everything the compiler knows about a kernel when the program is built.
#[derive(Debug)]
pub struct KernelText {
    /// The name, also that of the function in `cuda`.
    pub name: &'static str,
    /// The kernel in the intermediate language's text form, for the emulator.
    pub language: &'static str,
    /// CUDA C++ with one `extern "C" __global__` function of that name.
    pub cuda: &'static str,
    /// The parameters, in order.
    pub params: &'static [Param],
    /// What a thread pushes to the device tape.
    pub tape: Tape,
    /// The constant expressions of the kernel, by their text, and their numbers. The text of CUDA knows them as `STRATAPE_CONST_0` and on.
    pub constants: &'static [(&'static str, Constant)],
    /// How many times the dynamic shared memory of a launch a block takes at most: a gradient has shadows of it.
    pub dynamic_shared: usize,
    /// The order of additions, if the grid extends along x alone, and otherwise.
    pub order: [Order; 2],
    /// What runs before it, if threads find extremes together: the last parameters tell then who holds them.
    pub elect: Option<&'static Elect>,
    /// What the checks of `cuda` test, by their number; a number without text is reported as a number.
    pub checks: &'static [&'static str],
}

/// The number of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// An `f64`.
    F64(f64),
    /// An `f32`.
    F32(f32),
    /// An integer, or a `bool` as 0 or 1.
    Int(i128),
}

impl Constant {
    /// The number in C++.
    pub(crate) fn text(self) -> String {
        match self {
            Self::F64(number) if number.is_finite() => format!("({number:?})"),
            Self::F64(number) => {
                format!("__longlong_as_double((long long){:#x}ull)", number.to_bits())
            }
            Self::F32(number) if number.is_finite() => format!("({number:?}f)"),
            Self::F32(number) => format!("__uint_as_float({:#x}u)", number.to_bits()),
            Self::Int(number) if number < 0 => format!("({number}ll)"),
            Self::Int(number) => format!("({number}ull)"),
        }
    }

    /// The number as the emulator knows it.
    pub(crate) fn number(self) -> f64 {
        match self {
            Self::F64(number) => number,
            Self::F32(number) => f64::from(number),
            Self::Int(number) => number as f64,
        }
    }
}

impl KernelText {
    /// The text of CUDA with its constants.
    pub(crate) fn complete(&self) -> String {
        let define = |(at, (_, number)): (usize, &(&str, Constant))| {
            format!("#define STRATAPE_CONST_{at} {}\n", number.text())
        };
        let defines: String = self.constants.iter().enumerate().map(define).collect();
        defines + self.cuda
    }
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A scalar by value.
    Value(ScalarType),
    /// A slice in device memory.
    Slice {
        /// The scalars of its elements.
        scalar: ScalarType,
        /// Scalars of an element.
        arity: usize,
        /// Whether the kernel writes to it.
        mutable: bool,
        /// The parameter whose adjoints it receives: a slice of the same length, or the first of the values before it, for which it has an element for
        /// each float among them.
        shadow_of: Option<usize>,
        /// How a launch along one axis writes it, if its contents are to be overwritten.
        fresh: Fresh,
    },
}

/// How a kernel writes a shadow that is to be overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// It adds.
    Added,
    /// It stores to every element before it adds to it.
    Stored,
    /// The same, and it stores to all elements if none of these products is less than their number.
    Covered(&'static [&'static [Factor]]),
}

/// A number that a launch knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Threads of a block.
    Threads,
    /// Blocks of the grid.
    Blocks,
    /// A literal.
    Number(u64),
    /// The number at a position among the arguments.
    Value(usize),
    /// The length of the buffer at a position.
    Len(usize),
}

impl Factor {
    /// The number, in a launch.
    pub(crate) fn of(self, grid: &Grid, args: &[Arg<'_>]) -> u64 {
        match self {
            Self::Threads => grid.thread_count().count(),
            Self::Blocks => grid.block_count().count(),
            Self::Number(number) => number,
            Self::Value(at) => match args.get(at) {
                Some(Arg::Value { bits, .. }) => *bits,
                _ => 0,
            },
            Self::Len(at) => {
                args.get(at).and_then(Arg::buffer).map_or(0, |buffer| buffer.len() as u64)
            }
        }
    }
}

/// What one thread pushes to the device tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tape {
    /// Nothing.
    None,
    /// At most so many bytes.
    PerThread(usize),
    /// A number of bytes that depends on data.
    Unknown,
}

/// The kernel that finds who holds extremes, before a gradient.
///
/// Its parameters are those of the kernel that the gradient is of, its phase, and for each extreme what was there first and who holds it.
#[derive(Debug)]
pub struct Elect {
    /// The kernel.
    pub kernel: Kernel,
    /// The arguments of the gradient that it takes, by their positions.
    pub own: &'static [usize],
    /// Which of these hold extremes.
    pub extremes: &'static [usize],
}

/// What a launch that asks for a fixed order of additions can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It has one anyway.
    Free,
    /// Additions are written to a ledger, at most so many by a thread if that is known, and carried out after the kernel.
    Logged(Option<usize>),
    /// None; why.
    Refused(&'static str),
}

impl Kernel {
    /// A kernel that is parsed, compiled and loaded at its first launch.
    pub const fn new(text: &'static KernelText) -> Self {
        Self { text, function: OnceLock::new() }
    }

    /// What the compiler wrote.
    pub fn text(&self) -> &'static KernelText {
        self.text
    }

    /// The kernel in the intermediate language, parsed once.
    pub(crate) fn function(&self) -> Result<&Function, GpuError> {
        self.function
            .get_or_init(|| {
                stratape_ir::text::parse_function(self.text.language).map_err(|e| e.to_string())
            })
            .as_ref()
            .map_err(|message| GpuError::Compile {
                kernel: self.text.name.to_owned(),
                text: self.text.language.to_owned(),
                log: message.clone(),
            })
    }
}

impl Param {
    /// Whether it is a float by value.
    pub(crate) fn is_float(&self) -> bool {
        matches!(self, Self::Value(ScalarType::F32 | ScalarType::F64))
    }

    /// What an argument for it is, in words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Value(scalar) => format!("a value of type `{scalar}`"),
            Self::Slice { scalar, arity, mutable, .. } => {
                let access = if *mutable { "&mut " } else { "&" };
                format!("`{access}Buffer<{}>`", element_name(*scalar, *arity))
            }
        }
    }
}

/// An argument of a launch.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A scalar, as a cell.
    Value {
        /// Its type.
        scalar: ScalarType,
        /// Its bits: of a float, or of an integer extended to 64 bits; 0 or 1.
        bits: u64,
    },
    /// A buffer that is read.
    Buffer(BufferRef<'a>),
    /// A buffer that is written.
    BufferMut(BufferMut<'a>),
    /// A buffer of adjoints.
    Shadow(ShadowRef<'a>),
}

/// A buffer that is read, without the type of its elements.
#[derive(Clone, Copy)]
pub struct BufferRef<'a>(&'a RawBuffer);

/// A buffer that is written, without the type of its elements.
pub struct BufferMut<'a>(&'a RawBuffer);

/// A buffer of adjoints, without the type of its elements.
pub struct ShadowRef<'a> {
    buffer: &'a RawBuffer,
    fresh: bool,
}

impl<'a> BufferRef<'a> {
    pub(crate) fn of(raw: &'a RawBuffer) -> Self {
        Self(raw)
    }
}

impl<'a> ShadowRef<'a> {
    /// A shadow that is overwritten.
    pub(crate) fn fresh(buffer: &'a RawBuffer) -> Self {
        Self { buffer, fresh: true }
    }
}

impl<'a> BufferMut<'a> {
    pub(crate) fn of(raw: &'a RawBuffer) -> Self {
        Self(raw)
    }
}

macro_rules! described {
    ($($type:ident, |$this:ident| $raw:expr;)*) => {$(
        impl std::fmt::Debug for $type<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                let raw: &RawBuffer = $raw;
                f.debug_struct(stringify!($type))
                    .field("element", &raw.element_name())
                    .field("len", &raw.len())
                    .finish_non_exhaustive()
            }
        }
    )*};
}
described! {
    BufferRef, |this| this.0;
    BufferMut, |this| this.0;
    ShadowRef, |this| this.buffer;
}

impl<'a, T: Element> From<&'a Buffer<T>> for Arg<'a> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        Self::Buffer(BufferRef(buffer.raw()))
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for Arg<'a> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        Self::BufferMut(BufferMut(buffer.raw()))
    }
}

impl<'a, T: Element> From<Shadow<'a, T>> for Arg<'a> {
    fn from(shadow: Shadow<'a, T>) -> Self {
        let fresh = shadow.is_fresh();
        Self::Shadow(ShadowRef { buffer: shadow.into_buffer().raw(), fresh })
    }
}

macro_rules! values {
    ($($scalar:ty),*) => {$(
        impl From<$scalar> for Arg<'_> {
            fn from(value: $scalar) -> Self {
                let mut bits = [0];
                value.to_cells(&mut bits);
                Self::Value { scalar: <$scalar>::SCALAR, bits: bits[0] }
            }
        }
    )*};
}
values!(bool, f32, f64, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl<'a> Arg<'a> {
    /// The buffer, if it is one.
    pub(crate) fn buffer(&self) -> Option<&'a RawBuffer> {
        match self {
            Self::Value { .. } => None,
            Self::Buffer(BufferRef(buffer)) | Self::BufferMut(BufferMut(buffer)) => Some(buffer),
            Self::Shadow(shadow) => Some(shadow.buffer),
        }
    }

    /// Whether the caller has lent it for writing.
    pub(crate) fn is_mutable(&self) -> bool {
        matches!(self, Self::BufferMut(_) | Self::Shadow(_))
    }

    /// Whether it is to be zeroed before the launch.
    pub(crate) fn is_fresh(&self) -> bool {
        matches!(self, Self::Shadow(ShadowRef { fresh: true, .. }))
    }

    /// What it is, in words.
    pub(crate) fn describe(&self) -> String {
        match self.buffer() {
            Some(buffer) => {
                let access = if self.is_mutable() { "&mut " } else { "&" };
                format!("`{access}Buffer<{}>`", buffer.element_name())
            }
            None => match self {
                Self::Value { scalar, .. } => format!("a value of type `{scalar}`"),
                _ => String::new(),
            },
        }
    }
}
