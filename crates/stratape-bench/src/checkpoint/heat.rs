//! Heat in a plate whose conductivity depends on its temperature: the model of these benchmarks.
//!
//! The plate is square, insulated at its edges, and stepped explicitly. The thermal resistivity of a cell is ρ(T) = 1 + αT + βT²,
//! and two neighbours exchange (T₂ − T₁)·2/(ρ₁ + ρ₂): the harmonic mean of their conductivities. What flows out of one cell
//! flows into the other, so that the sum of the temperatures stays, and nothing decays.
//!
//! A step works in place, row by row, with a few rows of scratch: it reads and writes the plate once, and the state is the plate
//! alone. The pullback does the same with the adjoint.

use stratape::checkpoint::{Snapshot, snapshot};

/// Resistivity: 1 + ALPHA·T + BETA·T².
const ALPHA: f64 = 0.4;
const BETA: f64 = 0.1;
/// Time step over the square of the mesh width; stable below a quarter.
const RATE: f64 = 0.2;

fn resistivity(t: f64) -> f64 {
    1.0 + t * (ALPHA + BETA * t)
}

fn resistivity_slope(t: f64) -> f64 {
    ALPHA + 2.0 * BETA * t
}

/// The state of the loop.
#[derive(Clone, Debug, Snapshot)]
pub(super) struct Plate {
    side: usize,
    /// Row by row.
    pub(super) cells: Vec<f64>,
    time: f64,
    rows: Rows<5>,
}

/// The adjoint of the cells.
#[derive(Clone, Debug, Snapshot)]
pub(super) struct Adjoint {
    pub(super) cells: Vec<f64>,
    rows: Rows<7>,
}

/// Rows of scratch. They hold nothing between two steps, so that nothing of them is stored.
#[derive(Debug, Default)]
struct Rows<const N: usize>(Vec<f64>);

impl<const N: usize> Rows<N> {
    fn of(&mut self, side: usize) -> [&mut [f64]; N] {
        if self.0.len() != N * side {
            self.0 = vec![0.0; N * side];
        }
        let mut rows = self.0.chunks_exact_mut(side);
        std::array::from_fn(|_| rows.next().unwrap_or_default())
    }
}

impl<const N: usize> Clone for Rows<N> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<const N: usize> Snapshot for Rows<N> {
    fn encoded_len(&self) -> usize {
        0
    }

    fn encode(&self, _: &mut snapshot::Encoder<'_>) {}

    fn decode(_: &mut snapshot::Decoder<'_>) -> Result<Self, snapshot::Malformed> {
        Ok(Self::default())
    }

    fn decode_into(&mut self, _: &mut snapshot::Decoder<'_>) -> Result<(), snapshot::Malformed> {
        Ok(())
    }

    fn copy_from(&mut self, _: &Self) {}
}

impl Plate {
    /// Warm, with hot spots.
    pub(super) fn new(side: usize) -> Self {
        let at = |index: usize| (index as f64 + 0.5) / side as f64;
        let temperature = |index: usize| {
            let (x, y) = (at(index % side), at(index / side));
            1.0 + 0.5 * (7.0 * x + 3.0 * y * y).sin() * (5.0 * y).cos()
        };
        let cells = (0..side * side).map(temperature).collect();
        Self { side, cells, time: 0.0, rows: Rows::default() }
    }

    /// One time step.
    pub(super) fn step(&mut self) {
        let side = self.side;
        let [mut here, mut below, mut north, mut south, east] = self.rows.of(side);
        fill_resistivity(here, &self.cells[..side]);
        north.fill(0.0);
        let mut rest = self.cells.as_mut_slice();
        while rest.len() >= side {
            let (row, after) = rest.split_at_mut(side);
            if after.is_empty() {
                south.fill(0.0);
            } else {
                let next = &after[..side];
                fill_resistivity(below, next);
                flow_between(south, [&*row, next], [here, below]);
            }
            // What the row below gets from here is kept until then.
            exchange(row, here, east, [north, south]);
            (here, below) = (below, here);
            (north, south) = (south, north);
            rest = after;
        }
        self.time += RATE;
    }

    /// Half the sum of the squares: what the gradients are of.
    #[cfg(test)]
    pub(super) fn energy(&self) -> f64 {
        0.5 * self.cells.iter().map(|t| t * t).sum::<f64>()
    }

