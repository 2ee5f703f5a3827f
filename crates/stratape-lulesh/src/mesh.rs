//! Which nodes and elements are neighbours: what of the mesh does not move.

use stratape::differentiable;

/// A lattice of hexahedra: a cube, or one block of a cube that is cut into blocks.
///
/// ```
/// let mesh = stratape_lulesh::Mesh::new(2);
/// assert_eq!((mesh.elements(), mesh.nodes()), (8, 27));
/// assert_eq!(mesh.corners[0], [0, 1, 4, 3, 9, 10, 13, 12]);
/// ```
#[differentiable]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    /// Elements along the three axes.
    pub cells: [usize; 3],
    /// The eight nodes of each element.
    pub corners: Vec<[usize; 8]>,
    /// The element one index lower in each direction; the element itself where there is none: that side is a plane of symmetry. In another block: its [ghost](Mesh::ghosts).
    pub lower: Vec<[usize; 3]>,
    /// The element one index higher in each direction; the element itself where there is none: that side is free. In another block: its [ghost](Mesh::ghosts).
    pub upper: Vec<[usize; 3]>,
    /// Where the ghosts of each side begin, and where they end: numbers of the elements of other blocks that touch this one, from the number of its own elements on. Those
    /// of a side are in the order of the elements that they touch. The sides are the lower and the upper one of each axis in turn.
    pub ghosts: [[usize; 2]; 6],
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
        Self::block([edge; 3], [[false; 2]; 3])
    }

    /// A block of so many elements along the three axes, and whether another block is beyond the lower and the upper side of each.
    ///
    /// ```
    /// use stratape_lulesh::Mesh;
    ///
    /// let left = Mesh::block([2, 3, 3], [[false, true], [false; 2], [false; 2]]);
    /// assert_eq!(left.ghosts[1], [18, 27]); // beyond its upper side along the first axis
    /// assert_eq!(left.upper[1][0], 18);
    /// ```
    #[must_use]
    pub fn block(cells: [usize; 3], joined: [[bool; 2]; 3]) -> Self {
        let along = cells.map(|cells| cells + 1);
        let (nodes, elements) = (along.iter().product(), cells.iter().product());
        let mut mesh = Self {
            cells,
            corners: Vec::with_capacity(elements),
            lower: Vec::with_capacity(elements),
            upper: Vec::with_capacity(elements),
            ghosts: [[elements; 2]; 6],
            on_plane: Vec::with_capacity(nodes),
            first_touching: Vec::with_capacity(nodes + 1),
            touching: Vec::with_capacity(8 * elements),
        };
        let mut end = elements;
        for side in 0..6 {
            let count =
                if joined[side / 2][side % 2] { elements / cells[side / 2].max(1) } else { 0 };
            mesh.ghosts[side] = [end, end + count];
            end += count;
        }
        let mut next = mesh.ghosts.map(|[first, _]| first);
        let plane = along[0] * along[1];
        for element in 0..elements {
            let at = placed(element, cells);
            let b = (at[2] * along[1] + at[1]) * along[0] + at[0];
            let square = [b, b + 1, b + along[0] + 1, b + along[0]];
            let [r, s, t, u] = square;
            mesh.corners.push([r, s, t, u, r + plane, s + plane, t + plane, u + plane]);
            let (mut lower, mut upper) = ([element; 3], [element; 3]);
            for (axis, stride) in [1, cells[0], cells[0] * cells[1]].into_iter().enumerate() {
                let mut ghost = |side: usize| {
                    next[side] += 1;
                    next[side] - 1
                };
                if at[axis] > 0 {
                    lower[axis] = element - stride;
                } else if joined[axis][0] {
                    lower[axis] = ghost(2 * axis);
                }
                if at[axis] + 1 < cells[axis] {
                    upper[axis] = element + stride;
                } else if joined[axis][1] {
                    upper[axis] = ghost(2 * axis + 1);
                }
            }
            mesh.lower.push(lower);
            mesh.upper.push(upper);
        }
        let mut around = vec![Vec::with_capacity(8); nodes];
        for (element, corners) in mesh.corners.iter().enumerate() {
            for (corner, node) in corners.iter().enumerate() {
                around[*node].push(8 * element + corner);
            }
        }
        for (node, around) in around.iter().enumerate() {
            let at = placed(node, along);
            mesh.on_plane.push([0, 1, 2].map(|axis| at[axis] == 0 && !joined[axis][0]));
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

/// Where the item of a number is in a lattice whose first axis varies fastest.
fn placed(number: usize, sizes: [usize; 3]) -> [usize; 3] {
    [number % sizes[0], number / sizes[0] % sizes[1], number / (sizes[0] * sizes[1])]
}
