//! Regions of records, and reading by index.

use std::hint::black_box;

use stratape::tape::{RecordTape, Tape};

use super::per_element;
use crate::Settings;
use crate::measure::best_of;

pub(super) fn run(settings: &Settings) {
    regions(settings);
    let sizes: &[usize] =
        if settings.quick { &[10_000, 1_000_000] } else { &[10_000, 1_000_000, 10_000_000] };
    for &n in sizes {
        by_index(settings, n);
    }
}

fn regions(settings: &Settings) {
    const RECORDS: usize = 1024;
    let case = "region_1024_records_of_4_f64";
    if !settings.wants(case) {
        return;
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
    per_element(case, "raw array of structs", RECORDS, ours, theirs, Some("<= 1.05"));
}

fn by_index(settings: &Settings, n: usize) {
    let tape: Tape<f64> = Tape::from_iter((0..n).map(|i| i as f64));
    let vec: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let case = format!("get_in_order_{n}");
    if settings.wants(&case) {
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
        per_element(&case, "Vec indexing", n, ours, theirs, Some("<= 2"));
    }
    let case = format!("get_scattered_{n}");
    if settings.wants(&case) {
        let order = scattered(n);
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
        per_element(&case, "Vec indexing", n, ours, theirs, Some("<= 2"));
    }
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
