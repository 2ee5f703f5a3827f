//! Arrays and structs as they are written, and as the contents of memory.

use std::sync::Arc;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::choice::Choice;
use super::infer::Class;
use super::unnamed::given;
use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Extent, Init, Stmt, Type};

impl Lowerer<'_> {
    pub(super) fn array(&mut self, array: &syn::ExprArray) -> Result<Val> {
        let span = array.span();
        let mut vals = Vec::new();
        for item in &array.elems {
            vals.push((self.expr(item)?, item.span()));
        }
        self.array_of(vals, span)
    }

    /// An array of values.
    pub(super) fn array_of(&mut self, vals: Vec<(Val, Span)>, span: Span) -> Result<Val> {
        let mut items = Vec::new();
        let mut item_type: Option<Type> = None;
        for (val, at) in vals {
            let val = self.as_vec(val, at)?;
            let (init, ty) = self.init_of(val, at)?;
            match &item_type {
                Some(known) => self.unify_types(&ty, &known.clone(), at)?,
                None => item_type = Some(ty),
            }
            items.push(init);
        }
        let Some(item) = item_type else {
            return Err(unsupported(span, "empty arrays", "leave it out"));
        };
        let ty = Type::Array(Box::new(item), Extent::Known(items.len()));
        Ok(self.new_array(ty, Init::Items(items), span))
    }

    /// A new object with given contents, as a value.
    pub(super) fn new_array(&mut self, ty: Type, init: Init, span: Span) -> Val {
        let object = self.new_local(ty.clone(), span);
        self.b.node(Stmt::New { object, init });
        Val::Place(LValue::Memory(Memory::whole(object, ty)))
    }

    /// A value as the contents of memory, and its type.
    pub(super) fn init_of(&mut self, val: Val, span: Span) -> Result<(Init, Type)> {
        match val {
            Val::Scalar(value) => {
                let ty = match self.enums.get(&value) {
                    Some(name) => Type::Enum(name.clone()),
                    None => Type::Scalar(self.b.function.ty(value)),
                };
                Ok((Init::Value(value), ty))
            }
            Val::Parts(Kind::Choice(choice), parts) => self.init_of_choice(&choice, parts, span),
            Val::Parts(kind, parts) => {
                let mut inits = Vec::new();
                let mut types = Vec::new();
                for part in parts {
                    let part = self.as_vec(part, span)?;
                    let (init, ty) = self.init_of(part, span)?;
                    inits.push(init);
                    types.push(ty);
                }
                let ty = match kind {
                    Kind::Struct(def) => {
                        if types.iter().any(|ty| matches!(ty, Type::Enum(_)))
                            && given(&self.b.function).contains(&def.name)
                        {
                            return Err(stored_enum(span));
                        }
                        Type::Struct(def)
                    }
                    _ => Type::Tuple(types),
                };
                Ok((Init::Items(inits), ty))
            }
            Val::Place(LValue::Memory(memory)) | Val::Ref(LValue::Memory(memory))
                if memory.window.is_none()
                    && memory.len.is_none()
                    && !matches!(memory.ty, Type::Slice(_)) =>
            {
                Ok((Init::Copy(memory.place), memory.ty))
            }
            Val::Place(LValue::Memory(memory))
                if memory.len.is_some() && matches!(memory.ty, Type::Vec(_)) =>
            {
                let list = self.copy_of_list(&memory, span)?;
                Ok((Init::Copy(list.place), list.ty))
            }
            Val::Place(lv) | Val::Ref(lv) => {
                let val = self.read(&lv, span)?;
                match val {
                    Val::Place(_) | Val::Ref(_) => Err(unsupported(
                        span,
                        "references inside arrays",
                        "copy the numbers, or use an index",
                    )),
                    val => self.init_of(val, span),
                }
            }
            _ => Err(unsupported(
                span,
                "this as an element",
                "use numbers, tuples, structs and arrays",
            )),
        }
    }

    /// A value of one of several variants as the contents of memory: its tag, and zeros for the fields it does not have.
    fn init_of_choice(
        &mut self,
        choice: &Arc<Choice>,
        parts: Vec<Val>,
        span: Span,
    ) -> Result<(Init, Type)> {
        let declared: Vec<Type> =
            choice.variants.iter().flat_map(|variant| variant.types.clone()).collect();
        let mut inits = Vec::new();
        let mut types = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let declared = index.checked_sub(1).and_then(|field| declared.get(field).cloned());
            let (init, ty) = match (part, declared) {
                (Val::Never, declared) => {
                    let ty = declared.unwrap_or_else(|| Type::Scalar(self.fresh(Class::Any)));
                    (self.zero_init(&ty, span)?, ty)
                }
                (part, Some(ty)) => (self.init_of(part, span)?.0, ty),
                (part, None) => self.init_of(part, span)?,
            };
            inits.push(init);
            types.push(ty);
        }
        Ok((Init::Items(inits), choice.typed(types.split_off(1))))
    }

    pub(super) fn struct_literal(&mut self, literal: &syn::ExprStruct) -> Result<Val> {
        let span = literal.span();
        if let Some((choice, index)) = self.variant_named(&literal.path) {
            return self.variant_literal(literal, &choice, index);
        }
        let name = literal.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let name = self.module.type_name(&name);
        if let Some(why) = self.module.refused.get(&name) {
            return Err(Error::new(literal.path.span(), why));
        }
        let mut def = self.module.structs.get(&name).cloned();
        if let (None, Some(segment)) = (&def, literal.path.segments.last()) {
            def = self.module.named_instance(segment)?;
        }
        let names: Vec<String> = match (&def, self.module.generic_structs.get(&name)) {
            (Some(def), _) => def.fields.iter().map(|(name, _)| name.clone()).collect(),
            (None, Some(declared)) => {
                let named = |(at, field): (usize, &syn::Field)| match &field.ident {
                    Some(name) => name.to_string(),
                    None => at.to_string(),
                };
                declared.fields.iter().enumerate().map(named).collect()
            }
            (None, None) => {
                return Err(Error::new(
                    literal.path.span(),
                    format!(
                        "the compiler does not know the struct `{name}`: declare it in the same `#[stratape::differentiable] mod`"
                    ),
                ));
            }
        };
        let mut parts: Vec<Option<Val>> = vec![None; names.len()];
        for field in &literal.fields {
            let field_name = match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            let Some(index) = names.iter().position(|known| *known == field_name) else {
                return Err(Error::new(
                    field.member.span(),
                    format!("`{name}` has no field `{field_name}`"),
                ));
            };
            let ty = def.as_ref().map(|def| def.fields[index].1.clone());
            let val = self.expr_as(&field.expr, ty.as_ref())?;
            let val = self.as_vec(val, field.expr.span())?;
            if let Some(def) = &def {
                self.expect_type(&val, &def.fields[index].1, field.expr.span())?;
            }
            let val = match &def {
                Some(def) => self.completed(val, &def.fields[index].1, field.expr.span())?,
                None => val,
            };
            parts[index] = Some(self.owned_as(&field_name, val, field.expr.span())?);
        }
        if let Some(rest) = &literal.rest {
            let ty = def.as_ref().map(|def| Type::Struct(def.clone()));
            let wanted = match &ty {
                Some(ty) => self.wanted(rest, ty)?,
                None => None,
            };
            let base = match wanted {
                Some(base) => base,
                None => self.operand(rest)?,
            };
            for (index, part) in parts.iter_mut().enumerate() {
                if part.is_none() {
                    let val = self.part(&base, index, span)?;
                    *part = Some(match val {
                        Val::Ref(lv) | Val::Place(lv) => self.read(&lv, span)?,
                        val => val,
                    });
                }
            }
        }
        let Some(parts) = parts.into_iter().collect::<Option<Vec<_>>>() else {
            return Err(Error::new(span, "some fields are missing"));
        };
        let def = match def {
            Some(def) => def,
            None => {
                let fields: Vec<(usize, &Val)> = parts.iter().enumerate().collect();
                let unknown = || {
                    unsupported(
                        span,
                        &format!("`{name}` whose parameters do not show in its fields"),
                        &format!("write them, as in `{name}::<f64> {{ … }}`"),
                    )
                };
                self.instance_of(&name, &fields)?.ok_or_else(unknown)?
            }
        };
        Ok(Val::Parts(Kind::Struct(def), parts))
    }
}

/// An enum that would have to be made from its number again.
pub(super) fn stored_enum(span: Span) -> Error {
    unsupported(
        span,
        "an enum stored in an array of structs or in a parameter",
        "keep an integer there (`law as usize`), or branch where the enum is at hand",
    )
}
