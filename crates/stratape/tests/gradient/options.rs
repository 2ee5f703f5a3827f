//! `Option`, `Result` and enums with data.

#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::pedantic,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    macro_rules! checked {
        ($($test:ident: $call:expr, $gradient:expr;)*) => {
            $(#[test]
            fn $test() {
                check([0.0; 5], $call, $gradient);
            })*
        };
    }

    fn root(v: T) -> Option<T> {
        if v < 0.0 {
            return None;
        }
        Some((v + 0.1).sqrt())
    }

    fn two_roots(a: T, b: T) -> Option<T> {
        let both = root(a)? * root(b)?;
        Some(both + 1.0)
    }

    fn inverse(v: T) -> Result<T, T> {
        if v.abs() < 0.4 { Err(v * 3.0) } else { Ok(1.0 / v) }
    }

    fn inverse_sum(x: &[T]) -> Result<T, T> {
        let mut sum = 0.0;
        for v in x {
            sum += inverse(*v)? * v * v;
            sum += v.sin();
        }
        Ok(sum)
    }

    fn named(v: T) -> Result<T, &'static str> {
        if v > 1.0 {
            return Err("too large");
        }
        if v < -1.0 { Err("too small") } else { Ok(v * v) }
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Shape {
        Empty,
        Circle(T),
        Box { width: T, height: T },
    }

    impl Shape {
        fn of(a: T, b: T) -> Self {
            if a < -0.5 {
                Self::Empty
            } else if a < 0.5 {
                Self::Circle(a * b)
            } else {
                Self::Box { width: a, height: b + 2.0 }
            }
        }

        fn area(&self) -> T {
            match self {
                Shape::Empty => 0.0,
                Shape::Circle(r) => 3.0 * r * r,
                Shape::Box { width, height } => width * height,
            }
        }

        fn grow(&mut self, by: T) {
            match self {
                Shape::Circle(r) => *r += by,
                Shape::Box { width, .. } => *width *= by,
                Shape::Empty => {}
            }
        }
    }

    #[gradient]
    fn first_last(x: &[T; 5]) -> T {
        let mut sum = 0.0;
        if let Some(v) = x.first() {
            sum += v * v;
        }
        let Some(last) = x[1..].last() else { return sum };
        if let (Some(a), Some(b)) = (x.get(1), x.get(7)) {
            sum += a * b;
        }
        let none = x[..0].first();
        sum * last + none.copied().unwrap_or(x[2]) + *x.iter().max_by(|a, b| a.total_cmp(b)).unwrap_or(&0.0)
    }

    #[gradient]
    fn question(x: &[T; 5]) -> T {
        let a = two_roots(x[0], x[1]).unwrap_or(x[2]);
        let b = match two_roots(x[3], 0.5 * x[4]) {
            Some(v) => v * a,
            None => x[3] * x[3],
        };
        a + b + match inverse_sum(&x[..2]) { Ok(v) => v, Err(e) => e * e }
            + inverse_sum(&x[2..]).unwrap_or_else(|e| e * 2.0)
    }

    /// Places stay where they are when what is beside them may jump.
    fn changed_in_place(x: &[T; 5], i: usize) -> Option<T> {
        let mut y = *x;
        y.swap(0, x.get(i).map(|_| i)?);
        y[x.get(i + 1).map(|_| i + 1)?] *= x.get(3)?;
        let more = y[4] * x.get(i + 2)?;
        *y.get_mut(i)? += more;
        Some(y[0] * 2.0 + y[i] * y[i + 1])
    }

    #[gradient]
    fn in_place(x: &[T; 5]) -> T {
        (0..5).map(|i| changed_in_place(x, i).unwrap_or(x[i] * 0.5)).sum()
    }

    #[gradient]
    fn texts(x: &[T; 5]) -> T {
        let mut sum = 0.0;
        for v in x {
            sum += named(*v).unwrap_or(v * 0.5);
            if let Err(_) = named(*v) {
                sum += v;
            }
            sum *= named(v * 0.5).map_or(2.0, |w| 1.0 + w);
        }
        sum
    }

    #[gradient]
    fn best_so_far(x: &[T; 5]) -> T {
        let mut best = None;
        for v in x {
            match best {
                Some(b) if *v <= b => {}
                _ => best = Some(*v),
            }
        }
        let mut least: Option<(usize, T)> = None;
        for (i, v) in x.iter().enumerate() {
            if least.is_none_or(|(_, w)| *v < w) {
                least = Some((i, *v));
            }
        }
        let (i, w) = least.unwrap();
        let mut nearest = None;
        for v in x {
            if nearest.map_or(true, |w: &T| v.abs() < w.abs()) {
                nearest = Some(v);
            }
        }
        best.unwrap() * w * (i as T + 1.0) + nearest.unwrap() * 3.0
    }

    #[gradient]
    fn methods(x: &[T; 5]) -> T {
        let o = root(x[0]);
        let p = root(x[1]);
        let q = root(x[2]);
        let mut sum = o.map(|v| v * x[3]).unwrap_or(x[4]);
        sum += o.and_then(|v| root(v - 0.5)).unwrap_or_else(|| x[1] * 2.0);
        sum += p.map_or(x[0], |v| v * v) + q.map_or_else(|| x[2] * x[2], |v| v.sin());
        sum += o.or(p).unwrap_or_default() + p.or_else(|| root(-x[1])).unwrap_or(1.0) * x[0];
        sum += o.xor(p).map_or(0.5, |v| v * 2.0) * o.zip(q).map_or(x[4], |(a, b)| a * b);
        sum += o.filter(|v| *v > 0.7).unwrap_or(x[0] * 0.1);
        if o.is_some_and(|v| v > 0.6) && p.is_none_or(|v| v < 1.0) {
            sum *= x[1];
        }
        let r = q.ok_or(x[2]);
        sum += match r { Ok(v) => v, Err(e) => e * x[3] };
        sum += r.ok().iter().map(|v| v * 3.0).sum::<T>() + r.err().unwrap_or(2.0) * x[1];
        sum + r.map_err(|e| e * e).unwrap_or_else(|e| e) + o.and(p).map_or(0.0, |v| 2.0 * v)
    }

    #[gradient]
    fn changed(x: &[T; 5]) -> T {
        let mut held = Some(x[0]);
        let taken = held.take();
        let mut sum = taken.unwrap() * x[1];
        sum += *held.get_or_insert(x[2] * 2.0);
        let old = held.replace(x[3]);
        sum += old.unwrap_or(0.0) * held.unwrap();
        if let Some(v) = held.as_mut() {
            *v *= x[4];
        }
        if let Some(ref mut v) = held {
            *v += 1.0;
        }
        if let Some(v) = &held {
            sum += v * v;
        }
        *held.insert(x[0]) += 1.0;
        let mut count = Some(3);
        while let Some(n) = count {
            sum += x[n] * held.unwrap();
            count = if n == 0 { None } else { Some(n - 1) };
        }
        for v in held.iter() {
            sum *= v;
        }
        sum
    }

    #[gradient]
    fn enums(x: &[T; 5]) -> T {
        let mut total = 0.0;
        let mut last = Shape::Empty;
        for i in 0..4 {
            let mut shape = Shape::of(x[i], x[i + 1]);
            shape.grow(x[0]);
            total += shape.area() * x[4];
            if shape != last {
                total += 1.0 + x[i];
            }
            if let Shape::Circle(r) | Shape::Box { width: r, .. } = shape {
                total -= r * 0.3;
            }
            last = shape;
        }
        total + if matches!(last, Shape::Box { width, .. } if width > 0.1) { x[2] } else { last.area() }
    }

    #[gradient]
    fn chains(x: &[T; 5]) -> T {
        let mut sum = 0.0;
        for i in 0..5 {
            if let Some(a) = root(x[i]) && a > 0.5 && let Some(b) = x.get(i + 1) && *b < 1.0 {
                sum += a * b;
            } else if let Ok(c) = inverse(x[i]) {
                sum -= c;
            } else {
                sum *= 1.1;
            }
        }
        sum
    }

    #[gradient]
    fn into_closures(x: &[T; 5]) -> T {
        let half = |v: T| -> Option<T> {
            let r = root(v)?;
            if r > 1.0 {
                return None;
            }
            Some(r * 0.5)
        };
        let other = |v: T| {
            if v < 0.3 {
                return Err(v);
            }
            Ok(v * v)
        };
        let mut sum = x.iter().map(|v| half(*v).unwrap_or(*v)).sum::<T>();
        sum += x.iter().map(|v| match other(*v) { Ok(w) => w, Err(e) => e * e * e }).product::<T>();
        x.iter().fold(Some(sum), |s, v| if *v > 1.35 { None } else { s.map(|s| s * v + 1.0) }).unwrap_or(sum)
    }

    checked! {
        firsts: |x| first_last(x), |x, dx, seed| first_last_grad(x, dx, seed);
        questions: |x| question(x), |x, dx, seed| question_grad(x, dx, seed);
        beside_jumps: |x| in_place(x), |x, dx, seed| in_place_grad(x, dx, seed);
        with_texts: |x| texts(x), |x, dx, seed| texts_grad(x, dx, seed);
        best: |x| best_so_far(x), |x, dx, seed| best_so_far_grad(x, dx, seed);
        all_methods: |x| methods(x), |x, dx, seed| methods_grad(x, dx, seed);
        places: |x| changed(x), |x, dx, seed| changed_grad(x, dx, seed);
        with_data: |x| enums(x), |x, dx, seed| enums_grad(x, dx, seed);
        let_chains: |x| chains(x), |x, dx, seed| chains_grad(x, dx, seed);
        closures: |x| into_closures(x), |x, dx, seed| into_closures_grad(x, dx, seed);
    }

    #[gradient]
    fn unwraps(x: &[T; 5], n: usize) -> T {
        match n {
            0 => root(-1.0).unwrap() * x[0],
            1 => root(-1.0).expect("a root") * x[0],
            2 => inverse(0.25).unwrap() * x[0],
            3 => inverse(0.25).expect("an inverse") * x[0],
            4 => named(2.0).unwrap() * x[0],
            _ => x[0],
        }
    }

    #[test]
    fn panics() {
        let x = [0.5; 5];
        for n in 0..5 {
            let mut dx = [0.0; 5];
            let text = same_panic(|| unwraps(&x, n), || unwraps_grad(&x, &mut dx, n, 1.0));
            assert!(!text.is_empty());
        }
    }
}
