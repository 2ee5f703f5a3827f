//! Functions of the host that use devices: uploads, launches, downloads.
//!
//! A buffer is a number here (`library/gpu.rs.txt`); what it holds, the gradient keeps at run time. Operations on devices are calls in two halves. All of them name one array, the
//! *world*, which stands for the memory of all devices: so they keep their order, and adjoints flow through them. Parameters that are buffers have a *mark*, which stands for what they
//! hold: it enters the world at the start, and leaves it at the end if the function may write to the buffer.

use std::sync::Arc;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::control::lv_of;
use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, unsupported};
use crate::library::{self, OnDevice};
use stratape_ir::{
    Argument, Call, Extent, Half, Init, ObjectId, Op, Origin, Scalar, Slice, Stmt, StmtId, Struct,
    Type, ValueId,
};

/// What operations on devices are called in the language.
pub(crate) const GPU: &str = "gpu";

/// A parameter that is a buffer.
pub(super) struct Passed {
    object: ObjectId,
    id: ValueId,
    item: Type,
}

/// Functions of buffers that yield a number.
const NUMBERS: [&str; 5] = ["sum", "product", "max", "min", "dot"];

/// Those, and others that make a buffer.
const PRIMITIVES: [&str; 17] = [
    "sum",
    "product",
    "max",
    "min",
    "dot",
    "inclusive_scan",
    "exclusive_scan",
    "adjacent_difference",
    "gather",
    "scatter_add",
    "scatter",
    "inclusive_scan_by_key",
    "exclusive_scan_by_key",
    "reduce_by_key",
    "groups",
    "sort_by_key",
    "matmul",
];

