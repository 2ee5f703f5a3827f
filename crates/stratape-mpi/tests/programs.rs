//! Programs as people write them, each against differences: messages in loops, branches and helpers, to oneself, of nothing, in parts of lists, on communicators of some ranks.

#![allow(clippy::unwrap_used, clippy::all, reason = "as people write them")]

mod common;

use common::{Rank, close};
use stratape::{differentiable, gradient};
use stratape_mpi::{
    Comm, NOBODY, Spread, all_gather, all_gather_counts, all_reduce_max, all_reduce_product,
    all_reduce_sum, all_to_all, barrier, begin_receive, begin_send, broadcast, constant, exchange,
    finish_receive, finish_send, gather, gather_counts, max, min, product, receive, receive_any,
    reduce_max, reduce_min, reduce_sum, scatter, scatter_counts, send, sum,
};

/// Functions of a communicator and numbers, each with so many numbers a rank.
macro_rules! programs {
    ($($name:ident($count:expr) |$comm:ident, $x:ident| $body:block)*) => {
        $(mod $name {
            use super::*;

            #[gradient(name = grad)]
            pub(super) fn function($comm: &Comm, $x: &[f64]) -> f64 $body
        })*

        /// Checks them on a communicator, but for those of some names.
        fn all(rank: &mut Rank, on: &Comm, without: &[&str]) {
            $(if !without.contains(&stringify!($name)) {
                rank.check(
                    &format!("{} on {}", stringify!($name), on.id),
                    $count,
                    |_, x| $name::function(on, x),
                    |_, x, dx, seed| $name::grad(on, x, dx, seed),
                );
            })*
        }
    };
}

#[differentiable]
fn next(comm: &Comm) -> usize {
    (comm.rank + 1) % comm.size
}

#[differentiable]
fn last(comm: &Comm) -> usize {
    (comm.rank + comm.size - 1) % comm.size
}

/// The sum of squares.
#[differentiable]
fn squares(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for x in x {
        sum += x * x;
    }
    sum
}

/// What the rank before has.
#[differentiable]
fn passed(comm: Comm, x: &[f64], tag: usize) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    exchange(&comm, x, next(&comm), &mut y, last(&comm), tag);
    y
}

/// Twice round, in a helper of a helper.
#[differentiable]
fn passed_twice(comm: Comm, x: &[f64]) -> Vec<f64> {
    let mut y = passed(comm, x, 1);
    for i in 0..y.len() {
        y[i] = y[i] * x[i];
    }
    passed(comm, &y, 2)
}

/// The sum over ranks by a tree of messages, on rank 0.
#[differentiable]
fn tree(comm: &Comm, x: f64) -> f64 {
    let mut total = [x];
    let mut step = 1;
    let mut done = false;
    while step < comm.size {
        if !done {
            if comm.rank % (2 * step) == step {
                send(comm, &total, comm.rank - step, step);
                done = true;
            } else if comm.rank + step < comm.size {
                let mut came = [0.0];
                receive(comm, &mut came, comm.rank + step, step);
                total[0] += came[0];
            }
        }
        step *= 2;
    }
    total[0]
}

/// Calls itself, with a message each time. Such a function takes numbers and lists of numbers, a communicator as its fields.
#[differentiable]
fn again(id: usize, rank: usize, size: usize, x: &[f64], left: usize) -> f64 {
    let comm = Comm { id, rank, size };
    let mut y = [0.0; 2];
    exchange(&comm, x, (rank + 1) % size, &mut y, (rank + size - 1) % size, left);
    y[0] = y[0].sin();
    y[1] *= x[0];
    if left == 0 { y[0] * y[1] } else { again(id, rank, size, &y, left - 1) + y[0] }
}

#[differentiable]
struct Field {
    u: Vec<f64>,
    v: Vec<f64>,
}

