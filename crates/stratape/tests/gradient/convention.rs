//! How a gradient is called, and what it does with its shadows.

#![allow(clippy::needless_range_loop, clippy::unwrap_used)]

use crate::common::Random;
use stratape::tape::TapeOptions;
use stratape::{Workspace, gradient};

#[gradient]
fn energy(x: &[f64], k: f64, n: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..n {
        s += k * x[i] * x[i];
    }
    s
}

#[test]
fn value_and_adjoints_come_back_in_a_tuple() {
    let mut dx = [0.0; 3];
    let (value, dk): (f64, f64) = energy_grad(&[1.0, 2.0, 3.0], &mut dx, 2.0, 3, 1.0);
    assert_eq!((value, dk), (28.0, 14.0));
    assert_eq!(dx, [4.0, 8.0, 12.0]);
}

#[test]
fn shadows_are_added_to() {
    let mut dx = [100.0, 10.0, 1.0];
    energy_grad(&[1.0, 2.0, 3.0], &mut dx, 2.0, 3, 1.0);
    assert_eq!(dx, [104.0, 18.0, 13.0]);
    energy_grad(&[1.0, 2.0, 3.0], &mut dx, 2.0, 3, 1.0);
    assert_eq!(dx, [108.0, 26.0, 25.0]);
}

#[test]
fn the_seed_scales_every_adjoint() {
    let mut dx = [0.0; 3];
    let (value, dk) = energy_grad(&[1.0, 2.0, 3.0], &mut dx, 2.0, 3, -0.5);
    assert_eq!((value, dk), (28.0, -7.0));
    assert_eq!(dx, [-2.0, -4.0, -6.0]);
}

#[test]
fn what_is_not_read_gets_nothing() {
    let mut dx = [0.0, 0.0, 5.0];
    energy_grad(&[1.0, 2.0, 3.0], &mut dx, 2.0, 2, 1.0);
    assert_eq!(dx, [4.0, 8.0, 5.0]);
}

#[gradient]
fn only_slices(x: &[f64]) -> f64 {
    x[0] * x[1]
}

#[test]
fn without_active_scalars_the_value_comes_back_alone() {
    let mut dx = [0.0; 2];
    let value: f64 = only_slices_grad(&[3.0, 4.0], &mut dx, 1.0);
    assert_eq!(value, 12.0);
    assert_eq!(dx, [4.0, 3.0]);
}

#[gradient]
fn scalars_between_others(a: f64, x: &[f64], n: usize, b: f64, flag: bool, c: f64) -> f64 {
    if flag { a * x[n] + b * c } else { a }
}

#[test]
fn adjoints_come_in_the_order_of_the_parameters() {
    let mut dx = [0.0; 2];
    let all = scalars_between_others_grad(2.0, &[3.0, 5.0], &mut dx, 1, 7.0, true, 11.0, 1.0);
    assert_eq!(all, (87.0, 5.0, 11.0, 7.0));
    assert_eq!(dx, [0.0, 2.0]);
}

#[gradient]
fn smooth(y: &mut [f64], w: f64) {
    for i in 1..y.len() {
        y[i] = w * y[i - 1] + (1.0 - w) * y[i];
    }
}

#[test]
fn exclusive_shadows_hold_seeds_then_adjoints() {
    let mut y = [1.0, 2.0, 4.0];
    let mut dy = [0.0, 0.0, 1.0];
    let dw: f64 = smooth_grad(&mut y, &mut dy, 0.5);
    assert_eq!(y, [1.0, 1.5, 2.75]);
    assert_eq!(dy, [0.25, 0.25, 0.5]);
    assert_eq!(dw, (1.5 - 4.0) + 0.5 * (1.0 - 2.0));
}

#[gradient]
fn overwrite(y: &mut [f64], x: &[f64]) {
    y[0] = x[0] * 2.0;
}

