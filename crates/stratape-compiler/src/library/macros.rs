//! Macros of crates that the compiler knows by heart: what they stand for in the language of the front end.
//!
//! Like types they are found by paths and `use` lines: `array!` asks for what [`question`] makes of its path, so that a function of that name is another thing.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Path, Token};

pub(super) const NDARRAY: [&str; 4] = ["array", "s", "concatenate", "stack"];
pub(super) const NALGEBRA: [&str; 5] = ["vector", "matrix", "dvector", "dmatrix", "point"];

/// What follows the path of a macro where it is asked for.
const MACRO: &str = "__macro";

/// Whether a macro may be one of these.
pub(crate) fn is_macro(path: &Path) -> bool {
    path.segments
        .last()
        .is_some_and(|last| NDARRAY.iter().chain(&NALGEBRA).any(|known| last.ident == known))
}

/// The path under which a macro is asked for.
pub(crate) fn question(path: &Path) -> Path {
    let mut asked = path.clone();
    asked.segments.push(format_ident!("{MACRO}").into());
    asked
}

pub(super) fn is_question(names: &[String]) -> bool {
    names.last().is_some_and(|last| last == MACRO)
}

/// The expressions in a macro, each with the punctuation after it.
pub(crate) fn pieces(tokens: TokenStream) -> Option<Vec<(Expr, Option<char>)>> {
    let parser = |input: ParseStream<'_>| {
        let mut pieces = Vec::new();
        while !input.is_empty() {
            let expr = input.parse()?;
            let after = if input.parse::<Option<Token![,]>>()?.is_some() {
                Some(',')
            } else if input.is_empty() {
                None
            } else {
                input.parse::<Token![;]>()?;
                Some(';')
            };
            pieces.push((expr, after));
        }
        Ok(pieces)
    };
    parser.parse2(tokens).ok()
}

