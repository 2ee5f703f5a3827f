//! Every value against what another tool found; every gradient against its norms, and against
//! central differences where nobody else has been asked.

use super::numbers::Numbers;
use super::*;

fn the_nine() -> Vec<Program> {
    names(Set::Reference)
        .filter_map(|name| program(name, Scale::Small))
        .filter(|p| p.expected.is_some())
        .collect()
}

/// The others, at sizes that leave a rest after whole blocks.
fn the_others() -> Vec<Program> {
    vec![
        recurrence::program(20),
        gaussian::program(37),
        product::program(37),
        sum::program(37),
        nbody::program(21),
        mlp::program(),
        thomas::program(37),
        rosenbrock::program(38),
    ]
}

fn gradients(program: &Program) -> impl Iterator<Item = (&'static str, &Gradient)> {
    let by_hand = program.by_hand.iter().map(|gradient| ("by hand", gradient));
    std::iter::once(("ours", &program.ours)).chain(by_hand)
}

fn gradient_of(program: &Program, gradient: &Gradient) -> (f64, Vec<f64>) {
    let mut shadows = program.inputs.shadows();
    let value = gradient(&mut program.inputs.clone(), &mut shadows);
    (value, shadows.concatenated())
}

#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(error <= tolerance, "{what}: {found} instead of {expected}, {error:e} away");
}

#[test]
fn the_nine_have_their_values() {
    let programs = the_nine();
    assert_eq!(programs.len(), 9);
    for program in programs {
        let expected = program.expected.unwrap().value;
        let value = (program.primal)(&mut program.inputs.clone());
        assert_close(value, expected, 1e-12 * expected.abs(), program.name);
    }
}

#[test]
fn the_nine_have_their_gradients() {
    for program in the_nine() {
        let expected = program.expected.unwrap();
        for (kind, gradient) in gradients(&program) {
            let what = format!("{}/{kind}", program.name);
            let (_, g) = gradient_of(&program, gradient);
            let mut numbers = Numbers::from_seed(1000);
            let weighted: f64 = g.iter().map(|g| g * numbers.within(-1.0, 1.0)).sum();
            let norm = g.iter().map(|g| g * g).sum::<f64>().sqrt();
            let spread = norm * (g.len() as f64).sqrt();
            assert_close(g.iter().sum(), expected.sum, 1e-9 * spread, &what);
            assert_close(norm, expected.norm, 1e-9 * expected.norm, &what);
            assert_close(weighted, expected.weighted, 1e-9 * expected.weighted.abs(), &what);
        }
    }
}

#[test]
fn a_gradient_returns_the_very_value_of_its_primal() {
    for program in the_nine().into_iter().chain(the_others()) {
        let value = (program.primal)(&mut program.inputs.clone());
        for (kind, gradient) in gradients(&program) {
            let (with_gradient, _) = gradient_of(&program, gradient);
            let same = value.to_bits() == with_gradient.to_bits();
            assert!(same, "{}/{kind}: {with_gradient} instead of {value}", program.name);
        }
    }
}

#[test]
fn gradients_agree_with_central_differences() {
    for program in the_nine().into_iter().chain(the_others()) {
        for (kind, gradient) in gradients(&program) {
            let (_, g) = gradient_of(&program, gradient);
            let largest = g.iter().fold(0.0, |max: f64, g| max.max(g.abs()));
            let mut first = 0;
            for (array, values) in program.inputs.active.iter().enumerate() {
                let mut places = [0, 1, values.len() / 3, values.len() / 2, values.len() - 1];
                places.iter_mut().for_each(|place| *place = (*place).min(values.len() - 1));
                for place in places {
                    let difference = central_difference(&program, array, place);
                    let what = format!("{}/{kind}, entry {place} of {array}", program.name);
                    assert_close(g[first + place], difference, 2e-6 * largest, &what);
                }
                first += values.len();
            }
        }
    }
}

fn central_difference(program: &Program, array: usize, place: usize) -> f64 {
    let step = 1e-5;
    let [above, below] = [step, -step].map(|step| {
        let mut inputs = program.inputs.clone();
        inputs.active[array][place] += step;
        (program.primal)(&mut inputs)
    });
    (above - below) / (2.0 * step)
}

#[test]
fn adjoints_are_added_to_the_shadows() {
    // The shadow of what is overwritten in place is itself overwritten.
    let added_to = |program: &Program| program.name != "thomas";
    let wild = names(Set::Wild).filter_map(|name| program(name, Scale::Small));
    for program in the_nine().into_iter().chain(the_others()).filter(added_to).chain(wild) {
        for (kind, gradient) in gradients(&program) {
            let (_, once) = gradient_of(&program, gradient);
            let mut shadows = program.inputs.shadows();
            gradient(&mut program.inputs.clone(), &mut shadows);
            gradient(&mut program.inputs.clone(), &mut shadows);
            let largest = once.iter().fold(0.0, |max: f64, g| max.max(g.abs()));
            for (twice, once) in shadows.concatenated().iter().zip(once) {
                let what = format!("{}/{kind}", program.name);
                assert_close(*twice, 2.0 * once, 1e-11 * largest, &what);
            }
        }
    }
}

#[test]
fn the_solution_in_place_is_that_of_the_primal() {
    let program = thomas::program(37);
    let mut solved = program.inputs.clone();
    (program.primal)(&mut solved);
    for (kind, gradient) in gradients(&program) {
        let mut with_gradient = program.inputs.clone();
        gradient(&mut with_gradient, &mut program.inputs.shadows());
        assert_eq!(solved.scratch, with_gradient.scratch, "{kind}");
    }
}

#[cfg(feature = "peers")]
#[test]
fn peers_agree() {
    let mut found = 0;
    for program in names(Set::Reference).filter_map(|name| program(name, Scale::Small)) {
        let (value, g) = gradient_of(&program, &program.ours);
        let largest = g.iter().fold(0.0, |max: f64, g| max.max(g.abs()));
        for (peer, gradient) in peers::of(program.name, Scale::Small) {
            found += 1;
            let what = format!("{}/{peer}", program.name);
            let (their_value, theirs) = gradient_of(&program, &gradient);
            assert_close(their_value, value, 1e-12 * value.abs(), &what);
            for (theirs, ours) in theirs.iter().zip(&g) {
                assert_close(*theirs, *ours, 1e-9 * largest, &what);
            }
        }
    }
    assert_eq!(found, 15);
}
