//! Layers of a region while a loop fills or takes them.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::operation::tokens;
use super::strip::Strip;
use stratape_ir::{
    Cell, Half, Layout, Loop, Offset, Range, RecordId, Region, RegionId, Scalar, ValueId,
};

/// A layer that is open.
#[derive(Clone, Debug)]
pub(super) struct OpenRegion {
    pub(super) id: RegionId,
    pub(super) slots: Slots,
}

/// How the layer is seen.
#[derive(Clone, Debug)]
pub(super) enum Slots {
    /// One frame after the other.
    Frames(Ident),
    /// A slice for each cell of a frame.
    Columns(Vec<Ident>),
    /// One cell of all frames after the other: all of them, and how many frames.
    Flat(Ident, Ident),
}

/// Whether the layers of a region are runs of the tape, which leave nothing there but their frames: these are whole words, and lie in the order of their
/// iterations, so that the backward half finds where they begin.
pub(super) fn is_run(region: &Region, upwards: bool) -> bool {
    upwards
        && region.layout == Layout::Frames
        && region.cell != Cell::U128
        && region.frame_bytes().is_multiple_of(8)
}

impl Slots {
    /// The slices it is seen through.
    pub(super) fn slices(&self) -> Vec<&Ident> {
        match self {
            Self::Frames(slots) | Self::Flat(slots, _) => vec![slots],
            Self::Columns(columns) => columns.iter().collect(),
        }
    }

    /// The same, through other slices.
    pub(super) fn map(&self, name: impl Fn(&Ident) -> Ident) -> Self {
        match self {
            Self::Frames(slots) => Self::Frames(name(slots)),
            Self::Flat(slots, count) => Self::Flat(name(slots), count.clone()),
            Self::Columns(columns) => Self::Columns(columns.iter().map(name).collect()),
        }
    }
}

