//! Messages without adjoints: their values arrive, nothing of them is sent in the backward pass, and a message that is active on one side only is an error.

#![allow(clippy::unwrap_used, clippy::panic, clippy::needless_range_loop)]

mod common;

use common::Rank;
use stratape::{Workspace, gradient};
use stratape_mpi::constant::{self, flag, index, int32, int64};
use stratape_mpi::{
    Comm, MpiError, NOBODY, all_gather_counts, all_reduce_sum, begin_send, exchange, finish_send,
    receive, send, sum,
};

/// Indices from a neighbour decide which numbers count, in a list that is overwritten in between.
#[gradient]
fn chosen(comm: &Comm, x: &[f64]) -> f64 {
    let next = (comm.rank + 1) % comm.size;
    let last = (comm.rank + comm.size - 1) % comm.size;
    let mut own = vec![comm.rank % x.len(), (comm.rank + 2) % x.len()];
    let mut came = [0, 0];
    let mut total = 0.0;
    for round in 0..3 {
        index::exchange(comm, &own, next, &mut came, last, round);
        total += x[came[0]] * x[came[1]] * x[came[1]];
        own[0] = (came[0] + 1) % x.len();
        own[1] = (came[1] + round) % x.len();
    }
    total
}

/// Lists of different lengths, which are exchanged first.
#[gradient]
fn lengths(comm: &Comm, x: &[f64]) -> f64 {
    let mut counts = vec![0; comm.size];
    index::all_gather(comm, &[x.len()], &mut counts);
    let mut total = 0;
    for count in &counts {
        total += *count;
    }
    let mut all = vec![0.0; total];
    all_gather_counts(comm, x, &mut all, &counts);
    let mut result = 0.0;
    for i in 0..total {
        result += all[i] * all[i] * (i + comm.rank) as f64;
    }
    result
}

/// Every operation on constants, floats among them, beside one active sum.
#[gradient(wrt(x))]
fn weighted(comm: &Comm, x: &[f64], table: &[f64], narrow: &[f32]) -> f64 {
    let n = table.len();
    let next = (comm.rank + 1) % comm.size;
    let last = (comm.rank + comm.size - 1) % comm.size;
    let mut w = table.to_vec();
    constant::broadcast(comm, &mut w, comm.size - 1);
    let mut came = vec![0.0; n];
    constant::exchange(comm, &w, next, &mut came, last, 1);
    let r = constant::begin_receive(comm, n, last, 2);
    let s = constant::begin_send(comm, &came, next, 2);
    constant::finish_receive(comm, r, &mut w);
    constant::finish_send(comm, s);
    let mut all = vec![0.0; n * comm.size];
    constant::gather(comm, &w, &mut all, 0);
    constant::scatter(comm, &all, &mut w, 0);
    constant::all_gather(comm, &w, &mut all);
    let mut most = vec![0.0; n];
    constant::all_reduce_max(comm, &w, &mut most);
    constant::all_reduce_min(comm, &most, &mut w);
    constant::all_reduce_sum(comm, &w, &mut most);
    let mut halves = narrow.to_vec();
    constant::single::broadcast(comm, &mut halves, 0);
    if comm.size > 1 {
        if comm.rank == 0 {
            constant::send(comm, &most, 1, 7);
            constant::receive_any(comm, &mut most, 8);
        }
        if comm.rank == 1 {
            constant::receive(comm, &mut most, 0, 7);
            constant::send(comm, &most, 0, 8);
        }
    }
    let mut own = 0.0;
    for i in 0..n {
        own += most[i] * x[i] * x[i] * halves[0] as f64;
    }
    sum(comm, own) * constant::max(comm, 2.0)
}

/// The same floats as constants and as active numbers: they are functions of `x`.
#[gradient(wrt(x))]
fn stopped(comm: &Comm, x: &[f64], active: bool) -> f64 {
    let next = (comm.rank + 1) % comm.size;
    let last = (comm.rank + comm.size - 1) % comm.size;
    let mut y = vec![0.0; x.len()];
    let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
    if active {
        exchange(comm, &squares, next, &mut y, last, 0);
    } else {
        constant::exchange(comm, &squares, next, &mut y, last, 0);
    }
    let mut own = 0.0;
    for i in 0..x.len() {
        own += x[i] * y[i];
    }
    own
}

/// What is overwritten by constants is no longer what it was.
#[gradient]
fn overwritten(comm: &Comm, x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    let before = y[0] * y[1];
    constant::exchange(comm, &[3.0, 4.0], comm.rank, &mut y[0..2], comm.rank, 0);
    let mut z = x.to_vec();
    constant::exchange(comm, &[5.0], NOBODY, &mut z[0..1], NOBODY, 0);
    before + y[0] * y[1] * y[2] + z[0] * z[0]
}

