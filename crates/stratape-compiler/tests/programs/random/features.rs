//! What a piece of source uses, by looking at its syntax: methods, operators, patterns, kinds of loops, types.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Item, Pat, Stmt};

/// The features of a piece of source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Features(pub(crate) BTreeSet<String>);

impl Features {
    fn add(&mut self, feature: impl Into<String>) {
        self.0.insert(feature.into());
    }

    /// Those of a type where it is written; how long arrays are does not matter.
    pub(crate) fn type_of(&mut self, ty: &syn::Type) {
        let text = ty.to_token_stream().to_string();
        let text: String = text.chars().map(|c| if c.is_ascii_digit() { 'N' } else { c }).collect();
        // The digits of `f64` are none of a length.
        let text = text.replace("fNN", "float").replace("NN", "N");
        self.add(format!("type {text}"));
    }

    /// Those of a whole program.
    pub(crate) fn of_file(file: &syn::File) -> Self {
        let mut features = Self::default();
        features.visit_file(file);
        for item in &file.items {
            if let Item::Fn(function) = item {
                for input in &function.sig.inputs {
                    if let syn::FnArg::Typed(input) = input
                        && function.sig.ident == "program"
                    {
                        features.type_of(&input.ty);
                        if matches!(&*input.pat, Pat::Ident(pat) if pat.mutability.is_some()) {
                            features.add("a parameter that is `mut`");
                        }
                    }
                }
            }
        }
        features
    }

    /// Whether a loop, block or branch gives a value where it stands.
    fn value(&mut self, expr: &Expr) {
        match expr {
            Expr::If(_) => self.add("the value of `if`"),
            Expr::Match(_) => self.add("the value of `match`"),
            Expr::Block(_) => self.add("the value of a block"),
            _ => {}
        }
    }
}

fn operator(op: BinOp) -> String {
    op.to_token_stream().to_string()
}

