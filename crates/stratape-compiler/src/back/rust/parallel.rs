//! Loops that run in parallel, as calls of `stratape::__private::parallel`: what is divided among the parts, the body of
//! a part as a closure, and what is added up afterwards.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::operation::{float_zero, is_pooled, zero_like};
use super::signature::member;
use stratape_ir::{
    Carried, Loop, ObjectId, Parts, Polynomial, Range, Scalar, Type, ValueId, Window,
};

/// A list of which a part sees a piece.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// The number of elements before the piece.
    pub(super) before: Ident,
    /// The length of the piece.
    pub(super) len: Ident,
    /// The length of the whole list.
    pub(super) whole: Ident,
}

/// What one object or sum asks for.
struct Share {
    /// Before the loop.
    open: TokenStream,
    /// What is divided.
    pieces: TokenStream,
    /// What a part gets.
    pattern: TokenStream,
    /// Before the iterations of a part.
    start: TokenStream,
    /// After the iterations of a part.
    end: TokenStream,
    /// After the loop.
    close: TokenStream,
}

impl Emitter<'_> {
    /// The lanes' name.
    pub(super) fn lanes_ident(&self) -> Ident {
        Ident::new("lanes", Span::mixed_site())
    }

    /// A loop in parts.
    pub(super) fn in_parallel(&self, node: &Loop, clause: &Parts) -> TokenStream {
        let Range::UpTo { from: whole_from, to: whole_to } = node.range else {
            return TokenStream::new();
        };
        let id = node.counter.0;
        let name = |text: &str| Ident::new(&format!("{text}{id}"), Span::mixed_site());
        let (parts, trips, skip, count) =
            (name("parts"), name("trips"), name("skip"), name("part_count"));
        let mut shares = Vec::new();
        for (object, window) in &clause.windows {
            shares.push(self.window(*object, window, whole_from, id));
        }
        for object in &clause.private {
            shares.push(self.copied(*object, &parts, id));
        }
        for sum in &node.carried {
            shares.push(self.partial(sum, &parts));
        }
        for (object, _) in &clause.windows {
            self.pieces.borrow_mut().insert(*object, self.piece(*object, id));
        }
        self.part.set(Some(node.counter));
        let around = self.spares.take();
        let run = self.with_spares(|| self.scheduled(node));
        self.spares.replace(around);
        self.part.set(None);
        for (object, _) in &clause.windows {
            self.pieces.borrow_mut().remove(object);
        }
        let opens = shares.iter().map(|share| &share.open);
        let starts = shares.iter().map(|share| &share.start);
        let ends = shares.iter().map(|share| &share.end);
        let closes = shares.iter().map(|share| &share.close);
        let nest = |part: fn(&Share) -> &TokenStream| {
            shares.iter().rev().fold(quote!(()), |rest, share| {
                let this = part(share);
                quote!((#this, #rest))
            })
        };
        let (pieces, pattern) = (nest(|share| &share.pieces), nest(|share| &share.pattern));
        let (tape, lanes) = (self.tape(), self.lanes_ident());
        let (from, to) = (self.operand(whole_from), self.operand(whole_to));
        let (first, end) = self.part_range(node);
        let grain = node.parallel.map_or(1, |parallel| parallel.grain);
        quote! {
            let #trips = #to.saturating_sub(#from);
            let #parts = ::stratape::__private::parts(#lanes, #trips, #grain);
            #(#opens)*
            ::stratape::__private::parallel(
                #lanes,
                #parts,
                #trips,
                #pieces,
                &|#skip: usize, #count: usize, #tape: &mut ::stratape::tape::RecordTape, #pattern| {
                    let #first = #from + #skip;
                    let #end = #first + #count;
                    #(#starts)*
                    #run
                    #(#ends)*
                    ::core::result::Result::Ok(())
                },
            )?;
            #(#closes)*
        }
    }

    /// Whether the part of a loop is being emitted.
    pub(super) fn is_part(&self, node: &Loop) -> bool {
        self.part.get() == Some(node.counter)
    }

    /// The ends of a part's range.
    pub(super) fn part_range(&self, node: &Loop) -> (Ident, Ident) {
        let name =
            |text: &str| Ident::new(&format!("{text}{}", node.counter.0), Span::mixed_site());
        (name("part_first"), name("part_end"))
    }

    fn piece(&self, object: ObjectId, id: u32) -> Piece {
        let ident = self.names.object(object);
        let name = |text: &str| Ident::new(&format!("{ident}_{text}{id}"), Span::mixed_site());
        Piece { before: name("before"), len: name("len"), whole: name("whole") }
    }

    fn window(&self, object: ObjectId, window: &Window, from: ValueId, id: u32) -> Share {
        let Piece { before, len, whole } = self.piece(object, id);
        let ident = self.names.object(object);
        let first = self.signed(&window.stride.times(&Polynomial::symbol(from)));
        let base = self.signed(&window.base);
        let stride = self.signed(&window.stride);
        Share {
            open: quote!(let #whole = #ident.len();),
            pieces: quote! {
                ::stratape::__private::Window::new(
                    &mut #ident[..],
                    (#first).wrapping_add(#base),
                    (#stride) as usize,
                )
            },
            pattern: quote!((#ident, #before)),
            start: quote!(let #len = #ident.len();),
            end: quote!(),
            close: quote!(),
        }
    }

    /// A polynomial that may be negative, or of no use where no iteration asks for it.
    fn signed(&self, polynomial: &Polynomial) -> TokenStream {
        let terms = polynomial.terms().map(|(symbols, factor)| {
            let factor = factor as isize;
            let symbols = symbols.iter().map(|symbol| self.operand(*symbol));
            quote!(.wrapping_add(#factor #(.wrapping_mul(#symbols as isize))*))
        });
        quote!(0_isize #(#terms)*)
    }

    fn copied(&self, object: ObjectId, parts: &Ident, id: u32) -> Share {
        let ident = self.names.object(object);
        let ty = &self.function.objects[object.index()].ty;
        let copies = Ident::new(&format!("{ident}_copies{id}"), Span::mixed_site());
        let name = |text: &str| Ident::new(text, Span::mixed_site());
        let (each, to, from) = (name("each"), name("to"), name("from"));
        let private = quote!(::stratape::__private);
        if is_pooled(ty) {
            let zero = ty.element().map(|item| float_zero(item.scalar().unwrap_or(Scalar::USIZE)));
            return Share {
                open: quote!(let mut #copies = #private::copies(#zero, #ident.len(), #parts);),
                pieces: quote!(#private::PrivateNumbers::new(&mut #ident[..], &mut #copies[..])),
                pattern: quote!(#ident),
                start: quote!(),
                end: quote!(),
                close: quote!(#private::reduce(&mut #ident[..], &#copies[..]);),
            };
        }
        if let Type::Slice(item) | Type::Vec(item) | Type::Array(item, _) = ty {
            let zero = zero_like(item, &quote!(#each), self.sources);
            let add = add(item, &quote!(#to), &quote!(#from), true);
            return Share {
                open: quote! {
                    let mut #copies = ::std::vec::Vec::new();
                    for _ in 1..#parts {
                        #copies.extend(#ident.iter().map(|#each| #zero));
                    }
                },
                pieces: quote!(#private::Private::new(&mut #ident[..], &mut #copies[..])),
                pattern: quote!(#ident),
                start: quote!(),
                end: quote!(),
                close: quote! {
                    for #each in #copies.chunks_exact(#ident.len().max(1)) {
                        for (#to, #from) in #ident.iter_mut().zip(#each) { #add }
                    }
                },
            };
        }
        let zero = zero_like(ty, &quote!(#ident), self.sources);
        let add = add(ty, &quote!(#to), &quote!(#from), true);
        Share {
            open: quote! {
                let mut #copies = ::std::vec::Vec::new();
                for _ in 1..#parts { #copies.push(#zero); }
            },
            pieces: if self.is_behind_reference(object) {
                quote!(#private::Single::new(&mut *#ident, &mut #copies[..]))
            } else {
                quote!(#private::Single::new(&mut #ident, &mut #copies[..]))
            },
            pattern: quote!(#ident),
            start: quote!(),
            end: quote!(),
            close: if self.is_behind_reference(object) {
                quote!(for #from in &#copies { let #to = &mut *#ident; #add })
            } else {
                quote!(for #from in &#copies { let #to = &mut #ident; #add })
            },
        }
    }

    /// A sum that starts from zero in each part.
    fn partial(&self, sum: &Carried, parts: &Ident) -> Share {
        let ident = self.names.value(sum.inside);
        let zero = float_zero(self.function.ty(sum.inside));
        let name = |text: &str| Ident::new(&format!("{ident}_{text}"), Span::mixed_site());
        let (partial, own, each) = (name("partial"), name("own"), name("each"));
        let init = self.operand(sum.init);
        Share {
            open: quote! {
                let mut #partial = ::stratape::__private::Buffer::filled(#zero, #parts);
            },
            pieces: quote!(::stratape::__private::Each(&mut #partial[..])),
            pattern: quote!(#own),
            start: quote!(),
            end: quote!(#own[0] = #ident;),
            close: quote! {
                let mut #ident = #init;
                for #each in #partial.iter() { #ident += *#each; }
            },
        }
    }
}

/// Adds what one place holds to another, float by float. `behind`: both are behind references.
fn add(ty: &Type, to: &TokenStream, from: &TokenStream, behind: bool) -> TokenStream {
    match ty {
        Type::Scalar(Scalar::Float(_)) if behind => quote!(*#to += *#from;),
        Type::Scalar(Scalar::Float(_)) => quote!(#to += #from;),
        Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) if item.has_float() => {
            let k = Ident::new("k", Span::mixed_site());
            let inner = add(item, &quote!(#to[#k]), &quote!(#from[#k]), false);
            quote!(for #k in 0..#from.len() { #inner })
        }
        Type::Tuple(items) => {
            let items = items.iter().enumerate().map(|(index, ty)| {
                let member = member(&index.to_string());
                add(ty, &quote!(#to.#member), &quote!(#from.#member), false)
            });
            quote!(#(#items)*)
        }
        Type::Struct(def) => {
            let items = def.fields.iter().map(|(name, ty)| {
                let member = member(name);
                add(ty, &quote!(#to.#member), &quote!(#from.#member), false)
            });
            quote!(#(#items)*)
        }
        _ => quote!(),
    }
}
