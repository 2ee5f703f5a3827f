//! Forms of the guide: each example of its tables on options, patterns, iterators, slices and arrays, in a block of its own.

use super::generate::{Access, Generator, Kind};

/// The examples, with the names that the guide gives to what they use.
const FORMS: &[&str] = &[
    r#"let c = 2.0 * a; sum += c;"#,
    r#"let mut c: f64 = 0.0; c += b; sum += c;"#,
    r#"let c: f64; if flag { c = a; } else { c = b; } sum += c;"#,
    r#"let c; if flag { c = (a, 1); } else { c = (b, 2); } sum += c.0;"#,
    r#"let c = [a, b, 2.0]; sum += c[n % 3];"#,
    r#"let mut c = [[0.0; 3]; 2]; c[1][2] = a; sum += c[1][2];"#,
    r#"for c in x.chunks(2) { sum += c[0]; } for c in x.rchunks(2) { sum *= c[0]; } for c in x.rchunks_exact(2) { sum += c[0] * c[1]; }"#,
    r#"for c in x.chunks_exact(2) { sum += c[0] * c[1]; }"#,
    r#"for c in x.windows(3) { sum += c[0] - c[2]; }"#,
    r#"for c in y.chunks_exact_mut(2) { c[0] = a; }"#,
    r#"let mut c = a * a; sum += loop { c += 1.0; if c > 3.0 { break c * b; } };"#,
    r#"sum += 'found: { for v in x { if *v > a { break 'found v * b; } } 0.5 };"#,
    r#"if let Some(v) = x.first() { sum += v; } else { sum -= a; }"#,
    r#"let mut c = Some(3); while let Some(i) = c { sum += x[i]; c = if i == 0 { None } else { Some(i - 1) }; }"#,
    r#"if let Some(v) = x.get(n) && *v > 0.0 && let Some(w) = x.last() { sum += v * w; }"#,
    r#"let Some(v) = x.get(1) else { panic!("too short") }; sum += v;"#,
    r#"sum += match x.get(2) { Some(v) if *v > 0.0 => v * a, Some(v) => *v, None => b };"#,
    r#"sum += match (n, flag) { (0, true) => a, (1 | 2, _) => b, (m @ 3..=9, _) => m as f64, _ => 0.0 };"#,
    r#"sum += match a { ..0.0 => b, 0.0..1.0 => a * a, _ => 1.0 };"#,
    r#"let c = (a, [b, 1.0]); match &c { (v, [w, _]) => sum += v * w }"#,
    r#"sum += match x { [] => 0.0, [v] => *v, [v, .., w] => v * w };"#,
    r#"if let [v, rest @ ..] = x { sum += v * rest[0]; }"#,
    r#"let mut c = x; while let [v, rest @ ..] = c { sum = sum * b + v; c = rest; }"#,
    r#"if matches!(n, 1 | 2) || matches!(x.first(), Some(v) if *v > a) { sum += b; }"#,
    r#"let c = x.get(n).copied(); sum += c.map(|v| v * b).unwrap_or(a) + c.and_then(|v| (v > a).then_some(v)).unwrap_or_default();"#,
    r#"let c = x.first().copied(); sum += c.filter(|v| *v > a).or(Some(b)).unwrap() + c.map_or(a, |v| v * v) + c.map_or_else(|| b, |v| v + a);"#,
    r#"let c = x.get(1); if c.is_some_and(|v| *v > a) || c.is_none_or(|v| *v < b) { sum += a; }"#,
    r#"let c = x.get(1).zip(x.get(9)); sum += c.map_or(b, |(v, w)| v * w); if c.is_none() { sum += a; }"#,
    r#"sum += x.get(9).copied().or_else(|| x.first().copied()).xor(None).unwrap_or_else(|| a);"#,
    r#"let mut c = Some(a); sum += c.take().unwrap(); c = Some(b); if let Some(v) = c.as_mut() { *v *= a; } sum += c.replace(a).unwrap();"#,
    r#"let mut c = None; for v in x { if c.is_none_or(|w: f64| *v > w) { c = Some(*v); } } sum += *c.insert(b) + *c.get_or_insert(a);"#,
    r#"let f = |v: f64| if v > 0.0 { Ok(v.sqrt()) } else { Err(v) }; sum += match f(a) { Ok(v) => v, Err(e) => e * e }; sum += f(b).ok().unwrap_or(0.0) + f(a).map_err(|e| -e).unwrap_or_else(|e| e); sum += f(b).err().ok_or(a).unwrap_or(b);"#,
    r#"let f = |i: usize| { let v = x.get(i)? * x.first()?; Some(v + a) }; sum += f(n).unwrap_or(b);"#,
    r#"if a.total_cmp(&b).is_lt() || n.cmp(&3).then_with(|| a.total_cmp(&b)).reverse().is_ge() { sum += a; }"#,
    r#"sum += x.iter().sum::<f64>();"#,
    r#"sum += (0..n).map(|i| x[i]).sum::<f64>();"#,
    r#"sum += x.chunks_exact(2).map(|c| c[0]).sum::<f64>();"#,
    r#"sum += std::iter::successors(Some(a), |v| Some(v * 0.5)).take(3).sum::<f64>();"#,
    r#"sum += std::iter::repeat(a).take(3).zip(x).map(|(v, w)| v * w).sum::<f64>();"#,
    r#"sum += (1..).zip(x).map(|(i, v)| v / i as f64).sum::<f64>();"#,
    r#"sum += x.iter().chain(y.iter()).filter(|v| **v > a).enumerate().map(|(i, v)| v * i as f64).sum::<f64>();"#,
    r#"sum += x.iter().filter_map(|v| (*v > a).then(|| v * v)).take(2).sum::<f64>();"#,
    r#"sum += x.chunks(2).flat_map(|c| c.iter().rev()).fold(a, |s, v| s * b + v);"#,
    r#"sum += [[a, b], [b, a]].iter().flatten().sum::<f64>();"#,
    r#"sum += x.iter().take_while(|v| **v < a).chain(x.iter().skip_while(|v| **v < b)).sum::<f64>();"#,
    r#"sum += x.iter().scan(a, |s, v| { *s = *s * b + v; Some(*s) }).map_while(|v| (v < 9.0).then_some(v)).sum::<f64>();"#,
    r#"sum += x.iter().cycle().take(5).inspect(|v| assert!(v.is_finite())).sum::<f64>();"#,
    r#"for (i, v) in x.iter().filter(|v| **v > a).enumerate() { if i == 2 { break; } sum += v; }"#,
    r#"let mut c = x.iter(); while let Some(v) = c.next() { sum = sum * b + v; }"#,
    r#"let mut c = x.iter(); while let (Some(v), Some(w)) = (c.next(), c.next_back()) { sum += v * w; }"#,
    r#"sum += x.iter().find(|v| **v > a).copied().unwrap_or(b) + x.iter().find_map(|v| (*v > a).then(|| v * v)).unwrap_or(a);"#,
    r#"sum += x.iter().position(|v| *v > a).map_or(b, |i| x[i]) + x.iter().rposition(|v| *v > a).map_or(a, |i| x[i]);"#,
    r#"sum += x.iter().copied().reduce(|v, w| v * b + w).unwrap() + x.iter().last().unwrap() * x.iter().nth(1).unwrap();"#,
    r#"sum += x.iter().min_by_key(|v| (*v * 9.0) as i64).unwrap() * x.iter().max_by_key(|v| (*v * 9.0) as i64).unwrap();"#,
    r#"let i = n.abs_diff(5) + n.isqrt() + (n + 1).ilog2() as usize; sum += x[i % 4] * (n as u8).leading_zeros() as f64;"#,
    r#"let i = n.checked_sub(2).unwrap_or(1); let (j, over) = n.overflowing_add(1); if !over { sum += x[i % 4] * x[j % 4]; }"#,
    r#"if let Some((v, rest)) = x.split_first() { sum += v * rest[0]; } if let Some((v, rest)) = x.split_last() { sum += v * rest[0]; }"#,
    r#"if let Some(c) = x.get(1..3) { sum += c[0] * c[1]; } if let Some(v) = y.get_mut(1) { *v = a; } if let Some(v) = y.first_mut() { *v = b; } if let Some(v) = y.last_mut() { *v *= b; }"#,
    r#"y.reverse(); y.rotate_left(1); y.rotate_right(2); y.copy_within(0..1, 2); sum += y[0];"#,
    r#"let (c, d) = y.split_at_mut(2); c.swap_with_slice(d); y.fill_with(|| a);"#,
    r#"let mut c = x.to_vec(); c.sort_by(|v, w| v.total_cmp(w)); sum += c[0] * c[1];"#,
    r#"let mut c = [a, b, 0.5]; c.sort_unstable_by(|v, w| w.partial_cmp(v).unwrap()); sum += c[0];"#,
    r#"let mut c = [3_usize, 1, 2]; c.sort(); c.sort_by_key(|i| (i * 5) % 3); sum += x[c[0]];"#,
    r#"if k.contains(&1) || k.starts_with(&[1]) || k.is_sorted() { sum += a; } sum += x[k.partition_point(|i| *i < 2) % 4];"#,
    r#"if [n, 1] == [1, n] && (n, flag) != (2, true) { sum += a; }"#,
    r#"let c = [a, b, 1.0].map(|v| v * v); sum += c[0] * c[2];"#,
    r#"let c: [f64; 3] = std::array::from_fn(|i| a * i as f64); sum += c[2];"#,
    r#"let c: [f64; 2] = x[1..3].try_into().unwrap(); sum += c[0] * c[1];"#,
    r#"let c: Vec<(f64, usize)> = x.iter().map(|v| (v * a, 1)).collect(); sum += c[0].0;"#,
    r#"let (c, d): (Vec<f64>, Vec<f64>) = x.iter().map(|v| (v * a, v + b)).unzip(); sum += c[0] * d[1];"#,
];

