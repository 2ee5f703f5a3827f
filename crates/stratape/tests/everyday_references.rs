//! References to one of several places.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

#![allow(
    dead_code,
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "programs as people write them"
)]
#![allow(unreachable_pub)]

mod common;

/// A test for every program, with the length of its list.
macro_rules! programs {
    ($($name:ident: $len:literal),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                let shape = vec![0.0; $len];
                common::check_within(0.2..1.0, shape, |x| $name::f(x), |x, dx, seed| $name::f_grad(x, dx, seed));
            }
        )*
    };
}

programs! {
    choose_ref: 4,
    swap_buffers: 5,
    vec3_index: 6,
    chosen_structs: 4,
    chosen_mut: 4,
    swap_slices: 4,
    best_so_far: 5,
    option_refs: 4,
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
