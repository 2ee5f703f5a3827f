//! `stratape tape`: the commands on tapes. `info` tells what a saved tape holds, and whether it is whole; `sweep` is in `tape_sweep.rs`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use stratape::tape::inspect;

use crate::failure::Failure;
use crate::tape_sweep;
use crate::units::{self, bytes};

/// Inspect saved tapes, and find what tapes have left in object stores.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Read a saved tape, verify its checksums and show what it holds.
    Info {
        /// A file written by `LayeredTape::save` or `RecordTape::save`.
        file: PathBuf,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    Sweep(tape_sweep::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Info { file, json } => info(file, *json),
        Command::Sweep(arguments) => tape_sweep::run(arguments),
    }
}

fn info(file: &Path, json: bool) -> Result<(), Failure> {
    if file.is_dir() {
        return Err(Failure::new(format!("{} is a directory; name a saved tape", file.display())));
    }
    let info = inspect(file).map_err(Failure::new)?;
    let text = if json {
        json!({
            "file": file.display().to_string(),
            "version": info.version,
            "element": info.element,
            "element_bytes": info.element_bytes,
            "elements": info.elements,
            "per_slab": info.per_slab,
            "slabs": info.slabs,
            "bytes": info.bytes,
            "file_bytes": info.file_bytes,
            "checksums": "verified",
        })
        .to_string()
    } else {
        let holds = match &info.element {
            Some(name) => {
                format!(
                    "{} of type `{name}`, {} each",
                    units::count(info.elements as u64, "element"),
                    units::count(info.element_bytes as u64, "byte")
                )
            }
            None => format!(
                "records, {} of {} bytes",
                units::count(info.elements as u64, "word"),
                info.element_bytes
            ),
        };
        format!(
            "holds      {holds}\nslabs      {} of {}\nbytes      {}, {} in the file\nformat     version {}\nchecksums  verified",
            info.slabs,
            bytes(info.per_slab * info.element_bytes),
            bytes(info.bytes),
            bytes(info.file_bytes),
            info.version
        )
    };
    writeln!(std::io::stdout(), "{text}").map_err(Failure::output)
}
