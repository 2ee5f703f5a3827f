//! mass_spring: one time step of a robot of 128 objects and 64 springs, moved by a small network.

use std::f64::consts::PI;
use std::hint::black_box;

use super::numbers::Numbers;
use super::program::{Expected, Gradient, Inputs, Program};

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

#[expect(clippy::too_many_arguments, reason = "the parameters of a robot")]
#[stratape::gradient(wrt(w1, b1, w2, b2, x0, v0))]
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

/// The entries of the network's input that belong to objects.
const STATE: usize = 4 * OBJECTS;

type Points = [[f64; 2]; OBJECTS];

/// The network's inputs are computed once and kept in the order of the weights; both layers go
/// row by row. The places of the impulses hold their adjoints as soon as the impulses are used.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn shaped(
    w1: &[f64],
    dw1: &mut [f64],
    b1: &[f64],
    db1: &mut [f64],
    w2: &[f64],
    dw2: &mut [f64],
    b2: &[f64],
    db2: &mut [f64],
    x0: &[f64],
    dx0: &mut [f64],
    v0: &[f64],
    dv0: &mut [f64],
    len: &[f64],
    act_gain: &[f64],
    s: &[f64],
    step: usize,
    seed: f64,
) -> f64 {
    let (x0, v0) = (points(x0), points(v0));
    let (dx0, dv0) = (points_mut(dx0), points_mut(dv0));
    let [s_x, s_v] = s.as_chunks::<{ 2 * OBJECTS }>().0.as_array().expect("a weight a result");
    let (s_x, s_v) = (points(s_x), points(s_v));
    let (len, act_gain) = (&len[..SPRINGS], &act_gain[..SPRINGS]);

    let seen = Seen::of(x0, v0, step);
    let h = hidden(w1, b1, &seen);
    let mut springs = [Spring::default(); SPRINGS];
    let mut impulse = [[0.0; 2]; OBJECTS];
    let rows = w2.as_chunks::<HIDDEN>().0.iter().zip(b2).zip(&mut springs);
    for (i, ((row, b), spring)) in rows.enumerate() {
        let mut sum = *b;
        for (w, h) in row.iter().zip(&h) {
            sum += w * h;
        }
        *spring = Spring::between(x0[i], x0[2 * i + 1], sum.tanh(), len[i], act_gain[i]);
        for c in 0..2 {
            impulse[i][c] -= spring.strength * spring.d[c];
            impulse[2 * i + 1][c] += spring.strength * spring.d[c];
        }
    }

    let decay = (-DT * DAMPING).exp();
    let mut loss = 0.0;
    for q in 0..OBJECTS {
        let mut v =
            [decay * v0[q][0] + impulse[q][0], decay * v0[q][1] + DT * GRAVITY + impulse[q][1]];
        let mut moves = 1.0;
        if x0[q][1] < GROUND && v[1] < 0.0 {
            v = [0.0; 2];
            moves = 0.0;
        }
        for c in 0..2 {
            loss += s_x[q][c] * (x0[q][c] + DT * v[c]) + s_v[q][c] * v[c];
            let adjoint = moves * seed * (s_x[q][c] * DT + s_v[q][c]);
            dx0[q][c] += seed * s_x[q][c];
            dv0[q][c] += decay * adjoint;
            impulse[q][c] = adjoint;
        }
    }

    let mut dh = [0.0; HIDDEN];
    let rows = w2.as_chunks::<HIDDEN>().0.iter().zip(dw2.as_chunks_mut::<HIDDEN>().0);
    for (i, (((row, drow), db2), spring)) in rows.zip(db2).zip(&springs).enumerate() {
        let pulled = [0, 1].map(|c| impulse[2 * i + 1][c] - impulse[i][c]);
        let (change, dtarget) = spring.back(pulled);
        for c in 0..2 {
            dx0[i][c] += change[c];
            dx0[2 * i + 1][c] -= change[c];
        }
        let dsum = dtarget * len[i] * act_gain[i] * (1.0 - spring.act * spring.act);
        *db2 += dsum;
        for j in 0..HIDDEN {
            drow[j] += dsum * h[j];
            dh[j] += dsum * row[j];
        }
    }
    for (dh, h) in dh.iter_mut().zip(&h) {
        *dh *= 1.0 - h * h;
    }
    hidden_back(w1, dw1, db1, &seen, &dh, dx0, dv0);
    loss
}

