//! Lists of lists that are made anew, cloned, collected, returned and moved in loops.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    powers_of_a_matrix: 4,
    cloned_in_each_step: 6,
    chunks_collected_in_a_loop: 6,
    rows_of_different_lengths: 5,
    pushed_in_an_inner_loop: 4,
    layers_of_a_network: 8,
    structs_with_rows: 4,
    three_levels: 4,
    arrays_of_lists: 4,
    in_branches: 4,
    swapped_grids: 9,
    rows_that_move: 6,
    taken_rows: 4,
    transposed_again_and_again: 6,
    while_it_changes: 4,
    in_a_closure: 4,
    game_of_sums: 9,
    triangle: 4,
    structs_in_lists_made_in_a_loop: 3,
    recursion_with_rows: 4,
}

mod powers_of_a_matrix {
    #[stratape::differentiable]
    mod m {
        fn multiply(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
            let n = a.len();
            let mut c = vec![vec![0.0; n]; n];
            for i in 0..n {
                for j in 0..n {
                    for k in 0..n {
                        c[i][j] += a[i][k] * b[k][j];
                    }
                }
            }
            c
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let a: Vec<Vec<f64>> = x.chunks(2).map(|row| row.to_vec()).collect();
            let mut p = a.clone();
            for _ in 0..3 {
                p = multiply(&p, &a);
            }
            p[0][1] + p[1][0].sin()
        }
    }
    pub use m::{f, f_grad};
}

mod cloned_in_each_step {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut grid: Vec<Vec<f64>> = vec![x[..3].to_vec(), x[3..].to_vec()];
        for step in 0..4 {
            let old = grid.clone();
            for i in 0..2 {
                for j in 0..3 {
                    grid[i][j] = old[1 - i][j] * old[i][(j + step) % 3] + 0.1 * old[i][j];
                }
            }
        }
        grid.iter().flatten().sum()
    }
}

mod chunks_collected_in_a_loop {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut total = 0.0;
        let mut width = 1;
        while width < x.len() {
            let blocks: Vec<Vec<f64>> = x
                .chunks(width)
                .map(|block| block.iter().map(|v| v * v + total * 0.01).collect())
                .collect();
            for block in &blocks {
                total += block.iter().product::<f64>();
            }
            width *= 2;
        }
        total
    }
}

mod rows_of_different_lengths {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 1.0;
        for k in 1..x.len() {
            let rows: Vec<Vec<f64>> =
                (0..k).map(|i| x[..=i].iter().map(|v| v * s).collect()).collect();
            s = rows.iter().map(|row| row.iter().sum::<f64>()).sum::<f64>() / k as f64;
        }
        s
    }
}

mod pushed_in_an_inner_loop {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            let mut rows = Vec::new();
            for j in 0..=i {
                rows.push(vec![x[j] * x[i]; j + 1]);
            }
            let copy = rows.clone();
            for row in &copy {
                s += row.iter().map(|v| v * v).sum::<f64>();
            }
            s *= x[i].cos();
        }
        s
    }
}

mod layers_of_a_network {
    #[stratape::differentiable]
    mod m {
        fn layer(input: &Vec<Vec<f64>>, w: &[f64]) -> Vec<Vec<f64>> {
            input
                .iter()
                .map(|row| w.iter().map(|w| (w * row.iter().sum::<f64>()).tanh()).collect())
                .collect()
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (data, w) = x.split_at(4);
            let mut h: Vec<Vec<f64>> = data.chunks(2).map(|c| c.to_vec()).collect();
            for width in [4, 2, 3, 1] {
                h = layer(&h, &w[..width]);
            }
            h.iter().map(|row| row[0]).sum()
        }
    }
    pub use m::{f, f_grad};
}

mod structs_with_rows {
    #[stratape::differentiable]
    mod m {
        struct Grid {
            cells: Vec<Vec<f64>>,
            scale: f64,
        }

        impl Grid {
            fn new(x: &[f64], scale: f64) -> Self {
                Self { cells: x.chunks(2).map(|c| c.to_vec()).collect(), scale }
            }

            fn stepped(&self) -> Grid {
                let mut cells = self.cells.clone();
                for (i, row) in cells.iter_mut().enumerate() {
                    for (j, v) in row.iter_mut().enumerate() {
                        *v = self.cells[j][i] * self.scale + *v * *v;
                    }
                }
                Grid { cells, scale: self.scale * 0.9 }
            }
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut grid = Grid::new(x, x[0]);
            for _ in 0..3 {
                grid = grid.stepped();
            }
            grid.cells.iter().map(|row| row.iter().sum::<f64>()).sum::<f64>() * grid.scale
        }
    }
    pub use m::{f, f_grad};
}

mod three_levels {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = x[0];
        for k in 1..4 {
            let cube: Vec<Vec<Vec<f64>>> = (0..k)
                .map(|i| (0..=i).map(|j| x.iter().take(j + 1).map(|v| v * s).collect()).collect())
                .collect();
            let again = cube.clone();
            for plane in &again {
                for line in plane {
                    s += 0.1 * line.iter().sum::<f64>();
                }
            }
        }
        s
    }
}

mod arrays_of_lists {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for k in 0..3 {
            let mut bins: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
            for (i, v) in x.iter().enumerate() {
                bins[(i + k) % 2].push(v * (1.0 + s));
            }
            s += bins[0].iter().sum::<f64>() * bins[1].iter().product::<f64>();
        }
        s
    }
}

