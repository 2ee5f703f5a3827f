//! The gradient through the whole time loop, with the step's length active, against numbers from other tools and against differences.
//!
//! The numbers are those of forward mode (dual numbers) on an independent implementation and of reverse mode (CoDiPack) on the original
//! LULESH source, which agree to 13 digits; 1e-9 is asked for. Entries below 1e-9 of a vector's norm are compared with the norm.
//!
//! The gradient of a single step with respect to the state before it is tested beside `durable::gradient`, whose step it is.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::excessive_precision, reason = "numbers as they were printed")]

mod common;

use common::{Gradient, Objective, close, near};
use stratape_lulesh::{Problem, STOP_TIME, Vec3, run};

const PRECISION: f64 = 1e-9;
/// Of values, and of times, which have 12 digits at least.
const VALUE_PRECISION: f64 = 1e-11;

/// What is known of the gradient of one objective.
#[derive(Clone, Copy)]
struct Known {
    value: f64,
    /// Along the direction of [`Problem::direction`], coordinates and energies apart.
    along: [f64; 2],
    by_origin: f64,
    full: Option<Full>,
}

/// A few entries.
#[derive(Clone, Copy)]
struct Full {
    /// Of the gradient with respect to the coordinates, and to the energies.
    norms: [f64; 2],
    /// With respect to the coordinates of node 1.
    node: [f64; 3],
    /// With respect to the energies 1 and last.
    energies: [f64; 2],
}

fn check(edge: usize, steps: usize, time: f64, known: [Known; 2]) {
    let problem = Problem::generic(edge);
    let (by_position, by_energy) = problem.direction();
    let cycles = run(&problem.mesh, &problem.position, &problem.energy, steps).clock.cycle;
    assert_eq!(cycles, steps);
    for (objective, known) in Objective::BOTH.into_iter().zip(known) {
        let gradient = Gradient::new(&problem, objective, steps);
        let what = |name: &str| format!("{name} of {objective:?}");
        close(&what("t"), gradient.time, time, VALUE_PRECISION);
        close(&what("value"), objective.of(&gradient.energies), known.value, VALUE_PRECISION);
        close(&what("D_r"), gradient.along_position(&by_position), known.along[0], PRECISION);
        close(&what("D_e"), gradient.along_energy(&by_energy), known.along[1], PRECISION);
        close(&what("∂e_0"), gradient.by_energy[0], known.by_origin, PRECISION);
        let Some(full) = known.full else { continue };
        close(&what("‖∂r‖"), gradient.position_norm(), full.norms[0], PRECISION);
        close(&what("‖∂e‖"), gradient.energy_norm(), full.norms[1], PRECISION);
        let node = gradient.by_position[1];
        let first_and_last = [gradient.by_energy[1], gradient.by_energy[edge.pow(3) - 1]];
        for (number, known) in [node.x, node.y, node.z].into_iter().zip(full.node) {
            entry(&what("an entry of ∂r"), number, known, full.norms[0]);
        }
        for (number, known) in first_and_last.into_iter().zip(full.energies) {
            entry(&what("an entry of ∂e"), number, known, full.norms[1]);
        }
    }
}

#[track_caller]
fn entry(what: &str, number: f64, known: f64, norm: f64) {
    let size = if known.abs() < PRECISION * norm { norm } else { known.abs() };
    near(what, number, known, PRECISION * size);
}

#[test]
fn edge_5_steps_2() {
    check(
        5,
        2,
        7.63629273025e-4,
        [
            Known {
                value: 47280.770510492206,
                along: [9598.85819102472, -0.487394119646539],
                by_origin: 0.872251459170449,
                full: None,
            },
            Known {
                value: 54361.768935182656,
                along: [9551.78309204592, 6.14613901321359],
                by_origin: 0.874481532053371,
                full: None,
            },
        ],
    );
}

#[test]
fn edge_5_steps_10() {
    check(
        5,
        10,
        1.63969520676e-3,
        [
            Known {
                value: 31180.052035121593,
                along: [8280.23193140268, -0.346934238562771],
                by_origin: 0.575030168934403,
                full: Some(Full {
                    norms: [11684.0398583853, 0.581266785543341],
                    node: [-1935.85106135747, 1310.20976496166, 1373.11608294293],
                    energies: [0.0303600683959171, -1.90985e-11],
                }),
            },
            Known {
                value: 40853.256114807649,
                along: [11388.9915920637, 6.09285994781053],
                by_origin: 0.623810683067174,
                full: Some(Full {
                    norms: [22195.6601703537, 11.3282119047079],
                    node: [6759.10110347402, -1375.20714136754, -1836.08572402669],
                    energies: [1.15151770583468, 0.995684802258723],
                }),
            },
        ],
    );
}

