//! Running minima and maxima: to whom the adjoint goes, in every way of writing them, is what the plain gradient says; the value has the bits of the function.

#![allow(clippy::needless_range_loop, clippy::unwrap_used, missing_docs)]

use stratape::gradient;

/// A function twice: optimised, and plain.
macro_rules! twice {
    ($($name:ident $plain:ident |$x:ident, $a:ident| $body:block)*) => { $(
        #[gradient]
        fn $name($x: &[f64], $a: f64) -> f64 $body

        #[gradient(plain)]
        fn $plain($x: &[f64], $a: f64) -> f64 $body
    )* };
}

twice! {
    by_method by_method_plain |x, a| {
        let mut m = f64::NEG_INFINITY;
        for i in 0..x.len() { m = m.max(x[i]); }
        m * a
    }
    other_way other_way_plain |x, a| {
        let mut m = f64::NEG_INFINITY;
        for i in 0..x.len() { m = x[i].max(m); }
        m * a
    }
    by_path by_path_plain |x, a| {
        let mut m = f64::INFINITY;
        for v in x { m = f64::min(*v, m); }
        m * a
    }
    folded folded_plain |x, a| { x.iter().copied().fold(f64::NEG_INFINITY, f64::max) * a }
    from_first from_first_plain |x, a| {
        if x.is_empty() { return a; }
        let mut m = x[0];
        for i in 1..x.len() { m = m.min(x[i]); }
        m * a
    }
    two_at_once two_at_once_plain |x, a| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for i in 0..x.len() {
            low = low.min(x[i]);
            high = x[i].max(high);
        }
        (high - low) * a + high
    }
    backward backward_plain |x, a| {
        let mut m = 0.0_f64;
        for i in (0..x.len()).rev() { m = m.max(x[i]); }
        m * a
    }
    logsumexp logsumexp_plain |x, a| {
        let m = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for v in x { sum += (a * (v - m)).exp(); }
        m + sum.ln()
    }
}

type Function = fn(&[f64], f64) -> f64;
type Gradient = fn(&[f64], &mut [f64], f64, f64) -> (f64, f64);

#[test]
fn the_adjoint_goes_where_the_plain_one_goes() {
    let inf = f64::INFINITY;
    let inputs: &[&[f64]] = &[
        &[],
        &[0.4],
        &[0.3, 0.9, 0.9, 0.1],
        &[-0.9, 0.2, -0.9, 0.2],
        &[f64::NAN, 0.5, 0.5],
        &[0.5, f64::NAN, 0.7, f64::NAN],
        &[f64::NAN, f64::NAN],
        &[0.0, -0.0, 0.0],
        &[-0.0, 0.0, -1.0],
        &[inf, 1.0, inf],
        &[-inf, -inf],
        &[1.0; 40],
    ];
    let all: [(&str, Function, Gradient, Gradient); 8] = [
        ("by_method", by_method, by_method_grad, by_method_plain_grad),
        ("other_way", other_way, other_way_grad, other_way_plain_grad),
        ("by_path", by_path, by_path_grad, by_path_plain_grad),
        ("folded", folded, folded_grad, folded_plain_grad),
        ("from_first", from_first, from_first_grad, from_first_plain_grad),
        ("two_at_once", two_at_once, two_at_once_grad, two_at_once_plain_grad),
        ("backward", backward, backward_grad, backward_plain_grad),
        ("logsumexp", logsumexp, logsumexp_grad, logsumexp_plain_grad),
    ];
    for (name, function, optimised, plain) in all {
        for x in inputs {
            let (mut dx, mut expected) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            let (value, da) = optimised(x, &mut dx, 0.7, 1.0);
            let (same, other) = plain(x, &mut expected, 0.7, 1.0);
            let alike = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(alike(value, same) && alike(value, function(x, 0.7)), "{name} {x:?}");
            let near = |a: f64, b: f64| alike(a, b) || (a - b).abs() < 1e-14;
            assert!(near(da, other), "{name} {x:?}: {da} {other}");
            // Zeros of two signs are equal: either may have it.
            let zeros = x.iter().all(|v| *v <= 0.0) && x.contains(&0.0);
            let fits = match zeros {
                true => near(dx.iter().sum(), expected.iter().sum()),
                false => dx.iter().zip(&expected).all(|(a, b)| near(*a, *b)),
            };
            assert!(fits, "{name} {x:?}: {dx:?} {expected:?}");
        }
    }
}
