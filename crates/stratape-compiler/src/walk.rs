//! Visitors of syntax that share one copy of syn's traversal.
//!
//! syn's traits make a copy of the whole traversal for every type that implements them: three hundred functions each. The compiler has
//! thirty visitors, which were four functions in ten of the compiled crate. The traits here have the same names and methods, as many as are
//! used, and erase the visitor before the traversal begins.
//!
//! ```text
//! Visit::visit_expr (of the visitor, or its default)
//!   → visit::visit_expr(&mut dyn Erased, …)       nothing of it depends on the visitor
//!     → syn::visit::visit_expr(&mut Every, …)     compiled once
//!       → Every::visit_pat, … → Erased::visit_pat → Visit::visit_pat of the visitor
//! ```

macro_rules! visitors {
    ($visitor:ident<$life:lifetime>, $syn:ident, $traversal:path; $($method:ident: $node:ty,)*) => {
        /// As the trait of that name in syn; methods for the syntax that some visitor looks at.
        pub(crate) trait $visitor<$life>: Sized {
            $(fn $method(&mut self, node: $node) {
                $method(self, node);
            })*
        }

        /// A visitor whose type is forgotten.
        pub(crate) trait Erased<$life> {
            $(fn $method(&mut self, node: $node);)*
        }

        impl<$life, V: $visitor<$life>> Erased<$life> for V {
            $(fn $method(&mut self, node: $node) {
                $visitor::$method(self, node);
            })*
        }

        /// Hands everything to a visitor.
        struct Every<'v, $life>(&'v mut dyn Erased<$life>);

        impl<$life> $traversal for Every<'_, $life> {
            $(fn $method(&mut self, node: $node) {
                self.0.$method(node);
            })*
        }

        $(
            #[allow(dead_code, reason = "one for each method, used or not")]
            pub(crate) fn $method<$life>(visitor: &mut dyn Erased<$life>, node: $node) {
                syn::$syn::$method(&mut Every(visitor), node);
            }
        )*
    };
}

pub(crate) mod visit {
    visitors! { Visit<'ast>, visit, syn::visit::Visit<'ast>;
        visit_arm: &'ast syn::Arm,
        visit_attribute: &'ast syn::Attribute,
        visit_block: &'ast syn::Block,
        visit_const_param: &'ast syn::ConstParam,
        visit_expr: &'ast syn::Expr,
        visit_expr_break: &'ast syn::ExprBreak,
        visit_expr_let: &'ast syn::ExprLet,
        visit_expr_return: &'ast syn::ExprReturn,
        visit_expr_try: &'ast syn::ExprTry,
        visit_file: &'ast syn::File,
        visit_generics: &'ast syn::Generics,
        visit_impl_item_fn: &'ast syn::ImplItemFn,
        visit_item: &'ast syn::Item,
        visit_item_enum: &'ast syn::ItemEnum,
        visit_item_fn: &'ast syn::ItemFn,
        visit_item_mod: &'ast syn::ItemMod,
        visit_item_use: &'ast syn::ItemUse,
        visit_local: &'ast syn::Local,
        visit_pat: &'ast syn::Pat,
        visit_pat_ident: &'ast syn::PatIdent,
        visit_path: &'ast syn::Path,
        visit_stmt: &'ast syn::Stmt,
        visit_trait_item_fn: &'ast syn::TraitItemFn,
        visit_type: &'ast syn::Type,
        visit_type_param: &'ast syn::TypeParam,
        visit_use_name: &'ast syn::UseName,
        visit_use_rename: &'ast syn::UseRename,
    }
}

pub(crate) mod visit_mut {
    visitors! { VisitMut<'ast>, visit_mut, syn::visit_mut::VisitMut;
        visit_angle_bracketed_generic_arguments_mut: &mut syn::AngleBracketedGenericArguments,
        visit_arm_mut: &mut syn::Arm,
        visit_attribute_mut: &mut syn::Attribute,
        visit_block_mut: &mut syn::Block,
        visit_expr_call_mut: &mut syn::ExprCall,
        visit_expr_closure_mut: &mut syn::ExprClosure,
        visit_expr_for_loop_mut: &mut syn::ExprForLoop,
        visit_expr_index_mut: &mut syn::ExprIndex,
        visit_expr_let_mut: &mut syn::ExprLet,
        visit_expr_loop_mut: &mut syn::ExprLoop,
        visit_expr_method_call_mut: &mut syn::ExprMethodCall,
        visit_expr_mut: &mut syn::Expr,
        visit_expr_path_mut: &mut syn::ExprPath,
        visit_expr_reference_mut: &mut syn::ExprReference,
        visit_expr_struct_mut: &mut syn::ExprStruct,
        visit_expr_while_mut: &mut syn::ExprWhile,
        visit_generic_argument_mut: &mut syn::GenericArgument,
        visit_ident_mut: &mut syn::Ident,
        visit_impl_item_const_mut: &mut syn::ImplItemConst,
        visit_impl_item_fn_mut: &mut syn::ImplItemFn,
        visit_item_enum_mut: &mut syn::ItemEnum,
        visit_item_fn_mut: &mut syn::ItemFn,
        visit_item_impl_mut: &mut syn::ItemImpl,
        visit_item_mut: &mut syn::Item,
        visit_item_struct_mut: &mut syn::ItemStruct,
        visit_item_type_mut: &mut syn::ItemType,
        visit_item_use_mut: &mut syn::ItemUse,
        visit_local_init_mut: &mut syn::LocalInit,
        visit_local_mut: &mut syn::Local,
        visit_macro_mut: &mut syn::Macro,
        visit_pat_ident_mut: &mut syn::PatIdent,
        visit_pat_mut: &mut syn::Pat,
        visit_pat_struct_mut: &mut syn::PatStruct,
        visit_pat_tuple_struct_mut: &mut syn::PatTupleStruct,
        visit_path_arguments_mut: &mut syn::PathArguments,
        visit_path_mut: &mut syn::Path,
        visit_signature_mut: &mut syn::Signature,
        visit_trait_bound_mut: &mut syn::TraitBound,
        visit_type_mut: &mut syn::Type,
        visit_type_path_mut: &mut syn::TypePath,
    }
}
