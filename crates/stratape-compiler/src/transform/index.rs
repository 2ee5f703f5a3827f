//! Indices as values.

use stratape_ir::analysis::Polynomial;
use stratape_ir::{Block, Function, Op, Scalar, SourceId, ValueId};

/// A polynomial as a value at the end of a block, exact where it fits in a `usize`.
pub(crate) fn index(function: &mut Function, polynomial: &Polynomial, out: &mut Block) -> ValueId {
    let mut sum = None;
    for (symbols, factor) in polynomial.terms() {
        let number = i128::from(factor.unsigned_abs() as u64);
        let literal = number != 1 || symbols.is_empty();
        let mut product = literal.then(|| define(function, Op::Int(number), out));
        for symbol in symbols {
            let symbol = match function.ty(*symbol) == Scalar::USIZE {
                true => *symbol,
                false => define(function, Op::Cast(*symbol, Scalar::USIZE), out),
            };
            product = Some(match product {
                Some(product) => wrapping(function, "wrapping_mul", (product, symbol), out),
                None => symbol,
            });
        }
        let Some(product) = product else { continue };
        sum = Some(match (sum, factor < 0) {
            (None, false) => product,
            (None, true) => {
                let zero = define(function, Op::Int(0), out);
                wrapping(function, "wrapping_sub", (zero, product), out)
            }
            (Some(sum), false) => wrapping(function, "wrapping_add", (sum, product), out),
            (Some(sum), true) => wrapping(function, "wrapping_sub", (sum, product), out),
        });
    }
    sum.unwrap_or_else(|| define(function, Op::Int(0), out))
}

fn wrapping(
    function: &mut Function,
    name: &str,
    (a, b): (ValueId, ValueId),
    out: &mut Block,
) -> ValueId {
    define(function, Op::Method(name.to_owned(), vec![a, b]), out)
}

fn define(function: &mut Function, op: Op, out: &mut Block) -> ValueId {
    function.define(out, Scalar::USIZE, op, SourceId::NONE)
}
