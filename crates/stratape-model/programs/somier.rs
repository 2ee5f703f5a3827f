//! Forces of springs between the nodes of a grid.

#[stratape::differentiable]
mod program {
    const SIDE: usize = 8;
    const CELLS: usize = SIDE * SIDE * SIDE;
    const PLANE: usize = SIDE * SIDE;

    #[gradient(wrt(x))]
    fn somier(x: &[f64], s: &[f64]) -> f64 {
        let mut f = vec![0.0; 3 * CELLS];
        for i in 1..SIDE - 1 {
            for j in 1..SIDE - 1 {
                for k in 1..SIDE - 1 {
                    let p = (i * SIDE + j) * SIDE + k;
                    pull(x, &mut f, p, p - PLANE);
                    pull(x, &mut f, p, p + PLANE);
                    pull(x, &mut f, p, p - SIDE);
                    pull(x, &mut f, p, p + SIDE);
                    pull(x, &mut f, p, p - 1);
                    pull(x, &mut f, p, p + 1);
                }
            }
        }
        let mut sum = 0.0;
        for k in 0..3 * CELLS {
            sum += s[k] * f[k];
        }
        sum
    }

    /// The force on `p` of the spring to `q`.
    fn pull(x: &[f64], f: &mut [f64], p: usize, q: usize) {
        let dx = x[q] - x[p];
        let dy = x[CELLS + q] - x[CELLS + p];
        let dz = x[2 * CELLS + q] - x[2 * CELLS + p];
        let l = (dx * dx + dy * dy + dz * dz).sqrt();
        f[p] += 2.5 * (l - 1.0) * dx / l;
        f[CELLS + p] += 2.5 * (l - 1.0) * dy / l;
        f[2 * CELLS + p] += 2.5 * (l - 1.0) * dz / l;
    }
}
