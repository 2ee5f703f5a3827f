//! Functions that act outside of the program: `#[effect]`. Here a mailbox of this thread stands for what is outside.

#![allow(clippy::needless_range_loop)]

use std::cell::RefCell;

use stratape::tape::{RecordTape, TapeError};
use stratape::{Workspace, differentiable, effect, gradient};

#[derive(Default)]
struct Mailbox {
    /// What was sent and not yet received, the first one first.
    letters: Vec<Vec<f64>>,
    /// Adjoints on their way back, the first one last.
    adjoints: Vec<Vec<f64>>,
    /// What happened, in order.
    log: Vec<&'static str>,
}

thread_local! {
    static MAILBOX: RefCell<Mailbox> = RefCell::default();
}

fn note(what: &'static str) {
    MAILBOX.with_borrow_mut(|mailbox| mailbox.log.push(what));
}

fn taken_log() -> Vec<&'static str> {
    MAILBOX.with_borrow_mut(|mailbox| std::mem::take(&mut mailbox.log))
}

#[effect(forward = post_forward, backward = post_backward)]
fn post(x: &[f64], scale: f64) {
    let letter = x.iter().map(|x| scale * x).collect();
    MAILBOX.with_borrow_mut(|mailbox| mailbox.letters.push(letter));
}

fn post_forward(tape: &mut RecordTape, x: &[f64], scale: f64) -> Result<(), TapeError> {
    note("post");
    post(x, scale);
    for x in x {
        tape.push(*x)?;
    }
    Ok(())
}

fn post_backward(tape: &mut RecordTape, dx: &mut [f64], scale: f64) -> Result<f64, TapeError> {
    note("post back");
    let letter = MAILBOX.with_borrow_mut(|mailbox| mailbox.adjoints.pop()).unwrap_or_default();
    let mut dscale = 0.0;
    for (dx, letter) in dx.iter_mut().zip(&letter).rev() {
        let x: f64 = tape.pop()?;
        *dx += scale * letter;
        dscale += x * letter;
    }
    Ok(dscale)
}

#[effect(forward = fetch_forward, backward = fetch_backward)]
fn fetch(y: &mut [f64]) -> usize {
    let letter = MAILBOX.with_borrow_mut(|mailbox| mailbox.letters.remove(0));
    y.copy_from_slice(&letter);
    letter.len()
}

fn fetch_forward(_: &mut RecordTape, y: &mut [f64]) -> Result<usize, TapeError> {
    note("fetch");
    Ok(fetch(y))
}

fn fetch_backward(_: &mut RecordTape, dy: &mut [f64], _: usize) -> Result<(), TapeError> {
    note("fetch back");
    MAILBOX.with_borrow_mut(|mailbox| mailbox.adjoints.insert(0, dy.to_vec()));
    dy.fill(0.0);
    Ok(())
}

mod helpers {
    use super::{differentiable, fetch, post};

    #[differentiable]
    pub(super) fn through(x: &[f64], scale: f64) -> f64 {
        post(x, scale);
        let mut y = [0.0; 2];
        let n = fetch(&mut y);
        y[0] * y[1] * n as f64
    }
}

#[gradient]
fn twice(x: &[f64], scale: f64) -> f64 {
    let mut y = [1.0, 1.0];
    post(x, scale);
    fetch(&mut y);
    y[0] * y[0] * y[1] + helpers::through(x, scale * scale)
}

#[test]
fn adjoints_flow_through_what_is_outside() {
    let (x, scale) = ([0.7, -1.3], 1.5);
    let mut dx = [0.0; 2];
    let (value, dscale) = twice_grad(&x, &mut dx, scale, 1.0);
    let direct = |x: [f64; 2], s: f64| {
        let y = [s * x[0], s * x[1]];
        let z = [s * s * x[0], s * s * x[1]];
        y[0] * y[0] * y[1] + 2.0 * z[0] * z[1]
    };
    assert_eq!(value, direct(x, scale));
    let h = 1e-6;
    let by = |a: f64, b: f64| (a - b) / (2.0 * h);
    let expected = [
        by(direct([x[0] + h, x[1]], scale), direct([x[0] - h, x[1]], scale)),
        by(direct([x[0], x[1] + h], scale), direct([x[0], x[1] - h], scale)),
    ];
    for (dx, expected) in dx.iter().zip(expected) {
        assert!((dx - expected).abs() < 1e-7, "{dx} for {expected}");
    }
    let expected = by(direct(x, scale + h), direct(x, scale - h));
    assert!((dscale - expected).abs() < 1e-7);
    let log = taken_log();
    assert_eq!(
        log,
        ["post", "fetch", "post", "fetch", "fetch back", "post back", "fetch back", "post back"]
    );
}

