//! Gradients with several settings of their tapes, in memory: what another layout costs, layers of another size, pushes one by one, and saving every value.

#![allow(clippy::needless_range_loop, reason = "loops as people write them")]

use crate::error::BenchError;
use crate::measure::{best_of, sink};
use crate::runner::{Line, Runner};

/// A program with several settings of its tape: the first is what the others are held against.
macro_rules! with_settings {
    ($module:ident, $doc:literal, ($($parameter:ident: $ty:ty),*) -> f64 $body:block) => {
        pub(super) mod $module {
            #![doc = $doc]

            with_settings! { @one default (name = default_grad) ($($parameter: $ty),*) $body }
            with_settings! { @one columns (name = columns_grad, tape(layout = "soa")) ($($parameter: $ty),*) $body }
            with_settings! { @one pushed (name = pushed_grad, tape(layout = "none")) ($($parameter: $ty),*) $body }
            with_settings! { @one smallest (name = smallest_grad, tape(layer_bytes = 512)) ($($parameter: $ty),*) $body }
            with_settings! { @one small (name = small_grad, tape(layer_bytes = 4096)) ($($parameter: $ty),*) $body }
            with_settings! { @one medium (name = medium_grad, tape(layer_bytes = 16384)) ($($parameter: $ty),*) $body }
            with_settings! { @one everything (name = everything_grad, tape(saved = "all")) ($($parameter: $ty),*) $body }
        }
    };
    (@one $name:ident ($($settings:tt)*) ($($parameter:ident: $ty:ty),*) $body:block) => {
        #[stratape::gradient(wrt(x), $($settings)*)]
        pub(in crate::tapeflow) fn $name($($parameter: $ty),*) -> f64 $body
    };
}

/// The gradients of a program, in the order of [`CASES`] after the first.
macro_rules! gradients {
    ($module:ident) => {
        [
            $module::default_grad,
            $module::columns_grad,
            $module::pushed_grad,
            $module::smallest_grad,
            $module::small_grad,
            $module::medium_grad,
            $module::everything_grad,
        ]
    };
}

const CASES: [&str; 6] = [
    "struct of arrays",
    "one push a record",
    "layers of 512 B",
    "layers of 4 KiB",
    "layers of 16 KiB",
    "every value saved",
];

with_settings!(product, "A running product.", (x: &[f64], _n: usize, _steps: usize) -> f64 {
    let mut product = 1.0;
    for i in 0..x.len() {
        product *= x[i];
    }
    product
});

with_settings!(recurrence, "A state that each step makes anew.", (x: &[f64], _n: usize, _steps: usize) -> f64 {
    let mut state = 0.5;
    for i in 0..x.len() {
        state = (state * x[i]).sin() + 0.1 * state;
    }
    state
});

with_settings!(thomas, "A tridiagonal system, solved from both ends.", (x: &[f64], n: usize, _steps: usize) -> f64 {
    let (mut c, mut d) = (vec![0.0; n], vec![0.0; n]);
    c[0] = -0.3 / (2.0 + x[0]);
    d[0] = x[0] / (2.0 + x[0]);
    for i in 1..n {
        let pivot = 2.0 + x[i] + 0.4 * c[i - 1];
        c[i] = -0.3 / pivot;
        d[i] = (x[i] + 0.4 * d[i - 1]) / pivot;
    }
    let mut sum = d[n - 1] * d[n - 1];
    let mut last = d[n - 1];
    for i in 1..n {
        let k = n - 1 - i;
        last = d[k] - c[k] * last;
        sum += last * last;
    }
    sum
});

with_settings!(springs, "A ring of masses, and springs between them, over many steps.", (x: &[f64], n: usize, steps: usize) -> f64 {
    let (mut p, mut v) = (x.to_vec(), vec![0.0; 2 * n]);
    for _ in 0..steps {
        for i in 0..n {
            let j = if i + 1 == n { 0 } else { i + 1 };
            let (dx, dy) = (p[2 * j] - p[2 * i], p[2 * j + 1] - p[2 * i + 1]);
            let length = (dx * dx + dy * dy + 0.01).sqrt();
            let pull = 0.02 * (length - 0.5) / length;
            v[2 * i] += pull * dx;
            v[2 * i + 1] += pull * dy;
            v[2 * j] -= pull * dx;
            v[2 * j + 1] -= pull * dy;
        }
        for i in 0..2 * n {
            p[i] += 0.05 * v[i];
        }
    }
    let mut sum = 0.0;
    for i in 0..2 * n {
        sum += p[i] * p[i];
    }
    sum
});

