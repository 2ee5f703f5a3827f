//! Parallel loops: what emitted code calls.
//!
//! The iterations are divided into *parts*, contiguous and of equal length as far as possible. How many depends on the
//! loop and on the number of lanes, never on threads or on timing, and what parts have added up is combined in their
//! order: a run gives the bits of the run before. What the parts write comes as [`Pieces`], divided along with the iterations.
//!
//! Without the feature `parallel` the same parts run one after the other, with the same bits.

#[cfg(feature = "parallel")]
use rayon::join;
#[cfg(feature = "parallel")]
use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSliceMut};
use stratape_tape::{RecordTape, TapeError};

use crate::buffer::{Buffer, Pooled};

#[cfg(not(feature = "parallel"))]
fn join<A, B>(first: impl FnOnce() -> A, second: impl FnOnce() -> B) -> (A, B) {
    let first = first();
    (first, second())
}

/// Calls `each` with the pieces of `GRAIN` numbers of a list, and their positions among them, on several threads.
fn each_grain<T: Send>(list: &mut [T], each: impl Fn((usize, &mut [T])) + Send + Sync) {
    #[cfg(feature = "parallel")]
    list.par_chunks_mut(GRAIN).enumerate().for_each(each);
    #[cfg(not(feature = "parallel"))]
    list.chunks_mut(GRAIN).enumerate().for_each(each);
}

/// A tape for one part. Alone on its cache lines: tapes of neighbours are at work at the same time.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Lane(pub(crate) RecordTape);

/// Bytes on all tapes.
pub fn bytes(tape: &RecordTape, lanes: &[Lane]) -> u64 {
    lanes.iter().map(|lane| lane.0.bytes() as u64).sum::<u64>() + tape.bytes() as u64
}

/// How many parts a loop of `total` iterations is divided into, each of at least `grain`.
pub fn parts(lanes: &[Lane], total: usize, grain: usize) -> usize {
    (total / grain.max(1)).clamp(1, lanes.len().max(1))
}

/// Where a part begins.
fn begins(part: usize, parts: usize, total: usize) -> usize {
    let (each, more) = (total / parts, total % parts);
    each * part + part.min(more)
}

/// Something that is divided among the parts of a loop.
pub trait Pieces: Send + Sized {
    /// What a part gets.
    type Piece;

    /// Divides between two runs of parts; the first has so many, with so many iterations.
    fn split(self, parts: usize, iterations: usize) -> (Self, Self);

    /// What the only part that is left gets.
    fn piece(self) -> Self::Piece;
}

impl Pieces for () {
    type Piece = ();

    fn split(self, _: usize, _: usize) -> (Self, Self) {
        ((), ())
    }

    fn piece(self) {}
}

impl<A: Pieces, B: Pieces> Pieces for (A, B) {
    type Piece = (A::Piece, B::Piece);

    fn split(self, parts: usize, iterations: usize) -> (Self, Self) {
        let (a, b) = (self.0.split(parts, iterations), self.1.split(parts, iterations));
        ((a.0, b.0), (a.1, b.1))
    }

    fn piece(self) -> Self::Piece {
        (self.0.piece(), self.1.piece())
    }
}

/// A list of which each iteration has a window of its own. A part gets what lies in its windows, and the number of
/// elements before that; the first and the last also what lies before and behind them all.
#[derive(Debug)]
pub struct Window<'a, T> {
    list: &'a mut [T],
    /// Elements before the list.
    before: usize,
    /// Where the window of the first iteration begins.
    begins: isize,
    stride: usize,
}

impl<'a, T> Window<'a, T> {
    /// Divides a list.
    pub fn new(list: &'a mut [T], begins: isize, stride: usize) -> Self {
        Self { list, before: 0, begins, stride }
    }
}

impl<'a, T: Send> Pieces for Window<'a, T> {
    type Piece = (&'a mut [T], usize);

    fn split(self, _: usize, iterations: usize) -> (Self, Self) {
        let begins = self.begins.saturating_add_unsigned(self.stride.saturating_mul(iterations));
        // Where the list is too short, the part that reaches beyond it will find out.
        let at = usize::try_from(begins).unwrap_or(0).saturating_sub(self.before);
        let (low, high) = self.list.split_at_mut(at.min(self.list.len()));
        let before = self.before + low.len();
        (Self { list: low, ..self }, Self { list: high, before, begins, stride: self.stride })
    }

    fn piece(self) -> Self::Piece {
        (self.list, self.before)
    }
}

/// A list that all parts add to: the first adds to the list itself, the others to copies.
#[derive(Debug)]
pub struct Private<'a, T> {
    own: &'a mut [T],
    copies: &'a mut [T],
    len: usize,
}

