//! Every operation against differences, on as many ranks as there are: `mpirun -n 4 …`, or alone.

mod common;

use common::{Rank, close};
use stratape::gradient;
use stratape_mpi::{
    Comm, NOBODY, all_gather, all_gather_counts, all_reduce_max, all_reduce_min,
    all_reduce_product, all_reduce_sum, all_to_all, barrier, begin_receive, begin_send, broadcast,
    exchange, finish_receive, finish_send, gather, gather_counts, max, min, product, receive,
    reduce_max, reduce_product, reduce_sum, scatter, scatter_counts, send, single, sum,
};

#[gradient]
fn norm(comm: &Comm, x: &[f64]) -> f64 {
    let mut own = 0.0;
    for x in x {
        own += x * x;
    }
    sum(comm, own).sqrt()
}

#[gradient]
fn ring(comm: &Comm, x: &[f64]) -> f64 {
    let mut came = vec![0.0; x.len()];
    let to = (comm.rank + 1) % comm.size;
    let from = (comm.rank + comm.size - 1) % comm.size;
    exchange(comm, x, to, &mut came, from, 3);
    let mut own = 0.0;
    for i in 0..x.len() {
        own += x[i] * came[i] * came[i];
    }
    own
}

/// Nothing of what a rank sends shows in its own result.
#[gradient]
fn pipeline(comm: &Comm, x: &[f64]) -> f64 {
    let mut state = vec![1.0; x.len()];
    if comm.rank > 0 {
        receive(comm, &mut state, comm.rank - 1, 0);
    }
    for i in 0..x.len() {
        state[i] = (state[i] * x[i]).sin();
    }
    if comm.rank + 1 < comm.size {
        send(comm, &state, comm.rank + 1, 0);
        return 0.0;
    }
    let mut own = 0.0;
    for s in &state {
        own += s * s;
    }
    own
}

/// A chain of neighbours, the messages in the background while each rank works on its own.
#[gradient]
fn overlap(comm: &Comm, x: &[f64]) -> f64 {
    let left = if comm.rank > 0 { comm.rank - 1 } else { NOBODY };
    let right = if comm.rank + 1 < comm.size { comm.rank + 1 } else { NOBODY };
    let n = x.len();
    let mut halo = [0.5, 0.25];
    let r0 = begin_receive(comm, 1, left, 1);
    let r1 = begin_receive(comm, 1, right, 2);
    let s0 = begin_send(comm, &x[n - 1..n], right, 1);
    let s1 = begin_send(comm, &x[0..1], left, 2);
    let mut own = 0.0;
    for i in 1..n {
        own += (x[i] - x[i - 1]) * (x[i] - x[i - 1]) * x[i];
    }
    finish_receive(comm, r0, &mut halo[0..1]);
    finish_receive(comm, r1, &mut halo[1..2]);
    finish_send(comm, s0);
    finish_send(comm, s1);
    own + (x[0] - halo[0]).exp() + (x[n - 1] - halo[1]).sin()
}

/// Two messages with one tag, finished in another order than they are begun, and in another on each side. Their adjoints once changed places: they were begun in
/// the order of the finishes, and matched by tags alone.
#[gradient]
fn crossed(comm: &Comm, x: &[f64]) -> f64 {
    let right = (comm.rank + 1) % comm.size;
    let left = (comm.rank + comm.size - 1) % comm.size;
    let mut first = [0.0];
    let mut second = [0.0];
    let mut third = [0.0];
    let r0 = begin_receive(comm, 1, left, 4);
    let r1 = begin_receive(comm, 1, left, 4);
    let s0 = begin_send(comm, &x[0..1], right, 4);
    let s1 = begin_send(comm, &x[1..2], right, 4);
    exchange(comm, &x[2..3], right, &mut third, left, 4);
    finish_send(comm, s0);
    finish_receive(comm, r1, &mut second);
    finish_receive(comm, r0, &mut first);
    finish_send(comm, s1);
    first[0].sin() + 2.0 * second[0].exp() + third[0] * third[0] * x[3]
}

#[gradient]
fn steps(comm: &Comm, u: &mut [f64], count: usize) {
    let n = u.len();
    let right = (comm.rank + 1) % comm.size;
    let left = (comm.rank + comm.size - 1) % comm.size;
    let mut next = vec![0.0; n];
    for _ in 0..count {
        let first = [u[0]];
        let last = [u[n - 1]];
        let mut from_left = [0.0];
        let mut from_right = [0.0];
        exchange(comm, &last, right, &mut from_left, left, 1);
        exchange(comm, &first, left, &mut from_right, right, 2);
        for i in 0..n {
            let a = if i == 0 { from_left[0] } else { u[i - 1] };
            let b = if i + 1 == n { from_right[0] } else { u[i + 1] };
            next[i] = u[i] + 0.2 * (a - 2.0 * u[i] + b) + 0.01 * u[i] * u[i];
        }
        u.copy_from_slice(&next);
    }
}

