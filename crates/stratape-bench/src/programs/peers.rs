//! Gradients by other crates, which record every operation on a number type of their own.
//!
//! The formulas are written once, for any such type; each peer is called the way its own
//! documentation shows, and may keep its tape from call to call where it offers to.

use std::ops::{Add, Mul, Sub};

use super::nbody::SOFTENING;
use super::{Gradient, Inputs, Scale, Shadows, recurrence};

/// The gradients that peers compute of a program, with the peers' names.
pub(super) fn of(program: &str, scale: Scale) -> Vec<(&'static str, Gradient)> {
    let formula = match program {
        "recurrence" => Formula::Recurrence { steps: recurrence::steps(scale) },
        "product" => Formula::Product,
        "sum" => Formula::Sum,
        "nbody" => Formula::NBody,
        "rosenbrock" => Formula::Rosenbrock,
        _ => return Vec::new(),
    };
    vec![("echidna", echidna(formula)), ("reverse", reverse(formula)), ("aad", aad(formula))]
}

/// A number that remembers what became of it.
trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    fn plus(self, constant: f64) -> Self;
    fn times(self, constant: f64) -> Self;
    fn subtracted_from(self, constant: f64) -> Self;
    fn sin(self) -> Self;
    fn sqrt(self) -> Self;
    fn recip(self) -> Self;
}

/// The programs that peers can express.
#[derive(Clone, Copy)]
enum Formula {
    Recurrence { steps: usize },
    Product,
    Sum,
    NBody,
    Rosenbrock,
}

impl Formula {
    fn of<T: Number>(self, x: &[T]) -> T {
        match self {
            Self::Recurrence { steps } => {
                let (mut state, a, b) = (x[0], x[1], x[2]);
                for _ in 0..steps {
                    state = a * state.sin() + b * state * state;
                }
                state
            }
            Self::Product => x.iter().copied().reduce(T::mul).expect("a factor"),
            Self::Sum => x.iter().copied().reduce(T::add).expect("a term"),
            Self::NBody => {
                let (points, _) = x.as_chunks::<3>();
                let term = |a: &[T; 3], b: &[T; 3]| {
                    let [dx, dy, dz] = [0, 1, 2].map(|c| a[c] - b[c]);
                    (dx * dx + dy * dy + dz * dz).plus(SOFTENING).sqrt().recip()
                };
                let pairs = points.iter().enumerate();
                let pairs = pairs.flat_map(|(i, a)| points[i + 1..].iter().map(move |b| (a, b)));
                pairs.map(|(a, b)| term(a, b)).reduce(T::add).expect("a pair").times(-1.0)
            }
            Self::Rosenbrock => {
                let term = |pair: &[T; 2]| {
                    let t = pair[1] - pair[0] * pair[0];
                    let u = pair[0].subtracted_from(1.0);
                    t.times(100.0) * t + u * u
                };
                x.array_windows().map(term).reduce(T::add).expect("two entries")
            }
        }
    }
}

/// Calls a peer with all active entries in one array, as peers have it.
fn in_one_array(gradient: impl Fn(&[f64]) -> (f64, Vec<f64>) + 'static) -> Gradient {
    Box::new(move |inputs: &mut Inputs, shadows: &mut Shadows| {
        let ([x], [dx]) = (inputs.active(), shadows.each());
        let (value, adjoints) = gradient(x);
        for (dx, adjoint) in dx.iter_mut().zip(adjoints) {
            *dx += adjoint;
        }
        value
    })
}

fn echidna(formula: Formula) -> Gradient {
    in_one_array(move |x| {
        let (values, adjoints) = echidna::vjp(|x| vec![formula.of(x)], x, &[1.0]);
        (values.iter().sum(), adjoints)
    })
}

impl Number for echidna::Reverse<f64> {
    fn plus(self, constant: f64) -> Self {
        self + constant
    }

    fn times(self, constant: f64) -> Self {
        self * constant
    }

    fn subtracted_from(self, constant: f64) -> Self {
        constant - self
    }

    fn sin(self) -> Self {
        num_traits::Float::sin(self)
    }

    fn sqrt(self) -> Self {
        num_traits::Float::sqrt(self)
    }

    fn recip(self) -> Self {
        num_traits::Float::recip(self)
    }
}

fn reverse(formula: Formula) -> Gradient {
    let tape = reverse::Tape::new();
    in_one_array(move |x| {
        tape.clear();
        let variables = tape.add_vars(x);
        let result = formula.of(&variables);
        (result.val(), reverse::Gradient::wrt(&result.grad(), &variables))
    })
}

impl Number for reverse::Var<'_> {
    fn plus(self, constant: f64) -> Self {
        self + constant
    }

    fn times(self, constant: f64) -> Self {
        self * constant
    }

    fn subtracted_from(self, constant: f64) -> Self {
        constant - self
    }

    fn sin(self) -> Self {
        reverse::Var::sin(&self)
    }

    fn sqrt(self) -> Self {
        reverse::Var::sqrt(&self)
    }

    fn recip(self) -> Self {
        reverse::Var::recip(&self)
    }
}

fn aad(formula: Formula) -> Gradient {
    in_one_array(move |x| {
        let tape = aad::Tape::new();
        let variables: Vec<_> = tape.create_variables_iter(x).collect();
        let result = formula.of(&variables);
        let gradients = result.compute_gradients().expect("a result on the tape");
        let adjoints = gradients.get_gradients_iter(&variables);
        (result.value(), adjoints.map(|adjoint| adjoint.expect("an input on the tape")).collect())
    })
}

impl Number for aad::Variable<'_, f64> {
    fn plus(self, constant: f64) -> Self {
        self + constant
    }

    fn times(self, constant: f64) -> Self {
        self * constant
    }

    fn subtracted_from(self, constant: f64) -> Self {
        constant - self
    }

    fn sin(self) -> Self {
        self.sin()
    }

    fn sqrt(self) -> Self {
        self.sqrt()
    }

    fn recip(self) -> Self {
        self.recip()
    }
}