#[test]
fn an_overwritten_element_has_no_adjoint_left() {
    let (mut y, mut dy, mut dx) = ([9.0, 9.0], [1.0, 1.0], [0.0]);
    let nothing: () = overwrite_grad(&mut y, &mut dy, &[3.0], &mut dx);
    let () = nothing;
    assert_eq!((y, dy, dx), ([6.0, 9.0], [0.0, 1.0], [2.0]));
}

#[gradient]
fn two_scalars_and_no_value(y: &mut [f64], a: f64, b: f64) {
    y[0] *= a * b;
}

#[test]
fn without_a_value_the_adjoints_come_alone() {
    let (mut y, mut dy) = ([2.0], [1.0]);
    let (da, db) = two_scalars_and_no_value_grad(&mut y, &mut dy, 3.0, 5.0);
    assert_eq!((y, dy, da, db), ([30.0], [15.0], 10.0, 6.0));
}

#[gradient(wrt(x, b))]
fn some_parameters(x: &[f64], y: &[f64], a: f64, b: f64) -> f64 {
    a * x[0] * y[0] + b * a
}

#[test]
fn wrt_makes_the_others_constant() {
    let mut dx = [0.0];
    let (value, db) = some_parameters_grad(&[2.0], &mut dx, &[3.0], 5.0, 7.0, 1.0);
    assert_eq!((value, db), (65.0, 5.0));
    assert_eq!(dx, [15.0]);
}

#[gradient(wrt(y))]
fn read_only_beside(x: &[f64], y: &mut [f64]) {
    for i in 0..y.len() {
        y[i] *= x[i];
    }
}

#[test]
fn wrt_can_name_what_is_written() {
    let (mut y, mut dy) = ([2.0, 3.0], [1.0, 10.0]);
    read_only_beside_grad(&[5.0, 7.0], &mut y, &mut dy);
    assert_eq!((y, dy), ([10.0, 21.0], [5.0, 70.0]));
}

#[gradient(name = slope, wrt(x))]
fn parabola(x: f64, a: f64) -> f64 {
    a * x * x
}

#[test]
fn the_gradient_can_be_named() {
    assert_eq!(slope(3.0, 2.0, 1.0), (18.0, 12.0));
    let mut workspace = Workspace::new();
    assert_eq!(slope_in(&mut workspace, 3.0, 2.0, 1.0).unwrap(), (18.0, 12.0));
}

#[gradient]
fn keywords(r#type: f64, seed: f64, dx: f64, x: &[f64], workspace: f64, tape: f64) -> f64 {
    r#type * seed + dx * x[0] + workspace * tape
}

#[test]
fn names_of_parameters_do_not_clash() {
    let mut shadow = [0.0];
    let all = keywords_grad(2.0, 3.0, 5.0, &[7.0], &mut shadow, 11.0, 13.0, 1.0);
    assert_eq!(all, (184.0, 3.0, 2.0, 7.0, 13.0, 11.0));
    assert_eq!(shadow, [5.0]);
}

#[gradient]
fn lifetimes<'a>(x: &'a [f64], y: &'a [f64]) -> f64 {
    x[0] * y[0]
}

#[test]
fn lifetimes_are_kept() {
    let (mut dx, mut dy) = ([0.0], [0.0]);
    assert_eq!(lifetimes_grad(&[2.0], &mut dx, &[3.0], &mut dy, 1.0), 6.0);
    assert_eq!((dx, dy), ([3.0], [2.0]));
}

/// A long recurrence saves every state; an in-place one overwrites them as well.
#[gradient]
fn orbit(y: &mut [f64], x0: f64, n: usize) -> f64 {
    let mut x = x0;
    for step in 0..n {
        let at = step % y.len();
        x = 0.9 * x.sin() + 0.3 * y[at];
        y[at] = x * y[at].cos();
        let mut k = 0;
        while k < step % 3 {
            x = x * x * 0.5;
            k += 1;
        }
    }
    x
}

type Bits = (u64, u64, Vec<u64>, Vec<u64>);

