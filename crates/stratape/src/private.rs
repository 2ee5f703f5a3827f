//! What emitted code calls. Not for use by hand: it may change in any version.

use std::cell::Cell;

use stratape_tape::{Pod, RecordTape, TapeError, bytemuck};

pub use crate::buffer::{Buffer, Lent, Pooled, Spare};
use crate::parallel::Lane;
use crate::workspace::Workspace;
pub use crate::workspace::{Borrowed, take_last_bytes};

const WORD: usize = size_of::<u64>();
/// Words of a list that go on the tape at once: what of them does not fit into a slab begins the next one.
const AT_ONCE: usize = 512;

/// The tape of a workspace, empty, and where its length at the turn is noted.
pub fn begin(workspace: &mut Workspace) -> (&mut RecordTape, &mut u64) {
    workspace.listen();
    let (tape, length) = workspace.parts();
    if !tape.is_empty() || tape.has_attachments() {
        tape.clear();
    }
    tape.clear_samples();
    *length = 0;
    (tape, length)
}

/// As [`begin`], with the tapes of parallel loops.
///
/// # Errors
/// When the tapes cannot be opened.
pub fn begin_lanes(
    workspace: &mut Workspace,
) -> Result<(&mut RecordTape, &mut [Lane], &mut u64), TapeError> {
    workspace.open_lanes()?;
    workspace.listen();
    let (tape, lanes, length) = workspace.all_parts();
    for tape in std::iter::once(&mut *tape).chain(lanes.iter_mut().map(|lane| &mut lane.0)) {
        if !tape.is_empty() || tape.has_attachments() {
            tape.clear();
        }
        tape.clear_samples();
    }
    *length = 0;
    Ok((tape, lanes, length))
}

thread_local! {
    /// How many loops are being run again on this thread.
    static REPEATING: Cell<usize> = const { Cell::new(0) };
}

/// Whether a program runs for the first time, and prints what it prints.
pub fn speaks() -> bool {
    REPEATING.get() == 0
}

/// While it lives, what runs on this thread has run before.
pub(crate) struct Repeating;

impl Repeating {
    pub(crate) fn begin() -> Self {
        REPEATING.set(REPEATING.get() + 1);
        Self
    }
}

impl Drop for Repeating {
    fn drop(&mut self) {
        REPEATING.set(REPEATING.get().saturating_sub(1));
    }
}

/// The result of a gradient on a tape in memory, which fails only when memory runs out.
#[track_caller]
#[expect(clippy::panic, reason = "as `Vec` does when there is no memory")]
pub fn settle<T>(result: Result<T, TapeError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the gradient's tape: {error}"),
    }
}

/// A shadow has the length of what it shadows.
#[track_caller]
#[expect(clippy::panic, reason = "a caller's mistake, found before anything is touched")]
pub fn same_length(name: &str, len: usize, shadow: usize) {
    if len != shadow {
        panic!("the shadow of `{name}` has length {shadow}, but `{name}` has length {len}");
    }
}

/// `index < len`, with the panic of indexing.
#[inline]
#[track_caller]
pub fn check_index(index: usize, len: usize) {
    if index >= len {
        out_of_bounds(index, len);
    }
}

/// [`check_index`] of `count` indices in a row.
#[inline]
#[track_caller]
pub fn check_indices(first: usize, count: usize, len: usize) {
    if count > 0 && (first >= len || count > len - first) {
        out_of_bounds(first.max(len), len);
    }
}

#[cold]
#[track_caller]
#[expect(clippy::panic, reason = "the primal panics here too")]
pub(crate) fn out_of_bounds(index: usize, len: usize) -> ! {
    panic!("index out of bounds: the len is {len} but the index is {index}");
}

/// `from <= to && to <= len`, with the panic of slicing.
#[inline]
#[track_caller]
pub fn check_range(from: usize, to: usize, len: usize) {
    if from > to || to > len {
        out_of_range(from, to, len);
    }
}

