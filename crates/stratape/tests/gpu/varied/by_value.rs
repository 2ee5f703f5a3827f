//! Structs and numbers by value.

use crate::differences::{agree, numbers, weighted, weights};
use stratape::gpu::{Device, Grid, fresh};

use super::{holds, lines};

#[stratape::device]
#[derive(Clone, Copy)]
struct Inner {
    t: (f64, u32),
    u: [[f64; 2]; 2],
}

#[stratape::device]
#[derive(Clone, Copy)]
struct Mixed {
    a: f32,
    n: u32,
    b: f64,
    unused: f64,
    c: [f32; 2],
    k: i32,
    inner: Inner,
}

#[stratape::device]
fn inside(inner: &Inner, x: f64) -> f64 {
    let mut sum = inner.t.0 * x;
    for k in 0..inner.t.1 {
        sum += inner.u[k as usize % 2][(k as usize / 2) % 2] * sum.sin();
    }
    sum
}

#[stratape::device]
fn changed(mut m: Mixed, x: f64) -> Mixed {
    m.b *= x;
    m.inner.u[0][1] += m.b;
    m.inner.t.0 = m.inner.u[0][1] * m.b;
    m
}

#[stratape::kernel]
#[gradient]
fn mixed(y: &mut [f64], m: Mixed, x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= x.len() {
        return;
    }
    let mut v = y[i];
    if m.b > 0.0 && m.k < 0 {
        for _ in 0..m.n {
            v = v * m.b + f64::from(m.a) * inside(&m.inner, x[i]);
        }
    } else {
        v *= f64::from(m.c[0]);
    }
    let changed = changed(m, x[i]);
    y[i] = v + inside(&changed.inner, v) * f64::from(m.c[i % 2]) + m.inner.t.0;
}

fn mixed_of(v: &[f64], k: i32) -> Mixed {
    let inner = Inner { t: (v[5], 5), u: [[v[6], v[7]], [v[8], v[9]]] };
    Mixed { a: v[0] as f32, n: 2, b: v[1], unused: v[2], c: [v[3] as f32, v[4] as f32], k, inner }
}

#[test]
fn structs_in_branches_and_loops() {
    let gpu = Device::new().unwrap();
    let n = 9;
    for k in [-1, 1] {
        for grid in lines() {
            let mut at: Vec<f64> = numbers(n + 10 + n).iter().map(|v| 0.4 * v).collect();
            let run = |at: &[f64]| {
                let (mut y, x) =
                    (gpu.upload(&at[..n]).unwrap(), gpu.upload(&at[n + 10..]).unwrap());
                mixed::launch(&gpu, &grid, (&mut y, mixed_of(&at[n..], k), &x)).unwrap();
                weighted(&y.download().unwrap())
            };
            let (mut y, x) = (gpu.upload(&at[..n]).unwrap(), gpu.upload(&at[n + 10..]).unwrap());
            let (mut dy, mut dx) = (gpu.upload(&weights(n)).unwrap(), gpu.zeros(n).unwrap());
            let mut dm = gpu.upload(&[3.0; 10]).unwrap();
            let m = mixed_of(&at[n..], k);
            for _ in 0..2 {
                y.write(&at[..n]).unwrap();
                dy.write(&weights(n)).unwrap();
                mixed_grad::launch(
                    &gpu,
                    &grid,
                    (&mut y, &mut dy, m, fresh(&mut dm), &x, fresh(&mut dx)),
                )
                .unwrap();
            }
            let mut found = dy.download().unwrap();
            found.extend(dm.download().unwrap());
            found.extend(dx.download().unwrap());
            assert_eq!(found[n + 2], 0.0);
            agree(run, &at, &found, 2e-3);
            // More closely without the f32.
            let f32s = [n, n + 3, n + 4];
            let fixed: Vec<f64> = f32s.iter().map(|k| at[*k]).collect();
            for k in f32s.iter().rev() {
                at.remove(*k);
                found.remove(*k);
            }
            let run = |at: &[f64]| {
                let mut at = at.to_vec();
                for (k, v) in f32s.iter().zip(&fixed) {
                    at.insert(*k, *v);
                }
                run(&at)
            };
            agree(run, &at, &found, 1e-6);
        }
    }
}

#[stratape::device]
#[derive(Clone, Copy)]
struct Counts {
    n: u32,
    from: [u8; 2],
}

