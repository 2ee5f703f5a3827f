//! Lists that move, change places and change their length: templates as in `idiom`, and loops over two buffers with random bodies.

use super::generate::{Access, COLLECTED, Generator, Kind, TAME};

/// Templates, with the names of `idiom`.
pub(super) const LISTS: &[&str] = &[
    "let mut u = X[..N].to_vec(); let mut v: Vec<F> = vec![0.0; N]; for t in 0..3 { for i in 0..N { v[i] = (u[i] * A + 0.3 * u[(i + 1) % N]).sin(); } std::mem::swap(&mut u, &mut v); for i in 0..N { S += u[i] * (t as F + 1.0) + v[i]; } }",
    "let mut u = X[..N].to_vec(); for t in 0..3 { let mut next: Vec<F> = vec![0.0; N]; for i in 0..N { next[i] = u[i].cos() * X[(i + t) % N]; } u = next; } for i in 0..N { W[i] = u[i]; S += u[i] * A; }",
    "let mut u = X[..N].to_vec(); for t in 0..3 { u = u.iter().map(|a| (a * A).sin() + 0.1 * t as F).collect(); S += u.iter().sum::<F>(); }",
    "let mut u: Vec<F> = vec![A; N + 1]; for t in 0..4 { let width = 1 + (N + t) % 3; let mut next: Vec<F> = vec![0.0; width]; for i in 0..width { for j in 0..u.len() { next[i] += u[j] * ((i + 2 * j) as F).cos(); } next[i] = next[i].tanh(); } u = next; S += u[0]; }",
    "let (mut u, mut v) = (X[..N].to_vec(), W[..N].to_vec()); for i in 0..N { (u, v) = (v, u); u[i] = (u[i] + v[i]).sin(); T += v[N - 1 - i]; } for i in 0..N { S += u[i] * v[i]; }",
    "let (mut u, mut v) = (X[..N].to_vec(), W[..N].to_vec()); for i in 0..N { if X[i] > 0.0 { std::mem::swap(&mut u, &mut v); } else { u[i] *= A; } v[i] += 0.5 * u[i]; } for i in 0..N { W[i] = u[i] * v[i]; }",
    "let mut u = X[..N].to_vec(); for i in 0..N { let old = std::mem::replace(&mut u, vec![A; N]); u[i] = old[i] * B; S += old[N - 1] * u[0]; }",
    "let mut u = X[..N].to_vec(); for i in 0..N { let mut taken = std::mem::take(&mut u); taken[i] = taken[i].sin(); S += u.len() as F + taken[0]; u = taken; }",
    "let mut v = Vec::new(); for i in 0..N { v.push(X[i] * A); } for i in 0..v.len() { S += v[i] * v[v.len() - 1 - i]; }",
    "let mut v = Vec::new(); for i in 0..N { if X[i] > 0.0 { v.push(X[i].sqrt()); } } for (i, a) in v.iter().enumerate() { S += a * (i as F + 1.0); } T += v.len() as F;",
    "let mut v: Vec<F> = Vec::with_capacity(N); v.push(A); for i in 0..N { let last = v[v.len() - 1]; v.push((last + X[i]).sin()); if i % 3 == 2 { v.push(last * B); } } for a in &v { S += a; T = T * 0.5 + a; }",
    "let mut s = vec![A]; for i in 0..N { if X[i] > 0.2 { s.push(X[i] * s[s.len() - 1]); } else if s.len() > 1 { let a = s.pop().unwrap(); T += a * X[i]; } } while s.len() > 1 { let a = s.pop().unwrap(); let b = s.pop().unwrap(); s.push((a * b).sin()); S += a; } S += s.pop().unwrap_or(B);",
    "let mut v = X[..N].to_vec(); v.extend_from_slice(&X[..N]); v.truncate(N + N / 2); v.resize(2 * N + 1, A); v.extend(X[..N].iter().map(|a| a * B)); for i in 0..v.len() { S += v[i] * ((i * 3) as F).sin(); }",
    "let v: Vec<F> = X[..N].iter().filter(|a| **a > 0.1).map(|a| a.ln()).collect(); for i in 0..v.len() { S += v[i] * (i as F + A); }",
    "let v: Vec<(F, usize)> = X[..N].iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(i, a)| (a * A, i)).collect(); for (a, i) in &v { S += a * X[*i]; }",
    "let v = if N > 2 { X[..2].to_vec() } else { vec![A, B] }; let w = if A > B { v.clone() } else { X[..N].to_vec() }; S += v[0] * v[1]; for a in &w { T += a.sin(); }",
    "let mut v = vec![A, B]; for i in 0..N { v.clear(); for j in 0..=i % 3 { v.push(X[i] * (j as F + 1.0)); } for a in &v { S += a * a; } W[i] = v[v.len() - 1]; }",
    "let mut v = X[..N].to_vec(); for i in 0..N { if v.len() > 1 && X[i] < 0.5 { let a = v.swap_remove(i % v.len()); S += a * A; } } for a in &v { T += a * B; }",
    "let mut rows: Vec<[F; 2]> = Vec::new(); for i in 0..N { rows.push([X[i], A]); } for i in 0..N { rows[i][1] *= rows[N - 1 - i][0]; } for [a, b] in &rows { S += a * b; }",
    // Changed in their middle.
    "let mut v = X[..N].to_vec(); v.insert(N / 2, A); v.insert(0, B); for i in 0..N { let a = v.remove(i % v.len()); v.insert((i * 3) % (v.len() + 1), a * X[i]); S += a * (i as F + 1.0); } for (i, a) in v.iter().enumerate() { T += a * (i as F).cos(); }",
    "let mut v = X[..N].to_vec(); v.retain(|a| *a > 0.1); v.push(A); let mut w: Vec<F> = v.drain(v.len() / 2..).collect(); let tail = w.split_off(w.len() / 2); v.extend(tail); v.append(&mut w); for (i, a) in v.iter().enumerate() { S += a * ((i * 2) as F).sin(); } T += w.len() as F;",
    "let mut v = X[..N].to_vec(); v.extend_from_slice(&X[..N]); v.dedup_by_key(|a| (*a * 2.0) as i64); v.dedup_by(|a, b| *a < *b - 0.7); for (i, a) in v.iter().enumerate() { S += a * (i as F + A); }",
    "let mut q: std::collections::VecDeque<F> = std::collections::VecDeque::new(); for i in 0..N { q.push_back(X[i] * A); if q.len() > 2 { S += q.pop_front().unwrap_or(A) * q[0]; } T += q.iter().sum::<F>() * (i as F + 1.0); }",
    "let mut q: std::collections::VecDeque<F> = X[..N].iter().copied().collect(); q.push_front(A); for i in 0..N { let a = if X[i] > 0.0 { q.pop_front() } else { q.pop_back() }; if let Some(a) = a { S += a * X[i]; q.push_front((a * B).sin()); } } T += q.front().copied().unwrap_or(B) * q.back().copied().unwrap_or(A);",
    "let mut order: Vec<usize> = (0..N).collect(); order.sort_by_key(|i| std::cmp::Reverse((i * 5) % 7)); for (k, i) in order.iter().enumerate() { S += X[*i] * (k as F + 1.0); } let grid = [1_usize, 3, 4, 9]; let at = grid.binary_search(&N).unwrap_or_else(|i| i); let at: F = (at as u8).into(); T += at * A;",
    // Iterators that end early, or go several ways.
    "let r = X[..N].iter().try_fold(A, |s, a| if *a < 1.2 { Some(s * 0.5 + a) } else { None }); S += r.unwrap_or(B); let e = X[..N].iter().enumerate().try_fold(B, |s, (i, a)| if *a > -1.2 { Ok(s + a * A) } else { Err(i) }); T += match e { Ok(s) => s, Err(i) => X[i] };",
    "let (low, high): (Vec<F>, Vec<F>) = X[..N].iter().partition(|a| **a < 0.3); for (i, a) in low.iter().enumerate() { S += a * (i as F + 1.0); } T += high.iter().sum::<F>() * high.len() as F; let sum: Option<F> = X[..N].iter().map(|a| (*a > -1.4).then_some(a * A)).sum(); S += sum.unwrap_or(B);",
    "let mut it = X[..N].iter().peekable(); while let Some(a) = it.next() { if let Some(b) = it.peek() { S += a * **b; } if let Some(c) = it.next_if(|c| **c > *a) { T += c * A; } }",
    "let c = X[..N].chunks_exact(2); let rest = c.remainder(); for a in rest { S += a * A; } for c in c { T += c[0] * c[1]; } S += X[..N].iter().rfold(B, |s, a| s * 0.5 + a); if X[..N].iter().lt(X[..N].iter().skip(1)) { T += A; } let all: Option<Vec<F>> = X[..N].iter().map(|a| (*a > -1.3).then_some(*a)).collect(); T += all.map_or(B, |v| v.iter().sum::<F>());",
    // Lists of lists, made anew.
    "if N > 0 { let mut g: Vec<Vec<F>> = vec![X[..N].to_vec(); 2]; for t in 0..3 { let old = g.clone(); for i in 0..N { g[t % 2][i] = (old[1 - t % 2][i] * A + old[t % 2][N - 1 - i]).sin(); } S += g[0][0] * old[1][N - 1]; } T += g.concat().iter().sum::<F>(); }",
    "let mut p: Vec<Vec<F>> = vec![vec![A, 0.3], vec![B, 0.7]]; for i in 0..N { let mut q = vec![vec![0.0; 2]; 2]; for r in 0..2 { for c in 0..2 { for k in 0..2 { q[r][c] += p[r][k] * ((k + c) as F + X[i]).sin(); } } } if X[i] > -0.5 { p = q; } S += p[0][1]; } T += p[1][0];",
    "for i in 0..N { let mut rows = Vec::new(); for j in 0..=i % 3 { rows.push(vec![X[i] * (j as F + 1.0); j + 1]); } let all: Vec<Vec<F>> = rows.iter().map(|r: &Vec<F>| r.iter().map(|a| a * A + S * 0.1).collect()).collect(); for (k, r) in all.iter().enumerate() { S += r.iter().sum::<F>() * (k as F).cos(); } T += rows[rows.len() - 1][0]; }",
    "let mut bins: [Vec<F>; 2] = [vec![A], Vec::new()]; for i in 0..N { let mut more: [Vec<F>; 2] = [Vec::new(), vec![B; i % 2]]; more[i % 2].push(X[i]); std::mem::swap(&mut bins[i % 2], &mut more[1 - i % 2]); bins[1 - i % 2].push(X[i] * A); S += more[0].iter().sum::<F>() - more[1].iter().sum::<F>() * B; } T += bins[0].iter().sum::<F>() * bins[1].iter().sum::<F>();",
    "for i in 0..N { let cube: Vec<Vec<Vec<F>>> = (0..=i % 2).map(|a| (0..2).map(|b| X[..=(a + b) % N].to_vec()).collect()).collect(); let mut kept = cube.clone(); if X[i] > 0.0 { kept.push(vec![vec![A; 2]]); } else { kept[0][1] = vec![X[i] * B]; } for plane in &kept { for line in plane { S += line.iter().map(|a| a.sin()).sum::<F>(); } } }",
    // In variables that are assigned later.
    "let mut best: Option<Vec<F>> = None; for i in 0..N { let new: Vec<F> = X[..=i].iter().map(|a| a * A + X[i]).collect(); if best.as_ref().is_none_or(|kept| new[0] > kept[0]) { best = Some(new); } else if let Some(kept) = &mut best { kept.push(X[i] * B); kept[0] *= 0.9; } } if let Some(kept) = best { S += kept.iter().sum::<F>() * kept.len() as F; }",
    "let mut best: Option<(F, Vec<F>)> = None; for i in 0..N { let score = X[i] * A; match &best { Some((high, _)) if *high >= score => {} _ => best = Some((score, vec![X[i]; 1 + i % 3])) } } let (high, list) = best.unwrap_or((B, Vec::new())); S += high + list.iter().map(|a| a.sin()).sum::<F>();",
    "if N > 0 { let mut cur = Some(X[..N].to_vec()); let mut n = 0; while let Some(v) = cur { n += 1; cur = if n < 4 { Some(v.iter().map(|a| (a * A).sin()).collect()) } else { None }; S += v[0] * v[N - 1]; } }",
    "if N > 0 { let v; if X[0] > 0.2 { v = vec![A, B]; } else { v = X[..N].to_vec(); } S += v.iter().sum::<F>() * v[0]; let r = (0..N).map(|i| vec![X[i], A]).reduce(|one, two| vec![one[0] * 0.5 + two[1], two[0] * one[1]]).unwrap(); T += r[0] * r[1]; }",
    "if N > 0 { let mut u = X[..N].to_vec(); let mut n = 0; let r = loop { n += 1; u = u.iter().map(|a| a * 0.7 + A).collect(); if n > 2 || u[0] > 2.0 { break u; } }; for (i, a) in r.iter().enumerate() { S += a * (i as F + 1.0); } let rows: Vec<Vec<F>> = 'found: { for i in 0..N { if X[i] > 0.4 { break 'found vec![X[..=i].to_vec(), vec![B]]; } } vec![vec![A]] }; T += rows[0][0] * rows.len() as F; }",
    // References to one of several.
    "let (mut u, mut v) = (X[..N].to_vec(), vec![A; N]); let (mut p, mut q) = (&mut u, &mut v); for t in 0..3 { for i in 0..N { q[i] = (p[i] * B + 0.3 * p[(i + 1) % N]).sin(); } if t != 1 { std::mem::swap(&mut p, &mut q); } } for i in 0..N { S += p[i] * (i as F + 1.0); T += q[i]; }",
    "for i in 0..N { let c = if X[i] > 0.0 { &X[..N] } else { &X[i..N] }; let mut low = [A, B]; let mut high = vec![B; 2]; let d: &mut [F] = match i % 3 { 0 => &mut low, _ => &mut high }; d[i % 2] += X[i] * c[0]; for a in d.iter() { S += a * A; } T += c[c.len() - 1] * high[1] + low[0]; }",
    "let (mut low, mut high): (F, F) = (A, B); for i in 0..N { let side = if X[i] > 0.1 { &mut high } else { &mut low }; *side = side.sin() + X[i]; S += *side; } T += low * high;",
    // Options in memory.
    "let mut seen: Vec<Option<F>> = vec![None; N + 1]; for i in 0..N { if X[i] > 0.0 { seen[(i * 3) % (N + 1)] = Some(X[i] * A); } let a = seen[i].unwrap_or(B); S += a * X[i]; if i % 2 == 1 { T += seen[i].take().unwrap_or(A); } } S += seen.iter().flatten().sum::<F>();",
    "let mut best = [None, Some(A)]; for i in 0..N { let slot = &mut best[i % 2]; *slot = match *slot { Some(b) if b > X[i] => Some(b * 0.9), _ => Some(X[i]) }; } S += best[0].unwrap_or(B) * best[1].unwrap_or(A);",
    "for i in 0..N { if (X[i], i) < (A, 2) || [X[i], B] >= [B, X[i]] { S += X[i] * A; } if Some(X[i]) > X[..N].first().copied() { T += X[i] * B; } }",
];

