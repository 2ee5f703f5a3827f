//! tetrahedra: the energy of an elastic body of Neo-Hookean tetrahedra.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

/// `rest` turns a tetrahedron's edges into its deformation: the inverse of the edges at rest.
#[gradient(wrt(nodes))]
fn energy(
    nodes: &[[f64; 3]],
    tetrahedra: &[[usize; 4]],
    rest: &[[[f64; 3]; 3]],
    mu: f64,
    lambda: f64,
) -> f64 {
    let mut energy = 0.0;
    for (e, corners) in tetrahedra.iter().enumerate() {
        let mut edges = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                edges[i][j] = nodes[corners[j + 1]][i] - nodes[corners[0]][i];
            }
        }
        let mut f = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                for k in 0..3 {
                    f[i][j] += edges[i][k] * rest[e][k][j];
                }
            }
        }
        let mut trace = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                trace += f[i][j] * f[i][j];
            }
        }
        let det = f[0][0] * (f[1][1] * f[2][2] - f[1][2] * f[2][1])
            - f[0][1] * (f[1][0] * f[2][2] - f[1][2] * f[2][0])
            + f[0][2] * (f[1][0] * f[2][1] - f[1][1] * f[2][0]);
        let log = det.ln();
        energy += 0.5 * mu * (trace - 3.0) - mu * log + 0.5 * lambda * log * log;
    }
    energy
}

/// One tetrahedron after the other, forward and back at once.
fn by_hand(
    nodes: &[[f64; 3]],
    dnodes: &mut [[f64; 3]],
    tetrahedra: &[[usize; 4]],
    rest: &[[[f64; 3]; 3]],
    mu: f64,
    lambda: f64,
    seed: f64,
) -> f64 {
    let mut energy = 0.0;
    for (corners, rest) in tetrahedra.iter().zip(rest) {
        let [p, a, b, c] = corners.map(|corner| nodes[corner]);
        let mut f = [[0.0; 3]; 3];
        for i in 0..3 {
            let [a, b, c] = [a[i] - p[i], b[i] - p[i], c[i] - p[i]];
            for j in 0..3 {
                f[i][j] = a * rest[0][j] + b * rest[1][j] + c * rest[2][j];
            }
        }
        // The derivative of the determinant, whose rows are products of the other two.
        let mut cofactors = [[0.0; 3]; 3];
        for i in 0..3 {
            let (u, v) = (f[(i + 1) % 3], f[(i + 2) % 3]);
            cofactors[i] =
                [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        }
        let trace: f64 = f.iter().flatten().map(|f| f * f).sum();
        let det = f[0][0] * cofactors[0][0] + f[0][1] * cofactors[0][1] + f[0][2] * cofactors[0][2];
        let log = det.ln();
        energy += 0.5 * mu * (trace - 3.0) - mu * log + 0.5 * lambda * log * log;

        let by_trace = seed * mu;
        let by_det = seed * (lambda * log - mu) / det;
        // By the ends of the edges, and by where they begin.
        let mut dcorners = [[0.0; 3]; 4];
        for i in 0..3 {
            let mut df = [0.0; 3];
            for j in 0..3 {
                df[j] = by_trace * f[i][j] + by_det * cofactors[i][j];
            }
            for k in 0..3 {
                let dedge = df[0] * rest[k][0] + df[1] * rest[k][1] + df[2] * rest[k][2];
                dcorners[k + 1][i] = dedge;
                dcorners[0][i] -= dedge;
            }
        }
        for (corner, dcorner) in corners.iter().zip(dcorners) {
            let dnode = &mut dnodes[*corner];
            for i in 0..3 {
                dnode[i] += dcorner[i];
            }
        }
    }
    energy
}

type Adjoint =
    fn(&[[f64; 3]], &mut [[f64; 3]], &[[usize; 4]], &[[[f64; 3]; 3]], f64, f64, f64) -> f64;

const MU: f64 = 1.0;
const LAMBDA: f64 = 1.5;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([nodes], [rest], [corners]) = (inputs.active(), inputs.constant(), inputs.indices());
        let [dnodes] = shadows.each();
        let (nodes, dnodes) = (nodes.as_chunks().0, dnodes.as_chunks_mut().0);
        let rest = rest.as_chunks().0.as_chunks().0;
        adjoint(nodes, dnodes, corners.as_chunks().0, rest, MU, LAMBDA, 1.0)
    }
}

/// The nodes lie about the corners of one tetrahedron, a quarter of them about each; an element joins any four, one of each
/// quarter. All are near their rest.
pub(super) fn program(scale: Scale) -> Program {
    let (quarter, count) = (scale.or_small(1000, 5), scale.or_small(10_000, 13));
    let mut numbers = Numbers::from_seed(126);
    let mut nodes = Vec::new();
    for corner in 0..4 {
        for _ in 0..quarter {
            for axis in 1..4 {
                let there = if axis == corner { 1.0 } else { 0.0 };
                nodes.push(there + numbers.within(-0.1, 0.1));
            }
        }
    }
    let mut tetrahedra = Vec::new();
    for _ in 0..count {
        for corner in 0..4 {
            tetrahedra.push(corner * quarter + numbers.within(0.0, quarter as f64) as usize);
        }
    }
    let mut rest = Vec::new();
    for _ in 0..count {
        for entry in 0..9 {
            let unit = if entry % 4 == 0 { 1.0 } else { 0.0 };
            rest.push(unit + numbers.within(-0.05, 0.05));
        }
    }
    let inputs = Inputs {
        active: vec![nodes],
        constant: vec![rest],
        indices: vec![tetrahedra],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([nodes], [rest], [corners]) = (inputs.active(), inputs.constant(), inputs.indices());
        let rest = rest.as_chunks().0.as_chunks().0;
        energy(nodes.as_chunks().0, corners.as_chunks().0, rest, MU, LAMBDA)
    };
    Program::new("tetrahedra", inputs, primal, calling(energy_grad))
        .with_by_hand(calling(by_hand))
        .with_state(0)
}
