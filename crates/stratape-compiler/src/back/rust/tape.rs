//! Records of the tape as arrays of plain numbers.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::operation::tokens;
use stratape_ir::{Cell, Float, RecordId, Scalar, ValueId};

/// A value on its way to the tape.
fn store(cell: Cell, value: &TokenStream, ty: Scalar) -> TokenStream {
    match (cell, ty) {
        (Cell::F64 | Cell::F32, _) => value.clone(),
        (Cell::U8, _) => quote!(u8::from(#value)),
        (Cell::U64, Scalar::Float(Float::F64)) => quote!(f64::to_bits(#value)),
        (Cell::U64, Scalar::Float(Float::F32)) => quote!(u64::from(f32::to_bits(#value))),
        (Cell::U128, Scalar::Float(Float::F64)) => quote!(u128::from(f64::to_bits(#value))),
        (Cell::U128, Scalar::Float(Float::F32)) => quote!(u128::from(f32::to_bits(#value))),
        (Cell::U32, Scalar::Float(_)) => quote!(f32::to_bits(#value)),
        (cell, _) => {
            let cell = tokens(cell.name());
            quote!(#value as #cell)
        }
    }
}

/// A value back from the tape.
fn load(kind: Cell, cell: &TokenStream, ty: Scalar) -> TokenStream {
    match (kind, ty) {
        (Cell::F64 | Cell::F32, _) => cell.clone(),
        (_, Scalar::Bool) => quote!(#cell != 0),
        (Cell::U64, Scalar::Float(Float::F64)) => quote!(f64::from_bits(#cell)),
        (Cell::U128, Scalar::Float(Float::F64)) => quote!(f64::from_bits(#cell as u64)),
        (Cell::U64 | Cell::U128, Scalar::Float(Float::F32)) => {
            quote!(f32::from_bits(#cell as u32))
        }
        (_, Scalar::Float(_)) => quote!(f32::from_bits(#cell)),
        (_, Scalar::Infer(_)) => quote!(#cell as _),
        (_, ty) => {
            let ty = tokens(ty.name());
            quote!(#cell as #ty)
        }
    }
}
impl Emitter<'_> {
    /// What the slots of a record are stored as.
    fn cell(&self, record: RecordId) -> Cell {
        let known = &self.function.records[record.index()];
        match &known.room {
            Some(room) => self.function.regions[room.region.index()].cell,
            None => known.cell_alone(),
        }
    }

    /// Puts a record on the tape, or where it lies in the layer that is open.
    pub(super) fn push(&self, record: RecordId, values: &[ValueId]) -> TokenStream {
        let stored = self.stored(record, values);
        if let Some(frame) = self.whole_frame(record) {
            return quote!(#frame = [#(#stored),*];);
        }
        match self.cells_in_region(record) {
            Some(cells) => quote!(#(#cells = #stored;)*),
            None => {
                let tape = self.tape();
                quote!(#tape.push([#(#stored),*])?;)
            }
        }
    }

    /// Takes a record from there.
    pub(super) fn pop(&self, record: RecordId, values: &[ValueId]) -> TokenStream {
        let all = Ident::new("cells", Span::mixed_site());
        let of_array = || (0..values.len()).map(|slot| quote!(#all[#slot])).collect::<Vec<_>>();
        if let Some(frame) = self.whole_frame(record) {
            let unpack = self.unpack(record, values, &of_array());
            return quote!(let #all = &#frame; #unpack);
        }
        match self.cells_in_region(record) {
            Some(cells) => self.unpack(record, values, &cells),
            None => {
                let (tape, ty) = (self.tape(), self.record_type(record));
                let unpack = self.unpack(record, values, &of_array());
                quote!(let #all = &#tape.pop::<#ty>()?; #unpack)
            }
        }
    }

    /// The type of a record.
    fn record_type(&self, record: RecordId) -> TokenStream {
        let types = &self.function.records[record.index()].types;
        let (cell, count) = (tokens(self.cell(record).name()), types.len());
        quote!([#cell; #count])
    }

    /// What is written for the values of a record.
    fn stored(&self, record: RecordId, values: &[ValueId]) -> Vec<TokenStream> {
        let types = &self.function.records[record.index()].types;
        let cell = self.cell(record);
        let store = |(value, ty): (&ValueId, &Scalar)| store(cell, &self.operand(*value), *ty);
        values.iter().zip(types).map(store).collect()
    }

    /// Values out of the cells of a record.
    fn unpack(&self, record: RecordId, values: &[ValueId], from: &[TokenStream]) -> TokenStream {
        let types = &self.function.records[record.index()].types;
        let cell = self.cell(record);
        let lets = values.iter().zip(types).zip(from).map(|((value, ty), from)| {
            let ident = self.names.value(*value);
            let load = load(cell, from, *ty);
            quote!(let #ident = #load;)
        });
        quote!(#(#lets)*)
    }
}
