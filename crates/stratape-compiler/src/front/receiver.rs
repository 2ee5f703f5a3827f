//! What a value may be called where its methods and operators are looked up.

use super::Lowerer;
use super::items::type_text;
use super::val::Val;
use super::written::scalar_named;
use stratape_ir::{Float, Scalar, Type};

impl Lowerer<'_> {
    /// The type and the method that a path names; for a method of a trait, the type is that of its first argument.
    pub(super) fn owner_and_method(
        &self,
        path: &syn::ExprPath,
        args: &[Val],
    ) -> Option<(String, String)> {
        let segments = &path.path.segments;
        let method = segments.last()?.ident.to_string();
        let owner = match &path.qself {
            Some(qself) => type_text(&qself.ty),
            None => segments.iter().rev().nth(1)?.ident.to_string(),
        };
        let has =
            |owner: &String| self.module.methods.contains_key(&(owner.clone(), method.clone()));
        // What an alias has itself comes before what it stands for.
        let owner = match self.module.follow_until(&owner, has) {
            Some(found) if has(&found) => found,
            _ => self.module.type_name(&owner),
        };
        let owner = self.owner_with(&owner, &method);
        let is_type = has(&owner)
            || scalar_named(&owner).is_some()
            || self.module.operators.contains_key(&(owner.clone(), method.clone()));
        if !is_type
            && owner.starts_with(char::is_uppercase)
            && let Some(found) = args.first().and_then(|arg| self.receiver_name(arg, &method))
            && has(&found)
        {
            return Some((found, method));
        }
        Some((owner, method))
    }

    /// The name under which the module has a method of a value's type, a number's and a list's included.
    pub(super) fn receiver_name(&self, val: &Val, method: &str) -> Option<String> {
        if let Some(owner) = self.owner_of(val) {
            return Some(owner);
        }
        let names = match self.type_of(val)? {
            Type::Scalar(Scalar::Infer(_)) => vec!["f64".to_owned(), "f32".to_owned()],
            ty @ Type::Scalar(_) => vec![ty.to_string()],
            Type::Vec(item) => vec![format!("Vec<{item}>"), format!("[{item}]")],
            Type::Slice(item) => vec![format!("[{item}]")],
            ty @ Type::Tuple(_) => self.names_with_literals(&ty),
            // `vec![a, b]` is held as an array.
            Type::Array(item, extent) => {
                vec![format!("[{item}; {extent}]"), format!("[{item}]"), format!("Vec<{item}>")]
            }
            _ => Vec::new(),
        };
        let known =
            |name: &String| self.module.methods.contains_key(&(name.clone(), method.to_owned()));
        names.into_iter().find(known)
    }

    /// What a type may be called, whatever its literals are.
    pub(super) fn names_with_literals(&self, ty: &Type) -> Vec<String> {
        [Float::F64, Float::F32].map(|float| self.with_literals(ty, float).to_string()).to_vec()
    }

    /// A type in which literals are of a float type.
    fn with_literals(&self, ty: &Type, float: Float) -> Type {
        match ty {
            Type::Scalar(scalar) => match self.infer.resolve(*scalar) {
                open @ Scalar::Infer(_) if !self.infer.is_int(open) => {
                    Type::Scalar(Scalar::Float(float))
                }
                known => Type::Scalar(known),
            },
            Type::Tuple(items) => {
                Type::Tuple(items.iter().map(|item| self.with_literals(item, float)).collect())
            }
            Type::Array(item, extent) => {
                Type::Array(Box::new(self.with_literals(item, float)), extent.clone())
            }
            other => other.clone(),
        }
    }
}
