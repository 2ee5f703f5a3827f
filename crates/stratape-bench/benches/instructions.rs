//! Instruction counts of the reference programs: what a noisy machine cannot blur.
//!
//! `cargo bench -p stratape-bench --features instructions --bench instructions`; needs valgrind,
//! and gungraun-runner of the version in Cargo.lock. Programs whose definition leaves their size
//! open are small here.

// The macros generate public items that nobody reads about.
#![allow(missing_docs)]

use gungraun::{library_benchmark, library_benchmark_group, main};
use stratape_bench::programs::{Inputs, Program, Scale, Shadows, program};

/// A program and what to call its functions with.
struct Call {
    program: Program,
    inputs: Inputs,
    shadows: Shadows,
}

fn prepare(name: &str) -> Option<Call> {
    let program = program(name, Scale::Small)?;
    let (inputs, shadows) = (program.inputs.clone(), program.inputs.shadows());
    Some(Call { program, inputs, shadows })
}

/// As [`prepare`], with memory that a call before has left warm.
fn prepare_warm(name: &str) -> Option<Call> {
    let mut call = prepare(name)?;
    (call.program.ours)(&mut call.inputs, &mut call.shadows);
    call.inputs = call.program.inputs.clone();
    Some(call)
}

/// What a benchmark returns is dropped outside of the count.
type Done = Option<(f64, Call)>;

macro_rules! benchmarks {
    ($($name:literal),*) => {
        #[library_benchmark]
        #[benches::of(args = [$($name),*], setup = prepare)]
        fn primal(call: Option<Call>) -> Done {
            let mut call = call?;
            Some(((call.program.primal)(&mut call.inputs), call))
        }

        #[library_benchmark]
        #[benches::of(args = [$($name),*], setup = prepare)]
        fn shaped(call: Option<Call>) -> Done {
            let mut call = call?;
            let gradient = call.program.by_hand.as_ref()?;
            Some((gradient(&mut call.inputs, &mut call.shadows), call))
        }

        #[library_benchmark]
        #[benches::of(args = [$($name),*], setup = prepare_warm)]
        fn ours(call: Option<Call>) -> Done {
            let mut call = call?;
            Some(((call.program.ours)(&mut call.inputs, &mut call.shadows), call))
        }
    };
}

benchmarks!(
    "gravity",
    "nn",
    "logsum",
    "matdescent",
    "mttkrp",
    "somier",
    "lenet",
    "pathfinder",
    "mass_spring",
    "recurrence",
    "gaussian",
    "product",
    "sum",
    "nbody",
    "mlp",
    "thomas",
    "rosenbrock"
);

library_benchmark_group!(
    name = programs,
    compare_by_id = true,
    benchmarks = [primal, shaped, ours]
);
main!(library_benchmark_groups = programs);
