use stratape::{differentiable, gradient};

#[gradient]
struct Point {
    x: f64,
}

impl Point {
    #[gradient]
    fn norm(&self) -> f64 {
        self.x.abs()
    }
}

trait Energy {
    #[gradient]
    fn energy(x: f64) -> f64;
}

#[differentiable]
impl Point {
    fn scaled(&self, by: f64) -> f64 {
        by * self.x
    }
}

#[differentiable]
trait Energetic {}

#[differentiable(parallel)]
fn a_function(x: f64) -> f64 {
    x
}

#[differentiable(all)]
mod with_arguments {}

#[differentiable]
mod with_method {
    pub struct Disc {
        pub radius: f64,
    }

    impl Disc {
        #[gradient]
        pub fn without_self(radius: f64) -> f64 {
            radius * radius
        }
    }

    impl Default for Disc {
        #[gradient]
        fn default() -> Disc {
            Disc { radius: 1.0 }
        }
    }
}

fn main() {}
