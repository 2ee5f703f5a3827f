//! Choices whose payload is a struct, an enum or a list, in programs as people write them.

programs! {
    hit_struct: 9, enum_winner: 8, method_nearest: 9, generic_argmin: 7, iterator_min_by: 8, closure_update:
    7, heap_of_two: 7, winner_row: 9, best_vec: 8, three_best: 8, tournament: 8, hausdorff: 8, sdf_scene: 8,
    trace_two_bounces: 9, triangle: 9, soft_then_hard: 6, knn: 9, voronoi_colours: 9,
}

#[stratape::differentiable]
mod hit_struct {
    #[derive(Clone, Copy)]
    struct Hit {
        t: f64,
        colour: [f64; 2],
        id: usize,
    }

    fn cast(x: &[f64], o: f64) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        for (k, c) in x.chunks_exact(3).enumerate() {
            let t = c[0] - o;
            if t <= 0.0 {
                continue;
            }
            match &best {
                Some(b) if b.t <= t => continue,
                _ => {}
            }
            best = Some(Hit { t, colour: [c[1], c[2] * t], id: k });
        }
        best
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for q in 0..4 {
            let o = 0.2 * q as f64 + 0.1 * x[0];
            s += match cast(x, o) {
                Some(h) => h.colour[0] * h.colour[1] + h.id as f64 * h.t,
                None => 0.25,
            };
        }
        s
    }
}

#[stratape::differentiable]
mod enum_winner {
    #[derive(Clone, Copy)]
    enum What {
        Nothing,
        Ball(f64),
        Wall { a: f64, b: f64 },
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut t = 0.9;
        let mut w = What::Nothing;
        for i in 0..x.len() {
            let d = x[i] * x[i] + 0.1;
            if d < t {
                t = d;
                w = if i % 2 == 0 { What::Ball(x[i]) } else { What::Wall { a: d, b: x[i - 1] } };
            }
        }
        match w {
            What::Nothing => t,
            What::Ball(r) => r * t,
            What::Wall { a, b } => a * b + t,
        }
    }
}

#[stratape::differentiable]
mod method_nearest {
    struct Cloud {
        p: Vec<[f64; 3]>,
    }
    impl Cloud {
        fn nearest(&self, q: [f64; 3]) -> (f64, usize) {
            let mut best = (f64::INFINITY, 0);
            for (i, p) in self.p.iter().enumerate() {
                let mut d = 0.0;
                for k in 0..3 {
                    d += (p[k] - q[k]) * (p[k] - q[k]);
                }
                if d < best.0 {
                    best = (d, i);
                }
            }
            best
        }
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let c = Cloud { p: x.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect() };
        let mut s = 0.0;
        for i in 0..3 {
            let (d, at) = c.nearest([x[i], 0.5, x[0]]);
            s += d.sqrt() * c.p[at][i];
        }
        s
    }
}

mod generic_argmin {
    #[stratape::differentiable]
    fn argmin(x: &[f64], cost: impl Fn(f64) -> f64) -> (usize, f64) {
        let mut at = 0;
        let mut best = cost(x[0]);
        for i in 1..x.len() {
            let c = cost(x[i]);
            if c < best {
                at = i;
                best = c;
            }
        }
        (at, best)
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let m = x[0];
        let (i, a) = argmin(x, |v| (v - 0.5) * (v - m));
        let (j, b) = argmin(&x[1..], |v| -v * m);
        a * x[i] + b * x[j + 1]
    }
}

mod iterator_min_by {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let best =
            x.chunks_exact(2).map(|c| (c[0] * c[1], c[0].sin())).min_by(|a, b| a.0.total_cmp(&b.0));
        let far = x.windows(2).map(|w| (w[0] - w[1]).abs()).fold(0.0, f64::max);
        let (d, c) = best.unwrap_or((1.0, 2.0));
        d * c + far
    }
}

mod closure_update {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut keep = 0.0;
        let mut offer = |d: f64, p: f64| {
            if d < best {
                best = d;
                keep = p;
            }
        };
        for v in x {
            offer(v * v, *v);
            offer((1.0 - v) * (1.0 - v), 2.0 * v);
        }
        best * 3.0 + keep
    }
}

mod heap_of_two {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut top = [f64::NEG_INFINITY; 2];
        let mut pay = [0.0; 2];
        for v in x {
            let s = v * 1.5 - 0.1;
            let k = if top[0] < top[1] { 0 } else { 1 };
            if s > top[k] {
                top[k] = s;
                pay[k] = v * s;
            }
        }
        pay[0] * 2.0 + pay[1] * pay[0]
    }
}

mod winner_row {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let rows: Vec<Vec<f64>> = x.chunks(3).map(|c| c.to_vec()).collect();
        let mut at = 0;
        let mut best = f64::NEG_INFINITY;
        for i in 0..rows.len() {
            let s: f64 = rows[i].iter().sum();
            if s > best {
                best = s;
                at = i;
            }
        }
        rows[at].iter().map(|v| v * v).sum::<f64>() * best
    }
}

mod best_vec {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Vec<f64> = Vec::new();
        let mut score = -1.0;
        for w in x.windows(3) {
            let s = w[0] * w[1] - w[2];
            if s > score {
                score = s;
                best = w.iter().map(|v| v * s).collect();
            }
        }
        best.iter().sum::<f64>() + score
    }
}

