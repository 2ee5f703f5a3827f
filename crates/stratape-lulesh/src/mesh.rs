//! Which nodes and elements are neighbours: what of the mesh does not move.

use stratape::differentiable;

/// The lattice of `edge`³ hexahedra.
///
/// ```
/// let mesh = stratape_lulesh::Mesh::new(2);
/// assert_eq!((mesh.elements(), mesh.nodes()), (8, 27));
/// assert_eq!(mesh.corners[0], [0, 1, 4, 3, 9, 10, 13, 12]);
/// ```
#[differentiable]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    /// Elements along an edge.
    pub edge: usize,
    /// The eight nodes of each element.
    pub corners: Vec<[usize; 8]>,
    /// The element one index lower in each direction; the element itself where there is none: that side is a plane of symmetry.
    pub lower: Vec<[usize; 3]>,
    /// The element one index higher in each direction; the element itself where there is none: that side is free.
    pub upper: Vec<[usize; 3]>,
    /// For each node, whether it lies on the planes of symmetry x = 0, y = 0, z = 0.
    pub on_plane: Vec<[bool; 3]>,
    /// Where each node's list begins in `touching`, and where the last one ends.
    pub first_touching: Vec<usize>,
    /// For each node, the elements around it and its corner there, as 8 · element + corner.
    pub touching: Vec<usize>,
}

impl Mesh {
    /// A cube of `edge` elements along each edge.
    #[must_use]
    pub fn new(edge: usize) -> Self {
        let (nodes_along, elements) = (edge + 1, edge.pow(3));
        let nodes = nodes_along.pow(3);
        let mut mesh = Self {
            edge,
            corners: Vec::with_capacity(elements),
            lower: Vec::with_capacity(elements),
            upper: Vec::with_capacity(elements),
            on_plane: Vec::with_capacity(nodes),
            first_touching: Vec::with_capacity(nodes + 1),
            touching: Vec::with_capacity(8 * elements),
        };
        let plane = nodes_along * nodes_along;
        for element in 0..elements {
            let at = [element % edge, element / edge % edge, element / (edge * edge)];
            let b = (at[2] * nodes_along + at[1]) * nodes_along + at[0];
            let square = [b, b + 1, b + nodes_along + 1, b + nodes_along];
            mesh.corners.push([
                square[0],
                square[1],
                square[2],
                square[3],
                square[0] + plane,
                square[1] + plane,
                square[2] + plane,
                square[3] + plane,
            ]);
            let strides = [1, edge, edge * edge];
            let there = |side: usize, stride: isize| {
                if at[side] == 0 && stride < 0 || at[side] + 1 == edge && stride > 0 {
                    element
                } else {
                    element.saturating_add_signed(stride)
                }
            };
            mesh.lower.push(std::array::from_fn(|side| there(side, -(strides[side] as isize))));
            mesh.upper.push(std::array::from_fn(|side| there(side, strides[side] as isize)));
        }
        let mut around = vec![Vec::with_capacity(8); nodes];
        for (element, corners) in mesh.corners.iter().enumerate() {
            for (corner, node) in corners.iter().enumerate() {
                around[*node].push(8 * element + corner);
            }
        }
        for (node, around) in around.iter().enumerate() {
            let at = [node % nodes_along, node / nodes_along % nodes_along, node / plane];
            mesh.on_plane.push(at.map(|index| index == 0));
            mesh.first_touching.push(mesh.touching.len());
            mesh.touching.extend(around);
        }
        mesh.first_touching.push(mesh.touching.len());
        mesh
    }

    /// How many elements there are.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.corners.len()
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.on_plane.len()
    }
}
