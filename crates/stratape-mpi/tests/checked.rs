//! What goes wrong between ranks comes back as an error that names the rank and the operation, and no rank waits for ever.
//!
//! A rank that gets no error in its forward pass would wait for adjoints that never come: where only one side can know, the other one runs the plain function.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Rank;
use stratape::tape::TapeError;
use stratape::{Workspace, gradient};
use stratape_mpi::{
    Comm, Fault, MpiError, NOBODY, all_gather_counts, all_reduce_max, all_reduce_sum, all_to_all,
    barrier, begin_receive, begin_send, broadcast, exchange, finish_receive, finish_send,
    gather_counts, receive, reduce_sum, send, single, sum,
};

/// Rank 0 sends, rank 1 receives.
#[gradient(wrt(x))]
fn pair(comm: &Comm, x: &[f64], len: usize, tag: usize) -> f64 {
    let mut y = vec![0.0; len];
    if comm.rank == 0 {
        send(comm, x, 1, tag);
    }
    if comm.rank == 1 {
        receive(comm, &mut y, 0, tag);
    }
    y.iter().sum::<f64>()
}

/// As `pair`, in the background.
#[gradient(wrt(x))]
fn background(comm: &Comm, x: &[f64], len: usize, tag: usize) -> f64 {
    let mut y = vec![0.0; len];
    if comm.rank == 0 {
        let request = begin_send(comm, x, 1, tag);
        finish_send(comm, request);
    }
    if comm.rank == 1 {
        let request = begin_receive(comm, len, 0, tag);
        finish_receive(comm, request, &mut y);
    }
    y.iter().sum::<f64>()
}

/// Rank 0 sends numbers of four bytes.
#[gradient(wrt(x))]
fn types(comm: &Comm, x: &[f64], narrow: &[f32]) -> f64 {
    let mut y = vec![0.0; x.len()];
    if comm.rank == 0 {
        single::send(comm, narrow, 1, 0);
    }
    if comm.rank == 1 {
        receive(comm, &mut y, 0, 0);
    }
    y[0] * x[0]
}

/// A collective operation, which may be another one on each rank.
#[gradient(wrt(x, narrow))]
fn together(
    comm: &Comm,
    x: &[f64],
    narrow: &[f32],
    counts: &[usize],
    (what, len, root): (usize, usize, usize),
) -> f64 {
    let mut y = vec![0.0; len];
    match what {
        0 => all_reduce_sum(comm, x, &mut y),
        1 => all_reduce_max(comm, x, &mut y),
        2 => reduce_sum(comm, x, &mut y, root),
        3 => {
            y.copy_from_slice(x);
            broadcast(comm, &mut y, root);
        }
        4 => gather_counts(comm, x, &mut y, counts, root),
        5 => all_gather_counts(comm, x, &mut y, counts),
        6 => all_to_all(comm, x, &mut y),
        7 => {
            let mut z = vec![0.0; len];
            single::all_reduce_sum(comm, narrow, &mut z);
            y[0] = z[0] as f64;
        }
        _ => barrier(comm),
    }
    y.iter().sum::<f64>()
}

/// Messages of a rank to itself, finished in ways that they should not be.
#[gradient(wrt(x))]
fn requests(comm: &Comm, other: &Comm, x: &[f64], kind: usize) -> f64 {
    let mut y = vec![0.0; x.len()];
    let mut narrow = [0.0_f32; 2];
    let r = begin_receive(comm, 2, comm.rank, 0);
    let s = begin_send(comm, x, comm.rank, 0);
    match kind {
        0 => {
            finish_send(comm, s);
            finish_receive(comm, r, &mut y);
            finish_send(comm, s);
        }
        1 => {
            finish_send(comm, s);
            finish_receive(comm, r, &mut y);
            finish_receive(comm, r, &mut y);
        }
        2 => finish_receive(comm, r, &mut y),
        3 => finish_send(comm, s),
        4 => finish_receive(comm, s, &mut y),
        5 => finish_send(comm, r),
        6 => finish_send(other, s),
        7 => finish_receive(comm, r, &mut y[0..1]),
        8 => single::finish_receive(comm, r, &mut narrow),
        9 => finish_send(comm, 1000),
        _ => {
            finish_send(comm, s);
            finish_receive(comm, r, &mut y);
        }
    }
    y[0] * y[1] * x[0] + narrow[0] as f64
}

