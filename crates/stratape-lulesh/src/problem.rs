//! The initial data: the Sedov blast, and the same with every tie broken.

use crate::{Mesh, Vec3};

/// Initial coordinates and energies on a mesh.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Who is whose neighbour.
    pub mesh: Mesh,
    /// Where the nodes are.
    pub position: Vec<Vec3>,
    /// The energy of each element.
    pub energy: Vec<f64>,
}

/// The length of the cube's edge.
const EDGE: f64 = 1.125;

/// Uniform numbers, the same everywhere.
struct Numbers(u64);

impl Numbers {
    /// The next number in [0, 1).
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The next number in [−1, 1).
    fn signed(&mut self) -> f64 {
        2.0 * self.next() - 1.0
    }
}

impl Problem {
    /// The energy that the blast begins with.
    #[must_use]
    pub fn blast(edge: usize) -> f64 {
        3.948_746e7 * (edge as f64 / 45.0).powi(3)
    }

    /// The Sedov blast on `edge`³ elements: all energy in the element at the origin.
    #[must_use]
    pub fn sedov(edge: usize) -> Self {
        let mesh = Mesh::new(edge);
        let along = edge + 1;
        let at = |index: usize| EDGE * index as f64 / edge as f64;
        let position = (0..mesh.nodes())
            .map(|node| {
                Vec3::new(at(node % along), at(node / along % along), at(node / (along * along)))
            })
            .collect();
        let mut energy = vec![0.0; mesh.elements()];
        energy[0] = Self::blast(edge);
        Self { mesh, position, energy }
    }

    /// The blast in a perturbed mesh full of a little energy, where no two numbers are equal and none is near a threshold.
    #[must_use]
    pub fn generic(edge: usize) -> Self {
        let mut problem = Self::sedov(edge);
        let mut numbers = Numbers(1);
        let spacing = EDGE / edge as f64;
        for (position, on_plane) in problem.position.iter_mut().zip(&problem.mesh.on_plane) {
            for (coordinate, fixed) in
                [&mut position.x, &mut position.y, &mut position.z].into_iter().zip(on_plane)
            {
                let by = 0.1 * spacing * numbers.signed();
                if !fixed {
                    *coordinate += by;
                }
            }
        }
        let blast = Self::blast(edge);
        for energy in &mut problem.energy {
            *energy = 1e-3 * blast * (0.5 + numbers.next());
        }
        problem.energy[0] += blast;
        problem
    }

    /// A direction to differentiate in: of the coordinates, and of the energies.
    #[must_use]
    pub fn direction(&self) -> (Vec<Vec3>, Vec<f64>) {
        let mut numbers = Numbers(2);
        let position = self
            .position
            .iter()
            .map(|_| Vec3::new(numbers.signed(), numbers.signed(), numbers.signed()))
            .collect();
        let energy = self.energy.iter().map(|_| numbers.signed()).collect();
        (position, energy)
    }
}