/// The same from snapshots: steps that are repeated repeat their messages, on all ranks alike.
#[gradient]
fn steps_from_snapshots(comm: &Comm, u: &mut [f64], count: usize) {
    let n = u.len();
    let right = (comm.rank + 1) % comm.size;
    let left = (comm.rank + comm.size - 1) % comm.size;
    #[checkpoint(slots = 3)]
    for _ in 0..count {
        let first = [u[0]];
        let last = [u[n - 1]];
        let mut from_left = [0.0];
        let mut from_right = [0.0];
        exchange(comm, &last, right, &mut from_left, left, 1);
        exchange(comm, &first, left, &mut from_right, right, 2);
        let mut next = vec![0.0; n];
        for i in 0..n {
            let a = if i == 0 { from_left[0] } else { u[i - 1] };
            let b = if i + 1 == n { from_right[0] } else { u[i + 1] };
            next[i] = u[i] + 0.2 * (a - 2.0 * u[i] + b) + 0.01 * u[i] * u[i];
        }
        u.copy_from_slice(&next);
    }
}

#[gradient]
fn from_root(comm: &Comm, x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    broadcast(comm, &mut y, comm.size - 1);
    let mut own = 0.0;
    for i in 0..x.len() {
        own += y[i] * y[i] * x[i] * (comm.rank + 1) as f64;
    }
    own
}

#[gradient]
fn reductions(comm: &Comm, x: &[f64]) -> f64 {
    let n = x.len();
    let mut s = vec![0.0; n];
    let mut p = vec![0.0; n];
    let mut hi = vec![0.0; n];
    let mut lo = vec![0.0; n];
    all_reduce_sum(comm, x, &mut s);
    all_reduce_product(comm, x, &mut p);
    all_reduce_max(comm, x, &mut hi);
    all_reduce_min(comm, x, &mut lo);
    let mut own = 0.0;
    for i in 0..n {
        own += s[i] * s[i] * x[i] + p[i] * x[i] + hi[i] * hi[i] - lo[i] * x[i];
    }
    own * (comm.rank + 1) as f64
}

#[gradient]
fn to_root(comm: &Comm, x: &[f64]) -> f64 {
    let n = x.len();
    let mut s = vec![1.0; n];
    let mut p = vec![2.0; n];
    let mut hi = vec![3.0; n];
    reduce_sum(comm, x, &mut s, 0);
    reduce_product(comm, x, &mut p, 0);
    reduce_max(comm, x, &mut hi, comm.size - 1);
    let mut own = 0.0;
    for i in 0..n {
        own += s[i] * s[i] * x[i] + p[i] * x[i] + hi[i] * hi[i] * x[i];
    }
    own
}

#[gradient]
fn scalars(comm: &Comm, x: f64) -> f64 {
    sum(comm, x * x) + product(comm, x) * x + max(comm, x) * x + min(comm, x)
}

#[gradient]
fn collected(comm: &Comm, x: &[f64]) -> f64 {
    let n = x.len();
    let mut all = vec![0.0; n * comm.size];
    gather(comm, x, &mut all, 0);
    for v in all.iter_mut() {
        *v = *v * *v;
    }
    let mut part = vec![0.0; n];
    scatter(comm, &all, &mut part, 0);
    let mut whole = vec![0.0; n * comm.size];
    all_gather(comm, &part, &mut whole);
    let mut own = 0.0;
    for (i, v) in whole.iter().enumerate() {
        own += v * v * (i + comm.rank) as f64;
    }
    own
}

#[gradient(wrt(x))]
fn unequal(comm: &Comm, x: &[f64], counts: &[usize], total: usize) -> f64 {
    let mut all = vec![0.0; total];
    gather_counts(comm, x, &mut all, counts, 0);
    for v in all.iter_mut() {
        *v = v.sin();
    }
    let mut part = vec![0.0; x.len()];
    scatter_counts(comm, &all, &mut part, counts, 0);
    let mut whole = vec![0.0; total];
    all_gather_counts(comm, &part, &mut whole, counts);
    let mut own = 0.0;
    for (i, v) in whole.iter().enumerate() {
        own += v * (i + comm.rank + 1) as f64;
    }
    own
}

#[gradient]
fn turned(comm: &Comm, x: &[f64]) -> f64 {
    let mut y = vec![0.0; x.len()];
    all_to_all(comm, x, &mut y);
    barrier(comm);
    let mut own = 0.0;
    for i in 0..x.len() {
        own += y[i] * y[i] * x[i];
    }
    own
}