#[gradient(wrt(x))]
fn nowhere(comm: &Comm, x: &[f64], to: usize, tag: usize) -> f64 {
    let mut y = x.to_vec();
    exchange(comm, x, to, &mut y, NOBODY, tag);
    sum(comm, y[0])
}

#[gradient(wrt(x))]
fn round(comm: &Comm, x: &[f64], tag: usize) -> f64 {
    let next = (comm.rank + 1) % comm.size;
    let last = (comm.rank + comm.size - 1) % comm.size;
    let mut y = x.to_vec();
    exchange(comm, x, next, &mut y, last, tag);
    y[0]
}

/// A request that lives longer than an iteration of a loop whose iterations are repeated.
#[gradient(wrt(x))]
fn across(comm: &Comm, x: &[f64], steps: usize) -> f64 {
    let mut y = x.to_vec();
    let mut request = NOBODY;
    #[checkpoint(slots = 2)]
    for _ in 0..steps {
        finish_send(comm, request);
        request = begin_send(comm, &y, comm.rank, 0);
        let mut z = vec![0.0; y.len()];
        receive(comm, &mut z, comm.rank, 0);
        for i in 0..y.len() {
            y[i] = z[i].sin();
        }
    }
    finish_send(comm, request);
    y[0]
}

/// A program without mistakes.
#[gradient]
fn right(comm: &Comm, x: &[f64]) -> f64 {
    let next = (comm.rank + 1) % comm.size;
    let last = (comm.rank + comm.size - 1) % comm.size;
    let mut y = x.to_vec();
    exchange(comm, x, next, &mut y, last, 1);
    let r = begin_receive(comm, 2, next, 2);
    let s = begin_send(comm, &y[0..2], last, 2);
    let mut z = [0.0; 2];
    finish_receive(comm, r, &mut z);
    finish_send(comm, s);
    let mut t = [0.0; 2];
    all_reduce_sum(comm, &z, &mut t);
    reduce_sum(comm, &z, &mut y[0..2], 0);
    broadcast(comm, &mut y, comm.size - 1);
    barrier(comm);
    t[0] * t[1].sin() + y[0] * x[0]
}

/// The error of an operation behind that of a gradient.
fn error<T>(result: Result<T, TapeError>) -> MpiError {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => match MpiError::of(&error) {
            Some(error) => error.clone(),
            None => panic!("another error: {error}"),
        },
    }
}

/// A fresh communicator for each case: after an error its messages are no longer in step.
fn fresh(rank: &Rank) -> Comm {
    Comm::new(&rank.world()).unwrap().checked().unwrap()
}

fn found(rank: &mut Rank, name: &str, error: &MpiError, contains: &[&str]) {
    let text = error.to_string();
    rank.expect(&format!("{name}: its rank in `{text}`"), error.rank == rank.comm.rank);
    for part in contains {
        rank.expect(&format!("{name}: `{part}` in `{text}`"), text.contains(part));
    }
}