programs! {
    to_itself(3) |comm, x| {
        let mut y = [0.0; 3];
        let request = begin_send(comm, x, comm.rank, 1);
        receive(comm, &mut y, comm.rank, 1);
        finish_send(comm, request);
        y[0] * y[1] * x[2]
    }

    exchange_with_itself(3) |comm, x| {
        let mut y = [0.0; 3];
        exchange(comm, x, comm.rank, &mut y, comm.rank, 0);
        squares(&y) * y[0]
    }

    nothing(2) |comm, x| {
        let mut none: Vec<f64> = Vec::new();
        exchange(comm, &x[0..0], next(comm), &mut none, last(comm), 0);
        broadcast(comm, &mut none, 0);
        all_reduce_sum(comm, &x[2..2], &mut none);
        all_gather(comm, &x[1..1], &mut none);
        all_to_all(comm, &x[..0], &mut none);
        let request = begin_send(comm, &none, next(comm), 1);
        receive(comm, &mut none, last(comm), 1);
        finish_send(comm, request);
        squares(x)
    }

    // Every third rank has none.
    some_have_none(6) |comm, x| {
        let own = 2 * (comm.rank % 3);
        let mut counts = vec![0; comm.size];
        let mut total = 0;
        for q in 0..comm.size {
            counts[q] = 2 * (q % 3);
            total += counts[q];
        }
        let mut all = vec![0.0; total];
        all_gather_counts(comm, &x[..own], &mut all, &counts);
        let mut gathered = vec![0.0; total];
        gather_counts(comm, &x[..own], &mut gathered, &counts, comm.size - 1);
        let mut mine = vec![0.0; own];
        scatter_counts(comm, &gathered, &mut mine, &counts, comm.size - 1);
        squares(&all) * squares(&mine) + squares(x)
    }

    // Columns of a matrix by rows.
    columns(12) |comm, x| {
        let mut out = vec![0.0; 3];
        for i in 0..3 {
            out[i] = x[4 * i + 3];
        }
        let mut came = vec![0.0; 3];
        exchange(comm, &out, next(comm), &mut came, last(comm), 0);
        let every: Vec<f64> = x.iter().step_by(2).map(|x| x.sin()).collect();
        let mut others = vec![0.0; 6];
        exchange(comm, &every, last(comm), &mut others, next(comm), 1);
        let mut own = 0.0;
        for i in 0..3 {
            own += came[i] * x[4 * i] * others[i + 2];
        }
        own
    }

    parts_of_lists(6) |comm, x| {
        let mut y = x.to_vec();
        exchange(comm, &x[1..3], next(comm), &mut y[2..4], last(comm), 0);
        exchange(comm, &x[3..6], last(comm), &mut y[0..3], next(comm), 1);
        let (left, right) = y.split_at_mut(3);
        exchange(comm, left, next(comm), right, last(comm), 2);
        y[0] * y[1] + y[2] * y[3] * y[4] * y[5]
    }

    // Ranks of one parity send, the others receive.
    pairs(2) |comm, x| {
        let mut y = [0.5, 0.25];
        if comm.rank % 2 == 0 {
            if comm.rank + 1 < comm.size {
                send(comm, x, comm.rank + 1, 0);
                receive(comm, &mut y[..1], comm.rank + 1, 1);
            }
        } else {
            receive(comm, &mut y, comm.rank - 1, 0);
            send(comm, &[y[0] * y[1] * x[0]], comm.rank - 1, 1);
        }
        y[0] * y[1] * x[1]
    }

    growing_messages(5) |comm, x| {
        let mut own = 0.0;
        for len in 1..=x.len() {
            let mut y = vec![0.0; len];
            exchange(comm, &x[..len], next(comm), &mut y, last(comm), len);
            own += squares(&y) * x[len - 1];
        }
        own
    }

    overwritten(3) |comm, x| {
        let mut y = x.to_vec();
        let mut own = 0.0;
        for round in 0..4 {
            let before = y.clone();
            exchange(comm, &before, next(comm), &mut y, last(comm), 0);
            own += y[0] * y[1] * (round + 1) as f64;
            y[2] = y[2] * y[0] + x[1];
        }
        own
    }

    sent_and_changed(2) |comm, x| {
        let mut y = x.to_vec();
        let request = begin_send(comm, &y, next(comm), 0);
        y[0] *= 3.0;
        y[1] = y[0].exp();
        let mut z = [0.0; 2];
        receive(comm, &mut z, last(comm), 0);
        finish_send(comm, request);
        z[0] * y[1] + z[1] * y[0]
    }

    to_everybody(2) |comm, x| {
        let mut requests = vec![0; comm.size];
        for q in 0..comm.size {
            requests[q] = begin_send(comm, x, q, 3);
        }
        let mut own = 0.0;
        for q in 0..comm.size {
            let mut y = [0.0; 2];
            receive(comm, &mut y, q, 3);
            own += (y[0] * (q + 1) as f64).sin() * y[1];
        }
        for q in 0..comm.size {
            finish_send(comm, requests[comm.size - 1 - q]);
        }
        own
    }

    // On a communicator that was split off, adjoints of messages with one tag once changed places: they had one tag, too.
    requests_in_a_list(4) |comm, x| {
        let mut receives = [NOBODY; 4];
        let mut sends = [NOBODY; 4];
        for i in 0..4 {
            receives[i] = begin_receive(comm, 1, last(comm), 10 + i % 2);
        }
        for i in 0..4 {
            sends[i] = begin_send(comm, &x[i..i + 1], next(comm), 10 + i % 2);
        }
        let mut y = vec![0.0; 4];
        for i in 0..4 {
            finish_receive(comm, receives[3 - i], &mut y[3 - i..4 - i]);
        }
        for i in 0..4 {
            finish_send(comm, sends[i]);
        }
        y[0] * y[1].sin() + y[2] * y[3] * y[3]
    }

    in_helpers(3) |comm, x| {
        let y = passed_twice(*comm, x);
        let z = passed(*comm, &y, 4);
        y[0] * z[1] + z[2]
    }

    in_closures(2) |comm, x| {
        let share = |v: f64| sum(comm, v * v);
        let mean = |v: f64| share(v) / comm.size as f64;
        mean(x[0]) * x[1] + share(mean(x[1]))
    }

    sums_of_sums(2) |comm, x| {
        let a = sum(comm, x[0]);
        let b = sum(comm, a * x[1]);
        sum(comm, a * b * x[0]) + max(comm, b * x[0]) * min(comm, a + x[1])
    }

    by_a_tree(1) |comm, x| {
        tree(comm, x[0] * x[0]) * x[0]
    }

    reduced_and_broadcast(3) |comm, x| {
        let root = comm.size / 2;
        let mut total = x.to_vec();
        let mut most = [0.0; 3];
        let mut least = [0.0; 3];
        reduce_sum(comm, x, &mut total, root);
        reduce_max(comm, x, &mut most, root);
        reduce_min(comm, x, &mut least, root);
        if comm.rank == root {
            for i in 0..3 {
                total[i] = total[i].sin() * most[i] + least[i];
            }
        }
        broadcast(comm, &mut total, root);
        total[0] * total[1] * x[2]
    }

    from_several_roots(3) |comm, x| {
        let mut y = x.to_vec();
        for root in 0..comm.size {
            broadcast(comm, &mut y[root % 3..], root);
            y[root % 3] *= x[0];
        }
        squares(&y)
    }

    by_the_root(2) |comm, x| {
        let mut all = vec![0.0; if comm.rank == 0 { 2 * comm.size } else { 0 }];
        gather(comm, x, &mut all, 0);
        for i in 1..all.len() {
            all[i] = all[i] * all[i - 1] + 0.5;
        }
        let mut own = [0.0; 2];
        scatter(comm, &all, &mut own, 0);
        own[0] * own[1] * x[0]
    }

    shifted(2) |comm, x| {
        let to = if comm.rank + 1 < comm.size { comm.rank + 1 } else { NOBODY };
        let from = if comm.rank > 0 { comm.rank - 1 } else { NOBODY };
        let mut y = [x[1], x[0]];
        exchange(comm, x, to, &mut y, from, 0);
        send(comm, &y, NOBODY, 1);
        receive(comm, &mut y, NOBODY, 1);
        let request = begin_send(comm, &y, NOBODY, 2);
        finish_send(comm, request);
        y[0] * y[1] * y[1]
    }

    // Nobody uses what comes, and nothing that counts is sent: adjoints match all the same.
    not_used(2) |comm, x| {
        let mut y = [0.0; 2];
        exchange(comm, &[1.0, 2.0], next(comm), &mut y, last(comm), 0);
        let mut z = [0.0; 2];
        exchange(comm, x, next(comm), &mut z, last(comm), 0);
        if comm.rank == 0 {
            return x[0] * y[1];
        }
        y[0] * y[1]
    }

    until_it_is_small(3) |comm, x| {
        let mut y = x.to_vec();
        let mut steps = 0;
        while sum(comm, squares(&y)) > 0.5 && steps < 50 {
            let came = passed(*comm, &y, 1);
            for i in 0..3 {
                y[i] = 0.4 * y[i] + 0.3 * came[i] * came[i].cos();
            }
            steps += 1;
        }
        y[0] * y[1] + y[2] * steps as f64
    }

    from_snapshots(3) |comm, x| {
        let mut y = x.to_vec();
        #[checkpoint(slots = 2)]
        for step in 0..11 {
            let mut came = vec![0.0; 3];
            if step % 3 == 0 {
                exchange(comm, &y, next(comm), &mut came, last(comm), step);
            } else {
                all_reduce_max(comm, &y, &mut came);
            }
            let total = sum(comm, y[0]);
            for i in 0..3 {
                y[i] = (0.5 * y[i] + 0.25 * came[i] * x[i]).sin() + 0.01 * total;
            }
        }
        squares(&y)
    }

    from_snapshots_until(2) |comm, x| {
        let mut y = x.to_vec();
        let mut far = true;
        #[checkpoint(slots = 2)]
        while far {
            let before = y.clone();
            exchange(comm, &before, next(comm), &mut y, last(comm), 0);
            for i in 0..2 {
                y[i] = 0.8 * y[i] * before[i].cos();
            }
            far = max(comm, y[0].abs()) > 0.2;
        }
        y[0] * y[1] + y[1]
    }

    snapshots_in_snapshots(2) |comm, x| {
        let mut y = x.to_vec();
        #[checkpoint(slots = 2)]
        for _ in 0..4 {
            let mut z = y.clone();
            #[checkpoint(slots = 2)]
            for _ in 0..5 {
                let came = passed(*comm, &z, 0);
                for i in 0..2 {
                    z[i] = 0.7 * z[i] + 0.2 * (came[i] * y[i]).sin();
                }
            }
            y[0] = z[1] + 0.1 * z[0];
            y[1] = z[0];
        }
        y[0] * y[1]
    }

    fields_of_structs(4) |comm, x| {
        let mut field = Field { u: x[..2].to_vec(), v: vec![0.0; 2] };
        for _ in 0..3 {
            exchange(comm, &field.u, next(comm), &mut field.v, last(comm), 0);
            for i in 0..2 {
                field.u[i] = field.v[i] * x[i + 2];
            }
        }
        squares(&field.u) + field.v[0]
    }

    rows(6) |comm, x| {
        let mut rows = [[0.0; 3]; 2];
        for i in 0..2 {
            for j in 0..3 {
                rows[i][j] = x[3 * i + j] * x[j];
            }
        }
        let mut came = [[0.0; 3]; 2];
        for i in 0..2 {
            exchange(comm, &rows[i], next(comm), &mut came[1 - i], last(comm), i);
        }
        came[0][0] * came[1][1] * came[0][2] * rows[1][0]
    }

    itself_again(2) |comm, x| {
        again(comm.id, comm.rank, comm.size, x, 4)
    }

    constants_between(3) |comm, x| {
        let mut y = [0.0; 3];
        let mut k = [0];
        exchange(comm, x, next(comm), &mut y, last(comm), 0);
        constant::index::exchange(comm, &[comm.rank % 3], next(comm), &mut k, last(comm), 0);
        let mut z = [0.0; 3];
        exchange(comm, &y, next(comm), &mut z, last(comm), 0);
        y[k[0]] * z[0] * z[1]
    }

    both_ways_at_once(3) |comm, x| {
        let mut up = [0.0; 3];
        let mut down = [0.0; 3];
        let a = begin_receive(comm, 3, last(comm), 1);
        let b = begin_receive(comm, 3, next(comm), 2);
        let c = begin_send(comm, x, next(comm), 1);
        let mut inner = 0.0;
        for i in 1..3 {
            inner += x[i] * x[i - 1];
        }
        let d = begin_send(comm, &[inner, x[0], x[1]], last(comm), 2);
        finish_receive(comm, b, &mut down);
        finish_send(comm, d);
        finish_send(comm, c);
        finish_receive(comm, a, &mut up);
        inner * up[0] * down[0] + down[1] * up[2]
    }

    waits(2) |comm, x| {
        let mut own = 0.0;
        for i in 0..3 {
            barrier(comm);
            own += sum(comm, x[i % 2] * x[0]);
        }
        barrier(comm);
        own * x[1]
    }

    turned_twice(8) |comm, x| {
        let n = 8 / comm.size * comm.size;
        let mut y = vec![0.0; n];
        all_to_all(comm, &x[..n], &mut y);
        for i in 0..n {
            y[i] = y[i] * x[i];
        }
        let mut z = vec![0.0; n];
        all_to_all(comm, &y, &mut z);
        squares(&z)
    }

    products(2) |comm, x| {
        let mut p = [0.0; 2];
        all_reduce_product(comm, x, &mut p);
        p[0] * product(comm, x[1] * p[1]) * x[0]
    }
}

