//! References to one of several places, constants, texts.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    choose_ref: 4,
    swap_buffers: 5,
    vec3_index: 6,
    chosen_structs: 4,
    chosen_mut: 4,
    swap_slices: 4,
    best_so_far: 5,
    option_refs: 4,
    consts: 2,
    result_question: 3,
    string_params: 2,
    stats: 6,
    cholesky: 6,
}

#[stratape::differentiable]
mod choose_ref {
    #[derive(Clone)]
    struct Model {
        a: f64,
        b: Vec<f64>,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let m1 = Model { a: x[0], b: vec![x[1], x[2]] };
        let m2 = Model { a: x[3], b: vec![x[2], x[0]] };
        let chosen = if x[0] > 10.0 { &m1 } else { &m2 };
        let list = match x[1] > 0.1 {
            true => &m1.b,
            false => &m2.b,
        };
        chosen.a * chosen.b[0] + list[0] * list[1] * chosen.b.iter().sum::<f64>()
    }
}

#[stratape::differentiable]
mod swap_buffers {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len();
        let mut a = x.to_vec();
        let mut b = vec![0.0; n];
        let (mut cur, mut next) = (&mut a, &mut b);
        for _ in 0..4 {
            for i in 0..n {
                let l = cur[(i + n - 1) % n];
                let r = cur[(i + 1) % n];
                next[i] = cur[i] + 0.1 * (l - 2.0 * cur[i] + r).sin();
            }
            std::mem::swap(&mut cur, &mut next);
        }
        cur.iter().map(|v| v * v).sum()
    }
}

#[stratape::differentiable]
mod vec3_index {
    use std::ops::{Index, IndexMut};
    #[derive(Clone, Copy)]
    struct V3 {
        x: f64,
        y: f64,
        z: f64,
    }
    impl Index<usize> for V3 {
        type Output = f64;
        fn index(&self, i: usize) -> &f64 {
            match i {
                0 => &self.x,
                1 => &self.y,
                2 => &self.z,
                _ => panic!("index {i}"),
            }
        }
    }
    impl IndexMut<usize> for V3 {
        fn index_mut(&mut self, i: usize) -> &mut f64 {
            match i {
                0 => &mut self.x,
                1 => &mut self.y,
                2 => &mut self.z,
                _ => panic!("index {i}"),
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = V3 { x: x[0], y: x[1], z: x[2] };
        let b = V3 { x: x[3], y: x[4], z: x[5] };
        for i in 0..3 {
            a[i] += b[(i + 1) % 3] * 2.0;
            a[i] = a[i].sin() * b[i];
        }
        let list = [a, b];
        let mut s = 0.0;
        for v in &list {
            for i in 0..3 {
                s += v[i] * (i + 1) as f64;
            }
        }
        s * a[2]
    }
}

#[stratape::differentiable]
mod chosen_structs {
    #[derive(Clone)]
    struct Layer {
        w: Vec<f64>,
        b: f64,
    }
    fn larger<'a>(a: &'a Layer, b: &'a Layer) -> &'a Layer {
        if a.w[0] > b.w[0] { a } else { b }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let l1 = Layer { w: vec![x[0], x[1]], b: x[2] };
        let l2 = Layer { w: vec![x[1], x[3]], b: x[0] };
        let l = larger(&l1, &l2);
        let other = match x[0] > 0.5 {
            true => &l1,
            false => &l2,
        };
        let third = larger(l, other).clone();
        l.b * other.w.iter().sum::<f64>() + third.w[1] * third.b
    }
}

#[stratape::differentiable]
mod chosen_mut {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut low = vec![0.0; 2];
        let mut high = [1.0; 3];
        let mut count = 0.0;
        for (i, v) in x.iter().enumerate() {
            let target: &mut [f64] = if *v < 0.6 { &mut low } else { &mut high };
            let n = target.len();
            target[i % n] += v * v;
            target[0] *= 1.1;
            let c = if i % 2 == 0 { &mut count } else { &mut low[1] };
            *c += v.sin();
        }
        low.iter().sum::<f64>() * high[1] + high[2] + high[0] + count
    }
}

#[stratape::differentiable]
mod swap_slices {
    fn smooth(src: &[f64], dst: &mut [f64]) {
        let n = src.len();
        for i in 0..n {
            dst[i] = 0.5 * src[i] + 0.25 * (src[(i + 1) % n] + src[(i + n - 1) % n]).sin();
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = [x[0], x[1], x[2], x[3]];
        let mut b = [0.0; 4];
        let mut src = &mut a;
        let mut dst = &mut b;
        for k in 0..3 {
            smooth(src, dst);
            if k != 1 {
                std::mem::swap(&mut src, &mut dst);
            }
        }
        src[0] * src[1] + dst[2] * 0.5 + src.iter().sum::<f64>()
    }
}

#[stratape::differentiable]
mod best_so_far {
    #[derive(Clone, Copy)]
    struct Node {
        cost: f64,
        w: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let left: Vec<Node> = x.iter().map(|&v| Node { cost: v, w: v * v }).collect();
        let right: Vec<Node> =
            x.iter().map(|&v| Node { cost: 1.1 * v - 0.02, w: v.sin() }).collect();
        let mut best = &left[0];
        for n in left.iter().chain(right.iter()) {
            if n.cost < best.cost {
                best = n;
            }
        }
        let mut a = vec![x[0], x[1]];
        let mut b = vec![x[2], x[3]];
        let (mut p, mut q) = (&mut a, &mut b);
        if x[0] > 0.5 {
            (p, q) = (q, p);
        }
        p[0] *= 3.0;
        q[1] += p[0];
        best.w * best.cost + a[0] * a[1] + b[0] * b[1]
    }
}

#[stratape::differentiable]
mod option_refs {
    struct Cache {
        a: Option<f64>,
        b: f64,
    }
    fn pick<'a>(xs: &'a [f64], ys: &'a [f64], k: usize) -> Option<&'a f64> {
        if k < xs.len() { Some(&xs[k]) } else { ys.get(k - xs.len()) }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let ys = [x[0] * 2.0, x[1] * 3.0];
        let mut s = 0.0;
        for k in 0..8 {
            if let Some(v) = pick(x, &ys, k) {
                s += v * v;
            } else {
                s *= 1.5;
            }
        }
        let c = Cache { a: if x[0] > 0.5 { Some(x[1]) } else { None }, b: x[2] };
        let r = c.a.as_ref().unwrap_or(&c.b);
        let m = if let Some(v) = &c.a { v } else { &c.b };
        s + r * m * x[3]
    }
}

#[stratape::differentiable]
mod consts {
    #[derive(Clone, Copy)]
    struct Node {
        x: f64,
        w: f64,
    }
    const GAUSS: [Node; 3] = [
        Node { x: -0.7745966692, w: 0.5555555556 },
        Node { x: 0.0, w: 0.8888888889 },
        Node { x: 0.7745966692, w: 0.5555555556 },
    ];
    static KERNEL: [[f64; 3]; 3] = [[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]];
    const WEIGHTS: &[f64] = &[0.1, 0.2, 0.3];
    struct Rk4;
    impl Rk4 {
        const A: [f64; 4] = [0.0, 0.5, 0.5, 1.0];
        const B: [f64; 4] = [1.0, 2.0, 2.0, 1.0];
        const STAGES: usize = 4;
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let q: f64 = GAUSS.iter().map(|n| n.w * (x[0] * n.x + x[1]).exp()).sum();
        let mut k = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                k += KERNEL[i][j] * (x[0] * i as f64 + x[1] * j as f64).sin();
            }
        }
        let w: f64 = WEIGHTS.iter().zip(x).map(|(w, x)| w * x).sum();
        let mut stage = 0.0;
        let mut y = x[0];
        for s in 0..Rk4::STAGES {
            stage = (y + Rk4::A[s] * stage).sin();
            y += Rk4::B[s] / 6.0 * stage;
        }
        q + k + w * WEIGHTS.len() as f64 + y + WEIGHTS[1] * x[1] + GAUSS[2].w * x[0]
    }
}

