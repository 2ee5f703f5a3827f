//! All ranks of a program, one event after the other, on a list of operations that is differentiated by hand.

use std::collections::HashMap;

use crate::generate::{Event, Message, SLOTS, Together};
use stratape_mpi::NOBODY;

/// Operations with their values and the derivatives with respect to what they are made of.
#[derive(Default)]
struct Operations {
    values: Vec<f64>,
    parts: Vec<Vec<(usize, f64)>>,
}

impl Operations {
    fn push(&mut self, value: f64, parts: Vec<(usize, f64)>) -> usize {
        self.values.push(value);
        self.parts.push(parts);
        self.values.len() - 1
    }

    /// A sum with factors.
    fn sum(&mut self, of: Vec<(usize, f64)>) -> usize {
        let value = of.iter().map(|(x, factor)| self.values[*x] * factor).sum();
        self.push(value, of)
    }

    fn times(&mut self, a: usize, b: usize) -> usize {
        let (va, vb) = (self.values[a], self.values[b]);
        self.push(va * vb, vec![(a, vb), (b, va)])
    }

    fn sin(&mut self, a: usize) -> usize {
        let value = self.values[a];
        self.push(value.sin(), vec![(a, value.cos())])
    }

    /// The largest, or the least with a sign of -1; of several the first.
    fn best(&mut self, of: &[usize], sign: f64) -> usize {
        let mut found = of[0];
        for x in of {
            if sign * self.values[*x] > sign * self.values[found] {
                found = *x;
            }
        }
        self.push(self.values[found], vec![(found, 1.0)])
    }
}

type Slots = Vec<Vec<usize>>;

/// The results of all ranks, and the gradient of their sum with seeds with respect to all numbers.
pub(crate) fn gradient(
    program: &[&Event],
    x: &[Vec<f64>],
    seeds: &[f64],
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut ops = Operations::default();
    let mut s: Slots =
        x.iter().map(|x| x.iter().map(|x| ops.push(*x, Vec::new())).collect()).collect();
    let mut under_way: HashMap<usize, Vec<usize>> = HashMap::new();
    for event in program {
        run(event, &mut ops, &mut s, &mut under_way);
    }
    let mut values = Vec::new();
    let mut adjoints = vec![0.0; ops.values.len()];
    for (slots, seed) in s.iter().zip(seeds) {
        let mut own = 0.0;
        for (i, slot) in slots.iter().enumerate() {
            let (v, weight) = (ops.values[*slot], (i + 1) as f64);
            own += v * v * weight;
            adjoints[*slot] += 2.0 * v * weight * seed;
        }
        values.push(own);
    }
    for at in (0..adjoints.len()).rev() {
        for (part, derivative) in &ops.parts[at] {
            adjoints[*part] += derivative * adjoints[at];
        }
    }
    let gradients = adjoints[..x.len() * SLOTS].chunks(SLOTS).map(<[f64]>::to_vec).collect();
    (values, gradients)
}

fn run(
    event: &Event,
    ops: &mut Operations,
    s: &mut Slots,
    under_way: &mut HashMap<usize, Vec<usize>>,
) {
    let sent = |s: &Slots, m: &Message| s[m.from][m.source..m.source + m.len].to_vec();
    match event {
        Event::Local { rank, a, b } => {
            let slots = &mut s[*rank];
            let product = ops.times(slots[*a], slots[*b]);
            let sine = ops.sin(product);
            slots[*a] = ops.sum(vec![(sine, 1.0), (slots[*a], 0.5)]);
        }
        Event::Send(m) | Event::BeginSend(m) => {
            under_way.insert(m.number, sent(s, m));
        }
        Event::FinishSend(_) | Event::BeginReceive(_) => {}
        Event::Receive(m) | Event::FinishReceive(m) | Event::ReceiveAny(m) => {
            let came = under_way.remove(&m.number).unwrap();
            s[m.to][m.target..m.target + m.len].copy_from_slice(&came);
            if matches!(event, Event::ReceiveAny(_)) {
                let slot = &mut s[m.to][m.target];
                *slot = ops.sum(vec![(*slot, 1.0 + 0.25 * m.from as f64)]);
            }
        }
        Event::Exchange { to, source, target, len, .. } => {
            let before = s.clone();
            for (from, to) in to.iter().enumerate().filter(|(_, to)| **to != NOBODY) {
                s[*to][*target..target + len].copy_from_slice(&before[from][*source..source + len]);
            }
        }
        Event::Together(together) => run_together(together, ops, s),
    }
}

fn run_together(
    &Together { what, source, target, len, root }: &Together,
    ops: &mut Operations,
    s: &mut Slots,
) {
    let before = s.clone();
    let size = s.len();
    let scale = 1.0 / (size * size) as f64;
    if what == 17 {
        for (rank, slots) in s.iter_mut().enumerate() {
            let mut parts = Vec::new();
            for (q, theirs) in before.iter().enumerate() {
                let weight = scale * (q + 2) as f64;
                parts.push((theirs[source], weight * (rank + 1) as f64));
                parts.push((theirs[target], weight));
            }
            let sum = ops.sum(parts);
            slots[target] = ops.sin(sum);
        }
        return;
    }
    for i in 0..len {
        let column: Vec<usize> = before.iter().map(|slots| slots[source + i]).collect();
        for rank in 0..size {
            let old = before[rank][target + i];
            let new = match what {
                9 => s[rank][target + i],
                10 => ops.sum(column.iter().map(|x| (*x, 1.0)).collect()),
                11 => ops.best(&column, 1.0),
                12 => column[1..].iter().fold(column[0], |a, b| ops.times(a, *b)),
                13 if rank == root => ops.sum(column.iter().map(|x| (*x, 1.0)).collect()),
                14 if rank == root => ops.best(&column, -1.0),
                13 | 14 => old,
                15 => {
                    let parts =
                        column.iter().enumerate().map(|(q, x)| (*x, scale * (q + 1) as f64));
                    ops.sum(parts.collect())
                }
                16 => ops.times(column[rank], column[rank]),
                _ => return,
            };
            match what {
                9 => s[rank][source + i] = column[root],
                16 => s[rank][target + i] = new,
                _ => s[rank][target + i] = ops.sin(new),
            }
        }
    }
}