/// What the network sees: the waves, each object's offset from the centre and velocity, and the
/// way from the centre to the goal.
struct Seen {
    waves: [f64; WAVES],
    state: [f64; STATE],
    goal: [f64; 2],
}

impl Seen {
    fn of(x0: &Points, v0: &Points, step: usize) -> Self {
        let mut centre = [0.0; 2];
        for point in x0 {
            centre[0] += point[0];
            centre[1] += point[1];
        }
        centre = centre.map(|c| c / OBJECTS as f64);
        let mut waves = [0.0; WAVES];
        for (j, wave) in waves.iter_mut().enumerate() {
            *wave = (OMEGA * step as f64 * DT + 2.0 * PI * j as f64 / WAVES as f64).sin();
        }
        let mut state = [0.0; STATE];
        for ((state, x), v) in state.as_chunks_mut::<4>().0.iter_mut().zip(x0).zip(v0) {
            *state = [x[0] - centre[0], x[1] - centre[1], v[0], v[1]];
        }
        Self { waves, state, goal: [GOAL_X - centre[0], GOAL_Y - centre[1]] }
    }
}

fn hidden(w1: &[f64], b1: &[f64], seen: &Seen) -> [f64; HIDDEN] {
    let mut h = [0.0; HIDDEN];
    for ((h, row), b) in h.iter_mut().zip(w1.as_chunks::<FEATURES>().0).zip(b1) {
        let mut sum = *b;
        for (w, wave) in row.iter().zip(&seen.waves) {
            sum += w * wave;
        }
        let (weights, _) = row[WAVES..].as_chunks::<4>();
        for (w, state) in weights.iter().zip(seen.state.as_chunks::<4>().0) {
            let term = w[0] * state[0] + w[1] * state[1] + w[2] * state[2] + w[3] * state[3];
            sum += 0.05 * term;
        }
        sum += row[FEATURES - 2] * seen.goal[0];
        sum += row[FEATURES - 1] * seen.goal[1];
        *h = sum.tanh();
    }
    h
}

/// From the adjoints of the hidden sums to those of the weights, positions and velocities.
fn hidden_back(
    w1: &[f64],
    dw1: &mut [f64],
    db1: &mut [f64],
    seen: &Seen,
    dsums: &[f64; HIDDEN],
    dx0: &mut Points,
    dv0: &mut Points,
) {
    let mut dstate = [0.0; STATE];
    let mut dcentre = [0.0; 2];
    let rows = w1.as_chunks::<FEATURES>().0.iter().zip(dw1.as_chunks_mut::<FEATURES>().0);
    for (((row, drow), db1), dsum) in rows.zip(db1).zip(dsums) {
        *db1 += dsum;
        for (dw, wave) in drow.iter_mut().zip(&seen.waves) {
            *dw += dsum * wave;
        }
        let dterm = 0.05 * dsum;
        let (weights, dweights) = (&row[WAVES..WAVES + STATE], &mut drow[WAVES..WAVES + STATE]);
        for k in 0..STATE {
            dweights[k] += dterm * seen.state[k];
            dstate[k] += dterm * weights[k];
        }
        for c in 0..2 {
            drow[FEATURES - 2 + c] += dsum * seen.goal[c];
            dcentre[c] -= dsum * row[FEATURES - 2 + c];
        }
    }
    for ((dx, dv), d) in dx0.iter_mut().zip(dv0).zip(dstate.as_chunks::<4>().0) {
        for c in 0..2 {
            dx[c] += d[c];
            dv[c] += d[2 + c];
            dcentre[c] -= d[c];
        }
    }
    for dx in dx0 {
        for c in 0..2 {
            dx[c] += dcentre[c] / OBJECTS as f64;
        }
    }
}

