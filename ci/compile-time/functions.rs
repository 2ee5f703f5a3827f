// gradient
pub fn rosenbrock_N(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = 1.0 - x[i];
        total += 100.0 * a * a + b * b * FACTOR;
    }
    let mut penalty = 0.0;
    for v in x {
        if *v > 2.0 {
            penalty += (v - 2.0) * (v - 2.0);
        } else if *v < -2.0 {
            penalty += (v + 2.0).powi(4);
        }
    }
    let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let spread: f64 = x.iter().map(|v| (v - mean).powi(2)).sum();
    total + penalty * FACTOR + norm.ln_1p() + spread / x.len() as f64
}

// gradient
pub fn softmax_loss_N(w: &[f64], x: &[f64], label: usize, classes: usize) -> f64 {
    let features = x.len();
    let mut scores = vec![0.0; classes];
    for c in 0..classes {
        let mut s = w[classes * features + c];
        for j in 0..features {
            s += w[c * features + j] * x[j];
        }
        scores[c] = s;
    }
    let mut largest = scores[0];
    for s in &scores {
        if *s > largest {
            largest = *s;
        }
    }
    let mut sum = 0.0;
    for s in &scores {
        sum += (s - largest).exp();
    }
    let mut decay = 0.0;
    for v in w {
        decay += v * v;
    }
    largest + sum.ln() - scores[label] + FACTOR * decay
}

// gradient
pub fn springs_N(x: &[f64], v: &[f64], steps: usize, dt: f64) -> f64 {
    let n = x.len();
    let mut x = x.to_vec();
    let mut v = v.to_vec();
    let mut energy = 0.0;
    for _ in 0..steps {
        let mut force = vec![0.0; n];
        for i in 0..n - 1 {
            let stretch = x[i + 1] - x[i] - 1.0;
            let pull = stretch * FACTOR + stretch * stretch * stretch;
            force[i] += pull;
            force[i + 1] -= pull;
        }
        for i in 0..n {
            v[i] += dt * (force[i] - 0.1 * v[i]);
            x[i] += dt * v[i];
        }
        energy += v.iter().map(|v| v * v).sum::<f64>();
    }
    let mut last = 0.0;
    for i in 0..n {
        last += x[i] * x[i];
    }
    energy / steps as f64 + last
}

