//! Loops as people write them, as templates with random parts: sums, recurrences, stencils, solves, scatters.
//!
//! A template names two lists `X` and `W` of length `N` (`W` can be written), a third `V` that nobody else uses, two numbers
//! `A` and `B`, sums `S` and `T` that start at zero, terms `E`, and `F`, which stands for the type.

use super::generate::{Access, COLLECTED, Generator, Kind};
use super::lists::LISTS;

/// Templates in which every loop goes through the lists once.
const LINEAR: &[&str] = &[
    // Running sums used inside their own loop.
    "for i in 0..N { S += X[i]; T += S; }",
    "for i in 0..N { S += X[i] * A; T += (0.1 * S).tanh().exp(); }",
    "for i in 0..N { S += X[i]; W[i] = S; }",
    "for i in 0..N { W[i] += S; S += X[i]; }",
    "for i in 1..N { W[i] += W[i - 1]; }",
    "for i in 1..N { W[i] = W[i - 1] * A + X[i]; }",
    "for i in (0..N).rev() { S += X[i]; W[i] = S * E; }",
    "for i in 0..N { S += X[i]; if i >= 3 { S -= X[i - 3]; } W[i] = S / 3.0; }",
    "for i in 0..N { S += X[i]; if i >= 3 { S -= X[i - 3]; } T += S * S; }",
    "for i in 0..N { S = 0.9 * S + 0.1 * X[i]; T += (X[i] - S) * (X[i] - S); }",
    "let mut p: F = 1.0; for i in 0..N { p *= X[i].cos(); W[i] = p; T += p; }",
    // Means and variances, two passes and one.
    "for i in 0..N { S += X[i]; } let mean = S / (N as F + 1.0); for i in 0..N { T += (X[i] - mean) * (X[i] - mean); }",
    "for i in 0..N { let d = X[i] - S; S += d / (i as F + 1.0); T += d * (X[i] - S); }",
    // A plain sum, then something else of the same lists, in place.
    "for i in 0..N { S += W[i]; } for i in 0..N { W[i] -= 0.2; W[i] = W[i].tanh(); }",
    "for i in 0..N { S += X[i]; } for i in 0..N { W[i] = 1.0 / (1.0 + (-X[i]).exp()); }",
    "for i in 0..N { V[i] = X[i] - 0.2; } for i in 0..N { S += V[i]; } for i in 0..N { V[i] = (V[i] * V[i] + 0.1).sqrt(); W[i] = V[i]; }",
    "for i in 0..N { S += X[i]; } for i in 0..N { W[i] = (X[i] * X[i] + 0.1).sqrt(); T += W[i]; }",
    "for i in 0..N { W[i] -= 0.2; W[i] = E; }",
    // Read, then cleared.
    "for i in 0..N { S += W[(i * 3) % N] * X[i]; W[(i * 3) % N] = 0.0; }",
    "for i in 0..N { S += W[0] * X[i]; W[0] = 0.5; }",
    "for i in 0..N { S += W[i % 2 * i] * X[i]; W[i % 2 * i] = A; }",
    "for i in 0..N { let t = W[i]; W[i] = 0.0; W[(i + 1) % N] += t * E; }",
    // Neighbours in a ring.
    "for i in 0..N { W[i] = X[(i + N - 1) % N] * X[(i + 1) % N] - X[i]; }",
    "for i in 0..N { V[i] = X[i] * X[(i + 1) % N]; } for i in 0..N { W[i] -= 0.1 * (V[i] - V[(i + N - 1) % N]); }",
    "for i in 0..N { S += W[i] * X[i]; W[i] = 0.0; } for i in 0..N { T += W[i] * A; }",
    // Sums in memory, also backwards.
    "if N > 0 { for i in (0..N).rev() { W[0] += X[i]; } }",
    "if N > 0 { for i in 0..N { W[0] += X[i] * A; } }",
    "if N > 0 { for i in (0..N).rev() { W[N - 1] -= E; } }",
    "if N > 1 { for i in (0..N).rev() { W[i % 2] += X[i] * X[i]; } }",
    "for i in (0..N).rev() { S += X[i] * 1e16; } S *= 1e-16;",
    // Maxima.
    "S = -1e300; for i in 0..N { if X[i] > S { S = X[i]; } } if N == 0 { S = 0.0; }",
    "S = -10.0; for i in 0..N { S = S.max(X[i]); W[i] = S; }",
    "let mut at = 0; for i in 1..N { if X[i] >= X[at] { at = i; } } if N > 0 { S += X[at] * A; }",
    "S = 10.0; for i in (0..N).rev() { S = F::min(S, X[i] * A); T += S; }",
    // Softmax and its like.
    "S = -10.0; for i in 0..N { S = S.max(X[i]); } for i in 0..N { T += (X[i] - S).exp(); } if T > 0.0 { T = S + T.ln(); }",
    "for i in 0..N { V[i] = X[i].tanh().exp(); S += V[i]; } for i in 0..N { W[i] = V[i] / (S + 0.1); }",
    "for i in 0..N { S += X[i] * X[i]; } let norm = (S + 0.1).sqrt(); for i in 0..N { W[i] = X[i] / norm; T += W[i] * E; }",
    // Horner, recurrences.
    "for i in (0..N).rev() { S = S * 0.7 + X[i]; }",
    "for i in 0..N { T = T * 0.5 + S; S = S * 0.5 + X[i]; }",
    "let (mut p, mut q): (F, F) = (A, B); for i in 0..N { let r = 0.9 * p - 0.4 * q + X[i]; q = p; p = r; } S = p * q;",
    "let mut u: F = A; for i in 0..N { u = u.sin() * X[i] + 0.3; W[i] = u; } S = u;",
    // Neighbours.
    "for i in 0..N { if i > 0 && i + 1 < N { W[i] = X[i - 1] - 2.0 * X[i] + X[i + 1]; } }",
    "for i in 0..N { let mut v = X[i]; if i > 0 { v += 0.4 * X[i - 1]; } if i + 1 < N { v -= 0.3 * X[i + 1] * X[i]; } W[i] = v; }",
    "for i in 1..N { S += (X[i] - X[i - 1]).powi(2); }",
    "for i in 0..N { let left = if i == 0 { X[N - 1] } else { X[i - 1] }; W[i] = 0.5 * (left + X[i]); }",
    "for _ in 0..2 { V.copy_from_slice(&W[..N]); for i in 1..N { W[i] = V[i] + 0.1 * (V[i - 1] - V[i]); } }",
    "for i in 0..N { W[i] = X[i]; } for i in (1..N).rev() { W[i - 1] += A * W[i]; }",
    // Scatters and gathers.
    "let mut bins = [0.0 as F; 4]; for i in 0..N { bins[(i * 7 + 2) % 4] += X[i]; } for bin in 0..4 { S += bins[bin] * bins[bin]; }",
    "let mut bins = [0.0 as F; 3]; for i in 0..N { let bin = ((X[i].abs() * 1.4) as usize).min(2); bins[bin] += X[i] * A; } for bin in 0..3 { S += bins[bin].sin(); }",
    "for i in 0..N { W[(i * 5 + 1) % N] += X[i] * A; }",
    "for i in 0..N { W[i] = X[(i * 3 + 2) % N] * E; }",
    "for i in 0..N { W[i / 2] += X[i]; } for i in 0..N { S += W[i] * X[i]; }",
    // What depends on one of a few elements.
    "let mut p: Vec<F> = vec![0.2; 3]; p[1] = A; for i in 0..N { p[i % 3] += 0.1 * X[i]; } for i in 0..N { let k = (i * 5 + 1) % 3; S += (p[k] * 0.2).sin().exp() * X[i]; }",
    "let mut p: Vec<F> = vec![0.2; 3]; p[1] = A; if N > 0 { p[2] = X[0]; } for i in 0..N { let q = p[(i + i / 3) % 2 + 1]; let r = if q > 0.0 { let c = q.sqrt().ln_1p(); c * X[i] + (-c).exp() } else { q.cos() + q.sin() }; S += r; W[i] = r; }",
    "let mut p: Vec<[F; 2]> = vec![[0.1, 0.2]; 2]; p[0][1] = A; for i in 0..N { let [a, b] = p[i % 2]; let r = (a * a + b * b + 0.1).sqrt(); let (s, c) = r.sin_cos(); if X[i] > 0.0 { S += s * X[i]; } else { S += c / r; T += s; } }",
    "if N > 1 { for i in 0..N { let k = i % 2; let e = (0.1 * W[k]).exp(); S += e * X[i]; T += e * S.sin(); } }",
    // Tridiagonal systems.
    "for i in 0..N { V[i] = X[i]; if i > 0 { V[i] -= 0.3 * V[i - 1]; } } for i in (0..N).rev() { if i + 1 < N { V[i] -= 0.2 * V[i + 1]; } S += V[i] * E; W[i] = V[i]; }",
    // Slopes that must not leak.
    "for i in 0..N { if X[i] > 0.0 { S += X[i].sqrt(); } }",
    "for i in 0..N { if X[i] != 0.0 { S += 1.0 / X[i]; } }",
    "for i in 0..N { if X[i] > 0.0 { S += X[i].ln(); W[i] = X[i].sqrt(); } }",
    "for i in 0..N { let d = X[i] - 0.5; let r = if d > 0.0 { d.sqrt() } else { 0.0 }; S += r; }",
    // Exits.
    "'rows: for i in 0..N { for j in 0..3 { if j > i { continue 'rows; } S += X[i] * A; if S > 50.0 { break 'rows; } } W[i] = S; }",
    "'outer: for i in 0..N { for j in 0..2 { S += X[i]; if S > 2.0 + j as F { S = 0.5; continue 'outer; } } T += S; }",
    "for i in 0..N { S += X[i]; if S > 3.0 { break; } T += S * A; }",
    "for i in 0..N { if X[i] < 0.0 { continue; } S += X[i]; W[i] = S; }",
    "let mut i = 0; while i < N { S += X[i] * A; i += 1 + i % 2; }",
    "let mut i = 0; loop { if i >= N { break; } W[i] = S; S += X[i]; i += 1; }",
];

