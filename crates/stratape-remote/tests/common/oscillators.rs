//! A loop whose steps depend on their number, and its gradient by hand.

#![allow(dead_code, reason = "no test file uses all of it")]

pub(crate) type State = Vec<f64>;

pub(crate) fn start() -> State {
    (0..700).map(|i| 0.3 + f64::from(i) * 1e-3).collect()
}

pub(crate) fn step(n: usize, x: &mut State) {
    for i in 0..x.len() {
        let next = x[(i + 1) % x.len()];
        x[i] = (x[i] + 0.1 * next + n as f64 * 1e-3).sin();
    }
}

pub(crate) fn seed(last: &State) -> State {
    vec![1.0; last.len()]
}

pub(crate) fn pullback(n: usize, x: &State, dx: &mut State) {
    // What each element was computed from: the first ones are changed when the last one is.
    let mut after = x.clone();
    let mut before = Vec::with_capacity(x.len());
    for i in 0..x.len() {
        let next = after[(i + 1) % x.len()];
        before.push(after[i] + 0.1 * next + n as f64 * 1e-3);
        after[i] = before[i].sin();
    }
    for i in (0..x.len()).rev() {
        let d = dx[i] * before[i].cos();
        dx[i] = d;
        dx[(i + 1) % x.len()] += 0.1 * d;
    }
}

/// The last state and the adjoint of the first, with every state in memory.
pub(crate) fn plain(steps: usize) -> (State, State) {
    let mut states = vec![start()];
    for n in 0..steps {
        let mut next = states[n].clone();
        step(n, &mut next);
        states.push(next);
    }
    let mut dx = seed(&states[steps]);
    for n in (0..steps).rev() {
        pullback(n, &states[n], &mut dx);
    }
    (states.swap_remove(steps), dx)
}
