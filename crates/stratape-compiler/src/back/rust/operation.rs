//! Operations, places and the first contents of objects as expressions.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};

use super::Emitter;
use super::parallel::Piece;
use super::signature::member;
use crate::library;
use crate::source::Sources;
use stratape_ir::{
    Binary, Extent, Function, Init, ObjectId, Op, Origin, Place, Scalar, Step, Stmt, Type, Unary,
    ValueId, walk,
};

impl Emitter<'_> {
    /// A value where it is used: literals in place, the others by name.
    pub(super) fn operand(&self, value: ValueId) -> TokenStream {
        match self.literals.get(&value) {
            Some(op) => self.literal(op, self.function.ty(value)),
            None => {
                let ident = self.names.value(value);
                quote!(#ident)
            }
        }
    }

    fn literal(&self, op: &Op, ty: Scalar) -> TokenStream {
        match op {
            Op::Float(number, text) => float(*number, text, ty),
            Op::Int(number) => {
                let digits = number.unsigned_abs();
                let suffix =
                    if matches!(ty, Scalar::Infer(_)) { String::new() } else { format!("_{ty}") };
                let literal = tokens(&format!("{digits}{suffix}"));
                if *number < 0 { quote!((-#literal)) } else { literal }
            }
            Op::Bool(value) => quote!(#value),
            Op::Const(constant) => {
                let tokens = self.sources.tokens(constant);
                quote!((#tokens))
            }
            _ => TokenStream::new(),
        }
    }

    /// What defines a value.
    pub(super) fn definition(&self, value: ValueId, op: &Op) -> TokenStream {
        match op {
            // A branch is mispredicted every other time (docs/performance.md: spline).
            Op::Select(condition, a, b) if self.halving.contains(&value) => {
                let [c, a, b] = [condition, a, b].map(|value| self.operand(*value));
                quote!(::core::hint::select_unpredictable(#c, #a, #b))
            }
            _ => self.operation(op, self.function.ty(value)),
        }
    }

    /// An operation.
    fn operation(&self, op: &Op, ty: Scalar) -> TokenStream {
        let v = |value: &ValueId| self.operand(*value);
        match op {
            Op::Float(..) | Op::Int(_) | Op::Bool(_) | Op::Const(_) => self.literal(op, ty),
            // Only kernels have it, and these are not emitted as Rust.
            Op::Builtin(_) => TokenStream::new(),
            Op::Unary(Unary::Neg, a) => {
                let a = v(a);
                quote!(-#a)
            }
            Op::Unary(Unary::Not, a) => {
                let a = v(a);
                quote!(!#a)
            }
            Op::Binary(sign, a, b) => {
                let (a, b, sign) = (v(a), v(b), tokens(sign.sign()));
                quote!(#a #sign #b)
            }
            Op::Compare(sign, a, b) => {
                let (a, b, sign) = (v(a), v(b), tokens(sign.sign()));
                quote!(#a #sign #b)
            }
            Op::TotalCmp { less, a, b } => {
                let (a, b) = (v(a), v(b));
                let ask = Ident::new(if *less { "is_lt" } else { "is_gt" }, Span::call_site());
                quote!(#a.total_cmp(&#b).#ask())
            }
            Op::Math(function, args) => self.method(function.method(), args),
            Op::Method(name, args) => self.method(name, args),
            Op::Cast(a, ty) => {
                let (a, ty) = (v(a), tokens(ty.name()));
                quote!(#a as #ty)
            }
            Op::Select(c, a, b) if self.in_strip() && self.is_zero(*b) => {
                let (c, a) = (v(c), v(a));
                quote!(::stratape::__private::or_zero(#c, #a))
            }
            Op::Select(c, a, b) if self.in_strip() && self.is_zero(*a) => {
                let (c, b) = (v(c), v(b));
                quote!(::stratape::__private::or_zero(!#c, #b))
            }
            Op::Select(c, a, b) => {
                let (c, a, b) = (v(c), v(a), v(b));
                quote!(if #c { #a } else { #b })
            }
            Op::Load(place) => {
                if let [Step::Index(index)] = place.path[..]
                    && self.function.strided_copies.contains_key(&place.object)
                    && self.viewed(place).is_none()
                {
                    let of = self.field_of(place.object);
                    let (object, index) = (self.names.object(place.object), self.operand(index));
                    return quote!(::stratape::__private::field(&#object[..], #index, #of));
                }
                let tokens = self.place(place);
                match self.function.place_type(place) {
                    Some(Type::Enum(_)) => quote!(#tokens as isize),
                    _ => tokens,
                }
            }
            Op::Len(place) if place.path.is_empty() && self.piece_of(place).is_some() => {
                let whole = self.piece_of(place).map(|piece| piece.whole);
                quote!(#whole)
            }
            Op::Len(place) => {
                let place = self.place(place);
                quote!(#place.len())
            }
        }
    }

    fn method(&self, name: &str, args: &[ValueId]) -> TokenStream {
        let name = Ident::new(name, Span::call_site());
        let mut args = args.iter().map(|arg| self.operand(*arg));
        let receiver = args.next();
        quote!(#receiver.#name(#(#args),*))
    }

    /// A path into an object.
    pub(super) fn place(&self, place: &Place) -> TokenStream {
        if let Some(viewed) = self.viewed(place) {
            return viewed;
        }
        let ident = self.names.object(place.object);
        let object = &self.function.objects[place.object.index()];
        if let (Some(piece), Some(Step::Index(index))) = (self.piece_of(place), place.path.first())
        {
            let (Piece { before, len, whole }, index) = (piece, self.operand(*index));
            let index = quote!(::stratape::__private::within(#index, #before, #len, #whole));
            return self.follow(quote!(#ident[#index]), object.ty.element(), &place.path[1..]);
        }
        let from = if self.is_behind_reference(place.object) && object.ty.scalar().is_some() {
            quote!((*#ident))
        } else {
            quote!(#ident)
        };
        self.follow(from, Some(&object.ty), &place.path)
    }

    /// Whether an object is a parameter behind a reference.
    pub(super) fn is_behind_reference(&self, object: ObjectId) -> bool {
        let origin = self.function.objects[object.index()].origin;
        matches!(origin, Origin::Ref | Origin::RefMut)
    }

    /// The piece of an object that is seen in the part of a loop.
    pub(super) fn piece_of(&self, place: &Place) -> Option<Piece> {
        self.pieces.borrow().get(&place.object).cloned()
    }

    /// The start of a view of a list in the piece that is seen.
    pub(super) fn start_within(
        &self,
        piece: &Piece,
        start: &TokenStream,
        count: &TokenStream,
    ) -> TokenStream {
        let Piece { before, len, whole } = piece;
        quote!(::stratape::__private::view_within(#start, #count, #before, #len, #whole))
    }

    /// A path from an expression of a type.
    pub(super) fn follow(
        &self,
        from: TokenStream,
        ty: Option<&Type>,
        path: &[Step],
    ) -> TokenStream {
        let (mut out, mut ty) = (from, ty);
        for step in path {
            match step {
                Step::Index(index) => {
                    let index = self.operand(*index);
                    out = quote!(#out[#index]);
                    ty = ty.and_then(Type::element);
                }
                Step::Field(index) => {
                    let member = field_member(ty, *index);
                    out = quote!(#out.#member);
                    ty = ty.and_then(|ty| ty.field(*index));
                }
            }
        }
        out
    }

    /// Whether an object's memory is kept by the thread from call to call.
    pub(super) fn is_kept_by_thread(&self, object: ObjectId) -> bool {
        is_pooled(&self.function.objects[object.index()].ty)
            && !self.function.kept.contains(&object)
            && !self.unpooled.contains(&object)
    }

    /// What an object is made from.
    pub(super) fn first_contents(&self, object: ObjectId, ty: &Type, init: &Init) -> TokenStream {
        let idle = self.has_parts && self.part.get().is_none();
        let slice = self.is_kept_by_thread(object) && !self.swapped.contains(&object);
        let buffer = match Some(object).filter(|_| slice && !idle).and_then(|it| self.spare(it)) {
            Some(spare) => quote!(#spare.),
            None => quote!(::stratape::__private::Buffer::),
        };
        let filled = match self.function.unfilled.contains(&object) {
            true => quote!(#buffer unfilled),
            // Outside the parts of loops, threads are idle meanwhile.
            false if idle => quote!(::stratape::__private::filled),
            false => quote!(#buffer filled),
        };
        let inner = |item: &Init| ty.element().map(|inner| self.init(inner, item));
        if !self.is_kept_by_thread(object) {
            return self.init(ty, init);
        }
        match init {
            Init::Repeat(item, len) => {
                let (item, len) = (inner(item), self.operand(*len));
                quote!(#filled(#item, #len))
            }
            Init::Copy(place) => {
                let from = self.place(place);
                quote!(#buffer copied(&#from[..]))
            }
            Init::ZeroLike(like) => {
                let like = self.names.object(*like);
                let zero = ty.element().map(|item| zero_like(item, &like, self.sources));
                quote!(#filled(#zero, #like.len()))
            }
            init => {
                let init = self.init(ty, init);
                quote!(#buffer copied(&#init[..]))
            }
        }
    }

    /// The first contents of an object.
    pub(super) fn init(&self, ty: &Type, init: &Init) -> TokenStream {
        match init {
            Init::Value(value) => self.operand(*value),
            Init::Items(items) => {
                let types: Vec<Type> = match ty {
                    Type::Tuple(types) => types.clone(),
                    Type::Struct(def) => def.fields.iter().map(|(_, ty)| ty.clone()).collect(),
                    list => vec![
                        list.element().cloned().unwrap_or(Type::Tuple(Vec::new()));
                        items.len()
                    ],
                };
                let items: Vec<TokenStream> =
                    items.iter().zip(&types).map(|(item, ty)| self.init(ty, item)).collect();
                aggregate(ty, &items)
            }
            Init::Fill(item) => {
                let inner = ty.element().map(|inner| self.init(inner, item));
                match ty {
                    Type::Array(item, extent) if !item.is_fixed() => {
                        let extent = extent_tokens(extent, self.sources);
                        quote!(::core::array::from_fn::<_, { #extent }, _>(|_| #inner))
                    }
                    Type::Array(_, extent) => {
                        let extent = extent_tokens(extent, self.sources);
                        quote!([#inner; #extent])
                    }
                    _ => quote!(::std::vec![#inner]),
                }
            }
            Init::Repeat(item, len) => {
                let inner = ty.element().map(|inner| self.init(inner, item));
                let len = self.operand(*len);
                match ty.element() {
                    // Whether the struct can be cloned is not known.
                    Some(item) if holds_struct(item) => quote! {
                        ::core::iter::repeat_with(|| #inner).take(#len).collect::<::std::vec::Vec<_>>()
                    },
                    _ => quote!(::std::vec![#inner; #len]),
                }
            }
            Init::Copy(place) => {
                let from = self.place(place);
                match ty {
                    Type::Vec(_) => quote!(#from.to_vec()),
                    _ => quote!(#from.clone()),
                }
            }
            Init::ZeroLike(object) => {
                let ident = self.names.object(*object);
                zero_like(ty, &ident, self.sources)
            }
        }
    }

    /// Whether a value is the literal `0.0`.
    fn is_zero(&self, value: ValueId) -> bool {
        matches!(self.literals.get(&value), Some(Op::Float(zero, _)) if zero.to_bits() == 0)
    }

    /// Whether anything writes to an object.
    pub(super) fn is_written(&self, object: ObjectId) -> bool {
        let mut written = false;
        walk(&self.function.body, &mut |node: &Stmt| {
            written |= node.written().iter().any(|place| place.object == object);
        });
        written
    }
}

fn field_member(ty: Option<&Type>, index: usize) -> syn::Member {
    match ty {
        Some(Type::Struct(def)) => member(&def.fields[index].0),
        _ => member(&index.to_string()),
    }
}

fn aggregate(ty: &Type, items: &[TokenStream]) -> TokenStream {
    match ty {
        Type::Tuple(_) => quote!((#(#items,)*)),
        Type::Struct(def) => {
            let name = tokens(&def.name);
            if let Some(makes) = library::made_by(&def.name) {
                return quote!(#name::#makes(#(#items),*));
            }
            let members = def.fields.iter().map(|(name, _)| member(name));
            quote!(#name { #(#members: #items),* })
        }
        Type::Vec(_) => quote!(::std::vec![#(#items),*]),
        _ => quote!([#(#items),*]),
    }
}

/// Whether an object's memory is kept by the thread: a list of plain numbers.
pub(super) fn is_pooled(ty: &Type) -> bool {
    let (Type::Vec(item) | Type::Slice(item)) = ty else { return false };
    matches!(**item, Type::Scalar(Scalar::Float(_) | Scalar::USIZE))
}

/// Whether values of a type hold structs.
fn holds_struct(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Enum(_) => false,
        Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => holds_struct(item),
        Type::Tuple(items) => items.iter().any(holds_struct),
        Type::Struct(_) => true,
    }
}

/// Zeros in the shape of an expression of a type.
pub(super) fn zero_like(ty: &Type, like: &impl ToTokens, sources: &Sources) -> TokenStream {
    match ty {
        Type::Scalar(Scalar::Bool) => quote!(false),
        Type::Scalar(Scalar::Float(_)) => float(0.0, "0.0", ty.scalar().unwrap_or(Scalar::Bool)),
        Type::Scalar(_) => quote!(0),
        Type::Enum(_) => quote!(#like),
        Type::Array(item, extent) => match &**item {
            Type::Scalar(_) => {
                let (zero, extent) =
                    (zero_like(item, like, sources), extent_tokens(extent, sources));
                quote!([#zero; #extent])
            }
            item => {
                let k = Ident::new("k", Span::mixed_site());
                let inner = zero_like(item, &quote!(#like[#k]), sources);
                let extent = extent_tokens(extent, sources);
                quote!(::core::array::from_fn::<_, #extent, _>(|#k| #inner))
            }
        },
        Type::Slice(item) | Type::Vec(item) => match &**item {
            Type::Scalar(_) => {
                let zero = zero_like(item, like, sources);
                quote!(::std::vec![#zero; #like.len()])
            }
            item => {
                let each = Ident::new("each", Span::mixed_site());
                let inner = zero_like(item, &quote!(#each), sources);
                quote!(#like.iter().map(|#each| #inner).collect::<::std::vec::Vec<_>>())
            }
        },
        Type::Tuple(items) => {
            let items: Vec<_> = items
                .iter()
                .enumerate()
                .map(|(index, ty)| {
                    let member = member(&index.to_string());
                    zero_like(ty, &quote!(#like.#member), sources)
                })
                .collect();
            aggregate(ty, &items)
        }
        Type::Struct(def) => {
            let items: Vec<_> = def
                .fields
                .iter()
                .map(|(name, ty)| {
                    let member = member(name);
                    zero_like(ty, &quote!(#like.#member), sources)
                })
                .collect();
            aggregate(ty, &items)
        }
    }
}

pub(super) fn extent_tokens(extent: &Extent, sources: &Sources) -> TokenStream {
    match extent {
        Extent::Known(n) => {
            let n = Literal::usize_unsuffixed(*n);
            quote!(#n)
        }
        Extent::Const(constant) => {
            let tokens = sources.tokens(constant);
            quote!({ #tokens })
        }
    }
}

/// The selections of loops that halve a range until it is small, by comparing floats: either outcome is as likely.
pub(super) fn halving(function: &Function) -> HashSet<ValueId> {
    let mut halving = HashSet::new();
    walk(&function.body, &mut |node| {
        let Stmt::Loop(node) = node else { return };
        if node.exit.is_none() {
            return;
        }
        let definition = |item| match item {
            &Stmt::Let { value, ref op } => Some((value, op)),
            _ => None,
        };
        let definitions: HashMap<ValueId, &Op> = node.body.iter().filter_map(definition).collect();
        let halves = |(value, op): (&ValueId, &&Op)| {
            matches!(op, Op::Binary(Binary::Div | Binary::Shr, ..))
                && matches!(function.ty(*value), Scalar::Int(_))
        };
        if !definitions.iter().any(halves) {
            return;
        }
        for carried in &node.carried {
            if let Some(Op::Select(condition, ..)) = definitions.get(&carried.next)
                && let Some(Op::Compare(_, a, _)) = definitions.get(condition)
                && function.ty(*a).is_float()
                && matches!(function.ty(carried.next), Scalar::Int(_))
            {
                halving.insert(carried.next);
            }
        }
    });
    halving
}

/// A float of zero.
pub(super) fn float_zero(ty: Scalar) -> TokenStream {
    float(0.0, "0.0", ty)
}

/// A float literal with its own text, so that its bits are those of the source.
fn float(number: f64, text: &str, ty: Scalar) -> TokenStream {
    let name = ty.name();
    if number.is_nan() {
        return tokens(&format!("{name}::NAN"));
    }
    if number.is_infinite() {
        let which = if number > 0.0 { "INFINITY" } else { "NEG_INFINITY" };
        return tokens(&format!("{name}::{which}"));
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let mut digits = digits.to_owned();
    if digits.ends_with('.') {
        digits.push('0');
    }
    let literal = tokens(&format!("{digits}_{name}"));
    if negative { quote!((-#literal)) } else { literal }
}

pub(super) fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}
