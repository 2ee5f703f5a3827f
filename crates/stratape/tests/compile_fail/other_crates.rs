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

/// What to write instead of what is not known.
#[allow(deprecated)]
mod parts {
    use nalgebra::DMatrix;
    use ndarray::{Array1, Array2, azip, s};
    use stratape::gradient;

    #[gradient]
    fn decomposed(m: &DMatrix<f64>) -> f64 {
        m.clone().svd(true, true).singular_values[0]
    }

    #[gradient]
    fn reshaped(m: &Array2<f64>) -> f64 {
        m.clone().into_shape(4).unwrap()[0]
    }

    #[gradient]
    fn kept(v: &Array1<f64>) -> f64 {
        let part = s![1..];
        v.slice(part).sum()
    }

    #[gradient]
    fn steps(v: &Array1<f64>, k: usize) -> f64 {
        v.slice(s![..;k]).sum()
    }

    #[gradient]
    fn zipped(v: &Array1<f64>) -> f64 {
        let mut w = v.clone();
        azip!((w in &mut w, v in v) *w *= *v);
        w.sum()
    }
}

mod unknown_type {
    use nalgebra::{UnitQuaternion, Vector3};
    use stratape::gradient;

    #[gradient]
    fn turned(v: &Vector3<f64>, angle: f64) -> f64 {
        (UnitQuaternion::from_euler_angles(0.0, angle, 0.0) * v).x
    }
}

fn main() {}
