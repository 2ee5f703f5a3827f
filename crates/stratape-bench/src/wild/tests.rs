//! Every gradient against central differences along random directions, and against the adjoint by hand.

use stratape::check::Check;

use super::ENTRIES;
use crate::programs::{Gradient, Program, Scale};

fn programs(scale: Scale) -> impl Iterator<Item = Program> {
    ENTRIES.iter().map(move |(_, make)| make(scale))
}

/// The largest step of the differences, in parts of an argument. Small where a particle, a pixel or a limiter would change
/// sides.
fn step(name: &str) -> f64 {
    match name {
        "cutoff" | "limiter" | "rays" => 1e-5,
        "cholesky" | "cg" => 1e-4,
        _ => 1e-3,
    }
}

/// The value and the adjoints of the active arrays, one by one.
fn gradient_of(program: &Program, gradient: &Gradient) -> (f64, Vec<Vec<f64>>) {
    let mut shadows = program.inputs.shadows();
    let value = gradient(&mut program.inputs.clone(), &mut shadows);
    (value, shadows.into_arrays())
}

/// Compares with differences, one active array after the other: their scales differ.
fn compare_with_differences(program: &Program, directions: usize) {
    let check = Check::new().step(step(program.name)).directions(directions);
    let (value, adjoints) = gradient_of(program, &program.ours);
    for (which, adjoint) in adjoints.iter().enumerate() {
        let at = |[numbers]: [&[f64]; 1]| {
            let mut inputs = program.inputs.clone();
            inputs.active[which].copy_from_slice(numbers);
            (program.primal)(&mut inputs)
        };
        let ours = |_: [&[f64]; 1], [shadow]: [&mut [f64]; 1]| {
            shadow.copy_from_slice(adjoint);
            value
        };
        let what = format!("{}, array {which}", program.name);
        match check.gradient([(&what, &program.inputs.active[which])], at, ours) {
            Ok(report) => assert!(report.is_decided(), "{report}"),
            Err(mismatch) => panic!("{mismatch}"),
        }
    }
}

#[test]
fn gradients_agree_with_differences() {
    for program in programs(Scale::Small) {
        compare_with_differences(&program, 3);
    }
}

/// Blocks, regions and fused loops begin beyond the small sizes.
#[test]
fn gradients_agree_with_differences_at_the_measured_size() {
    for program in programs(Scale::Full) {
        compare_with_differences(&program, 1);
    }
}

#[test]
fn gradients_agree_with_adjoints_by_hand() {
    for program in [Scale::Small, Scale::Full].into_iter().flat_map(programs) {
        let by_hand = program.by_hand.as_ref().expect("every program has one");
        let (value, ours) = gradient_of(&program, &program.ours);
        let (their_value, theirs) = gradient_of(&program, by_hand);
        let error = (value - their_value).abs();
        assert!(error <= 1e-12 * value.abs(), "{}: {their_value}, not {value}", program.name);
        for (which, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let largest = ours.iter().fold(0.0, |max: f64, g| max.max(g.abs()));
            for (at, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                let error = (ours - theirs).abs();
                let what = format!("{}, entry {at} of {which}", program.name);
                assert!(error <= 1e-10 * largest, "{what}: {ours}, by hand {theirs}");
            }
        }
    }
}

#[test]
fn the_state_of_every_program_is_counted() {
    for program in programs(Scale::Full) {
        let bytes = program.state_bytes.expect("every program has been counted");
        match program.name {
            "plate" => assert_eq!(bytes, 49 * 126 * 126 * 8),
            "tetrahedra" | "fem" | "attention" => assert_eq!(bytes, 0, "{}", program.name),
            _ => {}
        }
    }
}

#[test]
fn names_are_those_of_the_programs() {
    for (name, make) in ENTRIES {
        assert_eq!(*name, make(Scale::Small).name);
    }
}