#[gradient]
fn in_single(comm: &Comm, x: &[f32]) -> f32 {
    let mut own = 0.0;
    for x in x {
        own += x * x;
    }
    let mut came = vec![0.0; x.len()];
    single::exchange(
        comm,
        x,
        (comm.rank + 1) % comm.size,
        &mut came,
        (comm.rank + comm.size - 1) % comm.size,
        0,
    );
    single::sum(comm, own).sqrt() + came[0]
}

fn main() {
    let mut rank = Rank::new();
    let n = 5;
    rank.check("norm", n, norm, norm_grad);
    rank.check("ring", n, ring, ring_grad);
    rank.check("pipeline", n, pipeline, pipeline_grad);
    rank.check("overlap", n, overlap, overlap_grad);
    rank.check("crossed", n, crossed, crossed_grad);
    rank.check("from the root", n, from_root, from_root_grad);
    rank.check("reductions", n, reductions, reductions_grad);
    rank.check("to the root", n, to_root, to_root_grad);
    rank.check("collected", n, collected, collected_grad);
    let size = rank.comm.size;
    rank.check("turned", 2 * size, turned, turned_grad);
    let counts: Vec<usize> = (0..size).map(|q| q % 3).collect();
    let total = counts.iter().sum();
    rank.check(
        "unequal",
        counts[rank.comm.rank],
        |comm, x| unequal(comm, x, &counts, total),
        |comm, x, dx, seed| unequal_grad(comm, x, dx, &counts, total, seed),
    );
    rank.check(
        "scalars",
        1,
        |comm, x| scalars(comm, x[0]),
        |comm, x, dx, seed| {
            let (value, d) = scalars_grad(comm, x[0], seed);
            dx[0] += d;
            value
        },
    );
    rank.check(
        "steps",
        n,
        |comm, x| {
            let mut u = x.to_vec();
            steps(comm, &mut u, 7);
            u.iter().map(|u| u * u).sum()
        },
        |comm, x, dx, seed| {
            let mut u = x.to_vec();
            steps(comm, &mut u, 7);
            let mut du: Vec<f64> = u.iter().map(|u| 2.0 * seed * u).collect();
            let value = u.iter().map(|u| u * u).sum();
            let mut again = x.to_vec();
            steps_grad(comm, &mut again, &mut du, 7);
            dx.iter_mut().zip(&du).for_each(|(dx, du)| *dx += du);
            value
        },
    );

    let x: Vec<f64> = (0..n).map(|_| 1.0 + rank.random()).collect();
    let (mut u, mut du) = (x.clone(), vec![1.0; n]);
    steps_grad(&rank.comm, &mut u, &mut du, 20);
    let (mut v, mut dv) = (x.clone(), vec![1.0; n]);
    steps_from_snapshots_grad(&rank.comm, &mut v, &mut dv, 20);
    rank.expect("snapshots", u == v && du == dv);

    // The factor that a seed of 1 on every rank brings for a value that all ranks share.
    let comm = rank.comm;
    let x = vec![1.0 + comm.rank as f64; 3];
    let (mut once, mut everywhere) = (vec![0.0; 3], vec![0.0; 3]);
    norm_grad(&comm, &x, &mut once, comm.seed());
    norm_grad(&comm, &x, &mut everywhere, 1.0);
    for (once, everywhere) in once.iter().zip(&everywhere) {
        rank.expect("the factor", close(once * comm.size as f64, *everywhere, 1e-14));
    }

    // Zeros of a product, and ties of a maximum.
    let x = [if comm.rank == 0 { 0.0 } else { 2.0 }];
    let (_, d) = {
        let mut dx = [0.0];
        (product_of_grad(&comm, &x, &mut dx, comm.seed()), dx[0])
    };
    let expected = if comm.rank == 0 { 2.0_f64.powi(comm.size as i32 - 1) } else { 0.0 };
    rank.expect("product with a zero", d == if comm.size == 1 { 1.0 } else { expected });
    let mut dx = [0.0];
    highest_grad(&comm, &[7.0], &mut dx, comm.seed());
    rank.expect("ties go to the lowest rank", dx[0] == if comm.rank == 0 { 1.0 } else { 0.0 });

    let mut dx = vec![0.0_f32; 2];
    let value = in_single_grad(&comm, &[1.0, 2.0], &mut dx, comm.seed() as f32);
    let root = (5.0 * comm.size as f32).sqrt();
    rank.expect("f32", (value - root - 1.0).abs() < 1e-6 && (dx[1] - 2.0 / root).abs() < 1e-6);
    rank.finish("operations");
}

#[gradient]
fn product_of(comm: &Comm, x: &[f64]) -> f64 {
    product(comm, x[0])
}

#[gradient]
fn highest(comm: &Comm, x: &[f64]) -> f64 {
    max(comm, x[0])
}