#[cold]
#[track_caller]
#[expect(clippy::panic, reason = "the primal panics here too")]
fn out_of_range(from: usize, to: usize, len: usize) -> ! {
    // A slice of nothing knows the words of the standard library.
    let list = &[(); usize::MAX][..len];
    let _ = &list[from..to];
    panic!("range {from}..{to} out of range for slice of length {len}");
}

/// `count` elements from `start` on. Panics as the first index out of bounds would.
#[inline(always)]
#[track_caller]
pub fn view<T>(slice: &[T], start: usize, count: usize) -> &[T] {
    match slice.get(start..) {
        Some(rest) if count <= rest.len() => &rest[..count],
        _ if count == 0 => &[],
        _ => out_of_bounds(start.max(slice.len()), slice.len()),
    }
}

/// As [`view`], of a copy of every `stride`-th element from `offset` on of a slice of length `len`: `of` is these.
#[inline]
#[track_caller]
pub fn view_field<T>(slice: &[T], start: usize, count: usize, of: (usize, usize, usize)) -> &[T] {
    match slice.get(start..start.wrapping_add(count)) {
        Some(view) => view,
        None if count == 0 => &[],
        None => out_of_bounds(of.1 * start.max(slice.len()) + of.2, of.0),
    }
}

/// As [`view_field`], one element.
#[inline]
#[track_caller]
pub fn field<T: Copy>(slice: &[T], index: usize, of: (usize, usize, usize)) -> T {
    match slice.get(index) {
        Some(value) => *value,
        None => out_of_bounds(of.1 * index + of.2, of.0),
    }
}

/// As [`view`], to be written.
#[inline(always)]
#[track_caller]
pub fn view_mut<T>(slice: &mut [T], start: usize, count: usize) -> &mut [T] {
    let len = slice.len();
    match slice.get_mut(start..) {
        Some(rest) if count <= rest.len() => &mut rest[..count],
        _ if count == 0 => &mut [],
        _ => out_of_bounds(start.max(len), len),
    }
}

/// `count` arrays of `N` elements from `start` on.
#[inline]
#[track_caller]
pub fn view_chunks<T, const N: usize>(slice: &[T], start: usize, count: usize) -> &[[T; N]] {
    view(slice, start, count.wrapping_mul(N)).as_chunks().0
}

/// As [`view_chunks`], to be written.
#[inline]
#[track_caller]
pub fn view_chunks_mut<T, const N: usize>(
    slice: &mut [T],
    start: usize,
    count: usize,
) -> &mut [[T; N]] {
    view_mut(slice, start, count.wrapping_mul(N)).as_chunks_mut().0
}

/// Puts a copy of a slice on the tape.
pub fn save<T: Pod>(tape: &mut RecordTape, slice: &[T]) -> Result<(), TapeError> {
    put(tape, slice)?;
    tape.push([0, slice.len() as u64])
}

/// Puts a copy of a part of a slice on the tape: nothing, if it does not lie in there.
pub fn save_part<T: Pod>(
    tape: &mut RecordTape,
    slice: &[T],
    start: usize,
    len: usize,
) -> Result<(), TapeError> {
    let (start, part) = match slice.get(start..start.wrapping_add(len)) {
        Some(part) => (start, part),
        None => (0, &[][..]),
    };
    put(tape, part)?;
    tape.push([start as u64, part.len() as u64])
}

/// Words, so that elements of any size lie side by side and leave little slack at the end of a slab.
fn put<T: Pod>(tape: &mut RecordTape, slice: &[T]) -> Result<(), TapeError> {
    let mut bytes: &[u8] = bytemuck::cast_slice(slice);
    while !bytes.is_empty() {
        let run = tape.push_run::<u64>(bytes.len().div_ceil(WORD), AT_ONCE)?;
        let run: &mut [u8] = bytemuck::cast_slice_mut(run);
        let (now, later) = bytes.split_at(bytes.len().min(run.len()));
        run[..now.len()].copy_from_slice(now);
        bytes = later;
    }
    Ok(())
}

