//! From a file of functions to tests of their gradients.
//!
//! ```text
//! //--- name [wrt=x,y] [par] [noplain]
//! //= for n in [0usize, 1, 9] | x=rnd(n, 1) | k=1.3 | steps=7 [| nofd] [| tol=1e-5] [| finite]
//! fn name(x: &mut [f64], k: f64, steps: usize) -> f64 { … /*C*/ for … }
//! ```
//!
//! The lines with `//=` are the cases: loops around them, and a value for each parameter. A body with helpers is a module in which the function
//! stands under `#[gradient]`. Each gradient is made as it is, `plain`, on a tape that spills; with `par` also `parallel`; with `#[parallel]`
//! where `/*P*/` stands, and with `#[checkpoint(slots = 2)]` where `/*C*/` does.

use std::fmt::Write as _;

/// The tests of one file.
pub fn tests(text: &str) -> String {
    text.split("//---").skip(1).map(|block| Function::read(block).tests()).collect()
}

struct Function {
    name: String,
    wrt: Option<Vec<String>>,
    parallel: bool,
    plain: bool,
    cases: Vec<String>,
    /// What stands before the function in its module; `None` if it stands alone.
    helpers: Option<String>,
    /// The function, its name taken off.
    text: String,
    params: Vec<(String, String)>,
    returns: bool,
}

/// How a parameter of floats is passed.
struct Passed {
    kind: &'static str,
    before: String,
    argument: String,
    shadow: Option<String>,
    /// What is done with the adjoint that is returned.
    returned: Option<String>,
    after: String,
}