impl Generator<'_> {
    /// One of the forms; what it makes of `sum` has a name afterwards.
    pub(super) fn form(&mut self) {
        let ty = self.config.float;
        let (a, b) = (self.float(2).text, self.float(2).text);
        let form = self.random.pick(FORMS).replace("f64", ty);
        let n = self.random.below(5);
        let flag = self.random.chance(50);
        let name = self.fresh("v");
        // An item of the function's own would be there twice.
        self.line(&format!(
            "let {name}: {ty} = {{ let (a, b): ({ty}, {ty}) = (({a}).sin(), ({b}).cos()); \
             let held = [a, 0.5 * b, a * b, 0.3 - a, b + 0.2]; let x: &[{ty}] = &held; \
             let mut changed = [b, 0.25, a, 0.1 + b]; let y: &mut [{ty}] = &mut changed; \
             let (k, n, flag) = ([1_usize, 2, 0, 3], {n}_usize, {flag}); \
             let mut sum: {ty} = 0.5 * a; {form} \
             (sum + 0.1 * y[1] + 0.01 * k[0] as {ty} + if flag {{ 0.5 }} else {{ n as {ty} }}).tanh() }};"
        ));
        self.declare(&name, Kind::Float { bound: 1.0, collects: false }, Access::Read);
    }
}
