//! `#[gradient(tape(…))]`: what is saved and in which layers changes no bit of the value, and the gradient stays what it was.

#![allow(clippy::needless_range_loop, reason = "loops as people write them")]

use stratape::gradient;

/// A function several times, with other settings of the tape.
macro_rules! with_settings {
    ($($name:ident $gradient:ident ($($settings:tt)*);)*) => {$(
        #[gradient($($settings)*)]
        fn $name(x: &[f64], k: f64) -> f64 {
            let (mut state, mut other, mut sum) = (k, 1.0, 0.0);
            for i in 0..x.len() {
                state = (state * x[i]).sin() + 0.5 * other;
                other *= (x[i] + state).cos();
                if state > 0.4 {
                    sum += 0.001 * state * other;
                }
            }
            let mut row = vec![0.0; x.len()];
            for i in 0..x.len() {
                row[i] = (sum * x[i]).sin();
                sum += row[i] * row[i] / (2.0 + i as f64);
            }
            sum
        }
    )*

    /// All of them on one input: the value, the slope of `k`, and those of `x`.
    fn all(x: &[f64]) -> Vec<(&'static str, Vec<f64>)> {
        vec![$({
            let mut dx = vec![0.0; x.len()];
            let (value, dk) = $gradient(x, &mut dx, 0.7, 1.0);
            let figures = [value, dk].into_iter().chain(dx).collect();
            (stringify!($($settings)*), figures)
        }),*]
    }};
}

with_settings! {
    as_it_is as_it_is_grad ();
    smallest smallest_grad (tape(layer_bytes = 64));
    small small_grad (tape(layer_bytes = 4096));
    large large_grad (tape(layer_bytes = 100_000_000));
    everything everything_grad (tape(saved = "all"));
    everything_plain everything_plain_grad (plain, tape(saved = "all", layer_bytes = 256));
    columns columns_grad (tape(layout = "soa"));
    frames frames_grad (tape(layout = "aos"));
    alone alone_grad (tape(layout = "none"));
    small_columns small_columns_grad (tape(layer_bytes = 64, layout = "soa"));
    all_columns all_columns_grad (tape(saved = "all", layout = "soa"));
    all_alone all_alone_grad (tape(saved = "all", layout = "none"));
}

#[test]
fn settings_of_the_tape_change_nothing() {
    for n in [0, 1, 7, 8, 9, 63, 64, 65, 1000, 20_000] {
        let x: Vec<f64> = (0..n).map(|i| 0.3 + 0.4 * (i as f64 * 0.7).sin().abs()).collect();
        let all = all(&x);
        let (_, first) = &all[0];
        for (settings, figures) in &all {
            assert_eq!(first[0].to_bits(), figures[0].to_bits(), "{settings}, {n}");
            for (a, b) in first.iter().zip(figures) {
                assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{settings}, {n}: {a} {b}");
            }
            // In layers the same is computed, in the same order.
            if !settings.contains("saved") {
                assert_eq!(first, figures, "{settings}, {n}");
            }
        }
    }
}
