//! What the backward half needs, as a graph for Graphviz.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stratape_compiler::explain::{Fate, Graph, GraphNode, Subject, graphs};

use super::source::Source;

/// The longest expression that names a node.
const LONGEST: usize = 24;

/// The graph of a function. Values are nodes, loops are clusters around them.
pub(super) fn digraph(source: &Source, subject: &Subject) -> String {
    let name = subject.item.sig.ident.to_string();
    let legend = format!(
        "values that the backward pass of {name} needs\\n\
         filled box: saved; ellipse: recomputed; dashed ellipse: reloaded; grey: kept in a variable\\n\
         double: used by the backward pass itself, single: others are recomputed from it; blue: derivatives flow through it"
    );
    let mut text = format!("digraph {} {{\n", quoted(&name));
    text.push_str("  rankdir=LR;\n  labelloc=b;\n  fontname=\"sans-serif\";\n");
    text.push_str("  node [fontname=\"sans-serif\" fontsize=11];\n");
    // The breaks of its lines are written out.
    let _ = writeln!(text, "  label=\"{legend}\";");
    for (part, graph) in graphs(subject).iter().enumerate() {
        let writer = Writer { source, graph, part, numbers: numbers(source, graph) };
        match graph.time_loop {
            None => writer.level(None, 1, &mut text),
            Some(span) => {
                let line = source.place(span).map_or_else(String::new, |at| at.line.to_string());
                let _ = writeln!(text, "  subgraph cluster_p{part} {{");
                let _ = writeln!(
                    text,
                    "    labelloc=t; label=\"one step of the time loop in line {line}\";"
                );
                writer.level(None, 2, &mut text);
                text.push_str("  }\n");
            }
        }
        for (from, to) in &graph.edges {
            let _ = writeln!(text, "  {} -> {};", writer.id(*from), writer.id(*to));
        }
    }
    text.push_str("}\n");
    text
}

struct Writer<'a> {
    source: &'a Source,
    graph: &'a Graph,
    part: usize,
    /// Of values that share a name: which of them each node is.
    numbers: Vec<Option<usize>>,
}

/// Values of one name are counted, in the order in which they are computed. Memory keeps its name: it is one place.
fn numbers(source: &Source, graph: &Graph) -> Vec<Option<usize>> {
    let counts = |node: &GraphNode| node.made_by != "memory" && node.made_by != "carried";
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, node) in graph.nodes.iter().enumerate().filter(|(_, node)| counts(node)) {
        by_name.entry(name(source, node).to_owned()).or_default().push(at);
    }
    let mut numbers = vec![None; graph.nodes.len()];
    for mut same in by_name.into_values().filter(|same| same.len() > 1) {
        same.sort_by_key(|at| source.place(graph.nodes[*at].span).map(|place| place.bytes));
        for (number, at) in same.into_iter().enumerate() {
            numbers[at] = Some(number + 1);
        }
    }
    numbers
}

/// The variable, the expression or the operation.
fn name<'a>(source: &'a Source, node: &'a GraphNode) -> &'a str {
    let written = source.place(node.span).map(|place| source.written(&place));
    let short = written.filter(|text| text.chars().count() <= LONGEST);
    node.name.as_deref().or(short).unwrap_or(&node.made_by)
}

/// A number below the line.
fn subscript(number: usize) -> String {
    let digit =
        |digit: char| match digit.to_digit(10).and_then(|digit| char::from_u32(0x2080 + digit)) {
            Some(digit) => digit,
            None => digit,
        };
    number.to_string().chars().map(digit).collect()
}

impl Writer<'_> {
    fn id(&self, node: usize) -> String {
        format!("p{}_{node}", self.part)
    }

    /// The nodes that lie in a loop, or in none, and the loops there.
    fn level(&self, inside: Option<usize>, depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        for (at, node) in self.graph.nodes.iter().enumerate() {
            if node.inside == inside {
                let _ = writeln!(text, "{indent}{} [{}];", self.id(at), self.attributes(at, node));
            }
        }
        for (at, one) in self.graph.loops.iter().enumerate() {
            if one.inside == inside {
                let _ = writeln!(text, "{indent}subgraph cluster_p{}_{at} {{", self.part);
                let _ =
                    writeln!(text, "{indent}  labelloc=t; label={};", quoted(&self.heading(at)));
                self.level(Some(at), depth + 1, text);
                let _ = writeln!(text, "{indent}}}");
            }
        }
    }

    /// The line that a loop begins with.
    fn heading(&self, at: usize) -> String {
        self.source.place(self.graph.loops[at].span).map_or_else(
            || "a loop".to_owned(),
            |place| {
                let line = self.source.text().lines().nth(place.line - 1).unwrap_or_default();
                let head = line.trim().trim_end_matches('{').trim_end();
                let head = if head.chars().count() > 2 * LONGEST { "a loop" } else { head };
                format!("{head}, line {}", place.line)
            },
        )
    }

    fn attributes(&self, at: usize, node: &GraphNode) -> String {
        let shape = match (node.made_by.as_str(), node.fate) {
            ("memory", _) => "shape=folder style=filled fillcolor=\"#eeeeee\"",
            (_, Fate::Saved(_)) => "shape=box style=filled fillcolor=\"#ffd27f\"",
            (_, Fate::Recomputed) => "shape=ellipse",
            (_, Fate::Reread) => "shape=ellipse style=dashed",
            (_, Fate::There) => "shape=box style=\"filled,rounded\" fillcolor=\"#eeeeee\"",
        };
        let mut text = format!("label={} {shape}", quoted(&self.label(at, node)));
        if node.asked_for {
            text.push_str(" peripheries=2");
        }
        if node.active {
            text.push_str(" color=\"#005ab5\" penwidth=2");
        }
        if let Fate::Saved(reason) = node.fate {
            let _ = write!(text, " tooltip={}", quoted(reason.text()));
        }
        text
    }

    /// The variable, the expression or the operation, and its line. What a loop carries over is named for the iteration it comes from.
    fn label(&self, at: usize, node: &GraphNode) -> String {
        let name = name(self.source, node);
        let number = self.numbers[at].map_or_else(String::new, subscript);
        match (node.made_by.as_str(), self.source.place(node.span)) {
            (how @ ("parameter" | "memory"), _) => format!("{name}{number}\n{how}"),
            ("carried", Some(place)) => format!("{name} before\ncarried, line {}", place.line),
            ("carried", None) => format!("{name} before"),
            (_, Some(place)) => format!("{name}{number}\nline {}", place.line),
            (_, None) => format!("{name}{number}"),
        }
    }
}

/// A string of the language: nothing in it is taken for an escape.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}
