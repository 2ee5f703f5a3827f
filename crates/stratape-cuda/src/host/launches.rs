//! Launches and their adjoints.

use std::sync::Arc;

use stratape_tape::RecordTape;

use crate::buffer::{Buffer, RawBuffer, Shape};
use crate::device::Device;
use crate::element::ScalarType;
use crate::error::GpuError;
use crate::grid::Grid;
use crate::kernel::{Arg, BufferMut, BufferRef, Kernel, Param, ShadowRef};

use super::operations::sum_into;
use super::saved::Kept;
use super::session::{Content, Session, within};

/// A kernel, and its gradient if it has one.
#[diagnostic::on_unimplemented(
    message = "the kernel `{Self}` is launched in a function under `#[gradient]` and has no gradient of its own",
    label = "this kernel",
    note = "put `#[gradient]` below `#[stratape::kernel]` on it"
)]
pub trait Launched {
    fn kernel() -> &'static Kernel;
    fn gradient() -> Option<&'static Kernel>;
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Given {
    /// A buffer, by its number.
    Buffer(usize),
    Float(f64),
    /// One whose adjoint nobody asks for.
    Constant(f64),
    Int(i128),
}

/// A launch that has happened.
struct Launch {
    kernel: &'static Kernel,
    gradient: Option<&'static Kernel>,
    device: Device,
    grid: Grid,
    given: Vec<Given>,
    /// What the kernel wrote to, before.
    before: Vec<(usize, Kept)>,
}

/// The adjoints of the numbers that a kernel was given, in their order.
#[derive(Debug)]
pub struct Adjoints(Vec<f64>);

impl Adjoints {
    /// One of them, as a number of the type that was given.
    pub fn like<T: Float>(&self, at: usize, _given: T) -> T {
        T::narrowed(self.0.get(at).copied().unwrap_or(0.0))
    }
}

/// `f64` and `f32`.
pub trait Float: Copy {
    fn widened(self) -> f64;
    fn narrowed(number: f64) -> Self;
}

impl Float for f64 {
    fn widened(self) -> f64 {
        self
    }

    fn narrowed(number: f64) -> Self {
        number
    }
}

impl Float for f32 {
    fn widened(self) -> f64 {
        f64::from(self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "it was made of a number of this type")]
    fn narrowed(number: f64) -> Self {
        number as Self
    }
}

impl Given {
    /// A number that nobody asks the adjoint of.
    pub fn constant(number: impl Float) -> Self {
        Self::Constant(number.widened())
    }
}

impl From<f64> for Given {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<f32> for Given {
    fn from(number: f32) -> Self {
        Self::Float(f64::from(number))
    }
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl From<$int> for Given {
            fn from(number: $int) -> Self {
                Self::Int(number as i128)
            }
        }
    )*};
}
integers!(bool, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// Blocks, threads, bytes of shared memory, stream (0 for none), bytes of tape (0 for any), whether it is deterministic.
fn grid_of(session: &Session, numbers: [usize; 10]) -> Grid {
    let [bx, by, bz, tx, ty, tz, shared, stream, tape, fixed] = numbers;
    let mut grid = Grid::blocks((bx, by, bz)).threads((tx, ty, tz)).shared(shared);
    if let Some(stream) = session.stream(stream) {
        grid = grid.stream(&stream);
    }
    if tape > 0 {
        grid = grid.tape_bytes(tape);
    }
    if fixed > 0 { grid.deterministic() } else { grid }
}

/// `K::launch(device, grid, given)`
///
/// # Errors
/// As any launch.
pub fn launch<K: Launched>(
    tape: &mut RecordTape,
    device: usize,
    grid: [usize; 10],
    given: &[Given],
) -> Result<(), GpuError> {
    launch_on::<K>(tape, |session| Ok((session.device(device)?, grid_of(session, grid))), given)
}

fn launch_on<K: Launched>(
    tape: &mut RecordTape,
    place: impl FnOnce(&mut Session) -> Result<(Device, Grid), GpuError>,
    given: &[Given],
) -> Result<(), GpuError> {
    let kernel = K::kernel();
    let launched = within(|session| {
        let (device, grid) = place(session)?;
        let (mut before, mut raws) = (Vec::new(), Vec::new());
        for (given, param) in given.iter().zip(kernel.text().params) {
            let (Given::Buffer(id), Param::Slice { scalar, arity, mutable, .. }) = (given, param)
            else {
                raws.push(None);
                continue;
            };
            let old = session.content(*id)?;
            let raw = session.elements(*id, (*scalar, *arity))?;
            if !*mutable {
                raws.push(Some(raw));
                continue;
            }
            let new = match old {
                Content::Zeros(_) => raw,
                Content::Elements(_) => session.duplicate(&raw)?,
            };
            session.replace(*id, Content::Elements(Arc::clone(&new)))?;
            before.push((*id, old));
            raws.push(Some(new));
        }
        let mut args = arguments(kernel, given, &raws);
        crate::launch::launch(kernel, &device, &grid, &mut args)?;
        let before = before.into_iter().map(|(id, old)| (id, session.keep(old))).collect();
        Ok(Launch { kernel, gradient: K::gradient(), device, grid, given: given.to_vec(), before })
    })?;
    tape.attach(launched);
    Ok(())
}

/// Numbers as the kernel takes them: a literal may have been read as another type.
fn number(given: Given, scalar: ScalarType) -> Arg<'static> {
    let (float, int) = match given {
        Given::Float(number) | Given::Constant(number) => (number, number as i128),
        Given::Int(number) => (number as f64, number),
        Given::Buffer(_) => (0.0, 0),
    };
    match scalar {
        ScalarType::F64 => Arg::from(float),
        ScalarType::F32 => Arg::from(float as f32),
        ScalarType::Bool => Arg::from(int != 0),
        ScalarType::I8 => Arg::from(int as i8),
        ScalarType::I16 => Arg::from(int as i16),
        ScalarType::I32 => Arg::from(int as i32),
        ScalarType::I64 => Arg::from(int as i64),
        ScalarType::Isize => Arg::from(int as isize),
        ScalarType::U8 => Arg::from(int as u8),
        ScalarType::U16 => Arg::from(int as u16),
        ScalarType::U32 => Arg::from(int as u32),
        ScalarType::U64 => Arg::from(int as u64),
        ScalarType::Usize => Arg::from(int as usize),
    }
}

