//! Messages of structs against differences, and their ghost layers and those of `f32` against those of `f64`.

#![allow(clippy::unwrap_used, clippy::needless_range_loop)]

mod common;

use common::{Rank, close};
use model::{Body, Pair};
use stratape::gradient;
use stratape_mpi::{Cartesian, Comm, halo_1d, halo_2d, halo_3d, single, structs};

#[stratape::differentiable]
mod model {
    use stratape_mpi::structs::{
        Plain, all_gather, all_gather_counts, all_reduce_sum, all_to_all, begin_receive,
        begin_send, broadcast, exchange, finish_receive, gather, gather_counts, receive,
        receive_any, reduce_sum, scatter, scatter_counts, send,
    };
    use stratape_mpi::{Comm, barrier, finish_send};

    /// A struct with an array and a number that is no float.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Body {
        pub(super) at: [f64; 2],
        pub(super) mass: f64,
        pub(super) name: usize,
    }

    /// A struct of structs, one of them in an array.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Pair {
        pub(super) bodies: [Body; 2],
        pub(super) strength: f32,
        pub(super) bound: bool,
    }

    impl Plain for Body {
        const NUMBERS: usize = 4;

        fn write(self, to: &mut [f64]) {
            to[0] = self.at[0];
            to[1] = self.at[1];
            to[2] = self.mass;
            to[3] = self.name as f64;
        }

        fn read(from: &[f64]) -> Body {
            Body { at: [from[0], from[1]], mass: from[2], name: from[3] as usize }
        }
    }

    impl Plain for Pair {
        const NUMBERS: usize = 10;

        fn write(self, to: &mut [f64]) {
            self.bodies[0].write(&mut to[..4]);
            self.bodies[1].write(&mut to[4..8]);
            to[8] = self.strength as f64;
            to[9] = if self.bound { 1.0 } else { 0.0 };
        }

        fn read(from: &[f64]) -> Pair {
            Pair {
                bodies: [Body::read(&from[..4]), Body::read(&from[4..8])],
                strength: from[8] as f32,
                bound: from[9] != 0.0,
            }
        }
    }

    fn energy(a: &Body, b: &Body) -> f64 {
        let (x, y) = (a.at[0] - 2.0 * b.at[0], a.at[1] + b.at[1]);
        a.mass * b.mass * b.mass * (1.0 + x * x + y * y).sqrt() * (1 + b.name) as f64
    }

    #[gradient]
    pub(super) fn ring(comm: &Comm, own: &[Body]) -> f64 {
        let next = (comm.rank + 1) % comm.size;
        let last = (comm.rank + comm.size - 1) % comm.size;
        let mut guests = own.to_vec();
        exchange(comm, own, next, &mut guests, last, 0);
        let mut sum = 0.0;
        for (a, b) in own.iter().zip(&guests) {
            sum += energy(a, b);
        }
        let r = begin_receive(comm, &guests[1..], next, 3);
        let s = begin_send(comm, &guests[1..], last, 3);
        finish_send(comm, s);
        finish_receive(comm, r, &mut guests[1..]);
        for (a, b) in own.iter().zip(&guests) {
            sum += energy(b, a);
        }
        sum
    }

    #[gradient]
    pub(super) fn chain(comm: &Comm, own: &[Body]) -> f64 {
        let mut state = own.to_vec();
        if comm.rank > 0 {
            receive(comm, &mut state, comm.rank - 1, 0);
        }
        for i in 0..state.len() {
            state[i].mass = (state[i].mass * own[i].mass).sin();
            state[i].at[1] += own[i].at[0] * state[i].mass;
            state[i].name += 1;
        }
        if comm.rank + 1 < comm.size {
            send(comm, &state, comm.rank + 1, 0);
            return 0.0;
        }
        let mut sum = 0.0;
        for i in 0..state.len() {
            sum += energy(&state[i], &own[i]);
        }
        sum
    }

    /// The lowest rank is told first: whoever comes first is met in the same order in both passes.
    #[gradient]
    pub(super) fn whoever(comm: &Comm, own: &[Body]) -> f64 {
        if comm.rank > 0 {
            send(comm, own, 0, 5);
            return 0.0;
        }
        let mut sum = energy(&own[0], &own[1]);
        let mut guests = own.to_vec();
        for _ in 1..comm.size {
            let from = receive_any(comm, &mut guests, 5);
            sum += energy(&guests[0], &own[1]) * from as f64;
        }
        sum
    }

    #[gradient]
    pub(super) fn collected(comm: &Comm, own: &[Body]) -> f64 {
        let n = own.len();
        let mut all = vec![own[0]; n * comm.size];
        gather(comm, own, &mut all, 0);
        for i in 0..all.len() {
            all[i].mass *= all[i].at[0];
        }
        let mut part = own.to_vec();
        scatter(comm, &all, &mut part, 0);
        let mut whole = vec![own[0]; n * comm.size];
        all_gather(comm, &part, &mut whole);
        let mut total = own.to_vec();
        all_reduce_sum(comm, &part, &mut total);
        reduce_sum(comm, &whole[..n], &mut total, 0);
        let mut first = own.to_vec();
        broadcast(comm, &mut first, comm.size - 1);
        barrier(comm);
        let mut sum = 0.0;
        for i in 0..whole.len() {
            sum += energy(&whole[i], &total[i % n]) + energy(&first[i % n], &own[0]);
        }
        sum
    }

    #[gradient(wrt(own))]
    pub(super) fn unequal(comm: &Comm, own: &[Body], counts: &[usize], total: usize) -> f64 {
        let nobody = Body { at: [0.0; 2], mass: 0.0, name: 0 };
        let mut all = vec![nobody; total];
        gather_counts(comm, own, &mut all, counts, 0);
        for i in 0..total {
            all[i].mass = all[i].mass.sin();
        }
        let mut part = vec![nobody; own.len()];
        scatter_counts(comm, &all, &mut part, counts, 0);
        let mut whole = vec![nobody; total];
        all_gather_counts(comm, &part, &mut whole, counts);
        let mut sum = 0.0;
        for i in 0..total {
            sum += whole[i].mass * whole[i].at[0] * (i + comm.rank) as f64;
        }
        sum
    }

    #[gradient]
    pub(super) fn turned(comm: &Comm, own: &[Body]) -> f64 {
        let mut came = own.to_vec();
        all_to_all(comm, own, &mut came);
        let mut sum = 0.0;
        for (a, b) in own.iter().zip(&came) {
            sum += energy(a, b);
        }
        sum
    }

    #[gradient]
    pub(super) fn pairs(comm: &Comm, own: &[Pair]) -> f64 {
        let next = (comm.rank + 1) % comm.size;
        let last = (comm.rank + comm.size - 1) % comm.size;
        let mut guests = own.to_vec();
        exchange(comm, own, next, &mut guests, last, 0);
        let mut sum = 0.0;
        for pair in &guests {
            if pair.bound {
                sum += energy(&pair.bodies[0], &pair.bodies[1]) * pair.strength as f64;
            }
        }
        sum
    }
}