/// Decisions that all ranks take together, in a loop from snapshots.
#[gradient(wrt(x))]
fn together(comm: &Comm, x: &[f64], limit: f64) -> f64 {
    let mut y = x.to_vec();
    let mut left = 20;
    #[checkpoint(slots = 3)]
    while flag::all(comm, left > 0) {
        let mut far = false;
        for i in 0..y.len() {
            y[i] = y[i] - 0.2 * y[i] * y[i];
            far = far || y[i] > limit;
        }
        left = if flag::any(comm, far) { left - 1 } else { 0 };
    }
    let mut own = 0.0;
    for y in &y {
        own += y * y;
    }
    own
}

/// Numbers of all types.
fn values(rank: &mut Rank) {
    let comm = rank.comm;
    let (here, size) = (comm.rank, comm.size);
    let (next, last) = ((here + 1) % size, (here + size - 1) % size);
    let mut wide = [0_i64; 2];
    int64::exchange(&comm, &[-(here as i64), i64::MIN], next, &mut wide, last, 0);
    rank.expect("i64", wide == [-(last as i64), i64::MIN]);
    let mut sums = [0_i32; 2];
    int32::all_reduce_sum(&comm, &[1, -2], &mut sums);
    rank.expect("i32", sums == [size as i32, -2 * size as i32]);
    rank.expect("usize", index::max(&comm, here) == size - 1 && index::min(&comm, here + 5) == 5);
    rank.expect("sum", index::sum(&comm, here) == size * (size - 1) / 2);
    let mut flags = vec![false; size];
    flag::all_gather(&comm, &[here % 2 == 1], &mut flags);
    rank.expect("bool", flags == (0..size).map(|q| q % 2 == 1).collect::<Vec<_>>());
    let mut one = [here == 0];
    flag::broadcast(&comm, &mut one, 0);
    rank.expect("a flag from the root", one == [true]);
    let mut came = [false];
    flag::exchange(&comm, &[here == 0], next, &mut came, last, 0);
    rank.expect("a flag round a ring", came == [last == 0]);
    let counts: Vec<usize> = (0..size).map(|q| q % 2).collect();
    let mut all = vec![9; counts.iter().sum()];
    index::gather_counts(&comm, &vec![here; here % 2], &mut all, &counts, 0);
    let odd: Vec<usize> = (0..size).filter(|q| q % 2 == 1).collect();
    rank.expect("counts", here > 0 || all == odd);
    let mut turned = vec![0; size];
    index::all_to_all(&comm, &(0..size).map(|q| 10 * here + q).collect::<Vec<_>>(), &mut turned);
    rank.expect("blocks", turned == (0..size).map(|q| 10 * q + here).collect::<Vec<_>>());
    let mut mine = [0];
    index::scatter(&comm, &turned, &mut mine, 0);
    rank.expect("scattered", mine == [10 * here]);
    let mut gathered = vec![0; size];
    index::gather(&comm, &mine, &mut gathered, size - 1);
    rank.expect(
        "gathered",
        here + 1 < size || gathered == (0..size).map(|q| 10 * q).collect::<Vec<_>>(),
    );
}

/// Rank 0 sends an active message or a constant, and rank 1 receives the other.
#[gradient(wrt(x))]
fn one_side(comm: &Comm, x: &[f64], active: bool, background: bool) -> f64 {
    let mut y = vec![0.0; x.len()];
    if comm.rank == 0 {
        if background && active {
            let request = begin_send(comm, x, 1, 4);
            finish_send(comm, request);
        } else if background {
            let request = constant::begin_send(comm, x, 1, 4);
            constant::finish_send(comm, request);
        } else if active {
            send(comm, x, 1, 4);
        } else {
            constant::send(comm, x, 1, 4);
        }
    }
    if comm.rank == 1 {
        if active {
            constant::receive(comm, &mut y, 0, 4);
        } else {
            receive(comm, &mut y, 0, 4);
        }
    }
    y[0]
}

#[gradient(wrt(x))]
fn some_ranks(comm: &Comm, x: &[f64], active: bool) -> f64 {
    let mut y = vec![0.0; x.len()];
    if active {
        all_reduce_sum(comm, x, &mut y);
    } else {
        constant::all_reduce_sum(comm, x, &mut y);
    }
    y[0]
}

/// A request that is begun as active and finished as a constant, or the other way round.
#[gradient(wrt(x))]
fn mixed(comm: &Comm, x: &[f64], active: bool) -> f64 {
    let mut y = vec![0.0; x.len()];
    if active {
        let request = begin_send(comm, x, comm.rank, 0);
        constant::finish_send(comm, request);
    } else {
        let request = constant::begin_send(comm, x, comm.rank, 0);
        finish_send(comm, request);
    }
    receive(comm, &mut y, comm.rank, 0);
    y[0]
}

