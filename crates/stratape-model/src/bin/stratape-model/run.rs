//! `stratape-model run`: a gradient on a modelled accelerator with a scratchpad for the tape, beside one without.

use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use stratape_compiler::driver::Saving;
use stratape_console::failure::Failure;
use stratape_model::paper::Benchmark;
use stratape_model::{Barrier, Layout, Machine, ModelError, Program, Report, size};

/// Run the gradient of one function: cycles, misses, DRAM lines by class of data, energy.
#[derive(Args)]
pub(crate) struct Arguments {
    /// One of the paper's nine programs, or a Rust file.
    program: String,
    /// The function in the file; required if several are under `#[gradient]`.
    function: Option<String>,
    /// Size of the cache: 1k, 2k, 4k, … 128k.
    #[arg(long, default_value = "32k")]
    cache: String,
    /// Size of the scratchpad for the tape; 0: none, the paper's baseline.
    #[arg(long, default_value = "512")]
    spad: String,
    /// Layout of the tape in memory if there is no scratchpad.
    #[arg(long, value_enum, default_value = "aos")]
    layout: LayoutName,
    /// Which values are saved: all that the backward pass needs, as in the paper, or only those that are cheaper to save than to recompute.
    #[arg(long, value_enum, default_value = "minimal")]
    saved: SavedName,
    /// What waits at the end of a layer.
    #[arg(long, value_enum, default_value = "tape")]
    barrier: BarrierName,
    /// The length of a list or the value of a number, as in `x=1000`. Default: 64.
    #[arg(long = "set", value_name = "PARAMETER=NUMBER")]
    settings: Vec<String>,
    /// Limit on the steps of the program, in millions; 5 take about a second.
    #[arg(long, value_name = "MILLIONS", default_value_t = 100)]
    steps: u32,
    /// Use smaller inputs for the nine programs.
    #[arg(long)]
    quick: bool,
    /// Print comma-separated values: a line of names and a line of figures.
    #[arg(long)]
    csv: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum LayoutName {
    /// Array of structs: records side by side.
    Aos,
    /// Struct of arrays: one array for each saved value.
    Soa,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SavedName {
    All,
    Minimal,
}

impl From<SavedName> for Saving {
    fn from(name: SavedName) -> Self {
        match name {
            SavedName::All => Self::All,
            SavedName::Minimal => Self::Minimal,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum BarrierName {
    /// Accesses to the tape.
    Tape,
    /// Everything.
    Everything,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let spad = size(&arguments.spad).map_err(Failure::new)?;
    let machine = Machine::default().with_cache(&arguments.cache).map_err(Failure::new)?;
    let barrier = match arguments.barrier {
        BarrierName::Tape => Barrier::Tape,
        BarrierName::Everything => Barrier::Everything,
    };
    let machine = Machine { barrier, ..machine.with_scratchpad(spad) };
    machine.check().map_err(Failure::new)?;
    let layout = match arguments.layout {
        LayoutName::Aos => Layout::Records,
        LayoutName::Soa => Layout::Columns,
    };
    let mut program = program(arguments)?;
    program.steps = u64::from(arguments.steps) * 1_000_000;
    let report = program.run(&machine, layout).map_err(|error| {
        let told = error.to_string();
        Failure::new(told.replace("allow more steps", "allow more with `--steps`"))
    })?;
    let text = match arguments.csv {
        true => format!("{}\n{}", Report::csv_header(), report.csv()),
        false => report.to_string(),
    };
    writeln!(std::io::stdout(), "{}", text.trim_end()).map_err(Failure::output)
}

/// The program that is named.
fn program(arguments: &Arguments) -> Result<Program, Failure> {
    let saved = arguments.saved.into();
    let path = Path::new(&arguments.program);
    if path.extension().is_none() && !path.exists() {
        if arguments.function.is_some() {
            let message = format!(
                "`{}` is one of the paper's programs, which have one function each; for a file write its path",
                arguments.program
            );
            return Err(Failure::new(message));
        }
        if !arguments.settings.is_empty() {
            let message = "`--set` is for files; the inputs of the nine programs are those of the paper, or smaller ones with `--quick`";
            return Err(Failure::new(message));
        }
        let benchmark = Benchmark::named(&arguments.program).map_err(|error| match error {
            ModelError::Program { message, .. } => Failure::new(format!(
                "`{}` is neither a file nor one of the paper's programs: {}",
                arguments.program,
                message.trim_start_matches("there is no such program: ")
            )),
            error => Failure::new(error),
        })?;
        return benchmark.program(saved, arguments.quick).map_err(Failure::new);
    }
    if arguments.quick {
        let message =
            "`--quick` is for the paper's programs; for a file, `--set` says how long lists are";
        return Err(Failure::new(message));
    }
    let source = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    let name = match &arguments.function {
        Some(name) => name.clone(),
        None => only_function(&source)?,
    };
    let settings: Vec<(&str, f64)> =
        arguments.settings.iter().map(|text| setting(text)).collect::<Result<_, _>>()?;
    Program::compile(&source, &name, saved, &settings).map_err(Failure::new)
}

/// The function under `#[gradient]` of a source that has one.
fn only_function(source: &str) -> Result<String, Failure> {
    let file = syn::parse_file(source)
        .map_err(|error| Failure::new(format!("this is not Rust: {error}")))?;
    let names = stratape_compiler::explain::survey(&file).names;
    match names.as_slice() {
        [name] => Ok(name.clone()),
        [] => Err(Failure::new("there is no function under `#[gradient]` in this file")),
        names => Err(Failure::new(format!("name one of the functions: {}", names.join(", ")))),
    }
}

fn setting(text: &str) -> Result<(&str, f64), Failure> {
    let found = text.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?)));
    found.ok_or_else(|| {
        Failure::new(format!(
            "`--set {text}`: write a parameter and a number, as in `--set x=1000`"
        ))
    })
}