#[test]
fn edge_5_steps_50() {
    check(
        5,
        50,
        6.21324464969e-3,
        [
            Known {
                value: 10683.391174950168,
                along: [7755.34863715142, 0.746213382580535],
                by_origin: 0.198204517548939,
                full: Some(Full {
                    norms: [31616.3060218366, 1.7717334312549],
                    node: [5595.04672564073, -4316.94539738386, -1617.42618898488],
                    energies: [0.013160951548497, -6.97605869377e-6],
                }),
            },
            Known {
                value: 36403.203276715583,
                along: [50492.8970592265, 7.35690248174753],
                by_origin: 0.541009813973966,
                full: Some(Full {
                    norms: [105248.052341774, 11.5537503685371],
                    node: [28061.2582525886, -20344.7044816121, -18328.3158581445],
                    energies: [0.709715279162033, 0.92641700860499],
                }),
            },
        ],
    );
}

#[test]
fn edge_10_steps_10() {
    check(
        10,
        10,
        2.784010235723e-4,
        [
            Known {
                value: 257865.35296354603,
                along: [187464.665620026, 0.145386566956857],
                by_origin: 0.594516267517799,
                full: Some(Full {
                    norms: [210870.620730446, 0.598351072897881],
                    node: [-37336.2524734592, 20720.1576633027, 29207.8265857543],
                    energies: [0.0243227484124832, 2.7e-33],
                }),
            },
            Known {
                value: 709657.08640948997,
                along: [143220.179077072, -36.3040826288484],
                by_origin: 0.629125309055003,
                full: Some(Full {
                    norms: [225087.002865387, 31.6552489200526],
                    node: [70251.4975162357, -13940.551603226, 1984.85105586436],
                    energies: [1.14235222083119, 0.996495306147047],
                }),
            },
        ],
    );
}

#[test]
fn edge_10_steps_50() {
    check(
        10,
        50,
        1.155663203558e-3,
        [
            Known {
                value: 79978.319697648971,
                along: [-182255.254489870, 1.52968061924190],
                by_origin: 0.186679370235218,
                full: Some(Full {
                    norms: [560184.239245832, 1.93997240104388],
                    node: [173075.944252946, 14413.1286956989, -29097.6495746588],
                    energies: [-0.651196070952036, 6e-21],
                }),
            },
            Known {
                value: 657615.14681916207,
                along: [-822549.948856536, -35.5711472710787],
                by_origin: 0.518640744840366,
                full: Some(Full {
                    norms: [1684123.98439231, 31.4881306288385],
                    node: [426046.606450297, -345388.987864908, -253393.196344435],
                    energies: [0.771256158497336, 0.927328441946877],
                }),
            },
        ],
    );
}

#[test]
#[ignore = "takes 2 s without optimisation: cargo test --release -p stratape-lulesh -- --ignored"]
fn edge_20_steps_10() {
    check(
        20,
        10,
        4.927967928002e-5,
        [
            Known {
                value: 2085068.2943348687,
                along: [4319726.80011862, 0.317758693204213],
                by_origin: 0.600863179389574,
                full: None,
            },
            Known {
                value: 30007998.124234512,
                along: [-2317872.25872025, 3.79343789136819],
                by_origin: 0.633901005575631,
                full: None,
            },
        ],
    );
}

/// On the symmetric mesh only the energy of the blast can be differentiated by: the other elements are empty.
#[test]
fn the_sedov_blast_by_its_energy() {
    let problem = Problem::sedov(5);
    for (steps, known) in [
        (10, [0.599253882928112, 0.635154046888292]),
        (50, [0.187033942254084, 0.528136731403054]),
        (usize::MAX, [0.100363407815159, 0.524321392150043]),
    ] {
        for (objective, known) in Objective::BOTH.into_iter().zip(known) {
            let gradient = Gradient::new(&problem, objective, steps);
            close("∂e_0", gradient.by_energy[0], known, PRECISION);
            let ratio = objective.of(&gradient.energies) / problem.energy[0];
            if steps == usize::MAX {
                // The last step ends at a fixed time, which does not scale with the energy.
                assert_eq!(gradient.time, STOP_TIME);
                assert!((ratio / known - 1.0).abs() > 0.01);
            } else {
                close("J/e_0", ratio, known, PRECISION);
            }
            let differences = by_differences(1.0, |h| {
                let mut problem = problem.clone();
                problem.energy[0] += h;
                objective.value(&problem, steps)
            });
            close("differences", differences, known, 1e-8);
        }
    }
}

