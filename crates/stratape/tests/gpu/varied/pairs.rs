//! All pairs, by slices of partners on grids of two and three axes.

use stratape::gpu::Grid;

use super::{flat, lines, planes, two};

#[stratape::kernel]
#[gradient]
fn without_self(y: &mut [f64], x: &[[f64; 2]]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = x.len().min(from + slice);
    let mut sum = 0.0;
    if i < x.len() {
        for j in from..to {
            if j != i {
                sum += x[i][0] * x[j][1] / (1.0 + (x[i][1] - x[j][0]).powi(2));
            }
        }
    }
    block_add(&mut y[0], sum);
}

#[stratape::kernel]
#[gradient]
fn continue_self(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let mut sum = 0.0;
    if i < x.len() {
        let p = x[i];
        for j in block_idx().y * slice..((block_idx().y + 1) * slice).min(x.len()) {
            if j == i {
                continue;
            }
            let q = x[j];
            let r = (p[0] - q[0]).hypot(p[1] - 2.0 * q[1]);
            if r < 0.9 {
                sum += (0.9 - r) * (0.9 - r) * q[0];
            } else if r > 1.5 {
                sum += p[0] / r;
            }
        }
    }
    block_add(&mut y[0], sum);
}

/// The last slice is longer or shorter: rounding down leaves elements out.
#[stratape::kernel]
#[gradient]
fn gaps(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len() / grid_dim().y;
    let from = block_idx().y * slice;
    let to = from + slice;
    if i < x.len() {
        let mut sum = 0.0;
        for j in from..to {
            sum += x[i][0] * x[j][1] * x[j][1];
        }
        atomic_add(&mut y[0], sum);
    }
}

#[stratape::kernel]
#[gradient]
fn overlap_both(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = (block_idx().y * slice).saturating_sub(2);
    let to = (block_idx().y * slice + slice + 3).min(x.len());
    let mut sum = 0.0;
    if i < x.len() {
        for j in from..to {
            sum += (x[i][0] * x[j][1]).exp();
        }
    }
    block_add(&mut y[0], sum);
}

/// Each point has a result of its own, weighted on its own.
#[stratape::kernel]
#[gradient]
fn own_result(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    if i < x.len() {
        let slice = x.len().div_ceil(grid_dim().y);
        let from = block_idx().y * slice;
        let to = (from + slice).min(x.len());
        let mut sum = 0.0;
        for j in from..to {
            sum += x[j][0] * (x[i][1] - x[j][1]).sin();
        }
        atomic_add(&mut y[i], sum);
    }
}

#[stratape::kernel]
#[gradient]
fn own_stored(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    if i >= x.len() {
        return;
    }
    let mut sum = y[i];
    for j in 0..x.len() {
        sum += x[j][0] * (x[i][1] - x[j][1]).sin() * x[i][0];
    }
    y[i] = sum * sum;
}

/// Threads of the second axis take slices, too.
#[stratape::kernel]
#[gradient]
fn threads_of_y(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let part = block_idx().y * block_dim().y + thread_idx().y;
    let slice = x.len().div_ceil(grid_dim().y * block_dim().y);
    let from = part * slice;
    let to = (from + slice).min(x.len());
    let mut sum = 0.0;
    if i < x.len() {
        for j in from..to {
            sum += x[i][0].powi(2) * x[j][1];
        }
    }
    block_add(&mut y[0], sum);
}

#[stratape::kernel]
#[gradient]
fn strided_partners(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let mut sum = 0.0;
    if i < x.len() {
        for j in (block_idx().y..x.len()).step_by(grid_dim().y) {
            sum += x[i][0].powi(2) * x[j][1];
        }
    }
    block_add(&mut y[0], sum);
}

#[stratape::kernel]
#[gradient]
fn triangle(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let mut sum = 0.0;
    if i < x.len() && block_idx().y == 0 && thread_idx().y == 0 {
        for j in i + 1..x.len() {
            sum += x[i][0] * x[j][1].sqrt();
        }
        for j in 0..i {
            sum += x[i][1] / x[j][0];
        }
    }
    block_add(&mut y[0], sum);
}

/// Products, a number that goes on from pair to pair, and an end.
#[stratape::kernel]
#[gradient]
fn goes_on(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(x.len());
    let mut sum = 0.1;
    if i < x.len() {
        for j in from..to {
            sum = sum * x[j][0] + x[i][1];
            if sum > 9.0 {
                break;
            }
        }
    }
    block_add(&mut y[0], sum);
}

/// The slice begins where the axis says, and the loop looks whether a partner is there.
#[stratape::kernel]
#[gradient]
fn test_inside(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let mut sum = 0.0;
    if i < x.len() {
        for j in block_idx().y * 4..block_idx().y * 4 + 4 {
            if j < x.len() {
                sum += x[i][0] * x[i][1] * x[j][1] * x[j][0].ln();
            }
        }
    }
    block_add(&mut y[0], sum);
}

