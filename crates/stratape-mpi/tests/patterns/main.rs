//! Random programs of messages and collective operations, run by one differentiated interpreter and compared with a simulation of all ranks.
//!
//! `STRATAPE_PATTERNS=5000` makes as many, `STRATAPE_SEED=7` others.

#![allow(clippy::unwrap_used, clippy::needless_range_loop, clippy::manual_range_patterns)]

#[path = "../common/mod.rs"]
mod common;
mod generate;
mod simulate;

use common::{Random, Rank, close};
use generate::{SLOTS, WORDS, generate};
use stratape::{differentiable, gradient};
use stratape_mpi::{
    Comm, all_gather, all_reduce_max, all_reduce_product, all_reduce_sum, all_to_all, barrier,
    begin_receive, begin_send, broadcast, exchange, finish_receive, finish_send, gather, receive,
    receive_any, reduce_min, reduce_sum, scatter, send,
};

/// Runs instructions of seven words: what, where, where to (or the request), how many, the other rank or root, the tag, whom an exchange receives from. The numbers are those of `Event::code`.
#[differentiable]
fn run(comm: &Comm, s: &mut [f64], code: &[usize], requests: usize) {
    let mut request = vec![0; requests];
    // So that programs do not blow up the last bits, in which sums over ranks may differ.
    let scale = 1.0 / (comm.size * comm.size) as f64;
    let mut at = 0;
    while at < code.len() {
        let a = code[at + 1];
        let b = code[at + 2];
        let n = code[at + 3];
        let peer = code[at + 4];
        let tag = code[at + 5];
        match code[at] {
            0 => s[a] = (s[a] * s[b]).sin() + 0.5 * s[a],
            1 => send(comm, &s[a..a + n], peer, tag),
            2 => receive(comm, &mut s[a..a + n], peer, tag),
            3 => {
                let from = receive_any(comm, &mut s[a..a + n], tag);
                s[a] *= 1.0 + 0.25 * from as f64;
            }
            4 => request[b] = begin_send(comm, &s[a..a + n], peer, tag),
            5 => finish_send(comm, request[b]),
            6 => request[b] = begin_receive(comm, n, peer, tag),
            7 => finish_receive(comm, request[b], &mut s[a..a + n]),
            8 => {
                let out = s[a..a + n].to_vec();
                let from = code[at + 6];
                exchange(comm, &out, peer, &mut s[b..b + n], from, tag);
            }
            9 => broadcast(comm, &mut s[a..a + n], peer),
            10 | 11 | 12 => {
                let mut y = vec![0.0; n];
                if code[at] == 10 {
                    all_reduce_sum(comm, &s[a..a + n], &mut y);
                } else if code[at] == 11 {
                    all_reduce_max(comm, &s[a..a + n], &mut y);
                } else {
                    all_reduce_product(comm, &s[a..a + n], &mut y);
                }
                for i in 0..n {
                    s[b + i] = y[i].sin();
                }
            }
            13 | 14 => {
                let mut y = s[b..b + n].to_vec();
                if code[at] == 13 {
                    reduce_sum(comm, &s[a..a + n], &mut y, peer);
                } else {
                    reduce_min(comm, &s[a..a + n], &mut y, peer);
                }
                for i in 0..n {
                    s[b + i] = y[i].sin();
                }
            }
            15 => {
                let mut all = vec![0.0; n * comm.size];
                all_gather(comm, &s[a..a + n], &mut all);
                for i in 0..n {
                    let mut t = 0.0;
                    for q in 0..comm.size {
                        t += all[q * n + i] * (q + 1) as f64;
                    }
                    s[b + i] = (t * scale).sin();
                }
            }
            16 => {
                let mut all = vec![0.0; n * comm.size];
                gather(comm, &s[a..a + n], &mut all, peer);
                for v in all.iter_mut() {
                    *v = *v * *v;
                }
                scatter(comm, &all, &mut s[b..b + n], peer);
            }
            17 => {
                let mut out = vec![0.0; comm.size];
                let mut came = vec![0.0; comm.size];
                for q in 0..comm.size {
                    out[q] = s[a] * (q + 1) as f64 + s[b];
                }
                all_to_all(comm, &out, &mut came);
                let mut t = 0.0;
                for q in 0..comm.size {
                    t += came[q] * (q + 2) as f64;
                }
                s[b] = (t * scale).sin();
            }
            _ => barrier(comm),
        }
        at += 7;
    }
}

#[differentiable]
fn result(s: &[f64]) -> f64 {
    let mut own = 0.0;
    for (i, v) in s.iter().enumerate() {
        own += v * v * (i + 1) as f64;
    }
    own
}

#[gradient(wrt(x))]
fn interpret(comm: &Comm, x: &[f64], code: &[usize], requests: usize) -> f64 {
    let mut s = x.to_vec();
    run(comm, &mut s, code, requests);
    result(&s)
}

/// A program several times over, from snapshots: it sends its messages again on the way back.
#[gradient(wrt(x))]
fn repeat(comm: &Comm, x: &[f64], code: &[usize], requests: usize, rounds: usize) -> f64 {
    let mut s = x.to_vec();
    #[checkpoint(slots = 2)]
    for _ in 0..rounds {
        run(comm, &mut s, code, requests);
    }
    result(&s)
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn main() {
    let mut rank = Rank::new();
    let comm = rank.comm;
    let seed = number("STRATAPE_SEED", 1);
    for pattern in 0..number("STRATAPE_PATTERNS", 200) {
        let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(pattern));
        let program = generate(comm.size, &mut random);
        let x: Vec<Vec<f64>> =
            (0..comm.size).map(|_| (0..SLOTS).map(|_| random.number()).collect()).collect();
        let seeds: Vec<f64> = (0..comm.size).map(|_| 1.0 + 0.5 * random.number()).collect();
        let code: Vec<usize> =
            program.iter().flat_map(|event| event.code(comm.rank, comm.size)).flatten().collect();
        assert_eq!(code.len() % WORDS, 0);
        let requests = program.len() * 2;
        let own = &x[comm.rank];
        let rounds = if pattern % 3 == 0 { 4 } else { 1 };
        let repeated: Vec<_> = (0..rounds).flat_map(|_| program.iter()).collect();
        let (values, gradients) = simulate::gradient(&repeated, &x, &seeds);
        let (mut dx, seed_here) = (vec![0.0; SLOTS], seeds[comm.rank]);
        let value = match rounds {
            1 => interpret_grad(&comm, own, &mut dx, &code, requests, seed_here),
            _ => repeat_grad(&comm, own, &mut dx, &code, requests, rounds, seed_here),
        };
        let name = format!("pattern {pattern}, STRATAPE_SEED={seed}");
        let expected = values[comm.rank];
        rank.expect(
            &format!("{name}: the value is {value} for {expected}"),
            close(value, expected, 1e-10),
        );
        for (slot, (found, expected)) in dx.iter().zip(&gradients[comm.rank]).enumerate() {
            rank.expect(
                &format!("{name}: {found} for {expected} at {slot}"),
                close(*found, *expected, 1e-9),
            );
        }
        if pattern % 10 == 0 {
            let alone = repeat(&comm, own, &code, requests, rounds);
            rank.expect(&format!("{name}: the function"), alone.to_bits() == value.to_bits());
        }
    }
    rank.finish("patterns");
}
