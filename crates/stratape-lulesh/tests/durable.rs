//! The run by hand: snapshots in memory and on disk, and gone on with after `kill -9`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Gradient, Objective, close, on_lanes};
use stratape_lulesh::{Problem, durable, run};

const STEPS: usize = 60;

fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("lulesh-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

/// Three snapshots in memory, ten on disk, the adjoint saved at every step.
fn kept_in(directory: &Path, problem: &Problem) -> durable::Gradient {
    let weights = Objective::Origin.weights(problem.energy.len());
    durable::gradient(&mut on_lanes(2), problem, &weights, STEPS, |time_loop| {
        time_loop.slots(3).disk_slots(directory, 10).resume(directory).save_every(1)
    })
    .unwrap()
}

fn as_one(found: durable::Gradient) -> Gradient {
    let energies = found.end.state.material.iter().map(|material| material.energy).collect();
    let durable::Gradient { end, by_position, by_energy, .. } = found;
    Gradient { time: end.clock.time, energies, by_position, by_energy }
}

#[test]
fn the_gradient_is_that_of_the_tape() {
    for (problem, steps) in [
        (Problem::generic(1), 3),
        (Problem::generic(4), 30),
        (Problem::generic(3), usize::MAX),
        (Problem::sedov(4), 12),
    ] {
        for objective in Objective::BOTH {
            let expected = Gradient::new(&problem, objective, steps);
            let weights = objective.weights(problem.energy.len());
            let mut workspace = on_lanes(1);
            let found =
                durable::gradient(&mut workspace, &problem, &weights, steps, |one| one.slots(4))
                    .unwrap();
            assert_eq!(found.end.clock.cycle, found.report.steps);
            let end = run(&problem.mesh, &problem.position, &problem.energy, steps);
            assert_eq!(found.end.state.position, end.state.position);
            assert_eq!(found.end.state.material, end.state.material);
            expected.agrees(&as_one(found), objective, 1e-12);
        }
    }
}

/// The known gradient, with most of the snapshots on disk.
#[test]
fn edge_5_steps_50() {
    let problem = Problem::generic(5);
    let (position, energy) = problem.direction();
    let place = std::env::temp_dir();
    let weights = Objective::Origin.weights(problem.energy.len());
    let found = durable::gradient(&mut on_lanes(2), &problem, &weights, 50, |time_loop| {
        time_loop.slots(1).disk_slots(&place, 8)
    })
    .unwrap();
    assert!(found.report.bytes_written > 0, "{}", found.report);
    let gradient = as_one(found);
    close("D_r", gradient.along_position(&position), 7755.34863715142, 1e-9);
    close("D_e", gradient.along_energy(&energy), 0.746213382580535, 1e-9);
}

/// What another process does until it is killed.
#[test]
#[ignore = "for the test below, in a process of its own"]
fn the_run_that_is_killed() {
    let Some(place) = std::env::var_os("LULESH_DIRECTORY") else { return };
    kept_in(Path::new(&place), &Problem::generic(8));
}

#[test]
fn killed_and_gone_on_with() {
    let problem = Problem::generic(8);
    let place = directory("whole");
    let expected = as_one(kept_in(&place, &problem)).bits();
    assert!(!place.exists(), "a run that is complete leaves nothing");
    let place = directory("killed");
    let mut interrupted = 0;
    for delay in [40, 90, 140, 190, 60] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_run_that_is_killed", "--ignored"])
            .env("LULESH_DIRECTORY", &place)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        interrupted += usize::from(!child.wait().unwrap().success());
    }
    assert!(interrupted > 0, "the runs were over before they were killed");
    let found = kept_in(&place, &problem);
    let report = found.report.to_string();
    assert!(as_one(found).bits() == expected, "{report}");
    assert!(!place.exists());
}
