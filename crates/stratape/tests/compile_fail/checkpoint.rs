use stratape::gradient;

#[gradient]
fn unknown_setting(x: f64, n: usize) -> f64 {
    let mut y = x;
    #[checkpoint(places = 3)]
    for _ in 0..n {
        y = y.sin();
    }
    y
}

#[gradient]
fn given_twice(x: f64, n: usize) -> f64 {
    let mut y = x;
    #[checkpoint(slots = 3)]
    #[checkpoint(slots = 3)]
    for _ in 0..n {
        y = y.sin();
    }
    y
}

#[gradient]
fn disk_without_size(x: f64, n: usize) -> f64 {
    let mut y = x;
    #[checkpoint(disk = "/tmp")]
    for _ in 0..n {
        y = y.sin();
    }
    y
}

#[gradient]
fn size_without_disk(x: f64, n: usize) -> f64 {
    let mut y = x;
    #[checkpoint(disk_slots = 3)]
    for _ in 0..n {
        y = y.sin();
    }
    y
}

#[gradient]
fn unknown_schedule(x: f64, n: usize) -> f64 {
    let mut y = x;
    #[checkpoint(slots = 3, schedule = Fastest)]
    for _ in 0..n {
        y = y.sin();
    }
    y
}

#[gradient]
fn slots_of_a_float(x: f64, n: usize) -> f64 {
    let mut y = x;
    #[checkpoint(slots = x)]
    for _ in 0..n {
        y = y.sin();
    }
    y
}

#[gradient]
fn both(x: &mut [f64]) {
    #[checkpoint(slots = 3)]
    #[parallel]
    for i in 0..x.len() {
        x[i] = x[i].sin();
    }
}

#[stratape::differentiable]
mod particles {
    #[derive(Clone, Copy)]
    pub struct Particle {
        pub x: f64,
        pub v: f64,
    }

    #[gradient]
    pub fn list_of_structs(particles: &mut [Particle], n: usize) -> f64 {
        #[checkpoint(slots = 3)]
        for _ in 0..n {
            for i in 0..particles.len() {
                particles[i].x += particles[i].v;
            }
        }
        particles[0].x
    }
}

#[stratape::checkpoint]
fn not_a_loop() {}

fn main() {}
