//! LULESH: the function and its gradient in microseconds an element and step, and what the gradient keeps.
//!
//! The same source is differentiated with all steps on a tape in memory, on a tape that spills, and from snapshots. Each is timed in turn with the function.

mod bounded;

use stratape::Workspace;
use stratape::tape::{TapeError, TapeOptions};
use stratape_lulesh::{
    Problem, Vec3, evolve_checkpointed_grad, evolve_grad_in,
    evolve_on_threads_checkpointed_grad_in, evolve_on_threads_grad_in, run as simulate,
};

use crate::error::BenchError;
use crate::measure::{best_of, sink};
use crate::runner::{Line, Runner};

/// Snapshots of the checkpointed gradient.
const SLOTS: usize = 10;

/// The bytes of state that a step overwrites, an element: six numbers a node and five an element.
const STATE: f64 = 88.0;

/// Runs the suite.
pub(crate) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let (edge, steps) = runner.lulesh();
    if let Some(memory) = runner.memory() {
        return bounded::run(runner, edge.unwrap_or(45), steps.unwrap_or(1000), memory);
    }
    let edges: Vec<usize> = match (edge, runner.quick()) {
        (Some(edge), _) => vec![edge],
        (None, true) => vec![5, 10],
        (None, false) => vec![5, 10, 20, 30, 45],
    };
    for edge in edges {
        // About as many element steps at every size, and ten steps at least.
        let budget = if runner.quick() { 20_000 } else { 400_000 };
        let steps = steps.unwrap_or_else(|| (budget / edge.pow(3)).clamp(10, 100));
        taped(runner, edge, steps)?;
        spilled(runner, edge, steps)?;
        checkpointed(runner, edge, steps)?;
        on_threads(runner, edge, steps)?;
    }
    Ok(())
}

/// A problem, and the vectors of its gradient.
struct Case {
    problem: Problem,
    steps: usize,
    /// Elements times steps.
    work: f64,
    energy: Vec<f64>,
    by_energy: Vec<f64>,
    by_position: Vec<Vec3>,
}

impl Case {
    fn new(edge: usize, steps: usize) -> Self {
        let problem = Problem::generic(edge);
        let cycles = simulate(&problem.mesh, &problem.position, &problem.energy, steps).clock.cycle;
        let work = (problem.mesh.elements() * cycles) as f64;
        let energy = problem.energy.clone();
        let by_energy = vec![0.0; energy.len()];
        let by_position = vec![Vec3::ZERO; problem.position.len()];
        Self { problem, steps, work, energy, by_energy, by_position }
    }

    fn function(&self) {
        let Problem { mesh, position, energy } = &self.problem;
        sink(simulate(mesh, position, energy, self.steps));
    }

    /// Begins a gradient of the energy of the first element.
    fn begin(&mut self) {
        self.energy.copy_from_slice(&self.problem.energy);
        self.by_energy.fill(0.0);
        self.by_energy[0] = 1.0;
        self.by_position.fill(Vec3::ZERO);
    }

    fn gradient(&mut self, workspace: &mut Workspace) -> Result<(), TapeError> {
        self.begin();
        let (problem, energy) = (&self.problem, &mut self.energy);
        let (by_position, by_energy) = (&mut self.by_position, &mut self.by_energy);
        let (mesh, position) = (&problem.mesh, &problem.position);
        evolve_grad_in(workspace, mesh, position, by_position, energy, by_energy, self.steps, 0.0)?;
        Ok(())
    }

    fn on_threads(&mut self, workspace: &mut Workspace) -> Result<(), TapeError> {
        self.begin();
        let (problem, energy) = (&self.problem, &mut self.energy);
        let (by_position, by_energy) = (&mut self.by_position, &mut self.by_energy);
        let (mesh, start, steps) = (&problem.mesh, &problem.position, self.steps);
        evolve_on_threads_grad_in(
            workspace,
            mesh,
            start,
            by_position,
            energy,
            by_energy,
            steps,
            0.0,
        )?;
        Ok(())
    }

    fn on_threads_checkpointed(&mut self, workspace: &mut Workspace) -> Result<(), TapeError> {
        self.begin();
        let (problem, energy) = (&self.problem, &mut self.energy);
        let (by_position, by_energy) = (&mut self.by_position, &mut self.by_energy);
        let (mesh, start, steps) = (&problem.mesh, &problem.position, self.steps);
        evolve_on_threads_checkpointed_grad_in(
            workspace,
            mesh,
            start,
            by_position,
            energy,
            by_energy,
            steps,
            SLOTS,
            0.0,
        )?;
        Ok(())
    }

    fn checkpointed(&mut self) {
        self.begin();
        let (problem, energy) = (&self.problem, &mut self.energy);
        let (by_position, by_energy) = (&mut self.by_position, &mut self.by_energy);
        let (mesh, position) = (&problem.mesh, &problem.position);
        let steps = self.steps;
        sink(evolve_checkpointed_grad(
            mesh,
            position,
            by_position,
            energy,
            by_energy,
            steps,
            SLOTS,
            0.0,
        ));
    }

    /// Seconds as microseconds an element and step.
    fn each(&self, seconds: f64) -> f64 {
        1e6 * seconds / self.work
    }
}

const UNIT: &str = "us an element and step";