/// Templates in which a loop goes through the lists for each element.
const NESTED: &[&str] = &[
    "for i in 0..N { if i > 0 { let mut b: F = 0.0; for j in 0..N { if j == 0 { b = X[j] * X[i]; } else { b = F::max(b, X[j] * X[i]); } } W[i] += b; } }",
    "for i in 0..N { let mut b: F = 0.0; for j in 0..N { if j == 0 { b = X[i]; } else { b = b.max(X[j] - E); } } W[i] = b; }",
    // Triangular solves, Cholesky by columns of a matrix that is made on the way.
    "for i in 0..N { let mut s = X[i]; for j in 0..i { s -= 0.3 * ((i + j) as F).cos() * V[j]; } V[i] = s / 2.0; S += V[i] * V[i]; }",
    "for i in (0..N).rev() { let mut s = X[i]; for j in (i + 1)..N { s -= 0.1 * W[j] * X[j]; } W[i] = s * 0.5; }",
    "let mut l: Vec<F> = vec![0.0; N * N]; for i in 0..N { for j in 0..=i { let mut s: F = if i == j { 2.0 + X[i] * X[i] } else { 0.1 * X[i] * X[j] }; for k in 0..j { s -= l[i * N + k] * l[j * N + k]; } if i == j { if s > 0.1 { l[i * N + i] = s.sqrt(); } else { l[i * N + i] = 1.0; } } else { l[i * N + j] = s / l[j * N + j]; } } } for i in 0..N { S += l[i * N + i].ln(); }",
    // Products.
    "for i in 0..N { let mut s: F = 0.0; for j in 0..N { s += ((i * 2 + j) as F).sin() * X[j]; } W[i] = s; T += s * s; }",
    "let mut c: Vec<F> = vec![0.0; N * N]; for i in 0..N { for j in 0..N { for k in 0..2 { c[i * N + j] += X[i] * X[j] * (k as F + A); } } } for i in 0..N { S += c[i * N + (i * 3) % N]; }",
    "for i in 0..N { for j in 0..N { if i + j < N { W[i + j] += X[i] * 0.3 * X[j]; } } }",
    "for i in 0..N { for j in (i + 1)..N { let d = X[i] - X[j]; S += 1.0 / (d * d + 0.5).sqrt(); } }",
    "for i in 0..N { for j in 0..N { if i != j { let d = X[i] - X[j]; W[i] += d / (d * d + 0.5); } } }",
    "for i in 0..N { for j in 0..i { S += X[i] * X[j]; T += S; } }",
    "for t in 0..3 { for i in 0..N { S += X[i]; W[i] += 0.1 * S * (t as F); } }",
    "for t in 0..3 { for i in 0..N { V[i] = W[i]; } for i in 0..N { let mut v = V[i]; if i > 0 { v += 0.2 * V[i - 1]; } if i + 1 < N { v += 0.2 * V[i + 1]; } W[i] = v * 0.7; } }",
    "let mut best: F = -1e300; for i in 0..N { for j in 0..N { let v = X[i] - 0.5 * X[j]; if v > best { best = v; } } } if N > 0 { S += best; }",
    "for i in 0..N { let mut row: F = 0.0; for j in 0..N { row += X[j]; W[i] += row * 0.1; } S += row; }",
    "for i in 0..N { let mut s: F = 1.0; for j in 0..N { if j != i { s *= (X[i] - X[j]).cos(); } } T += s * W[i]; }",
];

