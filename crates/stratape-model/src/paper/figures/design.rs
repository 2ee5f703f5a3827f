//! Layout, energy, and the design of the scratchpad: figures 13, 14, 16, 17 and 18.

use super::{BENCHMARKS, Benchmark, Figure, Kind, Lab, Panel, Run, mean, range, ratio};
use crate::{Barrier, Layout, Machine};

pub(super) fn layout(lab: &mut Lab<'_>) -> Figure {
    let mut less = |cache: &str| -> (Vec<f64>, Vec<f64>) {
        let found = BENCHMARKS.iter().map(|one| {
            let columns = lab.run(one, cache, 0);
            let records = Run { layout: Layout::Records, ..columns };
            let (columns, records) = (lab.results.get(columns), lab.results.get(records));
            let lines = ratio(records.all().lines(), columns.all().lines());
            (lines, ratio(records.cycles(), columns.cycles()))
        });
        found.unzip()
    };
    let ((dram, cycles), (small, _)) = (less("32k"), less("1k"));
    let finding = format!(
        "Records have {} of the lines of columns with 32k of cache, {} with 1k, and take {} of the cycles.",
        range(dram.iter().copied()),
        range(small.iter().copied()),
        range(cycles.iter().copied())
    );
    let panel =
        Panel::of_programs("Records over columns, no scratchpad", "less is better", Kind::Bars)
            .row("DRAM lines, 32k", dram)
            .row("DRAM lines, 1k", small)
            .row("cycles, 32k", cycles);
    Figure {
        number: 13,
        title: "Layout alone",
        method: "The tape as an array of structs over a struct of arrays, both through the cache.",
        claim: "Up to 30 % less DRAM traffic.",
        finding,
        panels: vec![panel],
    }
}

pub(super) fn energy(lab: &mut Lab<'_>) -> Figure {
    let mut times = |cache: &str| -> Vec<f64> {
        let found = BENCHMARKS
            .iter()
            .map(|one| ratio(lab.baseline(one).energy, lab.report(one, cache, 512).energy));
        found.collect()
    };
    let (equal, small, smallest) = (times("32k"), times("2k"), times("1k"));
    let finding = format!(
        "{} with the same cache, {} with 2k (geometric mean {:.1}), {} with 1k.",
        range(equal.iter().copied()),
        range(small.iter().copied()),
        mean(small.iter().copied()),
        range(smallest.iter().copied())
    );
    let panel = Panel::of_programs("Times less than the baseline with 32k", "times", Kind::Bars)
        .row("32k (iso-cache)", equal)
        .row("2k (iso-performance)", small)
        .row("2k, published", BENCHMARKS.map(|one| one.published.energy))
        .row("1k", smallest);
    Figure {
        number: 14,
        title: "On-chip energy",
        method: "Accesses to cache and scratchpad, each with the energy of Table III.",
        claim: "8 times less with 2k of cache (iso-performance).",
        finding,
        panels: vec![panel],
    }
}

/// Scratchpads from 64 bytes to 1 MiB.
const SCRATCHPADS: [&str; 8] = ["64", "256", "512", "1k", "4k", "16k", "128k", "1M"];

pub(super) fn scratchpads(lab: &mut Lab<'_>) -> Figure {
    let mut panels = Vec::new();
    let mut gains = Vec::new();
    for (title, barrier) in [
        ("Accesses to the tape wait at the end of a layer", Barrier::Tape),
        ("Everything waits", Barrier::Everything),
    ] {
        let mut panel = Panel::new(title, "over the baseline", Kind::Lines, &SCRATCHPADS);
        for one in &BENCHMARKS {
            let base = lab.baseline(one).cycles();
            let numbers: Vec<f64> = SCRATCHPADS
                .iter()
                .map(|text| {
                    let bytes = crate::size(text).unwrap_or(512);
                    let mut run = lab.run(one, "32k", bytes);
                    run.machine.barrier = barrier;
                    ratio(base, lab.results.get(run).cycles())
                })
                .collect();
            gains.push(numbers[SCRATCHPADS.len() - 1] / numbers[0]);
            panel = panel.row(one.name, numbers);
        }
        panels.push(panel);
    }
    let (tape, everything) = gains.split_at(BENCHMARKS.len());
    let finding = format!(
        "1 MiB over 64 bytes: {} times as fast, or {} where everything waits at the end of a layer.",
        range(tape.iter().copied()),
        range(everything.iter().copied())
    );
    Figure {
        number: 16,
        title: "Size of the scratchpad",
        method: "Performance over the baseline, both with 32k of cache. A layer has half of the scratchpad.",
        claim: "From 64 bytes (the text says kB) to 1 MB performance rises by 25 to 50 %; with 64 bytes nn is as fast as the baseline.",
        finding,
        panels,
    }
}

