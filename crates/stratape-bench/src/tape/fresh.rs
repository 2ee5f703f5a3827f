//! The first pass over memory that nobody has touched, on one thread and on many at once.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use stratape::tape::{Pool, RecordTape, Tape, TapeError};

use crate::error::BenchError;
use crate::measure::least;
use crate::runner::{Line, Runner};

/// Elements that each thread pushes: 320 MB.
const ELEMENTS: usize = 40_000_000;

/// Runs the cases.
pub(super) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let (n, rounds) = if runner.quick() { (ELEMENTS / 20, 3) } else { (ELEMENTS, 5) };
    let most = thread::available_parallelism().map_or(1, usize::from);
    for threads in [1, 2, 4, 8, 16].into_iter().filter(|threads| *threads <= most) {
        let names = [format!("fresh_tape/{threads}"), format!("fresh_records/{threads}")];
        if !names.iter().any(|name| runner.wants(name)) {
            continue;
        }
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..rounds {
            times[0].push(together(threads, &|| tape(n)));
            times[1].push(together(threads, &|| records(n)));
            times[2].push(together(threads, &|| list(n)));
        }
        let [tape, records, list] = times.map(least);
        for (case, ours) in names.iter().zip([tape, records]) {
            let (against, unit, aim) = ("Vec with capacity", "ms", Some("<= 1.1"));
            let (ours, theirs) = (ours * 1e3, list * 1e3);
            runner.tell(&Line { bench: "tape", case, ours, against, theirs, unit, aim })?;
        }
    }
    Ok(())
}

/// Seconds until the last of the threads is done.
fn together(threads: usize, work: &(impl Fn() + Sync)) -> f64 {
    let start = Barrier::new(threads + 1);
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    work();
                    Instant::now()
                })
            })
            .collect();
        start.wait();
        let begun = Instant::now();
        let ends = running.into_iter().filter_map(|thread| thread.join().ok());
        ends.map(|end| (end - begun).as_secs_f64()).fold(0.0, f64::max)
    })
}

fn tape(n: usize) {
    let mut tape: Tape<f64> = Tape::with_pool(&Pool::new(0));
    (0..n).for_each(|i| tape.push(i as f64));
    black_box(&tape);
}

fn records(n: usize) {
    let mut tape = RecordTape::with_pool(&Pool::new(0));
    let pushed: Result<(), TapeError> = (0..n).try_for_each(|i| tape.push(i as f64));
    black_box(&tape);
    drop(black_box(pushed));
}

fn list(n: usize) {
    let mut list = Vec::with_capacity(n);
    (0..n).for_each(|i| list.push(i as f64));
    black_box(&list);
}