impl Lowerer<'_> {
    /// Makes the array that stands for the memory of all devices, if a function uses any.
    pub(super) fn make_world(&mut self, item: &syn::ItemFn) -> Result<()> {
        if !library::names_devices(&item.to_token_stream()) {
            return Ok(());
        }
        let span = item.sig.ident.span();
        let ty = Type::Array(
            Box::new(Type::Scalar(Scalar::Float(stratape_ir::Float::F64))),
            Extent::Known(1),
        );
        let init = self.zero_init(&ty, span)?;
        if let Val::Place(LValue::Memory(memory)) = self.new_array(ty, init, span) {
            "devices".clone_into(&mut self.b.function.objects[memory.place.object.index()].name);
            self.world = Some(memory);
        }
        Ok(())
    }

    fn world(&mut self, mutable: bool, span: Span) -> Result<Argument> {
        let Some(memory) = self.world.clone() else {
            return Err(unsupported(
                span,
                "a device in a function that calls itself",
                "write it as a loop",
            ));
        };
        Ok(self.list_argument(&memory, mutable, span))
    }

    fn list_argument(&mut self, memory: &Memory, mutable: bool, span: Span) -> Argument {
        let part = match self.extent(memory, span) {
            Some(window) => (window.start, window.len),
            None => {
                let len = self.b.emit(Op::Len(memory.place.clone()), Scalar::USIZE, span);
                (self.b.usize(0, span), len)
            }
        };
        Argument::Slice(Slice { place: memory.place.clone(), part: Some(part), mutable })
    }

    /// A parameter that lives on a device, or that is one.
    pub(super) fn device_param(
        &mut self,
        kind: OnDevice,
        def: &Arc<Struct>,
        (name, span): (&str, Span),
        origin: Origin,
    ) -> Result<Val> {
        if kind == OnDevice::Grid {
            return Err(unsupported(
                span,
                "a `Grid` as a parameter",
                "take its numbers as parameters, and make the grid in the function",
            ));
        }
        if origin == Origin::Owned {
            return Err(unsupported(
                span,
                "a device, stream or buffer as a parameter by value",
                "take a reference to it",
            ));
        }
        let item = self.held_by(def)?;
        let mut whole =
            Struct { name: def.name.clone(), fields: def.fields.clone(), tuple: def.tuple };
        if let (OnDevice::Buffer, Some(item)) = (kind, &item) {
            let mark = Type::Array(Box::new(Type::Scalar(innermost(item))), Extent::Known(1));
            whole.fields.push(("mark".to_owned(), mark));
        }
        let ty = Type::Struct(Arc::new(whole));
        let object = self.b.function.new_object(stratape_ir::Object {
            ty: ty.clone(),
            origin,
            name: name.to_owned(),
            shadow_of: None,
            span: self.module.sources.id(span),
        });
        self.b.function.params.push(stratape_ir::Param::Object(object));
        let lv = LValue::Memory(Memory::whole(object, ty));
        let mut parts = Vec::new();
        for index in 0..def.fields.len() {
            let field = self.field_of(&lv, index, span)?;
            parts.push(Val::Scalar(self.scalar(Val::Place(field), span)?));
        }
        if let (OnDevice::Buffer, Some(item), Some(Val::Scalar(id))) = (kind, item, parts.first()) {
            let id = *id;
            self.passed.push(Passed { object, id, item });
        }
        Ok(Val::Ref(lv_of(Val::Parts(Kind::Struct(def.clone()), parts))))
    }

    /// The elements of a buffer of a type.
    fn held_by(&self, def: &Struct) -> Result<Option<Type>> {
        let Ok(path) = syn::parse_str::<syn::Path>(&def.name) else { return Ok(None) };
        let given = path.segments.last().map(super::generic::arguments).unwrap_or_default();
        match given.first() {
            Some(syn::GenericArgument::Type(ty)) => Ok(Some(self.module.read_type(ty)?.ty)),
            _ => Ok(None),
        }
    }

    /// What parameters hold enters the world, or leaves it.
    pub(super) fn borders(&mut self, entering: bool, span: Span) -> Result<()> {
        for Passed { object, id, item } in std::mem::take(&mut self.passed) {
            let result = self.b.function.objects[object.index()].origin == Origin::RefMut;
            let float = item.has_float();
            if entering || result {
                let (ty, at) = match &self.b.function.objects[object.index()].ty {
                    Type::Struct(def) => {
                        (def.fields.last().map(|(_, ty)| ty.clone()), def.fields.len() - 1)
                    }
                    _ => (None, 0),
                };
                let ty = ty.unwrap_or(item.clone());
                let place = stratape_ir::Place::whole(object).with(stratape_ir::Step::Field(at));
                let mark = Memory { place, ty, window: None, len: None };
                let world = self.world(entering, span)?;
                let mark = self.list_argument(&mark, !entering, span);
                let backward = match (entering, result, float) {
                    (true, _, false) => "enter_constant_backward",
                    (true, false, true) => "enter_backward",
                    (true, true, true) => "enter_result_backward",
                    (false, _, true) => "leave_backward",
                    (false, _, false) => "leave_constant_backward",
                };
                let forward = if entering { "enter" } else { "leave" };
                let arguments = vec![Argument::Value(id), world, mark];
                self.host_node((forward, backward), arguments, None, span);
            }
            self.kept.push(Passed { object, id, item });
        }
        if entering {
            std::mem::swap(&mut self.passed, &mut self.kept);
        }
        Ok(())
    }

    fn host_node(
        &mut self,
        (forward, backward): (&str, &str),
        arguments: Vec<Argument>,
        result: Option<Scalar>,
        span: Span,
    ) -> Option<ValueId> {
        let path = |name: &str| {
            let name = format_ident!("{name}");
            quote!(::stratape::gpu::__private::host::#name)
        };
        self.host_call_node((path(forward), path(backward)), arguments, result, span)
    }

    fn host_call_node(
        &mut self,
        (forward, backward): (TokenStream, TokenStream),
        arguments: Vec<Argument>,
        result: Option<Scalar>,
        span: Span,
    ) -> Option<ValueId> {
        let result = result.map(|ty| self.b.new_value(ty, span));
        self.b.node(Stmt::Call(Box::new(Call {
            id: StmtId::NONE,
            function: self.module.sources.opaque(forward),
            arguments,
            results: result.into_iter().collect(),
            pullback: Some(self.module.sources.opaque(backward)),
            recursion: Some((GPU.to_owned(), Half::Forward)),
            span: self.module.sources.id(span),
        })));
        result
    }

    /// A call of a function that works on devices, if it is one.
    pub(super) fn host_call(
        &mut self,
        path: &syn::ExprPath,
        args: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let Some(last) = path.path.segments.last() else { return Ok(None) };
        let name = last.ident.to_string();
        if name == "launch"
            && path.path.segments.len() > 1
            && args
                .first()
                .and_then(|val| self.owner_of(val))
                .as_deref()
                .and_then(library::on_device)
                == Some(OnDevice::Device)
        {
            return self.launch(path, args, span).map(Some);
        }
        if name == "map"
            && path.path.segments.len() > 1
            && let [given] = args
            && let Val::Parts(Kind::Tuple, parts) = given
            && let Some(first) = parts.iter().find(|val| self.is_buffer(val))
        {
            let first = first.clone();
            return self.map(path, &first, parts, span).map(Some);
        }
        let Some(name) = name.strip_prefix("__gpu_") else { return Ok(None) };
        let val = match (name, args) {
            ("dims", [dims]) => self.dims(dims.clone(), span)?,
            ("device" | "emulator", []) => {
                let name = format!("make_{name}");
                self.made((&name, "made_backward"), Vec::new(), span)?
            }
            ("stream", [device]) => {
                let device = self.scalar(device.clone(), span)?;
                self.made(
                    ("make_stream", "made_stream_backward"),
                    vec![Argument::Value(device)],
                    span,
                )?
            }
            ("upload", [device, from]) => {
                let device = Argument::Value(self.scalar(device.clone(), span)?);
                let (from, float) = self.slice_argument(from, false, span)?;
                let backward = if float { "upload_backward" } else { "upload_constant_backward" };
                self.made(("upload", backward), vec![device, from], span)?
            }
            ("zeros", [device, len]) => {
                let device = Argument::Value(self.scalar(device.clone(), span)?);
                let len = Argument::Value(self.scalar(len.clone(), span)?);
                self.made(("zeros", "zeros_backward"), vec![device, len], span)?
            }
            ("write", [id, from]) => {
                let id = Argument::Value(self.scalar(id.clone(), span)?);
                let (from, float) = self.slice_argument(from, false, span)?;
                let backward = if float { "write_backward" } else { "write_constant_backward" };
                let world = self.world(true, span)?;
                self.host_node(("write", backward), vec![id, from, world], None, span);
                Val::Unit
            }
            ("fill_zero", [id]) => {
                let id = Argument::Value(self.scalar(id.clone(), span)?);
                let world = self.world(true, span)?;
                self.host_node(("fill_zero", "fill_zero_backward"), vec![id, world], None, span);
                Val::Unit
            }
            ("copy", [to, from]) => {
                let to = Argument::Value(self.scalar(to.clone(), span)?);
                let from = Argument::Value(self.scalar(from.clone(), span)?);
                let world = self.world(true, span)?;
                self.host_node(("copy", "copy_backward"), vec![to, from, world], None, span);
                Val::Unit
            }
            ("download_into", [id, to]) => {
                self.download(id, to, span)?;
                Val::Unit
            }
            ("download", [id, len]) => {
                let item = self.written_for(path, "download::<f64>()")?;
                let len = self.scalar(len.clone(), span)?;
                let init = Init::Repeat(Box::new(self.zero_init(&item, span)?), len);
                let to = self.new_array(Type::Vec(Box::new(item)), init, span);
                self.download(id, &to, span)?;
                to
            }
            (name, args) if PRIMITIVES.contains(&name) => self.primitive(name, path, args, span)?,
            _ => return Err(Error::new(span, format!("`{name}` takes other arguments"))),
        };
        Ok(Some(val))
    }

    /// A ready-made function of buffers and numbers, which yields a number or makes a buffer.
    fn primitive(
        &mut self,
        name: &str,
        path: &syn::ExprPath,
        args: &[Val],
        span: Span,
    ) -> Result<Val> {
        let item = self.written_for(path, name)?;
        let ty = innermost(&item);
        if !matches!(item, Type::Scalar(Scalar::Float(_))) {
            return Err(unsupported(
                span,
                &format!("`{name}` of these elements"),
                "take a buffer of `f64` or `f32`",
            ));
        }
        let mut arguments = Vec::new();
        for arg in args {
            let value = self.scalar(arg.clone(), span)?;
            if !self.infer.is_int(self.ty(value)) {
                self.expect(value, ty, span)?;
            }
            arguments.push(Argument::Value(value));
        }
        arguments.push(self.world(true, span)?);
        let number = format_ident!("{}", ty.name());
        let half = |name: String| {
            let name = format_ident!("{name}");
            quote!(::stratape::gpu::host::#name::<#number>)
        };
        let result = if NUMBERS.contains(&name) { ty } else { Scalar::USIZE };
        let halves = (half(name.to_owned()), half(format!("{name}_backward")));
        let found = self.host_call_node(halves, arguments, Some(result), span);
        Ok(found.map_or(Val::Unit, Val::Scalar))
    }

    /// An operation on the world that yields the number of what it makes.
    fn made(
        &mut self,
        names: (&str, &str),
        mut arguments: Vec<Argument>,
        span: Span,
    ) -> Result<Val> {
        arguments.push(self.world(true, span)?);
        let id = self.host_node(names, arguments, Some(Scalar::USIZE), span);
        Ok(id.map_or(Val::Unit, Val::Scalar))
    }

    fn download(&mut self, id: &Val, to: &Val, span: Span) -> Result<()> {
        let id = Argument::Value(self.scalar(id.clone(), span)?);
        let (to, float) = self.slice_argument(to, true, span)?;
        let backward = if float { "download_backward" } else { "download_constant_backward" };
        let world = self.world(true, span)?;
        self.host_node(("download", backward), vec![id, to, world], None, span);
        Ok(())
    }

    /// A list of the host, and whether it holds floats.
    fn slice_argument(&mut self, val: &Val, mutable: bool, span: Span) -> Result<(Argument, bool)> {
        let expected = || {
            unsupported(
                span,
                "this as the elements of a buffer",
                "pass a slice of numbers, or of arrays of numbers",
            )
        };
        let memory = match val {
            Val::Ref(LValue::Memory(memory)) | Val::Place(LValue::Memory(memory)) => memory.clone(),
            Val::Ref(LValue::Value(inner)) | Val::Place(LValue::Value(inner)) => match &**inner {
                Val::Ref(LValue::Memory(memory)) | Val::Place(LValue::Memory(memory)) => {
                    memory.clone()
                }
                _ => return Err(expected()),
            },
            _ => return Err(expected()),
        };
        let item = memory.ty.element().cloned().ok_or_else(expected)?;
        let scalar = innermost(&item);
        let plain = |mut ty: &Type| loop {
            match ty {
                Type::Array(inner, _) => ty = inner,
                Type::Scalar(_) => return true,
                _ => return false,
            }
        };
        if !plain(&item) {
            return Err(expected());
        }
        let float = self.infer.is_float(scalar);
        Ok((self.list_argument(&memory, mutable, span), float))
    }

    /// `n`, `(n, m)` or `(n, m, k)` as three numbers.
    fn dims(&mut self, val: Val, span: Span) -> Result<Val> {
        let one = Val::Scalar(self.b.usize(1, span));
        let mut parts = match self.rvalue(val, span)? {
            Val::Parts(Kind::Tuple, parts) => parts,
            other => vec![other],
        };
        parts.truncate(3);
        let mut dims = Vec::new();
        for part in parts {
            let value = self.scalar(part, span)?;
            let ty = self.ty(value);
            let value = match self.infer.resolve(ty) {
                Scalar::Int(int) if int != stratape_ir::Int::Usize => {
                    self.b.emit(Op::Cast(value, Scalar::USIZE), Scalar::USIZE, span)
                }
                _ => {
                    self.expect(value, Scalar::USIZE, span)?;
                    value
                }
            };
            dims.push(Val::Scalar(value));
        }
        dims.resize(3, one);
        Ok(Val::Parts(Kind::Tuple, dims))
    }

    /// `kernel::launch(&device, grid, (…))`
    fn launch(&mut self, path: &syn::ExprPath, args: &[Val], span: Span) -> Result<Val> {
        let [device, grid, given] = args else {
            return Err(Error::new(
                span,
                "`launch` takes a device, a grid, and a tuple of arguments",
            ));
        };
        let mut kernel = path.path.clone();
        kernel.segments.pop();
        kernel.segments.pop_punct();
        let mut arguments = vec![Argument::Value(self.number_in(device, 0, span)?)];
        for at in 0..10 {
            arguments.push(Argument::Value(self.number_in(grid, at, span)?));
        }
        let given = self.rvalue(given.clone(), span)?;
        let Val::Parts(Kind::Tuple, given) = given else {
            return Err(Error::new(
                span,
                "a kernel's arguments are a tuple; of one argument, `(x,)`",
            ));
        };
        let Handed { params, passed, results } = self.handed(&given, &mut arguments, span)?;
        arguments.push(self.world(true, span)?);
        let dims: Vec<_> = (0..10).map(|at| format_ident!("g{at}")).collect();
        let host = quote!(::stratape::gpu::__private::host);
        let head = quote!(tape: &mut ::stratape::tape::RecordTape, device: usize, #(#dims: usize,)* #(#params,)* devices: &mut [f64]);
        let error = quote!(::stratape::gpu::GpuError);
        let called = quote_spanned!(path.span()=> launch::<#kernel>);
        let forward = quote!((|#head| -> ::core::result::Result<(), #error> {
            #host::#called(tape, device, [#(#dims),*], &[#(#passed),*])
        }));
        let backward = quote!((|#head| -> ::core::result::Result<_, #error> {
            let adjoints = #host::launch_backward(tape)?;
            ::core::result::Result::Ok(#results)
        }));
        self.host_call_node((forward, backward), arguments, None, span);
        Ok(Val::Unit)
    }
}

impl Lowerer<'_> {
    fn is_buffer(&self, val: &Val) -> bool {
        let owner = self.owner_of(val);
        owner.as_deref().and_then(library::on_device) == Some(OnDevice::Buffer)
    }

    /// A buffer of its own with what another holds, if a place is a buffer. Lists of buffers are not copied: their elements would stay one.
    pub(super) fn cloned_buffer(&mut self, lv: &LValue, span: Span) -> Result<Option<Val>> {
        let val = Val::Place(lv.clone());
        if let LValue::Memory(Memory {
            ty: Type::Vec(item) | Type::Slice(item) | Type::Array(item, _),
            ..
        }) = lv
        {
            self.no_buffers(item, span)?;
        }
        if !self.is_buffer(&val) {
            return Ok(None);
        }
        let Some(Type::Struct(def)) = self.type_of(&val) else { return Ok(None) };
        let (id, len) = (self.number_in(&val, 0, span)?, self.number_in(&val, 1, span)?);
        let copy =
            self.made(("duplicate", "duplicate_backward"), vec![Argument::Value(id)], span)?;
        Ok(Some(Val::Parts(Kind::Struct(def), vec![copy, Val::Scalar(len)])))
    }

    /// Refuses copies of what holds buffers.
    pub(super) fn no_buffers(&self, ty: &Type, span: Span) -> Result<()> {
        fn holds(ty: &Type) -> bool {
            match ty {
                Type::Struct(def) => {
                    library::on_device(&def.name) == Some(OnDevice::Buffer)
                        || def.fields.iter().any(|(_, ty)| holds(ty))
                }
                Type::Tuple(items) => items.iter().any(holds),
                Type::Vec(item) | Type::Slice(item) | Type::Array(item, _) => holds(item),
                Type::Scalar(_) | Type::Enum(_) => false,
            }
        }
        match holds(ty) {
            true => Err(unsupported(
                span,
                "copies of lists of buffers",
                "`clone` one buffer after the other",
            )),
            false => Ok(()),
        }
    }

    fn number_in(&mut self, val: &Val, at: usize, span: Span) -> Result<ValueId> {
        let lv = self.field_of(&lv_of(val.clone()), at, span)?;
        self.scalar(Val::Place(lv), span)
    }

    /// The numbers that a kernel is handed for an argument: those of a struct, a tuple or an array one by one.
    fn numbers_of(&mut self, val: Val, numbers: &mut Vec<Val>, span: Span) -> Result<()> {
        if self.is_buffer(&val) {
            numbers.push(val);
            return Ok(());
        }
        let (fields, known) = match self.type_of(&val) {
            Some(Type::Struct(def)) => (def.fields.len(), None),
            Some(Type::Tuple(items)) => (items.len(), None),
            Some(Type::Array(_, Extent::Known(n))) => (0, Some(n)),
            _ => {
                numbers.push(val);
                return Ok(());
            }
        };
        let lv = lv_of(val);
        for at in 0..fields {
            let field = self.field_of(&lv, at, span)?;
            self.numbers_of(Val::Place(field), numbers, span)?;
        }
        for at in 0..known.unwrap_or(0) {
            let index = self.b.usize(at, span);
            let element = self.element(&lv, index, span)?;
            self.numbers_of(Val::Place(element), numbers, span)?;
        }
        Ok(())
    }

    /// The arguments of a kernel, as those of a call.
    fn handed(
        &mut self,
        given: &[Val],
        arguments: &mut Vec<Argument>,
        span: Span,
    ) -> Result<Handed> {
        let (mut params, mut passed, mut floats) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers = Vec::new();
        for val in given {
            self.numbers_of(val.clone(), &mut numbers, span)?;
        }
        for (at, val) in numbers.iter().enumerate() {
            let name = format_ident!("a{at}");
            let of = quote!(::stratape::gpu::__private::host::Given);
            if self.is_buffer(val) {
                arguments.push(Argument::Value(self.number_in(val, 0, span)?));
                params.push(quote!(#name: usize));
                passed.push(quote!(#of::Buffer(#name)));
                continue;
            }
            let value = self.scalar(val.clone(), span)?;
            let ty = self.ty(value);
            let constant = self.b.constant(value).is_some();
            arguments.push(Argument::Value(value));
            params.push(quote!(#name));
            if self.infer.is_float(ty) {
                let at = floats.len();
                floats.push(quote!(adjoints.like(#at, #name)));
            }
            passed.push(match constant && self.infer.is_float(ty) {
                true => quote!(#of::constant(#name)),
                false => quote!(#of::from(#name)),
            });
        }
        let results = match &floats[..] {
            [one] => one.clone(),
            many => quote!((#(#many),*)),
        };
        Ok(Handed { params, passed, results })
    }

    /// `function::map((…))`: the result has the type of the first buffer, and its length.
    fn map(&mut self, path: &syn::ExprPath, first: &Val, given: &[Val], span: Span) -> Result<Val> {
        let Some(Type::Struct(def)) = self.type_of(first) else {
            return Err(Error::new(span, "`map` takes a buffer"));
        };
        let len = self.number_in(first, 1, span)?;
        let mut function = path.path.clone();
        function.segments.pop();
        function.segments.pop_punct();
        let mut arguments = vec![Argument::Value(len)];
        let Handed { params, passed, results } = self.handed(given, &mut arguments, span)?;
        arguments.push(self.world(true, span)?);
        let (host, error) =
            (quote!(::stratape::gpu::__private::host), quote!(::stratape::gpu::GpuError));
        let head = quote!(tape: &mut ::stratape::tape::RecordTape, len: usize, #(#params,)* devices: &mut [f64]);
        let called = quote_spanned!(path.span()=> map::<#function>);
        let forward = quote!((|#head| -> ::core::result::Result<usize, #error> {
            #host::#called(tape, &[#(#passed),*])
        }));
        let backward = quote!((|#head, _made: usize| -> ::core::result::Result<_, #error> {
            let adjoints = #host::map_backward(tape)?;
            ::core::result::Result::Ok(#results)
        }));
        let id = self.host_call_node((forward, backward), arguments, Some(Scalar::USIZE), span);
        let parts = id.into_iter().chain([len]).map(Val::Scalar).collect();
        Ok(Val::Parts(Kind::Struct(def), parts))
    }
}

/// Arguments of a kernel in a call: the parameters of a closure, what it hands on, and the adjoints it returns.
struct Handed {
    params: Vec<TokenStream>,
    passed: Vec<TokenStream>,
    results: TokenStream,
}

fn innermost(ty: &Type) -> Scalar {
    match ty {
        Type::Array(item, _) => innermost(item),
        ty => ty.scalar().unwrap_or(Scalar::Bool),
    }
}
