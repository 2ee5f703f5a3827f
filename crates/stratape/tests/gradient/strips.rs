//! Loops of every length around the widths of strips, lanes and layers: what is emitted for them differs,
//! what they compute must not.

#![allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "loops as people write them")]

use stratape::gradient;

const LENGTHS: [usize; 14] = [0, 1, 2, 3, 7, 8, 9, 16, 31, 32, 33, 64, 65, 100];

/// A sum of slow terms: in lanes.
#[gradient]
fn slow_sum(x: &[f64], a: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += 1.0 / (x[i] * x[i] + a).sqrt();
    }
    sum
}

/// Elements in pairs and triples: views of small arrays.
#[gradient]
fn pairs(x: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() / 2 {
        for j in 0..y.len() / 3 {
            let dx = x[2 * i] - y[3 * j];
            let dy = x[2 * i + 1] - y[3 * j + 1];
            sum -= y[3 * j + 2] / (dx * dx + dy * dy + 0.5).sqrt();
        }
    }
    sum
}

/// Neighbours: additions that overlap.
#[gradient]
fn neighbours(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 2..x.len() {
        let t = x[i] - 2.0 * x[i - 1] * x[i - 2];
        sum += t * t;
    }
    sum
}

/// Rows computed from rows, with edges: a loop in three parts, an array in two.
#[gradient]
fn rows(first: &[f64], steps: usize) -> f64 {
    let n = first.len();
    let mut u = vec![0.0; n * (steps + 1)];
    for i in 0..n {
        u[i] = first[i];
    }
    for t in 0..steps {
        for i in 0..n {
            let mut v = u[t * n + i];
            if i > 0 {
                v += 0.3 * u[t * n + i - 1];
            }
            if i + 1 < n {
                v -= 0.2 * u[t * n + i + 1] * u[t * n + i];
            }
            u[(t + 1) * n + i] = v.sin();
        }
    }
    let mut sum = 0.0;
    for i in 0..n {
        sum += u[steps * n + i] * u[steps * n + i];
    }
    sum
}

/// A plate whose cells meet in rows and in columns: neighbours in a row rotate together, those in other rows an unknown distance away.
#[gradient(wrt(first, k))]
fn plate(first: &[f64], k: f64, width: usize, steps: usize) -> f64 {
    let height = first.len() / width;
    let mut u = first.to_vec();
    let mut next = first.to_vec();
    for _ in 0..steps {
        for y in 1..height - 1 {
            for x in 1..width - 1 {
                let i = y * width + x;
                let across = (u[i - 1] - u[i]) * (1.0 + u[i - 1]) + (u[i + 1] - u[i]).sin();
                let along = u[i - width] * u[i] - k * u[i + width] * u[i + width - 1];
                next[i] = u[i] + 0.1 * across + k * along;
            }
        }
        u.copy_from_slice(&next);
    }
    let mut sum = 0.0;
    for i in 0..u.len() {
        sum += u[i] * u[i];
    }
    sum
}

/// The cheapest way through rows: comparisons, in masks where neighbours are gathered.
#[gradient]
fn cheapest(cost: &[f64], n: usize) -> f64 {
    let steps = cost.len() / n;
    let mut u = vec![0.0; n * steps];
    for i in 0..n {
        u[i] = cost[i];
    }
    for t in 0..steps - 1 {
        for i in 0..n {
            let mut least = u[t * n + i];
            if i > 0 && u[t * n + i - 1] < least {
                least = u[t * n + i - 1];
            }
            if i < n - 1 {
                least = least.min(u[t * n + i + 1]);
            }
            u[(t + 1) * n + i] = cost[(t + 1) * n + i] + least;
        }
    }
    let mut sum = 0.0;
    for i in 0..n {
        sum += u[(steps - 1) * n + i] * u[(steps - 1) * n + i];
    }
    sum
}

/// A running maximum, its position remembered.
#[gradient]
fn largest(x: &[f64], w: f64) -> f64 {
    let mut best = w;
    for i in 0..x.len() {
        if w * x[i] > best {
            best = x[i];
        }
    }
    best * best
}

/// Saves in every iteration, up and down.
#[gradient]
fn chain(x: &[f64], a: f64) -> f64 {
    let mut s = a;
    for i in 0..x.len() {
        s = (s * x[i]).sin() + 0.5 * s;
    }
    for i in (0..x.len()).rev() {
        s = s * x[i].cos() + s.tanh();
    }
    s
}

