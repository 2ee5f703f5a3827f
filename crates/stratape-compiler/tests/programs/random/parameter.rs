//! Parameters of every type that is accepted.

use super::generate::{Access, COLLECTED, Generator, Kind, TAME, Variable};
use super::value::{Input, Passing, Value};

/// A parameter: its name and type as written, its argument, and what the body can use of it.
pub(super) struct Parameter {
    pub(super) text: String,
    pub(super) input: Input,
    pub(super) variables: Vec<Variable>,
}

fn variable(name: impl Into<String>, kind: Kind, access: Access) -> Variable {
    Variable { name: name.into(), kind, access }
}

fn float() -> Kind {
    Kind::Float { bound: 2.0, collects: false }
}

impl Generator<'_> {
    /// A parameter of some type.
    pub(super) fn parameter(&mut self, name: &str) -> Parameter {
        match self.random.below(if self.config.modules { 18 } else { 13 }) {
            0..=1 => self.array_parameter(name),
            2 => self.exclusive_array(name),
            3..=4 => self.rows_parameter(name),
            5 => self.pair_parameter(name),
            6 => self.tuple_behind_reference(name),
            7 => self.behind_reference(name),
            8..=9 => self.updated_behind_reference(name),
            10 => Parameter {
                text: format!("{name}: bool"),
                input: Input::Bool(self.random.chance(50)),
                variables: vec![variable(name, Kind::Bool, Access::Read)],
            },
            11 => {
                let number = self.random.within(0, 9) as i64 - 4;
                let ty = *self.random.pick(&["i32", "i64", "isize"]);
                Parameter {
                    text: format!("{name}: {ty}"),
                    input: Input::Int(number),
                    variables: vec![variable(
                        name,
                        Kind::Signed { from: number, to: number },
                        Access::Read,
                    )],
                }
            }
            12 => {
                let number = self.random.below(7) as i64;
                let ty = *self.random.pick(&["u8", "u32", "u64"]);
                Parameter {
                    text: format!("{name}: {ty}"),
                    input: Input::Int(number),
                    variables: vec![variable(
                        name,
                        Kind::Signed { from: number, to: number },
                        Access::Read,
                    )],
                }
            }
            13 => {
                self.items.enumeration = true;
                let (variant, number) = *self.random.pick(&[
                    ("Norm::Sum", 0),
                    ("Norm::Largest", 1),
                    ("Norm::Smooth", 2),
                ]);
                Parameter {
                    text: format!("{name}: Norm"),
                    input: Input::Variant(variant.to_owned(), number),
                    variables: vec![variable(name, Kind::Norm, Access::Read)],
                }
            }
            14..=15 => self.point_parameter(name),
            _ => self.points_parameter(name),
        }
    }

    fn array_parameter(&mut self, name: &str) -> Parameter {
        let ty = self.config.float;
        let len = *self.random.pick(&[1, 2, 3, 4]);
        let values = Value::floats(&self.floats(len));
        let array =
            |access| variable(name, Kind::Floats { len, bound: 2.0, collects: false }, access);
        let (text, passing, access) = match self.random.below(3) {
            0 => (format!("{name}: [{ty}; {len}]"), Passing::Owned, Access::Read),
            1 => (format!("mut {name}: [{ty}; {len}]"), Passing::Owned, Access::Write),
            _ => (format!("{name}: &[{ty}; {len}]"), Passing::Shared, Access::Read),
        };
        let mut declared = array(access);
        if access == Access::Write {
            declared.kind = Kind::Floats { len, bound: TAME, collects: false };
        }
        Parameter { text, input: Input::Data(passing, values), variables: vec![declared] }
    }

    fn exclusive_array(&mut self, name: &str) -> Parameter {
        let ty = self.config.float;
        let (rows, columns) = (self.random.within(1, 4), self.random.within(1, 3));
        let values = (0..rows).map(|_| Value::floats(&self.floats(columns))).collect();
        let kind = Kind::Rows {
            len: rows,
            fields: Vec::new(),
            inner: columns,
            bound: COLLECTED,
            collects: true,
        };
        Parameter {
            text: format!("{name}: &mut [[{ty}; {columns}]; {rows}]"),
            input: Input::Data(Passing::Exclusive, Value::Array(values)),
            variables: vec![variable(name, kind, Access::Write)],
        }
    }

    /// `&[[f64; 3]]`, `&[(f64, f64)]`, `&mut [[f64; 2]]`
    fn rows_parameter(&mut self, name: &str) -> Parameter {
        let ty = self.config.float;
        let len = self.length_of_array();
        if self.random.chance(40) {
            let pair =
                |me: &mut Self| Value::Tuple(me.floats(2).into_iter().map(Value::Float).collect());
            let values = (0..len).map(|_| pair(self)).collect();
            let fields = vec![".0".to_owned(), ".1".to_owned()];
            let kind = Kind::Rows { len, fields, inner: 0, bound: 2.0, collects: false };
            return Parameter {
                text: format!("{name}: &[({ty}, {ty})]"),
                input: Input::Data(Passing::Shared, Value::Array(values)),
                variables: vec![variable(name, kind, Access::Read)],
            };
        }
        let columns = self.random.within(2, 3);
        let values = (0..len).map(|_| Value::floats(&self.floats(columns))).collect();
        let written = self.random.chance(50);
        let (sign, passing, access, bound) = if written {
            ("&mut ", Passing::Exclusive, Access::Write, COLLECTED)
        } else {
            ("&", Passing::Shared, Access::Read, 2.0)
        };
        let kind = Kind::Rows { len, fields: Vec::new(), inner: columns, bound, collects: written };
        Parameter {
            text: format!("{name}: {sign}[[{ty}; {columns}]]"),
            input: Input::Data(passing, Value::Array(values)),
            variables: vec![variable(name, kind, access)],
        }
    }

    /// `(f64, usize)`
    fn pair_parameter(&mut self, name: &str) -> Parameter {
        let ty = self.config.float;
        let (number, value) = (self.random.within(1, 4), self.floats(1)[0]);
        Parameter {
            text: format!("{name}: ({ty}, usize)"),
            input: Input::Data(
                Passing::Owned,
                Value::Tuple(vec![Value::Float(value), Value::Int(number as i64)]),
            ),
            variables: vec![
                variable(format!("{name}.0"), float(), Access::Read),
                variable(format!("{name}.1"), Kind::Int { from: number, to: number }, Access::Read),
            ],
        }
    }

    /// `&(f64, [f64; 2])`
    fn tuple_behind_reference(&mut self, name: &str) -> Parameter {
        let ty = self.config.float;
        let values = self.floats(3);
        let value = Value::Tuple(vec![Value::Float(values[0]), Value::floats(&values[1..])]);
        Parameter {
            text: format!("{name}: &({ty}, [{ty}; 2])"),
            input: Input::Data(Passing::Shared, value),
            variables: vec![
                variable(format!("{name}.0"), float(), Access::Read),
                variable(
                    format!("{name}.1"),
                    Kind::Floats { len: 2, bound: 2.0, collects: false },
                    Access::Read,
                ),
            ],
        }
    }

    fn behind_reference(&mut self, name: &str) -> Parameter {
        let ty = self.config.float;
        let value = Value::Float(self.floats(1)[0]);
        Parameter {
            text: format!("{name}: &{ty}"),
            input: Input::Data(Passing::Shared, value),
            variables: vec![variable(format!("(*{name})"), float(), Access::Read)],
        }
    }

    fn updated_behind_reference(&mut self, name: &str) -> Parameter {
        let ty = self.config.float;
        let value = Value::Float(self.floats(1)[0]);
        let kind = Kind::Float { bound: COLLECTED, collects: true };
        Parameter {
            text: format!("{name}: &mut {ty}"),
            input: Input::Data(Passing::Exclusive, value),
            variables: vec![variable(format!("(*{name})"), kind, Access::Write)],
        }
    }

    fn point(&mut self) -> Value {
        let values = self.floats(2);
        Value::Struct(
            "Point".to_owned(),
            vec![
                ("x".to_owned(), Value::Float(values[0])),
                ("y".to_owned(), Value::Float(values[1])),
            ],
        )
    }

    fn point_parameter(&mut self, name: &str) -> Parameter {
        self.items.points = true;
        let value = self.point();
        let (text, passing, access) = match self.random.below(3) {
            0 => (format!("{name}: Point"), Passing::Owned, Access::Read),
            1 => (format!("{name}: &Point"), Passing::Shared, Access::Read),
            _ => (format!("{name}: &mut Point"), Passing::Exclusive, Access::Write),
        };
        let collects = access == Access::Write;
        let bound = if collects { COLLECTED } else { 2.0 };
        let place = if passing == Passing::Owned { name.to_owned() } else { format!("(*{name})") };
        let mut variables = vec![variable(place, Kind::Point, access)];
        for field in ["x", "y"] {
            let kind = Kind::Float { bound, collects };
            variables.push(variable(format!("{name}.{field}"), kind, access));
        }
        Parameter { text, input: Input::Data(passing, value), variables }
    }

    fn points_parameter(&mut self, name: &str) -> Parameter {
        self.items.points = true;
        let len = self.length_of_array();
        let values = (0..len).map(|_| self.point()).collect();
        let written = self.random.chance(30);
        let (sign, passing, access, bound) = if written {
            ("&mut ", Passing::Exclusive, Access::Write, COLLECTED)
        } else {
            ("&", Passing::Shared, Access::Read, 2.0)
        };
        let fields = vec![".x".to_owned(), ".y".to_owned()];
        let kind = Kind::Rows { len, fields, inner: 0, bound, collects: written };
        Parameter {
            text: format!("{name}: {sign}[Point]"),
            input: Input::Data(passing, Value::Array(values)),
            variables: vec![variable(name, kind, access)],
        }
    }

    /// How long a list is: mostly short, sometimes one of the lengths at which loops are cut.
    pub(super) fn length_of_array(&mut self) -> usize {
        if self.config.extremes && self.random.chance(40) {
            *self.random.pick(&[0, 1, 1, 2, 3, 7, 8, 9, 63, 64, 65])
        } else {
            self.random.within(2, 5)
        }
    }

    /// Inputs. Some are round numbers, where kinks are; some lists hold equal numbers, zeros of both signs, or
    /// numbers of very different size.
    pub(super) fn floats(&mut self, len: usize) -> Vec<f64> {
        let single = self.config.float == "f32";
        let kind = if self.config.extremes { self.random.below(12) } else { 11 };
        let mut float = || {
            let value = match (kind, self.random.below(12)) {
                (0..=1, _) => *self.random.pick(&[0.5, -0.5, 1.0, 0.5]),
                (2, 0..=7) => *self.random.pick(&[0.0, -0.0, 1.0, -1.0]),
                (3, 0..=3) if !single => *self.random.pick(&[1e16, -1e16, 1.0, 1e-16]),
                (4, 0..=3) if !single => *self.random.pick(&[5e-324, 1e-310, -1e-310, 0.0]),
                (_, 0) => *self.random.pick(&[0.0, 1.0, -1.0, 0.5]),
                _ => self.random.float(-2.0, 2.0),
            };
            if single { f64::from(value as f32) } else { value }
        };
        (0..len).map(|_| float()).collect()
    }
}
