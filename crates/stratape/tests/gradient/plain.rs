//! Functions of structs, arrays, tuples and `&mut` numbers that call themselves, or whose derivatives are known by hand.

#![allow(clippy::needless_range_loop, unreachable_pub, clippy::too_many_arguments)]

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{a} {b}");
}

fn slope(f: impl Fn(f64) -> f64, at: f64) -> f64 {
    (f(at + 1e-6) - f(at - 1e-6)) / 2e-6
}

#[stratape::differentiable]
mod by_hand {
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Spring {
        pub stiffness: f64,
        pub at: [f64; 2],
        pub kind: usize,
    }

    #[derive(Clone, Debug, Default)]
    pub struct Chain {
        pub weights: Vec<f64>,
        pub rest: (f64, f64),
    }

    fn energy(s: &Spring, p: [f64; 2], reached: &mut f64) -> f64 {
        let (x, y) = (p[0] - s.at[0], p[1] - s.at[1]);
        *reached = s.stiffness * x * y + *reached * 0.5;
        s.stiffness * (x * x + y * y) * (1.0 + s.kind as f64)
    }

    /// Ten times what is right, to tell it from what the compiler would find.
    #[pullback(of = energy)]
    fn energy_back(
        s: &Spring,
        ds: &mut Spring,
        p: [f64; 2],
        reached: &mut f64,
        dreached: &mut f64,
        seed: f64,
    ) -> [f64; 2] {
        let _ = reached;
        let (x, y) = (p[0] - s.at[0], p[1] - s.at[1]);
        let k = seed * (1.0 + s.kind as f64);
        let d = *dreached;
        ds.stiffness += 10.0 * (k * (x * x + y * y) + d * x * y);
        let dp = [
            10.0 * s.stiffness * (2.0 * k * x + d * y),
            10.0 * s.stiffness * (2.0 * k * y + d * x),
        ];
        ds.at[0] -= dp[0];
        ds.at[1] -= dp[1];
        *dreached = 10.0 * 0.5 * d;
        dp
    }

    #[gradient]
    pub fn total(springs: &[Spring], p: [f64; 2], n: usize) -> f64 {
        let mut reached = 0.0;
        let mut sum = 0.0;
        for k in 0..n {
            sum = energy(&springs[k], p, &mut reached);
        }
        sum + 0.0 * reached
    }

    fn pull(c: &Chain, t: f64, out: &mut [f64; 2]) {
        let sum: f64 = c.weights.iter().sum();
        out[0] = sum * t + c.rest.0;
        out[1] = sum * c.rest.1;
    }

    #[pullback(of = pull)]
    fn pull_back(
        c: &Chain,
        dc: &mut Chain,
        t: f64,
        out: &mut [f64; 2],
        dout: &mut [f64; 2],
    ) -> f64 {
        let _ = out;
        let sum: f64 = c.weights.iter().sum();
        for w in dc.weights.iter_mut() {
            *w += dout[0] * t + dout[1] * c.rest.1;
        }
        dc.rest.0 += dout[0];
        dc.rest.1 += dout[1] * sum;
        let dt = dout[0] * sum;
        *dout = [0.0; 2];
        dt
    }

    #[gradient]
    pub fn pulled(c: &Chain, t: f64) -> f64 {
        let mut out = [0.0; 2];
        pull(c, t, &mut out);
        let first = out[0] * out[1];
        pull(c, first, &mut out);
        out[0].sin() + out[1]
    }

    #[constant]
    fn cell(at: (f64, f64), s: &Spring) -> usize {
        (at.0 + at.1 + s.at[0]).abs() as usize
    }

    #[gradient]
    pub fn binned(at: (f64, f64), s: &Spring) -> f64 {
        at.0 * (1.0 + cell(at, s) as f64) + s.at[1]
    }
}

