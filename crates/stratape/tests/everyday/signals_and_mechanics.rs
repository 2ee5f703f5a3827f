//! Signals, images, mechanics, kinetics, as they were first written by someone who had read the guide alone.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    image: [[0.1, 0.5, 0.9, 0.2, 0.4, 0.6, 0.3, 0.8, 0.7, 1.1], [0.9, 0.5, 0.1, 0.2, 0.8, 0.6, 0.35, 0.85, 0.15, 0.6]],
    nbody: [[1.0, 0.0, 0.3, 0.5, 1.2, 0.8], [0.7, -0.4, 0.9, 0.1, 0.6, 1.8]],
    fir: [[0.1, 0.3, 0.5, 1.0, -0.5, 0.7, 0.2, 0.9], [0.4, -0.3, 0.5, 0.1, -0.5, -0.7, 0.2, 0.3]],
    iir: [[0.4, 0.6, 1.0, -0.5, 0.7, 0.2], [0.2, 1.1, -1.0, -0.5, 0.1, 0.9]],
    fft: [[1.0, 0.5, -0.3, 0.2, 0.9, -0.7, 0.1, 0.4], [0.2, -0.5, 1.3, 0.2, -0.9, 0.7, 0.6, 0.3]],
    arm: [[0.3, 0.8, -0.4, 1.0, 0.7], [-0.3, 1.8, 0.4, 1.3, 0.2]],
    kinetics: [[1.0, 0.5, 2.0, 0.3], [0.6, 1.5, 0.4, 0.9]],
    raytrace: [[0.1, 0.2, 1.5, 3.0], [0.4, -0.2, 1.3, 4.0]],
    raysphere: [[0.1, 0.2, 0.3, 1.0, 0.0], [0.05, -0.2, -2.3, 0.8, 0.3], [3.0, 0.2, -2.3, 0.8, 0.3]],
    geodesy: [[0.9, 0.2, 0.7, 0.5], [0.3, -0.8, 0.5, 0.6]],
    seir: [[0.6, 0.2, 0.1, 0.02], [0.4, 0.3, 0.15, 0.05]],
}

#[stratape::differentiable]
pub mod image {
    #[derive(Clone)]
    struct Image {
        width: usize,
        height: usize,
        data: Vec<f64>,
    }
    impl Image {
        fn get(&self, x: isize, y: isize) -> f64 {
            let cx = x.clamp(0, self.width as isize - 1) as usize;
            let cy = y.clamp(0, self.height as isize - 1) as usize;
            self.data[cy * self.width + cx]
        }
        fn convolve(&self, kernel: &[[f64; 3]; 3]) -> Image {
            let mut out = Image { data: vec![0.0; self.data.len()], ..*self };
            for y in 0..self.height {
                for x in 0..self.width {
                    let mut acc = 0.0;
                    for (dy, row) in kernel.iter().enumerate() {
                        for (dx, k) in row.iter().enumerate() {
                            acc += k * self
                                .get(x as isize + dx as isize - 1, y as isize + dy as isize - 1);
                        }
                    }
                    out.data[y * self.width + x] = acc;
                }
            }
            out
        }
    }
    fn gaussian(sigma: f64) -> [[f64; 3]; 3] {
        let mut k = [[0.0; 3]; 3];
        let mut total = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                let r2 = (i as f64 - 1.0).powi(2) + (j as f64 - 1.0).powi(2);
                k[i][j] = (-r2 / (2.0 * sigma * sigma)).exp();
                total += k[i][j];
            }
        }
        k.iter_mut().flatten().for_each(|v| *v /= total);
        k
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (pixels, sigma) = (&x[..9], x[9]);
        let img = Image { width: 3, height: 3, data: pixels.to_vec() };
        let smooth = img.convolve(&gaussian(sigma));
        img.data.iter().zip(smooth.data.iter()).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod nbody {
    use std::ops::{Add, AddAssign, Mul, Sub};
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Vec3 {
        x: f64,
        y: f64,
        z: f64,
    }
    impl Vec3 {
        const ZERO: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
        fn new(x: f64, y: f64, z: f64) -> Self {
            Self { x, y, z }
        }
        fn dot(self, o: Self) -> f64 {
            self.x * o.x + self.y * o.y + self.z * o.z
        }
        fn norm_squared(self) -> f64 {
            self.dot(self)
        }
    }
    impl Add for Vec3 {
        type Output = Self;
        fn add(self, o: Self) -> Self {
            Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
        }
    }
    impl Sub for Vec3 {
        type Output = Self;
        fn sub(self, o: Self) -> Self {
            Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
        }
    }
    impl Mul<f64> for Vec3 {
        type Output = Self;
        fn mul(self, k: f64) -> Self {
            Self::new(self.x * k, self.y * k, self.z * k)
        }
    }
    impl AddAssign for Vec3 {
        fn add_assign(&mut self, o: Self) {
            *self = *self + o;
        }
    }
    #[derive(Clone)]
    struct Body {
        pos: Vec3,
        vel: Vec3,
        mass: f64,
    }
    fn accelerations(bodies: &[Body]) -> Vec<Vec3> {
        bodies
            .iter()
            .enumerate()
            .map(|(i, bi)| {
                bodies
                    .iter()
                    .enumerate()
                    .filter(|(j, _)| *j != i)
                    .map(|(_, bj)| {
                        let d = bj.pos - bi.pos;
                        let r2 = d.norm_squared() + 0.01;
                        d * (bj.mass / (r2 * r2.sqrt()))
                    })
                    .fold(Vec3::ZERO, |a, b| a + b)
            })
            .collect()
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut bodies = vec![
            Body { pos: Vec3::new(x[0], x[1], 0.0), vel: Vec3::new(0.0, x[2], 0.0), mass: x[4] },
            Body { pos: Vec3::new(-1.0, 0.2, x[3]), vel: Vec3::default(), mass: x[5] },
            Body { pos: Vec3::new(0.0, 1.5, -0.5), vel: Vec3::new(0.1, 0.0, 0.0), mass: 1.0 },
        ];
        let dt = 0.02;
        for _ in 0..15 {
            let acc = accelerations(&bodies);
            for (b, a) in bodies.iter_mut().zip(acc) {
                b.vel += a * dt;
                b.pos += b.vel * dt;
            }
        }
        bodies.iter().map(|b| 0.5 * b.mass * b.vel.norm_squared() + b.pos.x).sum()
    }
}

