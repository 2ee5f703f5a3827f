//! Everyday programs in single precision.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    matrix_index: 6,
    enum_layers: 5,
    moving_average_deque: 8,
    partition: 6,
    list_of_structs_with_enum: 4,
    best_so_far: 5,
    iterator_chain: 3,
}

#[stratape::differentiable]
mod matrix_index {
    use std::ops::{Index, IndexMut};
    pub struct Matrix {
        rows: usize,
        cols: usize,
        data: Vec<f32>,
    }
    impl Matrix {
        fn zeros(rows: usize, cols: usize) -> Self {
            Self { rows, cols, data: vec![0.0; rows * cols] }
        }
        fn mul(&self, other: &Matrix) -> Matrix {
            let mut out = Matrix::zeros(self.rows, other.cols);
            for i in 0..self.rows {
                for j in 0..other.cols {
                    for k in 0..self.cols {
                        out[(i, j)] += self[(i, k)] * other[(k, j)];
                    }
                }
            }
            out
        }
    }
    impl Index<(usize, usize)> for Matrix {
        type Output = f32;
        fn index(&self, (i, j): (usize, usize)) -> &f32 {
            &self.data[i * self.cols + j]
        }
    }
    impl IndexMut<(usize, usize)> for Matrix {
        fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f32 {
            &mut self.data[i * self.cols + j]
        }
    }
    #[gradient]
    pub fn f(x: &[f32]) -> f32 {
        let mut a = Matrix::zeros(2, 3);
        for i in 0..2 {
            for j in 0..3 {
                a[(i, j)] = x[i * 3 + j];
            }
        }
        let mut b = Matrix::zeros(3, 2);
        for i in 0..3 {
            for j in 0..2 {
                b[(i, j)] = x[j * 3 + i].sin();
            }
        }
        let c = a.mul(&b);
        c[(0, 0)] * c[(1, 1)] - c[(0, 1)] * c[(1, 0)]
    }
}

#[stratape::differentiable]
mod enum_layers {
    enum Layer {
        Linear { w: f32, b: f32 },
        Relu,
        Scale(f32),
    }
    impl Layer {
        fn forward(&self, x: f32) -> f32 {
            match self {
                Layer::Linear { w, b } => w * x + b,
                Layer::Relu => x.max(0.0),
                Layer::Scale(s) => s * x,
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f32]) -> f32 {
        let net = vec![
            Layer::Linear { w: x[0], b: x[1] },
            Layer::Relu,
            Layer::Scale(x[2]),
            Layer::Linear { w: x[3], b: 1.0 },
        ];
        net.iter().fold(x[4], |h, l| l.forward(h))
    }
}

#[stratape::differentiable]
mod moving_average_deque {
    use std::collections::VecDeque;
    #[gradient]
    pub fn f(x: &[f32]) -> f32 {
        let mut window: VecDeque<f32> = VecDeque::with_capacity(3);
        let mut out = 0.0;
        for &v in x {
            if window.len() == 3 {
                window.pop_front();
            }
            window.push_back(v);
            let mean = window.iter().sum::<f32>() / window.len() as f32;
            out += (v - mean) * (v - mean) * window[0];
        }
        out
    }
}

#[stratape::differentiable]
mod partition {
    #[gradient]
    pub fn f(x: &[f32]) -> f32 {
        let (low, high): (Vec<f32>, Vec<f32>) = x.iter().partition(|v| **v < 0.6);
        let p: f32 = low.iter().product();
        p + high.iter().map(|v| v * v).sum::<f32>()
    }
}

#[stratape::differentiable]
mod list_of_structs_with_enum {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Long,
        Short,
    }
    #[derive(Clone)]
    struct Trade {
        kind: Kind,
        size: f32,
        fees: Vec<f32>,
        stop: Option<f32>,
    }
    #[gradient]
    pub fn f(x: &[f32]) -> f32 {
        let mut book: Vec<Trade> = Vec::new();
        for (i, &v) in x.iter().enumerate() {
            let kind = if i % 2 == 0 { Kind::Long } else { Kind::Short };
            book.push(Trade {
                kind,
                size: v,
                fees: vec![0.1 * v; i],
                stop: if i > 1 { Some(v * v) } else { None },
            });
        }
        book[0].fees.push(x[3]);
        book[1].stop = Some(x[0]);
        book.retain(|t| t.size > 0.0);
        book.swap(0, 1);
        let t = book.remove(0);
        book.insert(1, t);
        let mut pnl = 0.0;
        for t in &book {
            pnl += match t.kind {
                Kind::Long => t.size,
                Kind::Short => -t.size * 0.5,
            };
            pnl -= t.fees.iter().sum::<f32>();
            if let Some(s) = t.stop {
                pnl += s;
            }
        }
        let longs = book.iter().filter(|t| t.kind == Kind::Long).count();
        pnl * longs as f32
    }
}

#[stratape::differentiable]
mod best_so_far {
    #[derive(Clone, Copy)]
    struct Node {
        cost: f32,
        w: f32,
    }
    #[gradient]
    pub fn f(x: &[f32]) -> f32 {
        let left: Vec<Node> = x.iter().map(|&v| Node { cost: v, w: v * v }).collect();
        let right: Vec<Node> =
            x.iter().map(|&v| Node { cost: 1.1 * v + 0.05, w: v.sin() }).collect();
        let mut best = &left[0];
        for n in left.iter().chain(right.iter()) {
            if n.cost < best.cost {
                best = n;
            }
        }
        let mut a = vec![x[0], x[1]];
        let mut b = vec![x[2], x[3]];
        let (mut p, mut q) = (&mut a, &mut b);
        if x[0] > 0.1 {
            (p, q) = (q, p);
        }
        p[0] *= 3.0;
        q[1] += p[0];
        best.w * best.cost + a[0] * a[1] + b[0] * b[1]
    }
}

#[stratape::differentiable]
mod iterator_chain {
    struct Newton {
        a: f32,
        guess: f32,
    }
    impl Iterator for Newton {
        type Item = f32;
        fn next(&mut self) -> Option<f32> {
            self.guess = 0.5 * (self.guess + self.a / self.guess);
            Some(self.guess)
        }
    }
    struct Countdown(u32);
    impl Iterator for Countdown {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            if self.0 == 0 {
                None
            } else {
                self.0 -= 1;
                Some(self.0)
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f32]) -> f32 {
        let root = Newton { a: x[0], guess: 1.0 }.skip(3).next().unwrap();
        let mut n = Newton { a: x[1], guess: x[2] };
        let first = n.next().unwrap();
        let second = n.next().unwrap();
        let tail: Vec<f32> = n.take(3).collect();
        let c: f32 = Countdown(4).zip(x.iter()).map(|(k, v)| k as f32 * v).sum();
        let mut m = Newton { a: x[2], guess: 1.0 };
        let two: f32 = m.by_ref().take(2).sum();
        root * first + second + tail.iter().sum::<f32>() + c + two + m.guess
    }
}