fn split_top(text: &str, separator: char) -> Vec<String> {
    let (mut parts, mut depth, mut part) = (Vec::new(), 0, String::new());
    for c in text.chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        if c == separator && depth == 0 {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(c);
        }
    }
    if !part.trim().is_empty() {
        parts.push(part);
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

fn is_float(ty: &str) -> bool {
    ty.contains("f64") || ty.contains("f32")
}

impl Function {
    fn read(block: &str) -> Self {
        let (head, body) = block.split_once('\n').expect("a head and a body");
        let mut words = head.split_whitespace().map(str::to_owned);
        let name = words.next().expect("a name");
        let options: Vec<String> = words.collect();
        let wrt = options.iter().find_map(|option| option.strip_prefix("wrt="));
        let wrt = wrt.map(|names| names.split(',').map(str::to_owned).collect());
        let (cases, lines): (Vec<&str>, Vec<&str>) =
            body.lines().partition(|line| line.starts_with("//="));
        let body = lines.join("\n");
        let (helpers, entry) = match body.split_once("#[gradient]") {
            Some((helpers, entry)) => (Some(helpers.to_owned()), entry.to_owned()),
            None => (None, body.clone()),
        };
        let start = entry.find("fn ").expect("a function");
        let entry = entry[start..].trim();
        let open = entry.find('(').expect("parameters");
        let text = entry[open..].to_owned();
        // The parameters end at the parenthesis that closes the first.
        let mut depth = 0;
        let close = text.char_indices().find_map(|(at, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            (depth == 0).then_some(at)
        });
        let close = close.expect("a closing parenthesis");
        let params = split_top(&text[1..close], ',').into_iter().map(|param| {
            let (name, ty) = param.split_once(':').expect("a name and a type");
            (name.replace("mut ", "").trim().to_owned(), ty.trim().to_owned())
        });
        let params: Vec<_> = params.collect();
        let returns = text[close + 1..].trim_start().starts_with("->");
        Self {
            name,
            wrt,
            parallel: options.iter().any(|option| option == "par"),
            plain: !options.iter().any(|option| option == "noplain"),
            cases: cases.iter().map(|case| case[3..].trim().to_owned()).collect(),
            helpers,
            text,
            params,
            returns,
        }
    }

    fn is_single(&self) -> bool {
        self.params.iter().any(|(_, ty)| ty.contains("f32"))
    }

    /// The names of the gradients' functions, with the arguments of their attributes and their texts.
    fn variants(&self) -> Vec<(&'static str, &'static str, String, String)> {
        let wrt = self.wrt.as_ref().map(|names| format!("wrt({})", names.join(", ")));
        let attribute = |extra: &str| {
            let all: Vec<&str> = wrt
                .iter()
                .map(String::as_str)
                .chain([extra])
                .filter(|one| !one.is_empty())
                .collect();
            if all.is_empty() {
                "#[gradient]".to_owned()
            } else {
                format!("#[gradient({})]", all.join(", "))
            }
        };
        let marked = |parallel: &str, checkpoint: &str| {
            self.text.replace("/*P*/", parallel).replace("/*C*/", checkpoint)
        };
        let mut variants = vec![("opt", "f", attribute(""), marked("", ""))];
        if self.plain {
            variants.push(("plain", "f_plain", attribute("plain"), marked("", "")));
        }
        if self.parallel {
            variants.push(("auto", "f_auto", attribute("parallel"), marked("", "")));
        }
        if self.text.contains("/*P*/") {
            variants.push(("par", "f_par", attribute(""), marked("#[parallel]", "")));
        }
        if self.text.contains("/*C*/") {
            let mark = "#[checkpoint(slots = 2)]";
            variants.push(("ckpt", "f_ckpt", attribute(""), marked("", mark)));
        }
        variants
    }

    fn tests(&self) -> String {
        let Self { name, .. } = self;
        let mut out = String::new();
        let functions: Vec<String> = self
            .variants()
            .iter()
            .map(|(_, name, attribute, text)| format!("{attribute}\npub fn {name}{text}\n"))
            .collect();
        let functions = functions.concat();
        let _ = match &self.helpers {
            Some(helpers) => writeln!(
                out,
                "#[stratape::differentiable]\npub mod {name} {{\n{helpers}\n{functions}\n}}"
            ),
            None => writeln!(out, "pub mod {name} {{\nuse stratape::gradient;\n{functions}\n}}"),
        };
        if self.is_single() {
            // Differences are taken in double precision.
            let text = self.text.replace("/*P*/", "").replace("/*C*/", "");
            let wide = format!("{}\npub fn f{text}", self.helpers.as_deref().unwrap_or_default());
            let _ = writeln!(out, "mod {name}_wide {{\n{}\n}}", wide.replace("f32", "f64"));
        }
        let _ = writeln!(out, "#[test]\nfn t_{name}() {{\nlet mut bad = 0;");
        for case in &self.cases {
            out += &self.case(case);
        }
        let _ = writeln!(out, "assert_eq!(bad, 0);\n}}");
        out
    }

    fn case(&self, case: &str) -> String {
        let (mut loops, mut lets) = (String::new(), String::new());
        let (mut differences, mut tolerance) = (true, "1e-6".to_owned());
        for part in split_top(case, '|') {
            if part.starts_with("for ") {
                let _ = write!(loops, "{part} {{ ");
            } else if part == "nofd" {
                differences = false;
            } else if let Some(given) = part.strip_prefix("tol=") {
                tolerance = given.to_owned();
            } else if let Some((name, value)) = part.split_once('=') {
                let _ = write!(lets, "let {} = {}; ", name.trim(), value.trim());
            }
        }
        let single = self.is_single();
        let mut points = Vec::new();
        for (name, ty) in self.params.iter().filter(|(_, ty)| is_float(ty)) {
            let scalar = !ty.contains('[');
            let mut point = match scalar {
                true => format!("vec![({name}) as f64]"),
                false => format!("({name}).iter().map(|v| *v as f64).collect::<Vec<f64>>()"),
            };
            if single {
                point += ".iter().map(|v| *v as f32 as f64).collect::<Vec<f64>>()";
            }
            points.push(point);
        }
        let kinds: Vec<_> = self.passed(false).iter().map(|passed| passed.kind).collect();
        let mut gradients: Vec<String> = self
            .variants()
            .iter()
            .map(|(label, name, ..)| format!("(\"{label}\", {})", self.gradient(name, false)))
            .collect();
        gradients.push(format!("(\"tiny\", {})", self.gradient("f", true)));
        if self.text.contains("/*C*/") {
            gradients.push(format!("(\"tinyckpt\", {})", self.gradient("f_ckpt", true)));
        }
        let wide = if single { format!("{}_wide", self.name) } else { self.name.clone() };
        format!(
            "{loops}{lets}\nbad += check(\"{}\", {case:?}, vec![{}], &[{}], {}, {differences}, {tolerance}, {single},\n{},\n{},\n&[{}]); {}\n",
            self.name,
            points.join(", "),
            kinds.join(", "),
            self.returns,
            self.primal(&self.name, false),
            self.primal(&wide, true),
            gradients.join(", "),
            "}".repeat(loops.matches('{').count()),
        )
    }

    /// How the parameters of floats are passed; `wide`: as `f64`.
    fn passed(&self, wide: bool) -> Vec<Passed> {
        let floats = self.params.iter().filter(|(_, ty)| is_float(ty));
        let passed = floats.enumerate().map(|(number, (name, ty))| {
            let ty = if wide { ty.replace("f32", "f64") } else { ty.clone() };
            let active = self.wrt.as_ref().is_none_or(|names| names.contains(name));
            pass(number, &ty, active)
        });
        passed.collect()
    }

    /// The arguments of a call, with shadows or without.
    fn arguments(&self, passed: &[Passed], shadows: bool) -> Vec<String> {
        let mut floats = passed.iter();
        let mut arguments = Vec::new();
        for (name, ty) in &self.params {
            if is_float(ty) {
                let passed = floats.next().expect("one for each");
                arguments.push(passed.argument.clone());
                arguments.extend(passed.shadow.clone().filter(|_| shadows));
            } else if ty.starts_with("&mut") {
                arguments.push(format!("&mut {name}.clone()[..]"));
            } else if ty.starts_with("&[") {
                arguments.push(format!("&{name}[..]"));
            } else if ty.starts_with('&') {
                arguments.push(format!("&{name}"));
            } else {
                arguments.push(name.clone());
            }
        }
        arguments
    }

    /// Takes the arguments apart.
    fn taken(&self, passed: &[Passed], shadows: &str) -> String {
        let list = |letter: char| -> String {
            (0..passed.len()).map(|number| format!("{letter}{number}, ")).collect()
        };
        let before: String = passed.iter().map(|passed| passed.before.as_str()).collect();
        format!(
            "let [{}] = &mut q_a[..] else {{ unreachable!() }}; let [{}] = &mut {shadows}[..] else {{ unreachable!() }}; {before}",
            list('a'),
            list('d')
        )
    }

    fn value(&self) -> &'static str {
        if self.returns { "v as f64" } else { "0.0" }
    }

    fn primal(&self, module: &str, wide: bool) -> String {
        let passed = self.passed(wide);
        let after: String = passed.iter().map(|passed| passed.after.as_str()).collect();
        format!(
            "&|q_a: &mut Args| -> f64 {{ let mut dummy = q_a.clone(); {} let v = {module}::f({}); {after} {} }}",
            self.taken(&passed, "dummy"),
            self.arguments(&passed, false).join(", "),
            self.value()
        )
    }

    fn gradient(&self, function: &str, spilling: bool) -> String {
        let passed = self.passed(false);
        let mut arguments = self.arguments(&passed, true);
        let mut results: Vec<String> = if self.returns { vec!["v".to_owned()] } else { Vec::new() };
        let (mut returned, mut after) = (String::new(), String::new());
        for (number, passed) in passed.iter().enumerate() {
            if let Some(done) = &passed.returned {
                results.push(format!("r{number}"));
                returned += done;
            }
            after += &passed.after;
        }
        let results = match &results[..] {
            [] => "_nothing".to_owned(),
            [one] => one.clone(),
            many => format!("({})", many.join(", ")),
        };
        if spilling {
            arguments.insert(0, "&mut tiny()".to_owned());
        }
        if self.returns {
            let ty = if self.is_single() { "f32" } else { "f64" };
            arguments.push(format!("q_s as {ty}"));
        }
        let (suffix, unwrap) = if spilling { ("_in", ".unwrap()") } else { ("", "") };
        format!(
            "&|q_a: &mut Args, q_d: &mut Args, q_s: f64| -> f64 {{ {} let {results} = {}::{function}_grad{suffix}({}){unwrap}; {returned} {after} {} }}",
            self.taken(&passed, "q_d"),
            self.name,
            arguments.join(", "),
            self.value()
        )
    }
}

