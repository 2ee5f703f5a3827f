//! The program against the numbers of the original LULESH 2.0: initial data, the first steps, whole runs.
//!
//! "Base A" is the Sedov blast, "base B" the same in a perturbed mesh full of a little energy. The original's numbers have up to 17 digits.
//! Programs that add in another order agree with it to 5e-15; 1e-11 is asked for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::excessive_precision, reason = "numbers as they were printed")]

mod common;

use common::close;
use stratape_lulesh::hexahedron::{SIGNS, characteristic_length, volume};
use stratape_lulesh::{Mesh, Problem, Run, Vec3, run};

const PRECISION: f64 = 1e-11;
/// Times are printed with 12 or 13 digits.
const TIME_PRECISION: f64 = 1e-12;

fn after(problem: &Problem, steps: usize) -> Run {
    run(&problem.mesh, &problem.position, &problem.energy, steps)
}

fn corners(mesh: &Mesh, of_nodes: &[Vec3], element: usize) -> [Vec3; 8] {
    mesh.corners[element].map(|node| of_nodes[node])
}

/// The rate of change of an element's volume over the volume, from a state at the end of a step: the run keeps it to itself.
fn rate_of_change(mesh: &Mesh, run: &Run, element: usize) -> f64 {
    let position = corners(mesh, &run.state.position, element);
    let velocity = corners(mesh, &run.state.velocity, element);
    let sum = |axis: usize, list: [Vec3; 8]| {
        list.iter().zip(SIGNS[axis]).fold(Vec3::ZERO, |sum, (v, sign)| sum + *v * sign)
    };
    let half_way = std::array::from_fn(|at| position[at] - velocity[at] * (0.5 * run.clock.dt));
    let [xi, eta, zeta] = [0, 1, 2].map(|axis| sum(axis, half_way) * 0.125);
    let areas = [eta.cross(zeta), zeta.cross(xi), xi.cross(eta)];
    let flow: f64 = (0..3).map(|axis| areas[axis].dot(sum(axis, velocity))).sum();
    flow / (8.0 * xi.dot(areas[0]))
}

#[test]
fn base_a_begins_with_the_blast() {
    let problem = Problem::sedov(5);
    let start = after(&problem, 0);
    close("the blast", problem.energy[0], 54166.6117969821567, PRECISION);
    assert!(problem.energy[1..].iter().all(|energy| *energy == 0.0));
    for volume in &start.initial.volume {
        close("a volume", *volume, 0.011390625, PRECISION);
    }
    close("the mass at the origin", start.initial.mass[0], 0.001423828125, PRECISION);
    close("the first step", start.clock.dt, 3.417997095087096e-4, PRECISION);
    assert_eq!((start.clock.cycle, start.clock.time), (0, 0.0));
}

#[test]
fn base_b_is_the_same_everywhere() {
    let problem = Problem::generic(5);
    let start = after(&problem, 0);
    let sum = |of: fn(&Vec3) -> f64| problem.position.iter().map(of).sum::<f64>();
    close("Σx", sum(|r| r.x), 121.653549020499, PRECISION);
    close("Σy", sum(|r| r.y), 121.641335689936, PRECISION);
    close("Σz", sum(|r| r.z), 121.381462484879, PRECISION);
    close("Σe", problem.energy.iter().sum(), 61137.3850846443, PRECISION);
    close("ΣV", start.initial.volume.iter().sum(), 1.42744892462074, PRECISION);
    close("V[0]", start.initial.volume[0], 0.0119393576619527, PRECISION);
    close("V[124]", start.initial.volume[124], 0.0118248737036575, PRECISION);
    close("e[0]", problem.energy[0], 54197.2868775464, PRECISION);
    close("e[1]", problem.energy[1], 72.6427813321587, PRECISION);
    close("e[124]", problem.energy[124], 43.9668588624908, PRECISION);
    close("m[0]", start.initial.mass[0], 0.00149241970774409, PRECISION);
    close("x[1]", problem.position[1].x, 0.219728852572872, PRECISION);
    assert_eq!((problem.position[1].y, problem.position[1].z), (0.0, 0.0));
    close("x[215]", problem.position[215].x, 1.13921907595862, PRECISION);
    close("y[215]", problem.position[215].y, 1.1068500318856, PRECISION);
    close("z[215]", problem.position[215].z, 1.11111983883426, PRECISION);
}