mod in_branches {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut rows = vec![x.to_vec()];
        for i in 0..4 {
            if i % 2 == 0 {
                let more: Vec<Vec<f64>> =
                    rows.iter().map(|row| row.iter().map(|v| v * x[i]).collect()).collect();
                rows = more;
            } else {
                let mut wider = rows.clone();
                wider.push(vec![x[i]; i]);
                rows = wider;
            }
        }
        rows.iter().map(|row| row.iter().map(|v| v * v).sum::<f64>()).sum()
    }
}

mod swapped_grids {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut now: Vec<Vec<f64>> = x.chunks(3).map(|c| c.to_vec()).collect();
        for _ in 0..3 {
            let mut next = vec![vec![0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    next[i][j] = 0.5 * now[i][j] + now[(i + 1) % 3][j] * now[i][(j + 2) % 3];
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        now[1][1] + now[0][2]
    }
}

mod rows_that_move {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for k in 0..3 {
            let mut rows: Vec<Vec<f64>> = x.chunks(2).map(|c| c.to_vec()).collect();
            rows.swap(0, k % 3);
            let last = rows.pop().unwrap();
            rows.insert(0, last);
            rows[1] = vec![s + x[k]; 3];
            s += rows[0][0] * rows[1][2] * rows[2][1];
        }
        s
    }
}

mod taken_rows {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut kept: Vec<Vec<f64>> = Vec::new();
        let mut s = 0.0;
        for i in 0..x.len() {
            let mut fresh: Vec<Vec<f64>> = vec![vec![x[i]; 2], vec![s; i + 1]];
            kept.push(std::mem::take(&mut fresh[i % 2]));
            fresh[i % 2] = vec![x[0]; 4];
            s += fresh[0].iter().sum::<f64>() * fresh[1].iter().sum::<f64>();
        }
        s + kept.iter().map(|row| row.iter().sum::<f64>()).sum::<f64>()
    }
}

mod transposed_again_and_again {
    #[stratape::differentiable]
    mod m {
        fn transpose(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
            (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = vec![x[..3].to_vec(), x[3..].to_vec()];
            let mut s = 0.0;
            for k in 0..3 {
                a = transpose(&a);
                a[0][1] *= x[k];
                s += a.last().unwrap().iter().sum::<f64>() * a[0][0];
            }
            s
        }
    }
    pub use m::{f, f_grad};
}

mod while_it_changes {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut rows = vec![x.to_vec()];
        let mut s = 1.0;
        while rows.len() < 5 {
            let next: Vec<f64> = rows[rows.len() - 1].iter().map(|v| v * s).collect();
            s = next.iter().sum::<f64>() / 4.0;
            let mut all = rows.clone();
            all.push(next);
            rows = all;
        }
        rows.iter().map(|row| row[1] * row[2]).sum()
    }
}

mod in_a_closure {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let outer = |u: &[f64], v: &[f64]| -> Vec<Vec<f64>> {
            u.iter().map(|a| v.iter().map(|b| a * b).collect()).collect()
        };
        let mut s = 0.0;
        for i in 1..x.len() {
            let m = outer(&x[..i], x);
            s += m[i - 1][0] * m[0][i];
        }
        s
    }
}

mod game_of_sums {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut board: Vec<Vec<f64>> = (0..3).map(|i| x[3 * i..3 * i + 3].to_vec()).collect();
        for _ in 0..2 {
            board = (0..3)
                .map(|i| {
                    (0..3)
                        .map(|j| {
                            let mut around = 0.0;
                            for (di, dj) in [(0, 1), (1, 0), (0, 2), (2, 0)] {
                                around += board[(i + di) % 3][(j + dj) % 3];
                            }
                            board[i][j] * around / 4.0
                        })
                        .collect()
                })
                .collect();
        }
        board.concat().iter().sum()
    }
}

mod triangle {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut rows: Vec<Vec<f64>> = vec![vec![x[0]]];
        for n in 1..4 {
            let before = rows.last().unwrap().clone();
            let mut row = vec![x[n]; n + 1];
            for k in 1..n {
                row[k] = before[k - 1] + before[k] * x[k];
            }
            rows.push(row);
        }
        let mut s = 0.0;
        for row in rows.iter().rev() {
            s = s * 0.5 + row.iter().sum::<f64>();
        }
        s
    }
}

mod structs_in_lists_made_in_a_loop {
    #[stratape::differentiable]
    mod m {
        #[derive(Clone)]
        struct Layer {
            weights: Vec<Vec<f64>>,
            bias: Vec<f64>,
        }

        fn build(width: usize, x: &[f64]) -> Vec<Layer> {
            let mut layers = Vec::new();
            for i in 1..=width {
                layers.push(Layer {
                    weights: vec![vec![x[i % 3]; i]; i + 1],
                    bias: vec![x[0] * x[2]; i],
                });
            }
            layers
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for n in 1..3 {
                let layers = build(n, x);
                for layer in layers.iter() {
                    s += layer.weights.iter().map(|w| w.iter().sum::<f64>()).sum::<f64>()
                        * layer.bias[0]
                        + s * s * 0.1;
                }
            }
            s
        }
    }
    pub use m::{f, f_grad};
}

mod recursion_with_rows {
    #[stratape::differentiable]
    mod m {
        fn tree(x: &[f64], depth: usize) -> f64 {
            let rows: Vec<Vec<f64>> = x.iter().map(|v| vec![*v; depth + 1]).collect();
            let here: f64 = rows.iter().map(|row| row.iter().product::<f64>()).sum();
            if depth == 0 {
                here
            } else {
                here * tree(&x[1..], depth - 1) + tree(&x[..x.len() - 1], depth - 1)
            }
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            tree(x, 2)
        }
    }
    pub use m::{f, f_grad};
}
