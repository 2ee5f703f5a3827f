//! Programs as an outsider writes them, right and wrong, against nothing but the documentation. What is known to fail is at the end,
//! ignored, each with its reason.

#![allow(clippy::expect_used, clippy::panic)]

mod support;

use std::process::Command;

use support::{SANITIZE, STRICT, SYSTEM, compile_and_run, distribution, root, sanitizes, tool};

/// A program in C, under sanitizers.
fn c(source: &str) {
    let Some(compiler) = tool("gcc", "gcc") else { return };
    let mut flags = vec!["-std=gnu11", "-pedantic"];
    if sanitizes(&compiler) {
        flags.extend(SANITIZE);
    }
    compile_and_run(&compiler, source, &flags);
}

/// A program in C++, under sanitizers.
fn cpp(source: &str, more: &[&str]) {
    let Some(compiler) = tool("g++", "g++") else { return };
    let mut flags = more.to_vec();
    flags.push("-pedantic");
    if sanitizes(&compiler) {
        flags.extend(SANITIZE);
    }
    if cfg!(debug_assertions) {
        flags.push("-DLIBRARY_DEBUG");
    }
    compile_and_run(&compiler, source, &flags);
}

#[test]
fn every_function_with_every_wrong_handle() {
    c("c/handles.c");
}

#[test]
fn sizes_marks_cursors_and_options_at_their_limits() {
    c("c/sizes.c");
}

#[test]
fn records_regions_and_blocks() {
    c("c/records.c");
}

#[test]
fn schedules_driven_rightly_and_wrongly() {
    c("c/schedules.c");
}

#[test]
fn files_missing_damaged_and_cut_off() {
    c("c/files.c");
}

#[test]
fn threads_lanes_forks_and_very_many_tapes() {
    c("c/threads.c");
}

/// Without sanitizers, which take most of the time here: `objects.cpp` has them.
#[test]
fn elements_of_all_kinds() {
    let Some(compiler) = tool("g++", "g++") else { return };
    compile_and_run(&compiler, "cpp/types.cpp", &["-std=c++17", "-pedantic"]);
}

#[test]
fn every_element_by_index_against_a_vector() {
    cpp("cpp/indexes.cpp", &["-std=c++20"]);
}

#[test]
fn constructors_disks_and_environments_that_fail() {
    cpp("cpp/failures.cpp", &["-std=c++14"]);
}

#[test]
fn threads_from_cpp() {
    cpp("cpp/threads.cpp", &["-std=c++14", "-DSTRATAPE_DEBUG"]);
}

/// With both compilers: what differs is the optimiser.
#[test]
fn generated_looking_code() {
    cpp("cpp/clad_shapes.cpp", &["-std=c++14"]);
    if let Some(compiler) = tool("clang++", "clang") {
        compile_and_run(&compiler, "cpp/clad_shapes.cpp", &["-std=c++17", "-O3"]);
    }
}

/// Two files that include everything, and a third without exceptions, in one program.
#[test]
fn several_files_of_one_program() {
    let Some(compiler) = tool("g++", "g++") else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let sources = root().join("tests/cpp");
    let mut objects = Vec::new();
    for (name, source, more) in [
        ("a.o", "two_files_a.cpp", [].as_slice()),
        ("b.o", "two_files_b.cpp", &[]),
        ("c.o", "two_files_b.cpp", &["-DWITHOUT", "-fno-exceptions", "-fno-rtti"]),
    ] {
        let object = directory.path().join(name);
        support::run(
            Command::new(&compiler)
                .args(STRICT)
                .args(["-std=c++14", "-c", "-I"])
                .arg(distribution().join("include"))
                .args(more)
                .arg(sources.join(source))
                .arg("-o")
                .arg(&object),
        );
        objects.push(object);
    }
    let program = directory.path().join("program");
    support::run(
        Command::new(&compiler)
            .args(&objects)
            .arg(distribution().join("lib/libstratape.a"))
            .args(SYSTEM)
            .arg("-o")
            .arg(&program),
    );
    support::run(&mut Command::new(&program));
}

fn fault(number: u32) {
    cpp("cpp/faults.cpp", &["-std=c++17", "-O1", &format!("-DFAULT={number}")]);
}

#[test]
fn fault_1_an_index_above_the_first_block() {
    fault(1);
}

#[test]
fn fault_2_two_elements_at_once() {
    fault(2);
}

#[test]
fn fault_3_a_popped_array_of_objects_is_pushed_again() {
    fault(3);
}

#[test]
fn fault_4_large_elements_in_a_recursion() {
    fault(4);
}

#[test]
fn fault_5_refresh_once_too_often() {
    fault(5);
}

#[test]
#[ignore = "on a full disk a tape can be popped, but neither indexed nor saved"]
fn fault_7_reading_and_saving_when_the_disk_is_full() {
    fault(7);
}

#[test]
fn fault_8_a_budget_without_a_disk() {
    fault(8);
}
