//! Devices that fail: a kernel that takes the device with it, too little memory, a driver without devices. The process is lost
//! with the device, so each case is one of its own.

#![allow(clippy::panic, clippy::unwrap_used)]

mod support;

use stratape_cuda::__private::{Arg, Fresh, Kernel, KernelText, Order, Param, Tape, launch};
use stratape_cuda::{Device, GpuError, Grid, ScalarType};

use support::{fake, is_child, passed, run, skipped};

const fn doubles(mutable: bool) -> Param {
    Param::Slice {
        scalar: ScalarType::F64,
        arity: 1,
        mutable,
        shadow_of: None,
        fresh: Fresh::Added,
    }
}

/// Writes far outside of `y` if `x` is longer, and nothing keeps it from that.
static AXPY: Kernel = Kernel::new(&KernelText {
    name: "axpy",
    language: "",
    cuda: r#"extern "C" __global__ void axpy(double* y, unsigned long long y_len, const double* x, unsigned long long x_len,
    double a, unsigned char* stratape_tape, unsigned long long stratape_tape_bytes, unsigned int* stratape_fault) {
  unsigned long long i = threadIdx.x;
  if (i < x_len) y[i < y_len ? i : i << 50] += a * x[i];
}"#,
    params: &[doubles(true), doubles(false), Param::Value(ScalarType::F64)],
    tape: Tape::None,
    constants: &[],
    dynamic_shared: 1,
    order: [Order::Free; 2],
    elect: None,
    checks: &[],
});

#[test]
fn illegal_access() {
    if !is_child() {
        return;
    }
    let device = Device::cuda(0).unwrap().checking(false);
    let host = vec![1.0; 64];
    let x = device.upload(&host).unwrap();
    let mut y = device.zeros::<f64>(32).unwrap();
    let mut args = [Arg::from(&mut y), Arg::from(&x), Arg::from(1.0)];
    // The launch itself goes well: the device finds out later.
    let launched = launch(&AXPY, &device, &Grid::blocks(1).threads(64), &mut args);
    let error = launched.and_then(|()| device.synchronize()).unwrap_err();
    assert!(matches!(error, GpuError::ContextLost { .. }), "{error}");
    assert!(error.to_string().contains("STRATAPE_GPU_CHECK=1"), "{error}");
    // Everything says the same from now on, and nothing crashes.
    assert!(matches!(x.download(), Err(GpuError::ContextLost { .. })));
    assert!(matches!(device.upload(&host), Err(GpuError::ContextLost { .. })));
    assert!(matches!(device.zeros::<f64>(1), Err(GpuError::ContextLost { .. })));
    let mut args = [Arg::from(&mut y), Arg::from(&x), Arg::from(1.0)];
    let again = launch(&AXPY, &device, &Grid::blocks(1).threads(64), &mut args);
    assert!(matches!(again, Err(GpuError::ContextLost { .. })));
    drop((x, y, device));
    assert_eq!(host, [1.0; 64]);
}

#[test]
fn little_memory() {
    if !is_child() {
        return;
    }
    let device = Device::cuda(0).unwrap();
    let x = device.zeros::<u8>(600_000).unwrap();
    let error = device.zeros::<u8>(600_000).unwrap_err();
    let GpuError::OutOfMemory { asked: 600_000, free } = error else { panic!("{error}") };
    assert!(free <= 400_000);
    drop(x);
    device.zeros::<u8>(600_000).unwrap();
}

#[test]
fn no_device() {
    if !is_child() {
        return;
    }
    assert!(matches!(Device::cuda(0), Err(GpuError::NoDevice { .. })));
    assert!(Device::new().unwrap().name().starts_with("emulator ("));
}

#[test]
fn no_compiler() {
    if !is_child() {
        return;
    }
    assert_eq!(Device::cuda(0).unwrap_err(), GpuError::NvrtcMissing);
    assert_eq!(Device::new().unwrap().name(), "emulator (NVRTC not found)");
}

#[test]
fn old_driver() {
    if !is_child() {
        return;
    }
    let error = Device::cuda(0).unwrap_err();
    assert!(matches!(error, GpuError::DriverTooOld { .. }), "{error}");
    assert!(Device::new().unwrap().name().contains("driver is too old"));
}

#[test]
fn on_a_cuda_device() {
    if is_child() {
        return;
    }
    match Device::cuda(0) {
        Ok(_) => {
            let directory = tempfile::tempdir().unwrap();
            passed(&run("illegal_access", directory.path(), &[]));
        }
        Err(error) => skipped(&error.to_string()),
    }
}

#[test]
fn on_a_made_up_driver() {
    let directory = tempfile::tempdir().unwrap();
    if is_child() {
        return;
    }
    let Some(libraries) = fake(directory.path()) else { return };
    let path = ("LD_LIBRARY_PATH", libraries.to_str().unwrap());
    passed(&run("illegal_access", directory.path(), &[path]));
    let said = passed(&run("little_memory", directory.path(), &[path, ("FAKE_MEMORY", "1000000")]));
    assert!(!said.contains("leaked:"), "{said}");
    passed(&run("no_device", directory.path(), &[path, ("FAKE_DEVICES", "0")]));

    // A library without functions: first in the place of NVRTC, then in that of the driver.
    let (cuda, nvrtc) = (libraries.join("libcuda.so"), libraries.join("libnvrtc.so"));
    let empty = directory.path().join("empty.c");
    std::fs::write(&empty, "int nothing;").unwrap();
    let build = |library| {
        let mut cc = std::process::Command::new("cc");
        passed(&cc.args(["-shared", "-o"]).arg(library).arg(&empty).output().unwrap());
    };
    build(&nvrtc);
    passed(&run("no_compiler", directory.path(), &[path]));
    build(&cuda);
    passed(&run("old_driver", directory.path(), &[path]));
}
