//! One product with a number instead of one for each: `(d·x)·½` and `(d·y)·½` are `h·x` and `h·y`, where `h = d·½`.
//!
//! A flux is half a sum for each of its faces, and so on: the adjoints of all of them begin in one value, and end in the same number. Never worse: a product that nothing else
//! shares costs as much before as after.

use std::collections::{HashMap, HashSet};

use super::is_moderate;
use stratape_ir::{Binary, Block, Function, Op, Stmt, ValueId};

/// A number times a product that nothing else uses.
struct Multiple {
    number: f64,
    /// The number as a value; none for two, which is added.
    literal: Option<ValueId>,
    product: ValueId,
    operands: [ValueId; 2],
}

/// Multiplies values that several products share by the number that these end in.
pub(super) fn multiply_once(
    function: &mut Function,
    literals: &HashMap<ValueId, f64>,
    nodes: &mut Block,
    uses: &HashMap<ValueId, usize>,
) {
    let mut multiples = found(function, literals, nodes, uses);
    let mut shares: HashMap<(ValueId, u64), usize> = HashMap::new();
    for multiple in multiples.values() {
        let [a, b] = multiple.operands;
        for operand in [Some(a), (a != b).then_some(b)].into_iter().flatten() {
            *shares.entry((operand, multiple.number.to_bits())).or_default() += 1;
        }
    }
    let share = |operand: ValueId, number: f64| shares[&(operand, number.to_bits())];
    multiples.retain(|_, multiple| {
        multiple
            .operands
            .sort_by_key(|operand| (std::cmp::Reverse(share(*operand, multiple.number)), *operand));
        share(multiple.operands[0], multiple.number) > 1
    });
    if multiples.is_empty() {
        return;
    }
    let dropped: HashSet<ValueId> = multiples.values().map(|multiple| multiple.product).collect();
    let mut known: HashMap<(ValueId, u64), ValueId> = HashMap::new();
    for node in std::mem::take(nodes) {
        match node {
            Stmt::Let { value, .. } if dropped.contains(&value) => {}
            Stmt::Let { value, .. } if multiples.contains_key(&value) => {
                let Multiple { number, literal, operands: [operand, other], .. } =
                    multiples[&value];
                let scaled = *known.entry((operand, number.to_bits())).or_insert_with(|| {
                    let scaled = function.new_value_like(value);
                    function.values[scaled.index()].name = None;
                    let op = match literal {
                        Some(literal) => Op::Binary(Binary::Mul, operand, literal),
                        None => Op::Binary(Binary::Add, operand, operand),
                    };
                    nodes.push(Stmt::Let { value: scaled, op });
                    scaled
                });
                nodes.push(Stmt::Let { value, op: Op::Binary(Binary::Mul, scaled, other) });
            }
            node => nodes.push(node),
        }
    }
}

/// The adjoints of a block that are such multiples.
fn found(
    function: &Function,
    literals: &HashMap<ValueId, f64>,
    nodes: &Block,
    uses: &HashMap<ValueId, usize>,
) -> HashMap<ValueId, Multiple> {
    // Those that folding has made.
    let own: HashMap<ValueId, f64> = nodes.iter().filter_map(literal).collect();
    let number_of = |value: &ValueId| own.get(value).or_else(|| literals.get(value)).copied();
    let mut products: HashMap<ValueId, [ValueId; 2]> = HashMap::new();
    let mut multiples = HashMap::new();
    for node in nodes {
        let Stmt::Let { value, op: Op::Binary(operation, a, b) } = node else { continue };
        if !function.values[value.index()].adjoint {
            continue;
        }
        let (literal, number, product, used) = match (operation, number_of(a), number_of(b)) {
            (Binary::Mul, None, None) => {
                products.insert(*value, [*a, *b]);
                continue;
            }
            (Binary::Mul, None, Some(number)) => (Some(*b), number, *a, 1),
            (Binary::Mul, Some(number), None) => (Some(*a), number, *b, 1),
            (Binary::Add, ..) if a == b => (None, 2.0, *a, 2),
            _ => continue,
        };
        if let Some(operands) = products.get(&product)
            && uses.get(&product) == Some(&used)
            && is_moderate(number)
        {
            multiples.insert(*value, Multiple { number, literal, product, operands: *operands });
        }
    }
    multiples
}

fn literal(node: &Stmt) -> Option<(ValueId, f64)> {
    match node {
        Stmt::Let { value, op: Op::Float(number, _) } => Some((*value, *number)),
        _ => None,
    }
}
