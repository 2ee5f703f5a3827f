//! Gradients on the machine: the nine programs of the paper, and functions of one's own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use stratape_compiler::driver::Saving;
use stratape_model::paper::{BENCHMARKS, Benchmark, measure};
use stratape_model::{Comparison, Data, Layout, Machine, ModelError, Program, Report};

const PRODUCT: &str = "#[gradient] fn product(x: &[f64], k: f64) -> f64 {
    let mut p = k;
    for v in x { p *= v; }
    p
}";

fn message(result: Result<Program, ModelError>) -> String {
    match result {
        Ok(program) => panic!("{} is accepted", program.name),
        Err(error) => error.to_string(),
    }
}

/// What is saved is taken once, wherever it lies.
fn taken_once(report: &Report) -> u64 {
    let tape = report.of(Data::Tape);
    assert_eq!(tape.loads, tape.stores);
    tape.loads
}

#[test]
fn every_program_runs_in_both_settings() {
    for benchmark in &BENCHMARKS {
        if benchmark.name == "lenet" && cfg!(debug_assertions) {
            continue;
        }
        let [all, minimal] =
            [Saving::All, Saving::Minimal].map(|saved| benchmark.program(saved, true).unwrap());
        let run = |program: &Program, spad| {
            program.run(&Machine::default().with_scratchpad(spad), Layout::Records).unwrap()
        };
        let (with, without) = (run(&all, 512), run(&all, 0));
        assert!(taken_once(&with) > 0, "{}", benchmark.name);
        assert_eq!(taken_once(&with), taken_once(&without), "{}", benchmark.name);
        assert_eq!(with.of(Data::Tape).scratchpad, 2 * taken_once(&with), "{}", benchmark.name);
        assert_eq!(without.of(Data::Tape).scratchpad, 0, "{}", benchmark.name);
        assert!(taken_once(&run(&minimal, 512)) <= taken_once(&with), "{}", benchmark.name);
    }
}

/// Of a product each partial product is saved, and each factor if all is.
#[test]
fn what_is_saved_of_a_product() {
    let count = |saved| {
        let program = Program::compile(PRODUCT, "product", saved, &[("x", 100.0)]).unwrap();
        taken_once(&program.run(&Machine::default(), Layout::Records).unwrap())
    };
    assert_eq!((count(Saving::All), count(Saving::Minimal)), (200, 100));
}

/// What a trace knows beside cycles: how large the data is, and how long values live.
#[test]
fn footprints_and_lifetimes_of_a_product() {
    let program = Program::compile(PRODUCT, "product", Saving::All, &[("x", 100.0)]).unwrap();
    let report = program.run(&Machine::baseline(), Layout::Columns).unwrap();
    // A hundred numbers and their adjoints, and twice as many on the tape.
    let footprint = |data: Data| report.footprint[data as usize];
    assert_eq!([Data::Input, Data::Adjoint, Data::Tape].map(footprint), [800, 800, 1600]);
    // What is saved first is taken last, so it lives for most of the run.
    let (tape, others) = (report.lifetimes.tape.0, report.lifetimes.others.0);
    assert!(tape[4] > report.cycles() / 2 && tape[4] <= report.cycles(), "{tape:?}");
    assert!(tape.is_sorted() && tape[0] > others[1], "{tape:?} {others:?}");
}

/// A layer of at most so many records: 100 records of two values, in layers of seven, are 15 layers.
#[test]
fn layers_of_few_records() {
    let program = Program::compile(PRODUCT, "product", Saving::All, &[("x", 100.0)]).unwrap();
    let layers = |records: u64| {
        let mut machine = Machine::default();
        machine.streams.layer_records = records;
        let report = program.run(&machine, Layout::Records).unwrap();
        (report.forward.layers, report.reverse.layers)
    };
    assert_eq!([1, 7, 16, 17].map(layers), [(100, 100), (15, 15), (7, 7), (7, 7)]);
}

