//! From the second call on a gradient allocates nothing: its tape and its arrays are kept.

#![allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "loops as people write them")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use stratape::gradient;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Saves on the tape, makes arrays, and makes them in a loop.
#[gradient]
fn layers(w: &[f64], x: &[f64], n: usize) -> f64 {
    let mut state = x.to_vec();
    let mut next = vec![0.0; x.len()];
    for k in 0..n {
        let mut local = vec![0.0; n.min(4)];
        for i in 0..x.len() {
            local[i % 4] += state[i];
            next[i] = (w[i] * state[i] + 0.1 * local[i % 4]).sin();
        }
        for i in 0..x.len() {
            state[i] = next[i] * (1.0 + 0.01 * k as f64);
        }
    }
    state.iter().map(|v| v * v).sum()
}

#[test]
fn from_the_second_call_on() {
    let (w, x) = (vec![0.7; 500], vec![0.3; 500]);
    let (mut dw, mut dx) = (vec![0.0; 500], vec![0.0; 500]);
    let first = layers_grad(&w, &mut dw, &x, &mut dx, 40, 1.0);
    layers_grad(&w, &mut dw, &x, &mut dx, 40, 1.0);
    let before = ALLOCATIONS.get();
    let again = layers_grad(&w, &mut dw, &x, &mut dx, 40, 1.0);
    let count = ALLOCATIONS.get() - before;
    assert_eq!(first, again);
    assert_eq!(count, 0, "{count} allocations");
}

/// Saves on the tapes of two lanes, and adds to copies of a shadow.
#[gradient]
fn shared(w: &[f64], x: &[f64], y: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    #[parallel]
    for i in 0..x.len() {
        let mut v = x[i];
        for j in 0..w.len() {
            v = (v + w[j]).sin();
        }
        y[i] = v;
        sum += v;
    }
    sum
}

#[test]
fn in_parallel_neither() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (w, x) = (vec![0.7; 50], vec![0.3; 500]);
    let count = pool.install(|| {
        let (mut dw, mut dx) = (vec![0.0; 50], vec![0.0; 500]);
        let (mut y, mut dy) = (vec![0.0; 500], vec![0.0; 500]);
        let mut workspace = stratape::Workspace::new();
        workspace.set_lanes(2);
        let mut before = 0;
        for _ in 0..3 {
            before = ALLOCATIONS.get();
            shared_grad_in(&mut workspace, &w, &mut dw, &x, &mut dx, &mut y, &mut dy, 1.0).unwrap();
        }
        ALLOCATIONS.get() - before
    });
    assert_eq!(count, 0, "{count} allocations");
}
