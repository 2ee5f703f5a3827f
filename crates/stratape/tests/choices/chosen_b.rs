//! Choices whose payload is a struct, an enum or a list, in programs as people write them.

programs! {
    beam: 8, line_search: 3, pareto: 8, scan_lines: 8, minmax_game: 8, edit_distance: 6, relax_edges: 8,
    floyd: 9, prim: 8, knapsack: 6, median3: 6, bubble: 6, running_median: 7, top_k_sum: 7, max_subarray: 7,
    drawdown: 7, stop_loss: 7, water: 7, flux_limiter: 7, upwind: 7, minmod: 7,
}

mod beam {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut score = [1.0, 0.5];
        for t in 0..x.len() / 2 {
            let mut next = [f64::NEG_INFINITY; 2];
            for b in 0..2 {
                for c in 0..2 {
                    let s = score[b] * x[2 * t + c] + 0.1 * b as f64;
                    if s > next[0] {
                        next[1] = next[0];
                        next[0] = s;
                    } else if s > next[1] {
                        next[1] = s;
                    }
                }
            }
            score = next;
        }
        score[0] * score[1]
    }
}

mod line_search {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let cost = |t: f64| (t - x[0]) * (t - x[0]) * x[1] + t.sin() * x[2];
        let mut t = 1.5;
        for _ in 0..4 {
            let g = 2.0 * (t - x[0]) * x[1] + t.cos() * x[2];
            let mut step = 1.0;
            while step > 0.01 && cost(t - step * g) > cost(t) - 0.3 * step * g * g {
                step *= 0.5;
            }
            t -= step * g;
        }
        cost(t) + t
    }
}

mod pareto {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 2;
        let mut hv = 0.0;
        let mut ymin = 1.0;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| x[2 * *a].total_cmp(&x[2 * *b]));
        for i in order {
            if x[2 * i + 1] < ymin {
                hv += (1.2 - x[2 * i]) * (ymin - x[2 * i + 1]);
                ymin = x[2 * i + 1];
            }
        }
        hv * ymin
    }
}

mod scan_lines {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut z = [0.9; 4];
        let mut c = [0.0; 4];
        for s in x.chunks_exact(4) {
            for p in 0..4 {
                let u = p as f64 / 3.0;
                let depth = s[0] * (1.0 - u) + s[1] * u;
                if depth < z[p] {
                    z[p] = depth;
                    c[p] = s[2] * u + s[3] * depth;
                }
            }
        }
        let mut e = 0.0;
        for p in 0..4 {
            e += c[p] * z[p];
        }
        e
    }
}

mod minmax_game {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut outer = f64::NEG_INFINITY;
        for i in 0..x.len() / 2 {
            let mut inner = f64::INFINITY;
            for j in 0..2 {
                let v = x[2 * i + j] * x[i];
                inner = if v < inner { v } else { inner };
                if inner <= outer {
                    break;
                }
            }
            outer = if inner > outer { inner } else { outer };
        }
        outer
    }
}

mod edit_distance {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 2;
        let mut row: Vec<f64> = (0..=n).map(|j| 0.3 * j as f64).collect();
        for i in 1..=n {
            let mut diag = row[0];
            row[0] += 0.3;
            for j in 1..=n {
                let sub = diag + (x[i - 1] - x[n + j - 1]).abs();
                let del = row[j] + 0.3 * x[i - 1];
                let ins = row[j - 1] + 0.3;
                diag = row[j];
                row[j] = if sub <= del && sub <= ins {
                    sub
                } else if del <= ins {
                    del
                } else {
                    ins
                };
            }
        }
        row[n]
    }
}

mod relax_edges {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (3, 4), (0, 4), (2, 4)];
        let mut d = vec![f64::INFINITY; 5];
        d[0] = 0.0;
        for _ in 0..4 {
            for (k, (a, b)) in edges.iter().enumerate() {
                let c = d[*a] + x[k] * x[k];
                if c < d[*b] {
                    d[*b] = c;
                }
            }
        }
        d[4] * d[3] + d[2]
    }
}

mod floyd {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut d = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                d[i][j] = if i == j { 0.0 } else { x[3 * i + j] };
            }
        }
        for k in 0..3 {
            for i in 0..3 {
                for j in 0..3 {
                    if d[i][k] + d[k][j] < d[i][j] {
                        d[i][j] = d[i][k] + d[k][j];
                    }
                }
            }
        }
        d[0][1] * d[1][2] + d[2][0]
    }
}

mod prim {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 2;
        let mut dist = vec![f64::INFINITY; n];
        let mut done = vec![false; n];
        let mut total = 0.0;
        let mut at = 0;
        for _ in 1..n {
            done[at] = true;
            let mut next = at;
            let mut best = f64::INFINITY;
            for j in 0..n {
                if done[j] {
                    continue;
                }
                let d = (x[2 * at] - x[2 * j]).powi(2) + (x[2 * at + 1] - x[2 * j + 1]).powi(2);
                if d < dist[j] {
                    dist[j] = d;
                }
                if dist[j] < best {
                    best = dist[j];
                    next = j;
                }
            }
            total += best.sqrt();
            at = next;
        }
        total
    }
}