/// Many loops at once that end early.
#[gradient]
fn until(x: &[f64], limit: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        let mut s = x[i];
        let mut k = 0;
        while s.abs() < limit && k < 20 {
            s = 1.3 * s + 0.1 * (s * x[i]).sin();
            k += 1;
        }
        if s > 1e6 {
            break;
        }
        sum += s * s;
    }
    sum
}

/// Loops whose lengths are known, so that their blocks are made to fit.
macro_rules! of_length {
    ($($name:ident $gradient:ident $n:literal),*) => {$(
        #[gradient]
        fn $name(x: &[f64], a: f64) -> f64 {
            let mut sum = 0.0;
            for i in 0..$n {
                sum += a * x[i] * x[i];
            }
            for i in 1..$n {
                sum += 1.0 / (x[i] * x[i - 1] + a).sqrt();
            }
            sum
        }
    )*};
}

of_length!(four four_grad 4, five five_grad 5, six six_grad 6, ten ten_grad 10, twelve twelve_grad 12,
    fourteen fourteen_grad 14, twenty twenty_grad 20, thirty thirty_grad 30);

#[test]
fn plates_of_every_width() {
    // Rows closer together than additions may rotate, blocks that are full, and what is left of them.
    for width in (3..28).chain([34, 35, 67]) {
        let x = numbers(5 * width, width as u64);
        let mut dx = vec![0.0; x.len()];
        let (value, by_k) = plate_grad(&x, &mut dx, 0.1, width, 3, 1.0);
        assert_eq!(value, plate(&x, 0.1, width, 3));
        agrees("plate", &x, &dx, &|x| plate(x, 0.1, width, 3));
        agrees("plate, by k", &[0.1], &[by_k], &|k| plate(&x, k[0], width, 3));
    }
}

#[test]
fn loops_of_known_lengths() {
    macro_rules! check {
        ($($name:ident $gradient:ident),*) => {$(
            let x = numbers(30, 7);
            let mut dx = vec![0.0; 30];
            let (value, by_a) = $gradient(&x, &mut dx, 0.7, 1.0);
            assert_eq!(value, $name(&x, 0.7));
            agrees(stringify!($name), &x, &dx, &|x| $name(x, 0.7));
            agrees(stringify!($name), &[0.7], &[by_a], &|a| $name(&x, a[0]));
        )*};
    }
    check!(four four_grad, five five_grad, six six_grad, ten ten_grad, twelve twelve_grad, fourteen fourteen_grad,
        twenty twenty_grad, thirty thirty_grad);
}

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            0.2 + (state >> 40) as f64 / f64::from(1 << 24)
        })
        .collect()
}

/// Compares a gradient by a slice with central differences, in a random direction.
fn agrees(name: &str, x: &[f64], dx: &[f64], f: &dyn Fn(&[f64]) -> f64) {
    let direction = numbers(x.len(), 99);
    let h = 1e-6;
    let moved = |sign: f64| {
        let x: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + sign * h * d).collect();
        f(&x)
    };
    let slope = (moved(1.0) - moved(-1.0)) / (2.0 * h);
    let found: f64 = dx.iter().zip(&direction).map(|(a, b)| a * b).sum();
    let size: f64 = dx.iter().zip(&direction).map(|(a, b)| (a * b).abs()).sum();
    assert!(
        (found - slope).abs() <= 2e-6 * (1.0 + size),
        "{name}, {}: {found} for {slope}",
        x.len()
    );
}

#[test]
fn ways_through_rows_of_every_length() {
    for n in LENGTHS.into_iter().filter(|n| *n > 0) {
        let cost = numbers(4 * n, 5);
        // Twice: the second call finds memory as the first has left it.
        for _ in 0..2 {
            let mut dcost = vec![0.0; 4 * n];
            let value = cheapest_grad(&cost, &mut dcost, n, 1.0);
            assert_eq!(value, cheapest(&cost, n));
            agrees("cheapest", &cost, &dcost, &|cost| cheapest(cost, n));
        }
    }
}