impl Emitter<'_> {
    /// The type of a region's frames.
    pub(super) fn frame_type(&self, region: &Region) -> TokenStream {
        let (cell, cells) = (tokens(region.cell.name()), region.cells);
        quote!([#cell; #cells])
    }

    /// How a layer is seen whose frames begin at `slots`.
    pub(super) fn open_region(&self, id: RegionId, slots: &Ident, count: &Ident) -> OpenRegion {
        let region = &self.function.regions[id.index()];
        let offsets = self.function.records.iter().filter_map(|record| {
            let room = record.room.as_ref().filter(|room| room.region == id)?;
            room.offset.as_ref()
        });
        let in_loops = offsets.into_iter().any(|offset| !offset.steps.is_empty());
        let slots = match region.layout {
            Layout::Frames => Slots::Frames(slots.clone()),
            Layout::Columns if in_loops => Slots::Flat(slots.clone(), count.clone()),
            Layout::Columns => {
                let column = |cell| Ident::new(&format!("{slots}_{cell}"), Span::mixed_site());
                Slots::Columns((0..region.cells).map(column).collect())
            }
        };
        OpenRegion { id, slots }
    }

    /// What makes the slices of a layer out of its frames.
    pub(super) fn slice_region(
        &self,
        open: &OpenRegion,
        slots: &Ident,
        count: &Ident,
        half: Half,
    ) -> TokenStream {
        let flat = match half {
            Half::Forward => quote!(let #slots = #slots.as_flattened_mut();),
            Half::Backward => quote!(let #slots = #slots.as_flattened();),
        };
        match &open.slots {
            Slots::Frames(_) => quote!(),
            Slots::Flat(..) => flat,
            Slots::Columns(columns) => {
                let split = match half {
                    Half::Forward => quote!(split_at_mut),
                    Half::Backward => quote!(split_at),
                };
                quote!(#flat #(let (#columns, #slots) = #slots.#split(#count);)*)
            }
        }
    }

    /// Where the cells of a record lie: in the layer that is open around it.
    pub(super) fn cells_in_region(&self, record: RecordId) -> Option<Vec<TokenStream>> {
        let known = &self.function.records[record.index()];
        let offset = known.room.as_ref()?.offset.as_ref()?;
        let strips = self.strips.borrow();
        let Strip { k, region, .. } = strips.iter().rev().find(|strip| strip.region.is_some())?;
        let slots = &region.as_ref()?.slots;
        let cell = |slot: usize| {
            let index = self.index_in_frame(offset, slot);
            match slots {
                Slots::Frames(slots) => quote!(#slots[#k][#index]),
                Slots::Columns(columns) => {
                    let column = &columns[offset.at + slot];
                    quote!(#column[#k])
                }
                Slots::Flat(slots, count) => quote!(#slots[(#index) * #count + #k]),
            }
        };
        Some((0..known.types.len()).map(cell).collect())
    }

    /// The frame that a record fills alone.
    pub(super) fn whole_frame(&self, record: RecordId) -> Option<TokenStream> {
        let known = &self.function.records[record.index()];
        let room = known.room.as_ref()?;
        let offset = room.offset.as_ref()?;
        let alone = known.types.len() == self.function.regions[room.region.index()].cells;
        let strips = self.strips.borrow();
        let Strip { k, region, .. } = strips.iter().rev().find(|strip| strip.region.is_some())?;
        match &region.as_ref()?.slots {
            Slots::Frames(slots) if alone && offset.steps.is_empty() => Some(quote!(#slots[#k])),
            _ => None,
        }
    }

    /// A cell's place in a frame: a number, and the iterations of inner loops.
    fn index_in_frame(&self, offset: &Offset, slot: usize) -> TokenStream {
        let at = offset.at + slot;
        let inner = self.inner.borrow();
        let counters = inner.iter().skip(inner.len().saturating_sub(offset.steps.len()));
        let moves = offset.steps.iter().zip(counters).map(|(step, (counter, from))| {
            let number = self.place_of_iteration(*counter, *from);
            quote!(+ #number * #step)
        });
        quote!(#at #(#moves)*)
    }

    /// Which iteration of a loop it is, counted from the lower end of its range.
    fn place_of_iteration(&self, counter: ValueId, from: ValueId) -> TokenStream {
        let ident = self.names.value(counter);
        let number = match self.literal_int(from) {
            Some(0) => quote!(#ident),
            _ => {
                let from = self.operand(from);
                quote!((#ident - #from))
            }
        };
        match self.function.ty(counter) == Scalar::USIZE {
            true => number,
            false => quote!((#number as usize)),
        }
    }

    /// Notes that the body of a loop is emitted now.
    pub(super) fn enter_inner(&self, node: &Loop) {
        if let Range::UpTo { from, .. } = node.range {
            self.inner.borrow_mut().push((node.counter, from));
        }
    }

    pub(super) fn leave_inner(&self, node: &Loop) {
        if matches!(node.range, Range::UpTo { .. }) {
            self.inner.borrow_mut().pop();
        }
    }

    /// A loop that fills layers and ends when it will: before each iteration, after it, and after the loop.
    pub(super) fn open_ended(&self, node: &Loop, id: RegionId) -> TokenStream {
        let name =
            |text: &str| Ident::new(&format!("{text}{}", node.counter.0), Span::mixed_site());
        let (slots, used) = (name("slots"), name("used"));
        let region = &self.function.regions[id.index()];
        let frame = self.frame_type(region);
        let most = region.layer.unwrap_or(1);
        let tape = self.tape();
        self.enter_strip(Strip {
            counter: node.counter,
            k: used.clone(),
            views: Vec::new(),
            splits: Vec::new(),
            asked: HashSet::new(),
            region: Some(OpenRegion { id, slots: Slots::Frames(slots.clone()) }),
        });
        let run = is_run(region, true);
        let before = if run {
            quote! {
                if #used == #slots.len() {
                    #slots = #tape.push_run::<#frame>(#most, #most)?;
                    #used = 0;
                }
            }
        } else {
            quote! {
                if #used == #slots.len() {
                    if #used > 0 { #tape.commit::<#frame>(#used)?; }
                    let most = #tape.layer::<#frame>(#most);
                    #slots = #tape.reserve::<#frame>(most)?;
                    #used = 0;
                }
            }
        };
        let end = if run {
            quote!(let left = #slots.len() - #used; #tape.take_back::<#frame>(left)?;)
        } else {
            quote!(if #used > 0 { #tape.commit::<#frame>(#used)?; })
        };
        let looped = self.repeat_with(node, &before, &quote!(#used += 1;));
        self.leave_strip();
        quote! {
            let mut #slots: &mut [#frame] = &mut [];
            let mut #used = 0_usize;
            #looped
            #end
        }
    }
}
