//! Random indices in random loops: emulation reports it if an addition that should be atomic is not, and shadows that are overwritten hold what is added elsewhere.

use stratape_interp::simt::Launch;

use crate::harness::{Given, additions, check_stores, compile, grid, numbers, stores, zeros};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const THREADS: &[&str] = &[
    "t",
    "t",
    "t",
    "b",
    "b",
    "u",
    "v",
    "t + b * d",
    "t + b * d",
    "(t + b * d) / 4",
    "(t + b * d) % 4",
    "t % 4",
    "t / 4",
    "t & 3",
    "t >> 2",
    "t + u * d",
    "u + t * h",
    "b + v * g",
    "b * (d / 4) + t / 4",
    "t % m",
    "t / m",
    "t + 1",
];
const BOUNDS: &[&str] = &[
    "n",
    "n",
    "n",
    "m",
    "n + 1",
    "n / 2",
    "n.min(m)",
    "6",
    "4",
    "n * m",
    "n / d",
    "n.div_ceil(d)",
    "x.len()",
];
const STRIDES: &[&str] =
    &["d", "d", "d", "4", "2 * d", "d * g", "d * h", "g", "1", "h", "d + 1", "m"];
const FACTORS: &[&str] =
    &["1", "1", "1", "2", "n", "n", "n", "m", "n * m", "d", "6", "4", "h", "g", "d * h"];

fn kernel(random: &mut Random) -> String {
    let mut names: Vec<String> = Vec::new();
    let variable = |random: &mut Random, names: &[String]| match names.len() {
        len if len > 0 && random.below(3) > 0 => names[random.below(len)].clone(),
        _ => format!("({})", random.one(THREADS)),
    };
    let (mut open, mut close) = (String::new(), String::new());
    for level in 0..random.below(3) {
        let name = format!("i{level}");
        let (from, to, by) = (variable(random, &names), random.one(BOUNDS), random.one(STRIDES));
        match random.below(5) {
            0 => open += &format!("for {name} in 0..{to} {{ "),
            1 | 2 => {
                open += &format!("let mut {name} = {from}; while {name} < {to} {{ ");
                close = format!("{name} += {by}; }} {close}");
                names.push(name);
                continue;
            }
            _ => open += &format!("for {name} in ({from}..{to}).step_by({by}) {{ "),
        }
        close = format!("}} {close}");
        names.push(name);
    }
    if random.below(2) == 0 {
        open += &format!("if {} < {} {{ ", variable(random, &names), random.one(BOUNDS));
        close = format!("}} {close}");
    }
    let mut body = String::new();
    let mut terms = String::new();
    for at in 0..1 + random.below(2) {
        if at == 0 || random.below(3) == 0 {
            let some = (0..1 + random.below(3))
                .map(|_| format!("{} * {}", random.one(FACTORS), variable(random, &names)));
            terms = some.collect::<Vec<_>>().join(" + ");
        }
        let offset = random.one(&["0", "0", "1", "m"]);
        body += &format!("let k = {terms} + {offset}; if k < x.len() {{ s += x[k] * x[k]; }} ");
    }
    wrapped(&format!("{open}{body}{close}"))
}

/// Rows and columns that nearly fit each other.
fn near(random: &mut Random) -> String {
    let usual = [
        ("t", "d", "b"),
        ("t", "d", "b"),
        ("t + b * d", "d * g", "v"),
        ("t % 4", "4", "(t + b * d) / 4"),
        ("(t & 3)", "4", "(b * (d / 4) + t / 4)"),
        ("t + u * d", "d * h", "b"),
        ("t", "d", "(u + b * h)"),
        ("u", "h", "(t + b * d)"),
    ];
    let (mut from, mut by, mut row) = usual[random.below(usual.len())];
    let mut bound = random.one(BOUNDS).to_owned();
    let mut length = bound.clone();
    // One of them is another one, or none.
    match random.below(8) {
        0 => from = random.one(THREADS),
        1 => by = random.one(STRIDES),
        2 => row = random.one(THREADS),
        3 => bound = random.one(BOUNDS).to_owned(),
        4 => length = random.one(FACTORS).to_owned(),
        5 => bound += " + 1",
        _ => {}
    }
    let rows = match random.below(4) {
        0 => format!("for r in ({row}..m).step_by(g) "),
        1 => format!("let r = {row}; if r < m "),
        2 => format!("for q in 0..m {{ let r = {row} * m + q; "),
        _ => format!("{{ let r = {row}; "),
    };
    let (open, close) = if rows.ends_with("; ") { ("", "}") } else { ("{ ", "}") };
    let scale = random.one(&["", "", "2 * ", "3 * "]);
    let offsets = [["0", "0"], ["0", "1"], ["1", "1"], ["0", "m"]];
    let [first, second] = offsets[random.below(offsets.len())];
    let read = |offset: &str| {
        format!(
            "let k = {scale}(r * ({length}) + j) + {offset}; if k < x.len() {{ s += x[k] * x[k]; }} "
        )
    };
    let columns = |body: &str, counted: bool| match counted {
        true => format!("for j in ({from}..{bound}).step_by({by}) {{ {body} }}"),
        false => format!("let mut j = {from}; while j < {bound} {{ {body} j += {by}; }}"),
    };
    let inside = match random.below(4) {
        0 => columns(&format!("{}{}", read(first), read(second)), true),
        1 => format!("{} {}", columns(&read(first), true), columns(&read(second), false)),
        2 => columns(&read(first), false),
        _ => columns(&read(first), true),
    };
    wrapped(&format!("{rows}{open}{inside} {close}"))
}

fn wrapped(body: &str) -> String {
    format!(
        "#[gradient(wrt(out, x))] fn rows(out: &mut [f64], x: &[f64], m: usize, n: usize) {{
            let (t, u, b, v) = (thread_idx().x, thread_idx().y, block_idx().x, block_idx().y);
            let (d, h, g) = (block_dim().x, block_dim().y, grid_dim().x);
            let mut s = 0.0;
            {body}
            block_add(&mut out[0], s);
        }}"
    )
}

#[test]
fn indices_of_rows() {
    let rounds = std::env::var("ROWS").map_or(150, |rounds| rounds.parse().unwrap());
    let seed = std::env::var("SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut random = Random(seed);
    let grids = [
        grid(1, 5),
        grid(3, 4),
        grid(2, 8),
        grid(2, 6),
        grid(4, 1),
        Launch::new([2, 1, 1], [3, 2, 1]),
        Launch::new([2, 3, 1], [4, 1, 1]),
        Launch::new([1, 2, 1], [2, 3, 1]),
    ];
    let (mut plain, mut stored) = (0, 0);
    for round in 0..rounds {
        let text = if round % 3 == 0 { kernel(&mut random) } else { near(&mut random) };
        let compiled = compile(&text, "rows").unwrap_or_else(|error| panic!("{error}\n{text}"));
        plain += usize::from(additions(&compiled).1 > 0);
        stored += stores(&compiled).len();
        for launch in &grids {
            for (m, n) in [(2, 5), (3, 4), (1, 7), (4, 2)] {
                let given = [zeros(1), numbers(30), Given::Int(m), Given::Int(n)];
                check_stores(&compiled, launch, &given).unwrap_or_else(|fault| {
                    panic!("round {round}, {launch:?}, {m}, {n}: {fault}\n{text}")
                });
            }
        }
    }
    assert!(plain > rounds / 10 && stored > rounds / 20, "{plain} plain, {stored} stored");
}
