//! `#[gradient]` on methods.

#![deny(warnings)]
#![allow(unreachable_pub)]

use stratape::{Workspace, differentiable};

/// Stands outside the module of the methods.
#[differentiable]
fn bent(x: f64) -> f64 {
    x.sin() + x
}

#[differentiable]
mod shapes {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Disc {
        pub radius: f64,
        pub weight: f64,
    }

    #[derive(Clone, Debug, PartialEq)]
    pub struct Chain {
        pub at: Vec<f64>,
        pub stiffness: f64,
    }

    #[derive(Clone, Copy)]
    pub struct Narrow(pub f32, pub f32);

    impl Disc {
        fn square(&self) -> f64 {
            self.radius * self.radius
        }

        #[gradient]
        pub fn mass(&self, scale: f64) -> f64 {
            scale * self.weight * self.square() + Self::twice(self.radius)
        }

        fn twice(x: f64) -> f64 {
            2.0 * x
        }

        #[gradient(name = slope)]
        pub fn taken(mut self, by: f64) -> f64 {
            self.radius *= by;
            self.mass(by)
        }

        #[gradient(wrt(x))]
        pub(crate) fn only_by_x(&self, x: f64) -> f64 {
            self.weight * super::bent(x)
        }
    }

    impl Chain {
        #[gradient]
        pub fn relax(&mut self, rate: f64, steps: usize) -> f64 {
            assert!(rate > 0.0, "{rate} is no rate");
            for _ in 0..steps {
                for i in 1..self.at.len() {
                    let stretch = self.at[i] - self.at[i - 1];
                    self.at[i] -= rate * self.stiffness * stretch.sin();
                }
            }
            self.at.iter().map(|x| x * x).sum()
        }
    }

    impl Narrow {
        #[gradient]
        pub fn product(self) -> f32 {
            self.0 * self.1
        }
    }
}

use shapes::{Chain, Disc, Narrow};

fn close(a: f64, plus: f64, minus: f64) {
    let slope = (plus - minus) / 2e-6;
    assert!((a - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{a} {slope}");
}

#[test]
fn by_reference() {
    let disc = Disc { radius: 1.5, weight: 0.7 };
    let mut shadow = Disc::default();
    let (value, dscale) = disc.mass_grad(&mut shadow, 2.0, 1.0);
    assert_eq!(value, disc.mass(2.0));
    assert_eq!(dscale, 0.7 * 2.25);
    assert_eq!(shadow.radius, 2.0 * 2.0 * 0.7 * 1.5 + 2.0);
    assert_eq!(shadow.weight, 2.0 * 2.25);
    let (value, dx) = disc.only_by_x_grad(0.5, 1.0);
    assert_eq!((value, dx), (disc.only_by_x(0.5), 0.7 * (0.5_f64.cos() + 1.0)));
}

#[test]
fn by_value() {
    let disc = Disc { radius: 1.5, weight: 0.7 };
    let (value, shadow, dby) = disc.slope(1.2, 1.0);
    assert_eq!(value, disc.taken(1.2));
    close(dby, disc.taken(1.2 + 1e-6), disc.taken(1.2 - 1e-6));
    let at = |h: f64| Disc { radius: 1.5 + h, ..disc }.taken(1.2);
    close(shadow.radius, at(1e-6), at(-1e-6));
    let (value, shadow) = Narrow(2.0, 3.0).product_grad(1.0);
    assert_eq!((value, shadow.0, shadow.1), (6.0, 3.0, 2.0));
    assert_eq!(Narrow(2.0, 3.0).product(), 6.0);
}

#[test]
fn by_exclusive_reference() {
    let start = Chain { at: vec![0.1, 0.9, 1.4, 2.2], stiffness: 0.8 };
    let zero = Chain { at: vec![0.0; 4], stiffness: 0.0 };
    let run = |change: &dyn Fn(&mut Chain), rate: f64| {
        let mut chain = start.clone();
        change(&mut chain);
        chain.relax(rate, 5)
    };
    let (mut end, mut shadow) = (start.clone(), zero.clone());
    let (value, drate) = end.relax_grad(&mut shadow, 0.3, 5, 1.0);
    assert_eq!(value, run(&|_| {}, 0.3));
    close(drate, run(&|_| {}, 0.3 + 1e-6), run(&|_| {}, 0.3 - 1e-6));
    for i in 0..4 {
        close(shadow.at[i], run(&|c| c.at[i] += 1e-6, 0.3), run(&|c| c.at[i] -= 1e-6, 0.3));
    }
    close(shadow.stiffness, run(&|c| c.stiffness += 1e-6, 0.3), run(&|c| c.stiffness -= 1e-6, 0.3));
    let (mut again, mut shadow_again) = (start.clone(), zero);
    let mut workspace = Workspace::new();
    let outcome = again.relax_grad_in(&mut workspace, &mut shadow_again, 0.3, 5, 1.0);
    assert!(outcome.is_ok_and(|(other, _)| other == value));
    assert_eq!((again, shadow_again), (end, shadow));
}
