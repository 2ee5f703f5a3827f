//! LULESH under `#[gradient]`.
pub mod forces;
pub mod hexahedron;
pub mod kinematics;
pub mod material;
mod mesh;
mod motion;
mod problem;
mod run;
mod time_step;
mod vector;
pub mod viscosity;

pub use self::mesh::Mesh;
pub use self::problem::Problem;
pub use self::run::{Initial, Run, State, evolve, evolve_grad, evolve_grad_in, run};
pub use self::time_step::{Clock, STOP_TIME};
pub use self::vector::Vec3;
