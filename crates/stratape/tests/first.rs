use stratape::gradient;

#[gradient]
fn energy(x: &[f64], k: f64, n: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..n {
        s += k * x[i] * x[i];
    }
    s
}

#[gradient]
fn orbit(x0: f64, a: f64, b: f64, n: usize) -> f64 {
    let mut x = x0;
    for _ in 0..n {
        x = a * x.sin() + b * x * x;
    }
    x
}

#[gradient]
fn smooth(y: &mut [f64], w: f64) {
    for i in 1..y.len() {
        y[i] = w * y[i - 1] + (1.0 - w) * y[i].sin();
    }
}

#[test]
fn works() {
    let x = [1.0, 2.0, 3.0];
    let mut dx = [0.0; 3];
    let (v, dk) = energy_grad(&x, &mut dx, 2.0, 3, 1.0);
    assert_eq!(v, 28.0);
    assert_eq!(dk, 14.0);
    assert_eq!(dx, [4.0, 8.0, 12.0]);
    let (v, dx, da, db) = orbit_grad(0.9, 0.8, 0.3, 50, 1.0);
    let h = 1e-6;
    assert_eq!(v, orbit(0.9, 0.8, 0.3, 50));
    let f = |x, a, b| orbit(x, a, b, 50);
    assert!((dx - (f(0.9 + h, 0.8, 0.3) - f(0.9 - h, 0.8, 0.3)) / (2.0 * h)).abs() < 1e-6);
    assert!((da - (f(0.9, 0.8 + h, 0.3) - f(0.9, 0.8 - h, 0.3)) / (2.0 * h)).abs() < 1e-6);
    assert!((db - (f(0.9, 0.8, 0.3 + h) - f(0.9, 0.8, 0.3 - h)) / (2.0 * h)).abs() < 1e-6);
    let mut y = [0.1, 0.2, 0.3, 0.4];
    let mut dy = [0.0, 0.0, 0.0, 1.0];
    let dw = smooth_grad(&mut y, &mut dy, 0.4);
    let last = |y: [f64; 4], w: f64| {
        let mut y = y;
        smooth(&mut y, w);
        y[3]
    };
    let y0 = [0.1, 0.2, 0.3, 0.4];
    assert!((dw - (last(y0, 0.4 + h) - last(y0, 0.4 - h)) / (2.0 * h)).abs() < 1e-8);
    for i in 0..4 {
        let (mut a, mut b) = (y0, y0);
        a[i] += h;
        b[i] -= h;
        assert!((dy[i] - (last(a, 0.4) - last(b, 0.4)) / (2.0 * h)).abs() < 1e-8);
    }
}