#[stratape::differentiable]
pub mod fir {
    use std::collections::VecDeque;
    struct Fir {
        taps: Vec<f64>,
        delay: VecDeque<f64>,
    }
    impl Fir {
        fn new(taps: &[f64]) -> Self {
            Fir { taps: taps.to_vec(), delay: VecDeque::from(vec![0.0; taps.len()]) }
        }
        fn process(&mut self, sample: f64) -> f64 {
            self.delay.push_front(sample);
            self.delay.pop_back();
            self.taps.iter().zip(self.delay.iter()).map(|(t, d)| t * d).sum()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut fir = Fir::new(&x[..3]);
        let out: Vec<f64> = x[3..].iter().map(|&s| fir.process(s)).collect();
        out.iter().map(|o| o * o).sum::<f64>() / out.len() as f64
    }
}

#[stratape::differentiable]
pub mod iir {
    #[derive(Default, Clone, Copy)]
    struct Biquad {
        b0: f64,
        b1: f64,
        b2: f64,
        a1: f64,
        a2: f64,
        z1: f64,
        z2: f64,
    }
    impl Biquad {
        fn lowpass(cutoff: f64, q: f64) -> Self {
            let w = std::f64::consts::PI * cutoff;
            let (sin, cos) = w.sin_cos();
            let alpha = sin / (2.0 * q);
            let a0 = 1.0 + alpha;
            Self {
                b0: (1.0 - cos) / 2.0 / a0,
                b1: (1.0 - cos) / a0,
                b2: (1.0 - cos) / 2.0 / a0,
                a1: -2.0 * cos / a0,
                a2: (1.0 - alpha) / a0,
                ..Default::default()
            }
        }
        fn tick(&mut self, x: f64) -> f64 {
            let y = self.b0 * x + self.z1;
            self.z1 = self.b1 * x - self.a1 * y + self.z2;
            self.z2 = self.b2 * x - self.a2 * y;
            y
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut stages = [Biquad::lowpass(x[0], x[1]), Biquad::lowpass(0.3, x[1] * 1.3)];
        let mut energy = 0.0;
        for &s in x[2..].iter().chain(std::iter::repeat(&0.0).take(4)) {
            let y = stages.iter_mut().fold(s, |v, st| st.tick(v));
            energy += y * y;
        }
        energy
    }
}

#[stratape::differentiable]
pub mod fft {
    use std::f64::consts::PI;
    #[derive(Clone, Copy, Debug)]
    struct Complex {
        re: f64,
        im: f64,
    }
    impl Complex {
        fn cis(t: f64) -> Self {
            Complex { re: t.cos(), im: t.sin() }
        }
        fn abs2(self) -> f64 {
            self.re * self.re + self.im * self.im
        }
    }
    impl std::ops::Add for Complex {
        type Output = Complex;
        fn add(self, o: Complex) -> Complex {
            Complex { re: self.re + o.re, im: self.im + o.im }
        }
    }
    impl std::ops::Sub for Complex {
        type Output = Complex;
        fn sub(self, o: Complex) -> Complex {
            Complex { re: self.re - o.re, im: self.im - o.im }
        }
    }
    impl std::ops::Mul for Complex {
        type Output = Complex;
        fn mul(self, o: Complex) -> Complex {
            Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
        }
    }
    impl From<f64> for Complex {
        fn from(re: f64) -> Self {
            Complex { re, im: 0.0 }
        }
    }
    fn fft(data: &mut [Complex]) {
        let n = data.len();
        let bits = n.trailing_zeros();
        for i in 0..n {
            let j = (i as u32).reverse_bits() >> (32 - bits);
            if i < j as usize {
                data.swap(i, j as usize);
            }
        }
        let mut len = 2;
        while len <= n {
            let w = Complex::cis(-2.0 * PI / len as f64);
            for chunk in data.chunks_mut(len) {
                let mut t = Complex::from(1.0);
                let (lo, hi) = chunk.split_at_mut(len / 2);
                for (a, b) in lo.iter_mut().zip(hi.iter_mut()) {
                    let v = *b * t;
                    (*a, *b) = (*a + v, *a - v);
                    t = t * w;
                }
            }
            len *= 2;
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut data: Vec<Complex> = x.iter().copied().map(Complex::from).collect();
        fft(&mut data);
        data.iter().enumerate().take(4).map(|(k, c)| (k + 1) as f64 * c.abs2()).sum::<f64>()
            + data[1].im
    }
}

#[stratape::differentiable]
pub mod arm {
    #[derive(Clone, Copy)]
    struct Transform {
        r: [[f64; 3]; 3],
        t: [f64; 3],
    }
    impl Transform {
        fn identity() -> Self {
            Self { r: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], t: [0.0; 3] }
        }
        fn dh(theta: f64, d: f64, a: f64, alpha: f64) -> Self {
            let (st, ct) = theta.sin_cos();
            let (sa, ca) = alpha.sin_cos();
            Self {
                r: [[ct, -st * ca, st * sa], [st, ct * ca, -ct * sa], [0.0, sa, ca]],
                t: [a * ct, a * st, d],
            }
        }
        fn compose(&self, o: &Self) -> Self {
            let mut out = Self { r: [[0.0; 3]; 3], t: self.t };
            for i in 0..3 {
                for j in 0..3 {
                    out.r[i][j] = (0..3).map(|k| self.r[i][k] * o.r[k][j]).sum();
                    out.t[i] += self.r[i][j] * o.t[j];
                }
            }
            out
        }
    }
    struct Joint {
        offset: f64,
        link: f64,
        twist: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let joints = [
            Joint { offset: 0.1, link: x[3], twist: 0.5 },
            Joint { offset: 0.0, link: x[4], twist: -0.2 },
            Joint { offset: 0.2, link: 0.3, twist: 0.0 },
        ];
        let pose = joints.iter().zip(x).fold(Transform::identity(), |acc, (j, &q)| {
            acc.compose(&Transform::dh(q, j.offset, j.link, j.twist))
        });
        let target = [1.0, 0.5, 0.3];
        pose.t.iter().zip(target).map(|(p, t)| (p - t).powi(2)).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod kinetics {
    struct Reaction {
        reactants: Vec<(usize, i32)>,
        products: Vec<(usize, i32)>,
        rate: f64,
    }
    impl Reaction {
        fn speed(&self, c: &[f64]) -> f64 {
            self.reactants.iter().fold(self.rate, |acc, &(s, n)| acc * c[s].powi(n))
        }
    }
    fn derivative(reactions: &[Reaction], c: &[f64]) -> Vec<f64> {
        let mut dc = vec![0.0; c.len()];
        for r in reactions {
            let v = r.speed(c);
            for &(s, n) in &r.reactants {
                dc[s] -= n as f64 * v;
            }
            for &(s, n) in &r.products {
                dc[s] += n as f64 * v;
            }
        }
        dc
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let reactions = vec![
            Reaction { reactants: vec![(0, 1), (1, 1)], products: vec![(2, 1)], rate: x[2] },
            Reaction { reactants: vec![(2, 2)], products: vec![(0, 1), (1, 2)], rate: x[3] },
        ];
        let mut c = vec![x[0], x[1], 0.1];
        for _ in 0..20 {
            let dc = derivative(&reactions, &c);
            c.iter_mut().zip(dc).for_each(|(ci, di)| *ci += 0.02 * di);
        }
        c[2] + 0.1 * c[0].ln()
    }
}

#[stratape::differentiable]
pub mod raytrace {
    #[derive(Clone, Copy)]
    struct Ray {
        y: f64,
        angle: f64,
    }
    #[derive(Clone, Copy)]
    enum Element {
        Space(f64),
        ThinLens { focal: f64 },
        Surface { radius: f64, n1: f64, n2: f64 },
    }
    impl Element {
        fn apply(&self, ray: Ray) -> Ray {
            match *self {
                Element::Space(d) => Ray { y: ray.y + d * ray.angle.tan(), ..ray },
                Element::ThinLens { focal } => Ray { angle: ray.angle - ray.y / focal, ..ray },
                Element::Surface { radius, n1, n2 } => {
                    let inc = ray.angle + (ray.y / radius).asin();
                    let s = n1 / n2 * inc.sin();
                    Ray { y: ray.y, angle: s.asin() - (ray.y / radius).asin() }
                }
            }
        }
    }
    fn trace(system: &[Element], start: Ray) -> Ray {
        let mut ray = start;
        for e in system {
            ray = e.apply(ray);
        }
        ray
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let system = vec![
            Element::Space(1.0),
            Element::Surface { radius: x[3], n1: 1.0, n2: x[2] },
            Element::Space(0.3),
            Element::Surface { radius: -x[3], n1: x[2], n2: 1.0 },
            Element::ThinLens { focal: 2.0 },
            Element::Space(1.5),
        ];
        let out: f64 = (0..3)
            .map(|i| Ray { y: x[0] * i as f64, angle: 0.1 * x[1] })
            .map(|r| trace(&system, r).y.powi(2))
            .sum();
        out
    }
}

#[stratape::differentiable]
pub mod raysphere {
    type V3 = [f64; 3];
    fn sub(a: V3, b: V3) -> V3 {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    }
    fn dot(a: V3, b: V3) -> f64 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }
    fn normalize(a: V3) -> V3 {
        let n = dot(a, a).sqrt();
        a.map(|c| c / n)
    }
    struct Sphere {
        center: V3,
        radius: f64,
        albedo: f64,
    }
    struct Hit<'a> {
        t: f64,
        sphere: &'a Sphere,
    }
    impl Sphere {
        fn intersect(&self, origin: V3, dir: V3) -> Option<f64> {
            let oc = sub(origin, self.center);
            let b = dot(oc, dir);
            let disc = b * b - dot(oc, oc) + self.radius * self.radius;
            if disc < 0.0 {
                return None;
            }
            let t = -b - disc.sqrt();
            (t > 1e-9).then_some(t)
        }
    }
    fn closest<'a>(scene: &'a [Sphere], o: V3, d: V3) -> Option<Hit<'a>> {
        let mut best: Option<Hit> = None;
        for sphere in scene {
            if let Some(t) = sphere.intersect(o, d) {
                if best.as_ref().is_none_or(|h| t < h.t) {
                    best = Some(Hit { t, sphere });
                }
            }
        }
        best
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let scene = [
            Sphere { center: [x[0], x[1], 3.0], radius: x[3], albedo: 0.8 },
            Sphere { center: [0.2, 0.0, 4.0 + x[2]], radius: 1.2, albedo: 0.4 + x[4] },
        ];
        let origin = [0.0, 0.0, -1.0];
        let dir = normalize([0.05, 0.1, 1.0]);
        match closest(&scene, origin, dir) {
            Some(Hit { t, sphere }) => {
                let p = [origin[0] + t * dir[0], origin[1] + t * dir[1], origin[2] + t * dir[2]];
                let n = normalize(sub(p, sphere.center));
                sphere.albedo * dot(n, [0.0, 0.6, -0.8]).max(0.0) + 0.1 * t
            }
            None => 0.1 * x[4] + 0.05,
        }
    }
}

