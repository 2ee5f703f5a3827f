//! `stratape bench` and `stratape model`: programs of their own, which are built when they are first asked for in a checkout.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use stratape_console::failure::Failure;

/// Run the benchmarks on this machine and draw each ratio as a bar.
///
/// Runs the program stratape-bench: in a checkout of Stratape the one of the checkout, built at the first call (two minutes); elsewhere the one beside this
/// command or on the PATH.
///
/// Suites: programs (the default), tape, checkpoint, tapeflow, lulesh, gpu, cpp. Options, among others: --quick for seconds instead of minutes, --only TEXT,
/// --json for one JSON object per measurement, --save FILE, --compare FILE. All of them: stratape bench -- --help.
#[derive(Args)]
pub(crate) struct Bench {
    /// Suites and options of stratape-bench.
    #[arg(value_name = "SUITE|OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Bench {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut command = program("stratape-bench")?;
        if !self.arguments.iter().any(|argument| argument == "--json") {
            command.arg("--bars");
        }
        command.args(self.arguments.iter().filter(|argument| *argument != "--json"));
        replaced_by(command)
    }
}

/// Run gradients on a modelled accelerator: TapeFlow's scratchpad and streams, or a cache alone.
///
/// Runs the program stratape-model: in a checkout of Stratape the one of the checkout, built at the first call (a minute); elsewhere the one beside this
/// command or on the PATH.
///
/// Commands: run PROGRAM, a gradient's cycles, misses, traffic and energy; paper, the TapeFlow paper's programs and figures. Options: stratape model run --help.
#[derive(Args)]
pub(crate) struct Model {
    /// A command of stratape-model, with its options.
    #[arg(value_name = "COMMAND|OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Model {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut command = program("stratape-model")?;
        command.args(&self.arguments);
        replaced_by(command)
    }
}

/// The program of a package that is called as the program is, ready to be given its arguments.
fn program(name: &str) -> Result<Command, Failure> {
    if let Some(checkout) =
        env::current_dir().ok().as_deref().and_then(|folder| checkout(folder, name))
    {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["run", "--quiet", "--release", "--package", name, "--manifest-path"]);
        command.arg(checkout.join("Cargo.toml")).arg("--");
        return Ok(command);
    }
    installed(name).map(Command::new).ok_or_else(|| {
        let how = name.replacen('-', " ", 1);
        Failure::new(format!(
            "{name} is neither beside this command nor on the PATH; install it with \
             `cargo install --path crates/{name}` in a checkout of Stratape, or run `{how}` there"
        ))
    })
}

/// The checkout that a directory is in, if it has the package.
fn checkout<'a>(directory: &'a Path, package: &str) -> Option<&'a Path> {
    directory
        .ancestors()
        .find(|above| above.join("crates").join(package).join("Cargo.toml").is_file())
}

/// The program beside this one, or the first on the PATH.
fn installed(name: &str) -> Option<PathBuf> {
    let beside = env::current_exe().ok().and_then(|own| own.parent().map(Path::to_owned));
    let path = env::var_os("PATH").unwrap_or_default();
    beside
        .into_iter()
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(format!("{name}{EXE_SUFFIX}")))
        .find(|file| file.is_file())
}

/// Ends as the command ends. Ctrl-C reaches it directly.
#[cfg(unix)]
fn replaced_by(mut command: Command) -> Result<(), Failure> {
    use std::os::unix::process::CommandExt;
    Err(cannot_run(&command.exec(), &command))
}

#[cfg(not(unix))]
fn replaced_by(mut command: Command) -> Result<(), Failure> {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => Err(cannot_run(&error, &command)),
    }
}

fn cannot_run(error: &io::Error, command: &Command) -> Failure {
    Failure::new(format!("{} cannot be run: {error}", command.get_program().display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_is_found_from_inside() {
        let inside = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let found =
            checkout(&inside, "stratape-bench").map(|found| found.join("crates/stratape-cli/src"));
        assert_eq!(found.as_deref(), Some(&*inside));
        assert_eq!(checkout(Path::new("/"), "stratape-bench"), None);
    }
}
