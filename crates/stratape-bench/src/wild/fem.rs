//! fem: the residual of a Poisson problem on triangles, each with a stiffness matrix of 3×3.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[gradient(wrt(nodes, conductivity, u))]
fn residual(
    nodes: &[[f64; 2]],
    triangles: &[[usize; 3]],
    conductivity: &[f64],
    u: &[f64],
    load: f64,
) -> f64 {
    let mut residual = vec![0.0; nodes.len()];
    for (e, triangle) in triangles.iter().enumerate() {
        let [a, b, c] = *triangle;
        let (p, q, r) = (nodes[a], nodes[b], nodes[c]);
        let area = 0.5 * ((q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1]));
        // The gradients of the three shape functions, times twice the area.
        let slopes =
            [[q[1] - r[1], r[0] - q[0]], [r[1] - p[1], p[0] - r[0]], [p[1] - q[1], q[0] - p[0]]];
        let mut stiffness = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let dot = slopes[i][0] * slopes[j][0] + slopes[i][1] * slopes[j][1];
                stiffness[i][j] = conductivity[e] * dot / (4.0 * area);
            }
        }
        for i in 0..3 {
            for j in 0..3 {
                residual[triangle[i]] += stiffness[i][j] * u[triangle[j]];
            }
            residual[triangle[i]] -= load * area / 3.0;
        }
    }
    residual.iter().map(|r| r * r).sum()
}

/// One triangle: its area, the slopes of its shape functions times twice the area, and those of `u` in the same measure.
fn local(corners: [[f64; 2]; 3], u: [f64; 3]) -> (f64, [[f64; 2]; 3], [f64; 2]) {
    let [p, q, r] = corners;
    let slopes =
        [[q[1] - r[1], r[0] - q[0]], [r[1] - p[1], p[0] - r[0]], [p[1] - q[1], q[0] - p[0]]];
    let area = 0.5 * (slopes[2][1] * slopes[1][0] - slopes[1][1] * slopes[2][0]);
    (area, slopes, weighted(&slopes, u))
}

fn weighted(slopes: &[[f64; 2]; 3], by: [f64; 3]) -> [f64; 2] {
    [0, 1].map(|axis| slopes[0][axis] * by[0] + slopes[1][axis] * by[1] + slopes[2][axis] * by[2])
}

/// Keeps the residual alone, and computes each triangle again. The stiffness is a product of slopes, and is not formed.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    nodes: &[[f64; 2]],
    dnodes: &mut [[f64; 2]],
    triangles: &[[usize; 3]],
    conductivity: &[f64],
    dconductivity: &mut [f64],
    u: &[f64],
    du: &mut [f64],
    load: f64,
    seed: f64,
) -> f64 {
    let mut residual = vec![0.0; nodes.len()];
    for (triangle, k) in triangles.iter().zip(conductivity) {
        let (area, slopes, bend) =
            local(triangle.map(|node| nodes[node]), triangle.map(|node| u[node]));
        let scale = k / (4.0 * area);
        for i in 0..3 {
            let dot = slopes[i][0] * bend[0] + slopes[i][1] * bend[1];
            residual[triangle[i]] += scale * dot - load * area / 3.0;
        }
    }
    for ((triangle, k), dk) in triangles.iter().zip(conductivity).zip(dconductivity) {
        let values = triangle.map(|node| u[node]);
        let (area, slopes, bend) = local(triangle.map(|node| nodes[node]), values);
        let dresidual = triangle.map(|node| 2.0 * seed * residual[node]);
        let dbend = weighted(&slopes, dresidual);
        let inverse = 1.0 / (4.0 * area);
        let scale = k * inverse;
        let dscale = bend[0] * dbend[0] + bend[1] * dbend[1];
        *dk += dscale * inverse;
        let darea = -4.0 * dscale * scale * inverse
            - load / 3.0 * (dresidual[0] + dresidual[1] + dresidual[2]);
        let mut dslopes = [[0.0; 2]; 3];
        for i in 0..3 {
            du[triangle[i]] += scale * (slopes[i][0] * dbend[0] + slopes[i][1] * dbend[1]);
            for axis in 0..2 {
                dslopes[i][axis] = scale * (dresidual[i] * bend[axis] + values[i] * dbend[axis]);
            }
        }
        for corner in 0..3 {
            let (next, last) = ((corner + 1) % 3, (corner + 2) % 3);
            let dnode = &mut dnodes[triangle[corner]];
            dnode[0] += 0.5 * darea * slopes[corner][0] + dslopes[next][1] - dslopes[last][1];
            dnode[1] += 0.5 * darea * slopes[corner][1] - dslopes[next][0] + dslopes[last][0];
        }
    }
    residual.iter().map(|r| r * r).sum()
}

type Adjoint = fn(
    &[[f64; 2]],
    &mut [[f64; 2]],
    &[[usize; 3]],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    f64,
    f64,
) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([nodes, k, u], [triangles]) = (inputs.active(), inputs.indices());
        let [dnodes, dk, du] = shadows.each();
        let (nodes, dnodes) = (nodes.as_chunks().0, dnodes.as_chunks_mut().0);
        adjoint(nodes, dnodes, triangles.as_chunks().0, k, dk, u, du, 1.0, 1.0)
    }
}

/// A square of triangles, its nodes a little out of place.
pub(super) fn program(scale: Scale) -> Program {
    let side = scale.or_small(32, 5);
    let mut numbers = Numbers::from_seed(124);
    let (mut nodes, mut triangles) = (Vec::new(), Vec::new());
    for row in 0..side {
        for column in 0..side {
            nodes.extend([column, row].map(|at| at as f64 + numbers.within(-0.2, 0.2)));
            if row + 1 < side && column + 1 < side {
                let corner = row * side + column;
                triangles.extend([corner, corner + 1, corner + side]);
                triangles.extend([corner + 1, corner + side + 1, corner + side]);
            }
        }
    }
    let conductivity = numbers.array(triangles.len() / 3, 0.5, 2.0);
    let u = numbers.array(side * side, -1.0, 1.0);
    let inputs = Inputs {
        active: vec![nodes, conductivity, u],
        indices: vec![triangles],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([nodes, conductivity, u], [triangles]) = (inputs.active(), inputs.indices());
        residual(nodes.as_chunks().0, triangles.as_chunks().0, conductivity, u, 1.0)
    };
    Program::new("fem", inputs, primal, calling(residual_grad))
        .with_by_hand(calling(by_hand))
        .with_state(0)
}
