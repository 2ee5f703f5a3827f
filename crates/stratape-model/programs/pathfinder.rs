//! The cheapest way down a wall, by dynamic programming.

#[stratape::differentiable]
mod program {
    const ROWS: usize = 128;
    const COLS: usize = 256;

    #[gradient(wrt(wall))]
    fn pathfinder(wall: &[f64], s: &[f64]) -> f64 {
        let mut buf = vec![0.0; ROWS * COLS];
        for n in 0..COLS {
            buf[n] = wall[n];
        }
        for t in 0..ROWS - 1 {
            for n in 0..COLS {
                let mut least = buf[t * COLS + n];
                if n > 0 {
                    if buf[t * COLS + n - 1] < least {
                        least = buf[t * COLS + n - 1];
                    }
                }
                if n + 1 < COLS {
                    if buf[t * COLS + n + 1] < least {
                        least = buf[t * COLS + n + 1];
                    }
                }
                buf[(t + 1) * COLS + n] = wall[(t + 1) * COLS + n] + least;
            }
        }
        let mut sum = 0.0;
        for n in 0..COLS {
            sum += s[n] * buf[(ROWS - 1) * COLS + n];
        }
        sum
    }
}
