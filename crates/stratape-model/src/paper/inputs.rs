//! The inputs of the nine programs: the same numbers as the benchmarks of the emitted code have.

use crate::program::Numbers;

/// Sizes that a quick run changes.
#[derive(Debug)]
pub(super) struct Sizes {
    bodies: usize,
    pixels: usize,
    side: usize,
    rows: usize,
    maps: [usize; 3],
}

impl Default for Sizes {
    fn default() -> Self {
        Self { bodies: 512, pixels: 784, side: 400, rows: 128, maps: [6, 16, 120] }
    }
}

impl Sizes {
    pub(super) fn set(&mut self, constant: &str, value: usize) {
        match constant {
            "BODIES" => self.bodies = value,
            "PIXELS" => self.pixels = value,
            "SIZE" => self.side = value,
            "ROWS" => self.rows = value,
            "FIRST" => self.maps[0] = value,
            "SECOND" => self.maps[1] = value,
            "THIRD" => self.maps[2] = value,
            _ => {}
        }
    }
}

/// A source in which a constant has another value.
pub(super) fn with_constant(source: &str, name: &str, value: usize) -> String {
    let start = format!("const {name}: usize = ");
    let lines = source.lines().map(|line| match line.split_once(&start) {
        Some((before, _)) => format!("{before}{start}{value};\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// The lists of a program, by the names of its parameters.
pub(super) fn of(name: &str, sizes: &Sizes) -> Vec<(&'static str, Vec<f64>)> {
    match name {
        "gravity" => lists(1, &[("x", 2 * sizes.bodies, 0.0, 1.0)]),
        "nn" => {
            let mut found = lists(
                2,
                &[
                    ("w", 10 * sizes.pixels, -0.1, 0.1),
                    ("b", 10, -0.1, 0.1),
                    ("img", sizes.pixels, 0.0, 256.0),
                ],
            );
            found[2].1.iter_mut().for_each(|value| *value = value.floor());
            found
        }
        "logsum" => lists(3, &[("x", 10_000, -5.0, 5.0)]),
        "matdescent" => {
            lists(4, &[("a", sizes.side * sizes.side, -1.0, 1.0), ("v", sizes.side, -1.0, 1.0)])
        }
        "mttkrp" => lists(
            5,
            &[
                ("b", 512, -1.0, 1.0),
                ("d", 64, -1.0, 1.0),
                ("c", 64, -1.0, 1.0),
                ("s", 64, -1.0, 1.0),
            ],
        ),
        "somier" => grid(),
        "lenet" => {
            let [first, second, third] = sizes.maps;
            lists(
                7,
                &[
                    ("w1", first * 25, -0.1, 0.1),
                    ("b1", first, -0.1, 0.1),
                    ("w2", second * first * 25, -0.1, 0.1),
                    ("b2", second, -0.1, 0.1),
                    ("w3", third * second * 25, -0.1, 0.1),
                    ("b3", third, -0.1, 0.1),
                    ("w4", 84 * third, -0.1, 0.1),
                    ("b4", 84, -0.1, 0.1),
                    ("w5", 10 * 84, -0.1, 0.1),
                    ("b5", 10, -0.1, 0.1),
                    ("image", 32 * 32, 0.0, 1.0),
                ],
            )
        }
        "pathfinder" => lists(8, &[("wall", sizes.rows * 256, 0.9, 1.1), ("s", 256, -1.0, 1.0)]),
        _ => walker(),
    }
}

fn lists(seed: u64, wanted: &[(&'static str, usize, f64, f64)]) -> Vec<(&'static str, Vec<f64>)> {
    let mut numbers = Numbers(seed);
    let drawn = wanted.iter().map(|(name, count, low, high)| {
        (*name, (0..*count).map(|_| numbers.within(*low, *high)).collect())
    });
    drawn.collect()
}

/// Nodes near the points of a grid.
fn grid() -> Vec<(&'static str, Vec<f64>)> {
    const SIDE: usize = 8;
    const CELLS: usize = SIDE * SIDE * SIDE;
    let mut numbers = Numbers(6);
    let mut x = vec![0.0; 3 * CELLS];
    for p in 0..CELLS {
        for (axis, at) in [p / (SIDE * SIDE), p / SIDE % SIDE, p % SIDE].into_iter().enumerate() {
            x[axis * CELLS + p] = at as f64 + numbers.within(-0.1, 0.1);
        }
    }
    vec![("x", x), ("s", (0..3 * CELLS).map(|_| numbers.within(-1.0, 1.0)).collect())]
}

/// A walker of 128 objects and 64 springs, with 32 neurons.
fn walker() -> Vec<(&'static str, Vec<f64>)> {
    let features = 10 + 4 * 128 + 2;
    let mut found = lists(
        9,
        &[
            ("w1", 32 * features, -1.0, 1.0),
            ("b1", 32, -0.1, 0.1),
            ("w2", 64 * 32, -1.0, 1.0),
            ("b2", 64, -0.1, 0.1),
            ("x0", 256, 0.0, 1.0),
            ("v0", 256, -0.5, 0.5),
            ("len", 64, 0.1, 0.5),
            ("act_gain", 64, 0.0, 0.15),
            ("s", 512, -1.0, 1.0),
        ],
    );
    let scales = [2.0 * (2.0_f64 / 556.0).sqrt(), 1.0, 3.0 * (2.0_f64 / 96.0).sqrt()];
    for ((_, numbers), scale) in found.iter_mut().zip(scales) {
        numbers.iter_mut().for_each(|value| *value *= scale);
    }
    found
}
