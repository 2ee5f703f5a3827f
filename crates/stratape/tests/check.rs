//! `check::gradient`: what it accepts, what it refuses, and what it says.

#![allow(clippy::unwrap_used, reason = "a test")]

use stratape::check::{self, Check, Verdict};

#[test]
fn a_right_gradient_passes_in_both_widths() {
    let double = check::gradient(
        [("x", &[0.3_f64, -1.2, 2.0]), ("k", &[0.7])],
        |[x, k]| x.iter().map(|x| (k[0] * x).sin()).sum(),
        |[x, k], [dx, dk]| {
            for i in 0..x.len() {
                dx[i] += k[0] * (k[0] * x[i]).cos();
                dk[0] += x[i] * (k[0] * x[i]).cos();
            }
            x.iter().map(|x| (k[0] * x).sin()).sum()
        },
    );
    assert!(double.is_ok_and(|report| report.is_decided() && report.worst() < 1e-9));
    let single = check::gradient(
        [("x", &[0.3_f32, -1.2, 2.0])],
        |[x]| x.iter().map(|x| x * x * x).sum(),
        |[x], [dx]| {
            dx.iter_mut().zip(x).for_each(|(dx, x)| *dx += 3.0 * x * x);
            x.iter().map(|x| x * x * x).sum()
        },
    );
    assert!(single.is_ok_and(|report| report.is_decided()));
}

#[test]
fn a_wrong_one_is_named_by_argument_and_element() {
    let mismatch = check::gradient(
        [("x", &[1.0, 2.0, 3.0]), ("w", &[0.5])],
        |[x, w]| w[0] * x.iter().map(|x| x * x).sum::<f64>(),
        |[x, w], [dx, dw]| {
            for i in 0..3 {
                dx[i] += if i == 1 { 0.0 } else { 2.0 * w[0] * x[i] };
                dw[0] += x[i] * x[i];
            }
            w[0] * x.iter().map(|x| x * x).sum::<f64>()
        },
    )
    .unwrap_err();
    assert_eq!(mismatch.report.arguments[0].verdict, Verdict::Wrong);
    assert_eq!(mismatch.report.arguments[1].verdict, Verdict::Right);
    assert_eq!(mismatch.elements.len(), 1);
    assert_eq!(mismatch.elements[0].name, "x[1]");
    let text = mismatch.to_string();
    assert!(text.contains("WRONG") && text.contains("x[1]: gradient 0.0"), "{text}");
}

#[test]
fn a_value_with_other_bits_is_told() {
    let wrong = |check: Check| {
        check.gradient(
            [("x", &[0.1])],
            |[x]| x[0],
            |[x], [dx]| {
                dx[0] += 1.0;
                x[0] + 1e-17 + 2e-17
            },
        )
    };
    // 0.1 + 3e-17 rounds up.
    assert!(wrong(Check::new()).is_err_and(|mismatch| mismatch.value.is_some()));
    assert!(wrong(Check::new().same_value(false)).is_ok());
}

#[test]
fn a_kink_is_not_blamed_on_the_gradient() {
    let report = check::gradient(
        [("x", &[0.0_f64])],
        |[x]| x[0].abs(),
        |[x], [dx]| {
            dx[0] += 1.0;
            x[0].abs()
        },
    );
    // Differences say 0 on both sides of a kink in its very middle: off it, they do not converge.
    assert!(report.is_err());
    let near = Check::new().gradient(
        [("x", &[1e-3_f64])],
        |[x]| x[0].abs(),
        |[x], [dx]| {
            dx[0] += 1.0;
            x[0].abs()
        },
    );
    assert!(near.is_ok(), "{near:?}");
    let nan = check::gradient(
        [("x", &[-1.0_f64])],
        |[x]| x[0].sqrt(),
        |[x], [dx]| {
            dx[0] += f64::NAN;
            x[0].sqrt()
        },
    );
    assert!(nan.is_ok_and(|report| !report.is_decided()));
}

#[test]
fn a_point_without_numbers_is_right() {
    let report = check::gradient([("x", &[] as &[f64])], |_| 1.0, |_, _| 1.0);
    assert!(report.is_ok_and(|report| report.worst() == 0.0));
}

#[test]
fn a_gradient_that_is_no_number_is_wrong() {
    let report = check::gradient(
        [("x", &[1.0])],
        |[x]| x[0],
        |[x], [dx]| {
            dx[0] = f64::NAN;
            x[0]
        },
    );
    assert!(report.is_err());
}
