#![forbid(unsafe_code)]

use stratape::gradient;

#[gradient]
fn recurrence(x: &[f64]) -> f64 {
    let mut state = 1.0;
    #[parallel]
    for i in 0..x.len() {
        state = state * 0.5 + x[i];
    }
    state
}

#[gradient]
fn sum_in_an_inner_loop(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    #[parallel]
    for i in 0..x.len() {
        for j in 0..i {
            sum += x[i] * x[j];
        }
    }
    sum
}

#[gradient]
fn sum_in_a_branch(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    #[parallel]
    for i in 0..x.len() {
        if x[i] > 0.0 {
            sum += x[i].exp();
        }
    }
    sum
}

#[gradient]
fn count(x: &[f64]) -> f64 {
    let mut found = 0;
    #[parallel]
    for i in 0..x.len() {
        found += i % 3;
    }
    found as f64 * x[0]
}

#[gradient]
fn sum_that_is_read(x: &[f64], y: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    #[parallel]
    for i in 0..x.len() {
        sum += x[i];
        y[i] = sum;
    }
    sum
}

#[gradient]
fn neighbours(y: &mut [f64]) {
    #[parallel]
    for i in 1..y.len() {
        y[i] = 0.5 * y[i - 1];
    }
}

#[gradient]
fn two_elements(x: &[f64], y: &mut [f64]) {
    #[parallel]
    for i in 0..x.len() {
        y[i] = x[i];
        y[i + 1] += x[i];
    }
}

#[gradient]
fn one_element(x: &[f64], y: &mut [f64]) {
    #[parallel]
    for i in 0..x.len() {
        y[0] = x[i];
    }
}

#[gradient]
fn scatter(x: &[f64], at: &[usize], y: &mut [f64]) {
    #[parallel]
    for i in 0..x.len() {
        y[at[i]] += x[i];
    }
}

#[gradient]
fn rows_that_may_overlap(x: &[f64], y: &mut [f64], m: usize, n: usize) {
    #[parallel]
    for i in 0..x.len() {
        for j in 0..m {
            y[i * n + j] = x[i];
        }
    }
}

#[gradient]
fn scratch(x: &[f64], y: &mut [f64]) {
    let mut work = vec![0.0; 3];
    #[parallel]
    for i in 0..x.len() {
        for j in 0..3 {
            work[j] = x[i] * j as f64;
        }
        y[i] = work[0] + work[2];
    }
}

#[gradient]
fn ends_early(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    #[parallel]
    for i in 0..x.len() {
        if x[i] > 1.0 {
            break;
        }
        sum += x[i];
    }
    sum
}

#[gradient]
fn unknown_length(x: f64) -> f64 {
    let mut y = x;
    #[parallel]
    while y < 1.0 {
        y *= 2.0;
    }
    y
}

#[gradient]
fn arguments(x: &[f64], y: &mut [f64]) {
    #[parallel(4)]
    for i in 0..x.len() {
        y[i] = x[i];
    }
}

#[gradient]
fn marked_twice(x: &[f64], y: &mut [f64]) {
    #[parallel]
    #[stratape::parallel]
    for i in 0..x.len() {
        y[i] = x[i];
    }
}

#[gradient(parallel)]
fn none_is_independent(x: &[f64]) -> f64 {
    let mut state = 1.0;
    for v in x {
        state = (state * v).sin();
    }
    state
}

#[gradient(parallel)]
fn no_loop(x: f64) -> f64 {
    x * x
}

#[gradient(parallel, parallel)]
fn asked_twice(x: f64) -> f64 {
    x * x
}

#[stratape::differentiable]
mod model {
    fn helper(x: &[f64], y: &mut [f64]) {
        #[parallel]
        for i in 0..x.len() {
            y[i / 2] = x[i];
        }
    }

    #[gradient]
    pub fn program(x: &[f64], y: &mut [f64]) {
        helper(x, y);
    }
}

#[stratape::parallel]
fn without_a_gradient(x: &mut [f64]) {
    x[0] = 1.0;
}

fn main() {}
