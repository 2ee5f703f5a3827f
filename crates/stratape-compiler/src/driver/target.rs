//! What the passes know of the machine they compile for: widths, costs and limits.
//!
//! Every number that decides whether a rewrite pays stands here, with what it was measured by. Figures are from x86-64 with 256-bit vectors
//! (docs/performance.md); a back end for another machine starts from [`Target::default`] and changes what differs.

use stratape_ir::{Binary, Float, Function, Layout, Math, Op, Scalar};

/// A machine, as the passes see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Iterations in a block of a vectorised loop: two vectors of four `f64`, so that one addition hides the latency of the other.
    pub simd_width: usize,
    /// The same where iterations are narrow (`f32`), or wait for a division or a root.
    pub simd_width_wide: usize,
    /// The same where memory is accessed with a stride. LLVM unrolls shorter loops and pairs the fields of one element instead of the same
    /// field of neighbours.
    pub simd_width_strided: usize,
    /// The fewest iterations, where they are known, of a loop that runs in strips: slices and regions cost as much as a few iterations,
    /// and LLVM unrolls what is shorter (kalman, fem, cutoff: 0.44 to 0.72 of the time without strips; somier, 6 iterations: 1.6).
    pub strip_iterations: i128,
    /// The most cells of a frame that holds several records: a page of `f64`.
    pub frame_cells: usize,
    /// The largest stride of a view: beyond a cache line or so of elements nothing is gained by slicing.
    pub widest_stride: i128,
    /// A loop of at most so many iterations around a row …
    pub rolled_outer: usize,
    /// … of so many elements is kept rolled: LLVM would unroll both and keep the row in registers it does not have
    /// (seen in `lenet`; docs/performance.md).
    pub rolled_row: (usize, usize),
    /// How far apart additions to one object may be to rotate through registers. Each distance costs a register.
    pub rotate_distance: i128,
    /// Iterations peeled from one end of a loop at most: stencils reach two cells, rarely four.
    pub peel_iterations: i128,
    /// Statements that peeling may copy. More grow the code faster than the loop gains.
    pub peel_statements: usize,
    /// The fewest iterations of a loop that is interchanged inwards: below, the row does not fill a vector and a half.
    pub interchange_iterations: i128,
    /// Sums kept side by side by interchange: 256 `f64` are 2 KiB, an eighth of a small L1 cache beside what the terms read.
    pub interchange_tile: i128,
    /// Ordered sums interleaved by unroll-and-jam: two adders with a latency of four cycles.
    pub jam_rows: i128,
    /// The shortest inner loop that is jammed: below, setting up eight rows costs more than the latency it hides.
    pub jam_iterations: i128,
    /// Float operations in a jammed body: eight copies of a dozen still stay in registers or the nearest loads.
    pub jam_operations: usize,
    /// Operations of a loop that several sums become: eight sums of products of two loads.
    pub fused_statements: usize,
    /// The longest row whose sums invariant factors are taken out of: its arrays are on the stack.
    pub factor_row: i128,
    /// The fewest terms: below, the second loop costs what the products did.
    pub factor_terms: i128,
    /// How far apart scattered additions may be to be gathered.
    pub gather_distance: i128,
    /// The shortest loop that is gathered: the ends are peeled.
    pub gather_iterations: i128,
    /// Float operations that gathering may repeat for each neighbour.
    pub gather_operations: usize,
    /// What a value in a table for each element of a list must save in slow operations, on the scale of [`operation_cost`](Self::operation_cost): it is stored, read for each iteration, and its
    /// adjoint is summed. A root alone is not worth it.
    pub tabulated_cost: u64,
    /// Fields of a record that is copied to separate arrays: more do not fit in the registers of one iteration.
    pub soa_fields: i128,
    /// Operations done in vain by if-conversion: a mispredicted branch costs about fifteen cycles, four cheap operations at most four.
    pub if_conversion_operations: usize,
    /// What reading a value back from where the program keeps it costs in the cut between saving and recomputing, on the scale of
    /// [`operation_cost`](Self::operation_cost).
    pub reload_cost: u64,
    /// What it costs to hand a value on as an outcome of the branch in an arm of which it is computed.
    pub merging_cost: u64,
    /// How many times as dear saving a value is, beside operations, as on a processor. An H200 does 17 operations in the time in which it moves a byte, a core with
    /// vectors one or two (softmax over rows: 750 µs with exponentials on the tape).
    pub saving_factor: u64,
    /// Whether local lists that are gone are made again, where that is cheaper than saving what was read from them.
    pub remakes_lists: bool,
    /// What putting a copy of a list on the tape and back costs beside its elements, on the same scale.
    pub state_call: u64,
    /// The most elements of an array whose elements become values: a matrix of 4×4.
    pub small_array: usize,
    /// The most iterations of a loop that is unrolled for that …
    pub unrolled_iterations: usize,
    /// … and the most statements that the loops over one array may become.
    pub unrolled_statements: usize,
    /// The most statements that a short loop of sums becomes when it is written out.
    pub short_loop_statements: usize,
    /// What a part of a parallel loop must cost at least, in operations: handing it to another thread takes some microseconds.
    pub part_operations: usize,
    /// How often an inner loop is assumed to run if nothing says.
    pub assumed_iterations: usize,
    /// What goes on the tape, and in which pieces.
    pub tape: TapeSettings,
}

