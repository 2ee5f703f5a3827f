//! Gradients for the solvers of `argmin`.

use std::fmt;
use std::marker::PhantomData;

use ::argmin::core::{CostFunction, Error, Gradient};

use crate::flat::{Flat, FlatMut, Float};

/// The problem for a solver of `argmin`: a function and its gradient, both on slices.
///
/// It is a [`CostFunction`] and a [`Gradient`] of parameters `P`: `Vec<f64>`, or, with the features `ndarray` and `nalgebra`,
/// their vectors and matrices; anything [`Flat`]. The gradient's closure receives a zeroed shadow. A closure may return a
/// `Result`: the solver returns its errors.
///
/// ```
/// use argmin::core::Executor;
/// use argmin::solver::linesearch::MoreThuenteLineSearch;
/// use argmin::solver::quasinewton::LBFGS;
/// use stratape::argmin::Objective;
/// use stratape::gradient;
///
/// #[gradient(wrt(x))]
/// fn rosenbrock(x: &[f64], b: f64) -> f64 {
///     let mut sum = 0.0;
///     for i in 1..x.len() {
///         sum += (1.0 - x[i - 1]).powi(2) + b * (x[i] - x[i - 1] * x[i - 1]).powi(2);
///     }
///     sum
/// }
///
/// let objective = Objective::new(
///     |x: &[f64]| rosenbrock(x, 100.0),
///     |x: &[f64], dx: &mut [f64]| {
///         rosenbrock_grad(x, dx, 100.0, 1.0);
///     },
/// );
/// let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5);
/// let result = Executor::new(objective, solver)
///     .configure(|state| state.param(vec![-1.0, 2.0, 0.5]).max_iters(100))
///     .run()?;
/// assert!(result.state().best_cost < 1e-12);
/// # Ok::<(), argmin::core::Error>(())
/// ```
///
/// Solvers require more traits of their parameters than `Objective` does; the crate `argmin-math` implements them, with its features: `vec`,
/// `ndarray_v0_16-nolinalg`, `nalgebra_v0_34`. The version of `ndarray` or `nalgebra` must then be the one that is named there; see
/// [`flat`](crate::flat).
#[derive(Clone, Copy)]
pub struct Objective<P, F, G> {
    value: F,
    gradient: G,
    parameters: PhantomData<fn(&P)>,
}

impl<P: Flat, F, G> Objective<P, F, G> {
    /// An objective from a function and a closure that adds its gradient to a shadow.
    ///
    /// Both may return a `Result`, as gradients on a [`Workspace`](crate::Workspace) do:
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// use argmin::core::{CostFunction, Error, Gradient};
    /// use stratape::argmin::Objective;
    /// use stratape::tape::{TapeError, TapeOptions};
    /// use stratape::{Workspace, gradient};
    ///
    /// #[gradient]
    /// fn product(x: &[f64]) -> f64 {
    ///     x.iter().product()
    /// }
    ///
    /// let options = TapeOptions::new().memory(1 << 20);
    /// let workspace = Mutex::new(Workspace::with(options)?);
    /// let objective = Objective::new(
    ///     |x: &[f64]| product(x),
    ///     |x: &[f64], dx: &mut [f64]| -> Result<(), TapeError> {
    ///         let mut workspace = workspace.lock().unwrap();
    ///         product_grad_in(&mut workspace, x, dx, 1.0)?;
    ///         Ok(())
    ///     },
    /// );
    /// let x = vec![2.0, 3.0];
    /// assert_eq!(objective.cost(&x)?, 6.0);
    /// assert_eq!(objective.gradient(&x)?, [3.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new<V, U>(value: F, gradient: G) -> Self
    where
        F: Fn(&[P::Elem]) -> V,
        V: Outcome<P::Elem>,
        G: Fn(&[P::Elem], &mut [P::Elem]) -> U,
        U: Outcome<()>,
    {
        Self { value, gradient, parameters: PhantomData }
    }
}

impl<P, F, V, G> CostFunction for Objective<P, F, G>
where
    P: Flat,
    F: Fn(&[P::Elem]) -> V,
    V: Outcome<P::Elem>,
{
    type Param = P;
    type Output = P::Elem;

    fn cost(&self, x: &P) -> Result<P::Elem, Error> {
        (self.value)(x.flat()?).outcome()
    }
}

impl<P, F, G, U> Gradient for Objective<P, F, G>
where
    P: Flat,
    G: Fn(&[P::Elem], &mut [P::Elem]) -> U,
    U: Outcome<()>,
{
    type Param = P;
    type Gradient = P::Owned;

    fn gradient(&self, x: &P) -> Result<P::Owned, Error> {
        let mut dx = x.zeros_like();
        (self.gradient)(x.flat()?, dx.flat_mut()?).outcome()?;
        Ok(dx)
    }
}

impl<P, F, G> fmt::Debug for Objective<P, F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objective")
            .field("parameters", &std::any::type_name::<P>())
            .finish_non_exhaustive()
    }
}

/// What a closure of an [`Objective`] may return: a `T`, or a `Result` of it with any error.
///
/// ```
/// use stratape::argmin::Outcome;
///
/// fn value(outcome: impl Outcome<f64>) -> Result<f64, argmin::core::Error> {
///     outcome.outcome()
/// }
///
/// assert_eq!(value(1.0)?, 1.0);
/// assert_eq!(value("2.0".parse::<f64>())?, 2.0);
/// assert!(value("two".parse::<f64>()).is_err());
/// # Ok::<(), argmin::core::Error>(())
/// ```
pub trait Outcome<T> {
    /// The value, or the error in the form of `argmin`.
    ///
    /// # Errors
    /// The one that was returned.
    fn outcome(self) -> Result<T, Error>;
}

impl<T: Float> Outcome<T> for T {
    fn outcome(self) -> Result<T, Error> {
        Ok(self)
    }
}

impl Outcome<()> for () {
    fn outcome(self) -> Result<(), Error> {
        Ok(())
    }
}

impl<T, E: Into<Error>> Outcome<T> for Result<T, E> {
    fn outcome(self) -> Result<T, Error> {
        self.map_err(E::into)
    }
}
