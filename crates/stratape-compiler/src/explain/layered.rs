//! What of the tape lies in regions, where in their frames, and in which layers it moves.

use proc_macro2::Span;

use super::formula::plain_name;
use crate::driver::{TapeSettings, Target};
use crate::source::Sources;
use crate::tapeflow::{Frames, SHORT, is_counted};
use stratape_ir::{
    Block, Function, Half, Layout, Loop, RecordId, Region, RegionId, Scalar, SourceId, Stmt,
};

/// Bytes of a layer where no size is given, at most: what the tape reserves at once.
const LAYER_BYTES: usize = 64 << 10;
/// The same for a loop that ends when it will.
const OPEN_LAYER_BYTES: usize = 4 << 10;

/// What a function does to its tape, in the order in which it does it.
#[derive(Debug, Default)]
pub struct TapeSchedule {
    /// The regions.
    pub regions: Vec<Layered>,
    /// What the loops do, the forward half first.
    pub events: Vec<TapeEvent>,
}

/// A region: frames of one kind.
#[derive(Debug)]
pub struct Layered {
    /// The loop whose iterations leave the frames, by its keyword.
    pub span: Span,
    /// Bytes of a frame.
    pub frame_bytes: usize,
    /// Bytes of each value in it.
    pub cell_bytes: usize,
    /// What is in it, in the order of its bytes.
    pub slots: Vec<Slot>,
    /// Whether one cell of all frames lies together, instead of the cells of one frame.
    pub columns: bool,
    /// The most frames in a layer.
    pub frames: usize,
    /// Why so many.
    pub why: &'static str,
}

/// A value in a frame.
#[derive(Debug)]
pub struct Slot {
    /// The variable, if it is one.
    pub name: Option<String>,
    /// Where it is computed.
    pub span: Span,
    /// Its type.
    pub ty: Scalar,
    /// Bytes before it.
    pub offset: usize,
    /// Bytes from one iteration to the next, for each of the inner loops around it, outermost first.
    pub steps: Vec<usize>,
}

/// Something that is done to the tape.
#[derive(Debug)]
pub struct TapeEvent {
    /// The loop in which it is done, by its keyword.
    pub span: Span,
    /// Loops around it.
    pub depth: usize,
    /// In which half.
    pub half: Half,
    /// What.
    pub what: TapeUse,
}

/// What is done to the tape.
#[derive(Debug)]
pub enum TapeUse {
    /// A loop fills layers and hands them to the tape, or takes them from there: the number of the region.
    Layers(usize),
    /// A record goes there by itself: its bytes, and why.
    Alone(usize, &'static str),
    /// A copy of a list goes there.
    Copy,
    /// A function that calls itself uses it.
    Call,
}

impl TapeSchedule {
    pub(super) fn of(function: &Function, tape: &TapeSettings, sources: &Sources) -> Self {
        let target = &Target { tape: *tape, ..Target::default() };
        let mut reader = Reader {
            function,
            sources,
            layout: tape.layout,
            frames: Frames::new(function, target),
            around: Vec::new(),
            schedule: Self::default(),
        };
        for number in 0..function.regions.len() {
            let layered = reader.region(RegionId(number as u32));
            reader.schedule.regions.push(layered);
        }
        reader.block(&function.body);
        reader.schedule
    }
}

struct Reader<'a> {
    function: &'a Function,
    sources: &'a Sources,
    layout: Option<Layout>,
    frames: Frames<'a>,
    around: Vec<&'a Loop>,
    schedule: TapeSchedule,
}