/// Templates with marks that mean something only to the gradient.
const MARKED: &[&str] = &[
    "#[checkpoint(slots = 2)] for i in 0..N { S = S.sin() + X[i]; }",
    "#[checkpoint(slots = 3)] for i in 0..N { W[i] = W[i].sin(); S += W[i]; W[0] = S.cos(); }",
    "#[parallel] for i in 0..N { W[i] *= A; }",
    "#[parallel] for i in 0..N { W[i] = W[i].sin() * A + B; }",
];

impl Generator<'_> {
    /// An idiom, of this file or one made of random statements.
    pub(super) fn idiom(&mut self) {
        match self.random.below(11) {
            0..=2 => self.template(LINEAR, false),
            3 | 10 => self.template(LISTS, false),
            4..=5 => self.template(NESTED, true),
            6 if self.config.library && self.random.chance(50) => self.template(MARKED, false),
            6 if self.config.loops => self.nest(),
            _ => self.dense(),
        }
    }

    fn template(&mut self, templates: &[&str], nested: bool) {
        let Some(mut scene) = self.scene() else { return self.assign_scalar() };
        if nested && !(scene.trips <= 9 && self.affords(scene.trips * scene.trips)) {
            return self.template(LINEAR, false);
        }
        if nested {
            self.work += self.multiplicity * scene.trips * scene.trips * 4;
        }
        let ty = self.config.float;
        let [s, t, v] = [self.fresh("v"), self.fresh("v"), self.fresh("w")];
        for sum in [&s, &t] {
            self.line(&format!("let mut {sum}: {ty} = 0.0;"));
        }
        let w = self.random.pick(&scene.writes).clone();
        let others: Vec<_> = scene.reads.iter().filter(|name| **name != w).cloned().collect();
        // Mostly another list; sometimes the one that is written.
        let x = if others.is_empty() || self.random.chance(10) {
            w.clone()
        } else {
            self.random.pick(&others).clone()
        };
        let known: Vec<&&str> = templates
            .iter()
            .filter(|text| {
                (self.config.exits || !(text.contains("break") || text.contains("continue")))
                    && (self.config.whiles || !(text.contains("while") || text.contains("loop")))
            })
            .collect();
        let text = **self.random.pick(&known);
        let mut numbers = [(); 2].map(|()| self.literal().typed(ty));
        for number in &mut numbers {
            if self.random.chance(60)
                && let Some((name, ..)) = self.scalar(Access::Read)
            {
                *number = name;
            }
        }
        scene.i = "i".to_owned();
        scene.scalars = vec![s.clone()];
        if words(text).any(|word| word == "V") {
            self.line(&format!("let mut {v}: Vec<{ty}> = vec![0.0; {}];", scene.n));
        }
        let mut filled = String::new();
        for word in words(text) {
            filled += &match word {
                "N" => scene.n.clone(),
                "X" => x.clone(),
                "W" => w.clone(),
                "V" => v.clone(),
                "S" => s.clone(),
                "T" => t.clone(),
                "A" => numbers[0].clone(),
                "B" => numbers[1].clone(),
                "F" => ty.to_owned(),
                "E" => {
                    scene.reads = vec![x.clone(), w.clone()];
                    format!("({})", self.dense_term(&scene))
                }
                other => other.to_owned(),
            };
        }
        self.line(&filled);
        for sum in [&s, &t] {
            self.declare(sum, Kind::Float { bound: COLLECTED, collects: true }, Access::Write);
        }
    }
}

/// The words of a text, and what is between them, in order.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let end = rest.find(|c| word(c) != word(first)).unwrap_or(rest.len());
        let (head, tail) = rest.split_at(end);
        rest = tail;
        Some(head)
    })
}
