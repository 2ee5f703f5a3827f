//! What layers of another size cost on this processor, and what it costs to save every value, on programs that do save.

#![allow(clippy::needless_range_loop, reason = "loops as people write them")]

use crate::error::BenchError;
use crate::measure::{best_of, sink};
use crate::runner::{Line, Runner};

/// A program with several settings of its tape: the first is what the others are held against.
macro_rules! with_settings {
    ($module:ident, $doc:literal, ($($parameter:ident: $ty:ty),*) -> f64 $body:block) => {
        mod $module {
            #![doc = $doc]

            with_settings! { @one default (name = default_grad) ($($parameter: $ty),*) $body }
            with_settings! { @one smallest (name = smallest_grad, tape(layer_bytes = 512)) ($($parameter: $ty),*) $body }
            with_settings! { @one small (name = small_grad, tape(layer_bytes = 4096)) ($($parameter: $ty),*) $body }
            with_settings! { @one medium (name = medium_grad, tape(layer_bytes = 16384)) ($($parameter: $ty),*) $body }
            with_settings! { @one everything (name = everything_grad, tape(saved = "all")) ($($parameter: $ty),*) $body }
        }
    };
    (@one $name:ident ($($settings:tt)*) ($($parameter:ident: $ty:ty),*) $body:block) => {
        #[stratape::gradient($($settings)*)]
        pub(super) fn $name($($parameter: $ty),*) -> f64 $body
    };
}

/// The gradients of a program, in the order of [`CASES`] after the first.
macro_rules! gradients {
    ($module:ident) => {
        [
            $module::default_grad,
            $module::smallest_grad,
            $module::small_grad,
            $module::medium_grad,
            $module::everything_grad,
        ]
    };
}

with_settings!(product, "A running product.", (x: &[f64]) -> f64 {
    let mut product = 1.0;
    for i in 0..x.len() {
        product *= x[i];
    }
    product
});

with_settings!(recurrence, "A state that each step makes anew.", (x: &[f64]) -> f64 {
    let mut state = 0.5;
    for i in 0..x.len() {
        state = (state * x[i]).sin() + 0.1 * state;
    }
    state
});

with_settings!(heat, "Heat in a plate whose conductivity depends on its temperature, 32 steps.", (x: &[f64]) -> f64 {
    let n = 64;
    let (mut u, mut next) = (x.to_vec(), x.to_vec());
    for _ in 0..32 {
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                let k = i * n + j;
                let conductivity = 0.1 + 0.05 * u[k] * u[k];
                next[k] = u[k] + conductivity * (u[k - 1] + u[k + 1] + u[k - n] + u[k + n] - 4.0 * u[k]);
            }
        }
        std::mem::swap(&mut u, &mut next);
    }
    let mut sum = 0.0;
    for k in 0..n * n {
        sum += u[k] * u[k];
    }
    sum
});

type Gradient = fn(&[f64], &mut [f64], f64) -> f64;

/// Runs the suite.
pub(crate) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let n = if runner.quick() { 20_000 } else { 1_000_000 };
    let programs: [(&str, usize, [Gradient; 5]); 3] = [
        ("product", n, gradients!(product)),
        ("recurrence", n, gradients!(recurrence)),
        ("heat", 64 * 64, gradients!(heat)),
    ];
    for (name, length, gradients) in programs {
        let x: Vec<f64> = (0..length).map(|i| 1.0 + 1e-3 * (i as f64).sin()).collect();
        measure(runner, name, &x, &gradients)?;
    }
    Ok(())
}

const CASES: [&str; 4] =
    ["layers of 512 B", "layers of 4 KiB", "layers of 16 KiB", "every value saved"];

fn measure(
    runner: &mut Runner<'_>,
    name: &str,
    x: &[f64],
    gradients: &[Gradient; 5],
) -> Result<(), BenchError> {
    for (case, gradient) in CASES.iter().zip(&gradients[1..]) {
        let case = format!("{name}/{case}");
        if !runner.wants(&case) {
            continue;
        }
        let mut shadows = [vec![0.0; x.len()], vec![0.0; x.len()]];
        let [first, second] = &mut shadows;
        let rounds = if runner.quick() { 3 } else { 15 };
        let [ours, theirs] = best_of(
            rounds,
            [&mut || sink(gradient(x, first, 1.0)), &mut || sink(gradients[0](x, second, 1.0))],
        );
        let against = "layers as the tape finds good";
        let (ours, theirs) = (ours * 1e6, theirs * 1e6);
        runner.tell(&Line {
            bench: "tapeflow",
            case: &case,
            ours,
            against,
            theirs,
            unit: "µs",
            aim: None,
        })?;
    }
    Ok(())
}