#[test]
fn derivatives_by_hand_of_structs() {
    use by_hand::{Chain, Spring};
    let spring = Spring { stiffness: 1.3, at: [0.2, -0.4], kind: 2 };
    let (p, mut shadow) = ([0.9, 0.7], [Spring::default(); 1]);
    let (value, dp) = by_hand::total_grad(&[spring], &mut shadow, p, 1, 1.0);
    assert_eq!(value, by_hand::total(&[spring], p, 1));
    close(dp[0], 10.0 * slope(|x| by_hand::total(&[spring], [x, p[1]], 1), p[0]));
    close(dp[1], 10.0 * slope(|y| by_hand::total(&[spring], [p[0], y], 1), p[1]));
    close(shadow[0].at[0], -dp[0]);
    let stiff = |stiffness| by_hand::total(&[Spring { stiffness, ..spring }], p, 1);
    close(shadow[0].stiffness, 10.0 * slope(stiff, 1.3));

    let chain = Chain { weights: vec![0.3, -0.8, 1.1], rest: (0.4, 0.9) };
    let mut shadow = Chain { weights: vec![0.0; 3], rest: (0.0, 0.0) };
    let (value, dt) = by_hand::pulled_grad(&chain, &mut shadow, 0.7, 1.0);
    assert_eq!(value, by_hand::pulled(&chain, 0.7));
    close(dt, slope(|t| by_hand::pulled(&chain, t), 0.7));
    for i in 0..3 {
        let at = |w: f64| {
            let mut chain = chain.clone();
            chain.weights[i] = w;
            by_hand::pulled(&chain, 0.7)
        };
        close(shadow.weights[i], slope(at, chain.weights[i]));
    }
    let rest = |b: f64| by_hand::pulled(&Chain { rest: (0.4, b), ..chain.clone() }, 0.7);
    close(shadow.rest.1, slope(rest, 0.9));

    let mut shadow = Spring::default();
    let (_, dat) = by_hand::binned_grad((1.2, 2.5), &spring, &mut shadow, 1.0);
    assert_eq!((dat, shadow.at), ((4.0, 0.0), [0.0, 1.0]));
}

#[stratape::differentiable]
mod recursive {
    #[derive(Clone, Copy, Debug, Default)]
    pub struct State {
        pub x: f64,
        pub v: [f64; 2],
        pub steps: usize,
    }

    /// A struct in, a struct out.
    fn advance(s: State, h: f64) -> State {
        if s.steps == 0 {
            return s;
        }
        let half =
            State { x: s.x + h * s.v[0], v: [s.v[0] - h * s.x, s.v[1] * 0.9], steps: s.steps - 1 };
        let rest = advance(half, h * 0.9);
        State { x: rest.x * 1.01, ..rest }
    }

    #[gradient]
    pub fn flight(s: &State, h: f64) -> f64 {
        let end = advance(*s, h);
        end.x * end.v[1] + end.v[0]
    }

    /// A result of two, one of which decides.
    fn bracket((lo, hi): (f64, f64), target: f64, depth: usize) -> (f64, bool) {
        let mid = 0.5 * (lo + hi) + 0.01 * target;
        if depth == 0 {
            return (mid * target, mid > target);
        }
        let (a, above) = bracket((lo, mid), target, depth - 1);
        if above { (a, true) } else { bracket((mid, hi), target + a * 0.1, depth - 1) }
    }

    #[gradient]
    pub fn search(lo: f64, hi: f64, target: f64) -> f64 {
        bracket((lo, hi), target, 4).0
    }

    /// Sums on the way, through `&mut`.
    fn visit(list: &Vec<f64>, at: usize, sum: &mut f64, state: &mut State) {
        if at >= list.len() {
            return;
        }
        *sum += list[at] * state.x;
        state.x = state.x * 0.8 + list[at];
        state.v[1] += state.x;
        state.steps += 1;
        visit(list, 2 * at + 1, sum, state);
        visit(list, 2 * at + 2, sum, state);
    }

    #[gradient]
    pub fn visited(list: &Vec<f64>, x: f64) -> f64 {
        let mut sum = 0.0;
        let mut state = State { x, v: [0.0; 2], steps: 0 };
        visit(list, 0, &mut sum, &mut state);
        sum * state.v[1] + state.steps as f64
    }

