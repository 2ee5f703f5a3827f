//! Prints what becomes of a function: `show FILE.rs [FUNCTION [WRT,…]] [--ir|--choices|--adjoint|--rust]`.

use std::process::ExitCode;

use stratape_compiler::{adjoint, back, front};

fn main() -> ExitCode {
    match show() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn show() -> Result<(), Box<dyn std::error::Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let stage = words.iter().position(|word| word.starts_with("--")).map(|at| words.remove(at));
    let stage = stage.as_deref().unwrap_or("--rust");
    let path = words.first().ok_or("show FILE.rs [FUNCTION] [--ir|--adjoint|--rust]")?;
    let file = syn::parse_file(&std::fs::read_to_string(path)?)?;
    let options = front::Options { module: front::Module::collect(&file.items)? };
    for item in &file.items {
        let syn::Item::Fn(function) = item else { continue };
        let marked = function.attrs.iter().any(|attribute| {
            attribute.path().segments.last().is_some_and(|segment| segment.ident == "gradient")
        });
        if words.get(1).map_or(!marked, |name| function.sig.ident != name) {
            continue;
        }
        let mut primal = front::lower(function, &options)?;
        for time_loop in stratape_compiler::outline::outline(&mut primal)? {
            println!("// the body of a loop under #[checkpoint]\n{}", time_loop.body);
        }
        stratape_compiler::passes::simplify(&mut primal);
        stratape_compiler::analysis::mark_parallel(&mut primal, None)
            .map_err(|conflict| conflict.message)?;
        stratape_compiler::ir::check_definitions(&primal)?;
        if stage == "--ir" {
            println!("{primal}");
            continue;
        }
        let wrt = words.get(2).map(|names| names.split(',').map(str::to_owned).collect());
        let gradient = adjoint::differentiate(&primal, &adjoint::Options { wrt, name: None });
        if stage == "--choices" {
            for choice in &gradient.choices {
                let name =
                    primal.values.get(choice.value.index()).and_then(|value| value.name.clone());
                println!("{:?} {}: {:?}", choice.value, name.unwrap_or_default(), choice.saved);
            }
        } else if stage == "--adjoint" {
            println!("{}", gradient.function);
        } else {
            let tokens = back::rust::emit(function, &primal, &gradient);
            println!("{}", prettyplease::unparse(&syn::parse2(tokens)?));
        }
        stratape_compiler::ir::check(&gradient.function)?;
    }
    Ok(())
}
