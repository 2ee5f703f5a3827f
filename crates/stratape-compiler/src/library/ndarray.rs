//! The text for `ndarray`: operators are made here, for all pairs of shapes.

use std::fmt::Write as _;

use super::dense;

const MISMATCH: &str = "ndarray: could not broadcast array";

const OPERATORS: [(&str, &str, &str); 4] =
    [("Add", "add", "+"), ("Sub", "sub", "-"), ("Mul", "mul", "*"), ("Div", "div", "/")];

/// The text, with the operators of arrays and their parts.
pub(super) fn text() -> String {
    let mut text = include_str!("ndarray.rs.txt").to_owned();
    text += include_str!("ndarray_slices.rs.txt");
    text += include_str!("ndarray_made.rs.txt");
    for (part, whole) in [("RowMut", "Array1"), ("StridedMut", "Array1"), ("BlockMut", "Array2")] {
        text += &include_str!("ndarray_part.rs.txt").replace("PART", part).replace("WHOLE", whole);
        changes(&mut text, part, whole, "change");
        changes_by_number(&mut text, part, "self.visit(|to, i| *to OP= number)", &OPERATORS);
    }
    changes(&mut text, "BlockMut", "Array1", "change_1");
    for owner in ["Array1", "Array2"] {
        changes(&mut text, owner, owner, "change");
        changes_by_number(
            &mut text,
            owner,
            "for i in 0..self.data.len() { self.data[i] OP= number; }",
            &OPERATORS[..2],
        );
        for (name, method, sign) in OPERATORS {
            let _ = writeln!(
                text,
                "impl<T> {name} for {owner}<T> {{
                    fn {method}(self, other: {owner}<T>) -> {owner}<T> {{ self.both(&other, |a, b| a {sign} b) }}
                }}"
            );
            // Products with numbers are those of all lists.
            if !["*", "/"].contains(&sign) {
                let _ = writeln!(
                    text,
                    "impl<T> {name}<T> for {owner}<T> {{
                        fn {method}(self, number: T) -> {owner}<T> {{ self.each(|a| a {sign} number) }}
                    }}"
                );
            }
            if sign != "*" {
                let _ = writeln!(
                    text,
                    "impl<T> {name}<{owner}<T>> for T {{
                        fn {method}(self, other: {owner}<T>) -> {owner}<T> {{
                            let number = self;
                            other.each(|a| number {sign} a)
                        }}
                    }}"
                );
            }
        }
    }
    text += "pub struct Zip<P, D> { parts: P, dim: D }\n";
    for owner in ["Array1", "Array2"] {
        text += &include_str!("ndarray_zip.rs.txt").replace("OWNER", owner);
    }
    changes(&mut text, "Array2", "Array1", "change_1");
    for (left, right, by) in [("Array1", "Array2", "both_2"), ("Array2", "Array1", "both_1")] {
        for (name, method, sign) in OPERATORS {
            let _ = writeln!(
                text,
                "impl<T> {name}<{right}<T>> for {left}<T> {{
                    fn {method}(self, other: {right}<T>) -> Array2<T> {{ self.{by}(&other, |a, b| a {sign} b) }}
                }}"
            );
        }
    }
    text += &dense::texts(&["Array1", "Array2"], include_str!("ndarray_dense.rs.txt"), MISMATCH);
    text.replace("MISMATCH", MISMATCH)
}

/// `a += &b` and its like, and the methods that change one array by another.
fn changes(text: &mut String, owner: &str, other: &str, by: &str) {
    for (name, method, sign) in OPERATORS {
        let _ = writeln!(
            text,
            "impl<T> {name}Assign<{other}<T>> for {owner}<T> {{
                fn {method}_assign(&mut self, other: {other}<T>) {{ self.{by}(&other, |a, b| *a {sign}= b); }}
            }}"
        );
    }
    let _ = writeln!(
        text,
        "impl<T> Assign<{other}<T>> for {owner}<T> {{
            fn assign(&mut self, other: &{other}<T>) {{ self.{by}(other, |a, b| *a = b); }}
        }}
        impl<T> ScaledAdd<{other}<T>> for {owner}<T> {{
            fn scaled_add(&mut self, factor: T, other: &{other}<T>) {{ self.{by}(other, |a, b| *a += factor * b); }}
        }}"
    );
}

/// `a += 1.0` and its like.
fn changes_by_number(text: &mut String, owner: &str, how: &str, operators: &[(&str, &str, &str)]) {
    for (name, method, sign) in operators {
        let how = how.replace("OP", sign);
        let _ = writeln!(
            text,
            "impl<T> {name}Assign<T> for {owner}<T> {{
                fn {method}_assign(&mut self, number: T) {{ {how} }}
            }}"
        );
    }
}
