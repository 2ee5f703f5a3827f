//! What a function prints, its gradient prints once.

#![allow(clippy::all, clippy::dbg_macro, reason = "the constructs under test")]

use std::sync::Mutex;

use stratape::gradient;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A log, as crates for logging have them.
macro_rules! info {
    ($($message:tt)*) => {
        LINES.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(format!($($message)*))
    };
}

fn lines(run: impl FnOnce()) -> Vec<String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    std::mem::take(&mut *LINES.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    run();
    std::mem::take(&mut *LINES.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

#[gradient]
fn talkative(x: &[f64], k: f64) -> f64 {
    let mut state = k;
    info!("begins with {k} and {} numbers", x.len());
    for i in 0..x.len() {
        state = (state * x[i]).sin();
        if state > 0.0 {
            info!("{i}: {state:.3} {:?}", &x[i..]);
        }
    }
    println!("{state}");
    dbg!(state * 2.0)
}

#[test]
fn everything_is_said_once() {
    let x = [0.5, -1.5, 2.0, 0.7];
    let mut dx = [0.0; 4];
    let primal = lines(|| {
        talkative(&x, 0.9);
    });
    let gradient = lines(|| {
        talkative_grad(&x, &mut dx, 0.9, 1.0);
    });
    assert!(primal.len() > 1);
    assert_eq!(primal, gradient);
    // What others say at the same time is none of theirs.
    lines(|| {
        let h = 1e-6;
        let difference = (talkative(&x, 0.9 + h) - talkative(&x, 0.9 - h)) / (2.0 * h);
        let (_, dk) = talkative_grad(&x, &mut dx, 0.9, 1.0);
        assert!((dk - difference).abs() < 1e-8);
    });
}

/// The values that a loop of many iterations leaves on the tape are not computed again for what it prints.
#[gradient]
fn in_loops(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        let square = x[i] * x[i];
        for j in 0..2 {
            sum += square * (j as f64 + 1.0);
            info!("{i} {j} {sum}");
        }
    }
    sum
}

#[test]
fn loops_say_it_in_order() {
    let x = [1.0, 2.0, 3.0];
    let mut dx = [0.0; 3];
    let primal = lines(|| {
        in_loops(&x);
    });
    let gradient = lines(|| {
        in_loops_grad(&x, &mut dx, 1.0);
    });
    assert_eq!((primal.len(), &primal), (6, &gradient));
    assert_eq!(dx, [6.0, 12.0, 18.0]);
}

/// Iterations that are run again have been printed.
#[gradient]
fn in_time(x: &[f64], steps: usize) -> f64 {
    let mut state = x.to_vec();
    let mut sum = 0.0;
    #[checkpoint(slots = 3)]
    for k in 0..steps {
        for j in 1..state.len() {
            state[j] = (state[j] + state[j - 1]).sin();
        }
        info!("{k} {state:?} {:.3}", sum);
        #[checkpoint(slots = 2)]
        for l in 0..3 {
            sum += state[l % 2] * 0.5;
            if l == 1 {
                info!("inside {l} {sum}");
            }
        }
    }
    info!("{sum}");
    sum
}

#[test]
fn steps_that_are_run_again_say_nothing() {
    let x = [0.4, 0.3, -0.2];
    let mut dx = [0.0; 3];
    let primal = lines(|| {
        in_time(&x, 20);
    });
    let gradient = lines(|| {
        in_time_grad(&x, &mut dx, 20, 1.0);
    });
    assert_eq!((primal.len(), &primal), (41, &gradient));
    lines(|| {
        let difference =
            (in_time(&[0.4 + 1e-6, 0.3, -0.2], 20) - in_time(&[0.4 - 1e-6, 0.3, -0.2], 20)) / 2e-6;
        assert!((dx[0] - difference).abs() < 1e-6);
    });
}
