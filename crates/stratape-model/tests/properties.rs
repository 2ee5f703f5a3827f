//! More of a resource: never more misses, and never more cycles where no node waits for another.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use stratape_model::{Cache, Data, Machine, Node, Simulation, Unit};

/// A node of a random program.
#[derive(Debug, Clone)]
enum Step {
    Load(u64),
    Store(u64),
    Compute(Unit),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..256_u64).prop_map(|word| Step::Load(word * 24)),
        1 => (0..256_u64).prop_map(|word| Step::Store(word * 24)),
        3 => prop::sample::select(Unit::ALL.to_vec()).prop_map(Step::Compute),
    ]
}

/// Runs the steps, each after a node some way back: `back` = 0 for none.
fn cycles(machine: &Machine, steps: &[(Step, usize)]) -> u64 {
    let mut run = Simulation::new(machine).unwrap();
    let mut nodes: Vec<Node> = Vec::new();
    for (step, back) in steps {
        let after = nodes.len().checked_sub(*back).and_then(|index| nodes.get(index));
        let after: &[Node] = after.map_or(&[], std::slice::from_ref);
        nodes.push(match step {
            Step::Load(address) => run.load(Data::Input, *address, 8, after),
            Step::Store(address) => run.store(Data::Output, *address, 8, after),
            Step::Compute(unit) => run.compute(*unit, after),
        });
    }
    let report = run.finish();
    assert_eq!(report.forward.cycles, report.forward.stalls.total());
    report.cycles()
}

fn faster_ones() -> Vec<Machine> {
    let mut machines = vec![Machine::default(); 3];
    machines[0].dram.megabytes_per_second *= 2;
    machines[1].cache.ports *= 2;
    machines[2].dram.latency /= 2;
    machines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_larger_cache_of_full_associativity_never_misses_more(
        accesses in prop::collection::vec((0..64_u64, any::<bool>()), 1..400),
    ) {
        // LRU keeps the lines used last: a larger cache holds all that a smaller one holds.
        let misses = |lines: u64| {
            let mut machine = Machine::default();
            machine.cache.ways = lines;
            machine.cache.size = lines * 64;
            let mut cache = Cache::new(&machine).unwrap();
            accesses.iter().filter(|(line, write)| !cache.access(Data::Local, line * 64, *write).hit).count()
        };
        for lines in 1..64 {
            prop_assert!(misses(lines + 1) <= misses(lines));
        }
    }

    #[test]
    fn independent_nodes_never_take_longer_on_a_faster_machine(
        loads in prop::collection::vec(0..4096_u64, 1..600),
    ) {
        let steps: Vec<_> = loads.iter().map(|word| (Step::Load(word * 8), 0)).collect();
        let before = cycles(&Machine::default(), &steps);
        for machine in faster_ones() {
            prop_assert!(cycles(&machine, &steps) <= before);
        }
    }

    #[test]
    fn a_chain_never_takes_longer_on_a_faster_machine(
        steps in prop::collection::vec(step(), 1..300),
    ) {
        let steps: Vec<_> = steps.into_iter().map(|step| (step, 1)).collect();
        let before = cycles(&Machine::default(), &steps);
        for machine in faster_ones() {
            prop_assert!(cycles(&machine, &steps) <= before);
        }
    }

    #[test]
    fn any_program_takes_hardly_longer_on_a_faster_machine(
        steps in prop::collection::vec((step(), 0..40_usize), 200..600),
    ) {
        // A node that is ready sooner may take the place of a more urgent one.
        let before = cycles(&Machine::default(), &steps);
        for machine in faster_ones() {
            prop_assert!(cycles(&machine, &steps) * 10 <= before * 11);
        }
    }

    #[test]
    fn more_bandwidth_never_slows_layers(
        layers in prop::collection::vec((1..20_usize, 1..32_u64), 1..60),
    ) {
        let run = |machine: &Machine| {
            let mut run = Simulation::new(machine).unwrap();
            for (products, words) in &layers {
                let mut node = run.compute(Unit::Multiply, &[]);
                for _ in 1..*products {
                    node = run.compute(Unit::Multiply, &[node]);
                }
                run.layer_end(words * 8);
            }
            run.pass(stratape_model::Pass::Reverse);
            for (products, words) in layers.iter().rev() {
                run.layer_start(words * 8);
                for _ in 0..*products {
                    run.compute(Unit::Multiply, &[]);
                }
            }
            run.finish().cycles()
        };
        let before = run(&Machine::default());
        let mut machine = Machine::default();
        machine.dram.megabytes_per_second *= 2;
        prop_assert!(run(&machine) <= before);
        let mut machine = Machine::default();
        machine.streams.buffer *= 2;
        prop_assert!(run(&machine) <= before);
    }
}