/// Which rank is first does not show in what is added up.
#[gradient]
fn whoever(comm: &Comm, x: &[f64]) -> f64 {
    let mut own = x[0];
    if comm.rank == 0 {
        for _ in 1..comm.size {
            let mut y = [0.0; 2];
            let from = receive_any(comm, &mut y, 2);
            own += y[0] * y[1] * from as f64;
            send(comm, &[y[0] * 2.0], from, 3);
        }
        return own;
    }
    send(comm, x, 0, 2);
    let mut y = [0.0];
    receive(comm, &mut y, 0, 3);
    y[0] * y[0]
}

#[gradient]
fn rows_and_columns(row: &Comm, column: &Comm, alone: &Comm, x: &[f64]) -> f64 {
    let a = sum(row, x[0] * x[1]);
    let mut most = [0.0];
    all_reduce_max(column, &[a * x[0]], &mut most);
    let mut y = [0.0; 2];
    exchange(row, x, (row.rank + 1) % row.size, &mut y, (row.rank + row.size - 1) % row.size, 0);
    let b = sum(alone, y[0]) * product(alone, y[1]) * max(alone, x[1]);
    broadcast(column, &mut y, column.size - 1);
    a * most[0] + b * y[0]
}

#[gradient]
fn inner(comm: &Comm, x: &[f64]) -> f64 {
    sum(comm, squares(x)) * x[0]
}