mod knapsack {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let w = [1, 2, 3, 2, 1, 2];
        let mut v = [0.0; 6];
        for i in 0..x.len().min(6) {
            for c in (w[i]..6).rev() {
                let take = v[c - w[i]] + x[i] * (1.0 + 0.05 * v[c - w[i]]);
                if take > v[c] {
                    v[c] = take;
                }
            }
        }
        v[5] * v[3]
    }
}

mod median3 {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for w in x.windows(3) {
            let (a, b, c) = (w[0], w[1], w[2]);
            let m = if a > b {
                if b > c {
                    b
                } else if a > c {
                    c
                } else {
                    a
                }
            } else if a > c {
                a
            } else if b > c {
                c
            } else {
                b
            };
            s += m * m * a;
        }
        s
    }
}

mod bubble {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        for i in 0..y.len() {
            let mut swapped = false;
            for j in 0..y.len() - 1 - i {
                if y[j] > y[j + 1] {
                    let t = y[j];
                    y[j] = y[j + 1];
                    y[j + 1] = t;
                    swapped = true;
                }
            }
            if !swapped {
                break;
            }
        }
        y.iter().enumerate().map(|(i, v)| v * v * i as f64).sum()
    }
}

mod running_median {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y: Vec<f64> = Vec::new();
        let mut s = 0.0;
        for v in x {
            let mut at = y.len();
            for i in 0..y.len() {
                if y[i] > *v {
                    at = i;
                    break;
                }
            }
            y.insert(at, *v);
            s += y[y.len() / 2] * v;
        }
        s
    }
}

mod top_k_sum {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        let mut s = 0.0;
        for _ in 0..3 {
            let mut at = 0;
            for i in 0..y.len() {
                if y[i] > y[at] {
                    at = i;
                }
            }
            s += y[at] * y[at];
            y[at] = f64::NEG_INFINITY;
        }
        s
    }
}

mod max_subarray {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut here, mut best) = (0.0, 0.0);
        let mut start = 0;
        let mut from = 0;
        for i in 0..x.len() {
            let v = x[i] - 0.55;
            if here <= 0.0 {
                here = v;
                start = i;
            } else {
                here += v;
            }
            if here > best {
                best = here;
                from = start;
            }
        }
        best * x[from] + here
    }
}

mod drawdown {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut wealth = 1.0;
        let mut peak = 1.0;
        let mut worst = 0.0;
        for r in x {
            wealth *= 1.0 + 0.3 * (r - 0.5);
            if wealth > peak {
                peak = wealth;
            }
            let dd = (peak - wealth) / peak;
            if dd > worst {
                worst = dd;
            }
        }
        worst * wealth + peak
    }
}

mod stop_loss {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 1.0;
        let mut high = 1.0;
        for r in x {
            s *= 1.0 + 0.2 * (r - 0.5);
            high = if s > high { s } else { high };
            if s < 0.97 * high {
                return s * high;
            }
        }
        s + high
    }
}

mod water {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len();
        let (mut l, mut r) = (0, n - 1);
        let (mut a, mut b, mut s) = (0.0, 0.0, 0.0);
        while l < r {
            if x[l] < x[r] {
                if x[l] > a {
                    a = x[l]
                } else {
                    s += (a - x[l]) * a
                }
                l += 1;
            } else {
                if x[r] > b {
                    b = x[r]
                } else {
                    s += b - x[r]
                }
                r -= 1;
            }
        }
        s + a * b
    }
}

mod flux_limiter {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut u = x.to_vec();
        let n = u.len();
        for _ in 0..3 {
            let mut fl = vec![0.0; n];
            for i in 1..n - 1 {
                let (a, b) = (u[i] - u[i - 1], u[i + 1] - u[i]);
                let phi = if a * b <= 0.0 { 0.0 } else { 2.0 * a * b / (a + b) };
                fl[i] = u[i] + 0.5 * phi;
            }
            for i in 1..n {
                u[i] -= 0.3 * (fl[i] - fl[i - 1]);
            }
        }
        u.iter().map(|v| v * v).sum()
    }
}

mod upwind {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut u: Vec<f64> = x.iter().map(|v| v - 0.6).collect();
        let n = u.len();
        for _ in 0..4 {
            let old = u.clone();
            for i in 0..n {
                let d = if old[i] > 0.0 {
                    old[i] - old[(i + n - 1) % n]
                } else {
                    old[(i + 1) % n] - old[i]
                };
                u[i] -= 0.3 * old[i] * d;
            }
        }
        u.iter().map(|v| v * v * v).sum()
    }
}

mod minmod {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for w in x.windows(3) {
            let (a, b) = (w[1] - w[0], w[2] - w[1]);
            let m = if a > 0.0 && b > 0.0 {
                a.min(b)
            } else if a < 0.0 && b < 0.0 {
                a.max(b)
            } else {
                0.0
            };
            s += m * m + m * w[1];
        }
        s
    }
}