/// The pieces between commas or semicolons.
fn groups(pieces: Vec<(Expr, Option<char>)>, end: char) -> Vec<Vec<Expr>> {
    let mut groups = vec![Vec::new()];
    for (expr, after) in pieces {
        if let Some(last) = groups.last_mut() {
            last.push(expr);
        }
        if after == Some(end) {
            groups.push(Vec::new());
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// What a macro stands for that was found under a name; nothing where it says what the front end does not read.
pub(crate) fn expanded(found: &Ident, tokens: TokenStream) -> Option<Expr> {
    let found = found.to_string();
    let (name, mark) = found.split_at_checked(found.find("__at")?)?;
    let of = |name: &str| format_ident!("{name}{mark}");
    let pieces = pieces(tokens)?;
    let all = || pieces.iter().map(|(expr, _)| expr);
    let tokens = match name {
        "array" => {
            let rows = all().all(|row| matches!(row, Expr::Array(_)));
            let (one, two, all) = (of("Array1"), of("Array2"), all());
            match rows && !pieces.is_empty() {
                true => quote!(#two::from_rows(&[#(#all),*])),
                false => quote!(#one::from_vec(vec![#(#all),*])),
            }
        }
        "concatenate" | "stack" => {
            let (axis, first) = (&pieces.first()?.0, &pieces.get(1)?.0);
            let method = if name == "stack" { "stacked_on" } else { "joined_to" };
            let method = format_ident!("{method}");
            let mut joined = match name {
                "stack" => quote!((#first).as_layer(#axis)),
                _ => quote!((#first).to_owned()),
            };
            for (next, _) in &pieces[2..] {
                joined = quote!(#joined.#method(&(#next), #axis));
            }
            joined
        }
        "vector" => {
            let (matrix, all, len) = (of("SMatrix"), all(), pieces.len());
            quote!(#matrix::<_, #len, 1>::of_columns([[#(#all),*]]))
        }
        "point" => {
            let (point, matrix, all, len) = (of("Point"), of("SMatrix"), all(), pieces.len());
            quote!(#point { coords: #matrix::<_, #len, 1>::of_columns([[#(#all),*]]) })
        }
        "dvector" => {
            let (vector, all) = (of("DVector"), all());
            quote!(#vector::from_vec(vec![#(#all),*]))
        }
        "matrix" | "dmatrix" => {
            let rows = groups(pieces, ';');
            let (height, width) = (rows.len(), rows.first()?.len());
            if rows.iter().any(|row| row.len() != width) {
                return None;
            }
            if name == "dmatrix" {
                let (matrix, all) = (of("DMatrix"), rows.iter().flatten());
                quote!(#matrix::from_row_slice(#height, #width, &[#(#all),*]))
            } else {
                let columns = (0..width).map(|column| {
                    let column = rows.iter().map(|row| &row[column]);
                    quote!([#(#column),*])
                });
                let matrix = of("SMatrix");
                quote!(#matrix::<_, #height, #width>::of_columns([#(#columns),*]))
            }
        }
        _ => return None,
    };
    syn::parse2(tokens).ok()
}

/// One place of `s![…]`.
enum Place {
    /// `i`: the axis is gone.
    Index(Expr),
    /// `a..b`, `a..b;2`
    Range { start: TokenStream, end: TokenStream, step: usize, back: bool },
    /// `NewAxis`
    New,
}

impl Place {
    fn of(group: &[Expr], mark: &str) -> Option<Self> {
        let (range, step) = match group {
            [Expr::Path(path)]
                if path.path.segments.last()?.ident.to_string().starts_with("NewAxis") =>
            {
                return Some(Self::New);
            }
            [Expr::Range(range)] => (range, 1),
            [Expr::Range(range), step] => (range, integer(step)?),
            [index] => return Some(Self::Index(index.clone())),
            _ => return None,
        };
        let start = match &range.start {
            Some(start) => end_of(start, mark),
            None => quote!(0),
        };
        let open = format_ident!("End{mark}");
        let open = quote!(#open { back: 0 });
        let end = match (&range.end, &range.limits) {
            (None, _) => open,
            (Some(end), syn::RangeLimits::HalfOpen(_)) => end_of(end, mark),
            (Some(end), syn::RangeLimits::Closed(_)) => match integer(end) {
                Some(last) if last < -1 => {
                    end_of(&syn::parse_str(&(last + 1).to_string()).ok()?, mark)
                }
                Some(-1) => open,
                _ => quote!((#end) + 1),
            },
        };
        let size = usize::try_from(step.unsigned_abs()).ok().filter(|size| *size > 0)?;
        Some(Self::Range { start, end, step: size, back: step < 0 })
    }
}

/// An end of a range, which may be counted from the end of the axis.
fn end_of(expr: &Expr, mark: &str) -> TokenStream {
    match integer(expr) {
        Some(back) if back < 0 => {
            let open = format_ident!("ToEnd{mark}");
            let back = proc_macro2::Literal::i64_unsuffixed(-back);
            quote!(#open { back: #back })
        }
        _ => expr.to_token_stream(),
    }
}

/// A literal, perhaps after a sign.
fn integer(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(lit), .. }) => lit.base10_parse().ok(),
        Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => {
            integer(expr).map(|number: i64| -number)
        }
        Expr::Paren(inner) => integer(&inner.expr),
        Expr::Group(inner) => integer(&inner.expr),
        _ => None,
    }
}

/// `x.slice(s![…])` and its like, where `s!` was found under a name: one argument for each number in it, and a method for each kind of slice.
pub(crate) fn sliced(
    call: &syn::ExprMethodCall,
    found: &Ident,
    tokens: TokenStream,
) -> Option<Expr> {
    let found = found.to_string();
    let (name, mark) = found.split_at_checked(found.find("__at")?)?;
    let (kept, changes) = match call.method.to_string().as_str() {
        "slice" | "slice_move" => ("slice", false),
        "slice_mut" => ("slice_mut", true),
        _ => return None,
    };
    if name != "s" {
        return None;
    }
    let places: Option<Vec<Place>> =
        groups(pieces(tokens)?, ',').iter().map(|group| Place::of(group, mark)).collect();
    let places = places?;
    let mut method = kept.to_owned();
    let (mut arguments, mut after) = (Vec::new(), TokenStream::new());
    let stepped =
        |place: &Place| matches!(place, Place::Range { step, back, .. } if *step > 1 && !*back);
    let axes = places.iter().filter(|place| !matches!(place, Place::New)).count();
    // Rows of one axis lie side by side, unless some are left out.
    let plain = axes == 1 && !places.iter().any(stepped);
    method.push('_');
    let mut axis: usize = 0;
    for place in &places {
        match place {
            Place::Index(index) => {
                method.push('i');
                arguments.push(end_of(index, mark));
                continue;
            }
            Place::Range { start, end, step, back } => {
                method.push('r');
                arguments.extend([start.clone(), end.clone()]);
                let now = if *back { 1 } else { *step };
                if !plain {
                    arguments.push(now.to_token_stream());
                }
                if *back {
                    let axis_name = format_ident!("Axis{mark}");
                    after.extend(quote!(.turned(#axis_name(#axis), #step)));
                }
            }
            Place::New => {
                let axis_name = format_ident!("Axis{mark}");
                after.extend(quote!(.insert_axis(#axis_name(#axis))));
            }
        }
        axis += 1;
    }
    let ranges = places.iter().any(|place| matches!(place, Place::Range { .. }));
    if !ranges || changes && !after.is_empty() {
        return None;
    }
    if axes == 1 && !plain {
        method.push('s');
    }
    let (receiver, method) = (&call.receiver, Ident::new(&method, call.method.span()));
    syn::parse2(quote!(#receiver.#method(#(#arguments),*)#after)).ok()
}
