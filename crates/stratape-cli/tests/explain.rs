//! `stratape explain` on files with what it should tell.

use std::error::Error;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

type Outcome = Result<(), Box<dyn Error>>;

fn stratape(arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratape"));
    command.env_remove("COLUMNS");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments);
    Ok(command.output()?)
}

fn json(arguments: &[&str]) -> Result<Value, Box<dyn Error>> {
    let output = stratape(arguments)?;
    assert_eq!(output.status.code(), Some(0));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn golden(name: &str, arguments: &[&str]) -> Outcome {
    let output = stratape(arguments)?;
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout)?;
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
    Ok(())
}

#[test]
fn a_loop_that_saves() -> Outcome {
    golden("mean_energy", &["explain", "tests/fixtures/pendulum.rs", "mean_energy"])
}

#[test]
fn a_time_loop() -> Outcome {
    golden("heat", &["explain", "tests/fixtures/heat.rs"])
}

#[test]
fn saved_values_have_reasons_places_and_formulas() -> Outcome {
    let report = json(&["explain", "tests/fixtures/pendulum.rs", "smooth", "--json"])?;
    let functions = report["functions"].as_array().ok_or("functions")?;
    assert_eq!(functions.len(), 1);
    let saved = &functions[0]["parts"][0]["saved"][0];
    assert_eq!(saved["total"], "16 bytes × steps × (n - 2)");
    assert_eq!(saved["loop"]["line"], 21);
    let reasons: Vec<_> =
        saved["values"].as_array().ok_or("values")?.iter().map(|value| &value["reason"]).collect();
    assert!(reasons.contains(&&Value::from("overwritten")));
    assert_eq!(functions[0]["parameters"][1]["active"], false);
    let loops = functions[0]["parts"][0]["loops"].as_array().ok_or("loops")?;
    assert!(loops.iter().all(|one| one["independent"] == false));
    Ok(())
}

#[test]
fn recomputed_values_are_listed_and_modules_are_seen() -> Outcome {
    let report = json(&["explain", "tests/fixtures/misfit.rs", "--json"])?;
    let part = &report["functions"][0]["parts"][0];
    let texts: Vec<_> = part["recomputed"]
        .as_array()
        .ok_or("recomputed")?
        .iter()
        .map(|one| &one["at"]["text"])
        .collect();
    assert!(texts.contains(&&Value::from("y[i]")), "{texts:?}");
    assert_eq!(part["loops"][0]["independent"], true);
    Ok(())
}

#[test]
fn inner_loops_that_grow_are_sums() -> Outcome {
    let report = json(&["explain", "tests/fixtures/triangle.rs", "--json"])?;
    let saved = &report["functions"][0]["parts"][0]["saved"];
    assert_eq!(saved[0]["total"], "8 bytes × Σ(i in 0..n) i");
    Ok(())
}

#[test]
fn reasons_come_with_what_can_be_done_and_small_loops_are_not_invited() -> Outcome {
    let text = |function: &str, arguments: &[&str]| -> Result<String, Box<dyn Error>> {
        let file = "tests/fixtures/advice.rs";
        let output = stratape(&[&["explain", file, function], arguments].concat())?;
        Ok(String::from_utf8(output.stdout)?)
    };
    let few = text("few", &[])?;
    assert!(
        few.contains("independent, but too few: 3; `#[parallel]` would pay from about 1100"),
        "{few}"
    );
    let many = text("many", &[])?;
    assert!(
        many.contains("independent: `#[parallel]` would pay from about 1100 iterations"),
        "{many}"
    );
    let gone = text("gone", &[])?;
    assert!(gone.contains("help: put `#[checkpoint]` on the loop in line 20"), "{gone}");
    assert!(gone.contains("help: write to another array, if memory allows"), "{gone}");
    let heat = stratape(&["explain", "tests/fixtures/heat.rs"])?;
    let heat = String::from_utf8(heat.stdout)?;
    assert!(!heat.contains("put `#[checkpoint]`"), "it is there already: {heat}");
    let graph = text("named_again", &["--emit", "dot"])?;
    for name in ["y₁", "y₂", "y₃"] {
        assert_eq!(graph.matches(name).count(), 1, "{graph}");
    }
    // What is run once more to rewind a list is no value of the function: the graph looked it up there.
    assert!(text("rewound", &["--emit", "dot"])?.contains("digraph"));
    let nested = text("nested", &[])?;
    assert!(
        nested.contains("taken together, are independent: `#[gradient(parallel)]` would pay"),
        "{nested}"
    );
    let sweep = text("sweep", &[])?;
    assert!(
        !sweep.contains("put `#[checkpoint]`"),
        "a snapshot of all for a change of one: {sweep}"
    );
    let report = json(&["explain", "tests/fixtures/advice.rs", "product", "--json"])?;
    let rows = &report["functions"][0]["parts"][0]["loops"][0];
    assert_eq!(rows["independent"], true, "loops are looked at as they are written: {report}");
    let report = json(&["explain", "tests/fixtures/advice.rs", "few", "--json"])?;
    let one = &report["functions"][0]["parts"][0]["loops"][0];
    assert_eq!(one["iterations"], 3);
    assert!(one["parallel_pays_from"].as_u64() > Some(1000));
    Ok(())
}