fn error(result: Result<f64, stratape::tape::TapeError>) -> String {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => MpiError::of(&error).unwrap().to_string(),
    }
}

fn mistakes(rank: &mut Rank) {
    let here = rank.comm.rank;
    let mut workspace = Workspace::new();
    let fresh = |rank: &Rank| Comm::new(&rank.world()).unwrap().checked().unwrap();
    for (active, background) in [(true, false), (true, true), (false, false), (false, true)] {
        let comm = fresh(rank);
        match here {
            // It gets no error, and would wait for an adjoint, or send one.
            0 if rank.comm.size > 1 => drop(one_side(&comm, &[1.0, 2.0], active, background)),
            1 => {
                let (x, mut dx) = ([1.0, 2.0], [0.0; 2]);
                let result =
                    one_side_grad_in(&mut workspace, &comm, &x, &mut dx, active, background, 1.0);
                let text = error(result);
                let kinds = if active { ["active", "constant"] } else { ["constant", "active"] };
                let expected = format!(
                    "rank 0 sent 2 {} numbers (f64) with tag 4; expected are 2 {} numbers (f64) with tag 4",
                    kinds[0], kinds[1]
                );
                rank.expect(&format!("one side: {text}"), text.contains(&expected));
            }
            _ => {}
        }
    }
    if rank.comm.size > 1 {
        let comm = fresh(rank);
        let result = some_ranks_grad_in(&mut workspace, &comm, &[1.0], &mut [0.0], here == 0, 1.0);
        let text = error(result);
        let kinds = if here == 0 { ["active", "constant"] } else { ["constant", "active"] };
        let expected =
            format!("is of {} numbers here, and of {} ones on another rank", kinds[0], kinds[1]);
        rank.expect(&format!("some ranks: {text}"), text.contains(&expected));
    }
    for (active, expected) in [(true, "without `constant::`"), (false, "`constant::finish_send`")] {
        let comm = fresh(rank);
        let result = mixed_grad_in(&mut workspace, &comm, &[1.0], &mut [0.0], active, 1.0);
        let text = error(result);
        rank.expect(&format!("mixed: {text}"), text.contains(expected));
    }
}

fn main() {
    let mut rank = Rank::new();
    values(&mut rank);
    rank.check("chosen", 5, chosen, chosen_grad);
    let len = 1 + rank.comm.rank % 3;
    rank.check("lengths", len, lengths, lengths_grad);
    let table = [0.5 + rank.comm.rank as f64, 1.5, -2.0];
    rank.check(
        "weighted",
        3,
        |comm, x| weighted(comm, x, &table, &[0.5]),
        |comm, x, dx, seed| weighted_grad(comm, x, dx, &table, &[0.5], seed),
    );
    rank.check("overwritten", 3, overwritten, overwritten_grad);
    rank.check(
        "together",
        3,
        |comm, x| together(comm, x, 0.3),
        |comm, x, dx, seed| together_grad(comm, x, dx, 0.3, seed),
    );
    let checked = Comm::new(&rank.world()).unwrap().checked().unwrap();
    rank.check(
        "with checks",
        5,
        |_, x| chosen(&checked, x),
        |_, x, dx, seed| chosen_grad(&checked, x, dx, seed),
    );

    // What is sent: nothing on the way back but the adjoint of the one sum.
    let (comm, mut dx) = (rank.comm, vec![0.0; 5]);
    comm.reset_traffic().unwrap();
    chosen_grad(&comm, &[1.0, 2.0, 3.0, 4.0, 5.0], &mut dx, 1.0);
    let traffic = comm.traffic().unwrap();
    rank.expect("three messages there", traffic.forward.messages == 3);
    rank.expect("none back", traffic.backward.messages == 0 && traffic.backward.bytes == 0);
    comm.reset_traffic().unwrap();
    weighted_grad(&comm, &[1.0; 3], &mut dx[..3], &table, &[0.5], 1.0);
    let back = comm.traffic().unwrap().backward;
    rank.expect("one back", back.messages == 1 && back.bytes == 8);

    // A constant stops the derivative, of floats that depend on the input as well.
    for active in [true, false] {
        let mut dx = [0.0];
        let x = [2.0 + comm.rank as f64];
        comm.reset_traffic().unwrap();
        stopped_grad(&comm, &x, &mut dx, active, 1.0);
        let neighbour = |by: usize| 2.0 + ((comm.rank + by) % comm.size) as f64;
        let own = neighbour(comm.size - 1).powi(2);
        let through = if active { 2.0 * x[0] * neighbour(1) } else { 0.0 };
        rank.expect("where derivatives stop", dx[0] == own + through);
        let back = comm.traffic().unwrap().backward.messages;
        rank.expect("messages back", back == u64::from(active));
    }
    mistakes(&mut rank);
    rank.finish("constants");
}