impl<'a, T> Private<'a, T> {
    /// A list, and room for copies of it: one for each part but the first.
    pub fn new(own: &'a mut [T], copies: &'a mut [T]) -> Self {
        let len = own.len();
        Self { own, copies, len }
    }
}

impl<'a, T: Send> Pieces for Private<'a, T> {
    type Piece = &'a mut [T];

    fn split(self, parts: usize, _: usize) -> (Self, Self) {
        let (low, high) = self.copies.split_at_mut((parts - 1) * self.len);
        let (own, copies) = high.split_at_mut(self.len);
        (Self { copies: low, ..self }, Self { own, copies, len: self.len })
    }

    fn piece(self) -> Self::Piece {
        self.own
    }
}

/// As [`Private`], for numbers: a part begins with zeros in its copy, on the thread that it runs on.
#[derive(Debug)]
pub struct PrivateNumbers<'a, T> {
    whole: Private<'a, T>,
    /// What the list begins with, if it is a copy.
    zero: Option<T>,
}

impl<'a, T> PrivateNumbers<'a, T> {
    /// A list, and room for copies of it: one for each part but the first.
    pub fn new(own: &'a mut [T], copies: &'a mut [T]) -> Self {
        Self { whole: Private::new(own, copies), zero: None }
    }
}

impl<'a, T: Send + Copy + Default> Pieces for PrivateNumbers<'a, T> {
    type Piece = &'a mut [T];

    fn split(self, parts: usize, iterations: usize) -> (Self, Self) {
        let (low, high) = self.whole.split(parts, iterations);
        (Self { whole: low, zero: self.zero }, Self { whole: high, zero: Some(T::default()) })
    }

    fn piece(self) -> Self::Piece {
        let list = self.whole.piece();
        if let Some(zero) = self.zero {
            list.fill(zero);
        }
        list
    }
}

/// A thing of one piece that all parts add to, as [`Private`].
#[derive(Debug)]
pub struct Single<'a, T> {
    own: &'a mut T,
    copies: &'a mut [T],
}

impl<'a, T> Single<'a, T> {
    /// A thing, and its copies: one for each part but the first.
    pub fn new(own: &'a mut T, copies: &'a mut [T]) -> Self {
        Self { own, copies }
    }
}

impl<'a, T: Send> Pieces for Single<'a, T> {
    type Piece = &'a mut T;

    #[expect(clippy::panic, reason = "emitted code makes as many copies as are asked for")]
    fn split(self, parts: usize, _: usize) -> (Self, Self) {
        let (low, high) = self.copies.split_at_mut(parts - 1);
        match high.split_first_mut() {
            Some((own, copies)) => (Self { copies: low, ..self }, Self { own, copies }),
            None => panic!("there are fewer copies than parts"),
        }
    }

    fn piece(self) -> Self::Piece {
        self.own
    }
}

/// One number a part.
#[derive(Debug)]
pub struct Each<'a, T>(pub &'a mut [T]);

impl<'a, T: Send> Pieces for Each<'a, T> {
    type Piece = &'a mut [T];

    fn split(self, parts: usize, _: usize) -> (Self, Self) {
        let (low, high) = self.0.split_at_mut(parts);
        (Self(low), Self(high))
    }

    fn piece(self) -> Self::Piece {
        self.0
    }
}

/// Room for the copies of a list that [`PrivateNumbers`] asks for.
pub fn copies<T: Pooled>(zero: T, len: usize, parts: usize) -> Buffer<T> {
    Buffer::unfilled(zero, len * (parts - 1))
}

/// How many numbers are worth a task of their own.
const GRAIN: usize = 1 << 13;