/// Another element of the partner: rotated.
#[stratape::kernel]
#[gradient]
fn rotated(y: &mut [f64], x: &[[f64; 2]]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let mut sum = 0.0;
    if i < x.len() {
        for k in 0..x.len() {
            let j = (i + k) % x.len();
            sum += x[i][0] * x[j][1].powi(3) * k as f64;
        }
    }
    block_add(&mut y[0], sum);
}

/// Only the first points look at all others; partners by an own index.
#[stratape::kernel]
#[gradient]
fn half(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let half = x.len() / 2;
    if i < half {
        let mut sum = 0.0;
        for j in half..x.len() {
            sum += x[i] * x[j] * x[j] + x[j].sin();
        }
        if block_idx().y == 0 && thread_idx().y == 0 {
            y[i] += sum;
        }
    }
}

/// Two loops over the same partners, the second by what the first found.
#[stratape::kernel]
#[gradient]
fn twice(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(x.len());
    let (mut sum, mut again) = (0.0, 0.0);
    if i < x.len() {
        for j in from..to {
            sum += x[i] * x[j];
        }
        for j in (from..to).rev() {
            again += (sum * x[j] * 0.1).sin();
        }
    }
    block_add(&mut y[0], again);
}

/// Slices of blocks of the third axis.
#[stratape::kernel]
#[gradient]
fn third(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().z);
    let from = block_idx().z * slice;
    let to = (from + slice).min(x.len());
    let mut sum = 0.0;
    if i < x.len() {
        for j in from..to {
            sum += x[i] * x[j] * x[j];
        }
    }
    block_add(&mut y[0], sum);
}

/// The weight of a slice depends on its block.
#[stratape::kernel]
#[gradient]
fn weight_of_slice(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(x.len());
    let weight = 1.0 + block_idx().y as f64;
    let mut sum = 0.0;
    if i < x.len() {
        for j in from..to {
            sum += weight * x[i] * x[j] * x[j] * (i as f64 + 0.5 * j as f64);
        }
    }
    block_add(&mut y[0], sum);
}

/// From the second block on the slice is empty by its own test; inclusive end.
#[stratape::kernel]
#[gradient]
fn inclusive(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let mut sum = 0.0;
    if i < x.len() && from < x.len() {
        for j in from..=(from + slice - 1).min(x.len() - 1) {
            sum += x[i] * x[j] * x[j];
        }
    }
    block_add(&mut y[0], sum);
}

#[test]
fn partners_in_slices() {
    let n = 13;
    of_slices!(without_self, without_self_grad, planes(), 1, 2 * n, two, flat);
    of_slices!(continue_self, continue_self_grad, planes(), 1, 2 * n, two, flat);
}

#[test]
fn partners_left_out() {
    of_slices!(gaps, gaps_grad, planes(), 1, 26, two, flat);
}

#[test]
fn partners_taken_twice() {
    of_slices!(overlap_both, overlap_both_grad, planes(), 1, 26, two, flat);
}

#[test]
fn results_of_points() {
    of_slices!(own_result, own_result_grad, planes(), 13, 26, two, flat);
    of_slices!(own_stored, own_stored_grad, lines(), 13, 26, two, flat);
}

#[test]
fn slices_of_threads() {
    of_slices!(threads_of_y, threads_of_y_grad, planes(), 1, 26, two, flat);
    of_slices!(strided_partners, strided_partners_grad, planes(), 1, 26, two, flat);
    of_slices!(triangle, triangle_grad, planes(), 1, 26, two, flat);
}

#[test]
fn that_go_on() {
    of_slices!(goes_on, goes_on_grad, planes(), 1, 26, two, flat);
    of_slices!(twice, twice_grad, planes(), 1, 13, |x: &[f64]| x.to_vec(), |x: Vec<f64>| x);
}

#[test]
fn other_slices() {
    of_slices!(test_inside, test_inside_grad, planes(), 1, 26, two, flat);
    of_slices!(rotated, rotated_grad, lines(), 1, 26, two, flat);
    of_slices!(weight_of_slice, weight_of_slice_grad, planes(), 1, 13);
    of_slices!(inclusive, inclusive_grad, planes(), 1, 13);
}

#[test]
fn halves() {
    of_slices!(half, half_grad, planes(), 7, 15);
}

#[test]
fn of_the_third_axis() {
    let grids = [((2, 1, 4), (7, 1, 1)), ((3, 2, 3), (5, 1, 1)), ((1, 1, 20), (13, 1, 2))]
        .map(|(blocks, threads)| Grid::blocks(blocks).threads(threads));
    of_slices!(third, third_grad, grids, 1, 13);
}

#[test]
fn few_points() {
    for n in [0, 1, 2] {
        of_slices!(without_self, without_self_grad, planes(), 1, 2 * n, two, flat);
        of_slices!(overlap_both, overlap_both_grad, planes(), 1, 2 * n, two, flat);
        of_slices!(weight_of_slice, weight_of_slice_grad, planes(), 1, n);
        of_slices!(gaps, gaps_grad, planes(), 1, 2 * n, two, flat);
        of_slices!(inclusive, inclusive_grad, planes(), 1, n);
    }
}