/// Rank 0 sends what rank 1 does not expect.
fn messages(rank: &mut Rank) {
    let here = rank.comm.rank;
    let mut workspace = Workspace::new();
    // Long ones are not sent before somebody receives them.
    for len in [3, 200_000] {
        for (name, expected, tag) in
            [("tag", len, 2), ("too short", len - 1, 1), ("too long", len + 1, 1)]
        {
            let comm = fresh(rank);
            let (x, mut dx) = (vec![1.0; len], vec![0.0; len]);
            match here {
                0 => drop(pair(&comm, &x, len, 1)),
                1 => {
                    let result =
                        pair_grad_in(&mut workspace, &comm, &x, &mut dx, expected, tag, 1.0);
                    let place = format!("receive from rank 0, tag {tag}");
                    let sent = format!("rank 0 sent {len} active numbers (f64) with tag 1");
                    found(rank, name, &error(result), &[&place, &sent]);
                }
                _ => {}
            }
            let comm = fresh(rank);
            match here {
                0 => drop(background(&comm, &x, len, 1)),
                1 => {
                    let result =
                        background_grad_in(&mut workspace, &comm, &x, &mut dx, expected, tag, 1.0);
                    found(rank, name, &error(result), &["finish receive", "rank 0 sent"]);
                }
                _ => {}
            }
        }
    }
    // Each rank with a tag of its own: all of them hear of it.
    for len in [3, 200_000] {
        let comm = fresh(rank);
        let (x, mut dx) = (vec![1.0; len], vec![0.0; len]);
        let result = round_grad_in(&mut workspace, &comm, &x, &mut dx, here, 1.0);
        let expected = format!("expected are {len} active numbers (f64) with tag {here}");
        found(rank, "exchange", &error(result), &["exchange, tag", &expected]);
    }
    let comm = fresh(rank);
    match here {
        0 => drop(types(&comm, &[1.0], &[2.0])),
        1 => {
            let result = types_grad_in(&mut workspace, &comm, &[1.0], &mut [0.0], &[2.0], 1.0);
            found(
                rank,
                "type",
                &error(result),
                &["1 active number (f32)", "1 active number (f64)"],
            );
        }
        _ => {}
    }
    // Without checks, a message that is too short is found as well.
    let comm = Comm::new(&rank.world()).unwrap();
    match here {
        0 => drop(pair(&comm, &[1.0], 1, 1)),
        1 => {
            let result = pair_grad_in(&mut workspace, &comm, &[1.0], &mut [0.0], 4, 1, 1.0);
            let error = error(result);
            let short = error.fault == Fault::Length { expected: 4, came: 1 };
            rank.expect("too short without checks", short);
        }
        _ => {}
    }
}

/// Ranks do different things together: all of them hear of it.
fn collective(rank: &mut Rank) {
    let (here, size) = (rank.comm.rank, rank.comm.size);
    let mut workspace = Workspace::new();
    let even: Vec<usize> = vec![2; size];
    let odd: Vec<usize> = (0..size).map(|q| if q == 0 { 1 } else { 2 }).collect();
    let first = here == 0;
    let cases: [(&str, usize, usize, usize, usize, &str); 9] = [
        ("operation", if first { 8 } else { 3 }, 2, 2, 0, "this rank does"),
        ("kind of reduction", usize::from(first), 2, 2, 0, "all-reduce ("),
        ("length", 0, 2 + usize::from(first), 2 + usize::from(first), 0, "length of all-reduce"),
        ("root", 3, 2, 2, usize::from(first), "root of broadcast"),
        (
            "type",
            if first { 7 } else { 0 },
            2,
            2,
            0,
            "ranks differ in the type of all-reduce (sum)",
        ),
        ("counts", 5, 2, if first { 2 * size } else { 2 * size - 1 }, 0, "counts of all-gather"),
        ("a short result", 0, 2, if first { 1 } else { 2 }, 0, ""),
        ("no such root", 3, 2, 2, size, ""),
        ("no equal blocks", 6, 2 * size + 1, 2 * size + 1, 0, "equal blocks"),
    ];
    for (name, what, len, result, root, text) in cases {
        if size == 1 && !text.is_empty() {
            continue;
        }
        let comm = fresh(rank);
        let (x, mut dx) = (vec![1.0; len], vec![0.0; len]);
        let (narrow, mut dnarrow) = (vec![1.0_f32; len], vec![0.0_f32; len]);
        let counts = if first { &even } else { &odd };
        let result = together_grad_in(
            &mut workspace,
            &comm,
            &x,
            &mut dx,
            &narrow,
            &mut dnarrow,
            counts,
            (what, result, root),
            1.0,
        );
        let error = error(result);
        found(rank, name, &error, &[text]);
        let kind = matches!(error.fault, Fault::Mismatch(_) | Fault::Argument(_));
        rank.expect(&format!("{name}: {error}"), kind);
    }
    let comm = fresh(rank);
    if size > 2 {
        // The same number in all, in other parts.
        let counts: Vec<usize> = match here {
            0 => vec![2; size],
            _ => (0..size)
                .map(|q| [2, 1, 3].get((q + size - here) % size).map_or(2, |n| *n))
                .collect(),
        };
        let result = together_grad_in(
            &mut workspace,
            &comm,
            &[1.0; 2],
            &mut [0.0; 2],
            &[],
            &mut [],
            &counts,
            (4, 2 * size, 0),
            1.0,
        );
        found(rank, "other parts", &error(result), &["ranks differ in the counts of gather"]);
    }
}

