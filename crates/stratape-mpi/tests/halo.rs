//! Grids of ranks and their ghost layers: values against the whole array, gradients against differences.

#![allow(clippy::unwrap_used, clippy::needless_range_loop)]

mod common;

use common::{Random, Rank};
use stratape::gradient;
use stratape_mpi::{Cartesian, Comm, Fault, NOBODY, halo_1d, halo_2d, halo_3d};

/// The cells of the whole array that a rank has.
struct Part {
    grid: Cartesian,
    periodic: [bool; 3],
    cells: [usize; 3],
    start: [usize; 3],
    inner: [usize; 3],
    /// Ghost cells on each side of each axis.
    ghosts: [usize; 3],
}

impl Part {
    fn new(comm: &Comm, axes: usize, width: usize, random: &mut Random) -> Self {
        let dimensions = Cartesian::balanced(comm, axes).unwrap().dimensions;
        let periodic = [(); 3].map(|()| random.below(2) == 0);
        let grid = Cartesian::new(comm, dimensions, periodic).unwrap();
        let (mut cells, mut start, mut inner) = ([1; 3], [0; 3], [1; 3]);
        let mut ghosts = [0; 3];
        for axis in 0..axes {
            cells[axis] = dimensions[axis] * width.max(1) + random.below(4 * dimensions[axis]);
            (start[axis], inner[axis]) = grid.part(axis, cells[axis]).unwrap();
            ghosts[axis] = width;
        }
        Self { grid, periodic, cells, start, inner, ghosts }
    }

    /// The value of the whole array, frame included, that a local cell shows; the cell is known before the exchange if this rank or nobody has it.
    fn at(&self, place: [usize; 3]) -> (f64, bool) {
        let (mut value, mut known) = (0.5, true);
        for axis in 0..3 {
            let mut whole = (self.start[axis] + place[axis]) as i64 - self.ghosts[axis] as i64;
            let all = self.cells[axis] as i64;
            let own = place[axis].wrapping_sub(self.ghosts[axis]) < self.inner[axis];
            let outside = !(0..all).contains(&whole) && !self.periodic[axis];
            known &= own || outside;
            if !outside {
                whole = whole.rem_euclid(all);
            }
            value = value * 1000.0 + whole as f64;
        }
        (value, known)
    }

    fn array(&self, of: impl Fn([usize; 3]) -> f64) -> Vec<f64> {
        let [mx, my, mz] = [0, 1, 2].map(|axis| self.inner[axis] + 2 * self.ghosts[axis]);
        let mut all = Vec::new();
        for x in 0..mx {
            for y in 0..my {
                all.extend((0..mz).map(|z| of([x, y, z])));
            }
        }
        all
    }
}

#[gradient(wrt(u))]
fn line(grid: &Cartesian, u: &[f64], width: usize) -> f64 {
    let mut v = u.to_vec();
    halo_1d(grid, &mut v, width);
    let mut sum = 0.0;
    for i in 0..v.len() {
        sum += v[i] * v[i] * v[v.len() - 1 - i] * (i + 1) as f64;
    }
    sum
}

#[gradient(wrt(u))]
fn plane(grid: &Cartesian, u: &[f64], n: (usize, usize), width: usize, steps: usize) -> f64 {
    let mut v = u.to_vec();
    for _ in 0..steps {
        halo_2d(grid, &mut v, n, width);
        for i in 0..v.len() {
            v[i] += 0.1 * v[i] * v[v.len() - 1 - i];
        }
    }
    let mut sum = 0.0;
    for i in 0..v.len() {
        sum += v[i] * v[i] * (i + 1) as f64;
    }
    sum
}

#[gradient(wrt(u))]
fn block(grid: &Cartesian, u: &[f64], n: (usize, usize, usize), width: usize) -> f64 {
    let mut v = u.to_vec();
    halo_3d(grid, &mut v, n, width);
    let mut sum = 0.0;
    for i in 0..v.len() {
        sum += (v[i] * v[v.len() - 1 - i]).sin() * (i % 7 + 1) as f64;
    }
    sum
}

fn main() {
    let mut rank = Rank::new();
    let comm = rank.comm;
    let mut random = Random(17);
    for round in 0..18 {
        let (axes, width) = (1 + round % 3, 1 + random.below(2));
        let part = Part::new(&comm, axes, width, &mut random);
        let (grid, [nx, ny, nz]) = (part.grid, part.inner);
        let mut u = part.array(|place| match part.at(place) {
            (value, true) => value,
            _ => f64::NAN,
        });
        match axes {
            1 => halo_1d(&grid, &mut u, width),
            2 => halo_2d(&grid, &mut u, (nx, ny), width),
            _ => halo_3d(&grid, &mut u, (nx, ny, nz), width),
        }
        let expected = part.array(|place| part.at(place).0);
        rank.expect(&format!("values in {axes} dimensions, round {round}"), u == expected);
        let len = u.len();
        match axes {
            1 => rank.check(
                "line",
                len,
                |_, u| line(&grid, u, width),
                |_, u, du, seed| line_grad(&grid, u, du, width, seed),
            ),
            2 => rank.check(
                "plane",
                len,
                |_, u| plane(&grid, u, (nx, ny), width, 2),
                |_, u, du, seed| plane_grad(&grid, u, du, (nx, ny), width, 2, seed),
            ),
            _ => rank.check(
                "block",
                len,
                |_, u| block(&grid, u, (nx, ny, nz), width),
                |_, u, du, seed| block_grad(&grid, u, du, (nx, ny, nz), width, seed),
            ),
        }
    }

    let wrong = Cartesian::new(&comm, [comm.size + 1, 1, 1], [false; 3]).unwrap_err();
    rank.expect("a grid of too many ranks", matches!(wrong.fault, Fault::Argument(_)));
    rank.expect(
        "who refuses it",
        wrong.rank == comm.rank && wrong.to_string().contains("balanced"),
    );
    rank.expect("no dimensions", Cartesian::balanced(&comm, 0).is_err());
    rank.expect("four dimensions", Cartesian::balanced(&comm, 4).is_err());
    let line = Cartesian::balanced(&comm, 1).unwrap();
    rank.expect("the lower edge", (line.neighbours[0][0] == NOBODY) == (comm.rank == 0));
    rank.expect(
        "the upper edge",
        (line.neighbours[0][1] == NOBODY) == (comm.rank + 1 == comm.size),
    );
    rank.expect("no fourth axis", line.part(3, 1).is_err());
    rank.finish("halo");
}
