//! Rows, columns in strides, `while` loops and tiles of one, two and three axes, with guards and by-value structs.

use crate::common::*;

#[stratape::device]
#[derive(Clone, Copy)]
pub struct Plate {
    pub rows: usize,
    pub columns: usize,
    pub scale: f64,
}

#[stratape::kernel]
#[gradient]
fn softmax_rows(y: &mut [f64], x: &[f64], n: usize) {
    let mut s = shared::<[f64; 64]>();
    let (t, d, row) = (thread_idx().x, block_dim().x, block_idx().x * n);
    let mut top = -1e300;
    for j in (t..n).step_by(d) {
        top = if x[row + j] > top { x[row + j] } else { top };
    }
    s[t] = top;
    sync_threads();
    for k in 0..d {
        top = if s[k] > top { s[k] } else { top };
    }
    sync_threads();
    let mut sum = 0.0;
    for j in (t..n).step_by(d) {
        sum += (x[row + j] - top).exp();
    }
    s[t] = sum;
    sync_threads();
    let mut total = 0.0;
    for k in 0..d {
        total += s[k];
    }
    for j in (t..n).step_by(d) {
        y[row + j] = (x[row + j] - top).exp() / total;
    }
}
#[stratape::kernel]
#[gradient(wrt(out, x))]
fn while_rows(out: &mut [f64], x: &[f64], p: Plate) {
    let mut row = block_idx().x;
    while row < p.rows {
        let mut j = thread_idx().x;
        let mut s = 0.0;
        while j < p.columns {
            s += p.scale * x[row * p.columns + j].sin();
            j += block_dim().x;
        }
        atomic_add(&mut out[row], s * s);
        row += grid_dim().x;
    }
}
// the index after the loop is used
#[stratape::kernel]
#[gradient]
fn index_left(y: &mut [f64], x: &[f64]) {
    let mut i = thread_idx().x + block_idx().x * block_dim().x;
    let first = i;
    let mut s = 0.0;
    while i < x.len() {
        s += x[i] * x[i];
        i += block_dim().x * grid_dim().x;
    }
    if first < y.len() {
        y[first] = s * (i as f64) + x[i % x.len()];
    }
}
// the loop ends early
#[stratape::kernel]
#[gradient]
fn while_breaks(y: &mut [f64], x: &[f64]) {
    let t = thread_idx().x + block_idx().x * block_dim().x;
    let mut i = t;
    let mut s = 1.0;
    while i < x.len() {
        if x[i] > 0.8 {
            break;
        }
        s += x[i] * s * 0.3;
        i += block_dim().x * grid_dim().x;
    }
    if t < y.len() {
        y[t] = s;
    }
}
// the stride grows, the bound shrinks
#[stratape::kernel]
#[gradient]
fn while_grows(y: &mut [f64], x: &[f64]) {
    let t = thread_idx().x + block_idx().x * block_dim().x;
    let (mut i, mut step, mut end) = (t, 1, x.len());
    let mut s = 0.0;
    while i < end {
        s += x[i] * x[i];
        i += step;
        step += 1;
        end -= 1;
    }
    if t < y.len() {
        y[t] = s;
    }
}
// the index also moves in a branch
#[stratape::kernel]
#[gradient]
fn while_skips(y: &mut [f64], x: &[f64]) {
    let t = thread_idx().x + block_idx().x * block_dim().x;
    let mut i = t;
    let mut s = 0.0;
    while i < x.len() {
        s += x[i] * x[i];
        if x[i] > 0.2 {
            i += 1;
        }
        i += block_dim().x;
    }
    if t < y.len() {
        y[t] = s;
    }
}
// a bound that the loop reads from memory
#[stratape::kernel]
#[gradient(wrt(y, x))]
fn ragged(y: &mut [f64], x: &[f64], starts: &[usize]) {
    let row = block_idx().x;
    let mut j = starts[row] + thread_idx().x;
    let mut s = 0.0;
    while j < starts[row + 1] {
        s += x[j] * x[j] * x[j];
        j += block_dim().x;
    }
    atomic_add(&mut y[row], s);
}
// counts down, and by a literal
#[stratape::kernel]
#[gradient]
fn counts_down(y: &mut [f64], x: &[f64], n: usize) {
    let t = thread_idx().x + block_idx().x * block_dim().x;
    let mut j = n;
    let mut s = 0.0;
    while j > 0 {
        j -= 1;
        s = s * 0.5 + x[(t * n + j) % x.len()];
    }
    let mut k = 1;
    while k < n {
        s *= 1.0 + x[k] * 0.1;
        k += 3;
    }
    if t < y.len() {
        y[t] = s;
    }
}
// a warp for each row
#[stratape::kernel]
#[gradient]
fn warp_rows(y: &mut [f64], x: &[f64], m: usize, n: usize) {
    let row = (thread_idx().x + block_idx().x * block_dim().x) / warp_size();
    let lane = thread_idx().x % warp_size();
    let mut s = 0.0;
    if row < m {
        for j in (lane..n).step_by(warp_size()) {
            s += x[row * n + j] * x[row * n + j];
        }
    }
    for k in 0..5 {
        s += shuffle_xor(s, 1 << k);
    }
    if lane == 0 && row < m {
        y[row] = s.sqrt();
    }
}
// rows that overlap, and rows that are turned round
#[stratape::kernel]
#[gradient]
fn overlapping(y: &mut [f64], x: &[f64], n: usize, pitch: usize) {
    let (t, b) = (thread_idx().x, block_idx().x);
    let mut s = 0.0;
    for j in (t..n).step_by(block_dim().x) {
        s += x[b * pitch + j] * x[b * pitch + j];
    }
    atomic_add(&mut y[b], s);
}
#[stratape::kernel]
#[gradient]
fn transposed(y: &mut [f64], x: &[f64], m: usize, n: usize) {
    let (t, b) = (thread_idx().x, block_idx().x);
    for j in (t..n).step_by(block_dim().x) {
        y[j * m + b] = x[b * n + j] * x[b * n + j];
    }
}
#[stratape::kernel]
#[gradient]
fn reversed(y: &mut [f64], x: &[f64], n: usize) {
    let (t, b) = (thread_idx().x, block_idx().x);
    for j in (t..n).step_by(block_dim().x) {
        y[b * n + j] = x[b * n + (n - 1 - j)] * x[b * n + j];
    }
}
#[stratape::kernel]
#[gradient]
fn pairs(y: &mut [f64], x: &[f64], n: usize) {
    let (t, b) = (thread_idx().x, block_idx().x);
    for j in (t..n / 2).step_by(block_dim().x) {
        let i = b * n + 2 * j;
        y[b * n + 2 * j] = x[i] * x[i + 1];
        y[b * n + 2 * j + 1] = x[i].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn literal_blocks(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x * 8 + thread_idx().x;
    if i < x.len() {
        atomic_add(&mut y[0], x[i] * x[i]);
    }
}
#[stratape::kernel]
#[gradient(wrt(y, x))]
fn plates(y: &mut [f64], x: &[f64], p: Plate) {
    let c = thread_idx().x + block_idx().x * block_dim().x;
    let r = thread_idx().y + block_idx().y * block_dim().y;
    if r >= p.rows || c >= p.columns {
        return;
    }
    let i = r * p.columns + c;
    let mut v = p.scale * x[i];
    if c + 1 < p.columns {
        v += x[i] * x[i + 1];
    }
    y[i] = v;
}
#[stratape::kernel]
#[gradient]
fn plate_strides(y: &mut [f64], x: &[f64], m: usize, n: usize) {
    let mut r = thread_idx().y + block_idx().y * block_dim().y;
    while r < m {
        let mut c = thread_idx().x + block_idx().x * block_dim().x;
        while c < n {
            y[r * n + c] = x[r * n + c].exp() * x[r * n + c];
            c += block_dim().x * grid_dim().x;
        }
        r += block_dim().y * grid_dim().y;
    }
}
#[stratape::kernel]
#[gradient]
fn cubes(y: &mut [f64], x: &[f64], l: usize, m: usize, n: usize) {
    let c = thread_idx().x + block_idx().x * block_dim().x;
    let b = thread_idx().y + block_idx().y * block_dim().y;
    let a = thread_idx().z + block_idx().z * block_dim().z;
    if a < l && b < m && c < n {
        let i = (a * m + b) * n + c;
        y[i] = x[i] * x[i] * (1.0 + x[(b * n + c) % (m * n)]);
    }
}
#[stratape::kernel]
#[gradient]
fn batches(y: &mut [f64], x: &[f64], m: usize, n: usize) {
    let (t, row, batch) = (thread_idx().x, block_idx().x, block_idx().y);
    if row < m {
        for j in (t..n).step_by(block_dim().x) {
            let i = (batch * m + row) * n + j;
            y[i] += x[i] * x[i];
        }
    }
}
#[stratape::kernel]
#[gradient]
fn triples(y: &mut [f64], x: &[[f64; 3]], n: usize) {
    let (t, b) = (thread_idx().x, block_idx().x);
    for j in (t..n).step_by(block_dim().x) {
        let p = x[b * n + j];
        y[b * n + j] = p[0] * p[1] + p[2].sin();
    }
}
#[stratape::kernel]
#[gradient]
fn tile_rows(y: &mut [f64], x: &[f64], n: usize) {
    let mut tile = shared::<[f64; 32]>();
    let (t, b, d) = (thread_idx().x, block_idx().x, block_dim().x);
    let mut s = 0.0;
    for k in 0..n.div_ceil(d) {
        let j = k * d + t;
        tile[t] = if j < n { x[b * n + j] } else { 0.0 };
        sync_threads();
        s += tile[t] * tile[(t + 1) % d];
        sync_threads();
    }
    atomic_add(&mut y[b], s);
}

fn long() -> [usize; 5] {
    [0, 1, 7, 8, 13]
}

many! { r;
    t_softmax_rows { for t in [1, 4, 7, 33] { for n in long() { check!(softmax_rows, softmax_rows_grad, g(3, t), vec![r.vec(3 * n + 1, -1., 1.), r.vec(3 * n + 2, -1., 1.)], [mut f64, in f64, raw(n),]); } } }
    t_while_rows { for (b, t) in [(1, 1), (3, 4), (7, 5)] { for n in long() { check!(while_rows, while_rows_grad, g(b, t), vec![r.vec(5, -1., 1.), r.vec(5 * n + 1, -1., 1.)], [mut f64, in f64, raw(Plate { rows: 5, columns: n, scale: 0.7 }),]); } } }
    t_index_left { for (b, t) in bt() { check!(index_left, index_left_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(95, -1., 1.)], [mut f64, in f64,]); } }
    t_while_breaks { for (b, t) in bt() { check!(while_breaks, while_breaks_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(95, -1., 1.)], [mut f64, in f64,]); } }
    t_while_grows { for (b, t) in bt() { check!(while_grows, while_grows_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64,]); } }
    t_while_skips { for (b, t) in bt() { check!(while_skips, while_skips_grad, g(b, t), vec![r.vec(17, -1., 1.), r.vec(95, -1., 1.)], [mut f64, in f64,]); } }
    t_ragged { for t in [1, 4, 9] { check!(ragged, ragged_grad, g(4, t), vec![r.vec(4, -1., 1.), r.vec(30, -1., 1.)], [mut f64, in f64, buf(&[0usize, 11, 11, 13, 30]),]); } }
    t_counts_down { for n in long() { check!(counts_down, counts_down_grad, g(3, 5), vec![r.vec(13, -1., 1.), r.vec(40, -1., 1.)], [mut f64, in f64, raw(n),]); } }
    t_warp_rows { for (b, t) in [(1, 32), (2, 64), (4, 32)] { for n in [1, 31, 45] { check!(warp_rows, warp_rows_grad, g(b, t), vec![r.vec(3, -1., 1.), r.vec(3 * n, 0.2, 1.)], [mut f64, in f64, raw(3), raw(n),]); } } }
    t_overlapping { for n in long() { for pitch in [0, 3, 13, 14] { check!(overlapping, overlapping_grad, g(3, 4), vec![r.vec(3, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(n), raw(pitch),]); } } }
    t_transposed { for n in long() { check!(transposed, transposed_grad, g(3, 4), vec![r.vec(40, -1., 1.), r.vec(40, -1., 1.)], [mut f64, in f64, raw(3), raw(n),]); } }
    t_reversed { for n in long() { check!(reversed, reversed_grad, g(3, 4), vec![r.vec(40, -1., 1.), r.vec(40, -1., 1.)], [mut f64, in f64, raw(n),]); } }
    t_pairs { for n in long() { check!(pairs, pairs_grad, g(3, 4), vec![r.vec(40, -1., 1.), r.vec(40, -1., 1.)], [mut f64, in f64, raw(n),]); } }
    t_literal_blocks { for t in [3, 8, 12] { check!(literal_blocks, literal_blocks_grad, g(4, t), vec![r.vec(1, -1., 1.), r.vec(29, -1., 1.)], [mut f64, in f64,]); } }
    t_plates { for (b, t) in [((2u32, 3u32), (4u32, 4u32)), ((1, 1), (8, 12)), ((3, 4), (3, 5))] { check!(plates, plates_grad, Grid::blocks(b).threads(t), vec![r.vec(63, -1., 1.), r.vec(63, -1., 1.)], [mut f64, in f64, raw(Plate { rows: 9, columns: 7, scale: 1.3 }),]); } }
    t_plate_strides { for (b, t) in [((2u32, 3u32), (4u32, 2u32)), ((1, 1), (3, 5)), ((1, 2), (7, 1))] { check!(plate_strides, plate_strides_grad, Grid::blocks(b).threads(t), vec![r.vec(63, -1., 1.), r.vec(63, -1., 1.)], [mut f64, in f64, raw(9), raw(7),]); } }
    t_cubes { for (b, t) in [((2u32, 2u32, 2u32), (2u32, 2u32, 2u32)), ((1, 1, 1), (4, 3, 5)), ((4, 3, 5), (1, 1, 1))] { check!(cubes, cubes_grad, Grid::blocks(b).threads(t), vec![r.vec(60, -1., 1.), r.vec(60, -1., 1.)], [mut f64, in f64, raw(5), raw(3), raw(4),]); } }
    t_batches { for (b, t) in [((3u32, 2u32), 4u32), ((4, 2), 1), ((5, 2), 9)] { check!(batches, batches_grad, Grid::blocks(b).threads(t), vec![r.vec(42, -1., 1.), r.vec(42, -1., 1.)], [mut f64, in f64, raw(3), raw(7),]); } }
    t_tile_rows { for t in [1, 4, 32] { for n in long() { check!(tile_rows, tile_rows_grad, g(3, t), vec![r.vec(3, -1., 1.), r.vec(40, -1., 1.)], [mut f64, in f64, raw(n),]); } } }
}

#[test]
fn t_triples() {
    for (n, threads) in [(5, 4), (1, 1), (9, 4), (8, 8)] {
        for gpu in [Device::emulator(), Device::emulator().checking(false)] {
            let mut rng = Rng(3);
            let x: Vec<[f64; 3]> =
                (0..3 * n).map(|_| [rng.next(), rng.next(), rng.next()]).collect();
            let (mut y, mut dy) =
                (gpu.zeros(3 * n).unwrap(), gpu.upload(&vec![1.0; 3 * n]).unwrap());
            let mut dx = gpu.upload(&vec![[7.0; 3]; 3 * n]).unwrap();
            let (grid, list) = (g(3, threads), gpu.upload(&x).unwrap());
            triples_grad::launch(&gpu, &grid, (&mut y, &mut dy, &list, fresh(&mut dx), n)).unwrap();
            for (found, p) in dx.download().unwrap().iter().zip(&x) {
                assert_eq!(*found, [p[1], p[0], p[2].cos()]);
            }
        }
    }
}