#[stratape::kernel]
#[gradient]
fn integers(
    y: &mut [f64],
    counts: Counts,
    list: [Inner; 2],
    pairs: [(f64, i64); 3],
    (a, b): (f64, f64),
) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        let mut v = y[i];
        let mut k = counts.from[i % 2] as usize;
        while k < counts.n as usize {
            v += list[(k + i) % 2].u[k % 2][i % 2] * v.cos() * a;
            k += 1;
        }
        let (weight, times) = pairs[i % 3];
        if times > 1 {
            v = v * weight + b;
        }
        y[i] = v * list[1].t.0;
    }
}

#[test]
fn lists_of_structs() {
    let counts = Counts { n: 6, from: [1, 4] };
    let of = |v: &[f64]| {
        let inner = |v: &[f64]| Inner { t: (v[0], 7), u: [[v[1], v[2]], [v[3], v[4]]] };
        ([inner(v), inner(&v[5..])], [(v[10], 1), (v[11], 2), (v[12], 3)], (v[13], v[14]))
    };
    holds(
        &lines(),
        11,
        &numbers(11 + 15),
        |gpu, grid, y, v| {
            let (list, pairs, ab) = of(v);
            integers::launch(gpu, grid, (y, counts, list, pairs, ab)).unwrap();
        },
        |gpu, grid, y, dy, v| {
            let (list, pairs, ab) = of(v);
            let (mut dlist, mut dpairs, mut dab) =
                (gpu.zeros(10).unwrap(), gpu.zeros(3).unwrap(), gpu.zeros(2).unwrap());
            integers_grad::launch(
                gpu,
                grid,
                (y, dy, counts, list, &mut dlist, pairs, &mut dpairs, ab, &mut dab),
            )
            .unwrap();
            [dlist.download().unwrap(), dpairs.download().unwrap(), dab.download().unwrap()]
                .concat()
        },
    );
}

#[stratape::kernel]
#[gradient(wrt(y, c))]
fn left_out(y: &mut [f64], m: Mixed, c: [[f64; 2]; 2], pair: (f64, u32)) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = y[i] * m.b * pair.0 + c[i % 2][i / 2 % 2].powi(pair.1 as i32);
    }
}

#[test]
fn structs_left_out() {
    let m = mixed_of(&numbers(10), 0);
    holds(
        &lines(),
        5,
        &numbers(9),
        |gpu, grid, y, c| {
            left_out::launch(gpu, grid, (y, m, [[c[0], c[1]], [c[2], c[3]]], (1.5, 3))).unwrap();
        },
        |gpu, grid, y, dy, c| {
            let mut dc = gpu.zeros(4).unwrap();
            let c = [[c[0], c[1]], [c[2], c[3]]];
            left_out_grad::launch(gpu, grid, (y, dy, m, c, &mut dc, (1.5, 3))).unwrap();
            dc.download().unwrap()
        },
    );
}

#[stratape::device]
fn advance(m: &mut Inner, by: f64) {
    m.t.0 += by * m.u[1][0];
    m.u[1][0] *= m.t.0;
    m.t.1 -= 1;
}

/// A struct by value that the kernel changes, in a loop that ends by its integer, and with barriers and shared memory.
#[stratape::kernel]
#[gradient]
fn state(y: &mut [f64], mut m: Inner, x: &[f64]) {
    let mut tile = shared::<[f64; 8]>();
    let (t, i) = (thread_idx().x, thread_idx().x + block_idx().x * block_dim().x);
    tile[t] = if i < x.len() { x[i] * m.u[0][0] } else { m.t.0 };
    sync_threads();
    let left = tile[(t + 7) % 8];
    while m.t.1 > 0 {
        advance(&mut m, 0.1 * left);
    }
    if i < y.len() {
        y[i] += m.t.0 * m.u[1][0] + m.u[1][1];
    }
}

#[test]
fn structs_that_change() {
    let of = |v: &[f64]| Inner { t: (v[0], 3), u: [[v[1], v[2]], [v[3], v[4]]] };
    holds(
        &[Grid::blocks(1).threads(8), Grid::blocks(2).threads(8), Grid::blocks(4).threads(8)],
        10,
        &numbers(25),
        |gpu, grid, y, v| {
            let x = gpu.upload(&v[5..]).unwrap();
            state::launch(gpu, grid, (y, of(v), &x)).unwrap();
        },
        |gpu, grid, y, dy, v| {
            let x = gpu.upload(&v[5..]).unwrap();
            let (mut dm, mut dx) = (gpu.zeros(5).unwrap(), gpu.zeros(10).unwrap());
            state_grad::launch(gpu, grid, (y, dy, of(v), &mut dm, &x, &mut dx)).unwrap();
            [dm.download().unwrap(), dx.download().unwrap()].concat()
        },
    );
}
