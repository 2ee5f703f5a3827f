//! The text for `nalgebra`: what does not differ from shape to shape is written out, the rest is made here.

use std::fmt::Write as _;

use super::dense;

/// The largest number of rows and columns that has a name.
const LARGEST: usize = 6;

/// The text, with the names and constructors of all shapes, and the fields that vectors and matrices seem to have.
pub(super) fn text() -> String {
    let mut text = include_str!("nalgebra.rs.txt").to_owned();
    text += include_str!("nalgebra_dynamic.rs.txt");
    let (more, mismatch) =
        (include_str!("nalgebra_dense.rs.txt"), "Matrix addition/subtraction dimensions mismatch.");
    text += &dense::texts(&["DVector", "DMatrix"], more, mismatch);
    text += &parts();
    for rows in 1..=LARGEST {
        for columns in 1..=LARGEST {
            for name in names(rows, columns) {
                let _ = writeln!(text, "pub type {name}<T> = SMatrix<T, {rows}, {columns}>;");
                text += &constructor(&name, rows, columns);
            }
        }
    }
    for size in 1..=4 {
        let names = ["x", "y", "z", "w"][..size].join(", ");
        let params = names.replace(", ", ": T, ") + ": T";
        let _ = writeln!(
            text,
            "impl<T> Point{size}<T> {{
                fn new({params}) -> Point<T, {size}> {{
                    Point {{ coords: SMatrix {{ data: ArrayStorage([[{names}]]) }} }}
                }}
            }}"
        );
    }
    text + &fields()
}

/// Columns and rows that are written to, and what may be added to them.
fn parts() -> String {
    let mut text = String::new();
    for part in ["ColumnMut", "LineMut"] {
        text += &include_str!("nalgebra_part.rs.txt").replace("PART", part);
        for (name, method, sign) in
            [("AddAssign", "add_assign", "+"), ("SubAssign", "sub_assign", "-")]
        {
            for (generics, other) in [
                ("T", "DVector<T>"),
                ("T", "DMatrix<T>"),
                ("T, const R: usize, const C: usize", "SMatrix<T, R, C>"),
            ] {
                let _ = writeln!(
                    text,
                    "impl<{generics}> {name}<{other}> for {part}<T> {{
                        fn {method}(&mut self, other: {other}) {{
                            assert!(self.len() == other.len(), \"Matrix addition/subtraction dimensions mismatch.\");
                            self.visit(|to, i| *to {sign}= *other.index(i));
                        }}
                    }}"
                );
            }
        }
    }
    text
}

fn names(rows: usize, columns: usize) -> Vec<String> {
    let mut names = Vec::new();
    if rows == columns {
        names.push(format!("Matrix{rows}"));
    } else {
        names.push(format!("Matrix{rows}x{columns}"));
    }
    if columns == 1 {
        names.push(format!("Vector{rows}"));
    }
    if rows == 1 {
        names.push(format!("RowVector{columns}"));
    }
    names
}

/// `new`, whose arguments come row by row.
fn constructor(name: &str, rows: usize, columns: usize) -> String {
    let element = |row: usize, column: usize| format!("m{row}{column}");
    let in_rows = (0..rows).flat_map(|row| (0..columns).map(move |column| element(row, column)));
    let params: Vec<String> = in_rows.map(|element| format!("{element}: T")).collect();
    let column = |column: usize| {
        let elements: Vec<String> = (0..rows).map(|row| element(row, column)).collect();
        format!("[{}]", elements.join(", "))
    };
    let columns_text: Vec<String> = (0..columns).map(column).collect();
    format!(
        "impl<T> {name}<T> {{
            fn new({}) -> SMatrix<T, {rows}, {columns}> {{
                SMatrix {{ data: ArrayStorage([{}]) }}
            }}
        }}
",
        params.join(", "),
        columns_text.join(", ")
    )
}

/// `v.x`, `m.m12` and the like, as methods that the front end calls for fields that are not there.
fn fields() -> String {
    let mut matrix = String::new();
    let mut point = String::new();
    for (at, name) in ["x", "y", "z", "w", "a", "b"].iter().enumerate() {
        let _ = writeln!(
            matrix,
            "fn field_{name}(&self) -> &T {{
                if C == 1 {{ &self.data.0[0][{at}] }} else {{ &self.data.0[{at}][0] }}
            }}"
        );
        let _ = writeln!(point, "fn field_{name}(&self) -> &T {{ &self.coords.data.0[0][{at}] }}");
    }
    for row in 0..LARGEST {
        for column in 0..LARGEST {
            let _ = writeln!(
                matrix,
                "fn field_m{}{}(&self) -> &T {{ &self.data.0[{column}][{row}] }}",
                row + 1,
                column + 1
            );
        }
    }
    format!(
        "impl<T, const R: usize, const C: usize> SMatrix<T, R, C> {{ {matrix} }}
        impl<T, const D: usize> Point<T, D> {{ {point} }}
"
    )
}
