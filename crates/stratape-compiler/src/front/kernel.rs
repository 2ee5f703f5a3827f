//! What kernels can call: indices of threads, barriers, shared memory, atomic operations, and exchanges inside a warp.
//!
//! They are functions of `stratape::gpu`; in a kernel or a device function they need no path ([`with_paths`]).

use std::sync::Arc;

use crate::walk::visit_mut::{self, VisitMut};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::control::lv_of;
use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{
    Atomic, AtomicOp, Axis, Barrier, Builtin, Exchange, Extent, Init, Op, Origin, Scalar, Shuffle,
    Stmt, Struct, Type, ValueId,
};

/// The functions.
const NAMES: [&str; 15] = [
    "thread_idx",
    "block_idx",
    "block_dim",
    "grid_dim",
    "warp_size",
    "sync_threads",
    "shared",
    "dynamic_shared",
    "atomic_add",
    "atomic_min",
    "atomic_max",
    "block_add",
    "shuffle_down",
    "shuffle_up",
    "shuffle_xor",
];

/// Gives calls of the functions above, where they are named alone, their paths.
pub(crate) fn with_paths(function: &mut syn::ItemFn) {
    struct Paths;
    impl VisitMut<'_> for Paths {
        fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
            visit_mut::visit_expr_call_mut(self, call);
            if let syn::Expr::Path(path) = &mut *call.func
                && let [only] = &path.path.segments.iter().cloned().collect::<Vec<_>>()[..]
                && NAMES.iter().any(|name| only.ident == name)
            {
                let span = only.ident.span();
                let mut whole: syn::Path = syn::parse_quote_spanned!(span=> ::stratape::gpu);
                whole.segments.push(only.clone());
                path.path = whole;
            }
        }
    }
    Paths.visit_block_mut(&mut function.block);
}

/// Whether a function of `stratape::gpu` is one of those.
pub(crate) fn is_of_kernels(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The name of a function of `stratape::gpu`.
fn builtin(path: &syn::Path) -> Option<&'static str> {
    let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
    match &names[..] {
        [root, module, name] if root == "stratape" && module == "gpu" => {
            NAMES.into_iter().find(|known| known == name)
        }
        _ => None,
    }
}

