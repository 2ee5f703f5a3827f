//! Gradients for the solvers of `argmin`.

use std::fmt;
use std::marker::PhantomData;

use ::argmin::core::{CostFunction, Error, Gradient};

use crate::flat::{Flat, FlatMut, Float};

/// The problem for a solver of `argmin`: a function and its gradient.
///
/// It is a [`CostFunction`] and a [`Gradient`] of parameters `P`: `Vec<f64>`, or, with the features `ndarray` and `nalgebra`,
/// their vectors and matrices; anything [`Flat`]. The closures take slices, `|x: &[f64]|`, or the parameters themselves, `|x: &Vec<f64>|`;
/// the types have to be written. The gradient's closure receives a zeroed shadow. A closure may return a `Result`: the solver returns its
/// errors.
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

impl<P, F, M, G, N> Objective<P, Closure<F, M>, Closure<G, N>>
where
    P: Flat,
    F: ValueOf<P, M>,
    G: GradientOf<P, N>,
{
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
    ///
    /// The parameters themselves will do as well as slices:
    ///
    /// ```
    /// use argmin::core::{CostFunction, Error, Gradient};
    /// use stratape::argmin::Objective;
    /// use stratape::gradient;
    ///
    /// #[gradient]
    /// fn product(x: &[f64]) -> f64 {
    ///     x.iter().product()
    /// }
    ///
    /// let objective = Objective::new(
    ///     |x: &Vec<f64>| product(x),
    ///     |x: &Vec<f64>, dx: &mut Vec<f64>| {
    ///         product_grad(x, dx, 1.0);
    ///     },
    /// );
    /// assert_eq!(objective.gradient(&vec![2.0, 3.0])?, [3.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(value: F, gradient: G) -> Self {
        Self {
            value: Closure::new(value),
            gradient: Closure::new(gradient),
            parameters: PhantomData,
        }
    }
}

impl<P: Flat, F: ValueOf<P, M>, M, G> CostFunction for Objective<P, Closure<F, M>, G> {
    type Param = P;
    type Output = P::Elem;

    fn cost(&self, x: &P) -> Result<P::Elem, Error> {
        self.value.closure.value_at(x)
    }
}

impl<P: Flat, F, G: GradientOf<P, N>, N> Gradient for Objective<P, F, Closure<G, N>> {
    type Param = P;
    type Gradient = P::Owned;

    fn gradient(&self, x: &P) -> Result<P::Owned, Error> {
        let mut dx = x.zeros_like();
        self.gradient.closure.gradient_at(x, &mut dx)?;
        Ok(dx)
    }
}

/// A closure of an [`Objective`], and what it takes: slices or parameters.
pub struct Closure<F, M> {
    closure: F,
    takes: PhantomData<fn() -> M>,
}

impl<F, M> Closure<F, M> {
    fn new(closure: F) -> Self {
        Self { closure, takes: PhantomData }
    }
}

impl<F: Clone, M> Clone for Closure<F, M> {
    fn clone(&self) -> Self {
        Self::new(self.closure.clone())
    }
}

impl<F: Copy, M> Copy for Closure<F, M> {}

/// A closure that takes slices, and what it returns.
#[doc(hidden)]
pub struct OfSlices<V>(PhantomData<V>);

/// A closure that takes parameters, and what it returns.
#[doc(hidden)]
pub struct OfParameters<V>(PhantomData<V>);

/// The function of an [`Objective`]: a closure of a slice or of the parameters, with a number or a `Result` of one.
///
/// ```
/// use stratape::argmin::ValueOf;
///
/// fn at_two<M>(function: impl ValueOf<Vec<f64>, M>) -> Result<f64, argmin::core::Error> {
///     function.value_at(&vec![2.0])
/// }
///
/// assert_eq!(at_two(|x: &[f64]| x[0] * x[0])?, 4.0);
/// assert_eq!(at_two(|x: &Vec<f64>| x[0] * x[0])?, 4.0);
/// # Ok::<(), argmin::core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this is no function for an `Objective`",
    label = "write `|x: &[f64]|`, a slice of the solver's numbers, or `|x: &Vec<f64>|`, the solver's parameters",
    note = "it returns a number, or a `Result` of one"
)]
pub trait ValueOf<P: Flat, M> {
    /// The value.
    ///
    /// # Errors
    /// What the closure returns; parameters that are not contiguous.
    fn value_at(&self, x: &P) -> Result<P::Elem, Error>;
}

impl<P, F, V> ValueOf<P, OfSlices<V>> for F
where
    P: Flat,
    F: Fn(&[P::Elem]) -> V,
    V: Outcome<P::Elem>,
{
    fn value_at(&self, x: &P) -> Result<P::Elem, Error> {
        self(x.flat()?).outcome()
    }
}

impl<P, F, V> ValueOf<P, OfParameters<V>> for F
where
    P: Flat,
    F: Fn(&P) -> V,
    V: Outcome<P::Elem>,
{
    fn value_at(&self, x: &P) -> Result<P::Elem, Error> {
        self(x).outcome()
    }
}

/// The gradient of an [`Objective`]: a closure of slices or of the parameters and their shadow, with nothing or a `Result` of it.
///
/// ```
/// use stratape::argmin::GradientOf;
///
/// fn at_two<M>(gradient: impl GradientOf<Vec<f64>, M>) -> Result<f64, argmin::core::Error> {
///     let mut shadow = vec![0.0];
///     gradient.gradient_at(&vec![2.0], &mut shadow)?;
///     Ok(shadow[0])
/// }
///
/// assert_eq!(at_two(|x: &[f64], dx: &mut [f64]| dx[0] += 2.0 * x[0])?, 4.0);
/// # Ok::<(), argmin::core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this is no gradient for an `Objective`",
    label = "write `|x: &[f64], dx: &mut [f64]|`, slices of the solver's numbers, or `|x: &Vec<f64>, dx: &mut Vec<f64>|`, the solver's parameters",
    note = "it adds to `dx`, and returns nothing or a `Result<(), _>`"
)]
pub trait GradientOf<P: Flat, M> {
    /// Adds the gradient to a shadow.
    ///
    /// # Errors
    /// What the closure returns; parameters that are not contiguous.
    fn gradient_at(&self, x: &P, shadow: &mut P::Owned) -> Result<(), Error>;
}

impl<P, F, U> GradientOf<P, OfSlices<U>> for F
where
    P: Flat,
    F: Fn(&[P::Elem], &mut [P::Elem]) -> U,
    U: Outcome<()>,
{
    fn gradient_at(&self, x: &P, shadow: &mut P::Owned) -> Result<(), Error> {
        self(x.flat()?, shadow.flat_mut()?).outcome()
    }
}

impl<P, F, U> GradientOf<P, OfParameters<U>> for F
where
    P: Flat,
    F: Fn(&P, &mut P::Owned) -> U,
    U: Outcome<()>,
{
    fn gradient_at(&self, x: &P, shadow: &mut P::Owned) -> Result<(), Error> {
        self(x, shadow).outcome()
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
