//! Regions: what the iterations of a loop save side by side, as an array of structs.
//!
//! A record that is pushed alone costs a compare against the tape's limit and lies wherever the top of the tape is. In a loop whose iterations leave
//! *frames* of one size, the frames of many iterations are reserved at once: the loop runs over a slice, without compares.
//!
//! ```text
//! for i in 0..n { …; push #0 x; for c in 0..3 { …; push #1 y, z } }   …   and the loop that pops them
//! →  region 0 of 7 f64: record #1 (y, z) in region 0, record #0 (x) in region 0, and strip_mine writes:
//!    for i in 0..n strip region 0 { … }
//! ```
//!
//! A frame holds the records of an iteration in the order in which the backward half uses them: what is used together lies together. It holds those of inner
//! loops that are short and run as often each time, and those of branches, where both arms have the same room. Legal where both loops, the one that pushes
//! and the one that pops, have the same frames, use the tape for nothing else, and call nothing. The loop that pushes may end when it will; its last layer
//! is as long as it turns out to be. All slots of a frame are stored as numbers of one width, the narrowest that holds each of them. Pays
//! from `Target::strip_iterations` on, up to `Target::frame_cells`, and where at most half of a frame may stay empty (docs/performance.md); runs after `privatize`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::frame::Frames;
use crate::driver::{Context, Pass, Promise, Target};
use crate::transform::trips;
use stratape_ir::{
    Cell, Function, Half, Layout, Loop, Record, RecordId, Region, RegionId, Room, Stmt, ValueId,
    walk,
};

/// The pass.
pub const REGIONS: Pass = Pass {
    name: "regions",
    after: &["privatize"],
    promise: Promise::SameBits,
    required: true,
    run: assign,
};

/// Bytes of a layer that is filled by a loop of unknown length: a page. More would leave holes at the ends of slabs.
const OPEN_LAYER: usize = 4096;

/// A region, and the records that lie in it.
#[derive(Clone, Debug)]
pub struct Found {
    records: Vec<RecordId>,
    region: Region,
}

/// Decides for each record whether it lies in a region, and what its slots are stored as.
fn assign(function: &mut Function, cx: &mut Context<'_>) {
    let found = match &cx.regions {
        // Of a function in two halves both must agree.
        Some(agreed) => agreed.clone(),
        None => regions(&[function], cx.target),
    };
    for record in &mut function.records {
        record.cell = Some(Cell::of(&record.types));
    }
    for (number, Found { records, region }) in found.into_iter().enumerate() {
        for record in records {
            let room = Room { region: RegionId(number as u32), offset: None };
            function.records[record.index()].room = Some(room);
        }
        function.regions.push(region);
    }
    tell(function, cx);
}

/// Remarks on the loops that push: which have frames, and why the others have none.
fn tell(function: &Function, cx: &mut Context<'_>) {
    let frames = Frames::new(function, cx.target);
    let mut told = Vec::new();
    walk(&function.body, &mut |item| {
        let Stmt::Loop(node) = item else { return };
        let pushed = node.body.iter().find_map(|item| match item {
            Stmt::Push { record, .. } => Some(*record),
            _ => None,
        });
        told.push((node.span, frames.of(node).map(|frame| frame.records()[0]), pushed));
    });
    for (span, frame, pushed) in told {
        let room = |record: RecordId| function.records[record.index()].room.as_ref();
        match (frame, pushed) {
            (Ok(record), _) => match room(record) {
                Some(room) => {
                    let bytes = function.regions[room.region.index()].frame_bytes();
                    cx.applied(span, format!("an iteration saves a frame of {bytes} bytes"));
                }
                None => cx.missed(span, "the two halves do not save and take the same frames"),
            },
            (Err(Some(why)), Some(record)) if room(record).is_none() => {
                cx.missed(span, format!("records go on the tape one by one: {why}"));
            }
            _ => {}
        }
    }
}

/// The regions of a function, or of its two halves: where the loop that pushes and the loop that pops have the same frames.
pub(crate) fn regions(functions: &[&Function], target: &Target) -> Vec<Found> {
    let Some(layout) = target.tape.layout else { return Vec::new() };
    // By their records: the regions, how many of them are filled and taken, and where their records lie.
    let mut sets: BTreeMap<BTreeSet<RecordId>, (Found, [usize; 2], Vec<_>)> = BTreeMap::new();
    let mut uses: HashMap<RecordId, usize> = HashMap::new();
    for function in functions {
        walk(&function.body, &mut |item| {
            if let Stmt::Push { record, .. } | Stmt::Pop { record, .. } = item {
                *uses.entry(*record).or_default() += 1;
            }
        });
        let frames = Frames::new(function, target);
        for frame in frames.all() {
            let records = frame.records();
            let set: BTreeSet<RecordId> = records.iter().copied().collect();
            let region = Region { cell: frame.cell, cells: frame.cells, layout, layer: None };
            let (found, times, offsets) =
                sets.entry(set).or_insert_with(|| (Found { records, region }, [0; 2], Vec::new()));
            times[usize::from(frame.half == Half::Backward)] += 1;
            if !frame.counted {
                // Columns are as long as the layer, which must be known.
                found.region.layout = Layout::Frames;
                let frames = (OPEN_LAYER / found.region.frame_bytes().max(1)).max(1);
                found.region.layer = Some(frames);
            }
            offsets.push(frames.offsets(&frame));
        }
    }
    let fits =
        |(set, (found, times, offsets)): (BTreeSet<RecordId>, (Found, [usize; 2], Vec<_>))| {
            let everywhere = set.iter().all(|record| uses.get(record) == Some(&times.iter().sum()));
            let alike = offsets.windows(2).all(|pair| pair[0] == pair[1]);
            (everywhere && alike && times.iter().all(|times| *times > 0)).then_some(found)
        };
    sets.into_iter().filter_map(fits).collect()
}

/// Whether a loop is known to run so few times that a strip costs more than it saves.
pub(crate) fn is_short(node: &Loop, integers: &HashMap<ValueId, i128>, target: &Target) -> bool {
    trips(integers, &node.range).is_some_and(|trips| trips < target.strip_iterations)
}

pub(crate) fn contains(node: &Stmt, test: &dyn Fn(&Stmt) -> bool) -> bool {
    test(node) || node.blocks().into_iter().flatten().any(|inner| contains(inner, test))
}

/// Whether one of the statements uses the tape.
pub(crate) fn uses_tape(block: &[Stmt]) -> bool {
    block.iter().any(|node| node.uses_tape(Half::Forward) || node.uses_tape(Half::Backward))
}

/// Bytes of each kind of record on the tape. In a region they lie side by side, by themselves they take whole words; what
/// a layer adds as a whole is not counted.
pub fn record_bytes(function: &Function, target: &Target) -> Vec<usize> {
    let mut bytes: Vec<usize> = function.records.iter().map(Record::bytes_alone).collect();
    for Found { records, region } in regions(&[function], target) {
        for record in records {
            bytes[record.index()] =
                region.cell.bytes() * function.records[record.index()].types.len();
        }
    }
    bytes
}