/// Calls a function that has a gradient of its own.
#[gradient]
fn outer(comm: &Comm, x: &[f64]) -> f64 {
    inner(comm, &passed(*comm, x, 0)) * x[1]
}

/// Not differentiated with respect to what is sent: its adjoints are received all the same.
#[gradient(wrt(y))]
fn partly(comm: &Comm, x: &[f64], y: &[f64]) -> f64 {
    let mut came = vec![0.0; x.len()];
    exchange(comm, x, next(comm), &mut came, last(comm), 0);
    let mut total = 0.0;
    for i in 0..y.len() {
        total += came[i] * y[i] * y[i];
    }
    sum(comm, total)
}

fn some_ranks(rank: &mut Rank) {
    let comm = rank.comm;
    let wide = if comm.size.is_multiple_of(2) { 2 } else { 1 };
    let row = comm.split(comm.rank / wide, comm.rank).unwrap();
    let column = comm.split(comm.rank % wide, comm.rank).unwrap();
    let alone = comm.split(comm.rank, 0).unwrap();
    rank.expect("sizes", (row.size, column.size, alone.size) == (wide, comm.size / wide, 1));
    rank.check(
        "rows and columns",
        2,
        |_, x| rows_and_columns(&row, &column, &alone, x),
        |_, x, dx, seed| rows_and_columns_grad(&row, &column, &alone, x, dx, seed),
    );
    // In reverse order, and of a part of a part.
    let reversed = comm.split(0, comm.size - 1 - comm.rank).unwrap();
    rank.expect("reversed", reversed.rank == comm.size - 1 - comm.rank);
    all(rank, &reversed, &[]);
    let part = row.split(0, row.size - row.rank).unwrap();
    rank.check(
        "a part of a part",
        2,
        |_, x| inner(&part, x),
        |_, x, dx, seed| inner_grad(&part, x, dx, seed),
    );
}