const NOBODY: Body = Body { at: [0.0; 2], mass: 0.0, name: 0 };

fn bodies(x: &[f64]) -> Vec<Body> {
    let of = |(name, x): (usize, &[f64])| Body { at: [x[0], x[1]], mass: x[2], name };
    x.chunks_exact(3).enumerate().map(of).collect()
}

fn add(dx: &mut [f64], shadow: &[Body]) {
    for (dx, body) in dx.chunks_exact_mut(3).zip(shadow) {
        for (dx, d) in dx.iter_mut().zip([body.at[0], body.at[1], body.mass]) {
            *dx += d;
        }
    }
}

/// Both halves of a test of bodies, as functions of their numbers.
fn check(
    rank: &mut Rank,
    name: &str,
    count: usize,
    f: impl Fn(&Comm, &[Body]) -> f64,
    grad: impl Fn(&Comm, &[Body], &mut [Body], f64) -> f64,
) {
    rank.check(
        name,
        3 * count,
        |comm, x| f(comm, &bodies(x)),
        |comm, x, dx, seed| {
            let mut shadow = vec![NOBODY; x.len() / 3];
            let value = grad(comm, &bodies(x), &mut shadow, seed);
            add(dx, &shadow);
            value
        },
    );
}

#[gradient(wrt(u))]
fn doubles(grid: &Cartesian, u: &[f64], n: (usize, usize, usize), axes: usize) -> f64 {
    let mut v = u.to_vec();
    match axes {
        1 => halo_1d(grid, &mut v, 2),
        2 => halo_2d(grid, &mut v, (n.0, n.1), 2),
        _ => halo_3d(grid, &mut v, n, 2),
    }
    let mut sum = 0.0;
    for i in 0..v.len() {
        sum += v[i] * v[i] * (1 + i % 5) as f64;
    }
    sum
}

#[gradient(wrt(u))]
fn singles(grid: &Cartesian, u: &[f32], n: (usize, usize, usize), axes: usize) -> f32 {
    let mut v = u.to_vec();
    match axes {
        1 => single::halo_1d(grid, &mut v, 2),
        2 => single::halo_2d(grid, &mut v, (n.0, n.1), 2),
        _ => single::halo_3d(grid, &mut v, n, 2),
    }
    let mut sum = 0.0;
    for i in 0..v.len() {
        sum += v[i] * v[i] * (1 + i % 5) as f32;
    }
    sum
}