impl Lowerer<'_> {
    /// A call of a function that only kernels have, if it is one.
    pub(super) fn kernel_call(
        &mut self,
        path: &syn::ExprPath,
        args: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let Some(name) = builtin(&path.path) else { return Ok(None) };
        if !self.b.function.kernel {
            return Err(Error::new(
                path.span(),
                format!(
                    "`{name}` means something in kernels only: put `#[stratape::kernel]` on the function, or call it from one"
                ),
            ));
        }
        let coordinates = |me: &mut Self, make: fn(Axis) -> Builtin| {
            let part = |axis| Val::Scalar(me.b.emit(Op::Builtin(make(axis)), Scalar::USIZE, span));
            let parts = Axis::ALL.into_iter().map(part).collect();
            Val::Parts(Kind::Struct(dim3()), parts)
        };
        let val = match (name, args) {
            ("thread_idx", []) => coordinates(self, Builtin::ThreadIdx),
            ("block_idx", []) => coordinates(self, Builtin::BlockIdx),
            ("block_dim", []) => coordinates(self, Builtin::BlockDim),
            ("grid_dim", []) => coordinates(self, Builtin::GridDim),
            ("warp_size", []) => {
                Val::Scalar(self.b.emit(Op::Builtin(Builtin::WarpSize), Scalar::USIZE, span))
            }
            ("sync_threads", []) => {
                let span = self.b.at(span);
                self.b.node(Stmt::Barrier(Box::new(Barrier { places: Vec::new(), span })));
                Val::Unit
            }
            ("shared", []) => self.shared_array(path, span)?,
            ("dynamic_shared", [len]) => {
                let len = self.scalar(len.clone(), span)?;
                self.expect(len, Scalar::USIZE, span)?;
                self.dynamic_shared(path, len, span)?
            }
            ("atomic_add", [place, value]) => self.atomic(AtomicOp::Add, place, value, span)?,
            ("atomic_min", [place, value]) => self.atomic(AtomicOp::Min, place, value, span)?,
            ("atomic_max", [place, value]) => self.atomic(AtomicOp::Max, place, value, span)?,
            ("block_add", [place, value]) => {
                self.atomic(AtomicOp::Add, place, value, span)?;
                self.b.combine_in_block();
                Val::Unit
            }
            ("shuffle_down", [value, by]) => self.shuffle(Exchange::Down, value, by, span)?,
            ("shuffle_up", [value, by]) => self.shuffle(Exchange::Up, value, by, span)?,
            ("shuffle_xor", [value, by]) => self.shuffle(Exchange::Xor, value, by, span)?,
            _ => return Err(Error::new(span, format!("`{name}` takes other arguments"))),
        };
        Ok(Some(val))
    }

    /// The type in `shared::<T>()`.
    pub(super) fn written_for(&self, path: &syn::ExprPath, example: &str) -> Result<Type> {
        let arguments = path.path.segments.last().map(|segment| &segment.arguments);
        if let Some(syn::PathArguments::AngleBracketed(arguments)) = arguments
            && let [syn::GenericArgument::Type(ty)] =
                &arguments.args.iter().cloned().collect::<Vec<_>>()[..]
        {
            return Ok(self.module.read_type(ty)?.ty);
        }
        Err(Error::new(path.span(), format!("write what is shared, as in `{example}`")))
    }

    fn shared_array(&mut self, path: &syn::ExprPath, span: Span) -> Result<Val> {
        let ty = self.written_for(path, "shared::<[f64; 256]>()")?;
        let known = |mut ty: &Type| loop {
            match ty {
                Type::Array(item, Extent::Known(_) | Extent::Const(_)) => ty = item,
                Type::Scalar(_) => return true,
                _ => return false,
            }
        };
        if !matches!(ty, Type::Array(..)) || !known(&ty) {
            return Err(unsupported(
                span,
                "shared memory of this type",
                "share an array of numbers, as in `shared::<[f64; 256]>()`, or `dynamic_shared::<f64>(n)`",
            ));
        }
        let init = self.zero_init(&ty, span)?;
        self.shared_object(ty, init, span)
    }

    fn dynamic_shared(&mut self, path: &syn::ExprPath, len: ValueId, span: Span) -> Result<Val> {
        let item = self.written_for(path, "dynamic_shared::<f64>(n)")?;
        if !matches!(item, Type::Scalar(_)) {
            return Err(unsupported(
                span,
                "dynamic shared memory of this type",
                "share numbers, as in `dynamic_shared::<f64>(n)`",
            ));
        }
        let init = Init::Repeat(Box::new(self.zero_init(&item, span)?), len);
        self.shared_object(Type::Vec(Box::new(item)), init, span)
    }

    fn shared_object(&mut self, ty: Type, init: Init, span: Span) -> Result<Val> {
        if self.b.depth() > 1 {
            return Err(unsupported(
                span,
                "shared memory inside a loop or a branch",
                "make it at the top of the kernel, before any branch or `return`",
            ));
        }
        let val = self.new_array(ty, init, span);
        if let Val::Place(LValue::Memory(memory)) = &val {
            let object = memory.place.object;
            self.b.function.shared.insert(object);
            self.b.function.unfilled.insert(object);
        }
        Ok(val)
    }

    /// Whether memory is shared by the threads of a block, and no variable holds it yet.
    pub(super) fn is_new_shared(&self, memory: &Memory) -> bool {
        let object = memory.place.object;
        let unnamed = self.b.function.objects[object.index()].name.is_empty();
        unnamed && memory.place.path.is_empty() && self.b.function.shared.contains(&object)
    }

    fn atomic(&mut self, op: AtomicOp, place: &Val, value: &Val, span: Span) -> Result<Val> {
        let value = self.scalar(value.clone(), span)?;
        let LValue::Memory(memory) = lv_of(place.clone()) else {
            return Err(Error::new(
                span,
                "an atomic operation takes an element of memory that threads share, as in `atomic_add(&mut sum[0], x)`",
            ));
        };
        let Some(ty) = memory.ty.scalar() else {
            return Err(Error::new(
                span,
                "an atomic operation takes one number, as in `&mut sum[0]`",
            ));
        };
        self.expect(value, ty, span)?;
        let known = &self.b.function.objects[memory.place.object.index()];
        let shared = self.b.function.shared.contains(&memory.place.object);
        if known.origin != Origin::RefMut && !shared {
            return Err(Error::new(
                span,
                "an atomic operation takes memory that threads share: an element of a `&mut` slice, or of shared memory",
            ));
        }
        let old = self.b.new_value(ty, span);
        let atomic =
            Atomic { op, place: memory.place, value, old: Some(old), block: false, warp: false };
        self.b.node(Stmt::Atomic(Box::new(atomic)));
        Ok(Val::Scalar(old))
    }

    fn shuffle(&mut self, exchange: Exchange, value: &Val, by: &Val, span: Span) -> Result<Val> {
        let operand = self.scalar(value.clone(), span)?;
        let by = self.scalar(by.clone(), span)?;
        self.expect(by, Scalar::USIZE, span)?;
        let ty = self.ty(operand);
        let value = self.b.new_value(ty, span);
        self.b.node(Stmt::Shuffle(Box::new(Shuffle { value, exchange, operand, by })));
        Ok(Val::Scalar(value))
    }
}

/// The type of `thread_idx()` and its like.
fn dim3() -> Arc<Struct> {
    let field = |axis: Axis| (axis.name().to_owned(), Type::Scalar(Scalar::USIZE));
    let fields = Axis::ALL.into_iter().map(field).collect();
    Arc::new(Struct { name: "stratape::gpu::Dim3".to_owned(), fields, tuple: false })
}
