//! Random kernels without races: gradients against differences, and no race in what is derived.
//!
//! A kernel computes with numbers of its own, reads `x` and `w` anywhere, writes `y` at its own index, adds to `s` atomically, and goes through phases in which it fills its place of a shared
//! tile and reads those of others. `STRATAPE_SAMPLES` asks for more.

use std::fmt::Write;

use crate::harness::{Given, check_compiled, compile, numbers};
use stratape_interp::simt::Launch;

const THREADS: usize = 4;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

struct Writer {
    random: Random,
    text: String,
    indent: usize,
    /// Numbers in scope.
    vars: usize,
    /// Whether the tile holds something that others may read.
    filled: bool,
    /// Counters of loops in scope.
    counters: Vec<String>,
    names: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.indent));
    }

    fn index(&mut self, len: usize) -> String {
        let counter = match self.counters.last() {
            Some(counter) if self.random.below(2) == 0 => counter.clone(),
            _ => "1".to_owned(),
        };
        match self.random.below(9) {
            0 => "i".to_owned(),
            1 => "t".to_owned(),
            2 => format!("(i + {counter}) % {len}"),
            3 => format!("2 * i % {len}"),
            4 => "i / 2".to_owned(),
            5 => self.random.below(len.min(8)).to_string(),
            6 => "block_idx().x".to_owned(),
            7 => format!("({counter} * block_dim().x + t) % {len}"),
            _ => "at[i]".to_owned(),
        }
    }

    fn atom(&mut self) -> String {
        match self.random.below(if self.filled { 9 } else { 7 }) {
            0 => format!("x[{}]", self.index(16)),
            1 => format!("w[{}]", self.index(16)),
            2 => "a".to_owned(),
            3 => format!("{:.1}", 0.1 + self.random.below(18) as f64 * 0.1),
            7 => format!("tile[(t + {}) % {THREADS}]", self.random.below(4)),
            8 => format!("tile[{}]", self.random.below(THREADS)),
            _ => format!("v{}", self.random.below(self.vars)),
        }
    }

    fn expression(&mut self) -> String {
        let (a, b) = (self.atom(), self.atom());
        match self.random.below(8) {
            0 => format!("({a} * {b}).sin()"),
            1 => format!("{a} - 0.5 * {b}"),
            2 => format!("0.3 * {a} * {b}"),
            3 => format!("{a} / (1.5 + {b} * {b})"),
            4 => format!("({a} + {b}).tanh()"),
            5 => format!("(0.2 * {a}).exp() * 0.5"),
            6 => format!("if {a} > 0.9 {{ {b} }} else {{ 0.4 * {a} }}"),
            _ => format!("{a} + {b}"),
        }
    }

    /// A statement of one thread.
    fn own(&mut self, depth: usize) {
        let target = format!("v{}", self.random.below(self.vars));
        let expression = self.expression();
        match self.random.below(if depth < 2 { 9 } else { 4 }) {
            0..=3 => self.line(&format!("{target} = {expression};")),
            4 => {
                let condition = match self.random.below(3) {
                    0 => "i % 2 == 0".to_owned(),
                    1 => format!("{} > 0.8", self.atom()),
                    _ => "t < 3".to_owned(),
                };
                self.line(&format!("if {condition} {{"));
                self.nested(depth);
                if self.random.below(2) == 0 {
                    self.line("} else {");
                    self.nested(depth);
                }
                self.line("}");
            }
            5 => {
                let counter = self.counter();
                let count = ["3", "n", "t"][self.random.below(3)];
                self.line(&format!("for {counter} in 0..{count} {{"));
                self.counters.push(counter);
                self.nested(depth);
                self.counters.pop();
                self.line("}");
            }
            6 => {
                let counter = self.counter();
                self.line(&format!("let mut {counter} = t;"));
                self.line(&format!("while {counter} < 7 {{"));
                self.nested(depth);
                self.line(&format!("    {counter} += 3;"));
                self.line("}");
            }
            7 => {
                let index = ["i % 2", "0", "t % 2"][self.random.below(3)];
                self.line(&format!("own[{index}] = {expression};"));
                let other = self.random.below(2);
                self.line(&format!("{target} = own[{other}] * {target};"));
            }
            _ => {
                let place = self.random.below(2);
                self.line(&format!("atomic_add(&mut s[{place}], {expression});"));
            }
        }
    }

    fn counter(&mut self) -> String {
        self.names += 1;
        format!("k{}", self.names)
    }

    fn nested(&mut self, depth: usize) {
        self.indent += 1;
        for _ in 0..1 + self.random.below(2) {
            self.own(depth + 1);
        }
        self.indent -= 1;
    }

    /// What all threads of a block do together.
    fn together(&mut self, depth: usize) {
        match self.random.below(if depth == 0 { 4 } else { 3 }) {
            0 | 1 => {
                self.line("sync_threads();");
                self.filled = false;
                let expression = self.expression();
                self.line(&format!("tile[t] = {expression};"));
                self.line("sync_threads();");
                self.filled = true;
            }
            2 => {
                self.line("sync_threads();");
                self.filled = false;
                self.line("tile[t] = 0.1 * v0;");
                self.line("sync_threads();");
                let expression = self.expression();
                let place = ["(t * 2)", "(t + 1)", "0 * t", "t"][self.random.below(4)];
                self.line(&format!("atomic_add(&mut tile[{place} % {THREADS}], {expression});"));
                self.line("sync_threads();");
                self.filled = true;
            }
            _ => {
                let counter = self.counter();
                self.line(&format!("for {counter} in 0..n {{"));
                self.indent += 1;
                self.counters.push(counter);
                for _ in 0..2 {
                    self.together(1);
                    self.own(1);
                }
                self.counters.pop();
                self.indent -= 1;
                self.line("}");
            }
        }
    }
}

