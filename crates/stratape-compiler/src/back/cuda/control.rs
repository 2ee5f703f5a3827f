//! Loops and branches as CUDA C++.

use std::fmt::Write;

use super::{Printer, c_scalar};
use stratape_ir::{If, Loop, Range, Stmt};

impl Printer<'_> {
    pub(super) fn repeat(&mut self, node: &Loop) {
        for carried in &node.carried {
            let ty = c_scalar(self.function.ty(carried.inside));
            let text =
                format!("{ty} {} = {};", self.value(carried.inside), self.value(carried.init));
            self.line(&text);
        }
        if let Some(trips) = node.trips {
            let text = format!("stratape_usize {} = 0;", self.value(trips));
            self.line(&text);
        }
        let (ty, counter) = (c_scalar(self.function.ty(node.counter)), self.value(node.counter));
        if let Some(times) = side_by_side(node) {
            self.line(&format!("#pragma unroll {times}"));
        }
        match (node.range, node.reversed) {
            (Range::Forever, _) => self.line(&format!("for ({ty} {counter} = 0;; ++{counter}) {{")),
            (Range::UpTo { from, to }, false) => {
                let (from, to) = (self.value(from), self.value(to));
                self.line(&format!(
                    "for ({ty} {counter} = {from}; {counter} < {to}; ++{counter}) {{"
                ));
            }
            (Range::UpTo { from, to }, true) => {
                let (from, to) = (self.value(from), self.value(to));
                self.line(&format!("for ({ty} {counter}_up = {to}; {counter}_up > {from};) {{"));
                self.line(&format!("  const {ty} {counter} = --{counter}_up;"));
            }
        }
        self.inner(&node.body);
        self.indent += 1;
        let changed: Vec<_> = node.carried.iter().filter(|one| one.next != one.inside).collect();
        match &changed[..] {
            [] => {}
            [one] => {
                let text = format!("{} = {};", self.value(one.inside), self.value(one.next));
                self.line(&text);
            }
            all => {
                // All at once: one may be made of another.
                let mut text = String::from("{ ");
                for (at, one) in all.iter().enumerate() {
                    let ty = c_scalar(self.function.ty(one.next));
                    let _ = write!(text, "const {ty} n{at} = {}; ", self.value(one.next));
                }
                for (at, one) in all.iter().enumerate() {
                    let _ = write!(text, "{} = n{at}; ", self.value(one.inside));
                }
                text.push('}');
                self.line(&text);
            }
        }
        if let Some(trips) = node.trips {
            let text = format!("++{};", self.value(trips));
            self.line(&text);
        }
        if let Some(exit) = node.exit {
            let text = format!("if ({}) break;", self.value(exit));
            self.line(&text);
        }
        self.indent -= 1;
        self.line("}");
        for carried in &node.carried {
            let inside = self.value(carried.inside);
            self.define(carried.after, &inside);
        }
    }

    pub(super) fn branch(&mut self, node: &If) {
        for merge in &node.merges {
            let ty = c_scalar(self.function.ty(merge.value));
            let text = format!("{ty} {};", self.value(merge.value));
            self.line(&text);
        }
        let text = format!("if ({}) {{", self.value(node.condition));
        self.line(&text);
        for (is_then, block) in [(true, &node.then), (false, &node.other)] {
            if !is_then {
                if block.is_empty() && node.merges.is_empty() {
                    break;
                }
                self.line("} else {");
            }
            self.inner(block);
            self.indent += 1;
            for merge in &node.merges {
                let from = if is_then { merge.then } else { merge.other };
                let text = format!("{} = {};", self.value(merge.value), self.value(from));
                self.line(&text);
            }
            self.indent -= 1;
        }
        self.line("}");
    }
}

/// How many iterations of a loop are to stand side by side. They hide what each waits for, where few threads have long loops: what is summed waits
/// for memory alone (docs/gpu.md: softmax).
fn side_by_side(node: &Loop) -> Option<usize> {
    let added = |stmt: &Stmt| {
        matches!(
            stmt,
            Stmt::Let { .. } | Stmt::Accumulate { .. } | Stmt::Check { .. } | Stmt::Atomic(_)
        )
    };
    let straight = |stmt: &Stmt| match stmt {
        // An addition that is atomic on some grids.
        Stmt::If(branch) => {
            branch.merges.is_empty() && branch.then.iter().chain(&branch.other).all(added)
        }
        Stmt::Atomic(_) => false,
        stmt => added(stmt),
    };
    let only_values = node.body.iter().all(|stmt| matches!(stmt, Stmt::Let { .. }));
    match node.body.len() {
        _ if node.exit.is_some() => None,
        0..=16 if only_values => Some(8),
        0..=80 if node.body.iter().all(straight) => Some(4),
        _ => None,
    }
}
