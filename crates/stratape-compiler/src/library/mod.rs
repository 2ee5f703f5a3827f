//! Types of other crates that the compiler knows by heart.
//!
//! A text in the language of the front end stands for each of these crates: structs with the fields that emitted code can name, and methods that
//! compute what the crate's own compute. Whoever names such a type gets the text beside the items of its module, under names of its own, and
//! its methods and operators are expanded like any others.
//!
//! Which names are meant is read off paths and `use` lines ([`Imports`]), which is a guess: a module may have a type of that name from elsewhere. What is emitted
//! therefore says that the type as it was written is the crate's, and rustc checks it (`Adopted::check`). Nothing of these crates is needed to
//! build the compiler.

mod declaration;
mod dense;
mod macros;
mod nalgebra;
mod ndarray;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use stratape_ir::Type;
use syn::{Item, Path, UseTree};

use crate::front::is_of_kernels;

use self::declaration::{Declaration, declared};
pub(crate) use self::macros::{expanded, is_macro, pieces, question, sliced};

/// A crate, and the text that stands for it.
struct Library {
    /// What it is called in paths.
    crates: &'static [&'static str],
    text: fn() -> String,
    /// Its macros that are expanded.
    macros: &'static [&'static str],
    /// What follows the names of its items.
    mark: &'static str,
    /// The module of the crate that has them, where others have items of the same names.
    module: Option<&'static str>,
}

/// What follows the names of arrays of `ndarray`.
const ARRAYS: &str = "__at00000000000000d2";

/// What follows the names of devices and buffers.
const DEVICES: &str = "__at00000000000000e1";

const LIBRARIES: [Library; 4] = [
    Library {
        crates: &["stratape"],
        text: || include_str!("gpu.rs.txt").to_owned(),
        macros: &[],
        mark: DEVICES,
        module: Some("gpu"),
    },
    Library {
        crates: &["num_complex", "num", "nalgebra", "na"],
        text: || include_str!("complex.rs.txt").to_owned(),
        macros: &[],
        mark: "__at00000000000000c0",
        module: None,
    },
    Library {
        crates: &["nalgebra", "na"],
        text: nalgebra::text,
        macros: &macros::NALGEBRA,
        mark: "__at00000000000000a1",
        module: None,
    },
    Library {
        crates: &["ndarray", "nd"],
        text: ndarray::text,
        macros: &macros::NDARRAY,
        mark: ARRAYS,
        module: None,
    },
];

impl Library {
    /// The items of the text, under names of their own.
    fn items(&self) -> Vec<Item> {
        let Ok(tokens) = (self.text)().parse::<TokenStream>() else { return Vec::new() };
        let names = self.declarations(|known| known.iter().map(|one| one.name.clone()).collect());
        let renamed = syn::parse2::<syn::File>(self.renamed(tokens, &names));
        renamed.map(|file| file.items).unwrap_or_default()
    }

    fn renamed(&self, tokens: TokenStream, names: &HashSet<String>) -> TokenStream {
        let rename = |token| match token {
            TokenTree::Ident(ident) if names.contains(&ident.to_string()) => {
                TokenTree::Ident(format_ident!("{ident}{}", self.mark))
            }
            TokenTree::Group(group) => {
                let inner = self.renamed(group.stream(), names);
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            other => other,
        };
        tokens.into_iter().map(rename).collect()
    }

    /// The arguments that the public item of a name takes; nothing in them for a function.
    fn arguments(&self, name: &str) -> Option<Option<String>> {
        self.declarations(|known| {
            // Of two items of a name, a type and a function, the one that is declared last.
            let named = known.iter().rev().find(|one| one.is_public && one.name == name);
            named.map(|one| one.arguments.clone())
        })
    }

    /// What `f` finds in the declarations of the text. It is read once for all calls: it is long, and most functions do not need the items themselves.
    fn declarations<T>(&self, f: impl FnOnce(&[Declaration]) -> T) -> T {
        thread_local! {
            static KNOWN: RefCell<HashMap<&'static str, Vec<Declaration>>> = RefCell::default();
        }
        KNOWN.with_borrow_mut(|known| {
            f(known.entry(self.mark).or_insert_with(|| {
                let file = syn::parse_str::<syn::File>(&(self.text)());
                file.map(|file| file.items.iter().filter_map(Declaration::of).collect())
                    .unwrap_or_default()
            }))
        })
    }
}

/// A type of a crate that the compiler knows, as someone named it.
#[derive(Clone, Debug)]
pub struct Adopted {
    /// Its path from the crate on.
    path: Path,
    /// Its name in the text.
    id: Ident,
    /// What a use of it needs in angle brackets; nothing for a function or macro.
    arguments: Option<TokenStream>,
    is_macro: bool,
}

impl Adopted {
    /// What a path from a crate on names, if the compiler knows it.
    pub fn of(path: &Path) -> Option<Self> {
        let names: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        Self::named(&names)
    }

