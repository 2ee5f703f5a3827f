//! Inclusive ranges that end at the greatest number of their type.
use crate::oracle::*;
use stratape::gradient;

#[gradient]
fn to_last(x: &[f64]) -> f64 {
    let mut s = 0.5;
    for i in 0..=x.len().wrapping_sub(1) {
        s += x[i] * x[i];
    }
    s
}
#[gradient]
fn bytes(x: &[f64], end: u8) -> f64 {
    let mut s = 0.5;
    for i in 0..=end {
        s += x[i as usize % x.len()] * 0.01;
    }
    s
}
#[gradient]
fn bytes_down(x: &[f64], from: u8) -> f64 {
    let mut s = 0.5;
    for i in (from..=255_u8).rev() {
        s = s * 0.9 + x[i as usize % x.len()];
    }
    s
}
#[gradient]
fn signed(x: &[f64], from: i32, to: i32) -> f64 {
    let mut s = 0.5;
    for i in from..=to {
        s += x[(i as u32) as usize % x.len()] * s * 0.1;
    }
    s
}
#[gradient]
fn top(x: &[f64], from: usize, to: usize) -> f64 {
    let mut s = 0.5;
    let mut at = 0;
    for i in from..=to {
        s += x[i % x.len()] * x[at % x.len()];
        at += 3;
    }
    s + at as f64
}
#[gradient]
fn part(x: &[f64], n: usize) -> f64 {
    let mut s = 0.5;
    for v in &x[0..=n] {
        s += v * v;
    }
    s
}
#[test]
fn inclusive_to_last_of_empty_list() {
    for n in SIZES {
        scalar(&format!("{n}"), n, to_last, |v, dv, w| to_last_grad(v, dv, w));
    }
}
/// A range of a gradient has a number after its last one.
fn refused(gradient: impl FnOnce() -> f64) {
    let told = caught(gradient).expect_err("there is no number after the last");
    assert!(told.contains("largest") || told == "attempt to add with overflow", "{told}");
}
#[test]
fn inclusive_bytes() {
    for end in [0, 1, 254] {
        scalar(&format!("{end}"), 7, |v| bytes(v, end), |v, dv, w| bytes_grad(v, dv, end, w));
    }
    refused(|| bytes_grad(&[1.0], &mut [0.0], 255, 1.0));
    refused(|| bytes_down_grad(&[1.0], &mut [0.0], 255, 1.0));
}
#[test]
fn inclusive_signed() {
    for (a, b) in [
        (0, 3),
        (i32::MIN, i32::MIN + 2),
        (i32::MAX, i32::MIN),
        (i32::MAX - 3, i32::MAX - 1),
        (3, 2),
    ] {
        scalar(&format!("{a} {b}"), 7, |v| signed(v, a, b), |v, dv, w| signed_grad(v, dv, a, b, w));
    }
    refused(|| signed_grad(&[1.0], &mut [0.0], i32::MAX, i32::MAX, 1.0));
}
#[test]
fn inclusive_top_of_usize() {
    for (a, b) in [(0, 3), (usize::MAX, 0), (usize::MAX - 3, usize::MAX - 1)] {
        scalar(&format!("{a} {b}"), 7, |v| top(v, a, b), |v, dv, w| top_grad(v, dv, a, b, w));
    }
    refused(|| top_grad(&[1.0], &mut [0.0], usize::MAX - 2, usize::MAX, 1.0));
}
#[test]
fn inclusive_part() {
    for n in [0, 3, 6, 7, usize::MAX] {
        scalar(&format!("{n}"), 7, |v| part(v, n), |v, dv, w| part_grad(v, dv, n, w));
    }
}