/// Adds copies to the list, each number in the order of the parts.
pub fn reduce<T>(list: &mut [T], copies: &[T])
where
    T: Copy + Send + Sync + std::ops::AddAssign,
{
    let len = list.len().max(1);
    let add = |(at, piece): (usize, &mut [T])| {
        for copy in copies.chunks_exact(len) {
            for (to, from) in piece.iter_mut().zip(&copy[at * GRAIN..]) {
                *to += *from;
            }
        }
    };
    match copies.is_empty() || list.len() <= GRAIN {
        true => list.chunks_mut(GRAIN).enumerate().for_each(add),
        false => each_grain(list, add),
    }
}

/// `vec![value; len]`, written by several threads where it is long.
pub fn filled<T: Pooled + Send + Sync>(value: T, len: usize) -> Buffer<T> {
    if len <= GRAIN {
        return Buffer::filled(value, len);
    }
    let mut list = Buffer::unfilled(value, len);
    each_grain(&mut list, |(_, piece)| piece.fill(value));
    list
}

/// An index of a list in the piece that a part has of it, with the panic of indexing the list.
#[inline]
#[track_caller]
pub fn within(index: usize, before: usize, piece: usize, list: usize) -> usize {
    let at = index.wrapping_sub(before);
    if at >= piece {
        super::private::out_of_bounds(index, list);
    }
    at
}

/// The start of a view of `count` elements in the piece that a part has of a list, with the panic of viewing the list.
#[inline]
#[track_caller]
pub fn view_within(start: usize, count: usize, before: usize, piece: usize, list: usize) -> usize {
    let at = start.wrapping_sub(before);
    if count > 0 && at.checked_add(count).is_none_or(|end| end > piece) {
        super::private::out_of_bounds(start.max(list), list);
    }
    at
}

/// Runs the parts of a loop: for each, `body` is handed its first iteration, how many there are, its tape, and its pieces.
///
/// # Errors
/// The error of the first part that has one.
pub fn parallel<P: Pieces>(
    lanes: &mut [Lane],
    parts: usize,
    total: usize,
    pieces: P,
    body: &(impl Fn(usize, usize, &mut RecordTape, P::Piece) -> Result<(), TapeError> + Sync),
) -> Result<(), TapeError> {
    let run = Run { parts, total, body };
    run.range(lanes, 0, parts, pieces)
}

struct Run<'b, B> {
    parts: usize,
    total: usize,
    body: &'b B,
}

impl<B> Run<'_, B> {
    fn range<P>(
        &self,
        lanes: &mut [Lane],
        first: usize,
        end: usize,
        pieces: P,
    ) -> Result<(), TapeError>
    where
        P: Pieces,
        B: Fn(usize, usize, &mut RecordTape, P::Piece) -> Result<(), TapeError> + Sync,
    {
        let at = |part| begins(part, self.parts, self.total);
        if end - first == 1 {
            let Some(lane) = lanes.first_mut() else { return Ok(()) };
            return (self.body)(at(first), at(end) - at(first), &mut lane.0, pieces.piece());
        }
        let middle = first.midpoint(end);
        let (low_lanes, high_lanes) = lanes.split_at_mut(middle - first);
        let (low, high) = pieces.split(middle - first, at(middle) - at(first));
        let (low, high) = join(
            || self.range(low_lanes, first, middle, low),
            || self.range(high_lanes, middle, end, high),
        );
        low.and(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_range() {
        for total in 0..50 {
            for parts in 1..8 {
                assert_eq!(begins(0, parts, total), 0);
                assert_eq!(begins(parts, parts, total), total);
                let lengths: Vec<_> = (0..parts)
                    .map(|k| begins(k + 1, parts, total) - begins(k, parts, total))
                    .collect();
                let (least, most) = (lengths.iter().min(), lengths.iter().max());
                assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1));
            }
        }
    }

    #[test]
    fn windows_cover_the_list_whatever_its_length() {
        for len in 0..30 {
            for (begins, stride) in [(0, 1), (-3, 2), (5, 3), (0, 0), (-40, 1), (40, 1)] {
                let mut list: Vec<usize> = (0..len).collect();
                let (low, high) = Window::new(&mut list, begins, stride).split(1, 4);
                let ((low, zero), (high, before)) = (low.piece(), high.piece());
                assert_eq!((zero, before, low.len() + high.len()), (0, low.len(), len));
                assert!(low.iter().chain(high.iter()).copied().eq(0..len));
            }
        }
    }
}
