//! Choices whose payload is a struct, an enum or a list, in programs as people write them.

programs! {
    loop_over_consts: 6,
}

mod loop_over_consts {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for t in [0.1, 0.4, 0.8] {
            let mut e = 0.0;
            for v in x {
                let r = v - t * x[0];
                e += if r > 0.0 { r } else { -0.5 * r };
            }
            if e < best {
                best = e;
                c = t * x[1];
            }
        }
        best + c
    }
}
