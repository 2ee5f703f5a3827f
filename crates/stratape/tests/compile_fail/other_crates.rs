//! Types of other crates that the compiler knows by heart.

mod unknown_method {
    use num_complex::Complex64;
    use stratape::gradient;

    #[gradient]
    fn rounded(z: Complex64) -> f64 {
        z.asinh().re
    }
}

mod no_such_operator {
    use num_complex::Complex;
    use stratape::gradient;

    #[gradient]
    fn remainder(z: &[Complex<f64>]) -> f64 {
        (z[0] % z[1]).re
    }
}

mod sizes_not_in_the_type {
    use nalgebra::DVector;
    use ndarray::Array1;
    use stratape::gradient;

    #[gradient]
    fn by_value(v: DVector<f64>) -> f64 {
        v.sum()
    }

    #[gradient]
    fn in_a_list(v: &[Array1<f64>]) -> f64 {
        v[0].sum()
    }
}

/// Another type under that name, which a second function of this name in the file makes look like the crate's.
mod a_type_of_the_same_name {
    pub mod one {
        use num_complex::Complex;
        use stratape::gradient;

        #[gradient]
        fn product(z: Complex<f64>) -> f64 {
            z.re * z.im
        }
    }

    pub mod other {
        pub struct Complex<T> {
            pub re: T,
            pub im: T,
        }
    }

    pub mod two {
        use super::other::Complex;
        use stratape::gradient;

        #[gradient]
        fn product(z: Complex<f64>) -> f64 {
            z.re * z.im
        }
    }
}

fn main() {}