/// What comes out when the length of the step is taken for a constant.
#[test]
fn the_length_of_the_step_is_active() {
    let problem = Problem::generic(5);
    let (by_position, by_energy) = problem.direction();
    let [origin, total] = Objective::BOTH.map(|objective| Gradient::new(&problem, objective, 10));
    let blast = Gradient::new(&Problem::sedov(5), Objective::Origin, 10);
    for (number, wrong) in [
        (origin.along_position(&by_position), 49058.208567181),
        (origin.along_energy(&by_energy), -0.321566354580891),
        (origin.by_energy[0], 0.344945399860417),
        (total.by_energy[0], 0.485015097832159),
        (blast.by_energy[0], 0.369490318624348),
    ] {
        assert!((number / wrong - 1.0).abs() > 0.05, "{number}");
    }
}

/// A central difference.
fn by_differences(step: f64, value: impl Fn(f64) -> f64) -> f64 {
    (value(step) - value(-step)) / (2.0 * step)
}

fn moved(problem: &Problem, direction: &[Vec3], by: f64) -> Problem {
    let mut problem = problem.clone();
    for (position, direction) in problem.position.iter_mut().zip(direction) {
        *position += *direction * by;
    }
    problem
}

fn heated(problem: &Problem, direction: &[f64], by: f64) -> Problem {
    let mut problem = problem.clone();
    for (energy, direction) in problem.energy.iter_mut().zip(direction) {
        *energy += direction * by;
    }
    problem
}

/// Compares along the direction of [`Problem::direction`], and for single coordinates and energies.
///
/// The steps are those at which differences are best. With more steps of time an energy may change less before a branch goes another way.
fn against_differences(steps: usize, energy_step: f64, nodes: &[usize]) {
    let problem = Problem::generic(5);
    let position_step = 1e-6 * 1.125 / 5.0;
    let (by_position, by_energy) = problem.direction();
    for objective in Objective::BOTH {
        let gradient = Gradient::new(&problem, objective, steps);
        let value = |problem: &Problem| objective.value(problem, steps);
        let what = |name: String| format!("{name} of {objective:?}");

        let along = by_differences(position_step, |h| value(&moved(&problem, &by_position, h)));
        close(&what("D_r".into()), gradient.along_position(&by_position), along, 1e-7);
        let along = by_differences(energy_step, |h| value(&heated(&problem, &by_energy, h)));
        close(&what("D_e".into()), gradient.along_energy(&by_energy), along, 1e-7);

        for node in nodes {
            let by = gradient.by_position[*node];
            for (axis, derivative) in
                [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)]
                    .into_iter()
                    .zip([by.x, by.y, by.z])
            {
                let mut direction = vec![Vec3::ZERO; problem.position.len()];
                direction[*node] = axis;
                let found =
                    by_differences(position_step, |h| value(&moved(&problem, &direction, h)));
                let size = 1e-7 * gradient.position_norm();
                near(&what(format!("node {node}, {axis:?}")), derivative, found, size);
            }
        }
        for element in [1, 31, 124] {
            let mut direction = vec![0.0; problem.energy.len()];
            direction[element] = 1.0;
            let found = by_differences(energy_step, |h| value(&heated(&problem, &direction, h)));
            let size = 1e-7 * gradient.energy_norm();
            near(&what(format!("element {element}")), gradient.by_energy[element], found, size);
        }
        let mut direction = vec![0.0; problem.energy.len()];
        direction[0] = 1.0;
        let found = by_differences(1.0, |h| value(&heated(&problem, &direction, h)));
        close(&what("element 0".into()), gradient.by_energy[0], found, 1e-8);
    }
}

#[test]
fn differences_of_10_steps() {
    // The origin, its neighbours, nodes inside and on a plane of symmetry, the far corner.
    against_differences(10, 1e-2, &[0, 1, 6, 36, 43, 86, 100, 215]);
}

#[test]
fn differences_of_50_steps() {
    against_differences(50, 1e-3, &[1, 86]);
}
