//! `stratape explain`: what the tape of a gradient holds, and why.

mod dot;
mod json;
mod kernel;
mod notes;
mod picture;
mod source;
mod tape;
mod text;

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stratape_compiler::explain::{Explanation, Subject, Survey, explain, shown, survey, survey_of};

pub(crate) use self::notes::notes;
use self::source::Source;
use crate::failure::Failure;
use crate::terminal::colours;

/// Show what each gradient saves, and why.
///
/// Also shows what it recomputes, and which loops have independent iterations.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A Rust source file with functions under `#[gradient]`.
    file: PathBuf,
    /// Explain only this function.
    function: Option<String>,
    /// Print a stage of the compilation instead.
    #[arg(long, value_name = "STAGE", conflicts_with = "json")]
    emit: Option<Stage>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Stage {
    /// The function in the intermediate language, simplified.
    Ir,
    /// Its gradient in the intermediate language.
    Adjoint,
    /// The gradient with the schedules of its loops: strips, blocks, parts.
    Lowered,
    /// What each pass changed or left unchanged, by source line.
    Remarks,
    /// The Rust code that `#[gradient]` generates.
    Rust,
    /// The CUDA C++ of a kernel's gradient, or of the kernel if it has none.
    Cuda,
    /// The values the backward pass needs and their sources, as a Graphviz graph.
    Dot,
    /// The layout of the tape, and which loop writes and reads each part.
    Tape,
    /// A drawing of how layers are filled and read back, as SVG. For one function.
    Layers,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match explain_file(arguments) {
        // Whoever asked for JSON reads the answer from there, also if there is none.
        Err(Failure::Message(message)) if arguments.json => {
            let errors = json::error(&arguments.file, &message);
            writeln!(std::io::stdout(), "{errors}").map_err(Failure::output)?;
            Err(Failure::Reported)
        }
        other => other,
    }
}

fn explain_file(arguments: &Arguments) -> Result<(), Failure> {
    let source = Source::read(&arguments.file)?;
    let file = match syn::parse_file(source.text()) {
        Ok(file) => file,
        Err(error) => return Err(refuse(arguments, &source, &not_rust(&source, error))),
    };
    let mut survey = match &arguments.function {
        Some(name) => survey_of(&file, name),
        None => survey(&file),
    };
    let kernels = kernel::kernels(&file, arguments.function.as_deref());
    if kernels.is_empty() || !survey.subjects.is_empty() || !survey.errors.is_empty() {
        select(arguments, &source, &mut survey)?;
    }
    survey.errors.extend(kernel::errors(&kernels));
    if !survey.errors.is_empty() {
        return Err(refuse(arguments, &source, &survey.errors));
    }
    let of_kernels = kernel::report(&kernels, arguments.emit, &source)?;
    if survey.subjects.is_empty() && !kernels.is_empty() {
        if arguments.json {
            let message = "a kernel has no JSON: `--emit adjoint`, `--emit cuda`, or no option";
            return Err(Failure::new(message.to_owned()));
        }
        return writeln!(std::io::stdout(), "{}", of_kernels.trim_end()).map_err(Failure::output);
    }
    let text = match arguments.emit {
        Some(stage) => emitted(stage, &source, &survey.subjects)?,
        None => {
            let explanations: Vec<Explanation> = survey.subjects.iter().map(explain).collect();
            if arguments.json {
                json::report(&source, &explanations).to_string()
            } else {
                text::report(&source, &explanations, colours(&std::io::stdout()))
            }
        }
    };
    let text = match (of_kernels.is_empty(), arguments.json) {
        (false, false) => format!("{}\n\n{of_kernels}", text.trim_end()),
        _ => text,
    };
    writeln!(std::io::stdout(), "{}", shown(&text).trim_end()).map_err(Failure::output)
}

/// What keeps a text from being Rust. A bracket or quote without its other end is told by the lexer, which knows where it stands.
fn not_rust(source: &Source, error: syn::Error) -> Vec<syn::Error> {
    if let Err(error) = source.text().parse::<proc_macro2::TokenStream>() {
        let message = "this is not Rust: a bracket or a quote has no other end, or a character cannot stand here";
        return vec![syn::Error::new(error.span(), message)];
    }
    let named =
        |error: syn::Error| syn::Error::new(error.span(), format!("this is not Rust: {error}"));
    error.into_iter().map(named).collect()
}

