//! Who holds the extremes that the threads of a kernel find together.
//!
//! A gradient that has to know is preceded by a kernel that runs twice on copies of what it writes: first to find the extremes, and again to find, with these, the lowest
//! thread that has each.

use crate::buffer::{RawBuffer, Shape};
use crate::device::Device;
use crate::element::ScalarType;
use crate::error::GpuError;
use crate::grid::Grid;
use crate::kernel::{Arg, BufferMut, BufferRef, Elect};
use crate::launch::run;

/// For each extreme a list as long as its memory: of each element the largest `usize` less the number of the thread that holds it, or 0.
pub(crate) fn held(
    elect: &Elect,
    device: &Device,
    grid: &Grid,
    args: &[Arg<'_>],
) -> Result<Vec<RawBuffer>, GpuError> {
    let own: Vec<&Arg<'_>> = elect.own.iter().filter_map(|at| args.get(*at)).collect();
    let first: Vec<&RawBuffer> =
        elect.extremes.iter().filter_map(|at| own.get(*at).and_then(|arg| arg.buffer())).collect();
    let shape = |len| Shape { scalar: ScalarType::Usize, arity: 1, len };
    let lists = first.iter().map(|list| RawBuffer::zeros(device.kind(), shape(list.len())));
    let holders = lists.collect::<Result<Vec<_>, _>>()?;
    let mut copies: Vec<Option<RawBuffer>> = Vec::new();
    for phase in 0..2_usize {
        // The second phase begins as the first did, but for the extremes, which are found by then.
        let mut next = Vec::with_capacity(own.len());
        for (at, arg) in own.iter().enumerate() {
            let found = copies.get_mut(at).and_then(Option::take);
            next.push(match arg.buffer().filter(|_| arg.is_mutable()) {
                Some(_) if found.is_some() && elect.extremes.contains(&at) => found,
                Some(raw) => Some(raw.duplicate(grid.chosen_stream())?),
                None => None,
            });
        }
        copies = next;
        let mut all: Vec<Arg<'_>> = Vec::new();
        for (arg, copy) in own.iter().zip(&copies) {
            all.push(match (arg, copy, arg.buffer()) {
                (_, Some(copy), _) => Arg::BufferMut(BufferMut::of(copy)),
                (Arg::Value { scalar, bits }, ..) => Arg::Value { scalar: *scalar, bits: *bits },
                (_, None, Some(raw)) => Arg::Buffer(BufferRef::of(raw)),
                (_, None, None) => continue,
            });
        }
        all.push(Arg::from(phase));
        for (first, holder) in first.iter().zip(&holders) {
            all.push(Arg::Buffer(BufferRef::of(first)));
            all.push(Arg::BufferMut(BufferMut::of(holder)));
        }
        run(&elect.kernel, device, grid, &all)?;
    }
    Ok(holders)
}