/// A spring between two objects, as the reverse pass needs it.
#[derive(Clone, Copy, Default)]
struct Spring {
    d: [f64; 2],
    distance: f64,
    act: f64,
    strength: f64,
}

impl Spring {
    fn between(a: [f64; 2], b: [f64; 2], act: f64, len: f64, act_gain: f64) -> Self {
        let d = [a[0] - b[0], a[1] - b[1]];
        let distance = (d[0] * d[0] + d[1] * d[1]).sqrt();
        let l = distance + 1e-4;
        let target = len * (1.0 + act_gain * act);
        Self { d, distance, act, strength: DT * (l - target) * STIFFNESS / l }
    }

    /// The adjoints of the distance vector and of the target length.
    fn back(&self, pulled: [f64; 2]) -> ([f64; 2], f64) {
        let dstrength = pulled[0] * self.d[0] + pulled[1] * self.d[1];
        let scale = dstrength / (self.distance + 1e-4);
        let radial = (DT * STIFFNESS - self.strength) * scale / self.distance;
        let change = [0, 1].map(|c| self.strength * pulled[c] + radial * self.d[c]);
        (change, -DT * STIFFNESS * scale)
    }
}

fn points(coordinates: &[f64]) -> &Points {
    coordinates.as_chunks().0.as_array().expect("two coordinates an object")
}

fn points_mut(coordinates: &mut [f64]) -> &mut Points {
    coordinates.as_chunks_mut().0.as_mut_array().expect("two coordinates an object")
}

type Adjoint = fn(
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &[f64],
    &[f64],
    usize,
    f64,
) -> f64;

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let [w1, b1, w2, b2, x0, v0] = inputs.active();
        let [dw1, db1, dw2, db2, dx0, dv0] = shadows.each();
        let [len, act_gain, s] = inputs.constant();
        adjoint(w1, dw1, b1, db1, w2, dw2, b2, db2, x0, dx0, v0, dv0, len, act_gain, s, STEP, 1.0)
    })
}

/// The number of the step: the first.
const STEP: usize = 0;

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(9);
    let mut scaled = |n, scale: f64, low, high| -> Vec<f64> {
        numbers.array(n, low, high).iter().map(|value| scale * value).collect()
    };
    let w1 = scaled(HIDDEN * FEATURES, 2.0 * (2.0_f64 / 556.0).sqrt(), -1.0, 1.0);
    let b1 = scaled(HIDDEN, 1.0, -0.1, 0.1);
    let w2 = scaled(SPRINGS * HIDDEN, 3.0 * (2.0_f64 / 96.0).sqrt(), -1.0, 1.0);
    let b2 = scaled(SPRINGS, 1.0, -0.1, 0.1);
    let x0 = scaled(2 * OBJECTS, 1.0, 0.0, 1.0);
    let v0 = scaled(2 * OBJECTS, 1.0, -0.5, 0.5);
    let len = scaled(SPRINGS, 1.0, 0.1, 0.5);
    let act_gain = scaled(SPRINGS, 1.0, 0.0, 0.15);
    let s = scaled(4 * OBJECTS, 1.0, -1.0, 1.0);
    Program {
        name: "mass_spring",
        inputs: Inputs {
            active: vec![w1, b1, w2, b2, x0, v0],
            constant: vec![len, act_gain, s],
            ..Inputs::default()
        },
        primal: Box::new(|inputs| {
            let [w1, b1, w2, b2, x0, v0] = inputs.active();
            let [len, act_gain, s] = inputs.constant();
            mass_spring(w1, b1, w2, b2, x0, v0, len, act_gain, s, black_box(STEP))
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(mass_spring_grad),
        state_bytes: None,
        expected: Some(Expected {
            value: 13.451_643_409_679_138,
            sum: -1.120_954_237_260_997_7,
            norm: 12.202_170_860_373_434,
            weighted: -2.758_965_922_456_582_6,
        }),
    }
}