    fn named(names: &[String]) -> Option<Self> {
        let is_macro = macros::is_question(names);
        let names = &names[..names.len() - usize::from(is_macro)];
        let (first, last) = (names.first()?, names.last()?);
        let within = |one: &&Library| match one.module {
            Some(module) => names.len() == 3 && names[1] == module,
            None => true,
        };
        let mut known =
            LIBRARIES.iter().filter(|one| one.crates.contains(&first.as_str())).filter(within);
        let (library, arguments) = known.find_map(|one| {
            if is_macro {
                return one.macros.contains(&last.as_str()).then_some((one, None));
            }
            Some((one, one.arguments(last)?))
        })?;
        let arguments = arguments.and_then(|arguments| arguments.parse().ok());
        let path = syn::parse_str(&format!("::{}", names.join("::"))).ok()?;
        Some(Self { path, id: format_ident!("{last}{}", library.mark), arguments, is_macro })
    }

    /// Its name in the text that stands for the crate.
    pub(crate) fn id(&self) -> &Ident {
        &self.id
    }

    /// Whether it is a device, a buffer, or something of theirs.
    pub(crate) fn is_of_devices(&self) -> bool {
        self.id.to_string().ends_with(DEVICES)
    }

    /// The path by which it is found again.
    pub(crate) fn path(&self) -> Path {
        if self.is_macro { question(&self.path) } else { self.path.clone() }
    }