#[test]
fn loops_of_every_length() {
    for n in LENGTHS {
        let x = numbers(n, 1);
        let mut dx = vec![0.0; n];
        let (value, _) = slow_sum_grad(&x, &mut dx, 0.3, 1.0);
        assert_eq!(value, slow_sum(&x, 0.3));
        agrees("slow_sum", &x, &dx, &|x| slow_sum(x, 0.3));

        let mut dx = vec![0.0; n];
        let value = neighbours_grad(&x, &mut dx, 1.0);
        assert_eq!(value, neighbours(&x));
        agrees("neighbours", &x, &dx, &neighbours);

        let mut dx = vec![0.0; n];
        let (value, _) = largest_grad(&x, &mut dx, 0.9, 1.0);
        assert_eq!(value, largest(&x, 0.9));
        agrees("largest", &x, &dx, &|x| largest(x, 0.9));

        let mut dx = vec![0.0; n];
        let (value, _) = chain_grad(&x, &mut dx, 0.4, 1.0);
        assert_eq!(value, chain(&x, 0.4));
        agrees("chain", &x, &dx, &|x| chain(x, 0.4));

        let mut dx = vec![0.0; n];
        let (value, _) = until_grad(&x, &mut dx, 3.0, 1.0);
        assert_eq!(value, until(&x, 3.0));
        agrees("until", &x, &dx, &|x| until(x, 3.0));

        for steps in [0, 1, 3] {
            let mut dx = vec![0.0; n];
            let value = rows_grad(&x, &mut dx, steps, 1.0);
            assert_eq!(value, rows(&x, steps));
            agrees("rows", &x, &dx, &|x| rows(x, steps));
        }
    }
}

#[test]
fn nests_of_small_arrays() {
    for n in [0, 2, 5, 16, 66] {
        for m in [0, 3, 7, 24, 99, 200] {
            let (x, y) = (numbers(n, 3), numbers(m, 4));
            let (mut dx, mut dy) = (vec![0.0; n], vec![0.0; m]);
            let value = pairs_grad(&x, &mut dx, &y, &mut dy, 1.0);
            assert_eq!(value, pairs(&x, &y));
            agrees("pairs by x", &x, &dx, &|x| pairs(x, &y));
            agrees("pairs by y", &y, &dy, &|y| pairs(&x, y));
        }
    }
}

/// Longer than a layer of the tape: several regions, taken in reverse.
#[test]
fn several_layers() {
    let n = 30_000;
    let x = numbers(n, 5);
    let mut dx = vec![0.0; n];
    let (value, _) = chain_grad(&x, &mut dx, 0.4, 1.0);
    assert_eq!(value, chain(&x, 0.4));
    // Budgets of all sizes, down to two pages.
    for (memory, slab) in [(512 << 10, 64 << 10), (100 << 10, 32 << 10), (8192, 4096)] {
        let mut spilled = vec![0.0; n];
        let options = stratape::tape::TapeOptions::new()
            .memory(memory)
            .slab_bytes(slab)
            .spill_to(std::env::temp_dir());
        let mut workspace = stratape::Workspace::with(options).unwrap();
        chain_grad_in(&mut workspace, &x, &mut spilled, 0.4, 1.0).unwrap();
        assert_eq!(dx, spilled, "{memory} {slab}");
    }
}

/// Shadows are added to, whatever way a loop is emitted.
#[test]
fn shadows_are_added_to() {
    let x = numbers(50, 6);
    let (mut once, mut twice) = (vec![0.0; 50], vec![0.0; 50]);
    neighbours_grad(&x, &mut once, 1.0);
    neighbours_grad(&x, &mut twice, 1.0);
    neighbours_grad(&x, &mut twice, 1.0);
    for (a, b) in once.iter().zip(&twice) {
        assert!((2.0 * a - b).abs() <= 1e-12 * a.abs().max(1.0));
    }
}

/// The second index does not change, and is computed in the loop.
#[gradient(wrt(x))]
fn a_column(x: &[[f64; 3]], n: usize) -> f64 {
    let mut sum = 0.0;
    for l in 0..x.len() {
        sum += x[l][n % 3];
    }
    sum
}

#[test]
fn a_column_that_is_computed_in_the_loop() {
    for len in [0, 1, 7, 8, 9, 33] {
        let mut dx = vec![[0.0; 3]; len];
        a_column_grad(&vec![[1.0, 2.0, 3.0]; len], &mut dx, 4, 1.0);
        assert!(dx.iter().all(|dx| *dx == [0.0, 1.0, 0.0]));
    }
}
