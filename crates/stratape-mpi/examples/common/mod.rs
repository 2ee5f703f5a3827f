//! What the examples share: the comparison with the serial program, and the report on messages.

#![allow(dead_code)]

use std::error::Error;

use stratape_mpi::{Comm, Spread, Traffic};

/// What an example's `main` returns.
pub(crate) type Done<T = ()> = Result<T, Box<dyn Error>>;

/// The part of `count` items that rank `rank` of `size` has: the first, and how many.
pub(crate) fn part(count: usize, rank: usize, size: usize) -> (usize, usize) {
    let start = |rank: usize| rank * (count / size) + rank.min(count % size);
    (start(rank), start(rank + 1) - start(rank))
}

/// The least time of three runs.
pub(crate) fn seconds<T>(mut run: impl FnMut() -> T) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let start = std::time::Instant::now();
        std::hint::black_box(run());
        least = least.min(start.elapsed().as_secs_f64());
    }
    least
}

/// An error on every rank unless the numbers of all ranks agree with those of the serial program.
pub(crate) fn agree(comm: &Comm, name: &str, found: &[f64], expected: &[f64]) -> Done {
    let mut worst: f64 = if found.len() == expected.len() { 0.0 } else { f64::INFINITY };
    for (found, expected) in found.iter().zip(expected) {
        let gap = (found - expected).abs() / expected.abs().max(1.0);
        // A number that is none must not go unnoticed in a maximum.
        worst = if gap.is_nan() { f64::INFINITY } else { worst.max(gap) };
    }
    let worst = Spread::of(comm, worst)?;
    if worst.most.0 > 1e-9 {
        let (gap, rank) = worst.most;
        return Err(format!("{name} of rank {rank} is off by {gap} from the serial one").into());
    }
    if comm.rank == 0 {
        println!("{name}: {:.1e} from the serial one at most", worst.most.0);
    }
    Ok(())
}

/// Prints what was sent; an error if the adjoints of a rank take more bytes than the function.
pub(crate) fn report(comm: &Comm, function: Traffic, gradient: Traffic) -> Done {
    let rows = [
        ("the function", function.forward),
        ("the gradient's forward half", gradient.forward),
        ("its backward half", gradient.backward),
    ];
    for (name, count) in rows {
        let messages = Spread::of(comm, count.messages as f64)?;
        let bytes = Spread::of(comm, count.bytes as f64)?;
        if comm.rank == 0 {
            println!(
                "{name}: {} messages and {} bytes a rank at most",
                messages.most.0, bytes.most.0
            );
        }
    }
    let more = gradient.backward.bytes.saturating_sub(function.forward.bytes);
    let more = Spread::of(comm, more as f64)?;
    if more.most.0 > 0.0 {
        let (bytes, rank) = more.most;
        return Err(format!(
            "the adjoints of rank {rank} send {bytes} bytes more than the function"
        )
        .into());
    }
    Ok(())
}