#[gradient(wrt(u))]
fn of_bodies(grid: &Cartesian, u: &[Body], n: (usize, usize, usize), axes: usize) -> f64 {
    let mut v = u.to_vec();
    match axes {
        1 => structs::halo_1d(grid, &mut v, 2),
        2 => structs::halo_2d(grid, &mut v, (n.0, n.1), 2),
        _ => structs::halo_3d(grid, &mut v, n, 2),
    }
    let mut sum = 0.0;
    for i in 0..v.len() {
        sum += v[i].mass * v[i].mass * (1 + i % 5) as f64;
    }
    sum
}

fn ghost_layers(rank: &mut Rank) {
    for axes in 1..=3 {
        let dimensions = Cartesian::balanced(&rank.comm, axes).unwrap().dimensions;
        let grid = Cartesian::new(&rank.comm, dimensions, [true, false, true]).unwrap();
        let n = (3, if axes > 1 { 2 } else { 1 }, if axes > 2 { 4 } else { 1 });
        let along = |n: usize, axis: usize| if axis < axes { n + 4 } else { 1 };
        let len = along(n.0, 0) * along(n.1, 1) * along(n.2, 2);
        // Numbers that are exact in both types.
        let u: Vec<f64> = (0..len).map(|_| (rank.random() * 64.0).round() / 64.0).collect();
        let mut du = vec![0.0; len];
        let value = doubles_grad(&grid, &u, &mut du, n, axes, 1.0);

        let narrow: Vec<f32> = u.iter().map(|u| *u as f32).collect();
        let mut dnarrow = vec![0.0_f32; len];
        let single = singles_grad(&grid, &narrow, &mut dnarrow, n, axes, 1.0);
        rank.expect("f32: value", close(single.into(), value, 1e-5));
        let same = du.iter().zip(&dnarrow).all(|(a, b)| close(*a, (*b).into(), 1e-6));
        rank.expect(&format!("f32: ghost layers along {axes} axes"), same);

        let cell = |(name, mass): (usize, &f64)| Body { mass: *mass, name, at: [7.0; 2] };
        let cells: Vec<Body> = u.iter().enumerate().map(cell).collect();
        let mut shadow = vec![NOBODY; len];
        let of_structs = of_bodies_grad(&grid, &cells, &mut shadow, n, axes, 1.0);
        rank.expect("structs: value", of_structs.to_bits() == value.to_bits());
        let same = du.iter().zip(&shadow).all(|(a, b)| *a == b.mass && b.at == [0.0; 2]);
        rank.expect(&format!("structs: ghost layers along {axes} axes"), same);
    }
}

fn main() {
    let mut rank = Rank::new();
    check(&mut rank, "ring", 3, model::ring, model::ring_grad);
    check(&mut rank, "chain", 3, model::chain, model::chain_grad);
    check(&mut rank, "collected", 2, model::collected, model::collected_grad);
    let size = rank.comm.size;
    check(&mut rank, "turned", 2 * size, model::turned, model::turned_grad);
    let counts: Vec<usize> = (0..size).map(|q| (q + 1) % 3).collect();
    let total = counts.iter().sum();
    let count = counts[rank.comm.rank];
    check(
        &mut rank,
        "unequal",
        count,
        |comm, own| model::unequal(comm, own, &counts, total),
        |comm, own, shadow, seed| model::unequal_grad(comm, own, shadow, &counts, total, seed),
    );
    // Only with one other rank is it known who comes first.
    if size <= 2 {
        check(&mut rank, "whoever", 2, model::whoever, model::whoever_grad);
    }
    let pair = |x: &[f64]| Pair {
        bodies: [bodies(x)[0], bodies(x)[1]],
        strength: 0.5,
        bound: rank.comm.rank.is_multiple_of(2),
    };
    let (comm, x) = (rank.comm, [0.5, 0.25, 2.0, 0.75, 1.5, 3.0]);
    let nothing = Pair { bodies: [NOBODY; 2], strength: 0.0, bound: false };
    let mut shadow = [nothing];
    let value = model::pairs_grad(&comm, &[pair(&x)], &mut shadow, 1.0);
    let last = (comm.rank + comm.size - 1) % comm.size;
    let energy = 2.0 * 9.0 * (1.0_f64 + 1.0 + 1.75 * 1.75).sqrt() * 2.0;
    let expected = if last % 2 == 0 { 0.5 * energy } else { 0.0 };
    let bound = comm.rank % 2 == 0;
    rank.expect("structs in structs", close(value, expected, 1e-14));
    let strength = if bound { energy } else { 0.0 };
    rank.expect("a field of f32", close(shadow[0].strength.into(), strength, 1e-6));
    let mass = if bound { energy / 3.0 } else { 0.0 };
    rank.expect("a field of a field", close(shadow[0].bodies[1].mass, mass, 1e-14));
    ghost_layers(&mut rank);
    rank.finish("structs");
}
