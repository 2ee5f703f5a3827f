//! Jumps that carry values, items inside functions, `let` without a value.

#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::pedantic,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    macro_rules! checked {
        ($($name:ident $gradient:ident;)*) => {
            mod checks {
                use super::*;

                $(#[test]
                fn $name() {
                    check([0.0; 6], |x| super::$name(x), |x, dx, seed| super::$gradient(x, dx, seed));
                })*
            }
        };
    }

    #[gradient]
    fn break_values(x: &[T; 6]) -> T {
        let mut y = x[0] * x[0] + 0.5;
        let mut n = 0;
        let z = loop {
            y *= 1.5;
            n += 1;
            if y > 3.0 {
                break y * x[1];
            }
            if n == 4 {
                break x[2];
            }
        };
        let (a, b) = 'found: {
            for i in 0..6 {
                for j in 0..i {
                    if x[i] * x[j] > 0.6 {
                        break 'found (x[i], x[j]);
                    }
                }
            }
            if y > 2.0 {
                break 'found (y, z);
            }
            (1.0, x[3])
        };
        'done: {
            if a > b {
                break 'done;
            }
            y += a;
        }
        z * a + b + y
    }

    #[gradient]
    fn later(x: &[T; 6]) -> T {
        let y;
        let pair;
        if x[0] > 0.0 {
            y = x[1] * 2.0;
            pair = (x[2], 1);
        } else {
            y = x[0] * x[1];
            pair = (x[3], 2);
        }
        let z;
        loop {
            if y > 0.0 {
                z = y * y;
                break;
            }
            z = x[4];
            break;
        }
        y * pair.0 * pair.1 as T + z
    }

    fn sign(v: T) -> T {
        match v {
            v if v > 1.0 => return v * v,
            v if v < -1.0 => return -v,
            _ => {}
        }
        v * 0.5
    }

    #[gradient]
    fn returns(x: &[T; 6]) -> T {
        let clipped = |v: T| {
            if v > 1.0 {
                return (1.0, v);
            }
            (v, 0.0)
        };
        let mut sum = 0.0;
        for v in x {
            let (a, b) = clipped(*v);
            sum += a * b + sign(*v) * a;
        }
        sum
    }

    #[gradient]
    fn items(x: &[T; 6]) -> T {
        const SCALE: T = 2.0;
        fn square(v: T) -> T {
            scaled(v) * v
        }
        fn scaled(v: T) -> T {
            SCALED * v
        }
        #[derive(Clone, Copy)]
        struct Pair {
            a: T,
            b: T,
        }
        impl Pair {
            fn product(&self) -> T {
                self.a * self.b
            }
        }
        #[derive(Clone, Copy, PartialEq)]
        enum Side {
            Left,
            Right,
        }
        let side = if x[0] > x[1] { Side::Left } else { Side::Right };
        let pair = Pair { a: square(x[2]), b: x[3] };
        let factor = match side {
            Side::Left => x[4],
            Side::Right => SCALE,
        };
        pair.product() * factor + if side == Side::Left { x[0] } else { x[1] }
    }

    const SCALED: T = 1.5;

    #[gradient]
    fn conditions(x: &[T; 6]) -> T {
        let (mut i, mut sum) = (0, 0.0);
        while i < 6 && x[i] < 1.3 && (sum < 3.0 || i % 2 == 0) {
            sum += x[i] * x[i];
            i += 1;
        }
        let mut next = Some(0);
        while let Some(k) = next && sum < 10.0 {
            sum += x[k] * 0.5;
            next = (k < 5).then_some(k + 1);
        }
        sum
    }

    checked! {
        break_values break_values_grad;
        later later_grad;
        returns returns_grad;
        items items_grad;
        conditions conditions_grad;
    }
}