mod three_best {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut a, mut b, mut c) = (-9.0, -9.0, -9.0);
        for &v in x {
            let v = v * v;
            if v > a {
                (a, b, c) = (v, a, b);
            } else if v > b {
                (b, c) = (v, b);
            } else if v > c {
                c = v;
            }
        }
        a * 2.0 + b * a - c
    }
}

mod tournament {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        let mut n = y.len();
        while n > 1 {
            let h = n / 2;
            for i in 0..h {
                y[i] = if y[2 * i] > y[2 * i + 1] { y[2 * i] } else { y[2 * i + 1] * 1.1 };
            }
            if n % 2 == 1 {
                y[h] = y[n - 1];
                n = h + 1;
            } else {
                n = h;
            }
        }
        y[0] * y[0]
    }
}

mod hausdorff {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b) = x.split_at(x.len() / 2);
        let mut h = 0.0;
        for side in 0..2 {
            let (p, q) = if side == 0 { (a, b) } else { (b, a) };
            for u in p {
                let mut m = f64::INFINITY;
                for v in q {
                    let d = (u - v) * (u - v);
                    if d < m {
                        m = d;
                    }
                }
                if m > h {
                    h = m;
                }
            }
        }
        h.sqrt()
    }
}

mod sdf_scene {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut t = 0.0;
        let mut colour = 0.0;
        for _ in 0..6 {
            let p = x[0] * 0.1 + t;
            let mut d = 1.0e3;
            for c in x[2..].chunks_exact(2) {
                let s = (p - c[0] - 1.0).abs() - 0.3 * c[1];
                if s < d {
                    d = s;
                    colour = c[1] * s;
                }
            }
            if d < 1.0e-3 {
                break;
            }
            t += d;
        }
        t + colour * x[1]
    }
}

mod trace_two_bounces {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = x[0];
        let mut d = 1.0;
        let mut throughput = 1.0;
        let mut out = 0.0;
        for _ in 0..3 {
            let mut t = f64::INFINITY;
            let mut e = 0.0;
            let mut a = 0.0;
            for k in 0..(x.len() - 1) / 2 {
                let s = (x[1 + 2 * k] * 2.0 - o) * d;
                if s > 1.0e-6 && s < t {
                    t = s;
                    e = x[2 + 2 * k];
                    a = x[2 + 2 * k] * 0.5;
                }
            }
            if t == f64::INFINITY {
                out += throughput * 0.3;
                break;
            }
            out += throughput * e * t;
            throughput *= a;
            o += d * t;
            d = -d;
        }
        out
    }
}

mod triangle {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut z = 1.0e30;
        let mut out = 0.0;
        for t in x.chunks_exact(3) {
            let (u, v) = (0.5 * t[0], 0.5 * t[1]);
            let w = 1.0 - u - v;
            if u < 0.0 || v < 0.0 || w < 0.0 {
                continue;
            }
            let depth = u * t[0] + v * t[1] + w * t[2];
            if depth < z {
                z = depth;
                out = u * v * w;
            }
        }
        if z < 1.0e29 { out * z } else { 0.0 }
    }
}

mod soft_then_hard {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = f64::NEG_INFINITY;
        let mut at = 0.0;
        for (i, v) in x.iter().enumerate() {
            let s = v * x[0] + (i as f64).sin();
            if s > m {
                m = s;
                at = s.exp() * v;
            }
        }
        let z: f64 = x.iter().map(|v| (v - m).exp()).sum();
        at / z
    }
}

mod knn {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let q = x[0];
        let mut d = [f64::INFINITY; 3];
        let mut v = [0.0; 3];
        for w in x[1..].chunks_exact(2) {
            let e = (w[0] - q) * (w[0] - q);
            let mut k = 3;
            while k > 0 && d[k - 1] > e {
                k -= 1;
            }
            if k < 3 {
                for j in (k + 1..3).rev() {
                    d[j] = d[j - 1];
                    v[j] = v[j - 1];
                }
                d[k] = e;
                v[k] = w[1];
            }
        }
        let (mut s, mut n) = (0.0, 0.0);
        for k in 0..3 {
            if d[k].is_finite() {
                s += v[k] / (d[k] + 0.1);
                n += 1.0 / (d[k] + 0.1);
            }
        }
        if n > 0.0 { s / n } else { 0.0 }
    }
}

mod voronoi_colours {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 3;
        let mut image = [[0.0; 3]; 3];
        for a in 0..3 {
            for b in 0..3 {
                let mut best = f64::INFINITY;
                for s in 0..n {
                    let (u, v) = (0.5 * a as f64 - x[3 * s], 0.5 * b as f64 - x[3 * s + 1]);
                    let d = u * u + v * v;
                    if d < best {
                        best = d;
                        image[a][b] = x[3 * s + 2] * (1.0 + d);
                    }
                }
            }
        }
        let mut e = 0.0;
        for a in 0..3 {
            for b in 0..3 {
                e += (image[a][b] - 0.5) * (image[a][b] - 0.1 * (a * b) as f64);
            }
        }
        e
    }
}