    /// The adjoint of the energy.
    pub(super) fn seed(&self) -> Adjoint {
        Adjoint { cells: self.cells.clone(), rows: Rows::default() }
    }
}

fn fill_resistivity(row: &mut [f64], cells: &[f64]) {
    for (r, t) in row.iter_mut().zip(cells) {
        *r = resistivity(*t);
    }
}

/// What flows from the second row to the first.
#[inline]
fn flow_between(flow: &mut [f64], cells: [&[f64]; 2], resistivities: [&[f64]; 2]) {
    let n = flow.len();
    let ([a, b], [ra, rb]) = (cells.map(|row| &row[..n]), resistivities.map(|row| &row[..n]));
    for i in 0..n {
        flow[i] = 2.0 * (b[i] - a[i]) / (ra[i] + rb[i]);
    }
}

/// Moves heat within a row, and between it and its neighbours.
fn exchange(row: &mut [f64], resistivities: &[f64], east: &mut [f64], between: [&[f64]; 2]) {
    let n = row.len();
    let inner = n - 1;
    let faces = [&resistivities[..inner], &resistivities[1..n]];
    flow_between(&mut east[..inner], [&row[..inner], &row[1..]], faces);
    east[inner] = 0.0;
    let (east, [north, south]) = (&east[..n], between.map(|row| &row[..n]));
    row[0] += RATE * (south[0] - north[0] + east[0]);
    for i in 1..n {
        row[i] += RATE * ((south[i] - north[i]) + (east[i] - east[i - 1]));
    }
}

impl Adjoint {
    /// From the adjoint after a step to that before it; `plate` is the state before it.
    pub(super) fn pull_back(&mut self, plate: &Plate) {
        let side = plate.side;
        let rows = self.rows.of(side);
        let [mut here, mut below, mut from_north, mut to_south, own, east_a, east_b] = rows;
        fill_resistivity(here, &plate.cells[..side]);
        from_north.fill(0.0);
        let (mut cells, mut adjoints) = (plate.cells.as_slice(), self.cells.as_mut_slice());
        while adjoints.len() >= side {
            let (row, cells_after) = cells.split_at(side);
            let (adjoint, adjoints_after) = adjoints.split_at_mut(side);
            if adjoints_after.is_empty() {
                own.fill(0.0);
            } else {
                let next = &cells_after[..side];
                fill_resistivity(below, next);
                let seeds = [&*adjoint, &adjoints_after[..side]];
                pull_faces([own, to_south], [row, next], [here, below], seeds);
            }
            let inner = side - 1;
            pull_faces(
                [&mut east_a[..inner], &mut east_b[1..]],
                [&row[..inner], &row[1..]],
                [&here[..inner], &here[1..]],
                [&adjoint[..inner], &adjoint[1..]],
            );
            // The outermost cells have a neighbour on one side only.
            (east_a[inner], east_b[0]) = (0.0, 0.0);
            add_up(adjoint, [from_north, own, east_a, east_b]);
            (here, below) = (below, here);
            (from_north, to_south) = (to_south, from_north);
            (cells, adjoints) = (cells_after, adjoints_after);
        }
    }
}

/// The adjoints of the temperatures on both sides of faces, by the adjoints of what flowed through them.
#[inline]
fn pull_faces(
    [out_a, out_b]: [&mut [f64]; 2],
    cells: [&[f64]; 2],
    resistivities: [&[f64]; 2],
    adjoints: [&[f64]; 2],
) {
    let n = out_a.len();
    let out_b = &mut out_b[..n];
    let ([a, b], [ra, rb]) = (cells.map(|row| &row[..n]), resistivities.map(|row| &row[..n]));
    let [da, db] = adjoints.map(|row| &row[..n]);
    for i in 0..n {
        let weight = 2.0 / (ra[i] + rb[i]);
        let seed = RATE * (da[i] - db[i]) * weight;
        let bend = 0.5 * seed * weight * (b[i] - a[i]);
        out_a[i] = -seed - bend * resistivity_slope(a[i]);
        out_b[i] = seed - bend * resistivity_slope(b[i]);
    }
}

fn add_up(adjoint: &mut [f64], parts: [&[f64]; 4]) {
    let n = adjoint.len();
    let [a, b, c, d] = parts.map(|part| &part[..n]);
    for i in 0..n {
        adjoint[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(mut plate: Plate, steps: usize) -> Plate {
        (0..steps).for_each(|_| plate.step());
        plate
    }

    /// The definition, face by face.
    fn plain_step(plate: &Plate) -> Vec<f64> {
        let (side, old) = (plate.side, &plate.cells);
        let mut new = old.clone();
        let mut face = |a: usize, b: usize| {
            let flow = 2.0 * (old[b] - old[a]) / (resistivity(old[a]) + resistivity(old[b]));
            new[a] += RATE * flow;
            new[b] -= RATE * flow;
        };
        for y in 0..side {
            for x in 0..side {
                if x + 1 < side {
                    face(y * side + x, y * side + x + 1);
                }
                if y + 1 < side {
                    face(y * side + x, (y + 1) * side + x);
                }
            }
        }
        new
    }

    #[test]
    fn the_step_is_its_definition() {
        let mut plate = run(Plate::new(9), 3);
        let expected = plain_step(&plate);
        plate.step();
        for (found, expected) in plate.cells.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn heat_stays() {
        let plate = Plate::new(20);
        let sum = |plate: &Plate| plate.cells.iter().sum::<f64>();
        let after = run(plate.clone(), 500);
        assert!((sum(&plate) - sum(&after)).abs() < 1e-10);
        assert!(after.energy() < plate.energy());
    }

    #[test]
    fn the_pullback_agrees_with_central_differences() {
        let (side, steps) = (7, 12);
        let start = Plate::new(side);
        let states: Vec<Plate> = (0..=steps).map(|n| run(start.clone(), n)).collect();
        let mut adjoint = states[steps].seed();
        states[..steps].iter().rev().for_each(|state| adjoint.pull_back(state));
        for cell in 0..side * side {
            let h = 1e-6;
            let energy = |by: f64| {
                let mut plate = start.clone();
                plate.cells[cell] += by;
                run(plate, steps).energy()
            };
            let expected = (energy(h) - energy(-h)) / (2.0 * h);
            let found = adjoint.cells[cell];
            assert!((found - expected).abs() < 1e-8, "cell {cell}: {found}, not {expected}");
        }
    }

    #[test]
    fn what_is_stored_is_the_plate() {
        let mut plate = Plate::new(10);
        plate.step();
        let bytes = snapshot::to_bytes(&plate);
        assert_eq!(bytes.len(), 8 * (100 + 3)); // the side, the number of cells, the time
        let mut again: Plate = snapshot::from_bytes(&bytes).expect("what was written");
        again.step();
        plate.step();
        assert_eq!(plate.cells, again.cells);
    }
}