#[gradient]
fn largest(comm: &Comm, x: &[f64]) -> f64 {
    max(comm, x[0])
}

#[gradient]
fn product_of(comm: &Comm, x: &[f64]) -> f64 {
    product(comm, x[0])
}

/// Zeros of products and ties, where differences cannot tell.
fn kinks(rank: &mut Rank) {
    let (comm, seed) = (rank.comm, rank.comm.seed());
    let here = comm.rank;
    let of_largest = |x: f64| {
        let mut dx = [0.0; 2];
        largest_grad(&comm, &[x, 0.0], &mut dx, seed);
        dx[0]
    };
    // All ranks but the first have the largest number.
    let expected = if here == usize::from(comm.size > 1) { 1.0 } else { 0.0 };
    let found = of_largest(if here == 0 && comm.size > 1 { 1.0 } else { 2.0 });
    rank.expect("a tie without rank 0", found == expected);
    rank.expect("a tie of zeros", of_largest(if here % 2 == 0 { 0.0 } else { -0.0 }) == seed);
    for zeros in 1..=2.min(comm.size) {
        let of = |q: usize| if q + zeros >= comm.size { 0.0 } else { 2.0 };
        let mut dx = [0.0; 2];
        product_of_grad(&comm, &[of(here), 0.0], &mut dx, seed);
        let others: f64 = (0..comm.size).filter(|q| *q != here).map(of).product();
        rank.expect(&format!("{zeros} zeros"), dx[0] == others);
    }
}

