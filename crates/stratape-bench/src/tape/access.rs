//! Regions of records, and reading by index.

use std::hint::black_box;

use stratape::tape::{RecordTape, Tape};

use super::per_element;
use crate::error::BenchError;
use crate::measure::best_of;
use crate::runner::Runner;

pub(super) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    regions(runner)?;
    let sizes: &[usize] =
        if runner.quick() { &[10_000, 1_000_000] } else { &[10_000, 1_000_000, 10_000_000] };
    for &n in sizes {
        by_index(runner, n)?;
    }
    Ok(())
}

fn regions(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    const RECORDS: usize = 1024;
    let case = "region_1024_records_of_4_f64";
    if !runner.wants(case) {
        return Ok(());
    }
    let mut tape = RecordTape::new();
    let mut array = vec![[0.0_f64; 4]; RECORDS];
    let scale = black_box(0.5);
    #[inline(always)]
    fn fill(records: &mut [[f64; 4]], scale: f64) {
        for (i, record) in records.iter_mut().enumerate() {
            let x = i as f64 * scale;
            *record = [x, x + 1.0, x * x, x - scale];
        }
    }
    #[inline(always)]
    fn consume(records: &[[f64; 4]]) -> f64 {
        let mut sums = [0.0; 4];
        for record in records.iter().rev() {
            for (sum, value) in sums.iter_mut().zip(record) {
                *sum += value;
            }
        }
        sums[0] + sums[1] * sums[2] - sums[3]
    }
    let [ours, theirs] = best_of(
        31,
        [
            &mut || {
                let region = tape.reserve(RECORDS).expect("memory for a region");
                fill(region, scale);
                let region = tape.take().expect("the region just reserved");
                black_box(consume(region));
            },
            &mut || {
                let array = black_box(&mut array[..]);
                fill(array, scale);
                black_box(consume(black_box(array)));
            },
        ],
    );
    per_element(runner, case, "raw array of structs", RECORDS, ours, theirs, Some("<= 1.05"))
}

fn by_index(runner: &mut Runner<'_>, n: usize) -> Result<(), BenchError> {
    let both = || -> (Tape<f64>, Vec<f64>) {
        let numbers = (0..n).map(|i| i as f64);
        (Tape::from_iter(numbers.clone()), numbers.collect())
    };
    let case = format!("get_in_order_{n}");
    if runner.wants(&case) {
        let (tape, vec) = both();
        let [ours, theirs] = best_of(
            15,
            [
                &mut || {
                    let tape = black_box(&tape);
                    black_box((0..n).fold(0.0, |sum, i| sum + tape[i]));
                },
                &mut || {
                    let vec = black_box(&vec);
                    black_box((0..n).fold(0.0, |sum, i| sum + vec[i]));
                },
            ],
        );
        per_element(runner, &case, "Vec indexing", n, ours, theirs, Some("<= 2"))?;
    }
    let case = format!("get_scattered_{n}");
    if runner.wants(&case) {
        let ((tape, vec), order) = (both(), scattered(n));
        let [ours, theirs] = best_of(
            7,
            [
                &mut || {
                    let (tape, order) = (black_box(&tape), black_box(&order));
                    black_box(order.iter().fold(0.0, |sum, &i| sum + tape[i as usize]));
                },
                &mut || {
                    let (vec, order) = (black_box(&vec), black_box(&order));
                    black_box(order.iter().fold(0.0, |sum, &i| sum + vec[i as usize]));
                },
            ],
        );
        per_element(runner, &case, "Vec indexing", n, ours, theirs, Some("<= 2"))?;
    }
    Ok(())
}

/// The numbers below `n`, shuffled.
fn scattered(n: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for i in (1..n).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        order.swap(i, (state >> 33) as usize % (i + 1));
    }
    order
}
