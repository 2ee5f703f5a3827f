//! What environment variables make of a device. A process has one environment: each case is a process of its own.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::process::Command;

use stratape_cuda::Device;

/// Runs the test `child` of this file with these variables, and returns what it prints.
fn device_with(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]).env("STRATAPE_TEST_CHILD", "1");
    for name in ["STRATAPE_GPU", "STRATAPE_GPU_CHECK"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines().filter_map(|line| line.split_once("device: "));
    lines.next().unwrap().1.to_owned()
}

#[test]
fn child() {
    if std::env::var_os("STRATAPE_TEST_CHILD").is_none() {
        return;
    }
    match Device::new() {
        Ok(device) => {
            // Two handles are of one device, so that buffers of the one can be used with the other.
            assert_eq!(device, Device::new().unwrap());
            println!("\ndevice: {device}, checking {}", device.is_checking());
        }
        Err(error) => println!("\ndevice: error: {error}"),
    }
}

#[test]
fn the_emulator_can_be_asked_for() {
    let said = device_with(&[("STRATAPE_GPU", "emulator")]);
    assert_eq!(said, "emulator (as STRATAPE_GPU asks), checking true");
    let said = device_with(&[("STRATAPE_GPU", "emulator"), ("STRATAPE_GPU_CHECK", "0")]);
    assert_eq!(said, "emulator (as STRATAPE_GPU asks), checking false");
}

#[test]
fn a_device_can_be_insisted_on() {
    let said = device_with(&[("STRATAPE_GPU", "cuda")]);
    assert!(said.starts_with("error: ") || said.contains("(CUDA device 0)"), "{said}");
}

#[test]
fn without_a_device_the_name_says_why() {
    let said = device_with(&[]);
    assert!(said.starts_with("emulator (") || said.contains("(CUDA device 0)"), "{said}");
    let checked = device_with(&[("STRATAPE_GPU_CHECK", "1")]);
    assert!(checked.ends_with("checking true"), "{checked}");
}

#[test]
fn other_words_are_refused() {
    let said = device_with(&[("STRATAPE_GPU", "metal")]);
    assert!(said.contains("`metal`") && said.contains("`emulator`"), "{said}");
}