with_settings!(network, "A convolution, a pool and a layer on top, of one picture; the weights are active.", (x: &[f64], n: usize, _steps: usize) -> f64 {
    let side = n;
    let pooled = (side - 4) / 2;
    let mut out = vec![0.0; pooled * pooled];
    for i in 0..pooled {
        for j in 0..pooled {
            let mut largest = -10.0;
            for a in 0..2 {
                for b in 0..2 {
                    let mut sum = x[25];
                    for k in 0..5 {
                        for l in 0..5 {
                            let pixel = 0.01 * ((2 * i + a + k) * side + 2 * j + b + l) as f64;
                            sum += x[5 * k + l] * (pixel - 1.0);
                        }
                    }
                    let value = sum.tanh();
                    if value > largest {
                        largest = value;
                    }
                }
            }
            out[i * pooled + j] = largest;
        }
    }
    let mut loss = 0.0;
    for i in 0..pooled * pooled {
        let y = (out[i] * x[26 + i]).tanh();
        loss += y * y;
    }
    loss
});

with_settings!(plate, "Heat in a plate of n by n cells whose conductivity depends on its temperature.", (x: &[f64], n: usize, steps: usize) -> f64 {
    let (mut u, mut next) = (x.to_vec(), x.to_vec());
    for _ in 0..steps {
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

type Gradient = fn(&[f64], &mut [f64], usize, usize, f64) -> f64;

/// A program: its name, how many numbers it takes, its sizes, and its gradients.
type Case = (&'static str, usize, (usize, usize), [Gradient; 7]);

/// Numbers around 1.
pub(super) fn input(length: usize) -> Vec<f64> {
    (0..length).map(|i| 1.0 + 1e-3 * (i as f64).sin()).collect()
}

/// Runs the suite.
pub(super) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let (long, wide, steps) = if runner.quick() { (20_000, 32, 20) } else { (1_000_000, 128, 500) };
    let programs: [Case; 6] = [
        ("product", long, (long, 1), gradients!(product)),
        ("recurrence", long, (long, 1), gradients!(recurrence)),
        ("thomas", long, (long, 1), gradients!(thomas)),
        ("springs", 2 * wide, (wide, steps), gradients!(springs)),
        ("network", 26 + 12 * 12, (28, 1), gradients!(network)),
        ("plate", wide * wide, (wide, 20), gradients!(plate)),
    ];
    for (name, length, sizes, gradients) in programs {
        measure(runner, name, &input(length), sizes, &gradients)?;
    }
    Ok(())
}

fn measure(
    runner: &mut Runner<'_>,
    name: &str,
    x: &[f64],
    (n, steps): (usize, usize),
    gradients: &[Gradient; 7],
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
            [&mut || sink(gradient(x, first, n, steps, 1.0)), &mut || {
                sink(gradients[0](x, second, n, steps, 1.0));
            }],
        );
        let against = "frames, layers as the tape finds good";
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_gives_the_same_bits() {
        let sizes = [
            ("product", 200, (200, 1), gradients!(product)),
            ("recurrence", 200, (200, 1), gradients!(recurrence)),
            ("thomas", 200, (200, 1), gradients!(thomas)),
            ("springs", 24, (12, 30), gradients!(springs)),
            ("network", 26 + 16, (12, 1), gradients!(network)),
            ("plate", 100, (10, 7), gradients!(plate)),
        ];
        for (name, length, (n, steps), gradients) in sizes {
            let x = input(length);
            let results = gradients.map(|gradient: Gradient| {
                let mut dx = vec![0.0; length];
                let value = gradient(&x, &mut dx, n, steps, 1.0);
                (value.to_bits(), dx)
            });
            assert!(results[0].1.iter().any(|d| *d != 0.0), "{name}");
            for (number, (value, dx)) in results.iter().enumerate() {
                assert_eq!(*value, results[0].0, "{name}, setting {number}");
                for (d, first) in dx.iter().zip(&results[0].1) {
                    // The last bits of adjoints are free where every value is saved.
                    let off = (d - first).abs() / first.abs().max(1e-12);
                    assert!(off < 1e-9, "{name}, setting {number}: {d} {first}");
                }
            }
        }
    }
}
