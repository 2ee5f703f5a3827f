//! Nests of loops of the kinds that the compiler reshapes: rows of sums, pairs of points, products, neighbours, stencils.

use super::generate::{Access, Generator, Kind};

impl Generator<'_> {
    /// A nest over arrays of its own; what it computes becomes a variable.
    pub(super) fn nest(&mut self) {
        let (rows, columns) = (self.random.within(1, 10), self.random.within(1, 8));
        if !self.affords(rows * columns) {
            return self.assign_scalar();
        }
        self.work += self.multiplicity * rows * columns * 4;
        let ty = self.config.float;
        let (r, c) = (self.length(rows), self.length(columns));
        let (w, x) = (self.fresh("w"), self.fresh("w"));
        let (out, sum, value) = (self.fresh("w"), self.fresh("v"), self.fresh("v"));
        let sign = *self.random.pick(&["+", "-"]);
        let kind = self.random.below(8);
        let stride = self.random.within(2, 3);
        let (w_len, x_len) = match kind {
            0 => (format!("{r} * {c}"), c.clone()),
            1 => (c.clone(), format!("{r} + {c}")),
            2 => (format!("2 * {c}"), format!("{c} * {r}")),
            3 => (format!("{stride} * {r} + {}", self.random.below(2)), "1".to_owned()),
            4 => (format!("{r} * {c}"), format!("{r} * {c}")),
            5 => (format!("{r} * {c}"), format!("2 * {c}")),
            6 => (c.clone(), format!("({r} + 1) * {c}")),
            _ => (format!("{r} + {c}"), "1".to_owned()),
        };
        for (name, len) in [(&w, &w_len), (&x, &x_len)] {
            let (start, t) = (self.float(1).typed(ty), self.fresh("t"));
            self.line(&format!("let mut {name}: Vec<{ty}> = vec![0.0; {len}];"));
            self.line(&format!(
                "for {t} in 0..{len} {{ {name}[{t}] = ({start} + 0.37 * {t} as {ty}).sin(); }}"
            ));
        }
        let first = self.float(1).typed(ty);
        self.line(&format!("let mut {out}: Vec<{ty}> = vec![{first}; 2 * {r} + {c}];"));
        self.line(&format!("let mut {sum}: {ty} = {first};"));
        let text = match kind {
            0 => format!(
                "for i in 0..{r} {{ let mut s: {ty} = {out}[i]; for j in 0..{c} {{ s {sign}= {w}[i * {c} + j] * {x}[j]; }} {out}[i] = s.sin(); }}"
            ),
            1 => format!(
                "for i in 0..{r} {{ let mut s: {ty} = {first}; for j in 0..{c} {{ s {sign}= {w}[j] * {x}[i + j]; }} {out}[i] = s.tanh(); }}"
            ),
            2 => format!(
                "for p in 0..2 {{ for i in 0..{r} {{ let mut s: {ty} = 0.0; for j in 0..{c} {{ s += {w}[p * {c} + j] * {x}[j * {r} + i]; }} {out}[p * {r} + i] {sign}= s; }} }}"
            ),
            3 => {
                let from = *self.random.pick(&["0", "i + 1"]);
                let terms: Vec<String> = (0..stride)
                    .map(|field| {
                        format!(
                            "({w}[{stride} * i + {field}] - {w}[{stride} * j + {field}]).powi(2)"
                        )
                    })
                    .collect();
                format!(
                    "for i in 0..{r} {{ for j in {from}..{r} {{ {sum} {sign}= 1.0 / ({} + 0.5).sqrt(); }} }}",
                    terms.join(" + ")
                )
            }
            4 => format!(
                "for i in 0..{r} {{ for j in 0..{c} {{ {sum} {sign}= {w}[i * {c} + j] * {x}[{c} * i + j]; {w}[i * {c} + j] = {x}[i * {c} + j]; }} }}"
            ),
            5 => {
                let factors = ["1.5".to_owned(), sum.clone(), format!("{x}[j]")];
                let factor = self.random.pick(&factors);
                format!(
                    "for p in 0..2 {{ for i in 0..{r} {{ for j in 0..{c} {{ {out}[j] {sign}= {w}[i * {c} + j] * {x}[p * {c} + j] * {factor}; }} }} }}
                    for j in 0..{c} {{ {sum} += 0.1 * {out}[j] * {out}[j]; }}"
                )
            }
            6 => self.stencil(&w, &x, &sum, (&r, &c)),
            _ => format!(
                "for i in 2..{r} + {c} {{ let t = {w}[i] - 3.0 * {w}[i - 1] * {w}[i - 2]; {sum} {sign}= t * t / (1.0 + t * t); }}"
            ),
        };
        self.line(&text);
        let at = self.random.below(rows);
        self.line(&format!("let {value}: {ty} = (0.1 * {sum} + {out}[{at}] + {w}[0]).sin();"));
        self.declare(&value, Kind::Float { bound: 1.0, collects: false }, Access::Read);
    }

    /// Rows made from neighbours in the row before, with edges; in an array that was filled before, or in one of its own.
    fn stencil(&mut self, w: &str, x: &str, sum: &str, (r, c): (&str, &str)) -> String {
        let ty = self.config.float;
        let own = self.fresh("w");
        let (u, start) = if self.random.chance(50) {
            (x, String::new())
        } else {
            let start = format!(
                "let mut {own}: Vec<{ty}> = vec![0.0; ({r} + 1) * {c}];
                for i in 0..{c} {{ {own}[i] = {w}[i]; }}"
            );
            (own.as_str(), start)
        };
        let at = |offset: &str| format!("{u}[t * {c} + i{offset}]");
        let edges = [
            format!("if i > 0 {{ v += 0.4 * {}; }}", at(" - 1")),
            format!("if i + 1 < {c} {{ v -= 0.3 * {} * {}; }}", at(" + 1"), at("")),
            format!("if i >= 2 {{ if {0} < v {{ v = {0}; }} }}", at(" - 2")),
            format!("if i < {c} - 1 {{ v = v.max({}); }}", at(" + 1")),
            format!("if i + 2 < {c} {{ if {0} > v {{ v = 0.5 * {0}; }} }}", at(" + 2")),
            "if i == 0 { v *= 1.5; }".to_owned(),
            format!("if i != {c} - 1 {{ v += 0.2 * {w}[i]; }}"),
            "if 3 > i { v = 0.5 * v; }".to_owned(),
        ];
        let count = self.random.within(1, 4);
        let asked: Vec<String> = (0..count).map(|_| self.random.pick(&edges).clone()).collect();
        let last = *self.random.pick(&["0.7 * v", "v.sin()", "v - 0.1"]);
        format!(
            "{start}
            for t in 0..{r} {{ for i in 0..{c} {{ let mut v: {ty} = {}; {} {u}[(t + 1) * {c} + i] = {last}; }} }}
            for i in 0..{c} {{ {sum} += 0.1 * {u}[{r} * {c} + i]; }}",
            at(""),
            asked.join(" ")
        )
    }

    /// A length, as a literal or as something the compiler does not know.
    fn length(&mut self, len: usize) -> String {
        let name = self.fresh("m");
        match self.array(Access::Read) {
            Some((array, known, ..)) if self.random.chance(50) => {
                if len >= known {
                    self.line(&format!("let {name}: usize = {array}.len() + {};", len - known));
                } else {
                    self.line(&format!("let {name}: usize = {array}.len() - {};", known - len));
                }
                name
            }
            _ => len.to_string(),
        }
    }
}
