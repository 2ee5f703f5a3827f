//! The energy of bodies in the plane that attract each other.

#[stratape::differentiable]
mod program {
    const BODIES: usize = 512;
    const SOFTENING: f64 = 1e-3;

    #[gradient]
    fn gravity(x: &[f64]) -> f64 {
        let mut energy = 0.0;
        for i in 0..BODIES {
            for j in 0..BODIES {
                let dx = x[2 * i] - x[2 * j];
                let dy = x[2 * i + 1] - x[2 * j + 1];
                energy += -1.0 / (dx * dx + dy * dy + SOFTENING).sqrt();
            }
        }
        energy
    }
}