/// All steps on a tape in memory.
fn taped(runner: &mut Runner<'_>, edge: usize, steps: usize) -> Result<(), BenchError> {
    let case = format!("size {edge}, {steps} steps/taped");
    if !runner.wants(&case) {
        return Ok(());
    }
    let mut one = Case::new(edge, steps);
    let again = Case::new(edge, steps);
    let mut workspace = Workspace::new();
    let mut failed = None;
    let mut gradient = || failed = one.gradient(&mut workspace).err().or(failed.take());
    let [function, gradient] = best_of(9, [&mut || again.function(), &mut gradient]);
    if let Some(error) = failed {
        return Err(runner.failed(&case, 0, error));
    }
    let (ours, theirs) = (one.each(gradient), one.each(function));
    tell(runner, &case, (ours, "the function", theirs), UNIT, Some("<= 4.5"))?;
    let tape = workspace.last_bytes() as f64 / one.work;
    let case = format!("size {edge}, {steps} steps/tape");
    let unit = "bytes an element and step";
    tell(runner, &case, (tape, "the state a step overwrites", STATE), unit, Some("<= 6.8"))
}

/// All steps on a tape that spills to disk, in an eighth of its bytes.
fn spilled(runner: &mut Runner<'_>, edge: usize, steps: usize) -> Result<(), BenchError> {
    let case = format!("size {edge}, {steps} steps/spilled");
    if !runner.wants(&case) {
        return Ok(());
    }
    let (mut one, mut again) = (Case::new(edge, steps), Case::new(edge, steps));
    let mut memory = Workspace::new();
    let first = again.gradient(&mut memory);
    let bytes = memory.last_bytes() as usize;
    let budget = (bytes / 8).max(1 << 16);
    let options = TapeOptions::new().memory(budget).spill_to(runner.directory());
    let mut disk = Workspace::with(options).map_err(|error| runner.failed(&case, bytes, error))?;
    let mut failed = first.err();
    let mut spill = || failed = one.gradient(&mut disk).err().or(failed.take());
    let mut stay = || drop(again.gradient(&mut memory));
    let [ours, theirs] = best_of(5, [&mut spill, &mut stay]);
    if let Some(error) = failed {
        return Err(runner.failed(&case, bytes, error));
    }
    assert_eq!(one.by_energy, again.by_energy, "a spilled gradient has the bits of one in memory");
    let (ours, theirs) = (one.each(ours), one.each(theirs));
    tell(runner, &case, (ours, "taped in memory", theirs), UNIT, None)
}

/// From snapshots in memory.
fn checkpointed(runner: &mut Runner<'_>, edge: usize, steps: usize) -> Result<(), BenchError> {
    let case = format!("size {edge}, {steps} steps/{SLOTS} snapshots");
    if !runner.wants(&case) {
        return Ok(());
    }
    let (mut one, again) = (Case::new(edge, steps), Case::new(edge, steps));
    let [ours, theirs] = best_of(3, [&mut || one.checkpointed(), &mut || again.function()]);
    let (ours, theirs) = (one.each(ours), one.each(theirs));
    tell(runner, &case, (ours, "the function", theirs), UNIT, Some("<= 7"))
}

/// On several threads: against the serial program, and against itself on one thread.
fn on_threads(runner: &mut Runner<'_>, edge: usize, steps: usize) -> Result<(), BenchError> {
    let threads = runner.threads();
    for snapshots in [false, true] {
        let how = if snapshots { format!(", {SLOTS} snapshots") } else { String::new() };
        let case = format!("size {edge}, {steps} steps/{threads} threads{how}");
        if !runner.wants(&case) {
            continue;
        }
        let mut cases = [(); 3].map(|()| Case::new(edge, steps));
        let work = cases[0].work;
        let [serial, one, several] = &mut cases;
        let mut spaces = [1, threads].map(|lanes| {
            let mut workspace = Workspace::new();
            workspace.set_lanes(lanes);
            workspace
        });
        let [on_one, on_several] = &mut spaces;
        let mut tape = Workspace::new();
        let mut failed: [Option<TapeError>; 3] = Default::default();
        let [first, second, third] = &mut failed;
        let run = |case: &mut Case, workspace: &mut Workspace| match snapshots {
            true => case.on_threads_checkpointed(workspace),
            false => case.on_threads(workspace),
        };
        let mut serially = || match snapshots {
            true => serial.checkpointed(),
            false => *first = serial.gradient(&mut tape).err().or(first.take()),
        };
        let mut alone = || *second = run(one, on_one).err().or(second.take());
        let mut together = || *third = run(several, on_several).err().or(third.take());
        let [ours, alone, theirs] =
            best_of(5, [&mut together, &mut alone, &mut serially]).map(|time| 1e6 * time / work);
        if let Some(error) = failed.into_iter().flatten().next() {
            return Err(runner.failed(&case, 0, error));
        }
        tell(runner, &case, (ours, "the serial program", theirs), UNIT, None)?;
        tell(runner, &case, (ours, "one thread", alone), UNIT, None)?;
    }
    Ok(())
}

fn tell(
    runner: &mut Runner<'_>,
    case: &str,
    (ours, against, theirs): (f64, &str, f64),
    unit: &str,
    aim: Option<&str>,
) -> Result<(), BenchError> {
    runner.tell(&Line { bench: "lulesh", case, ours, against, theirs, unit, aim })
}