#[test]
fn what_the_attribute_refuses_is_an_error_for_each() -> Outcome {
    let output = stratape(&["explain", "tests/fixtures/rejected.rs"])?;
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr)?;
    assert!(text.contains("error: `#[gradient]` does not support the method `splice` of slices"));
    assert!(text.contains("tests/fixtures/rejected.rs:6:14"));
    assert!(text.contains("error: `n` holds no float: there is no derivative with respect to it"));
    assert!(text.contains("tests/fixtures/rejected.rs:10:20"));
    assert!(!text.contains('\u{1b}'), "no colours without a terminal");
    Ok(())
}

#[test]
fn wrong_input_says_what_to_do() -> Outcome {
    let cases: [(&[&str], i32, &str); 7] = [
        (&["explain", "tests/fixtures/heat.rs", "cold"], 1, "there is `heat`"),
        (&["explain", "tests/fixtures/prose.rs"], 1, "this is not Rust"),
        (&["explain", "tests/fixtures/unclosed.rs"], 1, "a bracket or a quote has no other end"),
        (&["explain", "tests/fixtures"], 1, "is a directory"),
        (&["explain", "tests/fixtures/missing.rs"], 1, "cannot be read"),
        (&["explain", "tests/explain.rs"], 1, "no function under `#[gradient]`"),
        (&["explain"], 2, "Usage"),
    ];
    for (arguments, code, text) in cases {
        let output = stratape(arguments)?;
        let told = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(text), "{told}");
        if code == 1 {
            let output = stratape(&[arguments, &["--json"]].concat())?;
            let object: Value = serde_json::from_slice(&output.stdout)?;
            let message = object["errors"][0]["message"].as_str().unwrap_or_default();
            assert!(message.contains(text), "{object}");
        }
    }
    let output = stratape(&["explain", "tests/fixtures/unclosed.rs"])?;
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("unclosed.rs:4:1"), "{told}");
    Ok(())
}

#[test]
fn stages_are_printed() -> Outcome {
    for (stage, text) in [("ir", "fn heat"), ("adjoint", "heat_grad"), ("rust", "fn heat_grad_in")]
    {
        let output = stratape(&["explain", "tests/fixtures/heat.rs", "--emit", stage])?;
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8(output.stdout)?.contains(text));
    }
    Ok(())
}

/// As much of the language as is written: braces that close, and edges between nodes that there are.
fn check_dot(text: &str) -> Outcome {
    let (mut depth, mut nodes, mut edges) = (0_i32, Vec::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        // Braces in labels are text.
        let bare: String = line.split('"').step_by(2).collect();
        depth += bare.matches('{').count() as i32 - bare.matches('}').count() as i32;
        assert!(depth >= 0, "{line}");
        assert_eq!(line.replace("\\\"", "").matches('"').count() % 2, 0, "{line}");
        if let Some((from, to)) = bare.trim_end_matches(';').split_once(" -> ") {
            edges.push((from.to_owned(), to.to_owned()));
        } else if let Some((node, _)) = bare.split_once(" [") {
            nodes.push(node.to_owned());
        }
    }
    assert_eq!(depth, 0);
    for (from, to) in edges {
        assert!(nodes.contains(&from) && nodes.contains(&to), "{from} -> {to}");
    }
    Ok(())
}

#[test]
fn a_graph() -> Outcome {
    golden(
        "mean_energy_dot",
        &["explain", "tests/fixtures/pendulum.rs", "mean_energy", "--emit", "dot"],
    )
}

#[test]
fn graphs_are_whole_and_always_the_same() -> Outcome {
    let cases = [
        ("pendulum.rs", "mean_energy"),
        ("pendulum.rs", "smooth"),
        ("heat.rs", "heat"),
        ("misfit.rs", "misfit"),
        ("triangle.rs", "triangle"),
    ];
    for (file, function) in cases {
        let file = format!("tests/fixtures/{file}");
        let arguments = ["explain", &file, function, "--emit", "dot"];
        let text = String::from_utf8(stratape(&arguments)?.stdout)?;
        assert!(text.starts_with(&format!("digraph \"{function}\" {{")), "{text}");
        check_dot(&text)?;
        for _ in 0..3 {
            assert_eq!(String::from_utf8(stratape(&arguments)?.stdout)?, text);
        }
        drawn_by_graphviz(&text)?;
    }
    Ok(())
}