    /// The gradient of a function that calls itself, and takes a struct.
    #[gradient]
    pub fn own(s: &State, t: f64) -> f64 {
        if s.steps == 0 {
            return s.x * t + s.v[0];
        }
        let next = State { x: s.x.sin(), v: [s.v[1], s.v[0] * t], steps: s.steps - 1 };
        own(&next, t * 0.5) + s.x
    }
}

#[test]
fn functions_of_structs_call_themselves() {
    use recursive::{
        State, flight, flight_grad, own, own_grad, search, search_grad, visited, visited_grad,
    };
    let s = State { x: 0.4, v: [0.7, -0.3], steps: 5 };
    for (f, gradient) in [
        (
            flight as fn(&State, f64) -> f64,
            flight_grad as fn(&State, &mut State, f64, f64) -> (f64, f64),
        ),
        (own, own_grad),
    ] {
        let mut ds = State::default();
        let (value, dh) = gradient(&s, &mut ds, 0.1, 1.0);
        assert_eq!(value, f(&s, 0.1));
        close(dh, slope(|h| f(&s, h), 0.1));
        close(ds.x, slope(|x| f(&State { x, ..s }, 0.1), s.x));
        close(ds.v[0], slope(|v| f(&State { v: [v, s.v[1]], ..s }, 0.1), s.v[0]));
        close(ds.v[1], slope(|v| f(&State { v: [s.v[0], v], ..s }, 0.1), s.v[1]));
    }
    let (value, dlo, dhi, dtarget) = search_grad(0.1, 0.9, 0.37, 1.0);
    assert_eq!(value, search(0.1, 0.9, 0.37));
    close(dlo, slope(|lo| search(lo, 0.9, 0.37), 0.1));
    close(dhi, slope(|hi| search(0.1, hi, 0.37), 0.9));
    close(dtarget, slope(|target| search(0.1, 0.9, target), 0.37));

    let list: Vec<f64> = (0..9).map(|i| (f64::from(i) * 1.7).sin()).collect();
    let mut dlist = vec![0.0; 9];
    let (value, dx) = visited_grad(&list, &mut dlist, 0.6, 1.0);
    assert_eq!(value, visited(&list, 0.6));
    close(dx, slope(|x| visited(&list, x), 0.6));
    for i in 0..9 {
        let at = |v: f64| {
            let mut list = list.clone();
            list[i] = v;
            visited(&list, 0.6)
        };
        close(dlist[i], slope(at, list[i]));
    }
}

/// From outside their modules.
#[stratape::gradient]
fn outside(c: &by_hand::Chain, t: f64) -> f64 {
    by_hand::pulled(c, t) * t
}

#[stratape::gradient]
fn flown(s: &recursive::State, h: f64) -> f64 {
    recursive::flight(s, h) * h
}

#[test]
fn they_are_called_from_elsewhere() {
    let chain = by_hand::Chain { weights: vec![0.3, -0.8, 1.1], rest: (0.4, 0.9) };
    let mut shadow = by_hand::Chain { weights: vec![0.0; 3], rest: (0.0, 0.0) };
    let (value, dt) = outside_grad(&chain, &mut shadow, 0.7, 1.0);
    assert_eq!(value, outside(&chain, 0.7));
    close(dt, slope(|t| outside(&chain, t), 0.7));
    let s = recursive::State { x: 0.4, v: [0.7, -0.3], steps: 3 };
    let mut ds = recursive::State::default();
    let (value, dh) = flown_grad(&s, &mut ds, 0.1, 1.0);
    assert_eq!(value, flown(&s, 0.1));
    close(dh, slope(|h| flown(&s, h), 0.1));
    close(ds.v[1], slope(|v| flown(&recursive::State { v: [s.v[0], v], ..s }, 0.1), s.v[1]));
}

