//! What is accessed, and how long it lives: figures 6 and 7.

use super::{BENCHMARKS, Figure, Kind, Lab, Panel, mean, range, ratio};
use crate::{Data, Fifths, Pass, Report};

const KIB: f64 = 1024.0;

pub(super) fn accesses(lab: &mut Lab<'_>) -> Figure {
    let reports: Vec<Report> = BENCHMARKS.iter().map(|one| lab.baseline(one)).collect();
    let share = |pass: Pass, classes: &'static [Data]| {
        reports.iter().map(move |report| {
            let all = report.all().accesses().max(1);
            let some: u64 = classes.iter().map(|data| report[pass].of(*data).accesses()).sum();
            100.0 * some as f64 / all as f64
        })
    };
    let results = &[Data::Output, Data::Local];
    let shares = Panel::of_programs("Accesses by class", "% of all", Kind::Stacked)
        .row("FWD input", share(Pass::Forward, &[Data::Input]))
        .row("FWD output", share(Pass::Forward, results))
        .row("FWD tape", share(Pass::Forward, &[Data::Tape]))
        .row("REV input", share(Pass::Reverse, &[Data::Input]))
        .row("REV output", share(Pass::Reverse, results))
        .row("REV adjoint", share(Pass::Reverse, &[Data::Adjoint]))
        .row("REV tape", share(Pass::Reverse, &[Data::Tape]));
    let times = |report: &Report| {
        let forward = &report.forward;
        ratio(report.all().accesses(), forward.all().accesses() - forward.of(Data::Tape).accesses())
    };
    let more = Panel::of_programs(
        "Accesses of the gradient over those of the function alone",
        "times",
        Kind::Bars,
    )
    .row("times", reports.iter().map(times));
    let bytes = |classes: &'static [Data]| {
        reports.iter().map(move |report| {
            let some: u64 = classes.iter().map(|data| report.footprint[*data as usize]).sum();
            // A bar of nothing has no place on a logarithmic axis.
            if some == 0 { f64::NAN } else { some as f64 / KIB }
        })
    };
    let sets = Panel::of_programs("Working set", "KiB", Kind::Bars)
        .on_logarithmic_axis()
        .row("function", bytes(&[Data::Input, Data::Output, Data::Local]))
        .row("adjoint", bytes(&[Data::Adjoint]))
        .row("tape", bytes(&[Data::Tape]));
    let tape = reports.iter().map(|report| {
        100.0 * ratio(report.of(Data::Tape).accesses(), report.all().accesses().max(1))
    });
    let finding = format!(
        "The tape has {} % of all accesses; a gradient makes {} times the accesses of its function.",
        range(tape),
        range(more.numbers())
    );
    Figure {
        number: 6,
        title: "Accesses and working sets",
        method: "Loads and stores of the baseline, every needed value saved. Output: results and arrays of the function's own.",
        claim: "The tape has 20 to 40 % of all accesses; tape and REV add 4 to 5 times the accesses of the FWD.",
        finding,
        panels: vec![shares, more, sets],
    }
}

pub(super) fn lifetimes(lab: &mut Lab<'_>) -> Figure {
    let reports: Vec<Report> = BENCHMARKS.iter().map(|one| lab.baseline(one)).collect();
    let panel = |title: &str, of: fn(&Report) -> Fifths| {
        let mut panel = Panel::of_programs(title, "cycles", Kind::Bars).on_logarithmic_axis();
        for (fifth, name) in ["20 %", "40 %", "60 %", "80 %", "100 %"].into_iter().enumerate() {
            let cycles = reports.iter().map(|report| (of(report).0[fifth] as f64).max(1.0));
            panel = panel.row(name, cycles);
        }
        panel
    };
    let tape = panel("Values on the tape are used within", |report| report.lifetimes.tape);
    let others = panel("Other values are used within", |report| report.lifetimes.others);
    let longer = reports.iter().map(|report| {
        ratio(report.lifetimes.tape.0[2].max(1), report.lifetimes.others.0[2].max(1))
    });
    let finding = format!(
        "Three fifths of the tape's values are used within a time that is {:.0} times that of other values (geometric mean of the nine programs).",
        mean(longer)
    );
    Figure {
        number: 7,
        title: "How long values live",
        method: "Cycles from the store of a value on the tape to its load, and from each other node to those that use what it computed or stored, on the baseline. Bars: so many fifths of all uses are over.",
        claim: "Values on the tape live about 100 times as long.",
        finding,
        panels: vec![tape, others],
    }
}
