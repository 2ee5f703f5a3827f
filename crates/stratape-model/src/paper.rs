//! The paper's experiments: nine programs, on a machine with TapeFlow's scratchpad and on one without.
//!
//! The programs are those of the folder `programs`, at the sizes of the paper's Table II. [`measure`] runs one of them on the machines that the
//! figures compare; [`Measured`] holds what came out, and what was published.

mod figures;
mod inputs;
mod measured;
mod runs;

use stratape_compiler::driver::Saving;

use crate::{ModelError, Program};

pub use figures::{FIGURES, Figure, Kind, Panel, figure};
pub use measured::{Measured, Published, measure};
pub use runs::{Results, Run};

/// One of the nine programs.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark {
    /// Its name, also of its function.
    pub name: &'static str,
    source: &'static str,
    /// Constants of the source and what they are in a quick run.
    quick: &'static [(&'static str, usize)],
    /// What was published of it.
    pub published: Published,
}

macro_rules! benchmarks {
    ($($name:ident $quick:tt [$($figure:literal)*] $smallest:expr;)*) => {
        /// The nine programs, in the paper's order.
        pub const BENCHMARKS: [Benchmark; 9] = [$(Benchmark {
            name: stringify!($name),
            source: include_str!(concat!("../programs/", stringify!($name), ".rs")),
            quick: &$quick,
            published: Published::new([$($figure),*], $smallest),
        }),*];
    };
}

// Published: FWD, REV, total, DRAM, energy (2k against 32k), share of tape accesses; total and DRAM with 1k of cache.
benchmarks! {
    gravity [("BODIES", 64)] [1.14 1.07 1.10 1.28 9.2 0.33] Some((1.13, 1.43));
    nn [("PIXELS", 196)] [1.04 1.22 1.14 1.20 9.2 0.33] Some((1.13, 1.14));
    logsum [] [1.01 1.17 1.12 1.43 8.8 0.29] Some((1.12, 1.41));
    matdescent [("SIZE", 80)] [1.00 1.49 1.24 1.11 8.0 0.20] Some((1.22, 1.03));
    mttkrp [] [2.42 2.41 2.41 14.3 8.7 0.29] Some((2.54, 8.84));
    somier [] [1.29 1.66 1.42 2.95 8.0 0.20] Some((1.41, 1.64));
    lenet [("FIRST", 2), ("SECOND", 4), ("THIRD", 20)] [1.19 1.17 1.18 2.05 7.9 0.18] Some((1.31, 2.19));
    pathfinder [("ROWS", 32)] [1.50 1.21 1.28 1.26 8.6 0.27] Some((1.50, 2.08));
    mass_spring [] [1.71 1.43 1.51 4.05 8.7 0.28] None;
}

impl Benchmark {
    /// The program of a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<&'static Self, ModelError> {
        static ALL: [Benchmark; 9] = BENCHMARKS;
        let found = ALL.iter().find(|one| one.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = BENCHMARKS.iter().map(|one| one.name).collect();
            let message = format!("there is no such program: there are {}", names.join(", "));
            ModelError::Program { name: name.to_owned(), message }
        })
    }

    /// Its gradient, with the inputs of the benchmarks; smaller ones in a quick run.
    ///
    /// # Errors
    /// If the compiler refuses it.
    pub fn program(&self, saved: Saving, quick: bool) -> Result<Program, ModelError> {
        let mut source = self.source.to_owned();
        let mut sizes = inputs::Sizes::default();
        for (name, value) in self.quick.iter().filter(|_| quick) {
            source = inputs::with_constant(&source, name, *value);
            sizes.set(name, *value);
        }
        let lists = inputs::of(self.name, &sizes);
        let mut settings: Vec<(&str, f64)> =
            lists.iter().map(|(name, numbers)| (*name, numbers.len() as f64)).collect();
        if self.name == "mass_spring" {
            settings.push(("step", 5.0));
        }
        let mut program = Program::compile(&source, self.name, saved, &settings)?;
        for (name, numbers) in &lists {
            program.fill(name, numbers);
        }
        Ok(program)
    }
}