#[stratape::differentiable]
mod result_question {
    fn safe_ln(x: f64) -> Result<f64, String> {
        if x > 0.0 { Ok(x.ln()) } else { Err(format!("ln of {x}")) }
    }
    fn safe_sqrt(x: f64) -> Result<f64, String> {
        if x < 0.0 {
            return Err("negative".to_string());
        }
        Ok(x.sqrt())
    }
    fn combined(a: f64, b: f64) -> Result<f64, String> {
        let l = safe_ln(a)?;
        let s = safe_sqrt(b)?;
        Ok(l * s)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        match combined(x[0], x[1]) {
            Ok(v) => v * x[2],
            Err(_) => 0.0,
        }
    }
}

#[stratape::differentiable]
mod string_params {
    fn activation(name: &str, x: f64) -> f64 {
        match name {
            "relu" => x.max(0.0),
            "tanh" => x.tanh(),
            "gelu" => 0.5 * x * (1.0 + (x * 0.79788).tanh()),
            _ => panic!("unknown activation {name}"),
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let names = ["relu", "tanh", "gelu"];
        let mut s = 0.0;
        for n in names {
            s += activation(n, x[0]) * x[1];
        }
        s
    }
}

#[stratape::differentiable]
mod stats {
    fn mean(x: &[f64]) -> f64 {
        x.iter().sum::<f64>() / x.len() as f64
    }
    fn variance(x: &[f64]) -> f64 {
        let m = mean(x);
        x.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (x.len() - 1) as f64
    }
    fn median(x: &[f64]) -> f64 {
        let mut s = x.to_vec();
        s.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let mid = s.len() / 2;
        if s.len() % 2 == 0 { (s[mid - 1] + s[mid]) / 2.0 } else { s[mid] }
    }
    fn quantile(x: &mut Vec<f64>, q: f64) -> f64 {
        x.sort_unstable_by(f64::total_cmp);
        let pos = q * (x.len() - 1) as f64;
        let lo = pos.floor() as usize;
        let hi = pos.ceil() as usize;
        x[lo] + (pos - lo as f64) * (x[hi] - x[lo])
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let z: Vec<f64> = x.iter().map(|v| (v - mean(x)) / variance(x).sqrt()).collect();
        median(x) + quantile(&mut x.to_vec(), 0.3) + z.iter().map(|v| v.powi(3)).sum::<f64>()
    }
}

#[stratape::differentiable]
mod cholesky {
    fn cholesky(a: &Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
        let n = a.len();
        let mut l = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let mut sum = a[i][j];
                for k in 0..j {
                    sum -= l[i][k] * l[j][k];
                }
                if i == j {
                    if sum <= 0.0 {
                        return None;
                    }
                    l[i][j] = sum.sqrt();
                } else {
                    l[i][j] = sum / l[j][j];
                }
            }
        }
        Some(l)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = vec![
            vec![2.0 + x[0], x[1], x[2]],
            vec![x[1], 3.0 + x[3], x[4]],
            vec![x[2], x[4], 4.0 + x[5]],
        ];
        match cholesky(&a) {
            Some(l) => 2.0 * l.iter().enumerate().map(|(i, row)| row[i].ln()).sum::<f64>(),
            None => f64::NEG_INFINITY,
        }
    }
}
