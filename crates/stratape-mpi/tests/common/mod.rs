//! What the tests share: a rank that checks gradients against differences over all ranks.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use mpi::environment::Universe;
use stratape_mpi::{Comm, sum};

/// A rank of a test.
pub(crate) struct Rank {
    universe: Universe,
    pub(crate) comm: Comm,
    random: u64,
    failed: usize,
    checked: usize,
}

impl Rank {
    pub(crate) fn new() -> Self {
        let universe = mpi::initialize().unwrap();
        let comm = Comm::new(&universe.world()).unwrap();
        let random =
            0x9e37_79b9_7f4a_7c15 ^ (comm.rank as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d);
        Self { universe, comm, random, failed: 0, checked: 0 }
    }

    pub(crate) fn world(&self) -> mpi::topology::SimpleCommunicator {
        self.universe.world()
    }

    /// A number from -1 to 1, another one on each rank.
    pub(crate) fn random(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn expect(&mut self, name: &str, holds: bool) {
        self.checked += 1;
        if !holds {
            self.failed += 1;
            eprintln!("rank {} of {}: {name}: failed", self.comm.rank, self.comm.size);
        }
    }

    /// Compares a gradient with differences: both as the derivative of the sum over all ranks along a random direction.
    pub(crate) fn check(
        &mut self,
        name: &str,
        len: usize,
        f: impl Fn(&Comm, &[f64]) -> f64,
        grad: impl Fn(&Comm, &[f64], &mut [f64], f64) -> f64,
    ) {
        let comm = self.comm;
        for _ in 0..3 {
            let x: Vec<f64> = (0..len).map(|_| 1.0 + 0.5 * self.random()).collect();
            let v: Vec<f64> = (0..len).map(|_| self.random()).collect();
            let seed = 1.0 + 0.5 * self.random();
            let total = |step: f64| {
                let moved: Vec<f64> = x.iter().zip(&v).map(|(x, v)| x + step * v).collect();
                sum(&comm, seed * f(&comm, &moved))
            };
            // So small that no two numbers change their order.
            let h = 1e-5;
            let difference = (total(h) - total(-h)) / (2.0 * h);
            let mut dx = vec![0.0; len];
            let value = grad(&comm, &x, &mut dx, seed);
            let own: f64 = dx.iter().zip(&v).map(|(d, v)| d * v).sum();
            let derivative = sum(&comm, own);
            self.expect(&format!("{name}: value"), value.to_bits() == f(&comm, &x).to_bits());
            self.expect(
                &format!("{name}: {derivative} for {difference}"),
                close(derivative, difference, 1e-7),
            );
            let mut again = vec![0.0; len];
            grad(&comm, &x, &mut again, seed);
            let same = dx.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits());
            self.expect(&format!("{name}: the same bits twice"), same);
        }
    }

    /// Reports, and ends with an error if anything failed on any rank.
    pub(crate) fn finish(self, name: &str) {
        let failed = sum(&self.comm, self.failed as f64);
        if self.comm.rank == 0 {
            println!(
                "{name}: {} ranks, {} checks a rank, {failed} failed",
                self.comm.size, self.checked
            );
        }
        drop(self.universe);
        if failed > 0.0 {
            std::process::exit(1);
        }
    }
}

pub(crate) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

/// Numbers that are the same on all ranks.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }

    /// A number from -1 to 1.
    pub(crate) fn number(&mut self) -> f64 {
        self.below(1 << 52) as f64 / (1_u64 << 51) as f64 - 1.0
    }
}
