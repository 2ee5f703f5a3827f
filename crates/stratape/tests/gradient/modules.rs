//! Modules that the compiler sees into: structs, methods, enums, helper functions, constants.

#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    #[derive(Clone, Copy, Debug)]
    struct Vector {
        x: T,
        y: T,
    }

    impl Vector {
        const ZERO: Self = Self { x: 0.0, y: 0.0 };

        fn new(x: T, y: T) -> Self {
            Self { x, y }
        }

        fn dot(self, other: Vector) -> T {
            self.x * other.x + self.y * other.y
        }

        fn norm(&self) -> T {
            self.dot(*self).sqrt()
        }

        fn scaled(&self, k: T) -> Self {
            Vector { x: k * self.x, ..*self }
        }

        fn grow(&mut self, other: &Vector, k: T) {
            self.x += k * other.x;
            self.y += k * other.y;
        }
    }

    impl std::ops::Add for Vector {
        type Output = Self;

        fn add(self, other: Self) -> Self::Output {
            Self { x: self.x + other.x, y: self.y + other.y }
        }
    }

    impl std::ops::Mul<T> for &Vector {
        type Output = Vector;

        fn mul(self, k: T) -> Vector {
            Vector { x: k * self.x, y: k * self.y }
        }
    }

    impl std::ops::Mul<Vector> for T {
        type Output = Vector;

        fn mul(self, v: Vector) -> Vector {
            &v * self
        }
    }

    impl std::ops::Neg for Vector {
        type Output = Self;

        fn neg(self) -> Self {
            Self { x: -self.x, ..self }
        }
    }

    impl std::ops::AddAssign<Vector> for Vector {
        fn add_assign(&mut self, other: Vector) {
            self.x += other.x;
            self.y += other.y;
        }
    }

    trait Energy {
        const SCALE: T;

        fn energy_of(&self) -> T;
    }

    impl Energy for Vector {
        const SCALE: T = 0.5;

        fn energy_of(&self) -> T {
            Self::SCALE * self.dot(*self)
        }
    }

    impl Point for Vector {
        fn each(&mut self, f: &mut dyn FnMut(Float) -> f64) {
            self.x.each(f);
            self.y.each(f);
        }
    }

    #[derive(Clone, Copy, Debug)]
    struct Pair(T, T);

    impl Point for Pair {
        fn each(&mut self, f: &mut dyn FnMut(Float) -> f64) {
            self.0.each(f);
            self.1.each(f);
        }
    }

    #[derive(Clone, Debug)]
    struct Body {
        at: Vector,
        speed: [T; 2],
        mass: T,
        fixed: bool,
        steps: usize,
    }

    impl Point for Body {
        fn each(&mut self, f: &mut dyn FnMut(Float) -> f64) {
            self.at.each(f);
            self.speed.each(f);
            self.mass.each(f);
        }
    }

    fn body() -> Body {
        Body { at: Vector::ZERO, speed: [0.0; 2], mass: 0.0, fixed: false, steps: 3 }
    }

    impl Body {
        fn advance(&mut self, force: Vector, dt: T) {
            if self.fixed {
                return;
            }
            self.speed[0] += force.x / self.mass * dt;
            self.speed[1] += force.y / self.mass * dt;
            let [u, v] = self.speed;
            self.at.grow(&Vector { x: u, y: v }, dt);
        }

        fn energy(&self) -> T {
            let Body { at, speed, mass, .. } = self;
            0.5 * *mass * (speed[0] * speed[0] + speed[1] * speed[1]) + at.norm()
        }
    }

    #[derive(Clone, Debug)]
    struct Grid {
        cells: Vec<T>,
        width: usize,
    }

    impl Grid {
        fn at(&self, i: usize, j: usize) -> T {
            self.cells[i * self.width + j]
        }

        fn row(&self, i: usize) -> &[T] {
            &self.cells[i * self.width..(i + 1) * self.width]
        }
    }

    impl Point for Grid {
        fn each(&mut self, f: &mut dyn FnMut(Float) -> f64) {
            self.cells.each(f);
        }
    }

    #[gradient]
    fn struct_by_value(v: Vector, k: T) -> T {
        v.norm() * k + v.x
    }

    #[test]
    fn structs_by_value_return_adjoints() {
        check(
            (Vector::ZERO, 0.0),
            |(v, k)| struct_by_value(*v, *k),
            |(v, k), (dv, dk), seed| {
                let (value, v, k) = struct_by_value_grad(*v, *k, seed);
                dv.x += v.x;
                dv.y += v.y;
                *dk += k;
                value
            },
        );
    }

    #[gradient]
    fn struct_by_reference(v: &Vector, w: &mut Vector) -> T {
        w.grow(v, 2.0);
        w.x *= v.y;
        w.norm() + v.dot(*w)
    }

    #[test]
    fn structs_by_reference_have_shadows() {
        check(
            (Vector::ZERO, Vector::ZERO),
            |(v, w)| struct_by_reference(v, w),
            |(v, w), (dv, dw), seed| struct_by_reference_grad(v, dv, w, dw, seed),
        );
    }

    #[gradient]
    fn tuple_struct(p: &Pair, q: &mut Pair) -> T {
        q.0 = p.0 * p.1;
        let Pair(a, b) = *p;
        let r = Pair(a + b, q.1);
        r.0 * r.1 * q.0
    }

    #[test]
    fn tuple_structs_have_shadows() {
        check(
            (Pair(0.0, 0.0), Pair(0.0, 0.0)),
            |(p, q)| tuple_struct(p, q),
            |(p, q), (dp, dq), seed| tuple_struct_grad(p, dp, q, dq, seed),
        );
    }

    #[gradient]
    fn nested_structs(body: &mut Body, wind: &Vector) -> T {
        for step in 0..body.steps {
            let force = Vector::new(wind.x * (step as T), wind.y - body.at.x);
            body.advance(force, 0.1);
        }
        body.energy()
    }

    #[test]
    fn nested_structs_have_shadows() {
        for fixed in [false, true] {
            check_within(
                0.4..1.5,
                (Body { fixed, ..body() }, Vector::ZERO),
                |(body, wind)| nested_structs(body, wind),
                |(body, wind), (dbody, dwind), seed| {
                    nested_structs_grad(body, dbody, wind, dwind, seed)
                },
            );
        }
    }

    #[gradient]
    fn slices_of_structs(bodies: &mut [Body], at: &[Vector]) -> T {
        let mut total = 0.0;
        for (body, v) in bodies.iter_mut().zip(at) {
            body.mass *= v.norm();
            body.at.x += v.y;
            total += body.energy();
        }
        total * bodies[0].at.dot(bodies[1].at)
    }

    #[test]
    fn slices_of_structs_have_shadows() {
        check_within(
            0.4..1.5,
            (vec![body(), body()], [Vector::ZERO; 2]),
            |(bodies, at)| slices_of_structs(bodies, at),
            |(bodies, at), (dbodies, dat), seed| {
                slices_of_structs_grad(bodies, dbodies, at, dat, seed)
            },
        );
    }

    #[gradient]
    fn structs_with_vecs(grid: &Grid, next: &mut Grid) -> T {
        for i in 0..2 {
            for j in 0..grid.width {
                next.cells[i * next.width + j] *= grid.at(1 - i, j);
            }
        }
        let total: T = next.row(1).iter().zip(grid.row(0)).map(|(a, b)| a * b).sum();
        total + next.cells.len() as T
    }

    #[test]
    fn structs_with_vecs_have_shadows() {
        let grid = Grid { cells: vec![0.0; 6], width: 3 };
        check(
            (grid.clone(), grid),
            |(grid, next)| structs_with_vecs(grid, next),
            |(grid, next), (dgrid, dnext), seed| {
                structs_with_vecs_grad(grid, dgrid, next, dnext, seed)
            },
        );
    }

    #[gradient]
    fn operators_and_traits(v: &Vector, w: &mut Vector, k: T) -> T {
        let sum = *v + -*w;
        *w += &sum * k;
        let mut other = *v;
        other += 2.0 * *w;
        k * (other + sum).dot(sum + k * *v) + w.energy_of()
    }

    #[test]
    fn operators_and_traits_of_the_module() {
        check(
            (Vector::ZERO, Vector::ZERO, 0.0),
            |(v, w, k)| operators_and_traits(v, w, *k),
            |(v, w, k), (dv, dw, dk), seed| {
                let (value, k) = operators_and_traits_grad(v, dv, w, dw, *k, seed);
                *dk += k;
                value
            },
        );
    }

    #[gradient]
    fn clones(grid: &Grid) -> T {
        let mut copy = grid.clone();
        copy.cells[0] *= grid.cells[1];
        let mut body = Body { steps: grid.width, ..body() }.clone();
        body.mass = grid.cells[2];
        copy.at(0, 0) * grid.at(0, 0) * body.mass
    }

    #[test]
    fn clones_are_of_their_own() {
        check(
            Grid { cells: vec![0.0; 6], width: 3 },
            |grid| clones(grid),
            |grid, dgrid, seed| clones_grad(grid, dgrid, seed),
        );
    }

    #[gradient]
    fn local_structs(x: &[T; 3]) -> T {
        let mut v = Vector { x: x[0], y: x[1] };
        let w = v;
        v.x *= w.y;
        v = if x[2] > 0.0 { v.scaled(x[2]) } else { Vector::new(x[2], v.x) };
        let mut zero = Vector::ZERO;
        zero.y = v.norm();
        let mut listed = vec![v; 2];
        listed[1].x += zero.y;
        listed[0] = Vector { x: 2.0, ..listed[1] };
        let Vector { x: a, y: b } = listed[0];
        a * b + listed.iter().map(|v| v.dot(w)).sum::<T>() + listed[1].x * listed[0].y
    }

    #[test]
    fn local_structs_hold_derivatives() {
        check_within(0.2..1.5, [0.0; 3], |x| local_structs(x), |x, dx, seed| {
            local_structs_grad(x, dx, seed)
        });
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Law {
        Linear,
        Square,
        Root = 7,
    }

    struct Spring {
        law: Law,
        k: T,
    }

    impl Law {
        fn apply(self, x: T) -> T {
            match self {
                Law::Linear => x,
                Self::Square => x * x,
                Law::Root => x.sqrt(),
            }
        }
    }

    #[gradient]
    fn enums(x: &[T; 2], law: Law, spring: &Spring, laws: &[Law]) -> T {
        let other = if law == Law::Linear { Law::Square } else { Law::Linear };
        let mut s = match law {
            Law::Linear => x[0],
            Law::Square | Law::Root => x[0] * x[1],
        };
        s += match other {
            Law::Square => x[1],
            _ => 2.0 * x[0],
        };
        for law in laws {
            s += law.apply(x[1]);
        }
        if spring.law != law {
            s *= spring.k;
        }
        s * spring.law.apply(x[0])
    }

    #[test]
    fn enums_choose() {
        let laws = [Law::Root, Law::Linear, Law::Square];
        for law in laws {
            let spring = |k: &T| Spring { law: Law::Square, k: *k };
            check_within(
                0.2..1.5,
                ([0.0; 2], 0.0),
                |(x, k)| enums(x, law, &spring(k), &laws),
                |(x, k), (dx, dk), seed| {
                    let mut shadow = spring(dk);
                    let value = enums_grad(x, dx, law, &spring(k), &mut shadow, &laws, seed);
                    *dk = shadow.k;
                    value
                },
            );
        }
    }

    const WEIGHT: T = 0.5 * BASE;
    const BASE: T = 3.0;
    const TABLE: [[T; 2]; 2] = [[1.0, WEIGHT], [0.25, -1.0]];

    fn square(x: T) -> T {
        x * x
    }

    fn weighted(x: T, n: u32) -> T {
        if n == 0 {
            return x;
        }
        WEIGHT * square(x) * (n as T)
    }

    fn both_sums(x: &[T]) -> (T, T) {
        let mut squares = 0.0;
        for v in x {
            squares += weighted(*v, 2);
        }
        (x.iter().sum(), squares)
    }

    fn scale(y: &mut [T], k: T) {
        for v in y.iter_mut() {
            *v *= k;
        }
    }

    fn bump(y: &mut T, by: T) -> bool {
        *y += by * *y;
        *y > 0.0
    }

    fn rotate(p: [T; 2], angle: T) -> [T; 2] {
        let (s, c) = angle.sin_cos();
        [p[0] * c - p[1] * s, p[0] * s + p[1] * c]
    }

    fn halves(x: &[T]) -> (&[T], &[T]) {
        x.split_at(x.len() / 2)
    }

    #[gradient]
    fn helpers(x: &[T; 4], y: &mut [T; 4]) -> T {
        let (sum, squares) = both_sums(x);
        let (left, right) = halves(&x[..]);
        scale(&mut y[1..3], sum);
        scale(y, left[0]);
        let mut z = squares;
        if bump(&mut z, right[1]) {
            bump(&mut y[0], z);
        }
        let p = rotate([x[0], x[1]], y[3]);
        p[0] * p[1] + z * TABLE[1][0] + weighted(y[1], 0) * TABLE[0][1]
    }

    #[test]
    fn helpers_of_several_levels() {
        check(
            ([0.0; 4], [0.0; 4]),
            |(x, y)| helpers(x, y),
            |(x, y), (dx, dy), seed| helpers_grad(x, dx, y, dy, seed),
        );
    }

    #[gradient(name = one_gradient)]
    fn one(x: T) -> T {
        two(x) * x
    }

    #[gradient]
    fn two(x: T) -> T {
        square(x) + 1.0
    }

    #[test]
    fn functions_with_gradients_call_each_other() {
        assert_eq!(one_gradient(2.0, 1.0), (10.0, 13.0));
        assert_eq!(two_grad(2.0, 1.0), (5.0, 4.0));
    }
}

/// Visibility goes over to the gradient.
#[stratape::differentiable]
mod physics {
    use stratape::gradient;

    pub(crate) struct Oscillator {
        pub(crate) mass: f64,
        pub(crate) stiffness: f64,
    }

    #[gradient(wrt(system))]
    pub(crate) fn frequency(system: &Oscillator, scale: f64) -> f64 {
        scale * (system.stiffness / system.mass).sqrt()
    }
}

#[test]
fn gradients_have_the_visibility_of_their_function() {
    let system = physics::Oscillator { mass: 1.0, stiffness: 4.0 };
    let mut shadow = physics::Oscillator { mass: 0.0, stiffness: 0.0 };
    let value = physics::frequency_grad(&system, &mut shadow, 1.0, 1.0);
    assert_eq!((value, shadow.mass, shadow.stiffness), (2.0, -1.0, 0.25));
    assert_eq!(physics::frequency(&system, 2.0), 4.0);
}