impl Generator<'_> {
    /// A loop over two buffers that change places or are assigned, with a random body.
    pub(super) fn buffers(&mut self, depth: usize) {
        let Some((range, from, to, trips)) = self.range() else { return self.assign_element() };
        let ty = self.config.float;
        let (u, v, counter) = (self.fresh("u"), self.fresh("u"), self.fresh("i"));
        let len = self.random.within(1, 4);
        let item = self.float(1).typed(ty);
        self.line(&format!("let mut {u} = vec![{item}; {len}];"));
        self.line(&format!("let mut {v}: Vec<{ty}> = vec![0.5; {len}];"));
        let (access, bound) = match self.random.chance(50) {
            true => (Access::Write, COLLECTED),
            false => (Access::Read, TAME),
        };
        for name in [&u, &v] {
            let kind = Kind::Floats { len, bound, collects: access == Access::Write };
            self.declare(name, kind, access);
        }
        let mark = self.variables.len();
        let label = self.enter(true, false);
        self.open(&format!("{label}for {counter} in {range} {{"));
        self.declare(&counter, Kind::Int { from, to }, Access::Read);
        self.open("{");
        self.body(depth - 1, trips);
        self.close("}");
        let (index, value) = (self.index(len, None), self.float(2));
        match self.random.below(5) {
            0 => self.line(&format!("std::mem::swap(&mut {u}, &mut {v});")),
            1 => self.line(&format!("({u}, {v}) = ({v}, {u});")),
            2 => {
                self.line(&format!("let mut next = {u}.clone();"));
                self.line(&format!("next[{index}] = ({}).sin();", value.text));
                self.line(&format!("{v} = next;"));
            }
            3 => self.line(&format!("{u} = {v}.iter().map(|a| (0.9 * a).sin()).collect();")),
            _ => {
                let condition = self.condition(1);
                self.line(&format!("if {condition} {{ std::mem::swap(&mut {u}, &mut {v}); }}"));
            }
        }
        self.close("}");
        self.loops.pop();
        self.variables.truncate(mark);
    }
}