/// Where Graphviz is installed it must accept the graph.
fn drawn_by_graphviz(text: &str) -> Outcome {
    let mut command = Command::new("dot");
    command.arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return Ok(()) };
    child.stdin.take().ok_or("a pipe")?.write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[test]
fn completions_are_printed() -> Outcome {
    let output = stratape(&["completions", "bash"])?;
    assert!(output.status.success() && String::from_utf8(output.stdout)?.contains("explain"));
    Ok(())
}

/// The errors of a file in the words of rustc, as the tests of the attributes keep them: message, line and column.
fn told_by_rustc(text: &str) -> Vec<(String, u64, u64)> {
    let mut errors = Vec::new();
    let mut message = None;
    for line in text.lines() {
        if let Some(text) = line.strip_prefix("error: ") {
            message = Some(text.to_owned());
        } else if let Some((_, place)) = line.split_once("--> ")
            && let Some(message) = message.take()
        {
            let mut parts = place.rsplit(':').map(|part| part.parse().unwrap_or(0));
            let (column, line) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
            errors.push((message, line, column));
        }
    }
    errors
}

#[test]
fn errors_are_those_of_the_attributes() -> Outcome {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../stratape/tests/compile_fail");
    let mut seen = 0;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        // What is left to rustc, rustc says in its own words; what is asked across files, only rustc can answer.
        if path.ends_with("left_to_rustc.rs")
            || path.ends_with("several_files.rs")
            || path.ends_with("by_hand.rs")
            || path.ends_with("effects.rs")
            // Whether a type is the one of another crate, rustc finds.
            || path.ends_with("other_crates.rs")
            || path.ends_with("unknown_primitives.rs")
            || path.ends_with("hidden_names.rs")
            // The attribute makes a kernel of a function; the command reads kernels as they are written.
            || path.ends_with("elementwise.rs")
        {
            continue;
        }
        // Attributes in places where they mean nothing are for rustc to find: it knows whose they are.
        let stray = |message: &str| {
            message.contains("` is only valid ")
                || message.contains("`#[differentiable]` does not work on an `impl`")
                || message.contains("`#[differentiable]` goes on a function, a struct")
                || message.contains("takes no arguments but `halves`")
                // What macros make, only rustc sees.
                || message.contains("one of a macro and one of its caller")
        };
        let mut expected = told_by_rustc(&std::fs::read_to_string(path.with_extension("stderr"))?);
        expected.retain(|(message, ..)| !stray(message));
        let output = stratape(&["explain", &path.to_string_lossy(), "--json"])?;
        assert_eq!(output.status.code(), Some(1));
        let object: Value = serde_json::from_slice(&output.stdout)?;
        let mut found = Vec::new();
        for error in object["errors"].as_array().ok_or("errors")? {
            let message = error["message"].as_str().and_then(|text| text.lines().next());
            let number = |name: &str| error[name].as_u64().unwrap_or(0);
            found.push((message.unwrap_or_default().to_owned(), number("line"), number("column")));
        }
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{}", path.display());
        seen += found.len();
    }
    assert!(seen > 60, "{seen}");
    Ok(())
}

#[allow(dead_code)]
mod pendulum {
    include!("fixtures/pendulum.rs");
}

#[allow(dead_code)]
mod triangle {
    include!("fixtures/triangle.rs");
}

/// What the formulas say is what is on the tape, but for what regions add.
#[test]
fn formulas_are_what_is_on_the_tape() -> Outcome {
    let mut workspace = stratape::Workspace::new();
    let mut close = |bytes: u64, run: &mut dyn FnMut(&mut stratape::Workspace) -> Outcome| {
        run(&mut workspace)?;
        let found = workspace.last_bytes();
        assert!((bytes..bytes + bytes / 10).contains(&found), "{found} where {bytes} were told");
        Outcome::Ok(())
    };
    close(24 * 1000, &mut |workspace| {
        pendulum::mean_energy_grad_in(workspace, 1.0, 0.0, 0.1, 1000, 1.0)?;
        Ok(())
    })?;
    let (mut u, mut du) = (vec![0.1; 200], vec![1.0; 200]);
    close(16 * 50 * 198, &mut |workspace| {
        pendulum::smooth_grad_in(workspace, &mut u, &mut du, 0.1, 50)?;
        Ok(())
    })?;
    close(8 * (300 * 299 / 2), &mut |workspace| {
        triangle::triangle_grad_in(workspace, 0.5, 300, 1.0)?;
        Ok(())
    })
}