/// How a parameter of floats is passed.
fn pass(number: usize, ty: &str, active: bool) -> Passed {
    let single = ty.contains("f32");
    let float = if single { "f32" } else { "f64" };
    let (mut a, mut d) = (format!("a{number}"), format!("d{number}"));
    let (mut before, mut after) = (String::new(), String::new());
    if single {
        for name in [&a, &d] {
            let _ = write!(
                before,
                "let mut {name}s: Vec<f32> = {name}.iter().map(|v| *v as f32).collect(); "
            );
            let _ = write!(
                after,
                "for (p, q) in {name}.iter_mut().zip(&{name}s) {{ *p = *q as f64; }} "
            );
        }
        a.push('s');
        d.push('s');
    }
    let shape: String = ty.replace(float, "F").chars().filter(|c| !c.is_whitespace()).collect();
    // The extents, innermost first.
    let extents: Vec<&str> =
        shape.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect();
    let plain: String = shape.chars().filter(|c| !c.is_ascii_digit()).collect();
    let returned =
        |items: &str| format!("for (p, q) in {d}.iter_mut().zip({items}) {{ *p += q; }} ");
    let result = format!("r{number}");
    let one = |extents: &[&str]| extents.first().copied().unwrap_or_default().to_owned();
    let n = one(&extents);
    let (kind, argument, shadow, returned) = match plain.as_str() {
        "F" => ("Val", format!("{a}[0]"), None, Some(format!("{d}[0] += {result}; "))),
        "&[F]" => ("In", format!("&{a}[..]"), Some(format!("&mut {d}[..]")), None),
        "&mut[F]" => ("Mut", format!("&mut {a}[..]"), Some(format!("&mut {d}[..]")), None),
        "&F" => ("In", format!("&{a}[0]"), Some(format!("&mut {d}[0]")), None),
        "&mutF" => ("Mut", format!("&mut {a}[0]"), Some(format!("&mut {d}[0]")), None),
        "[F;]" => (
            "Val",
            format!("<[{float}; {n}]>::try_from(&{a}[..]).unwrap()"),
            None,
            Some(returned(&result)),
        ),
        "[[F;];]" => (
            "Val",
            format!(
                "<[[{float}; {n}]; {}]>::try_from({a}.as_chunks::<{n}>().0).unwrap()",
                extents[1]
            ),
            None,
            Some(returned(&format!("{result}.as_flattened()"))),
        ),
        "&[F;]" | "&mut[F;]" => {
            let mutable = plain.starts_with("&mut");
            let shadow = format!("<&mut [{float}; {n}]>::try_from(&mut {d}[..]).unwrap()");
            let argument = match mutable {
                true => format!("<&mut [{float}; {n}]>::try_from(&mut {a}[..]).unwrap()"),
                false => format!("<&[{float}; {n}]>::try_from(&{a}[..]).unwrap()"),
            };
            (if mutable { "Mut" } else { "In" }, argument, Some(shadow), None)
        }
        "&[[F;]]" | "&mut[[F;]]" => {
            let mutable = plain.starts_with("&mut");
            let shadow = format!("{d}.as_chunks_mut::<{n}>().0");
            let method = if mutable { "as_chunks_mut" } else { "as_chunks" };
            let argument = format!("{a}.{method}::<{n}>().0");
            (if mutable { "Mut" } else { "In" }, argument, Some(shadow), None)
        }
        other => panic!("no glue for a parameter `{ty}` ({other})"),
    };
    match active {
        true => Passed { kind, before, argument, shadow, returned, after },
        false => Passed { kind: "Const", before, argument, shadow: None, returned: None, after },
    }
}
