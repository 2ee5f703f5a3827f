//! A plate whose tape is gigabytes: in memory, and through a budget of 64 MiB.

use stratape::Workspace;
use stratape::tape::{TapeError, TapeOptions};

use super::settings::{input, plate};
use crate::error::BenchError;
use crate::measure::{count_open_files, least, settle, try_time};
use crate::runner::{Line, Runner};

const BUDGET: usize = 64 << 20;

type Gradient = fn(&mut Workspace, &[f64], &mut [f64], usize, usize, f64) -> Result<f64, TapeError>;

/// Runs the cases.
pub(super) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let (n, steps, budget, rounds) =
        if runner.quick() { (128, 20, 4 << 20, 2) } else { (512, 200, BUDGET, 3) };
    let settings: [(&str, Gradient); 3] = [
        ("frames", plate::default_grad_in),
        ("struct of arrays", plate::columns_grad_in),
        ("one push a record", plate::pushed_grad_in),
    ];
    let x = input(n * n);
    let (mut memory, mut spilled) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
    let mut bytes = 0;
    let wanted = settings.map(|(name, _)| runner.wants(&format!("plate of {n}²/{name}")));
    if !wanted.contains(&true) {
        return Ok(());
    }
    let disk = 40 * n * n * steps;
    let failed = |error: TapeError| runner.failed("plate", disk, error);
    for _ in 0..rounds {
        for (number, (_, gradient)) in settings.iter().enumerate() {
            let mut dx = vec![0.0; n * n];
            let mut once = |workspace: &mut Workspace| {
                try_time(|| gradient(workspace, &x, &mut dx, n, steps, 1.0).map(|_| ()))
            };
            let mut workspace = Workspace::new();
            // Once to have the memory, once to measure.
            once(&mut workspace).map_err(failed)?;
            memory[number].push(once(&mut workspace).map_err(failed)?);
            bytes = workspace.last_bytes();
            drop(workspace);
            let open_files = count_open_files();
            let options = TapeOptions::new().memory(budget).spill_to(runner.directory());
            let mut workspace = Workspace::with(options).map_err(failed)?;
            spilled[number].push(once(&mut workspace).map_err(failed)?);
            drop(workspace);
            settle(open_files, bytes as usize);
        }
    }
    let times = |all: Vec<Vec<f64>>| all.into_iter().map(least).collect::<Vec<_>>();
    let (memory, spilled) = (times(memory), times(spilled));
    for (number, (name, _)) in settings.iter().enumerate() {
        let against = "frames, in memory";
        for (place, times) in [("in memory", &memory), ("spilled", &spilled)] {
            runner.tell(&Line {
                bench: "tapeflow",
                case: &format!("plate of {n}²/{name}, {place}, {} MB of tape", bytes / 1_000_000),
                ours: times[number] * 1e3,
                against,
                theirs: memory[0] * 1e3,
                unit: "ms",
                aim: None,
            })?;
        }
    }
    Ok(())
}