/// What goes on the tape, and in which pieces: the argument `tape(…)` of `#[gradient]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapeSettings {
    /// Which values are saved.
    pub saved: Saving,
    /// The most bytes of frames in a layer; what pays on a CPU, if `None`.
    pub layer_bytes: Option<usize>,
    /// How the frames of a layer lie; without layers, records go on the tape one by one.
    pub layout: Option<Layout>,
}

impl Default for TapeSettings {
    fn default() -> Self {
        Self { saved: Saving::default(), layer_bytes: None, layout: Some(Layout::default()) }
    }
}

/// Which values of the forward half are saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Saving {
    /// Those that cost less to save than to compute or read again.
    #[default]
    Minimal,
    /// The same, with the cost of saving multiplied by one and a half: for tapes that fit no cache, or spill to disk.
    Compact,
    /// Every float that the backward half needs, as tools do that know no other way. For comparisons.
    All,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            simd_width: 8,
            simd_width_wide: 16,
            simd_width_strided: 32,
            strip_iterations: 5,
            frame_cells: 512,
            widest_stride: 64,
            rolled_outer: 8,
            rolled_row: (6, 16),
            rotate_distance: 8,
            peel_iterations: 4,
            peel_statements: 240,
            interchange_iterations: 6,
            interchange_tile: 256,
            jam_rows: 8,
            jam_iterations: 8,
            jam_operations: 12,
            fused_statements: 48,
            factor_row: 64,
            factor_terms: 3,
            gather_distance: 4,
            gather_iterations: 16,
            gather_operations: 12,
            tabulated_cost: 120,
            soa_fields: 4,
            if_conversion_operations: 4,
            reload_cost: 12,
            merging_cost: 20,
            saving_factor: 1,
            remakes_lists: true,
            state_call: 2500,
            small_array: 64,
            unrolled_iterations: 8,
            unrolled_statements: 5000,
            short_loop_statements: 64,
            part_operations: 20_000,
            assumed_iterations: 64,
            tape: TapeSettings::default(),
        }
    }
}

impl Target {
    /// The same for kernels.
    pub fn of_kernels(&self) -> Self {
        Self { saving_factor: 8, ..self.clone() }
    }

    /// Hundredths of a nanosecond, as measured on one core: a store and a load of a large tape, and its share of
    /// keeping it.
    pub fn saving_cost(&self, ty: Scalar) -> u64 {
        let cost = match ty {
            Scalar::Float(Float::F64) => 75,
            Scalar::Float(Float::F32) => 40,
            Scalar::Bool => 45,
            Scalar::Int(int) => u64::from(int.bits()).clamp(10, 75),
            Scalar::Infer(_) => 75,
        };
        let cost = cost * self.saving_factor;
        match self.tape.saved {
            Saving::Compact => cost + cost / 2,
            Saving::Minimal | Saving::All => cost,
        }
    }

    /// The same for an element of a list that is copied to the tape as a whole, and back.
    pub fn state_cost(&self, ty: Scalar) -> u64 {
        self.saving_cost(ty) / 2
    }

    /// Hundredths of a nanosecond, in a loop over arrays.
    pub fn operation_cost(&self, op: &Op, function: &Function) -> u64 {
        match op {
            Op::Float(..) | Op::Int(_) | Op::Bool(_) | Op::Const(_) => 0,
            Op::Len(_) | Op::Builtin(_) => 1,
            Op::Binary(Binary::Div | Binary::Rem, a, _) if function.ty(*a).is_float() => 60,
            Op::Binary(Binary::Div | Binary::Rem, ..) => 150,
            Op::Unary(..) | Op::Compare(..) | Op::Select(..) | Op::Cast(..) => 5,
            Op::Binary(_, a, _) if !function.ty(*a).is_float() => 2,
            Op::Binary(..) => 8,
            Op::TotalCmp { .. } => 15,
            Op::Load(_) => self.reload_cost,
            Op::Method(name, _) => match name.as_str() {
                "strict_add" | "wrapping_add" | "wrapping_sub" | "wrapping_mul" => 2,
                "saturating_add" | "saturating_sub" => 4,
                _ => 10,
            },
            Op::Math(function, _) => match function {
                Math::Sqrt | Math::Recip => 100,
                Math::Exp | Math::Exp2 | Math::Ln | Math::Log2 | Math::Log10 => 480,
                Math::ExpM1 | Math::Ln1p | Math::Cbrt | Math::Log => 700,
                Math::Sin | Math::Cos => 620,
                Math::Powf => 1400,
                Math::Powi | Math::MulAdd => 20,
                Math::Abs
                | Math::Min
                | Math::Max
                | Math::Clamp
                | Math::Copysign
                | Math::Signum
                | Math::Floor
                | Math::Ceil
                | Math::Round
                | Math::RoundTiesEven
                | Math::Trunc
                | Math::Fract
                | Math::ToRadians
                | Math::ToDegrees => 10,
                _ => 1000,
            },
        }
    }
}
