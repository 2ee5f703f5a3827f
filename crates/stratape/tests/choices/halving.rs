//! Searches by halving, bisection and tables, with gradients through what was found.

programs! {
    table: 8, table_descending: 7, cdf_inverse: 7, secant: 3, lower_bound: 7, interval_halving: 5, bilinear:
    9, partition_point: 7, step_down: 6, clamped_table: 7, hermite_table: 8, parallel_table: 8,
    spline_segment: 8, dichotomy_payload: 6, found_index_value: 7, branchless: 8, range_max: 8,
}

mod table {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() - 1;
        let t = x[n];
        let mut knots = vec![0.0; n];
        let mut acc = 0.0;
        for i in 0..n {
            acc += 0.05 + x[i] * x[i] * 0.2;
            knots[i] = acc;
        }
        let (mut lo, mut hi) = (0, n - 1);
        while hi - lo > 1 {
            let mid = (lo + hi) / 2;
            if knots[mid] <= t {
                lo = mid;
            } else {
                hi = mid;
            }
        }
        let w = (t - knots[lo]) / (knots[hi] - knots[lo]);
        (1.0 - w) * x[lo] + w * x[hi]
    }
}

mod table_descending {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let k: Vec<f64> = (0..6).map(|i| 1.0 - 0.2 * i as f64).collect();
        let t = x[0];
        let (mut lo, mut hi) = (0_usize, k.len());
        while lo < hi {
            let mid = lo + (hi - lo) / 2;
            if k[mid] > t { lo = mid + 1 } else { hi = mid }
        }
        let i = lo.clamp(1, 5);
        let w = (k[i - 1] - t) / (k[i - 1] - k[i]);
        x[i] * w + x[i - 1] * (1.0 - w)
    }
}

mod cdf_inverse {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() - 1;
        let mut cdf = vec![0.0; n + 1];
        for i in 0..n {
            cdf[i + 1] = cdf[i] + x[i] * x[i];
        }
        let u = (0.1 + 0.8 * x[n].fract()) * cdf[n];
        let mut i = 0;
        while i + 1 < n && cdf[i + 1] < u {
            i += 1;
        }
        i as f64 + (u - cdf[i]) / (cdf[i + 1] - cdf[i])
    }
}

mod secant {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let h = |t: f64| t * t * t + x[0] * t - x[1] - 0.3;
        let (mut a, mut b) = (0.0, 1.0);
        for _ in 0..5 {
            let (p, q) = (h(a), h(b));
            if (q - p).abs() < 1.0e-9 {
                break;
            }
            let c = b - q * (b - a) / (q - p);
            a = b;
            b = c;
        }
        b * x[2]
    }
}

mod lower_bound {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        y.sort_by(|a, b| a.total_cmp(b));
        let mut len = y.len();
        let mut base = 0;
        while len > 1 {
            let half = len / 2;
            base = if y[base + half - 1] < 0.5 { base + half } else { base };
            len -= half;
        }
        y[base] * y[base] + x[0]
    }
}

mod interval_halving {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut step = 1.0;
        let mut p = x[0];
        let mut s = 0.0;
        for v in x {
            step *= 0.5;
            p += if *v > p { step } else { -step * v };
            s += p * v;
        }
        s + p
    }
}

mod bilinear {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (u, v) = (x[0] * 1.9, x[1] * 1.9);
        let i = (u.floor().max(0.0) as usize).min(1);
        let j = (v.floor().max(0.0) as usize).min(1);
        let (a, b) = (u - i as f64, v - j as f64);
        let g = |i: usize, j: usize| x[(3 * i + j) % x.len()];
        g(i, j) * (1.0 - a) * (1.0 - b)
            + g(i + 1, j) * a * (1.0 - b)
            + g(i, j + 1) * (1.0 - a) * b
            + g(i + 1, j + 1) * a * b
    }
}

mod partition_point {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        y.sort_by(|a, b| a.total_cmp(b));
        let i = y.partition_point(|v| *v < 0.6).min(y.len() - 1);
        y[i] * x[0] + y[i / 2]
    }
}