#[test]
fn the_trace_of_base_a() {
    // Steps; the last step, its limits; energy, pressure, volume, sound, rate and length of the element at the origin.
    #[rustfmt::skip]
    let table = [
        (1, 3.41799709509e-4, 1e20, 1e20, 54166.6117969822, 36111.0745313214, 1.0, 245.32656647593, 0.0, 0.225),
        (2, 4.10159651410e-4, 6.62726159139e-4, 2.10880630117e-4, 47563.358689585, 26090.4993841711, 1.215343, 229.887312224405, 474.20192146016, 0.230333705357143),
        (3, 1.40587086744e-4, 4.95158995262e-4, 1.76101695789e-4, 45086.0487709567, 22824.7622857634, 1.31687530722072, 223.820485535858, 567.853702670155, 0.232992068327891),
        (4, 1.17401130526e-4, 4.14500374727e-4, 1.56987880475e-4, 42879.8929199496, 20134.2211099524, 1.4198013980206, 218.275801376631, 636.991847379577, 0.235760365838103),
        (5, 1.04658586983e-4, 3.63419335593e-4, 1.45770377603e-4, 40861.4594047497, 17847.8168751087, 1.52629159785313, 213.076562673685, 686.010433971967, 0.238654729491566),
        (10, 8.59683150486e-5, 2.46591673027e-4, 1.28070220094e-4, 32459.5524444012, 10038.2026744829, 2.15573467993517, 189.910951192047, 780.821645548997, 0.255438327374653),
        (11, 1.03161978058e-4, 2.32950391559e-4, 1.27670526024e-4, 30740.2870859391, 8761.3117894855, 2.33909318791209, 184.813080002289, 783.266139132516, 0.260123347302302),
    ];
    let problem = Problem::sedov(5);
    for (steps, dt, courant, volume_change, energy, pressure, relative, sound, rate, length) in
        table
    {
        let run = after(&problem, steps);
        let origin = run.state.material[0];
        let corners = corners(&problem.mesh, &run.state.position, 0);
        close("dt", run.clock.dt, dt, PRECISION);
        close("Courant", run.clock.courant, courant, PRECISION);
        close("volume change", run.clock.volume_change, volume_change, PRECISION);
        close("e[0]", origin.energy, energy, PRECISION);
        close("p[0]", origin.pressure, pressure, PRECISION);
        close("v[0]", run.state.volume[0], relative, PRECISION);
        close("ss[0]", origin.sound, sound, PRECISION);
        close("vdov[0]", rate_of_change(&problem.mesh, &run, 0), rate, PRECISION);
        close("len[0]", characteristic_length(&corners, volume(&corners)), length, PRECISION);
    }
}

#[test]
fn the_first_shocked_element_of_base_a() {
    let problem = Problem::sedov(5);
    let second = after(&problem, 2);
    close("e[1] at 2", second.state.material[1].energy, 21.8494639680508, PRECISION);
    close("q[1] at 2", second.state.material[1].viscosity, 1060.6477183109, PRECISION);
    close("x of node 1 at 2", second.state.position[1].x, 0.252, PRECISION);
    close("u.x of node 1 at 2", second.state.velocity[1].x, 65.8280255192161, PRECISION);
    let third = after(&problem, 3);
    close("e[1] at 3", third.state.material[1].energy, 42.4557508706979, PRECISION);
    close("q[1] at 3", third.state.material[1].viscosity, 1718.76858210935, PRECISION);
}

#[test]
fn the_trace_of_base_b() {
    // Steps; the last step, its limits; energy, pressure and volume at the origin; energy and viscosity of its neighbour.
    // Up to step 10 it takes every way to choose dt: 1.2 times the last one, the last one again, either limit.
    #[rustfmt::skip]
    let table = [
        (1, 3.47104215011e-4, 1e20, 1e20, 54197.2868775464, 36131.5245850309, 1.0, 72.6427813321587, 0.0),
        (2, 4.16525058014e-4, 5.74246810808e-4, 2.03661318221e-4, 47280.7705104922, 25682.7447684357, 1.22730315462234, 107.384015476964, 1252.18125509999),
        (3, 1.35774212148e-4, 4.33747447444e-4, 1.73382194819e-4, 44867.5984291725, 22530.0353252402, 1.32763805534762, 134.437334459178, 1909.09043169729),
        (8, 1.10676451754e-4, 2.41081594861e-4, 1.30154907136e-4, 35013.7572384439, 12120.6389828368, 1.92584770973568, 451.736544899574, 4631.72906158411),
        (10, 1.10676451754e-4, 2.07055821282e-4, 1.28248393307e-4, 31180.0520351216, 9070.26616826359, 2.29174105490745, 735.001331012054, 5518.42451912085),
    ];
    let problem = Problem::generic(5);
    for (steps, dt, courant, volume_change, energy, pressure, relative, neighbour, viscosity) in
        table
    {
        let run = after(&problem, steps);
        let [origin, next] = [run.state.material[0], run.state.material[1]];
        close("dt", run.clock.dt, dt, PRECISION);
        close("Courant", run.clock.courant, courant, PRECISION);
        close("volume change", run.clock.volume_change, volume_change, PRECISION);
        close("e[0]", origin.energy, energy, PRECISION);
        close("p[0]", origin.pressure, pressure, PRECISION);
        close("v[0]", run.state.volume[0], relative, PRECISION);
        close("e[1]", next.energy, neighbour, PRECISION);
        close("q[1]", next.viscosity, viscosity, PRECISION);
    }
}

