//! Kernels in text form, run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "a test")]

use std::sync::atomic::{AtomicU64, Ordering};

use stratape_interp::simt::{Arg, FaultKind, Launch, run};
use stratape_ir::text::parse_function;
use stratape_ir::valid;

fn cells(numbers: &[f64]) -> Vec<AtomicU64> {
    numbers.iter().map(|number| AtomicU64::new(number.to_bits())).collect()
}

fn floats(cells: &[AtomicU64]) -> Vec<f64> {
    cells.iter().map(|cell| f64::from_bits(cell.load(Ordering::Relaxed))).collect()
}

fn kernel(text: &str) -> stratape_ir::Function {
    let kernel = parse_function(text).unwrap();
    valid::validate(&kernel).unwrap();
    let printed = kernel.to_string();
    assert_eq!(parse_function(&printed).unwrap().to_string(), printed);
    kernel
}

#[test]
fn a_block_reverses_its_elements_through_shared_memory() {
    let text = |barrier: &str| {
        format!(
            "fn reverse(@x: &mut [f64]) kernel {{
               zero: f64 = 0.0
               new @tile: [f64; 64] unfilled shared = [zero; _]
               t = builtin thread_idx_x
               n = builtin block_dim_x
               b = builtin block_idx_x
               base = b * n
               i = base + t
               a = @x[i]
               @tile[t] = a
               {barrier}
               one: usize = 1
               last = n - one
               u = last - t
               c = @tile[u]
               @x[i] = c
             }}"
        )
    };
    let with = kernel(&text("barrier @x, @tile"));
    let x = cells(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    run(&with, &Launch::new([2, 1, 1], [3, 1, 1]), &[Arg::Memory(&x)]).unwrap();
    assert_eq!(floats(&x), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);

    let without = kernel(&text(""));
    let fault = run(&without, &Launch::new([2, 1, 1], [3, 1, 1]), &[Arg::Memory(&x)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Race, "{fault}");
    // Nobody wrote what lies beyond the block.
    let far = kernel(&text("barrier @x, @tile").replace("u = last - t", "u = last + t"));
    let fault = run(&far, &Launch::new([2, 1, 1], [3, 1, 1]), &[Arg::Memory(&x)]).unwrap_err();
    assert_eq!((fault.kind, fault.thread), (FaultKind::Uninitialised, [1, 0, 0]), "{fault}");
}

#[test]
fn sums_of_threads_and_blocks() {
    let kernel = kernel(
        "fn sum(@x: &[f64], @s: &mut [f64], @c: &mut [u32]) kernel {
           t = builtin thread_idx_x
           n = builtin block_dim_x
           b = builtin block_idx_x
           base = b * n
           i = base + t
           a = @x[i]
           zero: usize = 0
           one: usize = 1
           one32: u32 = 1
           atomic block add @s[zero], a
           atomic add @s[one], a
           atomic add @c[zero], one32 old before: u32
         }",
    );
    let (x, s) = (cells(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), cells(&[0.5, 0.25]));
    let count = [AtomicU64::new(0)];
    let args = [Arg::Memory(&x), Arg::Memory(&s), Arg::Memory(&count)];
    for workers in [1, 4] {
        let mut launch = Launch::new([3, 1, 1], [2, 1, 1]);
        (launch.check, launch.workers) = (workers == 1, workers);
        run(&kernel, &launch, &args).unwrap();
    }
    assert_eq!(floats(&s), [42.5, 42.25]);
    assert_eq!(count[0].load(Ordering::Relaxed), 12);
}

#[test]
fn threads_leave_loops_at_different_times() {
    let kernel = kernel(
        "fn powers(@y: &mut [f64]) kernel {
           t = builtin thread_idx_x
           zero: usize = 0
           one: f64 = 1.0
           two: f64 = 2.0
           for k in zero..t, p = one {
             q = p * two
           } carry p <- q -> r
           @y[t] = r
         }",
    );
    let y = cells(&[0.0; 5]);
    run(&kernel, &Launch::new([1, 1, 1], [5, 1, 1]), &[Arg::Memory(&y)]).unwrap();
    assert_eq!(floats(&y), [1.0, 2.0, 4.0, 8.0, 16.0]);
}

#[test]
fn exchanges_inside_a_warp() {
    let kernel = kernel(
        "fn down(@x: &mut [f64]) kernel {
           t = builtin thread_idx_x
           a = @x[t]
           by: usize = 3
           shuffle down b = a, by
           @x[t] = b
         }",
    );
    let numbers: Vec<f64> = (0..32).map(f64::from).collect();
    let x = cells(&numbers);
    run(&kernel, &Launch::new([1, 1, 1], [32, 1, 1]), &[Arg::Memory(&x)]).unwrap();
    let wanted: Vec<f64> = (0..32).map(|k| f64::from(if k < 29 { k + 3 } else { k })).collect();
    assert_eq!(floats(&x), wanted);
    let few = run(&kernel, &Launch::new([1, 1, 1], [16, 1, 1]), &[Arg::Memory(&x)]).unwrap_err();
    assert_eq!(few.kind, FaultKind::Divergence);
}

#[test]
fn barriers_that_not_all_threads_reach_are_no_kernel() {
    let text = "fn odd(@x: &mut [f64]) kernel {
       t = builtin thread_idx_x
       one: usize = 1
       c = t < one
       if c {
         barrier @x
       }
     }";
    let fault = valid::validate(&parse_function(text).unwrap()).map(|_| ()).unwrap_err();
    assert_eq!(fault.rule, "kernel");
    let x = cells(&[0.0]);
    let launch = Launch::new([1, 1, 1], [2, 1, 1]);
    let fault = run(&parse_function(text).unwrap(), &launch, &[Arg::Memory(&x)]).unwrap_err();
    assert_eq!((fault.kind, fault.thread), (FaultKind::Divergence, [1, 0, 0]));
}

#[test]
fn two_threads_that_write_one_number_race() {
    let kernel = kernel(
        "fn last(@x: &mut [f64]) kernel {
           a: f64 = 1.0
           zero: usize = 0
           @x[zero] = a
         }",
    );
    let x = cells(&[0.0]);
    let fault = run(&kernel, &Launch::new([2, 1, 1], [1, 1, 1]), &[Arg::Memory(&x)]).unwrap_err();
    assert_eq!((fault.kind, fault.block), (FaultKind::Race, [1, 0, 0]));
    run(&kernel, &Launch::new([1, 1, 1], [1, 1, 1]), &[Arg::Memory(&x)]).unwrap();
}