mod step_down {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut pos = 0;
        let mut step = 4;
        let mut acc = 0.0;
        while step > 0 {
            if pos + step < x.len() && acc + x[pos + step] * x[pos] < 1.0 {
                pos += step;
                acc += x[pos];
            }
            step /= 2;
        }
        acc * x[pos] + x[0]
    }
}

mod clamped_table {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() - 1;
        let mut s = 0.0;
        for q in 0..5 {
            let t = (x[n] * q as f64).clamp(0.0, (n - 1) as f64 - 1.0e-9);
            let i = t as usize;
            let w = t - i as f64;
            s += x[i] + w * (x[i + 1] - x[i]);
        }
        s
    }
}

mod hermite_table {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len();
        let mut s = 0.0;
        for q in 0..6 {
            let t = 1.0 + (n as f64 - 4.0) * q as f64 / 6.0 + 0.3 * x[0].fract().abs();
            let i = (t.floor() as usize).min(n - 3);
            let u = t - i as f64;
            let (a, b, c, d) = (x[i - 1], x[i], x[i + 1], x[i + 2]);
            s += b + 0.5
                * u
                * (c - a + u * (2.0 * a - 5.0 * b + 4.0 * c - d + u * (3.0 * (b - c) + d - a)));
        }
        s * s
    }
}

mod parallel_table {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len();
        let mut out = vec![0.0; n];
        #[parallel]
        for q in 0..n {
            let t = x[q] * (n - 1) as f64 * 0.99;
            let (mut lo, mut hi) = (0, n - 1);
            while hi - lo > 1 {
                let mid = (lo + hi) / 2;
                if mid as f64 <= t { lo = mid } else { hi = mid }
            }
            let w = t - lo as f64;
            out[q] = x[lo] * (1.0 - w) + x[hi] * w;
        }
        out.iter().map(|v| v * v).sum()
    }
}

mod spline_segment {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 2;
        let (k, c) = x.split_at(n);
        let mut s = 0.0;
        for q in 0..4 {
            let t = 0.3 + 0.15 * q as f64;
            let mut seg = 0;
            for i in 0..n {
                if t >= k[i] {
                    seg = i;
                }
            }
            let d = t - k[seg];
            s += c[seg] * d + c[(seg + 1) % n] * d * d;
        }
        s
    }
}

mod dichotomy_payload {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut lo, mut hi) = (0.0, 1.0);
        let (mut flo, mut fhi) = (x[0], x[1]);
        for v in x {
            let mid = 0.5 * (lo + hi);
            let fm = flo * (1.0 - mid) + fhi * mid + v * 0.1;
            if fm > 0.6 {
                hi = mid;
                fhi = fm;
            } else {
                lo = mid;
                flo = fm;
            }
        }
        lo * flo + hi * fhi
    }
}

mod found_index_value {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for t in [0.2, 0.5, 0.9] {
            match x.iter().position(|v| *v > t) {
                Some(0) => s += x[0],
                Some(i) => s += x[i] * (t - x[i - 1]) / (x[i] - x[i - 1] + 0.1),
                None => s += x[x.len() - 1],
            }
        }
        s
    }
}

mod branchless {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let t = x[0];
        let mut i = 0;
        for step in [4, 2, 1] {
            i += step * usize::from(i + step < x.len() && x[i + step] < t);
        }
        let a = if x[i] < t { x[i] * t } else { 0.0 };
        a + x[i]
    }
}

mod range_max {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len();
        let mut tree = vec![f64::NEG_INFINITY; 2 * n];
        for i in 0..n {
            tree[n + i] = x[i] * x[0];
        }
        for i in (1..n).rev() {
            tree[i] = if tree[2 * i] >= tree[2 * i + 1] { tree[2 * i] } else { tree[2 * i + 1] };
        }
        let (mut l, mut r) = (n + 1, 2 * n);
        let mut best = f64::NEG_INFINITY;
        while l < r {
            if l & 1 == 1 {
                best = best.max(tree[l]);
                l += 1;
            }
            if r & 1 == 1 {
                r -= 1;
                best = best.max(tree[r]);
            }
            l /= 2;
            r /= 2;
        }
        best * tree[1]
    }
}