/// Nothing of what is posted shows in the result; the adjoint comes from outside all the same.
#[gradient(wrt(x))]
fn only_post(x: &[f64], n: usize) -> f64 {
    for i in 0..n {
        let squared = [x[i] * x[i]];
        if i % 2 == 0 {
            post(&squared, 1.0);
        }
    }
    0.0
}

#[test]
fn a_call_without_a_result_is_neither_left_out_nor_moved() {
    let mut dx = [0.0; 3];
    // Two letters, and what others make of them.
    MAILBOX.with_borrow_mut(|mailbox| mailbox.adjoints = vec![vec![10.0], vec![100.0]]);
    only_post_grad(&[1.0, 2.0, 3.0], &mut dx, 3, 1.0);
    assert_eq!(dx, [20.0, 0.0, 600.0]);
    let letters = MAILBOX.with_borrow_mut(|mailbox| std::mem::take(&mut mailbox.letters));
    assert_eq!(letters, [vec![1.0], vec![9.0]]);
    assert_eq!(taken_log(), ["post", "post", "post back", "post back"]);
}

/// What is fetched depends on no input here, and counts elsewhere.
#[gradient(wrt(a))]
fn only_fetch(a: f64) -> f64 {
    let mut y = [0.0];
    fetch(&mut y);
    a + y[0] * y[0]
}

#[test]
fn what_is_fetched_is_active() {
    MAILBOX.with_borrow_mut(|mailbox| mailbox.letters = vec![vec![3.0]]);
    assert_eq!(only_fetch_grad(1.0, 1.0), (10.0, 1.0));
    let adjoints = MAILBOX.with_borrow_mut(|mailbox| std::mem::take(&mut mailbox.adjoints));
    assert_eq!(adjoints, [vec![6.0]]);
    taken_log();
}

#[gradient]
fn steps(u: &mut [f64], count: usize) {
    for _ in 0..count {
        let copy = u.to_vec();
        post(&copy, 0.5);
        let mut back = vec![0.0; u.len()];
        fetch(&mut back);
        for i in 0..u.len() {
            u[i] += 0.1 * (back[i] * back[i]).sin();
        }
    }
}

#[gradient]
fn steps_again(u: &mut [f64], count: usize) {
    #[checkpoint(slots = 2)]
    for _ in 0..count {
        let copy = u.to_vec();
        post(&copy, 0.5);
        let mut back = vec![0.0; u.len()];
        fetch(&mut back);
        for i in 0..u.len() {
            u[i] += 0.1 * (back[i] * back[i]).sin();
        }
    }
}

#[gradient(plain)]
fn steps_plain(u: &mut [f64], count: usize) {
    for _ in 0..count {
        let copy = u.to_vec();
        post(&copy, 0.5);
        let mut back = vec![0.0; u.len()];
        fetch(&mut back);
        for i in 0..u.len() {
            u[i] += 0.1 * (back[i] * back[i]).sin();
        }
    }
}

#[test]
fn in_loops_with_and_without_snapshots() {
    let start = [0.3, 0.8, 1.2];
    let run =
        |gradient: fn(&mut [f64], &mut [f64], usize)| {
            let (mut u, mut du) = (start, [1.0, 2.0, 3.0]);
            gradient(&mut u, &mut du, 9);
            taken_log();
            assert!(MAILBOX.with_borrow(|mailbox| {
                mailbox.letters.is_empty() && mailbox.adjoints.is_empty()
            }));
            (u, du)
        };
    let taped = run(steps_grad);
    assert_eq!(taped, run(steps_again_grad));
    assert_eq!(taped, run(steps_plain_grad));
    let mut u = start;
    steps(&mut u, 9);
    assert_eq!(u, taped.0);
}

#[effect(forward = fail_forward, backward = fail_backward)]
fn fail(x: f64) -> f64 {
    x
}

fn fail_forward(_: &mut RecordTape, x: f64) -> Result<f64, TapeError> {
    let error = std::io::Error::other("nobody answers");
    if x > 1.0 { Err(stratape::tape::ErrorKind::Attached(Box::new(error)).into()) } else { Ok(x) }
}

fn fail_backward(_: &mut RecordTape, _: f64, seed: f64) -> Result<f64, TapeError> {
    Ok(seed)
}

#[gradient]
fn failing(x: f64) -> f64 {
    fail(x * x)
}

#[test]
fn an_error_outside_is_an_error_of_the_gradient() {
    let mut workspace = Workspace::new();
    let error = failing_grad_in(&mut workspace, 2.0, 1.0).unwrap_err();
    assert!(error.to_string().contains("nobody answers"), "{error}");
    assert_eq!(failing_grad_in(&mut workspace, 0.5, 1.0).unwrap(), (0.25, 1.0));
}
