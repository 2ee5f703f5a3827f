//! Records of the tape as arrays of plain numbers.

use proc_macro2::TokenStream;
use quote::quote;

use super::Emitter;
use super::operation::tokens;
use crate::ir::{Float, Function, Int, RecordId, Scalar, ValueId};

/// What the slots of a record are stored as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    F64,
    F32,
    U64,
    U32,
    U8,
}

impl Cell {
    fn of(types: &[Scalar]) -> Self {
        let all = |test: fn(&Scalar) -> bool| types.iter().all(test);
        if all(|ty| *ty == Scalar::Float(Float::F64)) {
            Self::F64
        } else if all(|ty| *ty == Scalar::Float(Float::F32)) {
            Self::F32
        } else if all(|ty| *ty == Scalar::Bool) {
            Self::U8
        } else if all(|ty| match ty {
            Scalar::Bool | Scalar::Float(Float::F32) => true,
            Scalar::Int(int) => int.bits() <= 32,
            _ => false,
        }) {
            Self::U32
        } else {
            Self::U64
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::F64 | Self::U64 => 8,
            Self::F32 | Self::U32 => 4,
            Self::U8 => 1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::U64 => "u64",
            Self::U32 => "u32",
            Self::U8 => "u8",
        }
    }

    /// A value on its way to the tape.
    fn store(self, value: &TokenStream, ty: Scalar) -> TokenStream {
        match (self, ty) {
            (Self::F64 | Self::F32, _) => value.clone(),
            (Self::U8, _) => quote!(u8::from(#value)),
            (Self::U64, Scalar::Float(Float::F64)) => quote!(f64::to_bits(#value)),
            (Self::U64, Scalar::Float(Float::F32)) => quote!(u64::from(f32::to_bits(#value))),
            (Self::U32, Scalar::Float(_)) => quote!(f32::to_bits(#value)),
            (cell, _) => {
                let cell = tokens(cell.name());
                quote!(#value as #cell)
            }
        }
    }

    /// A value back from the tape.
    fn load(self, cell: &TokenStream, ty: Scalar) -> TokenStream {
        match (self, ty) {
            (Self::F64 | Self::F32, _) => cell.clone(),
            (_, Scalar::Bool) => quote!(#cell != 0),
            (Self::U64, Scalar::Float(Float::F64)) => quote!(f64::from_bits(#cell)),
            (Self::U64, Scalar::Float(Float::F32)) => quote!(f32::from_bits(#cell as u32)),
            (_, Scalar::Float(_)) => quote!(f32::from_bits(#cell)),
            (_, Scalar::Int(Int::I128 | Int::U128) | Scalar::Infer(_)) => quote!(#cell as _),
            (_, ty) => {
                let ty = tokens(ty.name());
                quote!(#cell as #ty)
            }
        }
    }
}

/// Bytes of each kind of record on the tape. In a region they lie side by side, by themselves they take whole words; what
/// a region adds as a whole is not counted.
pub fn record_bytes(function: &Function) -> Vec<usize> {
    let regions = super::strip::regions(&[function]);
    let records = function.records.iter().enumerate();
    records
        .map(|(number, record)| {
            let bytes = Cell::of(&record.types).bytes() * record.types.len();
            let packed = regions.contains(&RecordId(number as u32));
            if packed { bytes } else { bytes.next_multiple_of(8) }
        })
        .collect()
}

impl Emitter<'_> {
    /// The type of a record.
    pub(super) fn record_type(&self, record: RecordId) -> TokenStream {
        let types = &self.function.records[record.index()].types;
        let (cell, count) = (tokens(Cell::of(types).name()), types.len());
        quote!([#cell; #count])
    }

    /// A record of values.
    pub(super) fn record(&self, record: RecordId, values: &[ValueId]) -> TokenStream {
        let types = &self.function.records[record.index()].types;
        let cell = Cell::of(types);
        let cells =
            values.iter().zip(types).map(|(value, ty)| cell.store(&self.operand(*value), *ty));
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
        let cell = Cell::of(types);
        let lets = values.iter().zip(types).enumerate().map(|(index, (value, ty))| {
            let ident = self.names.value(*value);
            let load = cell.load(&quote!(#from[#index]), *ty);
            quote!(let #ident = #load;)
        });
        quote!(#(#lets)*)
    }
}