fn arguments<'a>(
    kernel: &Kernel,
    given: &[Given],
    raws: &'a [Option<Arc<RawBuffer>>],
) -> Vec<Arg<'a>> {
    let mut args = Vec::new();
    for (at, param) in kernel.text().params.iter().enumerate() {
        args.push(match (param, raws.get(at), given.get(at)) {
            (Param::Value(scalar), _, Some(given)) => number(*given, *scalar),
            (Param::Slice { mutable, .. }, Some(Some(raw)), _) => passed(raw, *mutable),
            _ => break,
        });
    }
    // More than the kernel has: the launch says so.
    args.extend(given.iter().skip(kernel.text().params.len()).map(|_| Arg::from(0_usize)));
    args
}

fn passed(raw: &RawBuffer, mutable: bool) -> Arg<'_> {
    if mutable { Arg::BufferMut(BufferMut::of(raw)) } else { Arg::Buffer(BufferRef::of(raw)) }
}

/// The adjoint of the launch that happened last.
///
/// # Errors
/// As any launch.
pub fn launch_backward(tape: &mut RecordTape) -> Result<Adjoints, GpuError> {
    let Launch { kernel, gradient, device, grid, given, before } = tape.detach::<Launch>()?;
    let floats = |given: &Given| matches!(given, Given::Float(_) | Given::Constant(_));
    let numbers = given.iter().filter(|one| floats(one)).count();
    let sums = within(|session| {
        let mut wanted = false;
        for (id, kept) in before {
            session.replace(id, kept.back()?)?;
            wanted |= session.has_shadow(id);
        }
        if !wanted {
            return Ok(Vec::new());
        }
        let Some(gradient) = gradient else {
            let name = kernel.text().name;
            return Err(GpuError::Unsupported(format!(
                "the kernel `{name}` has no gradient: put `#[gradient]` on it"
            )));
        };
        backward(session, (kernel, gradient), &device, &grid, &given)
    })?;
    let mut adjoints = vec![0.0; numbers];
    for (at, sum) in sums {
        let position = given.iter().take(at).filter(|one| floats(one)).count();
        let found = match sum.scalar() {
            ScalarType::F32 => {
                Buffer::<f32>::sharing(&sum)?.download()?.into_iter().map(f64::from).collect()
            }
            _ => Buffer::<f64>::sharing(&sum)?.download()?,
        };
        for (place, adjoint) in adjoints.iter_mut().skip(position).zip(found) {
            *place = adjoint;
        }
    }
    Ok(Adjoints(adjoints))
}