/// Machines that share a run of the interpreter see what each would have seen alone.
#[test]
fn several_machines_at_a_time() {
    let program = Benchmark::named("somier").unwrap().program(Saving::All, true).unwrap();
    let machines = [
        (Machine::baseline(), Layout::Columns),
        (Machine::baseline().with_cache("2k").unwrap(), Layout::Records),
        (Machine::default(), Layout::Records),
    ];
    let together = program.run_on(&machines).unwrap();
    for ((machine, layout), report) in machines.iter().zip(together) {
        assert_eq!(program.run(machine, *layout).unwrap(), report);
    }
    let names: Vec<String> =
        machines.iter().map(|(machine, layout)| program.fingerprint(machine, *layout)).collect();
    assert!(names[0] != names[1] && names[1] != names[2]);
    let minimal = Benchmark::named("somier").unwrap().program(Saving::Minimal, true).unwrap();
    assert_ne!(minimal.fingerprint(&machines[0].0, machines[0].1), names[0]);
}

/// A record of several values in a scratchpad that holds fewer: it goes on in the next layer.
#[test]
fn a_record_larger_than_a_layer() {
    let source = "#[gradient] fn f(x: &[f64]) -> f64 {
        let (mut a, mut b, mut c, mut d, mut e) = (1.0, 1.0, 1.0, 1.0, 1.0);
        for v in x { a *= v * b; b *= v * c; c *= v * d; d *= v * e; e *= v * v; }
        a * b * c * d * e
    }";
    let program = Program::compile(source, "f", Saving::All, &[("x", 10.0)]).unwrap();
    let mut machine = Machine::default().with_scratchpad(64);
    machine.scratchpad.banks = 1;
    let report = program.run(&machine, Layout::Records).unwrap();
    assert!(taken_once(&report) > 50);
    assert_eq!(report.forward.oversized_layers + report.reverse.oversized_layers, 0);
    assert!(report.forward.layers >= taken_once(&report) / 8);
}

/// Both layouts make the same accesses; records lie side by side, so that as many lines or fewer are touched.
#[test]
fn layouts_differ_in_lines_alone() {
    let program = Benchmark::named("somier").unwrap().program(Saving::All, true).unwrap();
    let machine = Machine::baseline();
    let [records, columns] =
        [Layout::Records, Layout::Columns].map(|layout| program.run(&machine, layout).unwrap());
    assert_eq!(records.of(Data::Tape).loads, columns.of(Data::Tape).loads);
    let found = Comparison::new(&columns, &records);
    assert!(found.dram >= 1.0, "{found}");
}

/// The paper's claim, where nothing but what is needed is counted: a scratchpad helps where everything is saved.
#[test]
fn a_scratchpad_helps_where_everything_is_saved() {
    for name in ["mttkrp", "somier", "gravity"] {
        let measured = measure(Benchmark::named(name).unwrap(), Saving::All, true).unwrap();
        let found = measured.comparison();
        assert!(found.total > 1.2 && found.dram > 1.2, "{name}: {found}");
    }
}

#[test]
fn what_cannot_be_run_is_told() {
    let compile = |source, name, settings| Program::compile(source, name, Saving::All, settings);
    assert!(message(compile(PRODUCT, "sum", &[])).contains("there are product"));
    assert!(message(compile("fn f() {}", "f", &[])).contains("there are none"));
    assert!(
        message(compile(PRODUCT, "product", &[("y", 3.0)]))
            .contains("there is no parameter `y`: there are x, k")
    );
    assert!(message(compile("fn f( {", "f", &[])).contains("`f`"));
    let refused = "#[gradient] fn f(x: f64) -> f64 { unsafe { x } }";
    assert!(message(compile(refused, "f", &[])).contains("unsafe"));
    assert!(Benchmark::named("gravty").unwrap_err().to_string().contains("there are gravity, nn"));

    let short = "#[gradient] fn f(x: &[f64], n: usize) -> f64 { x[n] * x[0] }";
    let run = |settings| {
        let program = compile(short, "f", settings).unwrap();
        program.run(&Machine::default(), Layout::Records)
    };
    let told = run(&[("x", 4.0)]).unwrap_err().to_string();
    assert!(told.contains("index out of bounds: the len is 4 but the index is 64"), "{told}");
    assert!(run(&[("x", 4.0), ("n", 3.0)]).is_ok());
    let mut long = compile(PRODUCT, "product", &[("x", 10_000.0)]).unwrap();
    long.steps = 1000;
    let told = long.run(&Machine::default(), Layout::Records).unwrap_err().to_string();
    assert!(told.contains("take smaller inputs"), "{told}");
}