/// How many records of a loop a layer may span.
const FACTORS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

pub(super) fn depth(lab: &mut Lab<'_>) -> Figure {
    let columns = FACTORS.map(|factor| factor.to_string());
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut speed = Panel::new("pathfinder", "over the baseline", Kind::Lines, &columns);
    let mut wide = Panel::new("Operations of a layer", "of factor 1", Kind::Lines, &columns);
    let Some(one) = BENCHMARKS.iter().find(|one| one.name == "pathfinder") else {
        return depth_of(speed, wide);
    };
    let base = lab.baseline(one).cycles();
    for (name, barrier) in [
        ("everything waits at the end of a layer", Barrier::Everything),
        ("accesses to the tape wait", Barrier::Tape),
    ] {
        let reports = FACTORS.map(|factor| {
            let mut run = lab.run(one, "32k", 64 << 10);
            run.machine.barrier = barrier;
            run.machine.streams.layer_records = factor;
            lab.results.get(run)
        });
        speed = speed.row(name, reports.iter().map(|report| ratio(base, report.cycles())));
        if barrier == Barrier::Everything {
            let operations = reports.iter().map(|report| {
                let [forward, reverse] = [&report.forward, &report.reverse];
                let operations: u64 = forward.operations.iter().chain(&reverse.operations).sum();
                operations as f64 / (forward.layers + reverse.layers).max(1) as f64
            });
            let operations: Vec<f64> = operations.collect();
            let first = operations[0].max(1e-9);
            wide = wide.row("operations", operations.iter().map(|count| count / first));
        }
    }
    depth_of(speed, wide.on_logarithmic_axis())
}

fn depth_of(speed: Panel, wide: Panel) -> Figure {
    let gains = speed.rows.iter().map(|(_, row)| row[row.len() - 1] / row[0]);
    Figure {
        number: 17,
        title: "Deep and shallow graphs of layers",
        method: "pathfinder with layers of at most so many records of its loop, the factor by which the loop is unrolled, in a scratchpad of 64 KiB that has room for all of them. Parallelism is the number of operations of a layer.",
        claim: "2 times faster with shallow graphs of wide layers.",
        finding: format!(
            "Layers of 128 records over layers of one: {} times as fast.",
            range(gains)
        ),
        panels: vec![speed, wide],
    }
}

pub(super) fn unrolled(lab: &mut Lab<'_>) -> Figure {
    // As many nodes as the model can hold: more than any of these runs has between two stalls.
    let window = 1 << 20;
    let mut speed = |one: &Benchmark, window: usize| {
        let [without, with] = [0, 512].map(|scratchpad| {
            let mut run = lab.run(one, "32k", scratchpad);
            run.quick = true;
            run.machine.window = window;
            lab.results.get(run).cycles()
        });
        ratio(without, with)
    };
    let (mut looped, mut unrolled) = (Vec::new(), Vec::new());
    for one in &BENCHMARKS {
        looped.push(speed(one, Machine::default().window));
        unrolled.push(speed(one, window));
    }
    let finding = format!(
        "{} times as fast as the baseline where all is unrolled, {} where it is not.",
        range(unrolled.iter().copied()),
        range(looped.iter().copied())
    );
    let panel = Panel::of_programs("Speed-up by the scratchpad", "times", Kind::Bars)
        .row("as in the other figures", looped)
        .row("unrolled", unrolled);
    Figure {
        number: 18,
        title: "Fully unrolled",
        method: "A window of a million nodes instead of 512, so that the whole graph is there to choose from; issue width, units, ports and memory as before. With the smaller inputs, since code of the full size would not be unrolled.",
        claim: "Up to 14 times as fast (pathfinder).",
        finding,
        panels: vec![panel],
    }
}
