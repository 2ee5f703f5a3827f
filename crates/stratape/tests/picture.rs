//! Runs that record themselves: the same bits, a picture of each, and nothing kept of those that do not.

#![allow(clippy::unwrap_used, clippy::needless_range_loop)]

use stratape::tape::TapeOptions;
use stratape::{Workspace, gradient, picture};

#[gradient]
fn two_loops(x: f64, n: usize) -> f64 {
    let mut y = x;
    #[checkpoint(slots = 4, schedule = Revolve)]
    for _ in 0..n {
        y = 0.9 * y.sin() + 0.1 * y * y;
    }
    #[checkpoint(slots = 6, schedule = Revolve)]
    for _ in 0..2 * n {
        y += 1e-3 * y.cos();
    }
    y
}

#[gradient]
fn taped(x: f64, n: usize) -> f64 {
    let mut y = x;
    for _ in 0..n {
        y = 0.9 * y.sin() + 0.1 * y * y;
    }
    y
}

#[gradient]
fn on_lanes(x: &[f64], n: usize) -> f64 {
    let mut sum = 0.0;
    #[parallel]
    for i in 0..x.len() {
        let mut y = x[i];
        for _ in 0..n {
            y = 0.9 * y.sin() + 0.1 * y * y;
        }
        sum += y;
    }
    sum
}

fn recorded() -> Workspace {
    Workspace::with(TapeOptions::new().memory(1 << 20).record(true)).unwrap()
}

#[test]
fn loops_report_themselves_where_the_workspace_records() {
    let mut workspace = recorded();
    let plain = two_loops_grad(0.7, 500, 1.0);
    assert_eq!(two_loops_grad_in(&mut workspace, 0.7, 500, 1.0).unwrap(), plain);
    // The last loop is reversed first.
    let steps = |workspace: &Workspace| {
        workspace.loops().iter().map(|report| report.steps).collect::<Vec<_>>()
    };
    assert_eq!(steps(&workspace), [1000, 500]);
    for report in workspace.loops() {
        let course = report.course.as_ref().unwrap();
        assert!(course.turn > std::time::Duration::ZERO && course.turn < course.end);
        let svg = picture::time_loop(&report).to_string();
        assert!(svg.contains("backward pass") && svg.contains("snapshot in memory"));
    }

    // A gradient that does not record says nothing to the one before it.
    let mut silent = Workspace::new();
    assert_eq!(
        two_loops_grad_in(&mut silent, 0.7, 300, 1.0).unwrap(),
        two_loops_grad(0.7, 300, 1.0)
    );
    assert!(silent.loops().is_empty());
    assert_eq!(steps(&workspace), [1000, 500]);

    // Each gradient begins anew; its workspace may go to another thread.
    two_loops_grad_in(&mut workspace, 0.7, 20, 1.0).unwrap();
    assert_eq!(std::thread::spawn(move || steps(&workspace)).join().unwrap(), [40, 20]);
}

#[test]
fn the_last_gradient_on_a_tape_is_drawn() {
    let mut workspace = recorded();
    for n in [600_000, 1_000_000, 300_000] {
        let plain = taped_grad(0.7, n, 1.0);
        assert_eq!(taped_grad_in(&mut workspace, 0.7, n, 1.0).unwrap(), plain);
    }
    let picture = picture::tape(&workspace).to_string();
    for word in ["in memory only", "on disk only", "memory budget", "waiting", "← forward pass"] {
        assert!(picture.contains(word), "{word}");
    }
    // 300 000 records of eight bytes in slabs of 128 KiB.
    let most = picture.split("At most ").nth(1).unwrap().split(' ').next().unwrap();
    assert!((2.2..2.6).contains(&most.parse::<f64>().unwrap()), "{most} MiB");
}

#[test]
fn tapes_of_lanes_are_drawn_as_one() {
    let x: Vec<f64> = (0..64).map(f64::from).map(f64::cos).collect();
    let mut dx = vec![0.0; x.len()];
    let mut workspace = recorded();
    workspace.set_lanes(3);
    on_lanes_grad_in(&mut workspace, &x, &mut dx, 10_000, 1.0).unwrap();
    let picture = picture::tape(&workspace);
    assert!(!picture.is_empty() && picture.to_string().contains("on disk only"));
}

#[test]
fn what_was_not_recorded_says_what_to_set() {
    let mut workspace = Workspace::new();
    taped_grad_in(&mut workspace, 0.7, 1000, 1.0).unwrap();
    assert!(picture::tape(&workspace).to_string().contains("TapeOptions::record(true)"));
    let mut small = recorded();
    assert!(picture::tape(&small).to_string().contains("No gradient has run yet"));
    taped_grad_in(&mut small, 0.7, 10, 1.0).unwrap();
    assert!(picture::tape(&small).to_string().contains("fits into one slab"));
    assert!(picture::descent(&[1.0]).is_empty());
}

#[test]
fn any_size_and_title_will_do() {
    let picture = picture::descent(&[2.0, 1.0]).size(u32::MAX, u32::MAX).title("a\u{1}b");
    let svg = picture.to_string();
    assert!(svg.contains("viewBox=\"0 0 10000 10000\"") && svg.contains("<title>ab</title>"));
}
