//! One step against what others publish.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use stratape_lulesh::durable::{Moving, advance, advance_grad};
use stratape_lulesh::{Clock, Initial, Material, Problem, Vec3, phases};

/// What is known of the derivatives of the energy at the origin after a step with respect to the state before it.
struct Known {
    pressure: [f64; 3],
    energy: f64,
    position_x: f64,
    velocity_x: f64,
}

fn close(what: &str, found: f64, known: f64) {
    assert!((found - known).abs() <= 1e-9 * known.abs(), "{what}: {found}, not {known}");
}

fn norm(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|number| number * number).sum::<f64>().sqrt()
}

/// What others publish as the gradient of LULESH: one step, here the tenth, its dt, volumes and masses constants. The adjoints of the
/// clock and of what is fixed are dropped for that; the gradient of a run propagates them.
fn tenth_step(problem: &Problem, known: &Known) {
    let Problem { mesh, position, energy } = problem;
    let fixed = phases::initial(mesh, position);
    let clock = phases::started(fixed.volume[0], energy[0]);
    let mut now = Moving { state: phases::at_rest(position, energy), clock };
    for _ in 0..9 {
        advance(mesh, &fixed, &mut now.state, &mut now.clock);
    }
    let (elements, nodes) = (energy.len(), position.len());
    let mut by_fixed = Initial { volume: vec![0.0; elements], mass: vec![0.0; nodes] };
    let mut by = Moving {
        state: phases::at_rest(&vec![Vec3::ZERO; nodes], &vec![0.0; elements]),
        clock: Clock { time: 0.0, dt: 0.0, cycle: 0, courant: 0.0, volume_change: 0.0 },
    };
    by.state.volume.fill(0.0);
    by.state.material[0].energy = 1.0;
    advance_grad(
        mesh,
        &fixed,
        &mut by_fixed,
        &mut now.state,
        &mut by.state,
        &mut now.clock,
        &mut by.clock,
    );
    assert_eq!(now.clock.cycle, 10);
    let material = &by.state.material;
    for of in [|one: &Material| one.pressure, |one: &Material| one.viscosity] {
        close("‖∂p‖, ‖∂q‖", norm(material.iter().map(of)), known.pressure[0]);
        close("Σ ∂p, Σ ∂q", material.iter().map(of).sum(), known.pressure[1]);
        close("∂p_0, ∂q_0", of(&material[0]), known.pressure[2]);
    }
    close("∂e_0", material[0].energy, known.energy);
    assert!(material[1..].iter().all(|other| other.energy == 0.0), "of element 0 alone");
    let along = |of: fn(&Vec3) -> f64| by.state.position.iter().map(of);
    close("‖∂x‖", norm(along(|node| node.x)), known.position_x);
    assert!(along(|node| node.x).sum::<f64>().abs() < 1e-9 * known.position_x, "a shift");
    close("‖∂u‖", norm(by.state.velocity.iter().map(|node| node.x)), known.velocity_x);
}

#[test]
fn one_step_of_the_blast() {
    let known = Known {
        pressure: [0.0288052541832354, -0.0225011918117698, -0.0287058586185598],
        energy: 0.963250394490682,
        position_x: 53187.0917983766,
        velocity_x: 3.21381555900765,
    };
    tenth_step(&Problem::sedov(5), &known);
}

#[test]
fn one_step_of_the_generic_problem() {
    let known = Known {
        pressure: [0.0402354646540782, -0.030027216158427, -0.0400486816723641],
        energy: 0.953138209119766,
        position_x: 48807.4309720028,
        velocity_x: 3.79334858204794,
    };
    tenth_step(&Problem::generic(5), &known);
}