#[stratape::differentiable]
mod parts {
    fn exchange(left: &mut [f64], right: &mut [f64], by: &[f64]) {
        for i in 0..left.len().min(right.len()) {
            let l = left[i];
            left[i] = right[i] * by[0];
            right[i] = l.sin() + by[1];
        }
    }

    #[pullback(of = exchange)]
    fn exchange_back(
        left: &mut [f64],
        dleft: &mut [f64],
        right: &mut [f64],
        dright: &mut [f64],
        by: &[f64],
        dby: &mut [f64],
    ) {
        for i in 0..left.len().min(right.len()) {
            let (dl, dr) = (dleft[i], dright[i]);
            dby[0] += dl * left[i] / by[0];
            dby[1] += dr;
            dright[i] = dl * by[0];
            dleft[i] = dr * (right[i] - by[1]).asin().cos();
        }
    }

    fn halve(left: &mut [f64], right: &mut [f64], t: f64) {
        for i in 0..left.len().min(right.len()) {
            left[i] += t * right[i];
            right[i] *= left[i];
        }
        if left.len() > 1 {
            let n = left.len() / 2;
            let (a, b) = left.split_at_mut(n);
            halve(a, b, t * 0.5);
        }
    }

    #[gradient]
    pub fn mixed(x: &[f64], t: f64) -> f64 {
        let mut y = x.to_vec();
        let n = y.len() / 2;
        let (left, rest) = y.split_at_mut(n - 1);
        let (right, by) = rest.split_at_mut(n - 1);
        exchange(left, right, by);
        halve(left, right, t);
        exchange(&mut right[1..], left, by);
        y.iter().enumerate().map(|(i, v)| v * v * (1.0 + i as f64)).sum()
    }
}

#[test]
fn several_parts_of_one_list_are_written() {
    let x = [0.3, -0.4, 0.2, 0.6, -0.1, 0.35, 0.8, 0.15];
    let mut dx = [0.0; 8];
    let (value, dt) = parts::mixed_grad(&x, &mut dx, 0.7, 1.0);
    assert_eq!(value, parts::mixed(&x, 0.7));
    close(dt, slope(|t| parts::mixed(&x, t), 0.7));
    for i in 0..8 {
        let at = |v: f64| {
            let mut x = x;
            x[i] = v;
            parts::mixed(&x, 0.7)
        };
        close(dx[i], slope(at, x[i]));
    }
}

/// Alone, without a module around them.
mod alone {
    pub fn turn(p: &[f64; 2], angle: f64, out: &mut [f64; 2], length: &mut f64) {
        let (sin, cos) = angle.sin_cos();
        *out = [cos * p[0] - sin * p[1], sin * p[0] + cos * p[1]];
        *length += p[0] * p[0] + p[1] * p[1];
    }

    #[stratape::pullback(of = turn)]
    fn turn_back(
        p: &[f64; 2],
        dp: &mut [f64; 2],
        angle: f64,
        out: &mut [f64; 2],
        dout: &mut [f64; 2],
        _length: &mut f64,
        dlength: &mut f64,
    ) -> f64 {
        let (sin, cos) = angle.sin_cos();
        dp[0] += cos * dout[0] + sin * dout[1] + 2.0 * p[0] * *dlength;
        dp[1] += cos * dout[1] - sin * dout[0] + 2.0 * p[1] * *dlength;
        let dangle = dout[1] * out[0] - dout[0] * out[1];
        *dout = [0.0; 2];
        dangle
    }

    fn area(side: (f64, f64), unit: usize) -> f64 {
        side.0 * side.1 * unit as f64
    }

    #[stratape::pullback(of = area)]
    fn area_back(side: (f64, f64), unit: usize, seed: f64) -> (f64, f64) {
        (seed * side.1 * unit as f64, seed * side.0 * unit as f64)
    }

    #[stratape::gradient]
    pub fn turned(p: &[f64; 2], angle: f64) -> f64 {
        let (mut out, mut length) = ([0.0; 2], 1.0);
        turn(p, angle, &mut out, &mut length);
        let first = out;
        turn(&first, 2.0 * angle, &mut out, &mut length);
        out[0] * length + area((out[1], angle), 3)
    }
}

