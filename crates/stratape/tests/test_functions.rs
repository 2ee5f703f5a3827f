//! The functions on which optimisers are tried, against the gradients and Hessians that others worked out by hand
//! (`argmin_testfunctions`), written as different people write them.

#[path = "test_functions/arrays.rs"]
mod arrays;
#[path = "test_functions/index_loops.rs"]
mod index_loops;
#[path = "test_functions/iterators.rs"]
mod iterators;
#[path = "test_functions/own_types.rs"]
mod own_types;

mod common;

use argmin_testfunctions as known;
use common::Random;

/// What others know of a function, and where they say it is to be tried.
struct Known {
    value: fn(&[f64]) -> f64,
    gradient: fn(&[f64]) -> Vec<f64>,
    hessian: fn(&[f64]) -> Vec<Vec<f64>>,
    dimensions: std::ops::RangeInclusive<usize>,
    domain: std::ops::Range<f64>,
}

/// Compares a gradient of ours with what is known, at random points.
fn compare(name: &str, known: &Known, ours: fn(&[f64], &mut [f64], f64) -> f64) {
    let mut random = Random::new(name.len() as u64);
    for dimension in known.dimensions.clone() {
        for _ in 0..40 {
            let x: Vec<f64> = (0..dimension).map(|_| random.within(&known.domain)).collect();
            let mut dx = vec![0.0; dimension];
            let value = ours(&x, &mut dx, 1.0);
            let close = |what: &str, got: f64, wanted: f64, scale: f64, within: f64| {
                assert!(
                    (got - wanted).abs() <= within * (scale + wanted.abs()),
                    "{name}: {what} is {got}, known is {wanted}, at {x:?}"
                );
            };
            let gradient = (known.gradient)(&x);
            let steepest = gradient.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
            close("the value", value, (known.value)(&x), 1.0, 1e-12);
            let hessian = (known.hessian)(&x);
            for i in 0..dimension {
                close("a slope", dx[i], gradient[i], steepest, 1e-11);
                // The diagonal of the Hessian, by differences of our gradient.
                let h = 1e-5 * (1.0 + x[i].abs());
                let slope = |by: f64| {
                    let (mut moved, mut dmoved) = (x.clone(), vec![0.0; dimension]);
                    moved[i] += by;
                    ours(&moved, &mut dmoved, 1.0);
                    dmoved[i]
                };
                let fine = (slope(h) - slope(-h)) / (2.0 * h);
                let coarse = (slope(2.0 * h) - slope(-2.0 * h)) / (4.0 * h);
                // Where the differences of two widths disagree, they say nothing: a kink is near.
                let scale = 1.0 + steepest;
                if (fine - coarse).abs() < 1e-5 * (scale + fine.abs()) {
                    close("a curvature", fine, hessian[i][i], scale, 1e-4);
                }
            }
        }
    }
}

/// Functions of any number of arguments.
macro_rules! many {
    ($style:ident: $($name:ident $grad:ident $derivative:ident $hessian:ident, $dimensions:expr, $domain:expr;)*) => {$({
        let known = Known {
            value: |x| known::$name(x),
            gradient: |x| known::$derivative(x),
            hessian: |x| known::$hessian(x),
            dimensions: $dimensions,
            domain: $domain,
        };
        compare(stringify!($style::$name), &known, |x, dx, seed| $style::$grad(x, dx, seed));
    })*};
}

/// Functions of two.
macro_rules! two {
    ($style:ident: $($name:ident $grad:ident $derivative:ident $hessian:ident, $domain:expr;)*) => {$({
        let known = Known {
            value: |x| known::$name(&[x[0], x[1]]),
            gradient: |x| known::$derivative(&[x[0], x[1]]).to_vec(),
            hessian: |x| known::$hessian(&[x[0], x[1]]).map(|row| row.to_vec()).to_vec(),
            dimensions: 2..=2,
            domain: $domain,
        };
        compare(stringify!($style::$name), &known, |x, dx, seed| {
            let (p, mut dp) = ([x[0], x[1]], [0.0; 2]);
            let value = $style::$grad(&p, &mut dp, seed);
            dx.copy_from_slice(&dp);
            value
        });
    })*};
}

macro_rules! in_style {
    ($($style:ident as $test:ident),*) => {$(
        #[test]
        fn $test() {
            many! { $style:
                ackley ackley_grad ackley_derivative ackley_hessian, 1..=7, -32.0..32.0;
                rastrigin rastrigin_grad rastrigin_derivative rastrigin_hessian, 1..=7, -5.0..5.0;
                rosenbrock rosenbrock_grad rosenbrock_derivative rosenbrock_hessian, 2..=9, -2.0..2.0;
                sphere sphere_grad sphere_derivative sphere_hessian, 1..=6, -9.0..9.0;
                styblinski_tang styblinski_tang_grad styblinski_tang_derivative styblinski_tang_hessian, 1..=7, -5.0..5.0;
                levy levy_grad levy_derivative levy_hessian, 2..=8, -10.0..10.0;
                zero zero_grad zero_derivative zero_hessian, 1..=3, -1.0..1.0;
            }
            two! { $style:
                beale beale_grad beale_derivative beale_hessian, -4.5..4.5;
                booth booth_grad booth_derivative booth_hessian, -10.0..10.0;
                bukin_n6 bukin_n6_grad bukin_n6_derivative bukin_n6_hessian, -12.0..3.0;
                cross_in_tray cross_in_tray_grad cross_in_tray_derivative cross_in_tray_hessian, -10.0..10.0;
                easom easom_grad easom_derivative easom_hessian, 0.0..6.0;
                eggholder eggholder_grad eggholder_derivative eggholder_hessian, -512.0..512.0;
                goldsteinprice goldsteinprice_grad goldsteinprice_derivative goldsteinprice_hessian, -2.0..2.0;
                himmelblau himmelblau_grad himmelblau_derivative himmelblau_hessian, -5.0..5.0;
                holder_table holder_table_grad holder_table_derivative holder_table_hessian, -10.0..10.0;
                levy_n13 levy_n13_grad levy_n13_derivative levy_n13_hessian, -10.0..10.0;
                matyas matyas_grad matyas_derivative matyas_hessian, -10.0..10.0;
                mccormick mccormick_grad mccormick_derivative mccormick_hessian, -3.0..4.0;
                picheny picheny_grad picheny_derivative picheny_hessian, 0.0..1.0;
                schaffer_n2 schaffer_n2_grad schaffer_n2_derivative schaffer_n2_hessian, -9.0..9.0;
                schaffer_n4 schaffer_n4_grad schaffer_n4_derivative schaffer_n4_hessian, -9.0..9.0;
                threehumpcamel threehumpcamel_grad threehumpcamel_derivative threehumpcamel_hessian, -5.0..5.0;
            }
        }
    )*};
}

in_style!(
    index_loops as in_index_loops,
    iterators as in_iterators_and_closures,
    own_types as with_types_of_our_own,
    arrays as with_arrays_and_vectors
);
