//! Sweeps of the cache: figures 10, 11, 12 and 15.

use super::{BENCHMARKS, CACHES, Figure, Kind, Lab, Panel, mean, range, ratio};
use crate::{Pass, Report};

/// The scratchpad of Table III.
const SCRATCHPAD: u64 = 512;

/// What is published of each program.
fn published(of: impl Fn(&super::super::Published) -> f64) -> impl Iterator<Item = f64> {
    BENCHMARKS.into_iter().map(move |one| of(&one.published))
}

/// For each program, a number for each cache: of the reports without and with the scratchpad.
fn sweep(lab: &mut Lab<'_>, mut panel: Panel, number: impl Fn(&Report, &Report) -> f64) -> Panel {
    for one in &BENCHMARKS {
        let numbers: Vec<f64> = CACHES
            .iter()
            .map(|cache| number(&lab.report(one, cache, 0), &lab.report(one, cache, SCRATCHPAD)))
            .collect();
        panel = panel.row(one.name, numbers);
    }
    panel
}

/// Per cent of the accesses to the cache that hit.
fn hit_rate(report: &Report, pass: Pass) -> f64 {
    let all = report[pass].all();
    100.0 * all.hits as f64 / (all.hits + all.misses).max(1) as f64
}

fn speed(lab: &mut Lab<'_>, pass: Pass) -> (Vec<Panel>, String) {
    let lines = |title: &str, unit| Panel::new(title, unit, Kind::Lines, &CACHES);
    let times = |without: &Report, with: &Report| ratio(without[pass].cycles, with[pass].cycles);
    let speed = sweep(lab, lines("Speed-up by the scratchpad, cache by cache", "times"), times);
    let without =
        sweep(lab, lines("Hits without the scratchpad", "%"), |without, _| hit_rate(without, pass));
    let with = sweep(lab, lines("Hits with it", "%"), |_, with| hit_rate(with, pass));
    let ours: Vec<f64> = BENCHMARKS
        .iter()
        .map(|one| times(&lab.baseline(one), &lab.report(one, "32k", SCRATCHPAD)))
        .collect();
    let beside = Panel::of_programs("With 32k of cache, beside published", "times", Kind::Bars)
        .row("here", ours.iter().copied())
        .row(
            "published",
            published(|one| if pass == Pass::Forward { one.forward } else { one.reverse }),
        );
    let finding = format!(
        "{} with 32k of cache (geometric mean {:.2}), {} over all caches.",
        range(ours.iter().copied()),
        mean(ours),
        range(speed.numbers()),
    );
    (vec![speed, without, with, beside], finding)
}

pub(super) fn reverse(lab: &mut Lab<'_>) -> Figure {
    let (panels, finding) = speed(lab, Pass::Reverse);
    Figure {
        number: 10,
        title: "Speed-up of the reverse pass",
        method: "Cycles without the scratchpad over cycles with 512 bytes of it, at the same cache. Hits are of accesses to the cache: with a scratchpad the tape's are not among them.",
        claim: "REV: 1.07 (gravity) to 2.41 (mttkrp) with 32k of cache; the hit rate rises, most in irregular programs.",
        finding,
        panels,
    }
}

pub(super) fn forward(lab: &mut Lab<'_>) -> Figure {
    let (panels, finding) = speed(lab, Pass::Forward);
    Figure {
        number: 11,
        title: "Speed-up of the forward pass",
        method: "As figure 10.",
        claim: "FWD: 1.00 (matdescent) to 2.42 (mttkrp) with 32k of cache.",
        finding,
        panels,
    }
}

pub(super) fn dram(lab: &mut Lab<'_>) -> Figure {
    let lines = |report: &Report| report.all().lines();
    let mut panels = Vec::new();
    for (title, scratchpad) in [("Without the scratchpad", 0), ("With it", SCRATCHPAD)] {
        let mut panel = Panel::new(title, "of the baseline's", Kind::Lines, &CACHES);
        for one in &BENCHMARKS {
            let base = lines(&lab.baseline(one));
            let row = CACHES.map(|cache| ratio(lines(&lab.report(one, cache, scratchpad)), base));
            panel = panel.row(one.name, row);
        }
        panels.push(panel);
    }
    let mut less = |cache: &str, counted: bool| {
        BENCHMARKS
            .iter()
            .map(|one| {
                let (without, with) =
                    (lab.report(one, cache, 0), lab.report(one, cache, SCRATCHPAD));
                let found = crate::Comparison::new(&without, &with);
                if counted { found.dram_without_tape_writes } else { found.dram }
            })
            .collect::<Vec<f64>>()
    };
    let (ours, counted, small) = (less("32k", false), less("32k", true), less("1k", false));
    let finding = format!(
        "{} times less with 32k of cache ({} without the scratchpad's writes, as the published figures count), {} with 1k.",
        range(ours.iter().copied()),
        range(counted.iter().copied()),
        range(small.iter().copied())
    );
    let beside = Panel::of_programs("Times less, beside published", "times less", Kind::Bars)
        .row("32k", ours)
        .row("32k, without the scratchpad's writes", counted)
        .row("32k, published", published(|one| one.dram))
        .row("1k", small)
        .row("1k, published", published(|one| one.smallest.map_or(f64::NAN, |(_, dram)| dram)));
    panels.push(beside);
    Figure {
        number: 12,
        title: "DRAM traffic",
        method: "Lines read and written over those of the baseline with 32k of cache, the tape's on both sides.",
        claim: "Up to 14 times less (mttkrp) with 32k of cache; regular programs hardly change with the cache.",
        finding,
        panels,
    }
}

pub(super) fn trade(lab: &mut Lab<'_>) -> Figure {
    let columns: Vec<String> = CACHES
        .iter()
        .flat_map(|cache| [format!("{cache} energy"), format!("{cache} performance")])
        .collect();
    let mut panels = Vec::new();
    let mut better = 0;
    for one in &BENCHMARKS {
        let base = lab.report(one, "1k", 0);
        let mut panel = Panel {
            columns: columns.clone(),
            ..Panel::new(one.name, "performance", Kind::Paths, &[])
        };
        for (name, scratchpad) in [("without", 0), ("with a scratchpad", SCRATCHPAD)] {
            let points = CACHES.map(|cache| {
                let report = lab.report(one, cache, scratchpad);
                [ratio(report.energy, base.energy), ratio(base.cycles(), report.cycles())]
            });
            panel = panel.row(name, points.concat());
        }
        panels.push(panel.on_logarithmic_axis());
        let (large, small) = (lab.baseline(one), lab.report(one, "2k", SCRATCHPAD));
        better += usize::from(small.cycles() * 10 <= large.cycles() * 11);
    }
    Figure {
        number: 15,
        title: "Energy against performance",
        method: "Each path goes through the caches of 1k to 128k. Energy (to the right, logarithmic) and performance (up) over those of the baseline with 1k of cache.",
        claim: "TapeFlow has the same performance at much less energy; 2k of cache keep the performance that the baseline has with 32k.",
        finding: format!(
            "In {better} of 9 programs 2k of cache with a scratchpad are as fast as 32k without, or at most a tenth slower."
        ),
        panels,
    }
}
