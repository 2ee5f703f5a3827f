//! A step of a walker made of springs, which a small network drives.

#[stratape::differentiable]
mod program {
    const PI: f64 = 3.141592653589793;
    const OBJECTS: usize = 128;
    const SPRINGS: usize = 64;
    const HIDDEN: usize = 32;
    const WAVES: usize = 10;
    const FEATURES: usize = WAVES + 4 * OBJECTS + 2;
    const DT: f64 = 0.004;
    const OMEGA: f64 = 10.0;
    const DAMPING: f64 = 15.0;
    const GRAVITY: f64 = -4.8;
    const STIFFNESS: f64 = 30.0;
    const GROUND: f64 = 0.1;
    const GOAL_X: f64 = 0.9;
    const GOAL_Y: f64 = 0.2;

    #[gradient(wrt(w1, b1, w2, b2, x0, v0))]
    fn mass_spring(
        w1: &[f64],
        b1: &[f64],
        w2: &[f64],
        b2: &[f64],
        x0: &[f64],
        v0: &[f64],
        len: &[f64],
        act_gain: &[f64],
        s: &[f64],
        step: usize,
    ) -> f64 {
        let mut cx = 0.0;
        let mut cy = 0.0;
        for q in 0..OBJECTS {
            cx += x0[2 * q];
            cy += x0[2 * q + 1];
        }
        cx /= OBJECTS as f64;
        cy /= OBJECTS as f64;

        let mut h = vec![0.0; HIDDEN];
        for i in 0..HIDDEN {
            let row = i * FEATURES;
            let mut sum = b1[i];
            for j in 0..WAVES {
                let phase = OMEGA * step as f64 * DT + 2.0 * PI * j as f64 / WAVES as f64;
                sum += w1[row + j] * phase.sin();
            }
            for q in 0..OBJECTS {
                let column = row + WAVES + 4 * q;
                sum += 0.05
                    * (w1[column] * (x0[2 * q] - cx)
                        + w1[column + 1] * (x0[2 * q + 1] - cy)
                        + w1[column + 2] * v0[2 * q]
                        + w1[column + 3] * v0[2 * q + 1]);
            }
            sum += w1[row + FEATURES - 2] * (GOAL_X - cx);
            sum += w1[row + FEATURES - 1] * (GOAL_Y - cy);
            h[i] = sum.tanh();
        }

        let mut impulse = vec![0.0; 2 * OBJECTS];
        for i in 0..SPRINGS {
            let mut sum = b2[i];
            for j in 0..HIDDEN {
                sum += w2[i * HIDDEN + j] * h[j];
            }
            let act = sum.tanh();
            let a = i;
            let b = 2 * i + 1;
            let dx = x0[2 * a] - x0[2 * b];
            let dy = x0[2 * a + 1] - x0[2 * b + 1];
            let l = (dx * dx + dy * dy).sqrt() + 1e-4;
            let target = len[i] * (1.0 + act_gain[i] * act);
            let strength = DT * (l - target) * STIFFNESS / l;
            impulse[2 * a] -= strength * dx;
            impulse[2 * a + 1] -= strength * dy;
            impulse[2 * b] += strength * dx;
            impulse[2 * b + 1] += strength * dy;
        }

        let decay = (-DT * DAMPING).exp();
        let mut x = vec![0.0; 2 * OBJECTS];
        let mut v = vec![0.0; 2 * OBJECTS];
        for q in 0..OBJECTS {
            let mut vx = decay * v0[2 * q] + impulse[2 * q];
            let mut vy = decay * v0[2 * q + 1] + DT * GRAVITY + impulse[2 * q + 1];
            if x0[2 * q + 1] < GROUND && vy < 0.0 {
                vx = 0.0;
                vy = 0.0;
            }
            v[2 * q] = vx;
            v[2 * q + 1] = vy;
            x[2 * q] = x0[2 * q] + DT * vx;
            x[2 * q + 1] = x0[2 * q + 1] + DT * vy;
        }

        let mut loss = 0.0;
        for k in 0..2 * OBJECTS {
            loss += s[k] * x[k] + s[2 * OBJECTS + k] * v[k];
        }
        loss
    }
}
