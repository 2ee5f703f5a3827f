use stratape::tape::{RecordTape, TapeError};
use stratape::{effect, gradient};

#[effect(forward = send_forward, backward = send_backward)]
fn send(x: f64) {
    println!("{x}");
}

fn send_forward(_: &mut RecordTape, x: f64) -> Result<(), TapeError> {
    send(x);
    Ok(())
}

fn send_backward(_: &mut RecordTape, _: f64) -> Result<f64, TapeError> {
    Ok(0.0)
}

#[gradient]
fn order(x: &[f64]) -> f64 {
    #[parallel]
    for i in 0..x.len() {
        send(x[i]);
    }
    x[0]
}

#[effect(forward = send_forward)]
fn half(x: f64) {
    send(x);
}

#[effect(forward = send_forward, backward = send_backward, backward = send_backward)]
fn three(x: f64) {
    send(x);
}

#[effect(forward = send_forward, backward = send_backward)]
fn text(x: &str) {
    println!("{x}");
}

#[effect(forward = send_forward, backward = send_backward)]
struct Nothing;

#[stratape::differentiable]
mod model {
    #[stratape::effect(forward = super::send_forward, backward = super::send_backward)]
    fn inside(x: f64) {
        println!("{x}");
    }

    #[gradient]
    pub fn uses(x: f64) -> f64 {
        inside(x);
        x
    }
}

fn main() {}
