//! Functions of other files, called from a gradient.

#![deny(warnings)]
#![allow(clippy::uninlined_format_args, reason = "an argument of its own is what is tested")]
#![allow(unreachable_pub, unused_qualifications)]

#[path = "several_files/air.rs"]
mod air;
#[path = "several_files/body.rs"]
mod body;
#[path = "several_files/series.rs"]
mod series;
#[path = "several_files/shapes.rs"]
mod shapes;
#[path = "several_files/water.rs"]
mod water;
#[path = "several_files/waves.rs"]
mod waves;

use air::{drag, line};
use shapes::{Norm, Point};
use stratape::gradient;

/// A third one, which no file means.
#[allow(dead_code)]
fn sq(v: f64) -> f64 {
    -v
}

#[gradient]
fn force(v: f64, angle: f64) -> f64 {
    drag(v) + air::lift(v, angle) + water::deep::twice(v) + line(v, 1.0)
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{a} {b}");
}

#[test]
fn names_mean_what_they_mean_in_their_own_file() {
    let (v, angle) = (1.5, 0.3);
    let (value, dv, dangle) = force_grad(v, angle, 1.0);
    assert_eq!(value, force(v, angle));
    close(value, 0.5 * v * v * (1.0 + 100.0 * angle) + 200.0 * v + 2.0 * v + 1.0);
    close(dv, v * (1.0 + 100.0 * angle) + 202.0);
    close(dangle, 50.0 * v * v);
}

#[gradient]
fn outline(corners: &[Point], norm: Norm) -> f64 {
    let m = shapes::middle(corners[0], corners[1]);
    let list = [m, corners[2]];
    let mut sum = 0.0;
    for i in 0..2 {
        sum += list[i].x * list[1 - i].y;
    }
    shapes::perimeter(corners, norm) + shapes::round(corners) + sum
}

#[test]
fn structs_of_another_file_have_shadows() {
    let corners = [(0.1, 0.2), (1.5, -0.3), (0.7, 2.0), (-0.4, 1.1)];
    let corners = corners.map(|(x, y)| Point { x, y });
    for norm in [Norm::Sum, Norm::Largest, Norm::Length] {
        let mut shadows = [Point::default(); 4];
        let value = outline_grad(&corners, &mut shadows, norm, 1.0);
        assert_eq!(value, outline(&corners, norm));
        for i in 0..4 {
            let at = |dx: f64, dy: f64| {
                let mut moved = corners;
                (moved[i].x, moved[i].y) = (moved[i].x + dx, moved[i].y + dy);
                outline(&moved, norm)
            };
            close(shadows[i].x, (at(1e-6, 0.0) - at(-1e-6, 0.0)) / 2e-6);
            close(shadows[i].y, (at(0.0, 1e-6) - at(0.0, -1e-6)) / 2e-6);
        }
    }
}

#[gradient]
fn sums(x: &[f64], p: &Point, n: usize) -> f64 {
    let mut y = x.to_vec();
    series::scale(&mut y, p.x);
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += y[i] * y[i] + series::even(x[i], n);
    }
    sum * series::product(&y) + series::spin(p, n)
}

/// A second gradient of the same functions stands beside the first.
#[gradient]
fn more_sums(x: &[f64], n: usize) -> f64 {
    series::product(x) + series::product(&x[1..]) * series::odd(x[0], n)
}

#[gradient]
fn narrow(x: &[f32], k: &[usize]) -> f32 {
    series::narrow(x, k) * 2.0
}

#[gradient]
fn swaying(leaves: &[series::tree::Leaf], x: f64) -> f64 {
    series::tree::sway(leaves, 3) * series::tree::bend(x, 4)
}

#[test]
fn texts_of_a_module_call_its_halves() {
    let leaves = [(0.7, 0.4), (-1.3, 0.9)].map(|(weight, at)| series::tree::Leaf { weight, at });
    let (mut shadows, x) = ([series::tree::Leaf::default(); 2], 0.6);
    let (value, dx) = swaying_grad(&leaves, &mut shadows, x, 1.0);
    assert_eq!(value, swaying(&leaves, x));
    close(dx, (swaying(&leaves, x + 1e-6) - swaying(&leaves, x - 1e-6)) / 2e-6);
    for i in 0..2 {
        let at = |weight: f64, at: f64| {
            let mut moved = leaves;
            (moved[i].weight, moved[i].at) = (moved[i].weight + weight, moved[i].at + at);
            swaying(&moved, x)
        };
        close(shadows[i].weight, (at(1e-6, 0.0) - at(-1e-6, 0.0)) / 2e-6);
        close(shadows[i].at, (at(0.0, 1e-6) - at(0.0, -1e-6)) / 2e-6);
    }
}