// gradient
pub fn black_scholes_N(spot: f64, strike: f64, rate: f64, vol: f64, time: f64) -> f64 {
    let root = time.sqrt();
    let d1 = ((spot / strike).ln() + (rate + 0.5 * vol * vol) * time) / (vol * root);
    let d2 = d1 - vol * root;
    let cdf = |x: f64| {
        let k = 1.0 / (1.0 + 0.2316419 * x.abs());
        let poly = k
            * (0.319381530
                + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
        let tail = (-0.5 * x * x).exp() * 0.3989422804 * poly;
        if x >= 0.0 { 1.0 - tail } else { tail }
    };
    let discount = (-rate * time).exp();
    let call = spot * cdf(d1) - strike * discount * cdf(d2);
    let put = call - spot + strike * discount;
    let straddle = call + put;
    let hedge = FACTOR * (spot - strike).max(0.0);
    if straddle > hedge { straddle - hedge } else { 0.5 * straddle }
}

// gradient
pub fn heat_N(u: &[f64], steps: usize, k: &[f64]) -> f64 {
    let n = u.len();
    let mut u = u.to_vec();
    let mut next = vec![0.0; n];
    for _ in 0..steps {
        next[0] = u[0];
        next[n - 1] = u[n - 1];
        for i in 1..n - 1 {
            let left = 0.5 * (k[i] + k[i - 1]) * (u[i] - u[i - 1]);
            let right = 0.5 * (k[i] + k[i + 1]) * (u[i + 1] - u[i]);
            next[i] = u[i] + FACTOR * (right - left) * (1.0 + 0.01 * u[i] * u[i]);
        }
        std::mem::swap(&mut u, &mut next);
    }
    let mut cost = 0.0;
    for i in 0..n {
        let target = (i as f64 / n as f64).sin();
        cost += (u[i] - target) * (u[i] - target);
    }
    cost / n as f64
}

// gradient
pub fn kepler_N(p: &[f64; 4], steps: usize) -> f64 {
    let dt = 0.01;
    let (mut x, mut y, mut vx, mut vy) = (p[0], p[1], p[2], p[3]);
    let mut closest = f64::MAX;
    for i in 0..steps {
        let r2 = x * x + y * y;
        let r = r2.sqrt();
        let a = -1.0 / (r2 * r);
        vx += dt * a * x;
        vy += dt * a * y;
        x += dt * vx;
        y += dt * vy;
        if r < closest {
            closest = r;
        }
        if i > 10 && r > 50.0 {
            break;
        }
    }
    let energy = 0.5 * (vx * vx + vy * vy) - 1.0 / (x * x + y * y).sqrt();
    let momentum = x * vy - y * vx;
    energy * energy + FACTOR * momentum + closest
}

// gradient
pub fn mixture_N(data: &[f64], weights: &[f64; 3], means: &[f64; 3], logs: &[f64; 3]) -> f64 {
    let mut total = 0.0;
    let norm: f64 = weights.iter().map(|w| w.exp()).sum();
    for x in data {
        let mut terms = [0.0; 3];
        for k in 0..3 {
            let s = logs[k].exp();
            let z = (x - means[k]) / s;
            terms[k] = weights[k] - norm.ln() - 0.5 * z * z - logs[k];
        }
        let mut largest = terms[0];
        for k in 1..3 {
            largest = terms[k].max(largest);
        }
        let sum: f64 = terms.iter().map(|t| (t - largest).exp()).sum();
        total -= largest + sum.ln();
    }
    let mut prior = 0.0;
    for k in 0..3 {
        prior += means[k] * means[k] + logs[k] * logs[k];
    }
    total / data.len() as f64 + FACTOR * prior
}

// gradient
pub fn cholesky_N(a: &[f64], n: usize, b: &[f64]) -> f64 {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let mut sum = a[i * n + j];
            for k in 0..j {
                sum -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = if i == j { (sum + FACTOR).sqrt() } else { sum / l[j * n + j] };
        }
    }
    let mut y = vec![0.0; n];
    for i in 0..n {
        let mut sum = b[i];
        for k in 0..i {
            sum -= l[i * n + k] * y[k];
        }
        y[i] = sum / l[i * n + i];
    }
    let mut logdet = 0.0;
    for i in 0..n {
        logdet += l[i * n + i].ln();
    }
    0.5 * y.iter().map(|v| v * v).sum::<f64>() + logdet
}

// gradient
pub fn blur_N(image: &[f64], width: usize, height: usize, kernel: &[f64; 9]) -> f64 {
    let mut out = vec![0.0; width * height];
    for r in 1..height - 1 {
        for c in 1..width - 1 {
            let mut sum = 0.0;
            for i in 0..3 {
                for j in 0..3 {
                    sum += kernel[3 * i + j] * image[(r + i - 1) * width + c + j - 1];
                }
            }
            out[r * width + c] = sum.max(0.0) + FACTOR * sum.min(0.0);
        }
    }
    let mut variation = 0.0;
    for r in 0..height {
        for c in 1..width {
            let d = out[r * width + c] - out[r * width + c - 1];
            variation += (d * d + 1e-6).sqrt();
        }
    }
    let weight: f64 = kernel.iter().sum();
    variation + (weight - 1.0) * (weight - 1.0)
}

// gradient
pub fn track_N(z: &[f64], q: f64, r: f64) -> f64 {
    let dt = 0.1;
    let (mut x, mut v) = (z[0], 0.0);
    let (mut p00, mut p01, mut p11) = (1.0, 0.0, 1.0);
    let mut nll = 0.0;
    for m in z.iter().skip(1) {
        x += dt * v;
        let (a, b, c) = (p00 + dt * (2.0 * p01 + dt * p11) + q, p01 + dt * p11, p11 + q);
        let s = a + r;
        let innovation = m - x;
        let (k0, k1) = (a / s, b / s);
        x += k0 * innovation;
        v += k1 * innovation;
        p00 = (1.0 - k0) * a;
        p01 = (1.0 - k0) * b;
        p11 = c - k1 * b;
        nll += 0.5 * (innovation * innovation / s + s.ln());
    }
    let smooth = v * v * FACTOR;
    let spread = p00 + p11 - 2.0 * p01;
    nll + smooth + 0.01 * spread + q * q + r * r
}