/// A number that others have published: 5.417664e6.
#[test]
#[ignore = "takes 70 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
fn edge_48_steps_100() {
    let run = after(&Problem::sedov(48), 100);
    assert_eq!(run.clock.cycle, 100);
    close("J1", run.state.material[0].energy, 5417664.2278886577, PRECISION);
}

/// How far the plane k = 0 is from its mirror image, as LULESH tells it: the largest difference of energies, their sum, the largest relative one.
fn asymmetry(run: &Run, edge: usize) -> [f64; 3] {
    let energy = |i: usize, j: usize| run.state.material[j * edge + i].energy;
    let mut found = [0.0_f64; 3];
    for j in 0..edge {
        for k in j + 1..edge {
            let difference = (energy(k, j) - energy(j, k)).abs();
            found[0] = found[0].max(difference);
            found[1] += difference;
            if difference > 0.0 {
                found[2] = found[2].max(difference / energy(j, k));
            }
        }
    }
    found
}

struct Row {
    edge: usize,
    steps: usize,
    cycles: usize,
    time: f64,
    origin: f64,
    total: f64,
    internal: f64,
    kinetic: f64,
    asymmetry: [f64; 3],
}

fn check(row: &Row) {
    let problem = Problem::sedov(row.edge);
    let run = after(&problem, row.steps);
    let energies = || run.state.material.iter().map(|material| material.energy);
    let nodes = run.state.velocity.iter().zip(&run.initial.mass);
    assert_eq!(run.clock.cycle, row.cycles);
    close("t", run.clock.time, row.time, TIME_PRECISION);
    close("J1", energies().next().unwrap(), row.origin, PRECISION);
    close("J2", energies().sum(), row.total, PRECISION);
    let internal = energies().zip(&run.initial.volume).map(|(energy, mass)| energy * mass).sum();
    close("internal energy", internal, row.internal, PRECISION);
    let kinetic = 0.5 * nodes.map(|(velocity, mass)| mass * velocity.dot(*velocity)).sum::<f64>();
    close("kinetic energy", kinetic, row.kinetic, PRECISION);
    // The differences are round-off, and so is how large they are: a program that adds in another order has others, seen up to five times
    // the original's. A hundred times is still a hundred thousand times below the 1e-7 at which the program cuts energies off.
    for (number, original) in asymmetry(&run, row.edge).into_iter().zip(row.asymmetry) {
        assert!(
            number <= 100.0 * original,
            "asymmetry {number:.1e}, the original's is {original:.1e}"
        );
    }
}