#[test]
fn halves_stand_where_the_function_stands() {
    let (x, p) = ([0.7, -1.2, 0.4], Point { x: 0.3, y: 1.1 });
    for n in 0..5 {
        let (mut dx, mut dp) = ([0.0; 3], Point::default());
        let value = sums_grad(&x, &mut dx, &p, &mut dp, n, 1.0);
        assert_eq!(value, sums(&x, &p, n));
        for i in 0..3 {
            let at = |h: f64| {
                let mut x = x;
                x[i] += h;
                sums(&x, &p, n)
            };
            close(dx[i], (at(1e-6) - at(-1e-6)) / 2e-6);
        }
        let at = |x_: f64, y: f64| sums(&x, &Point { x: p.x + x_, y: p.y + y }, n);
        close(dp.x, (at(1e-6, 0.0) - at(-1e-6, 0.0)) / 2e-6);
        close(dp.y, (at(0.0, 1e-6) - at(0.0, -1e-6)) / 2e-6);

        let mut dx = [0.0; 3];
        assert_eq!(more_sums_grad(&x, &mut dx, n, 1.0), more_sums(&x, n));
        for i in 0..3 {
            let at = |h: f64| {
                let mut x = x;
                x[i] += h;
                more_sums(&x, n)
            };
            close(dx[i], (at(1e-6) - at(-1e-6)) / 2e-6);
        }
    }
    let mut dx = [0.0; 3];
    assert_eq!(narrow_grad(&[1.0, 2.0, 3.0], &mut dx, &[2, 0], 1.0), 2.0 * (3.0 + 2.0));
    assert_eq!(dx, [2.0 * (3.0 + 2.0), 2.0, 2.0]);
}

#[test]
fn functions_inside_a_function() {
    #[stratape::differentiable]
    fn cube(x: f64) -> f64 {
        x * x * x
    }

    #[stratape::differentiable]
    pub fn twice(x: f64) -> f64 {
        2.0 * cube(x)
    }

    #[gradient]
    fn inner(x: f64) -> f64 {
        twice(x) + air::drag(x)
    }

    assert_eq!(inner_grad(2.0, 1.0), (18.0, 26.0));
    assert_eq!(inner(2.0), 18.0);
}

/// Two functions of one name, from one place.
macro_rules! twins {
    ($module:ident, $factor:expr) => {
        mod $module {
            #[stratape::differentiable]
            fn part(x: f64) -> f64 {
                $factor * x
            }

            #[stratape::differentiable]
            pub fn whole(x: f64) -> f64 {
                part(x) * part(x)
            }
        }
    };
}
twins!(left, 2.0);
twins!(right, 3.0);

#[gradient]
fn both(x: f64) -> f64 {
    left::whole(x) + right::whole(x)
}

#[test]
fn twins_are_told_apart() {
    assert_eq!(both_grad(1.0, 1.0), (13.0, 26.0));
    assert_eq!(both(1.0), 13.0);
}

use body::vector::{Vector, inside_grad, level};

#[gradient]
fn methods(v: &Vector, a: f64, n: usize) -> f64 {
    let mut w = v.scaled(a) + Vector::UNIT;
    w.stretch(3.0);
    let u = a * w;
    u.dot(v) + body::vector::energy(&u) + body::vector::power(a, n)
}

#[test]
fn a_struct_brings_its_methods_along() {
    let (v, a) = (Vector { x: 0.4, y: -0.9 }, 1.3);
    for n in 0..4 {
        let mut dv = Vector::default();
        let (value, da) = methods_grad(&v, &mut dv, a, n, 1.0);
        assert_eq!(value, methods(&v, a, n));
        let at = |x: f64, y: f64, a_: f64| methods(&Vector { x: v.x + x, y: v.y + y }, a + a_, n);
        close(dv.x, (at(1e-6, 0.0, 0.0) - at(-1e-6, 0.0, 0.0)) / 2e-6);
        close(dv.y, (at(0.0, 1e-6, 0.0) - at(0.0, -1e-6, 0.0)) / 2e-6);
        close(da, (at(0.0, 0.0, 1e-6) - at(0.0, 0.0, -1e-6)) / 2e-6);
    }
    assert_eq!(v.label(), "at 0.4");
}

#[gradient]
fn by_hand(a: f64, b: f64) -> f64 {
    body::vector::roots(a, b) + level(b)
}

