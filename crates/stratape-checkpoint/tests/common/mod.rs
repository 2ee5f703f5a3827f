//! A small simulation, and its gradient with every state kept.
#![allow(dead_code, unreachable_pub)]
#![allow(clippy::ptr_arg, reason = "the type of the adjoint")]

/// Positions on a ring, and the number of steps done.
pub type State = (Vec<f64>, u64);

pub fn start(len: usize) -> State {
    ((0..len).map(|i| (i as f64 * 0.7).sin()).collect(), 0)
}

/// Every place moves by its neighbour's sine, more as time goes on.
pub fn step(n: usize, (x, count): &mut State) {
    assert_eq!(*count, n as u64, "a step was given the state of another");
    let h = 0.1 / (1.0 + n as f64 * 0.01);
    let first = x[0];
    for i in 0..x.len() {
        let next = if i + 1 < x.len() { x[i + 1] } else { first };
        x[i] += h * next.sin();
    }
    *count += 1;
}

pub fn pullback(n: usize, (x, count): &State, dx: &mut Vec<f64>) {
    assert_eq!(*count, n as u64, "a pullback was given the state of another");
    let h = 0.1 / (1.0 + n as f64 * 0.01);
    let len = x.len();
    // Every place reads its neighbour as it was before the step.
    let after = dx.clone();
    for i in 0..len {
        dx[(i + 1) % len] += h * x[(i + 1) % len].cos() * after[i];
    }
}

pub fn seed((x, _): &State) -> Vec<f64> {
    x.iter().map(|x| 2.0 * x).collect()
}

/// The gradient with all states kept.
pub fn plain(start: &State, steps: usize) -> (State, Vec<f64>) {
    let mut states = vec![start.clone()];
    for n in 0..steps {
        let mut next = states[n].clone();
        step(n, &mut next);
        states.push(next);
    }
    let last = states[steps].clone();
    let mut adjoint = seed(&last);
    for n in (0..steps).rev() {
        pullback(n, &states[n], &mut adjoint);
    }
    (last, adjoint)
}