/// Takes a copy of a slice from the tape.
pub fn restore<T: Pod + Pooled>(tape: &mut RecordTape) -> Result<Buffer<T>, TapeError> {
    let [_, len] = tape.pop::<[u64; 2]>()?;
    let mut buffer = Buffer::filled(T::zeroed(), len as usize);
    take(tape, &mut buffer)?;
    Ok(buffer)
}

/// The same, in memory that a loop keeps.
pub fn restore_in<'a, T: Pod + Pooled>(
    spare: &'a mut Spare<T>,
    tape: &mut RecordTape,
) -> Result<Lent<'a, T>, TapeError> {
    let [_, len] = tape.pop::<[u64; 2]>()?;
    let mut list = spare.filled(T::zeroed(), len as usize);
    take(tape, &mut list)?;
    Ok(list)
}

/// Takes a copy of a slice, or of a part of it, from the tape, and puts it back where it was.
pub fn refill<T: Pod>(tape: &mut RecordTape, slice: &mut [T]) -> Result<(), TapeError> {
    let [start, len] = tape.pop::<[u64; 2]>()?;
    let (start, len) = (start as usize, len as usize);
    take(tape, &mut slice[start..start + len])
}

fn take<T: Pod>(tape: &mut RecordTape, to: &mut [T]) -> Result<(), TapeError> {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(to);
    let mut left = bytes.len().div_ceil(WORD);
    while left > 0 {
        let run: &[u8] = bytemuck::cast_slice(tape.pop_run::<u64>(left, AT_ONCE)?);
        left -= run.len() / WORD;
        let part = &mut bytes[left * WORD..];
        let len = part.len().min(run.len());
        part[..len].copy_from_slice(&run[..len]);
    }
    Ok(())
}

/// Floats whose bits can be masked.
pub trait Masked: Copy {
    /// The number, or zero.
    fn or_zero(self, kept: bool) -> Self;
}

impl Masked for f64 {
    #[inline(always)]
    fn or_zero(self, kept: bool) -> Self {
        Self::from_bits(self.to_bits() & u64::from(kept).wrapping_neg())
    }
}

impl Masked for f32 {
    #[inline(always)]
    fn or_zero(self, kept: bool) -> Self {
        Self::from_bits(self.to_bits() & u32::from(kept).wrapping_neg())
    }
}

/// `if condition { value } else { 0.0 }`, without a branch.
#[inline(always)]
pub fn or_zero<T: Masked>(condition: bool, value: T) -> T {
    value.or_zero(condition)
}

/// A number the optimiser does not know, so that it leaves a loop of that many iterations a loop.
#[inline(always)]
pub fn opaque(number: usize) -> usize {
    std::hint::black_box(number)
}

/// The sum of lanes, by halves.
#[inline(always)]
pub fn sum<T: Copy + std::ops::Add<Output = T>, const N: usize>(lanes: [T; N]) -> T {
    let mut lanes = lanes;
    let mut width = N;
    while width > 1 {
        // A power of two: whole vectors are added to whole vectors.
        let half = width.next_power_of_two() / 2;
        for lane in 0..width - half {
            lanes[lane] = lanes[lane] + lanes[lane + half];
        }
        width = half;
    }
    lanes[0]
}

/// A slice in two parts; past its end the second is empty.
#[inline]
pub fn split<T>(slice: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
    slice.split_at_mut(at.min(slice.len()))
}

#[cfg(test)]
mod tests {
    use super::sum;

    fn sums_up_to<const N: usize>() {
        let mut lanes = [0_u64; N];
        for (number, lane) in lanes.iter_mut().enumerate() {
            *lane = 1 << number;
        }
        assert_eq!(sum(lanes), (1 << N) - 1, "{N} lanes");
    }

    /// Loops of ten iterations run in ten lanes; halving those twice once left one out.
    #[test]
    fn every_lane_counts() {
        sums_up_to::<1>();
        sums_up_to::<4>();
        sums_up_to::<5>();
        sums_up_to::<6>();
        sums_up_to::<7>();
        sums_up_to::<8>();
        sums_up_to::<10>();
        sums_up_to::<12>();
        sums_up_to::<14>();
        sums_up_to::<16>();
        sums_up_to::<32>();
    }
}
