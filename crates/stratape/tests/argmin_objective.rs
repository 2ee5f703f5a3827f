//! A `#[gradient]` under the solvers of `argmin`, with every kind of parameters.

#![cfg(feature = "argmin")]
#![allow(clippy::unwrap_used)]

use argmin::core::{CostFunction, Error, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use stratape::argmin::Objective;
use stratape::flat::Flat;
use stratape::gradient;
use stratape::tape::{ErrorKind, TapeError};

#[gradient(wrt(x))]
fn rosenbrock(x: &[f64], b: f64) -> f64 {
    let mut sum = 0.0;
    for i in 1..x.len() {
        sum += (1.0 - x[i - 1]).powi(2) + b * (x[i] - x[i - 1] * x[i - 1]).powi(2);
    }
    sum
}

/// Near enough to the minimum at ones; in four dimensions there is another one, on the far side.
const START: [f64; 4] = [0.5, 1.5, 0.3, 2.0];

/// An objective whose parameters are of any kind.
fn objective<P: Flat<Elem = f64>>()
-> impl CostFunction<Param = P, Output = f64> + Gradient<Param = P, Gradient = P::Owned> {
    Objective::new(
        |x: &[f64]| rosenbrock(x, 100.0),
        |x: &[f64], dx: &mut [f64]| {
            rosenbrock_grad(x, dx, 100.0, 1.0);
        },
    )
}

fn same_bits<P: Flat<Elem = f64>>(start: &P) {
    let mut expected = [0.0; 4];
    let value = rosenbrock_grad(&START, &mut expected, 100.0, 1.0);
    let objective = objective::<P>();
    assert_eq!(objective.cost(start).unwrap(), value);
    let found = objective.gradient(start).unwrap();
    assert_eq!(found.flat().unwrap(), expected);
}

/// A solver's bounds on its parameters are long; a macro need not repeat them.
macro_rules! finds_the_minimum {
    ($start:expr) => {
        same_bits(&$start);
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5);
        let result = Executor::new(objective(), solver)
            .configure(|state| state.param($start).max_iters(200))
            .run()
            .unwrap();
        let best = result.state().get_best_param().unwrap();
        assert!(best.flat().unwrap().iter().all(|x| (x - 1.0).abs() < 1e-6), "{best:?}");
    };
}

#[test]
fn vectors() {
    finds_the_minimum!(START.to_vec());
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_of_ndarray() {
    finds_the_minimum!(ndarray::Array1::from(START.to_vec()));
}

#[cfg(feature = "nalgebra")]
#[test]
fn vectors_of_nalgebra() {
    finds_the_minimum!(nalgebra::DVector::from_column_slice(&START));
    finds_the_minimum!(nalgebra::Vector4::from_column_slice(&START));
}

#[gradient]
fn square(x: &[f32]) -> f32 {
    x.iter().map(|v| v * v).sum()
}

#[test]
fn single_precision() {
    let objective = Objective::new(
        |x: &[f32]| square(x),
        |x: &[f32], dx: &mut [f32]| {
            square_grad(x, dx, 1.0);
        },
    );
    let x = vec![1.0_f32, -2.0];
    assert_eq!(objective.cost(&x).unwrap(), 5.0);
    assert_eq!(objective.gradient(&x).unwrap(), [2.0, -4.0]);
}

#[test]
fn closures_of_parameters_are_as_good_as_closures_of_slices() {
    let of_parameters = Objective::new(
        |x: &Vec<f64>| rosenbrock(x, 100.0),
        |x: &Vec<f64>, dx: &mut Vec<f64>| {
            rosenbrock_grad(x, dx, 100.0, 1.0);
        },
    );
    let mixed = Objective::new(
        |x: &Vec<f64>| rosenbrock(x, 100.0),
        |x: &[f64], dx: &mut [f64]| -> Result<(), TapeError> {
            rosenbrock_grad(x, dx, 100.0, 1.0);
            Ok(())
        },
    );
    let (start, slices) = (START.to_vec(), objective::<Vec<f64>>());
    assert_eq!(of_parameters.cost(&start).unwrap(), slices.cost(&start).unwrap());
    assert_eq!(of_parameters.gradient(&start).unwrap(), slices.gradient(&start).unwrap());
    assert_eq!(mixed.gradient(&start).unwrap(), slices.gradient(&start).unwrap());
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5);
    let outcome = Executor::new(of_parameters, solver)
        .configure(|state| state.param(start).max_iters(200))
        .run()
        .unwrap();
    assert!(outcome.state().get_best_cost() < 1e-12);
}

#[test]
fn errors_come_out_of_the_solver() {
    let refuse = || TapeError::from(ErrorKind::Snapshots("no room".to_owned()));
    let objective = Objective::new(
        |x: &[f64]| rosenbrock(x, 100.0),
        |_: &[f64], _: &mut [f64]| -> Result<(), TapeError> { Err(refuse()) },
    );
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5);
    let outcome = Executor::new(objective, solver)
        .configure(|state| state.param(START.to_vec()).max_iters(200))
        .run();
    let error: Error = outcome.err().unwrap();
    assert_eq!(error.downcast_ref::<TapeError>().unwrap().to_string(), refuse().to_string());

    let objective: Objective<Vec<f64>, _, _> = Objective::new(
        |_: &[f64]| -> Result<f64, TapeError> { Err(refuse()) },
        |_: &[f64], _: &mut [f64]| {},
    );
    assert!(objective.cost(&START.to_vec()).unwrap_err().is::<TapeError>());
    assert_eq!(format!("{objective:?}"), r#"Objective { parameters: "alloc::vec::Vec<f64>", .. }"#);
}

#[cfg(feature = "ndarray")]
#[test]
fn parameters_with_gaps_are_an_error() {
    use stratape::flat::NotContiguous;

    let mut start = ndarray::Array1::from(START.to_vec());
    start.invert_axis(ndarray::Axis(0));
    let objective = objective();
    assert!(objective.cost(&start).unwrap_err().is::<NotContiguous>());
    let error = objective.gradient(&start).unwrap_err();
    assert!(error.to_string().contains("shape [4] with strides [-1]"), "{error}");
}
