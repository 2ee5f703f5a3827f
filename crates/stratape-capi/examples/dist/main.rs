//! Makes a directory to build C and C++ programs against: `cargo run --release -p stratape-capi --example dist -- DIRECTORY`.

#![forbid(unsafe_code)]

mod package;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(directory), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: cargo run --release -p stratape-capi --example dist -- DIRECTORY");
        return ExitCode::from(2);
    };
    let directory = PathBuf::from(directory);
    let made = package::libraries()
        .and_then(|from| package::make(Path::new(env!("CARGO_MANIFEST_DIR")), &from, &directory));
    match made {
        Ok(()) => {
            println!(
                "{0}: include, lib, lib/pkgconfig/stratape.pc, lib/cmake/stratape",
                directory.display()
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