fn main() {
    let mut rank = Rank::new();
    let comm = rank.comm;
    all(&mut rank, &comm, &[]);
    let checked = Comm::new(&rank.world()).unwrap().checked().unwrap();
    // Checks want messages to be received in the order in which they are sent.
    all(&mut rank, &checked, &["requests_in_a_list", "both_ways_at_once"]);
    some_ranks(&mut rank);
    kinks(&mut rank);
    rank.check("outer", 2, outer, outer_grad);
    let x = [1.0 + comm.rank as f64, 0.5];
    rank.check(
        "partly",
        2,
        |comm, y| partly(comm, &x, y),
        |comm, y, dy, seed| partly_grad(comm, &x, y, dy, seed),
    );
    let spread = Spread::of(&comm, (comm.rank % 2) as f64).unwrap();
    let most = if comm.size > 1 { (1.0, 1) } else { (0.0, 0) };
    let mean = (comm.size / 2) as f64 / comm.size as f64;
    rank.expect("statistics", spread == Spread { least: (0.0, 0), mean, most });
    // Bits depend on who is first, beyond two ranks.
    let mut dx = [0.0; 2];
    whoever_grad(&comm, &x, &mut dx, 1.0);
    let expected = match comm.rank {
        0 => [1.0, 0.0],
        q => [q as f64 * x[1] + 2.0 * 4.0 * x[0], q as f64 * x[0]],
    };
    let right = dx.iter().zip(expected).all(|(a, b)| close(*a, b, 1e-14));
    rank.expect("whoever comes first", right);
    // With seeds of zero everything is zero, and nobody waits.
    let mut dx = [0.0; 2];
    outer_grad(&comm, &x, &mut dx, 0.0);
    rank.expect("seeds of zero", dx == [0.0; 2]);
    rank.finish("programs");
}