/// Launches the gradient; the sums that are adjoints of numbers, with the arguments they belong to.
fn backward(
    session: &mut Session,
    (kernel, gradient): (&Kernel, &Kernel),
    device: &Device,
    grid: &Grid,
    given: &[Given],
) -> Result<Vec<(usize, Arc<RawBuffer>)>, GpuError> {
    let mutable = |at: usize| {
        matches!(kernel.text().params.get(at), Some(Param::Slice { mutable: true, .. }))
    };
    let (mut raws, mut owners): (Vec<Option<Arc<RawBuffer>>>, Vec<usize>) =
        (Vec::new(), Vec::new());
    let (mut sums, mut later, mut shadowed) = (Vec::new(), Vec::new(), Vec::new());
    let mut fresh = Vec::new();
    let mut next = 0;
    for (position, param) in gradient.text().params.iter().enumerate() {
        match param {
            Param::Slice { scalar, arity, shadow_of: Some(of), .. } => {
                let at = owners.get(*of).copied().unwrap_or_default();
                owners.push(at);
                let Some(Given::Buffer(id)) = given.get(at) else {
                    // One for each float of the parameter.
                    let values = &gradient.text().params[*of..position];
                    let len = values.iter().filter(|param| param.is_float()).count();
                    let sum = Arc::new(RawBuffer::zeros(
                        device.kind(),
                        Shape { scalar: *scalar, arity: *arity, len },
                    )?);
                    let values = given.iter().skip(at).take(position - of);
                    if values.into_iter().any(|one| matches!(one, Given::Float(_))) {
                        sums.push((at, Arc::clone(&sum)));
                    }
                    raws.push(Some(sum));
                    continue;
                };
                let like = session.elements(*id, (*scalar, *arity))?;
                // Where a buffer is passed twice, threads would meet in its shadow unforeseen.
                // One that is not there yet is overwritten; weights are zeros where there are none.
                if !mutable(at) && !shadowed.contains(id) && !session.has_shadow(*id) {
                    let shadow = Arc::new(RawBuffer::new(like.owner(), like.shape())?);
                    session.add_to_shadow(*id, Arc::clone(&shadow))?;
                    shadowed.push(*id);
                    fresh.push(raws.len());
                    raws.push(Some(shadow));
                    continue;
                }
                raws.push(Some(if shadowed.contains(id) {
                    let apart = Arc::new(RawBuffer::zeros(like.owner(), like.shape())?);
                    later.push((*id, Arc::clone(&apart)));
                    apart
                } else {
                    shadowed.push(*id);
                    session.shadow(*id, &like)?
                }));
            }
            param => {
                let at = next;
                (next, _) = (next + 1, owners.push(at));
                raws.push(match (given.get(at), param) {
                    (Some(Given::Buffer(id)), Param::Slice { scalar, arity, .. }) => {
                        let raw = session.elements(*id, (*scalar, *arity))?;
                        // The gradient runs the kernel as well, and others still need what was there before.
                        Some(if mutable(at) { session.duplicate(&raw)? } else { raw })
                    }
                    _ => None,
                });
            }
        }
    }
    for (at, one) in given.iter().enumerate() {
        if let Given::Buffer(id) = one
            && mutable(at)
            && session.has_shadow(*id)
            && !shadowed.contains(id)
        {
            return Err(GpuError::Unsupported(format!(
                "the gradient of kernel `{}` leaves out argument {at}, which it writes and whose adjoint is needed: name it in `wrt(…)`",
                kernel.text().name
            )));
        }
    }
    let mut args = Vec::new();
    for (position, param) in gradient.text().params.iter().enumerate() {
        let (raw, at) = (raws.get(position).and_then(Option::as_ref), owners.get(position));
        args.push(match (param, raw, at.and_then(|at| given.get(*at))) {
            (Param::Slice { .. }, Some(raw), _) if fresh.contains(&position) => {
                Arg::Shadow(ShadowRef::fresh(raw))
            }
            (Param::Value(scalar), _, Some(given)) => number(*given, *scalar),
            (Param::Slice { mutable, .. }, Some(raw), _) => passed(raw, *mutable),
            _ => break,
        });
    }
    crate::launch::launch(gradient, device, grid, &mut args)?;
    for (id, adjoint) in later {
        let whole = session.shadow(id, &adjoint)?;
        sum_into(device, &whole, &adjoint)?;
    }
    Ok(sums)
}

/// `K::map(given)`: a kernel whose first argument is the result, of the length of the first buffer it is given.
///
/// # Errors
/// As any launch.
pub fn map<K: Launched>(tape: &mut RecordTape, given: &[Given]) -> Result<usize, GpuError> {
    let (id, device, len) = within(|session| {
        let first = given.iter().find_map(|one| match one {
            Given::Buffer(id) => Some(*id),
            _ => None,
        });
        let first =
            first.ok_or_else(|| GpuError::Unsupported("`map` takes a buffer".to_owned()))?;
        let (device, len) = (session.device_of(first)?, session.content(first)?.len());
        let id = session.add(device.clone(), Content::Zeros(len));
        Ok((id, device, len))
    })?;
    let all: Vec<Given> = std::iter::once(Given::Buffer(id)).chain(given.iter().copied()).collect();
    if let Some(grid) = crate::grid::over(len) {
        launch_on::<K>(tape, |_| Ok((device, grid)), &all)?;
    }
    tape.attach(Mapped { id, launched: len > 0 });
    Ok(id)
}

/// What `map` has made, and whether there was something to launch for.
struct Mapped {
    id: usize,
    launched: bool,
}

/// The adjoint of the `map` that happened last.
///
/// # Errors
/// As any launch.
pub fn map_backward(tape: &mut RecordTape) -> Result<Adjoints, GpuError> {
    let Mapped { id, launched } = tape.detach::<Mapped>()?;
    let adjoints = if launched { launch_backward(tape)? } else { Adjoints(Vec::new()) };
    within(|session| {
        session.clear_shadow(id);
        Ok(())
    })?;
    Ok(adjoints)
}
