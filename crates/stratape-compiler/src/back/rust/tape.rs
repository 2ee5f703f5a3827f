//! Records of the tape as arrays of plain numbers.

use proc_macro2::TokenStream;
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
        known.cell.unwrap_or_else(|| Cell::of(&known.types))
    }

    /// The type of a record.
    pub(super) fn record_type(&self, record: RecordId) -> TokenStream {
        let types = &self.function.records[record.index()].types;
        let (cell, count) = (tokens(self.cell(record).name()), types.len());
        quote!([#cell; #count])
    }

    /// A record of values.
    pub(super) fn record(&self, record: RecordId, values: &[ValueId]) -> TokenStream {
        let types = &self.function.records[record.index()].types;
        let cell = self.cell(record);
        let cells =
            values.iter().zip(types).map(|(value, ty)| store(cell, &self.operand(*value), *ty));
        quote!([#(#cells),*])
    }

    /// Values out of a record.
    pub(super) fn unpack(
        &self,
        record: RecordId,
        values: &[ValueId],
        from: &TokenStream,
    ) -> TokenStream {
        let types = &self.function.records[record.index()].types;
        let cell = self.cell(record);
        let lets = values.iter().zip(types).enumerate().map(|(index, (value, ty))| {
            let ident = self.names.value(*value);
            let load = load(cell, &quote!(#from[#index]), *ty);
            quote!(let #ident = #load;)
        });
        quote!(#(#lets)*)
    }
}