impl<'ast> Visit<'ast> for Features {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::MethodCall(call) => self.add(format!(".{}()", call.method)),
            Expr::Binary(node) => {
                self.add(format!("a {} b", operator(node.op)));
                self.value(&node.left);
                self.value(&node.right);
            }
            Expr::Unary(node) => self.add(format!("{}a", node.op.to_token_stream())),
            Expr::Cast(node) => self.add(format!("as {}", node.ty.to_token_stream())),
            Expr::While(_) => self.add("while"),
            Expr::Loop(_) => self.add("loop"),
            Expr::Closure(_) => self.add("a closure"),
            Expr::Return(_) => self.add("return"),
            Expr::Array(_) => self.add("[a, b]"),
            Expr::Repeat(_) => self.add("[a; n]"),
            Expr::Struct(_) => self.add("a struct"),
            Expr::Match(_) => self.add("match"),
            Expr::If(node) => {
                self.add("if");
                match &node.else_branch {
                    Some((_, next)) if matches!(**next, Expr::If(_)) => self.add("else if"),
                    Some(_) => self.add("else"),
                    None => {}
                }
            }
            Expr::Break(node) => {
                self.add(if node.label.is_some() { "break 'label" } else { "break" });
            }
            Expr::Continue(node) => {
                self.add(if node.label.is_some() { "continue 'label" } else { "continue" });
            }
            Expr::Assign(node) => match &*node.left {
                Expr::Tuple(_) => self.add("(a, b) = …"),
                Expr::Index(_) => self.add("a[i] = …"),
                _ => self.add("a = …"),
            },
            Expr::ForLoop(node) => {
                let over = match &*node.expr {
                    Expr::Range(range) if matches!(range.limits, syn::RangeLimits::Closed(_)) => {
                        "a range with its end"
                    }
                    Expr::Range(_) => "a range",
                    Expr::MethodCall(_) => "an iterator",
                    _ => "a list",
                };
                self.add(format!("for over {over}"));
                for attribute in &node.attrs {
                    self.add(format!("#[{}]", attribute.path().to_token_stream()));
                }
            }
            Expr::Index(node) => {
                if let Expr::Range(range) = &*node.index {
                    let end = |end: &Option<Box<Expr>>| if end.is_some() { "i" } else { "" };
                    self.add(format!("a[{}..{}]", end(&range.start), end(&range.end)));
                } else {
                    self.add("a[i]");
                }
            }
            Expr::Range(node) if matches!(node.limits, syn::RangeLimits::Closed(_)) => {
                self.add("a..=b");
            }
            Expr::Call(node) => {
                if let Expr::Path(path) = &*node.func
                    && let [owner, name] = &path.path.segments.iter().collect::<Vec<_>>()[..]
                {
                    let owner = owner.ident.to_string().replace("f32", "f64");
                    self.add(format!("{owner}::{}()", name.ident));
                }
            }
            Expr::Path(path) => {
                let text = path.path.to_token_stream().to_string().replace(' ', "");
                if text.contains("consts") {
                    self.add(text.replace("f32", "f64"));
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        match &local.init {
            None => self.add("let a;"),
            Some(init) => self.value(&init.expr),
        }
        visit::visit_local(self, local);
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        match pat {
            Pat::Tuple(_) => self.add("(a, b) as a pattern"),
            Pat::Slice(_) => self.add("[a, b] as a pattern"),
            Pat::Or(_) => self.add("a | b as a pattern"),
            Pat::Range(_) => self.add("a range as a pattern"),
            Pat::Lit(literal) => {
                let bool = matches!(literal.lit, syn::Lit::Bool(_));
                self.add(if bool { "a bool as a pattern" } else { "a number as a pattern" });
            }
            Pat::Guard(_) => self.add("a pattern with `if`"),
            Pat::Wild(_) => self.add("_"),
            Pat::Ident(pat) if pat.mutability.is_some() => self.add("let mut"),
            _ => {}
        }
        visit::visit_pat(self, pat);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = mac.path.to_token_stream().to_string();
        self.add(format!("{name}!"));
        // What stands in a macro is source as well.
        type Arguments = syn::punctuated::Punctuated<Expr, syn::Token![,]>;
        if let Ok(arguments) = mac.parse_body_with(Arguments::parse_terminated) {
            for argument in &arguments {
                self.visit_owned(argument);
            }
        } else if let Ok(Expr::Repeat(node)) = syn::parse_str::<Expr>(&format!("[{}]", mac.tokens))
        {
            self.visit_owned(&node.expr);
        }
    }

    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Struct(_) => self.add("struct"),
            Item::Enum(_) => self.add("enum"),
            Item::Const(_) => self.add("const"),
            Item::Type(_) => self.add("type"),
            Item::Impl(block) => {
                match &block.trait_ {
                    None => self.add("impl"),
                    Some((path, ..)) => {
                        let name = path.segments.last().map(|segment| segment.ident.to_string());
                        let name = name.unwrap_or_default();
                        let operators = ["Add", "Sub", "Mul", "Neg", "AddAssign"];
                        let known = operators.contains(&name.as_str());
                        self.add(if known { "an operator" } else { "a trait" });
                    }
                }
                if block.items.iter().any(|item| matches!(item, syn::ImplItem::Const(_))) {
                    self.add("a constant of a type");
                }
            }
            Item::Fn(function) => {
                let name = function.sig.ident.to_string();
                let body = function.block.to_token_stream().to_string();
                if body.contains(&format!("{name} (")) {
                    self.add("a function that calls itself");
                }
            }
            _ => {}
        }
        visit::visit_item(self, item);
    }
}

impl Features {
    fn visit_owned(&mut self, expr: &Expr) {
        let mut inner = Self::default();
        inner.visit_expr(expr);
        self.0.extend(inner.0);
    }

    /// Those of statements, as they stand in a function.
    pub(crate) fn of_statements(text: &str) -> syn::Result<Self> {
        let block: syn::Block = syn::parse_str(&format!("{{ {text} }}"))?;
        let mut features = Self::default();
        for statement in &block.stmts {
            features.visit_stmt_owned(statement);
        }
        Ok(features)
    }

    fn visit_stmt_owned(&mut self, statement: &Stmt) {
        let mut inner = Self::default();
        inner.visit_stmt(statement);
        self.0.extend(inner.0);
    }
}