    /// A statement that rustc refuses where a type as it is written is not this one.
    pub(crate) fn check(&self, written: &Path) -> Option<TokenStream> {
        let (path, arguments) = (&self.path, self.arguments.as_ref()?);
        Some(quote!(const _: fn(#written #arguments) -> #path #arguments = |same| same;))
    }

    /// Tokens in which names of the text are those of the crate.
    pub(crate) fn spelled(&self, tokens: TokenStream) -> TokenStream {
        let Some(mark) =
            LIBRARIES.iter().map(|one| one.mark).find(|mark| self.id.to_string().ends_with(mark))
        else {
            return tokens;
        };
        let spell = |token| match token {
            TokenTree::Ident(ident) if ident.to_string().ends_with(mark) => {
                let mut path = self.path.clone();
                if let Some(last) = path.segments.last_mut() {
                    let name = ident.to_string();
                    last.ident = Ident::new(name.trim_end_matches(mark), Span::call_site());
                }
                quote!(#path)
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), self.spelled(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner).into()
            }
            other => other.into(),
        };
        tokens.into_iter().map(spell).collect()
    }

    /// Imports of the types that emitted code names: those of the text that stand beside this one in its crate.
    pub(crate) fn imports(&self, emitted: &str) -> TokenStream {
        let id = self.id.to_string();
        let mut imports = TokenStream::new();
        for library in LIBRARIES.iter().filter(|one| id.ends_with(one.mark)) {
            let types = library.declarations(|known| {
                let types = known.iter().filter(|one| one.is_public && one.is_type);
                types.map(|one| one.name.clone()).collect::<Vec<_>>()
            });
            for name in types {
                let id = format!("{name}{}", library.mark);
                if emitted.contains(&id) {
                    let mut path = self.path.clone();
                    if let Some(last) = path.segments.last_mut() {
                        last.ident = Ident::new(&name, Span::call_site());
                    }
                    let id = Ident::new(&id, Span::call_site());
                    imports.extend(quote!(#[allow(unused_imports)] use #path as #id;));
                }
            }
        }
        imports
    }
}

/// The function of a struct that makes it of its only field, where that field is not all it has.
pub(crate) fn made_by(name: &str) -> Option<Ident> {
    let known = name.split("::<").next().unwrap_or(name);
    let makes = known.strip_prefix("SMatrix").is_some_and(is_known);
    makes.then(|| Ident::new("from_array_storage", Span::call_site()))
}

/// A type whose size is known when the program runs, and whose fields cannot be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dynamic {
    /// `nalgebra::DVector`
    Vector,
    /// `nalgebra::DMatrix`
    Matrix,
    /// `ndarray::Array1`
    Array1,
    /// `ndarray::Array2`
    Array2,
}

impl Dynamic {
    pub(crate) fn dimensions(self) -> usize {
        match self {
            Self::Vector | Self::Array1 => 1,
            Self::Matrix | Self::Array2 => 2,
        }
    }
}

/// Which of these a type is.
pub(crate) fn dynamic(ty: &Type) -> Option<Dynamic> {
    let Type::Struct(def) = ty else { return None };
    let name = def.name.split("::<").next().unwrap_or(&def.name);
    let (known, mark) = name.split_at_checked(name.find("__at")?)?;
    match known {
        _ if !is_known(mark) => None,
        "DVector" => Some(Dynamic::Vector),
        "DMatrix" => Some(Dynamic::Matrix),
        "Array1" => Some(Dynamic::Array1),
        "Array2" => Some(Dynamic::Array2),
        _ => None,
    }
}

/// Whether one of these is inside a type.
pub(crate) fn holds_dynamic(ty: &Type) -> bool {
    let inside = |ty: &Type| dynamic(ty).is_some() || holds_dynamic(ty);
    match ty {
        Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => inside(item),
        Type::Tuple(items) => items.iter().any(inside),
        Type::Struct(def) => def.fields.iter().any(|(_, ty)| inside(ty)),
        Type::Scalar(_) | Type::Enum(_) => false,
    }
}

/// The type of a view of an array that can be written to.
pub(crate) fn exclusive_view(ty: &Type) -> Option<TokenStream> {
    let Type::Struct(def) = ty else { return None };
    let item = def.fields.first()?.1.element()?.to_string().parse::<TokenStream>().ok()?;
    let view = match dynamic(ty)? {
        Dynamic::Array1 => format_ident!("ArrayViewMut1{ARRAYS}"),
        Dynamic::Array2 => format_ident!("ArrayViewMut2{ARRAYS}"),
        _ => return None,
    };
    Some(quote!(#view<'_, #item>))
}

/// What to write in place of a method that the texts do not have.
pub(crate) fn instead_of(method: &str) -> &'static str {
    const ITERATED: [&str; 8] = [
        "svd",
        "symmetric_eigen",
        "symmetric_eigenvalues",
        "eigenvalues",
        "complex_eigenvalues",
        "schur",
        "singular_values",
        "hessenberg",
    ];
    match method {
        _ if ITERATED.contains(&method) => {
            "use `cholesky`, `lu` or `try_inverse` if possible, or call it in a function with a `#[stratape::pullback]`, which gives its derivative in closed form"
        }
        "slice" | "slice_mut" | "slice_move" => {
            "write `s![…]` as its argument, with at least one range and with literal steps, which must be positive in a slice that is written to"
        }
        "into_shape" => "use `to_shape`, which goes by rows whatever the layout",
        _ if method.starts_with("par_") => {
            "write it without `par_`, and put `#[parallel]` on the loop or `#[gradient(parallel)]` on the function: the gradient then runs its iterations on rayon"
        }
        _ => {
            "write it out in terms of those in docs/accepted.md, or call it in a function with a `#[stratape::pullback]`"
        }
    }
}

/// What a type of the texts is to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDevice {
    Device,
    Stream,
    Buffer,
    Grid,
}

/// Which of these a type's name is.
pub(crate) fn on_device(name: &str) -> Option<OnDevice> {
    let name = name.split("::<").next().unwrap_or(name);
    match name.strip_suffix(DEVICES)? {
        "Device" => Some(OnDevice::Device),
        "Stream" => Some(OnDevice::Stream),
        "Buffer" => Some(OnDevice::Buffer),
        "Grid" => Some(OnDevice::Grid),
        _ => None,
    }
}

/// Whether devices are named somewhere.
pub(crate) fn names_devices(tokens: &TokenStream) -> bool {
    mentions(tokens.clone(), DEVICES)
}

/// Whether a word ends with a mark.
fn mentions(tokens: TokenStream, mark: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident.to_string().ends_with(mark),
        TokenTree::Group(group) => mentions(group.stream(), mark),
        _ => false,
    })
}

/// Whether a name is one of the texts'.
pub(crate) fn is_known(name: &str) -> bool {
    LIBRARIES.iter().any(|library| name.ends_with(library.mark))
}

/// The items of the crates that some items name.
pub(crate) fn items_named_in(items: &[Item]) -> Vec<Item> {
    let named = |library: &&Library| {
        let mut tokens = items.iter().map(|item| quote!(#item));
        tokens.any(|tokens| mentions(tokens, library.mark))
    };
    LIBRARIES.iter().filter(named).flat_map(Library::items).collect()
}

/// What the names of a module stand for, as far as its `use` lines tell. Names are texts: a macro may keep them beyond one call.
#[derive(Clone, Debug, Default)]
pub struct Imports {
    names: HashMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Items of the module: they come first.
    own: HashSet<String>,
    own_macros: HashSet<String>,
}

impl Imports {
    /// The imports of a module with these items.
    pub fn of(items: &[Item]) -> Self {
        let mut imports = Self::default();
        for item in items {
            match item {
                Item::Use(item) => imports.add(&item.tree, &mut Vec::new()),
                Item::Mod(item) => drop(imports.own.insert(item.ident.to_string())),
                Item::Macro(item) => {
                    imports.own_macros.extend(item.ident.as_ref().map(ToString::to_string));
                }
                item => imports.own.extend(declared(item).map(|(name, _)| name.to_string())),
            }
        }
        imports
    }

    fn add(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        let whole = |last: &Ident| {
            let last = Some(last.to_string()).filter(|last| last != "self");
            before.iter().cloned().chain(last).collect::<Vec<String>>()
        };
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.add(&path.tree, before);
                before.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add(tree, before)),
            UseTree::Name(name) => {
                let path = whole(&name.ident);
                path.last().cloned().map(|name| self.names.insert(name, path));
            }
            UseTree::Rename(rename) => {
                self.names.insert(rename.rename.to_string(), whole(&rename.ident));
            }
            UseTree::Glob(_) => self.globs.push(before.clone()),
        }
    }

    /// The imports of a module inside another, which it may import whole.
    pub(crate) fn within(mut self, around: Option<&Self>) -> Self {
        if let (true, Some(around)) = (self.sees_parent(), around) {
            for (name, path) in &around.names {
                self.names.entry(name.clone()).or_insert_with(|| path.clone());
            }
            self.globs.extend(around.globs.iter().cloned());
        }
        self
    }

    /// The whole path of a name that the module imports.
    pub fn path_of(&self, name: &str) -> Option<String> {
        self.names.get(name).map(|path| path.join("::"))
    }

    /// What the module imports everything of, if it does so once.
    pub fn only_glob(&self) -> Option<String> {
        match &self.globs[..] {
            [glob] => Some(glob.join("::")),
            _ => None,
        }
    }

    /// Whether the module imports all of the one around it.
    pub fn sees_parent(&self) -> bool {
        self.globs.iter().any(|glob| glob == &["super"])
    }

    /// What a path names in the module, if it is a type that the compiler knows.
    pub fn find(&self, path: &Path) -> Option<Adopted> {
        let written: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let first = written.first()?;
        if path.leading_colon.is_some() {
            return Adopted::named(&written);
        }
        let is_macro = macros::is_question(&written);
        let alone = written.len() - usize::from(is_macro) == 1;
        let own = if is_macro && alone { &self.own_macros } else { &self.own };
        if own.contains(first) {
            return None;
        }
        let whole = self.whole(written.clone());
        if whole != written {
            return Adopted::named(&whole);
        }
        if !alone {
            return Adopted::named(&written);
        }
        let globs = self.globs.iter().map(|glob| self.whole(glob.clone()));
        globs.into_iter().find_map(|glob| Adopted::named(&[&glob[..], &written].concat()))
    }

    /// What to tell someone who names a type or function of a crate that the compiler knows, which it does not know.
    pub fn stranger(&self, path: &Path) -> Option<String> {
        let written: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let own = path.leading_colon.is_none() && self.own.contains(written.first()?);
        let whole = self.whole(written);
        let (of, name) = (whole.first()?, whole.last()?);
        // Kernels call what is not here.
        if let [first, module, name] = &whole[..]
            && !is_of_kernels(name)
            && first == "stratape"
            && module == "gpu"
            && !own
            && self.find(path).is_none()
        {
            return Some(format!(
                "the compiler does not know `{name}` of `stratape::gpu` in functions of the host: use the functions in the table of host functions of docs/gpu.md, a kernel, or an \
                 `#[stratape::elementwise]` function, or call it in a function with a `#[stratape::pullback]`"
            ));
        }
        let known = ["nalgebra", "ndarray", "num_complex", "mpi"].contains(&of.as_str());
        if own || !known || whole.len() < 2 || self.find(path).is_some() {
            return None;
        }
        let turns = ["Rotation", "Quaternion", "Isometry", "Unit", "Similarity", "Transform"];
        let instead = if of == "mpi" {
            "pass a `stratape_mpi::Comm`, which is made beside it with `Comm::new`, and call the functions of `stratape_mpi`"
        } else if turns.iter().any(|turn| name.contains(turn)) {
            "write it as a matrix, and a translation as a vector"
        } else {
            "use the types in docs/accepted.md, or call it in a function with a `#[stratape::pullback]`"
        };
        Some(format!("the compiler does not know `{name}` of `{of}`: {instead}"))
    }

    /// A path whose first name is not imported itself: `use nalgebra as na; use na::Matrix2;` is seen through.
    fn whole(&self, mut path: Vec<String>) -> Vec<String> {
        for _ in 0..=self.names.len() {
            match path.first().and_then(|first| self.names.get(first)) {
                Some(before) if before[..] != path[..1] => {
                    path = [before, &path[1..]].concat();
                }
                _ => break,
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(uses: &str, path: &str) -> Option<String> {
        let file: syn::File = syn::parse_str(uses).unwrap();
        let adopted = Imports::of(&file.items).find(&syn::parse_str(path).unwrap())?;
        let path = adopted.path();
        Some(quote!(#path).to_string().replace(' ', ""))
    }

    #[test]
    fn communicators_of_others_are_refused_with_ours() {
        let file: syn::File = syn::parse_str("use mpi::topology::SimpleCommunicator;").unwrap();
        let told = |path: &str| Imports::of(&file.items).stranger(&syn::parse_str(path).unwrap());
        assert!(told("SimpleCommunicator").unwrap().contains("stratape_mpi::Comm"));
        assert!(told("mpi::topology::CartesianCommunicator").is_some());
        assert!(told("crate::mpi::Comm").is_none());
        assert!(told("stratape_mpi::Comm").is_none());
    }

    #[test]
    fn texts_can_be_read() {
        for library in LIBRARIES {
            assert!(!library.items().is_empty(), "{:?}", library.crates);
        }
    }

    #[test]
    fn names_mean_what_is_imported() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(found("use num_complex::Complex;", "Complex"), some("::num_complex::Complex"));
        assert_eq!(
            found("use num::complex::{self, Complex as C};", "C"),
            some("::num::complex::Complex")
        );
        assert_eq!(
            found("use num::complex;", "complex::Complex64"),
            some("::num::complex::Complex64")
        );
        assert_eq!(found("use num_complex::*;", "Complex32"), some("::num_complex::Complex32"));
        assert_eq!(found("", "num_complex::Complex"), some("::num_complex::Complex"));
        assert_eq!(found("use mine::Complex;", "Complex"), None);
        assert_eq!(found("struct Complex; use num_complex::*;", "Complex"), None);
        assert_eq!(found("", "Complex"), None);
        let renamed = "use nalgebra as na; use na::Matrix2; use na::*;";
        for name in ["Matrix2", "na::Matrix2"] {
            assert_eq!(found(renamed, name), some("::nalgebra::Matrix2"));
        }
        assert_eq!(found(renamed, "Vector3"), some("::nalgebra::Vector3"));
        assert_eq!(found("use ndarray::*; fn s() {}", "s::__macro"), some("::ndarray::s::__macro"));
        assert_eq!(found("use ndarray::*; macro_rules! s {}", "s::__macro"), None);
    }
}