#[stratape::differentiable]
pub mod geodesy {
    struct Ellipsoid {
        a: f64,
        f: f64,
    }
    const WGS84: Ellipsoid = Ellipsoid { a: 6378.137, f: 1.0 / 298.257223563 };
    #[derive(Clone, Copy)]
    struct LatLon {
        lat: f64,
        lon: f64,
    }
    /// Vincenty inverse.
    fn distance(e: &Ellipsoid, p: LatLon, q: LatLon) -> Result<f64, &'static str> {
        let b = e.a * (1.0 - e.f);
        let u1 = ((1.0 - e.f) * p.lat.tan()).atan();
        let u2 = ((1.0 - e.f) * q.lat.tan()).atan();
        let l = q.lon - p.lon;
        let (su1, cu1) = u1.sin_cos();
        let (su2, cu2) = u2.sin_cos();
        let mut lambda = l;
        for _ in 0..100 {
            let (sl, cl) = lambda.sin_cos();
            let sin_sigma = ((cu2 * sl).powi(2) + (cu1 * su2 - su1 * cu2 * cl).powi(2)).sqrt();
            if sin_sigma == 0.0 {
                return Ok(0.0);
            }
            let cos_sigma = su1 * su2 + cu1 * cu2 * cl;
            let sigma = sin_sigma.atan2(cos_sigma);
            let sin_alpha = cu1 * cu2 * sl / sin_sigma;
            let cos2_alpha = 1.0 - sin_alpha * sin_alpha;
            let cos_2sm = cos_sigma - 2.0 * su1 * su2 / cos2_alpha;
            let c = e.f / 16.0 * cos2_alpha * (4.0 + e.f * (4.0 - 3.0 * cos2_alpha));
            let prev = lambda;
            lambda = l
                + (1.0 - c)
                    * e.f
                    * sin_alpha
                    * (sigma
                        + c * sin_sigma
                            * (cos_2sm + c * cos_sigma * (2.0 * cos_2sm * cos_2sm - 1.0)));
            if (lambda - prev).abs() < 1e-14 {
                let usq = cos2_alpha * (e.a * e.a - b * b) / (b * b);
                let big_a = 1.0 + usq / 16384.0 * (4096.0 + usq * (-768.0 + usq * 320.0));
                return Ok(b * big_a * sigma);
            }
        }
        Err("no convergence")
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = LatLon { lat: x[0], lon: x[1] };
        let q = LatLon { lat: x[2], lon: x[3] };
        distance(&WGS84, p, q).expect("converges") / 1000.0
    }
}

