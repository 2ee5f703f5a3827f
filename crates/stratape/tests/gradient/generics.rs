//! Generic functions, structs and traits.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    fn dot<const N: usize>(a: &[T; N], b: &[T; N]) -> T {
        let mut sum = 0.0;
        for i in 0..N {
            sum += a[i] * b[i];
        }
        sum
    }

    fn scaled<const N: usize>(a: [T; N], by: T) -> [T; N] {
        let mut out = [0.0; N];
        for (o, v) in out.iter_mut().zip(a) {
            *o = v * by;
        }
        out
    }

    fn matmul<const N: usize, const M: usize, const K: usize>(
        a: &[[T; M]; N],
        b: &[[T; K]; M],
    ) -> [[T; K]; N] {
        let mut c = [[0.0; K]; N];
        for i in 0..N {
            for j in 0..K {
                for k in 0..M {
                    c[i][j] += a[i][k] * b[k][j];
                }
            }
        }
        c
    }

    #[gradient]
    fn lengths(x: &[T; 3], y: &[[T; 3]; 2]) -> T {
        let c = matmul(y, &[[x[0], 1.0], [x[1], x[2]], [0.5, 2.0]]);
        dot(x, &scaled::<3>(*x, y[0][1])) + dot(&c[0], &c[1]) + dot::<2>(&[x[0], 1.0], &[2.0, x[2]])
    }

    #[test]
    fn constant_parameters_are_lengths() {
        check(
            ([0.0; 3], [[0.0; 3]; 2]),
            |(x, y)| lengths(x, y),
            |(x, y), (dx, dy), seed| lengths_grad(x, dx, y, dy, seed),
        );
    }

    fn largest<V: PartialOrd + Copy>(list: &[V], first: V) -> V {
        let mut best = first;
        for v in list {
            if *v > best {
                best = *v;
            }
        }
        best
    }

    fn applied<F: Fn(T) -> T>(f: F, times: usize, x: T) -> T {
        let mut y = x;
        for _ in 0..times {
            y = f(y);
        }
        y
    }

    fn pair<A: Copy, B: Copy>(a: A, b: B) -> (B, A)
    where
        A: PartialOrd,
    {
        (b, a)
    }

    fn square(x: T) -> T {
        x * x
    }

    fn through(f: fn(T) -> T, x: T) -> T {
        f(x) + f(2.0 * x)
    }

    #[gradient]
    fn types(x: &[T; 4], k: &[usize]) -> T {
        let best = largest(x, -10.0);
        let index = largest(k, 0);
        let (a, b) = pair(x[0], index);
        applied(|v| v.sin() * x[1], 3, best) * b + x[a % 4] + through(square, x[2]) + applied(square, 1, x[3])
    }

    #[test]
    fn type_parameters_are_what_the_arguments_are() {
        check([0.0; 4], |x| types(x, &[1, 3]), |x, dx, seed| types_grad(x, dx, &[1, 3], seed));
    }

    trait Law {
        const SCALE: T;
        type Output;

        fn force(&self, x: T) -> Self::Output;

        fn energy(&self, x: T) -> T {
            Self::SCALE * x * x
        }
    }

    struct Hooke {
        k: T,
    }

    struct Cubic(T, T);

    impl Law for Hooke {
        const SCALE: T = 0.5;
        type Output = T;

        fn force(&self, x: T) -> T {
            -self.k * x
        }

        fn energy(&self, x: T) -> T {
            Self::SCALE * self.k * x * x
        }
    }

    impl Law for Cubic {
        const SCALE: T = 2.0;
        type Output = T;

        fn force(&self, x: T) -> T {
            -self.0 * x - self.1 * x * x * x
        }
    }

    fn step<L: Law<Output = T>>(law: &L, x: T, dt: T) -> T {
        x + dt * law.force(x) + L::SCALE * <L as Law>::energy(law, x)
    }

    fn total(law: &impl Law<Output = T>, x: T) -> T {
        Law::energy(law, x) + law.force(x)
    }

    trait Square {
        fn squared(self) -> Self;
        fn twice(self) -> Self;
    }

    impl Square for T {
        fn squared(self) -> Self {
            self * self
        }

        fn twice(self) -> Self {
            2.0 * self
        }
    }

    trait Norm {
        fn norm(&self) -> T;
    }

    impl Norm for [T] {
        fn norm(&self) -> T {
            self.iter().map(|v| v * v).sum::<T>().sqrt()
        }
    }

    #[gradient]
    fn traits(x: &[T; 3], k: T) -> T {
        let (hooke, cubic) = (Hooke { k }, Cubic(k, x[1]));
        let a = step(&hooke, x[0], 0.1) + step(&cubic, x[2], 0.2);
        a.squared() + total(&hooke, x[1]) + total(&cubic, x[0]).twice() + x.norm() + x[1..].norm()
    }

    #[test]
    fn traits_are_those_of_the_type() {
        check(
            ([0.0; 3], 0.0),
            |(x, k)| traits(x, *k),
            |(x, k), (dx, dk), seed| {
                let (value, d) = traits_grad(x, dx, *k, seed);
                *dk += d;
                value
            },
        );
    }

    #[derive(Clone, Copy)]
    struct Pair<A> {
        a: A,
        b: A,
    }

    impl<A: Copy + std::ops::Mul<Output = A> + std::ops::Add<Output = A>> Pair<A> {
        fn new(a: A, b: A) -> Self {
            Self { a, b }
        }

        fn dot(&self, other: &Pair<A>) -> A {
            self.a * other.a + self.b * other.b
        }

        fn map<F: Fn(A) -> A>(self, f: F) -> Self {
            Pair { a: f(self.a), b: f(self.b) }
        }
    }

    impl<A: std::ops::Add<Output = A>> std::ops::Add for Pair<A> {
        type Output = Pair<A>;

        fn add(self, other: Self) -> Self {
            Pair { a: self.a + other.a, b: self.b + other.b }
        }
    }

    impl<A: Copy + std::ops::Mul<Output = A>> std::ops::Mul<A> for Pair<A> {
        type Output = Pair<A>;

        fn mul(self, by: A) -> Self {
            Pair { a: self.a * by, b: self.b * by }
        }
    }

    struct Grid<const N: usize> {
        cells: [T; N],
    }

    impl<const N: usize> Grid<N> {
        fn filled(by: T) -> Self {
            Grid { cells: [by; N] }
        }

        fn sum(&self) -> T {
            let mut sum = 0.0;
            for i in 0..N {
                sum += self.cells[i] * (i + N) as T;
            }
            sum
        }
    }

    #[gradient]
    fn structs(x: &[T; 4]) -> T {
        let p = Pair { a: x[0], b: x[1] };
        let q = Pair::new(x[2], 2.0);
        let n = Pair { a: 1_usize, b: 2 };
        let sum = p + q * x[3];
        let grid = Grid { cells: [x[0], 3.0, x[2]] };
        let other = Grid::<2> { cells: [x[3], x[1]] };
        let list = vec![p, q, sum];
        let filled = Grid::<4>::filled(x[2] * x[3]);
        p.dot(&q) * sum.map(|v| v.sin()).b + x[n.dot(&n) % 4] + grid.sum() * other.sum() + list[2].a + filled.sum()
    }

    #[test]
    fn structs_have_parameters() {
        check([0.0; 4], |x| structs(x), |x, dx, seed| structs_grad(x, dx, seed));
    }

    #[derive(Clone, Copy)]
    struct View<'a> {
        x: &'a [T],
        scale: &'a T,
        width: usize,
    }

    impl<'a> View<'a> {
        fn new(x: &'a [T], scale: &'a T, width: usize) -> Self {
            Self { x, scale, width }
        }

        fn at(&self, i: usize, j: usize) -> T {
            self.x[i * self.width + j] * *self.scale
        }

        fn row(&self, i: usize) -> &'a [T] {
            &self.x[i * self.width..(i + 1) * self.width]
        }
    }

    struct Writer<'a> {
        out: &'a mut [T],
    }

    impl Writer<'_> {
        fn put(&mut self, i: usize, v: T) {
            self.out[i] += v * v;
        }
    }

    fn trace<'a>(view: &View<'a>, n: usize) -> T {
        (0..n).map(|i| view.at(i, i)).sum()
    }

    #[gradient]
    fn views(x: &[T; 6], y: &mut [T; 3], k: T) -> T {
        let view = View::new(x, &k, 3);
        let copy = View { width: 2, ..view };
        let mut writer = Writer { out: y };
        for i in 0..3 {
            writer.put(i, view.at(1, i) + copy.row(2)[1]);
        }
        trace(&view, 2) * trace(&copy, 2) + view.row(1).iter().sum::<T>()
    }

    #[test]
    fn structs_hold_references() {
        check(
            ([0.0; 6], [0.0; 3], 0.0),
            |(x, y, k)| views(x, y, *k),
            |(x, y, k), (dx, dy, dk), seed| {
                let (value, d) = views_grad(x, dx, y, dy, *k, seed);
                *dk += d;
                value
            },
        );
    }

    #[gradient]
    fn of_any_length<const N: usize>(x: &[T; N], y: [T; N]) -> T {
        let mut sum = 0.0;
        let mut squares = [0.0; N];
        for i in 0..N {
            squares[i] = x[i] * x[i] * y[i];
            sum += squares[i] * (N as T);
        }
        sum + squares[N - 1] + dot(x, &squares)
    }

    #[test]
    fn the_function_itself_has_a_length() {
        check(
            ([0.0; 3], [0.0; 3]),
            |(x, y)| of_any_length(x, *y),
            |(x, y), (dx, dy), seed| {
                let (value, d) = of_any_length_grad(x, dx, *y, seed);
                dy.iter_mut().zip(d).for_each(|(a, b)| *a += b);
                value
            },
        );
        check([0.0; 1], |x| of_any_length(x, [2.0]), |x, dx, seed| of_any_length_grad(x, dx, [2.0], seed).0);
    }

    #[gradient(S = T)]
    fn of_a_type<S>(x: &[S], k: S) -> S
    where
        S: Copy + std::ops::Mul<Output = S> + std::iter::Sum<S>,
    {
        x.iter().map(|v| *v * *v * k).sum::<S>()
    }

    #[test]
    fn the_function_itself_has_a_type() {
        check(
            (vec![0.0; 3], 0.0),
            |(x, k)| of_a_type(x, *k),
            |(x, k), (dx, dk), seed| {
                let (value, d) = of_a_type_grad(x, dx, *k, seed);
                *dk += d;
                value
            },
        );
    }
}
