//! The geometry of one element, from its eight corners.

use crate::Vec3;
use stratape::differentiable;

/// The signs of the eight corners along the element's own three axes.
#[differentiable]
pub const SIGNS: [[f64; 8]; 3] = [
    [-1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0],
    [-1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0],
];

/// The corners of the six faces, each in the order in which its normal points outward.
#[differentiable]
const FACES: [[usize; 4]; 6] =
    [[0, 1, 2, 3], [0, 4, 5, 1], [1, 5, 6, 2], [2, 6, 7, 3], [3, 7, 4, 0], [4, 7, 6, 5]];

/// The six neighbours of each corner that its volume derivative is made of.
#[differentiable]
const AROUND: [[usize; 6]; 8] = [
    [1, 2, 3, 4, 5, 7],
    [2, 3, 0, 5, 6, 4],
    [3, 0, 1, 6, 7, 5],
    [0, 1, 2, 7, 4, 6],
    [7, 6, 5, 0, 3, 1],
    [4, 7, 6, 1, 0, 2],
    [5, 4, 7, 2, 1, 3],
    [6, 5, 4, 3, 2, 0],
];

/// The elements of `list` at the corners.
#[differentiable]
pub(crate) fn gather(list: &[Vec3], corners: &[usize; 8]) -> [Vec3; 8] {
    [
        list[corners[0]],
        list[corners[1]],
        list[corners[2]],
        list[corners[3]],
        list[corners[4]],
        list[corners[5]],
        list[corners[6]],
        list[corners[7]],
    ]
}

#[differentiable]
fn triple(a: Vec3, b: Vec3, c: Vec3) -> f64 {
    a.dot(b.cross(c))
}

/// The volume of the trilinear hexahedron.
#[differentiable]
pub fn volume(r: &[Vec3; 8]) -> f64 {
    let one = triple((r[3] - r[1]) + (r[7] - r[2]), r[6] - r[3], r[2] - r[0]);
    let two = triple((r[4] - r[3]) + (r[5] - r[7]), r[6] - r[4], r[7] - r[0]);
    let three = triple((r[1] - r[4]) + (r[2] - r[5]), r[6] - r[1], r[5] - r[0]);
    (one + two + three) * (1.0 / 12.0)
}

/// The derivative of the volume with respect to each corner.
#[differentiable]
pub(crate) fn volume_derivatives(r: &[Vec3; 8]) -> [Vec3; 8] {
    let mut derivatives = [Vec3::ZERO; 8];
    for corner in 0..8 {
        let n = AROUND[corner];
        let sum = (r[n[1]] + r[n[2]]).cross(r[n[0]] + r[n[1]])
            + (r[n[0]] + r[n[4]]).cross(r[n[3]] + r[n[4]])
            + (r[n[3]] + r[n[5]]).cross(r[n[2]] + r[n[5]]);
        derivatives[corner] = sum * (1.0 / 12.0);
    }
    derivatives
}

/// At each corner, the sum of a quarter of the area vectors of the faces that meet there.
#[differentiable]
pub(crate) fn corner_normals(r: &[Vec3; 8]) -> [Vec3; 8] {
    let mut normals = [Vec3::ZERO; 8];
    for face in 0..6 {
        let [a, b, c, d] = FACES[face];
        let across = (r[d] + r[c] - r[b] - r[a]) * 0.5;
        let along = (r[c] + r[b] - r[d] - r[a]) * 0.5;
        let area = across.cross(along) * 0.25;
        normals[a] += area;
        normals[b] += area;
        normals[c] += area;
        normals[d] += area;
    }
    normals
}

/// Four times the square of the area of the face with the corners `a`, `b`, `c`, `d`, as far as it is flat.
#[differentiable]
fn squared_area(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    let f = (c - a) - (d - b);
    let g = (c - a) + (d - b);
    f.dot(f) * g.dot(g) - f.dot(g) * f.dot(g)
}

/// The length of an element of this volume, across its largest face.
#[differentiable]
pub fn characteristic_length(r: &[Vec3; 8], volume: f64) -> f64 {
    let mut largest = squared_area(r[0], r[1], r[2], r[3]);
    let others = [[4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
    for face in others {
        let area = squared_area(r[face[0]], r[face[1]], r[face[2]], r[face[3]]);
        if area > largest {
            largest = area;
        }
    }
    4.0 * volume / largest.sqrt()
}

/// The sum of what the corners hold, each with its sign along the given axis.
#[differentiable]
pub(crate) fn along(axis: usize, values: &[Vec3; 8]) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for corner in 0..8 {
        sum += values[corner] * SIGNS[axis][corner];
    }
    sum
}