#[stratape::differentiable]
pub mod seir {
    #[derive(Debug, Clone, Copy)]
    struct Compartments {
        s: f64,
        e: f64,
        i: f64,
        r: f64,
    }
    struct Model {
        beta: f64,
        sigma: f64,
        gamma: f64,
        lockdown: Option<(usize, f64)>,
    }
    impl Model {
        fn step(&self, day: usize, c: Compartments) -> Compartments {
            let beta = match self.lockdown {
                Some((start, factor)) if day >= start => self.beta * factor,
                _ => self.beta,
            };
            let Compartments { s, e, i, r } = c;
            let infection = beta * s * i;
            let onset = self.sigma * e;
            let recovery = self.gamma * i;
            Compartments {
                s: s - infection,
                e: e + infection - onset,
                i: i + onset - recovery,
                r: r + recovery,
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let model = Model { beta: x[0], sigma: x[1], gamma: x[2], lockdown: Some((10, 0.4)) };
        let start = Compartments { s: 1.0 - x[3], e: 0.0, i: x[3], r: 0.0 };
        let history: Vec<Compartments> = std::iter::successors(Some((0usize, start)), |(d, c)| {
            (*d < 30).then(|| (d + 1, model.step(*d, *c)))
        })
        .map(|(_, c)| c)
        .collect();
        let peak = history.iter().map(|c| c.i).fold(0.0, f64::max);
        peak * 10.0 + history.last().map_or(0.0, |c| c.r)
    }
}
