//! Own types with parameters, traits, conversions and collections of their own.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    constants_of_parameters: 2,
    parameters_that_no_field_shows: 1,
    traits_of_tuples: 2,
    a_trait_for_every_type: 1,
    own_not: 1,
    fields_through_deref: 1,
    own_order: 2,
    errors_converted: 1,
    own_collections: 3,
    taken_structs: 3,
    lists_of_several_lengths: 3,
}

#[stratape::differentiable]
mod constants_of_parameters {
    pub struct Mat<const R: usize> {
        a: [f64; R],
    }
    impl<const R: usize> Mat<R> {
        const SIZE: usize = R * 2;
        fn s(&self) -> f64 {
            let mut t = 0.0;
            for i in 0..Self::SIZE {
                t += self.a[i % R];
            }
            t
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let m = Mat::<2> { a: [x[0], x[1]] };
        m.s() * Mat::<3>::SIZE as f64
    }
}

#[stratape::differentiable]
mod parameters_that_no_field_shows {
    #[derive(Clone, Copy)]
    pub struct L<const N: usize>(f64);
    impl<const N: usize> L<N> {
        fn p(self) -> f64 {
            self.0.powi(N as i32)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let x = x[0];
        L::<2>(x).p() + L::<3>(x).p()
    }
}

#[stratape::differentiable]
mod traits_of_tuples {
    trait Norm {
        fn norm(&self) -> f64;
    }
    impl Norm for (f64, f64) {
        fn norm(&self) -> f64 {
            (self.0 * self.0 + self.1 * self.1).sqrt()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = (x[0], x[1]);
        p.norm() + (x[1], 2.0).norm()
    }
}

#[stratape::differentiable]
mod a_trait_for_every_type {
    trait V {
        fn v(&self) -> f64;
    }
    trait Dbl {
        fn d(&self) -> f64;
    }
    struct S {
        a: f64,
    }
    impl V for S {
        fn v(&self) -> f64 {
            self.a * self.a
        }
    }
    impl<T: V> Dbl for T {
        fn d(&self) -> f64 {
            2.0 * self.v()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let x = x[0];
        S { a: x }.d()
    }
}

#[stratape::differentiable]
mod own_not {
    use std::ops::Not;
    #[derive(Clone, Copy)]
    pub struct S {
        a: f64,
    }
    impl Not for S {
        type Output = S;
        fn not(self) -> S {
            S { a: 1.0 - self.a }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let x = x[0];
        (!S { a: x * x }).a
    }
}

#[stratape::differentiable]
mod fields_through_deref {
    use std::ops::Deref;
    pub struct In {
        a: f64,
    }
    pub struct Out {
        i: In,
    }
    impl Deref for Out {
        type Target = In;
        fn deref(&self) -> &In {
            &self.i
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let x = x[0];
        let o = Out { i: In { a: x } };
        o.a * o.a
    }
}

#[stratape::differentiable]
mod own_order {
    use std::cmp::Ordering;
    #[derive(Clone, Copy, PartialEq)]
    pub struct S {
        a: f64,
        k: usize,
    }
    impl Eq for S {}
    impl PartialOrd for S {
        fn partial_cmp(&self, o: &S) -> Option<Ordering> {
            Some(self.cmp(o))
        }
    }
    impl Ord for S {
        fn cmp(&self, o: &S) -> Ordering {
            self.k.cmp(&o.k).then(self.a.total_cmp(&o.a))
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = vec![S { a: x[0], k: 2 }, S { a: x[1], k: 1 }];
        v.sort();
        let m = v.iter().max().unwrap();
        v[0].a * v[0].a + m.a
    }
}

#[stratape::differentiable]
mod errors_converted {
    #[derive(Debug)]
    pub enum E1 {
        Neg(f64),
    }
    #[derive(Debug)]
    pub enum E2 {
        Low(f64),
        Other,
    }
    impl From<E1> for E2 {
        fn from(e: E1) -> E2 {
            match e {
                E1::Neg(v) => E2::Low(2.0 * v),
            }
        }
    }
    fn a(x: f64) -> Result<f64, E1> {
        if x < 0.0 { Err(E1::Neg(x)) } else { Ok(x.sqrt()) }
    }
    fn b(x: f64) -> Result<f64, E2> {
        let y = a(x)?;
        Ok(y * y * y)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let x = x[0];
        match b(x) {
            Ok(v) => v,
            Err(E2::Low(v)) => v * v,
            Err(E2::Other) => 0.0,
        }
    }
}

#[stratape::differentiable]
mod own_collections {
    pub struct Bag {
        v: Vec<f64>,
    }
    impl FromIterator<f64> for Bag {
        fn from_iter<I: IntoIterator<Item = f64>>(it: I) -> Bag {
            let mut v = Vec::new();
            for x in it {
                v.push(2.0 * x);
            }
            Bag { v }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let b: Bag = x.iter().map(|v| v * v).collect();
        b.v.iter().sum::<f64>() + x.iter().copied().collect::<Bag>().v[0]
    }
}

#[stratape::differentiable]
mod taken_structs {
    #[derive(Clone)]
    pub struct S {
        a: f64,
        v: Vec<f64>,
        w: f64,
    }
    impl Default for S {
        fn default() -> S {
            S { a: 1.5, v: vec![2.0; 3], w: 0.5 }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { a: x[0], v: x.to_vec(), w: 3.0 };
        let t = std::mem::take(&mut s);
        t.a * t.v[1] + s.a + s.v.len() as f64 * t.a * s.w
    }
}

mod lists_of_several_lengths {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut total = 0.0;
        for n in 0..3 {
            let w = match n {
                0 => vec![x[0], x[1]],
                1 => vec![x[0]],
                _ => vec![x[0] * 2.0, x[1], 3.0],
            };
            let mut v = if x[0] > 0.5 { vec![1.0, 2.0] } else { vec![3.0] };
            v.push(x[2]);
            total += w.iter().map(|v| v * v).sum::<f64>() * v[v.len() - 1] * v[0];
        }
        total
    }
}
