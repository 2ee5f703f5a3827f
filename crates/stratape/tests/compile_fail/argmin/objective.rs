//! A closure that an `Objective` cannot use is told what to write, in few lines.

use stratape::argmin::Objective;

fn main() {
    let _ = Objective::new(
        |x: Vec<f64>| x[0] * x[0],
        |x: &Vec<f64>, dx: &mut Vec<f64>| dx[0] += 2.0 * x[0],
    );

    let _ = Objective::<Vec<f64>, _, _>::new(|x: &[f64]| x[0], |x: &[f64]| vec![x[0]]);
}