/// Leaves the function that was asked for.
fn select(arguments: &Arguments, source: &Source, survey: &mut Survey) -> Result<(), Failure> {
    let path = source.path();
    let names = survey.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match &arguments.function {
        _ if names.is_empty() && survey.errors.is_empty() => Err(Failure::new(format!(
            "there is no function under `#[gradient]` in {path}; write `#[gradient]` above the one to explain"
        ))),
        Some(wanted) if !survey.names.contains(wanted) && !names.is_empty() => {
            Err(Failure::new(format!(
                "there is no function `{wanted}` under `#[gradient]` in {path}; there is {names}"
            )))
        }
        Some(wanted) => {
            survey.subjects.retain(|subject| subject.item.sig.ident == wanted);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Reports what the attributes complain of, as rustc would.
fn refuse(arguments: &Arguments, source: &Source, errors: &[syn::Error]) -> Failure {
    if arguments.json {
        let told = writeln!(std::io::stdout(), "{}", json::errors(source, errors));
        return told.map_or_else(Failure::output, |()| Failure::Reported);
    }
    let text = text::errors(source, errors, colours(&std::io::stderr()));
    let told = writeln!(std::io::stderr(), "{text}");
    told.map_or_else(Failure::output, |()| Failure::Reported)
}

fn emitted(stage: Stage, source: &Source, subjects: &[Subject]) -> Result<String, Failure> {
    let mut text = String::new();
    if let (Stage::Layers, [first, second, ..]) = (stage, subjects) {
        return Err(Failure::new(format!(
            "a picture shows one function: say which, `{}` or `{}`, …",
            first.item.sig.ident, second.item.sig.ident
        )));
    }
    for subject in subjects {
        let compiled = &subject.compiled;
        let written = match stage {
            Stage::Ir => compiled
                .loops
                .iter()
                .try_for_each(|one| writeln!(text, "{}", one.time_loop.body))
                .and_then(|()| writeln!(text, "{}", compiled.primal)),
            Stage::Adjoint => compiled
                .loops
                .iter()
                .try_for_each(|one| writeln!(text, "{}", one.gradient.function))
                .and_then(|()| writeln!(text, "{}", compiled.gradient.function)),
            Stage::Lowered => compiled
                .loops
                .iter()
                .try_for_each(|one| writeln!(text, "{}", one.lowered))
                .and_then(|()| writeln!(text, "{}", compiled.lowered)),
            Stage::Remarks => remarks(source, subject, &mut text),
            Stage::Dot => writeln!(text, "{}", dot::digraph(source, subject)),
            Stage::Tape => writeln!(text, "{}", tape::schedule(source, subject)),
            Stage::Layers => writeln!(text, "{}", picture::layers(source, subject)),
            // Only kernels have it.
            Stage::Cuda => Ok(()),
            Stage::Rust => {
                let file = syn::parse2(subject.tokens.clone()).map_err(Failure::new)?;
                writeln!(text, "{}", prettyplease::unparse(&file))
            }
        };
        written.map_err(Failure::new)?;
    }
    Ok(text)
}

/// What the passes say, in the order of the source.
fn remarks(source: &Source, subject: &Subject, text: &mut String) -> std::fmt::Result {
    let mut lines: Vec<(usize, usize, String)> = Vec::new();
    for remark in &subject.compiled.remarks {
        let place = source.place(subject.sources.span(remark.span));
        let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
        let how = if remark.applied { "" } else { "not applied: " };
        lines.push((line, column, format!("{}: {how}{}", remark.pass, remark.message)));
    }
    lines.sort();
    lines.dedup();
    writeln!(text, "{}", subject.item.sig.ident)?;
    for (line, column, message) in lines {
        writeln!(text, "  {}:{line}:{column}: {message}", source.path())?;
    }
    Ok(())
}