#[test]
fn derivatives_by_hand_without_a_module() {
    let (p, mut dp, angle) = ([0.4, -1.2], [0.0; 2], 0.3);
    let (value, dangle) = alone::turned_grad(&p, &mut dp, angle, 1.0);
    assert_eq!(value, alone::turned(&p, angle));
    close(dangle, slope(|angle| alone::turned(&p, angle), angle));
    close(dp[0], slope(|x| alone::turned(&[x, p[1]], angle), p[0]));
    close(dp[1], slope(|y| alone::turned(&[p[0], y], angle), p[1]));
}

/// Lists of structs go round as they are.
#[stratape::differentiable]
mod tree {
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Node {
        pub mass: f64,
        pub at: [f64; 2],
        pub children: (usize, usize),
    }

    fn pull(nodes: &[Node], k: usize, p: &[f64; 2], force: &mut [f64; 2]) -> f64 {
        let node = nodes[k];
        let (x, y) = (node.at[0] - p[0], node.at[1] - p[1]);
        let r2 = x * x + y * y + 0.1;
        if node.children.0 == 0 || r2 > 4.0 {
            force[0] += node.mass * x / r2;
            force[1] += node.mass * y / r2;
            return node.mass / r2.sqrt();
        }
        pull(nodes, node.children.0, p, force) + pull(nodes, node.children.1, p, force)
    }

    /// Each level writes the nodes it passes.
    fn settle(nodes: &mut [Node], k: usize) -> f64 {
        if nodes[k].children.0 == 0 {
            nodes[k].mass *= nodes[k].at[0];
            return nodes[k].mass;
        }
        let (a, b) = nodes[k].children;
        let sum = settle(nodes, a) + settle(nodes, b);
        nodes[k].mass += sum;
        nodes[k].at[1] *= nodes[k].mass;
        sum
    }

    #[gradient]
    pub fn felt(nodes: &[Node], p: &[f64; 2]) -> f64 {
        let mut nodes = nodes.to_vec();
        let sum = settle(&mut nodes, 0);
        let mut force = [0.0; 2];
        let potential = pull(&nodes, 0, p, &mut force);
        sum * potential + force[0] * force[1] + nodes[0].at[1]
    }
}

#[test]
fn trees_in_lists_of_structs() {
    use tree::{Node, felt, felt_grad};
    let node =
        |mass: f64, x: f64, y: f64, children: (usize, usize)| Node { mass, at: [x, y], children };
    let nodes = [
        node(0.2, 0.3, 0.1, (1, 2)),
        node(0.4, -0.3, 0.5, (3, 4)),
        node(0.9, 0.7, -0.4, (0, 0)),
        node(1.1, -0.6, 0.8, (0, 0)),
        node(0.5, -0.1, 0.2, (0, 0)),
    ];
    let p = [0.25, -0.15];
    let (mut dnodes, mut dp) = ([Node::default(); 5], [0.0; 2]);
    let value = felt_grad(&nodes, &mut dnodes, &p, &mut dp, 1.0);
    assert_eq!(value, felt(&nodes, &p));
    close(dp[0], slope(|x| felt(&nodes, &[x, p[1]]), p[0]));
    close(dp[1], slope(|y| felt(&nodes, &[p[0], y]), p[1]));
    for i in 0..5 {
        let with = |change: &dyn Fn(&mut Node)| {
            let mut nodes = nodes;
            change(&mut nodes[i]);
            felt(&nodes, &p)
        };
        close(dnodes[i].mass, slope(|v| with(&|node| node.mass = v), nodes[i].mass));
        close(dnodes[i].at[0], slope(|v| with(&|node| node.at[0] = v), nodes[i].at[0]));
        close(dnodes[i].at[1], slope(|v| with(&|node| node.at[1] = v), nodes[i].at[1]));
    }
}
