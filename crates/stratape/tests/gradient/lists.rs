//! Lists that are moved, exchanged, assigned, and that change their length.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    /// A stencil over two buffers that change places.
    #[gradient]
    fn swapped(x: &[T; 6], k: T, steps: usize) -> T {
        let n = x.len();
        let mut u = x.to_vec();
        let mut v = vec![0.0; n];
        for t in 0..steps {
            for i in 1..n - 1 {
                v[i] = 0.5 * (u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1]) * u[i]).sin();
            }
            v[0] = u[0] * (0.1 * t as T + 0.5);
            v[n - 1] = u[n - 1];
            std::mem::swap(&mut u, &mut v);
        }
        u.iter().zip(x).map(|(a, b)| a * a * b).sum::<T>() + v[2]
    }

    #[test]
    fn buffers_change_places() {
        for steps in 0..5 {
            check(
                ([0.0; 6], 0.0),
                |(x, k)| swapped(x, *k, steps),
                |(x, k), (dx, dk), seed| {
                    let (value, d) = swapped_grad(x, dx, *k, steps, seed);
                    *dk += d;
                    value
                },
            );
        }
    }

    /// A sum of integers in a loop that also fills a list of them, and so is one of blocks: its terms were given the type of floats, which rustc refused.
    #[gradient]
    fn counted(x: &[T; 6], n: usize) -> T {
        let mut counts = vec![0; n + 1];
        let mut total = 0;
        for q in 0..n + 1 {
            counts[q] = 2 * (q % 3);
            total += counts[q];
        }
        let mut sum = 0.0;
        for v in x {
            sum += v * v;
        }
        sum * total as T + x[counts[n]] * x[counts[0]]
    }

    #[test]
    fn integers_are_added_up_in_blocks() {
        for n in [0, 3, 20] {
            check([0.0; 6], |x| counted(x, n), |x, dx, seed| counted_grad(x, dx, n, seed));
        }
    }

    /// Pairs pushed in two loops, one inside the other, into a list that shows its type nowhere else: what the inner loop made room for was taken to hold numbers, and failed the compiler's own check.
    #[gradient]
    fn pairs_in_a_nest(x: &[T; 6], n: usize) -> T {
        let mut pairs = Vec::new();
        let mut list = Vec::with_capacity(n);
        for i in 0..n {
            for j in 0..3 {
                pairs.push((x[i + j], x[j] * x[i]));
                list.push(x[i] * x[j]);
            }
        }
        let mut sum = 0.0;
        for (k, (a, b)) in pairs.iter().enumerate() {
            sum += a * b * list[n * 3 - 1 - k] * (k + 1) as T;
        }
        sum + pairs.len() as T
    }

    #[test]
    fn lists_grow_in_nests() {
        for n in 0..4 {
            check([0.0; 6], |x| pairs_in_a_nest(x, n), |x, dx, seed| pairs_in_a_nest_grad(x, dx, n, seed));
        }
    }

    #[gradient]
    fn crossed(x: &[T; 3], y: &[T; 5], flag: bool) -> T {
        let (mut a, mut b) = (x.to_vec(), y.to_vec());
        (a, b) = (b, a);
        a[4] *= b[2];
        if flag {
            (a, b) = (b, a);
            a[1] = a[1].sin();
        }
        let (mut first, second) = if flag { (b, a) } else { (a, b) };
        first[0] *= 3.0;
        let mut sum = 0.0;
        for i in 0..second.len() {
            sum += second[i] * first[i];
        }
        sum * first.len() as T
    }

    #[test]
    fn lists_of_different_lengths_change_places() {
        for flag in [false, true] {
            check(
                ([0.0; 3], [0.0; 5]),
                |(x, y)| crossed(x, y, flag),
                |(x, y), (dx, dy), seed| crossed_grad(x, dx, y, dy, flag, seed),
            );
        }
    }

    /// A net whose layers have different widths.
    fn layer(h: &[T], w: &[T], width: usize) -> Vec<T> {
        let mut next = vec![0.0; width];
        for i in 0..width {
            for j in 0..h.len() {
                next[i] += w[(i * 3 + j) % w.len()] * h[j];
            }
            next[i] = next[i].tanh();
        }
        next
    }

    #[gradient]
    fn net(x: &[T; 4], w: &[T; 7], widths: &[usize]) -> T {
        let mut h = x.to_vec();
        for &width in widths {
            h = layer(&h, w, width);
        }
        h.iter().sum::<T>() * h.len() as T
    }

    #[test]
    fn a_list_is_replaced_by_one_of_another_length() {
        for widths in [&[][..], &[3], &[5, 2], &[2, 6, 3, 1]] {
            check(
                ([0.0; 4], [0.0; 7]),
                |(x, w)| net(x, w, widths),
                |(x, w), (dx, dw), seed| net_grad(x, dx, w, dw, widths, seed),
            );
        }
    }

    #[gradient]
    fn replaced(x: &[T; 4], n: usize) -> T {
        let mut state = vec![x[0]; 3];
        let mut history = 0.0;
        for i in 0..n {
            let next: Vec<T> = state.iter().map(|v| v * x[i % 4]).collect();
            let old = std::mem::replace(&mut state, next);
            history += old[i % old.len()] * state[0];
            let mut moved = std::mem::take(&mut state);
            assert!(state.is_empty());
            moved[1] += old[0];
            state = moved;
        }
        let last = state;
        state = vec![x[3], 2.0];
        history + last.iter().product::<T>() * state[0] * state.len() as T
    }

    #[test]
    fn old_lists_live_on() {
        for n in 0..4 {
            check([0.0; 4], |x| replaced(x, n), |x, dx, seed| replaced_grad(x, dx, n, seed));
        }
    }

    #[gradient]
    fn pushed(x: &[T; 5]) -> T {
        let mut v = Vec::new();
        for i in 0..5 {
            v.push(x[i] * x[(i + 1) % 5]);
        }
        let mut w = Vec::with_capacity(2);
        for a in &v {
            if *a > 0.0 {
                w.push(a.sqrt());
                w.push(2.0 * a);
            }
        }
        w.push(x[0]);
        let mut sum = 0.0;
        for (i, a) in w.iter().enumerate() {
            sum += a * (i + 1) as T;
        }
        sum + w.len() as T * v[v.len() - 1]
    }

    #[test]
    fn lists_grow() {
        check([0.0; 5], |x| pushed(x), |x, dx, seed| pushed_grad(x, dx, seed));
    }

    /// A stack, whose depth depends on the data.
    #[gradient]
    fn stacked(x: &[T; 6]) -> T {
        let mut stack = vec![x[0]];
        let mut out = 0.0;
        for i in 1..6 {
            if x[i] > 0.1 {
                stack.push(x[i] * *stack.last().unwrap());
                stack.push(x[i]);
            } else if stack.len() > 1 {
                let top = stack.pop().unwrap();
                out += top * x[i];
            }
        }
        while stack.len() > 1 {
            let a = stack.pop().unwrap();
            let b = stack.pop().unwrap();
            stack.push(a * b + 0.5);
            out = out.sin() + a;
        }
        out + stack.pop().unwrap_or(1.0) + stack.pop().unwrap_or(7.0)
    }

    #[test]
    fn lists_are_stacks() {
        check([0.0; 6], |x| stacked(x), |x, dx, seed| stacked_grad(x, dx, seed));
    }

    #[gradient]
    fn reshaped(x: &[T; 4], n: usize) -> T {
        let mut v = x.to_vec();
        v.extend_from_slice(&x[1..3]);
        v.extend(x.iter().map(|a| a * a));
        v.truncate(n);
        v.resize(n + 1, x[2] * 2.0);
        let mut w = v.clone();
        v.clear();
        v.push(x[1]);
        w.extend(v.iter().filter(|a| **a > 0.0));
        let gone = w.swap_remove(0);
        let mut rest = vec![gone];
        rest.append(&mut w);
        assert!(w.is_empty());
        let mut product = 1.0;
        for (i, a) in rest.iter().enumerate() {
            product = product * 0.5 + a * (i as T + 1.0);
        }
        product * v[0] + rest.len() as T
    }

    #[test]
    fn lists_change_their_length() {
        for n in [0, 3, 8, 12] {
            check([0.0; 4], |x| reshaped(x, n), |x, dx, seed| reshaped_grad(x, dx, n, seed));
        }
    }

    #[derive(Clone, Copy)]
    struct Point {
        x: T,
        y: T,
    }

    #[gradient]
    fn lists_of_parts(x: &[T; 6]) -> T {
        let mut points = Vec::new();
        let mut pairs: Vec<(T, usize)> = Vec::new();
        for i in 0..3 {
            points.push(Point { x: x[2 * i], y: x[2 * i + 1] });
            if x[i] > 0.0 {
                pairs.push((x[i] * x[5], i));
            }
        }
        let scaled: Vec<Point> =
            points.iter().map(|p| Point { x: 2.0 * p.x, y: p.y * p.y }).collect();
        let positive: Vec<(T, T)> =
            points.iter().filter(|p| p.x > 0.0).map(|p| (p.x, p.y)).collect();
        let mut sum = 0.0;
        for (v, i) in &pairs {
            sum += v * scaled[*i].y;
        }
        for (a, b) in positive.iter() {
            sum += a * b * scaled[0].x;
        }
        sum + positive.len() as T + points[2].y
    }

    #[test]
    fn lists_hold_structs_and_tuples() {
        check([0.0; 6], |x| lists_of_parts(x), |x, dx, seed| lists_of_parts_grad(x, dx, seed));
    }

    fn chosen(x: &[T], n: usize) -> Vec<T> {
        if n == 0 {
            return Vec::new();
        }
        let mut out = vec![0.0; n];
        for i in 0..n {
            if i >= x.len() {
                return x.to_vec();
            }
            out[i] = x[i] * x[0];
        }
        out
    }

    #[gradient]
    fn returned(x: &[T; 3], n: usize) -> T {
        let list = chosen(x, n);
        let other = if n > 1 { vec![x[1], 2.0] } else { list.clone() };
        let last = match n {
            0 => vec![x[0]],
            1 => x.to_vec(),
            _ => chosen(&other, 2),
        };
        list.iter().sum::<T>() * last[0] + other.len() as T + last.iter().product::<T>()
    }

    #[test]
    fn lists_are_returned_early_and_by_branches() {
        for n in 0..6 {
            check([0.0; 3], |x| returned(x, n), |x, dx, seed| returned_grad(x, dx, n, seed));
        }
    }

    struct State {
        now: Vec<T>,
        next: Vec<T>,
        trace: Vec<T>,
    }

    impl State {
        fn new(x: &[T]) -> Self {
            State { now: x.to_vec(), next: vec![0.0; x.len()], trace: Vec::new() }
        }

        fn step(&mut self, k: T) {
            let n = self.now.len();
            for i in 0..n {
                self.next[i] = self.now[i] + k * self.now[(i + 1) % n] * self.now[i];
            }
            std::mem::swap(&mut self.now, &mut self.next);
            self.trace.push(self.now[0]);
        }
    }

    fn record(list: &mut Vec<T>, a: T) {
        list.push(a);
        if a > 0.0 {
            list.push(a * a);
        }
    }

    #[gradient]
    fn methods(x: &[T; 4], k: T) -> T {
        let mut state = State::new(x);
        let mut log = Vec::new();
        for _ in 0..3 {
            state.step(k);
            record(&mut log, state.now[1]);
        }
        state.now.iter().sum::<T>() + state.trace.iter().product::<T>() + log.iter().sum::<T>()
    }

    #[test]
    fn lists_in_structs_change_places() {
        check(
            ([0.0; 4], 0.0),
            |(x, k)| methods(x, *k),
            |(x, k), (dx, dk), seed| {
                let (value, d) = methods_grad(x, dx, *k, seed);
                *dk += d;
                value
            },
        );
    }

    #[gradient]
    fn owned(mut x: Vec<T>, n: usize) -> T {
        for i in 0..n {
            x.push(x[i] * 2.0);
            let mut y = vec![0.0; x.len()];
            for j in 0..y.len() {
                y[j] = x[j] * x[0];
            }
            x = y;
        }
        x.iter().sum()
    }

    #[test]
    fn a_parameter_grows() {
        for n in 0..3 {
            check(
                vec![0.0; 3],
                |x| owned(x.clone(), n),
                |x, dx, seed| {
                    let (value, d) = owned_grad(x.clone(), n, seed);
                    dx.iter_mut().zip(d).for_each(|(a, b)| *a += b);
                    value
                },
            );
        }
    }

    #[gradient]
    fn checkpointed(x: &[T; 5], k: T, steps: usize) -> T {
        let n = x.len();
        let mut u = x.to_vec();
        let mut v = vec![0.0; n];
        #[checkpoint(slots = 2)]
        for _ in 0..steps {
            for i in 0..n {
                v[i] = 0.5 * u[i] + 0.2 * k * u[(i + 1) % n] * u[i];
            }
            std::mem::swap(&mut u, &mut v);
        }
        #[checkpoint(slots = 2)]
        for t in 0..steps {
            let mut next = vec![0.0; n];
            for i in 0..n {
                next[i] = (0.5 * u[i] + v[(i + t) % n]).sin();
            }
            u = next;
        }
        u.iter().sum::<T>() * v[1]
    }

    #[test]
    fn lists_change_places_under_checkpoints() {
        for steps in 0..5 {
            check(
                ([0.0; 5], 0.0),
                |(x, k)| checkpointed(x, *k, steps),
                |(x, k), (dx, dk), seed| {
                    let (value, d) = checkpointed_grad(x, dx, *k, steps, seed);
                    *dk += d;
                    value
                },
            );
        }
    }

    #[gradient]
    fn nested(x: &[T; 4], n: usize) -> T {
        let table: Vec<Vec<T>> =
            (0..n).map(|i| (0..=i).map(|j| x[i % 4] * x[j % 4]).collect()).collect();
        let mut rows = Vec::new();
        let mut h = x.to_vec();
        for i in 0..n {
            h = h.iter().map(|v| v * x[i % 4]).collect();
            if i % 2 == 1 {
                h.push(x[0]);
            }
            rows.push(h.clone());
        }
        let mut sum = 0.0;
        for (i, row) in rows.iter().enumerate() {
            sum += row.iter().sum::<T>() * (i + 1) as T;
        }
        let mut last = rows.pop().unwrap();
        last.push(2.0);
        rows.push(vec![x[1], last[0]]);
        rows[0] = last;
        let taken = std::mem::take(&mut rows[0]);
        sum += rows[0].len() as T + taken.iter().product::<T>();
        for row in &table {
            sum += row[0] * row[row.len() - 1];
        }
        sum + rows[rows.len() - 1].iter().sum::<T>()
    }

    #[test]
    fn lists_hold_lists() {
        for n in 1..5 {
            check([0.0; 4], |x| nested(x, n), |x, dx, seed| nested_grad(x, dx, n, seed));
        }
    }

    struct Layer {
        w: Vec<T>,
        bias: T,
    }

    #[gradient]
    fn layers(x: &[T; 3], n: usize) -> T {
        let mut all: Vec<Layer> = Vec::new();
        for i in 0..n {
            let w: Vec<T> = (0..i + 2).map(|j| x[j % 3] * (i + 1) as T).collect();
            all.push(Layer { w, bias: x[i % 3] });
        }
        let mut h = vec![x[0], x[1]];
        for layer in &all {
            let mut next = vec![layer.bias; layer.w.len()];
            for (a, w) in next.iter_mut().zip(&layer.w) {
                *a = (*a + w * h[0]).tanh();
            }
            h = next;
        }
        h.iter().sum::<T>() * all.len() as T
    }

    #[test]
    fn lists_hold_structs_that_hold_lists() {
        for n in 0..4 {
            check([0.0; 3], |x| layers(x, n), |x, dx, seed| layers_grad(x, dx, n, seed));
        }
    }

    #[gradient]
    fn rows_change_places(x: &[T; 4], n: usize) -> T {
        let mut m = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..n {
                m[i][j] = (x[i] * (j as T + x[3])).sin() + if i == j { 0.5 } else { 0.0 };
            }
        }
        let mut det = 1.0;
        for c in 0..n {
            let mut p = c;
            for r in c + 1..n {
                if m[r][c].abs() > m[p][c].abs() {
                    p = r;
                }
            }
            if p != c {
                m.swap(p, c);
                det = -det;
            }
            det *= m[c][c];
            for r in c + 1..n {
                let k = m[r][c] / m[c][c];
                for j in c..n {
                    m[r][j] -= k * m[c][j];
                }
            }
        }
        let mut g = vec![vec![x[0]], vec![2.0 * x[0], x[1]]];
        g.swap(0, 1);
        let (p, q) = g.split_at_mut(1);
        std::mem::swap(&mut p[0], &mut q[0]);
        g.reverse();
        let taken = std::mem::take(&mut g[0]);
        det + taken[0] * g[1][0] * x[2] + g[0].len() as T + 10.0 * taken.len() as T
    }

    #[test]
    fn rows_of_lists_change_places() {
        for n in 0..4 {
            check([0.0; 4], |x| rows_change_places(x, n), |x, dx, seed| rows_change_places_grad(x, dx, n, seed));
        }
    }

    struct Trail {
        u: Vec<T>,
        c: T,
    }

    fn crossed_trails(p: &mut Trail, q: &mut Trail) {
        std::mem::swap(p, q);
        p.c *= 2.0;
        for v in p.u.iter_mut() {
            *v *= 3.0;
        }
    }

    #[gradient]
    fn structs_change_places(x: &[T; 3], a: T, n: usize) -> T {
        let mut p = Trail { u: vec![a, 2.0], c: a };
        let mut q = Trail { u: x.to_vec(), c: 1.0 };
        std::mem::swap(&mut p, &mut q);
        let first = p.u.iter().sum::<T>() + 10.0 * q.u[0] * q.c;
        crossed_trails(&mut p, &mut q);
        (p, q) = (q, p);
        let mut current = Trail { u: x.to_vec(), c: 0.0 };
        let mut old = Trail { u: vec![a], c: 1.0 };
        for _ in 0..n {
            let next = Trail {
                u: current.u.iter().map(|v| (v * a).sin()).collect(),
                c: current.c + old.u[0],
            };
            old = current;
            current = next;
        }
        let kept = p;
        p = Trail { u: vec![2.0 * a; 2], c: a };
        p.u[0] += 10.0 * kept.u[0];
        if n > 1 {
            p = Trail { u: x.to_vec(), c: 3.0 };
        }
        let mut trails = vec![Trail { u: vec![a], c: x[0] }, Trail { u: vec![x[1], x[2]], c: a }];
        let replaced = std::mem::replace(&mut trails[0], Trail { u: vec![a, a], c: x[2] });
        trails[1].u[0] *= replaced.u[0];
        trails.swap(0, 1);
        first
            + current.c
            + current.u.iter().sum::<T>()
            + old.u.iter().map(|v| v * v).sum::<T>()
            + p.u.iter().product::<T>() * p.c
            + kept.u.iter().sum::<T>()
            + q.u[0] * q.c
            + trails[0].u[0] * trails[1].c * replaced.c
    }

    #[test]
    fn structs_that_hold_lists_change_places() {
        for n in 0..4 {
            check(
                ([0.0; 3], 0.0),
                |(x, a)| structs_change_places(x, *a, n),
                |(x, a), (dx, da), seed| {
                    let (value, d) = structs_change_places_grad(x, dx, *a, n, seed);
                    *da += d;
                    value
                },
            );
        }
    }

    #[gradient]
    fn crossed_under_checkpoints(x: &[T; 4], a: T, steps: usize) -> T {
        let mut u = x.to_vec();
        let mut v = vec![0.0; 4];
        let mut empty: Vec<T> = Vec::new();
        std::mem::swap(&mut u, &mut empty);
        std::mem::swap(&mut u, &mut empty);
        #[checkpoint(slots = 2)]
        for _ in 0..steps {
            for i in 0..4 {
                v[i] = (u[i] * a + 0.3 * u[(i + 1) % 4]).sin();
            }
            (u, v) = (v, u);
        }
        u.iter().sum::<T>() + v[1]
    }

    #[test]
    fn lists_cross_under_checkpoints() {
        for steps in 0..4 {
            check(
                ([0.0; 4], 0.0),
                |(x, a)| crossed_under_checkpoints(x, *a, steps),
                |(x, a), (dx, da), seed| {
                    let (value, d) = crossed_under_checkpoints_grad(x, dx, *a, steps, seed);
                    *da += d;
                    value
                },
            );
        }
    }

    #[gradient]
    fn boxed(x: &[T; 3]) -> T {
        let list: Box<[T]> = x.iter().map(|a| a * a).collect();
        let from = Vec::from([x[0], 2.0]);
        let other = Vec::from(&x[1..]);
        let mut copy = vec![0.0; 2];
        copy.clone_from(&other);
        copy[0] *= from[0];
        list[2] * other[1] * copy[0] + Box::new(x[1]).sin()
    }

    #[test]
    fn boxes_are_what_they_hold() {
        check([0.0; 3], |x| boxed(x), |x, dx, seed| boxed_grad(x, dx, seed));
    }
}