fn kernel(seed: u64) -> String {
    let mut writer = Writer {
        random: Random(seed),
        text: String::new(),
        indent: 1,
        vars: 3,
        filled: false,
        counters: Vec::new(),
        names: 0,
    };
    let together = writer.random.below(3) > 0;
    if together {
        writer.line(&format!("let mut tile = shared::<[f64; {THREADS}]>();"));
    }
    writer.line("let t = thread_idx().x;");
    writer.line("let i = t + block_idx().x * block_dim().x;");
    writer.line("let mut own = [0.5, a];");
    writer.line("let mut v0 = x[i];");
    writer.line("let mut v1 = y[i] * 0.5;");
    writer.line("let mut v2 = 1.0;");
    if together {
        writer.line("tile[t] = v0 * v1;");
        writer.line("sync_threads();");
        writer.filled = true;
    }
    for _ in 0..2 + writer.random.below(4) {
        if together && writer.random.below(2) == 0 {
            writer.together(0);
        } else {
            writer.own(0);
        }
    }
    match writer.random.below(3) {
        0 => writer.line("y[i] += v0 * v1 + v2;"),
        1 => writer.line("y[i] = v0 + v1 * v2 + own[1];"),
        _ => writer.line("if v2 < 2.0 { y[i] = v0 * v2; } else { y[i] = v1; }"),
    }
    let head = "#[gradient(wrt(y, s, x, w, a))]\nfn kernel(y: &mut [f64], s: &mut [f64], x: &[f64], w: &[f64], a: f64, n: usize, at: &[usize]) {";
    format!("{head}\n{}}}\n", writer.text)
}

#[test]
fn gradients_of_random_kernels() {
    let samples = std::env::var("STRATAPE_SAMPLES").ok().and_then(|text| text.parse().ok());
    let first = std::env::var("STRATAPE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    for seed in first..first + samples.unwrap_or(60_u64) {
        let text = kernel(seed);
        let compiled = compile(&text, "kernel").unwrap_or_else(|error| {
            panic!("seed {seed}: {error}\n{text}");
        });
        let at: Vec<i64> = (0..8).map(|k| (k * 5 + 3) % 16).collect();
        let given = [
            numbers(8),
            numbers(2),
            numbers(16),
            numbers(16),
            Given::Float(0.7),
            Given::Int(2),
            Given::Ints(at),
        ];
        let launch = Launch::new([2, 1, 1], [THREADS as u32, 1, 1]);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check_compiled(&compiled, &launch, &given);
        }));
        if let Err(panic) = outcome {
            eprintln!("seed {seed}:\n{text}");
            std::panic::resume_unwind(panic);
        }
    }
}