/// A test for each row: elements along an edge, steps, cycles; time, J1, J2; internal and kinetic energy; three differences from symmetry.
macro_rules! rows {
    ($($(#[$attribute:meta])* $name:ident: $edge:literal, $steps:expr, $cycles:literal;
       $time:literal, $origin:literal, $total:literal; $internal:literal, $kinetic:literal; $max:literal, $sum:literal, $relative:literal;)*) => {
        $(
            #[test]
            $(#[$attribute])*
            fn $name() {
                check(&Row {
                    edge: $edge,
                    steps: $steps,
                    cycles: $cycles,
                    time: $time,
                    origin: $origin,
                    total: $total,
                    internal: $internal,
                    kinetic: $kinetic,
                    asymmetry: [$max, $sum, $relative],
                });
            }
        )*
    };
}

/// To the stop time.
const ALL: usize = usize::MAX;

rows! {
    edge_5_steps_1: 5, 1, 1; 3.417997095087e-4, 54166.611796982157, 54166.611796982157; 616.9915625, 0.0; 0.0, 0.0, 0.0;
    edge_5_steps_10: 5, 10, 10; 1.566588040779e-3, 32459.552444401223, 34404.142689080283; 391.88468781780546, 185.59294886139193; 6.8e-13, 6.9e-13, 7.8e-14;
    edge_5_steps_50: 5, 50, 50; 6.460725287655e-3, 10130.994942936148, 28607.377305636255; 325.85590712201235, 217.73347823071344; 6.8e-13, 1.1e-12, 2.1e-12;
    edge_5: 5, ALL, 72; 0.01, 7853.6651021458447, 29038.363416463075; 330.76510829064966, 205.22303400877928; 3.4e-13, 7.7e-13, 7.1e-14;
    edge_5_ends_before_100_steps: 5, 100, 72; 0.01, 7853.6651021458447, 29038.363416463075; 330.76510829064966, 205.22303400877928; 3.4e-13, 7.7e-13, 7.1e-14;
    edge_10_steps_10: 10, 10, 10; 2.769362567403e-4, 259676.41955524369, 275233.14151752141; 391.8846878247524, 185.59294885944919; 4.1e-12, 4.1e-12, 2.8e-14;
    edge_10_steps_50: 10, 50, 50; 1.142105716889e-3, 81047.957518451338, 228858.49355288467; 325.85515976572896, 217.73399630467912; 3.9e-12, 8.9e-12, 2.9e-13;
    edge_10_steps_100: 10, 100, 100; 2.719029574641e-3, 48987.849297172681, 235839.4422120766; 335.79483080586732, 193.44437508337154; 4.5e-12, 1.6e-11, 1.1e-13;
    edge_10: 10, ALL, 231; 0.01, 27205.311684703469, 241746.21052262728; 344.20505365428755, 167.88603060838201; 2.3e-12, 1.7e-11, 4.6e-14;
    edge_15_steps_10: 15, 10, 10; 1.004966696726e-4, 876407.91599895363, 928911.852622465; 391.8846878251025, 185.59294885934466; 3.6e-12, 3.8e-12, 3.0e-14;
    edge_15_steps_50: 15, 50, 50; 4.144557390712e-4, 273536.85662753944, 772397.41577510827; 325.85515978012313, 217.73399629573004; 2.5e-11, 5.4e-11, 1.0e-12;
    #[ignore = "takes 2 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
    edge_15_steps_100: 15, 100, 100; 9.867014895705e-4, 165333.99135859095, 795958.11666174966; 335.79483046667644, 193.44437543926375; 1.5e-11, 4.1e-11, 1.2e-12;
    #[ignore = "takes 9 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
    edge_15: 15, ALL, 400; 0.01, 57028.93793328396, 815375.61518962297; 343.98658765812371, 157.58978787405019; 1.0e-11, 7.7e-11, 2.2e-13;
    edge_20_steps_10: 20, 10, 10; 4.895587627437e-5, 2077411.356441966, 2201865.1321424246; 391.88468782515304, 185.59294885932687; 5.1e-11, 5.1e-11, 6.9e-14;
    #[ignore = "takes 3 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
    edge_20_steps_50: 20, 50, 50; 2.018976743177e-4, 648383.66014940536, 1830867.9484799041; 325.85515977584197, 217.73399629977047; 8.7e-11, 1.0e-10, 7.7e-13;
    #[ignore = "takes 5 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
    edge_20_steps_100: 20, 100, 100; 4.806610626987e-4, 391902.79432401841, 1886715.535142333; 335.79483035125992, 193.44437555729675; 6.9e-11, 1.5e-10, 1.6e-12;
    #[ignore = "takes 30 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
    edge_20: 20, ALL, 575; 0.01, 96688.559815778353, 1930714.4000394105; 343.62568301482969, 151.40247645081314; 2.7e-11, 2.4e-10, 1.8e-12;
    #[ignore = "takes 2 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
    edge_30_steps_10: 30, 10, 10; 1.776546915304e-5, 7011263.3279916393, 7431294.820981307; 391.88468782518584, 185.59294885932533; 4.4e-11, 4.4e-11, 1.4e-14;
    #[ignore = "takes 9 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
    edge_30_steps_50: 30, 50, 50; 7.326611590233e-5, 2188294.8529948052, 6179179.3260099282; 325.85515977005571, 217.73399630514757; 8.4e-11, 2.3e-10, 2.7e-13;
    #[ignore = "takes 18 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
    edge_30_steps_100: 30, 100, 100; 1.744258286061e-4, 1322671.9306615388, 6367664.9289394254; 335.79483023704, 193.44437566773217; 1.0e-10, 3.2e-10, 4.9e-12;
    #[ignore = "takes 160 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
    edge_30: 30, ALL, 932; 0.01, 202507.47850719938, 6462869.8491859101; 340.81540220315964, 145.8068351186069; 7.6e-11, 8.6e-10, 1.5e-12;
}