/// Each rank by itself.
fn alone(rank: &mut Rank) {
    let mut workspace = Workspace::new();
    let texts = [
        "is not under way",
        "is not under way",
        "was never finished",
        "was never finished",
        "is a send",
        "is a receive",
        "is not under way",
        "the message has 2 numbers, 1 were expected",
        "another type of number",
        "request 1000 is not under way",
    ];
    for (kind, text) in texts.iter().enumerate() {
        let (comm, other) = (fresh(rank), fresh(rank));
        let mut dx = [0.0; 2];
        let result =
            requests_grad_in(&mut workspace, &comm, &other, &[1.0, 2.0], &mut dx, kind, 1.0);
        found(rank, &format!("request {kind}"), &error(result), &[text]);
    }
    let (comm, mut dx) = (fresh(rank), [0.0; 2]);
    let done = requests_grad_in(&mut workspace, &comm, &comm, &[1.0, 2.0], &mut dx, 99, 1.0);
    rank.expect(
        "a workspace after errors",
        done.is_ok_and(|value| value == 2.0) && dx == [4.0, 1.0],
    );

    for (to, tag, text) in [(rank.comm.size, 0, "there is no rank"), (0, 40_000, "too large")] {
        let comm = fresh(rank);
        let result = nowhere_grad_in(&mut workspace, &comm, &[1.0], &mut [0.0], to, tag, 1.0);
        found(rank, text, &error(result), &[text, "exchange"]);
    }

    let comm = fresh(rank);
    let result = across_grad_in(&mut workspace, &comm, &[1.0], &mut [0.0], 9, 1.0);
    found(rank, "across iterations", &error(result), &["#[checkpoint]"]);

    let comm = rank.comm;
    let elsewhere = std::thread::spawn(move || {
        let (x, mut dx) = ([1.0], [0.0]);
        error(nowhere_grad_in(&mut Workspace::new(), &comm, &x, &mut dx, NOBODY, 0, 1.0)).fault
    });
    rank.expect("another thread", elsewhere.join().is_ok_and(|fault| fault == Fault::Unknown));
}

fn main() {
    let mut rank = Rank::new();
    if rank.comm.size > 1 {
        messages(&mut rank);
    }
    collective(&mut rank);
    alone(&mut rank);
    let checked = fresh(&rank);
    let plain = rank.comm;
    let x = [1.0 + rank.comm.rank as f64, 0.5, 2.0];
    let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
    let with = right_grad(&checked, &x, &mut a, 1.0);
    let without = right_grad(&plain, &x, &mut b, 1.0);
    rank.expect("the same with checks", with == without && a == b);
    rank.check(
        "with checks",
        3,
        |_, x| right(&checked, x),
        |_, x, dx, seed| right_grad(&checked, x, dx, seed),
    );
    rank.finish("checked");
}
