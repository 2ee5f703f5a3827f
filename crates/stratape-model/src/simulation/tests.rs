use super::*;
use crate::report::Stalls;

fn machine() -> Machine {
    Machine::default()
}

/// A cache in which nothing but the first access to a line misses, and memory that costs nothing: what is left is the grid.
fn free_memory() -> Machine {
    let mut machine = machine();
    machine.dram.latency = 0;
    machine.dram.megabytes_per_second = 1 << 30;
    machine
}

fn run(machine: &Machine, program: impl FnOnce(&mut Simulation)) -> Report {
    let mut simulation = Simulation::new(machine).unwrap();
    program(&mut simulation);
    let report = simulation.finish();
    for pass in [&report.forward, &report.reverse] {
        assert_eq!(pass.stalls.total(), pass.cycles);
    }
    report
}

fn cycles(machine: &Machine, program: impl FnOnce(&mut Simulation)) -> u64 {
    run(machine, program).cycles()
}

#[test]
fn a_chain_takes_its_latencies() {
    // 10 products of 4 cycles, each after the one before.
    let report = run(&machine(), |run| {
        let mut node = run.compute(Unit::Multiply, &[]);
        for _ in 1..10 {
            node = run.compute(Unit::Multiply, &[node, node]);
        }
    });
    assert_eq!(report.forward.cycles, 40);
    assert_eq!(report.forward.stalls, Stalls { dependence: 40, ..Stalls::default() });
    assert_eq!(report.forward.operations, [0, 10, 0, 0, 0, 0]);
}

#[test]
fn independent_nodes_fill_the_issue_width_or_the_units() {
    let adds = |run: &mut Simulation| {
        for _ in 0..64 {
            run.compute(Unit::Add, &[]);
        }
    };
    // 8 a cycle: the last 8 start at cycle 7 and take 2.
    assert_eq!(cycles(&machine(), adds), 9);
    // The issue width held the last ones up for 7 cycles.
    assert_eq!(run(&machine(), adds).forward.stalls.issue, 7);
    // 16 units are fewer than an issue width of 32: 16 a cycle, the last at cycle 3.
    assert_eq!(cycles(&Machine { issue_width: 32, ..machine() }, adds), 5);
}

#[test]
fn a_divider_that_is_not_pipelined_is_busy() {
    // 16 units, 12 cycles each: 32 divisions start 8 at cycles 0 and 1, when all units are busy; the others at 12 and 13 and end at 25.
    let divisions = |run: &mut Simulation| {
        for _ in 0..32 {
            run.compute(Unit::Divide, &[]);
        }
    };
    assert_eq!(cycles(&machine(), divisions), 25);
    // One unit: one after the other. An addition that comes last has no gap to fill.
    let one = Machine { units: 1, ..machine() };
    assert_eq!(cycles(&one, divisions), 32 * 12);
    let last = cycles(&one, |run| {
        divisions(run);
        run.compute(Unit::Add, &[]);
    });
    assert_eq!(last, 32 * 12 + 2);
}

#[test]
fn later_nodes_do_not_wait_for_earlier_ones_that_wait() {
    // One issue slot. The chain starts at 0, 4, 8; three independent additions go between, at 1, 2 and 3.
    let machine = Machine { issue_width: 1, ..machine() };
    let report = run(&machine, |run| {
        let mut node = run.compute(Unit::Multiply, &[]);
        for _ in 0..2 {
            node = run.compute(Unit::Multiply, &[node]);
        }
        for _ in 0..3 {
            run.compute(Unit::Add, &[]);
        }
    });
    assert_eq!(report.forward.cycles, 12);
}

#[test]
fn the_window_bounds_what_is_in_flight() {
    // A window of 2: each product waits for the one before the last. Two start at 0, two at 4, two at 8.
    let machine = Machine { window: 2, ..machine() };
    let products = |run: &mut Simulation| {
        for _ in 0..6 {
            run.compute(Unit::Multiply, &[]);
        }
    };
    assert_eq!(cycles(&machine, products), 12);
    // A node of long ago counts as done, and so does one that never was.
    let mut run = Simulation::new(&machine).unwrap();
    let old = run.compute(Unit::Multiply, &[]);
    products(&mut run);
    let before = run.cycle();
    run.compute(Unit::Multiply, &[old]);
    assert!(run.cycle() <= before + 4);
}

#[test]
fn a_barrier_waits_for_everything() {
    // A division of 12 cycles, then an addition that depends on nothing.
    let report = run(&machine(), |run| {
        run.compute(Unit::Divide, &[]);
        run.barrier();
        run.compute(Unit::Add, &[]);
    });
    assert_eq!(report.forward.cycles, 14);
}

