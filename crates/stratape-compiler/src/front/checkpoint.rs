//! `#[checkpoint(…)]` on a loop.

use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Result};

use super::marks::is_marked;
use super::val::Val;
use super::{Lowerer, words_of};
use stratape_ir::{Checkpoint, Int, Range, Scalar, Stmt, ValueId};

/// The numbers it takes, and their types.
const NUMBERS: [(&str, Int); 4] = [
    ("slots", Int::Usize),
    ("memory", Int::U64),
    ("disk_slots", Int::Usize),
    ("disk_bytes", Int::U64),
];
/// The strategies it takes by name.
const STRATEGIES: [&str; 6] = ["Auto", "StoreAll", "Revolve", "Multistage", "Periodic", "Online"];

impl Lowerer<'_> {
    /// A loop with its attributes: what they ask for is noted under its counter.
    pub(super) fn marked_loop(
        &mut self,
        attributes: &[Attribute],
        lower: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        let mut marks = attributes.iter().filter(|attribute| is_marked(attribute, &["checkpoint"]));
        let Some(attribute) = marks.next() else { return lower(self) };
        if let Some(second) = marks.next() {
            return Err(Error::new(second.path().span(), "`#[checkpoint]` is given twice"));
        }
        if let Some(parallel) = attributes.iter().find(|other| is_marked(other, &["parallel"])) {
            return Err(Error::new(
                parallel.path().span(),
                "a loop is either checkpointed (`#[checkpoint]`) or parallel (`#[parallel]`), not both",
            ));
        }
        let checkpoint = self.checkpoint(attribute)?;
        self.b.open();
        let val = lower(self);
        let nodes = self.b.close();
        let last = nodes.iter().rev().find_map(|node| match node {
            Stmt::Loop(node) => {
                let open = node.exit.is_some() || matches!(node.range, Range::Forever);
                Some((node.counter, open))
            }
            _ => None,
        });
        let offline = words_of(attribute.meta.to_token_stream())
            .into_iter()
            .find(|(word, _)| word == "Revolve" || word == "Multistage");
        if let (Some((name, span)), Some((_, true))) = (offline, last) {
            return Err(Error::new(
                span,
                format!(
                    "`{name}` must know the number of steps, and this loop may end early: take `Auto`, `Online` or `Periodic`"
                ),
            ));
        }
        let last = last.map(|(counter, _)| counter);
        nodes.into_iter().for_each(|node| self.b.node(node));
        // A loop that was found never to run has gone.
        if let Some(counter) = last {
            self.b.function.checkpoints.push((counter, checkpoint));
        }
        val
    }

    fn checkpoint(&mut self, attribute: &Attribute) -> Result<Checkpoint> {
        let span = attribute.path().span();
        let mut checkpoint =
            Checkpoint { numbers: Vec::new(), disk: None, schedule: None, span: self.b.at(span) };
        if matches!(attribute.meta, syn::Meta::Path(_)) {
            return Ok(checkpoint);
        }
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            if let Some((_, ty)) = NUMBERS.iter().find(|(known, _)| *known == name) {
                let expr: Expr = meta.value()?.parse()?;
                // The attribute is ours: rustc does not read what stands in it.
                let ours = |error: Error| Error::new(error.span(), super::message_of(&error).0);
                let value = self.setting(&expr, *ty).map_err(ours)?;
                checkpoint.numbers.push((name, value));
                return Ok(());
            }
            match name.as_str() {
                "disk" => {
                    let tokens = meta.value()?.parse::<Expr>()?.to_token_stream();
                    checkpoint.disk = Some(self.b.opaque(tokens));
                }
                "schedule" => {
                    let tokens = strategy(&meta.value()?.parse()?)?;
                    checkpoint.schedule = Some(self.b.opaque(tokens));
                }
                _ => {
                    return Err(meta.error(
                        "unknown setting: `slots = 20`, `memory = 1 << 30`, `disk = \"directory\"` with `disk_slots` or \
                         `disk_bytes`, and `schedule = Revolve` are known",
                    ));
                }
            }
            Ok(())
        })?;
        let on_disk = checkpoint.numbers.iter().any(|(name, _)| name.starts_with("disk_"));
        if on_disk != checkpoint.disk.is_some() {
            let message = "snapshots on disk need a place and a size: `disk = \"directory\", disk_slots = 100`";
            return Err(Error::new(span, message));
        }
        Ok(checkpoint)
    }

    fn setting(&mut self, expr: &Expr, ty: Int) -> Result<ValueId> {
        let val = self.operand(expr)?;
        let value = self.scalar(val, expr.span())?;
        self.expect(value, Scalar::Int(ty), expr.span())?;
        Ok(value)
    }
}

fn strategy(expr: &Expr) -> Result<proc_macro2::TokenStream> {
    let name = match expr {
        Expr::Path(path) => path.path.segments.last(),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.last(),
            _ => None,
        },
        _ => None,
    };
    let known = name.filter(|name| STRATEGIES.iter().any(|known| name.ident == known));
    let Some(name) = known else {
        let message = format!("a schedule is one of {}", STRATEGIES.join(", "));
        return Err(Error::new(expr.span(), message));
    };
    let name = &name.ident;
    let arguments = match expr {
        Expr::Call(call) => {
            let arguments = &call.args;
            quote!((#arguments))
        }
        _ => quote!(),
    };
    Ok(quote!(::stratape::checkpoint::Strategy::#name #arguments))
}