#[test]
fn what_is_known_by_hand_is_known_outside() {
    assert_eq!(inside_grad(4.0, 1.0), (24.0, 14.0));
    let (value, da, db) = by_hand_grad(4.0, 3.0, 1.0);
    assert_eq!((value, value), (by_hand(4.0, 3.0), 66.0));
    assert_eq!((da, db), (21.0, 2.0));
}

#[test]
fn a_module_asks_outside_itself() {
    use body::motion::{Body, kinetic, kinetic_grad};
    let body = Body { at: Vector { x: 0.3, y: 0.5 }, speed: Vector { x: -0.7, y: 1.1 } };
    let p = Point { x: 1.5, y: 2.5 };
    let mut db = Body { at: Vector::default(), speed: Vector::default() };
    let mut dp = Point::default();
    let value = kinetic_grad(&body, &mut db, &p, &mut dp, 1.0);
    assert_eq!(value, kinetic(&body, &p));
    assert_eq!((dp.x, dp.y), (2.5, 1.5));
    let at = |h: f64| {
        let speed = Vector { x: body.speed.x + h, ..body.speed };
        kinetic(&Body { at: body.at, speed }, &p)
    };
    close(db.speed.x, (at(1e-6) - at(-1e-6)) / 2e-6);
}

use series::by_hand::{grow, norm};

#[gradient]
fn without_a_module(x: &[f64], by: f64, k: &[usize]) -> f64 {
    let mut y = x.to_vec();
    grow(&mut y, by, 1);
    norm(x) * series::coarse(by, k) + y[1]
}

#[test]
fn derivatives_by_hand_need_no_module() {
    let (x, by) = ([3.0, 4.0], 2.0);
    let mut dx = [0.0; 2];
    let (value, dby) = without_a_module_grad(&x, &mut dx, by, &[1, 2, 3], 1.0);
    assert_eq!(value, without_a_module(&x, by, &[1, 2, 3]));
    // `coarse` is 8 and has no derivative; that of the norm is three times what it would be, that of `grow` ten times.
    assert_eq!(dby, 40.0);
    close(dx[0], 3.0 * 0.6 * 8.0);
    close(dx[1], 3.0 * 0.8 * 8.0 + 2.0);
}

/// Has a `sq` of its own, which the text from elsewhere does not mean.
#[stratape::differentiable]
mod own {
    fn sq(v: f64) -> f64 {
        -v
    }

    #[gradient]
    pub fn mixed(v: f64) -> f64 {
        sq(v) + super::water::shadowed(v)
    }

    #[gradient]
    pub fn complains(v: f64) -> f64 {
        super::water::checked(v, 10.0)
    }
}

#[test]
fn a_name_means_another_thing_inside_a_block() {
    assert_eq!(own::mixed_grad(2.0, 1.0), (-2.0 + 200.0 + 8.0 + 100.0, -1.0 + 100.0 + 12.0));
    assert_eq!(own::mixed(2.0), 306.0);
}

#[test]
fn panics_say_the_same() {
    let message = |run: &dyn Fn()| {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        let payload = caught.err().map(|payload| match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => {
                payload.downcast::<&str>().map_or(String::new(), |text| text.to_string())
            }
        });
        payload.unwrap_or_default()
    };
    for v in [12.0, 5.0] {
        let wanted = message(&|| {
            let _ = own::complains(v);
        });
        assert!(!wanted.is_empty());
        assert_eq!(
            message(&|| {
                let _ = own::complains_grad(v, 1.0);
            }),
            wanted
        );
    }
}

#[gradient]
fn swell(x: f64) -> f64 {
    waves::inner::twice(x) * waves::wave(x) + waves::constants::turned(x)
}

#[test]
fn gradients_are_called_and_imports_of_the_library_are_known() {
    let x = 0.3;
    let (value, dx) = swell_grad(x, 1.0);
    assert_eq!(value, swell(x));
    close(dx, (swell(x + 1e-6) - swell(x - 1e-6)) / 2e-6);
    let (value, dx) = waves::inner::twice_grad(x, 1.0);
    assert_eq!(value, waves::inner::twice(x));
    close(dx, (waves::inner::twice(x + 1e-6) - waves::inner::twice(x - 1e-6)) / 2e-6);
}

#[test]
fn names_of_macros_and_of_the_language() {
    let (x, mut dx) = ([0.3, 0.7], [0.0; 2]);
    let value = waves::move_grad(&x, &mut dx, 1.0);
    assert_eq!(value, waves::r#move(&x));
    close(value, 3.0 * x[0] * x[1] * std::f64::consts::PI * x[0] * x[0] * 4.0 * x[1] * x[1]);
    close(dx[0], 3.0 * value / x[0]);
    close(dx[1], 3.0 * value / x[1]);
}