#[test]
fn ports_bound_loads() {
    // One line, fetched by the first load (2 cycles in the cache and 1 of transfer). Loads start 2 a cycle: 64 take 32 cycles, the last ones
    // start at 31 and end at 33.
    let loads = |run: &mut Simulation| {
        for i in 0..64 {
            run.load(Data::Input, 8 * (i % 8), 8, &[]);
        }
    };
    let report = run(&free_memory(), loads);
    assert_eq!(report.forward.cycles, 33);
    assert_eq!((report.of(Data::Input).hits, report.of(Data::Input).misses), (63, 1));
    // The first end at 3, of which 2 ran and 1 was DRAM; from then on ports held the loads up.
    assert_eq!(
        report.forward.stalls,
        Stalls { dram: 1, dependence: 2, ports: 30, ..Stalls::default() }
    );
    // 8 ports are as many as the issue width: 8 cycles.
    let mut wide = free_memory();
    wide.cache.ports = 8;
    assert_eq!(cycles(&wide, loads), 9);
}

#[test]
fn banks_conflict() {
    // 8 words in 8 banks start in one cycle; 8 words of one bank, 64 bytes apart, one after the other.
    let stores = |step: u64| {
        move |run: &mut Simulation| {
            for i in 0..8 {
                run.store(Data::Tape, step * i, 8, &[]);
            }
        }
    };
    assert_eq!(cycles(&machine(), stores(8)), 1);
    let report = run(&machine(), stores(64));
    assert_eq!(report.forward.cycles, 8);
    assert_eq!(report.forward.stalls.banks, 7);
    // Without a scratchpad they go through the cache, one line each.
    let report = run(&Machine::baseline(), stores(64));
    assert_eq!((report.of(Data::Tape).misses, report.of(Data::Tape).scratchpad), (8, 0));
    assert_eq!(report.left_dirty, [0, 0, 0, 0, 8]);
}

#[test]
fn a_load_misses_waits_and_hits() {
    // A miss: 2 + 100 + 7. The second load of the line starts in the same cycle and waits for the same line.
    let report = run(&machine(), |run| {
        run.load(Data::Input, 0, 8, &[]);
        run.load(Data::Input, 8, 8, &[]);
    });
    assert_eq!(report.forward.cycles, 109);
    assert_eq!(report.forward.stalls, Stalls { dram: 107, dependence: 2, ..Stalls::default() });
    assert_eq!(report.all().lines_read, 1);
    assert_eq!(report.energy, 2 * 2990);
}

#[test]
fn lines_in_flight_are_bounded() {
    // One at a time: 4 independent misses, each 107 cycles after the one before.
    let mut machine = machine();
    machine.cache.misses_in_flight = 1;
    let loads = |run: &mut Simulation| {
        for i in 0..4 {
            run.load(Data::Input, 64 * i, 8, &[]);
        }
    };
    assert_eq!(cycles(&machine, loads), 2 + 4 * 107);
}

#[test]
fn a_stream_of_misses_is_bound_by_bandwidth() {
    // 6000 lines of 64 bytes at 9.6 bytes a cycle are 40 000 cycles. 16 in flight are just about enough to keep the memory busy.
    let report = run(&machine(), |run| {
        for i in 0..6000 {
            run.load(Data::Input, 64 * i, 8, &[]);
        }
    });
    assert!((40_000..42_000).contains(&report.forward.cycles), "{}", report.forward.cycles);
    assert!(report.forward.stalls.dram > 39_000);
}

#[test]
fn a_posted_store_does_not_wait_for_its_line() {
    let store = |run: &mut Simulation| {
        run.store(Data::Output, 0, 8, &[]);
    };
    assert_eq!(cycles(&machine(), store), 2);
    let mut waiting = machine();
    waiting.cache.posted_stores = false;
    assert_eq!(cycles(&waiting, store), 109);
}

#[test]
fn double_buffering_hides_a_stream_entirely() {
    // A layer of 96 bytes and a chain of 10 products, 40 cycles. The stream needs 10 of them. Forward, none shows, for the last layer
    // stays in the scratchpad. Reverse, the second layer is there after the latency of 100 cycles and 10 of transfer, of which the first runs for 40; then
    // the engine is ahead of the program.
    let report = run(&machine(), |run| {
        for _ in 0..100 {
            let mut node = run.compute(Unit::Multiply, &[]);
            for _ in 1..10 {
                node = run.compute(Unit::Multiply, &[node]);
            }
            run.layer_end(96);
        }
        run.pass(Pass::Reverse);
        for _ in 0..100 {
            run.layer_start(96);
            let mut node = run.compute(Unit::Multiply, &[]);
            for _ in 1..10 {
                node = run.compute(Unit::Multiply, &[node]);
            }
        }
    });
    assert_eq!((report.forward.cycles, report.forward.stalls.streams), (4000, 0));
    assert_eq!((report.reverse.cycles, report.reverse.stalls.streams), (4070, 70));
    // 9600 bytes but for 96 are 148.5 lines, each way.
    assert_eq!((report.of(Data::Tape).lines_written, report.of(Data::Tape).lines_read), (149, 149));
    assert_eq!((report.forward.layers, report.forward.oversized_layers), (100, 0));
}