impl<'a> Reader<'a> {
    fn region(&self, id: RegionId) -> Layered {
        let region = &self.function.regions[id.index()];
        let mut slots = Vec::new();
        for record in &self.function.records {
            let Some(room) = record.room.as_ref().filter(|room| room.region == id) else {
                continue;
            };
            let Some(offset) = &room.offset else { continue };
            let bytes = region.cell.bytes();
            for (number, (slot, ty)) in record.slots.iter().zip(&record.types).enumerate() {
                slots.push(Slot {
                    name: plain_name(self.function, *slot),
                    span: self.sources.span(self.function.values[slot.index()].span),
                    ty: *ty,
                    offset: (offset.at + number) * bytes,
                    steps: offset.steps.iter().map(|step| step * bytes).collect(),
                });
            }
        }
        // A loop that never runs has no room.
        slots.retain(|slot| slot.offset < region.frame_bytes());
        slots.sort_by_key(|slot| slot.offset);
        let (frames, why) = layer(region, true);
        Layered {
            span: self.sources.span(SourceId::NONE),
            frame_bytes: region.frame_bytes(),
            cell_bytes: region.cell.bytes(),
            slots,
            columns: region.layout == Layout::Columns,
            frames,
            why,
        }
    }

    fn block(&mut self, block: &'a Block) {
        for item in block {
            match item {
                Stmt::Loop(node) => {
                    let strip = node.schedule.as_ref().and_then(|known| known.strip.as_ref());
                    if let Some(region) = strip.and_then(|strip| strip.region) {
                        self.layers(node, region);
                        continue;
                    }
                    self.around.push(node);
                    self.block(&node.body);
                    self.around.pop();
                }
                Stmt::Push { record, .. } => self.alone(*record, Half::Forward),
                Stmt::Pop { record, .. } => self.alone(*record, Half::Backward),
                Stmt::Save { .. } => self.event(Half::Forward, TapeUse::Copy),
                Stmt::Restore { .. } | Stmt::Refill { .. } => {
                    self.event(Half::Backward, TapeUse::Copy);
                }
                Stmt::Call(call) => {
                    if let Some((_, half)) = &call.recursion {
                        self.event(*half, TapeUse::Call);
                    }
                }
                item => {
                    for inner in item.blocks() {
                        self.block(inner);
                    }
                }
            }
        }
    }

    /// A loop that fills or takes the layers of a region.
    fn layers(&mut self, node: &'a Loop, id: RegionId) {
        let fills = node.body.iter().any(|item| item.uses_tape(Half::Forward));
        if fills {
            let known = &mut self.schedule.regions[id.index()];
            known.span = self.sources.span(node.span);
            (known.frames, known.why) = layer(&self.function.regions[id.index()], is_counted(node));
        }
        let half = if fills { Half::Forward } else { Half::Backward };
        self.around.push(node);
        self.event(half, TapeUse::Layers(id.index()));
        self.around.pop();
    }

    fn alone(&mut self, record: RecordId, half: Half) {
        let known = &self.function.records[record.index()];
        let bytes = known.bytes_alone();
        // Of a short loop the one around it says why, which would have it in its frame.
        let whys = self.around.iter().rev().map(|node| match self.frames.of(node) {
            Err(Some(why)) => why,
            _ => "the loop that takes it has another shape",
        });
        let why = whys.fold(None, |why: Option<&str>, outer| match why {
            None | Some(SHORT) => Some(outer),
            why => why,
        });
        let why = match (self.layout, why) {
            (None, _) => "`layout = \"none\"` says so",
            (_, None) => "it is not in a loop",
            (_, Some(why)) => why,
        };
        self.event(half, TapeUse::Alone(bytes, why));
    }

    fn event(&mut self, half: Half, what: TapeUse) {
        let span = self.around.last().map_or(SourceId::NONE, |node| node.span);
        let depth = self.around.len().saturating_sub(1);
        self.schedule.events.push(TapeEvent { span: self.sources.span(span), depth, half, what });
    }
}

/// The most frames in a layer of a region, and why.
fn layer(region: &Region, counted: bool) -> (usize, &'static str) {
    let fit = |bytes: usize| (bytes / region.frame_bytes().max(1)).max(1);
    match region.layer {
        Some(frames) if !counted && frames == fit(OPEN_LAYER_BYTES) => {
            (frames, "a page: how often the loop runs is not known")
        }
        Some(frames) if frames < fit(LAYER_BYTES) => (frames, "as `layer_bytes` says"),
        _ => (fit(LAYER_BYTES), "64 KiB, and at most a slab: what pays on a CPU"),
    }
}