fn run(gradient: impl FnOnce(&mut [f64], &mut [f64]) -> (f64, f64)) -> Bits {
    let mut random = Random::new(3);
    let mut numbers = || (0..7).map(|_| random.within(&(-1.0..1.0))).collect::<Vec<f64>>();
    let (mut y, mut dy) = (numbers(), numbers());
    let (value, dx0) = gradient(&mut y, &mut dy);
    let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect();
    (value.to_bits(), dx0.to_bits(), bits(y), bits(dy))
}

#[test]
fn a_workspace_that_spills_gives_the_same_bits() {
    const STEPS: usize = 50_000;
    let expected = run(|y, dy| orbit_grad(y, dy, 0.4, STEPS, 1.0));
    let mut in_memory = Workspace::new();
    assert_eq!(
        run(|y, dy| orbit_grad_in(&mut in_memory, y, dy, 0.4, STEPS, 1.0).unwrap()),
        expected
    );
    let options = TapeOptions::new().memory(128 << 10).slab_bytes(16 << 10);
    let mut small = Workspace::with(options).unwrap();
    for _ in 0..2 {
        assert_eq!(
            run(|y, dy| orbit_grad_in(&mut small, y, dy, 0.4, STEPS, 1.0).unwrap()),
            expected
        );
    }
    assert!(small.stats().bytes_spilled > 0, "{}", small.stats());
    assert_eq!(in_memory.stats().bytes_spilled, 0);
}

#[test]
fn a_workspace_survives_a_panic() {
    let mut workspace = Workspace::new();
    let expected = run(|y, dy| orbit_grad_in(&mut workspace, y, dy, 0.4, 100, 1.0).unwrap());
    crate::common::panic_message(|| orbit_grad_in(&mut workspace, &mut [], &mut [], 0.4, 100, 1.0));
    assert_eq!(run(|y, dy| orbit_grad_in(&mut workspace, y, dy, 0.4, 100, 1.0).unwrap()), expected);
    crate::common::panic_message(|| orbit_grad(&mut [], &mut [], 0.4, 100, 1.0));
    assert_eq!(run(|y, dy| orbit_grad(y, dy, 0.4, 100, 1.0)), expected);
}

#[gradient]
fn single(x: &[f32], y: &mut [f32], k: f32) -> f32 {
    y[0] += k * x[0];
    y[0] * y[0]
}

#[test]
fn single_precision_has_the_same_convention() {
    let (mut dx, mut y, mut dy) = ([1.0_f32], [2.0_f32], [0.5_f32]);
    let (value, dk): (f32, f32) = single_grad(&[3.0], &mut dx, &mut y, &mut dy, 2.0, 1.0);
    assert_eq!((value, dk), (64.0, 49.5));
    assert_eq!((dx, y, dy), ([34.0], [8.0], [16.5]));
}

#[gradient]
fn no_influence(x: &[f64], a: f64, b: f64) -> f64 {
    let _ = x;
    let _ = a;
    b
}

#[test]
fn parameters_without_influence_have_zero_adjoints() {
    let mut dx = [1.0];
    assert_eq!(no_influence_grad(&[2.0], &mut dx, 3.0, 4.0, 1.0), (4.0, 0.0, 1.0));
    assert_eq!(dx, [1.0]);
}

#[gradient]
fn constant_result(x: &[f64], a: f64) -> f64 {
    if x[0] > a { 1.0 } else { 2.0 }
}

#[test]
fn a_constant_has_no_derivative() {
    let mut dx = [1.0];
    assert_eq!(constant_result_grad(&[2.0], &mut dx, 3.0, 1.0), (2.0, 0.0));
    assert_eq!(dx, [1.0]);
}

#[gradient]
#[cfg(any())]
fn left_out(x: f64) -> f64 {
    x
}

#[stratape::differentiable]
mod with_conditions {
    #[cfg(any())]
    #[gradient]
    fn left_out(x: f64) -> f64 {
        x
    }

    #[cfg(test)]
    #[gradient]
    pub(crate) fn kept(x: f64) -> f64 {
        x * x
    }
}

#[test]
fn gradients_are_left_out_with_their_function() {
    let left_out_grad = with_conditions::kept_grad;
    assert_eq!(left_out_grad(3.0, 1.0), (9.0, 6.0));
}