#[test]
fn a_full_buffer_stalls() {
    // Layers of 192 bytes and 4 cycles, no buffer beside the scratchpad's other half of 192: a layer may start when the one before the last
    // has left. A layer takes 20 cycles to leave. The first ends at 4 and leaves from 4 to 24; the second runs from 4 to 8, waits until 24
    // and leaves until 44; from then on one layer every 20 cycles. The n-th has left at 4 + 20 n. The layers run for 50 × 4 of these cycles.
    let mut machine = machine().with_scratchpad(384);
    machine.streams.buffer = 0;
    let layers = |run: &mut Simulation| {
        for _ in 0..50 {
            run.compute(Unit::Multiply, &[]);
            run.layer_end(192);
        }
    };
    let report = run(&machine, layers);
    assert_eq!(report.forward.cycles, 4 + 20 * 50);
    assert_eq!(
        report.forward.stalls,
        Stalls { streams: 804, dependence: 200, ..Stalls::default() },
        "{report}"
    );
}

#[test]
fn single_buffering_waits_for_every_layer() {
    // Nothing runs while a layer of 96 bytes leaves, 10 cycles after every 4; back, each comes after a latency of 100 cycles.
    let mut machine = machine();
    machine.streams.buffer = 0;
    machine.streams.double_buffer = false;
    let report = run(&machine, |run| {
        for _ in 0..10 {
            run.compute(Unit::Multiply, &[]);
            run.layer_end(96);
        }
        run.pass(Pass::Reverse);
        for _ in 0..10 {
            run.layer_start(96);
            run.compute(Unit::Multiply, &[]);
            run.layer_end(96);
        }
    });
    assert_eq!(report.forward.cycles, 10 * 14);
    assert_eq!(report.reverse.cycles, 10 * 114);
}

#[test]
fn a_baseline_has_no_layers() {
    let report = run(&Machine::baseline(), |run| {
        for _ in 0..8 {
            run.compute(Unit::Add, &[]);
            run.layer_end(64);
            run.layer_start(64);
        }
    });
    assert_eq!((report.forward.cycles, report.forward.layers), (2, 0));
}

#[test]
fn accesses_that_make_no_sense_do_not_panic() {
    for machine in [machine(), Machine::baseline()] {
        let mut run = Simulation::new(&machine).unwrap();
        for address in [0, 3, u64::MAX] {
            run.load(Data::Tape, address, 0, &[]);
            run.store(Data::Local, address, 24, &[]);
            run.store(Data::Tape, address, 24, &[]);
        }
        run.layer_end(1 << 16);
        run.pass(Pass::Reverse);
        run.layer_start(1 << 17);
        run.pass(Pass::Forward);
        run.pass(Pass::Reverse);
        assert!(run.finish().cycles() > 0);
    }
}

#[test]
fn a_boundary_of_the_tape_lets_other_nodes_pass() {
    // Four layers of a load that misses, and a store to the tape of what it loaded. With a barrier for everything each layer takes the miss of
    // 109 cycles and the store of 1; the last 8 bytes leave in 1. If the tape alone waits, all loads run at once: two at cycle 0, there at
    // 2 + 100 + 64 / 9.6 and 128 / 9.6 cycles, two at cycle 1, the last at 2 + 100 + 256 / 9.6 = 128.7. Then its store, and the stream.
    let layers = |run: &mut Simulation| {
        for i in 0..4 {
            let node = run.load(Data::Input, 64 * i, 8, &[]);
            run.store(Data::Tape, 8 * i, 8, &[node]);
            run.layer_end(8);
        }
    };
    assert_eq!(cycles(&machine(), layers), 4 * 110 + 1);
    let loose = Machine { barrier: crate::Barrier::Tape, ..machine() };
    assert_eq!(cycles(&loose, layers), 129 + 1 + 1);
}

#[test]
fn a_tape_that_fits_the_scratchpad_never_leaves() {
    // One layer of 256 bytes, half of the scratchpad: no line is written or read, and nothing waits. A layer of 264 bytes has to leave.
    let layer = |bytes: u64| {
        run(&machine(), |run| {
            run.compute(Unit::Multiply, &[]);
            run.layer_end(bytes);
            run.pass(Pass::Reverse);
            run.layer_start(bytes);
            run.compute(Unit::Multiply, &[]);
        })
    };
    let report = layer(256);
    assert_eq!((report.cycles(), report.all().lines()), (8, 0));
    assert_eq!(layer(264).all().lines(), 10);
}
