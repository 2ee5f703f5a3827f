//! Kernels through NVRTC, which needs no device: `LD_LIBRARY_PATH=$(ci/nvrtc) cargo test -p stratape-cuda --test nvrtc`.

#![allow(clippy::panic, clippy::unwrap_used)]

mod support;

use stratape_cuda::{GpuError, nvrtc};
use support::skipped;

/// With the parameters that launches pass.
const AXPY: &str = r#"
extern "C" __global__ void axpy(double* y, unsigned long long y_len, const double* x, unsigned long long x_len, double a,
                                unsigned char* stratape_tape, unsigned long long stratape_tape_bytes,
                                unsigned int* stratape_fault) {
#if STRATAPE_GRID_X_ONLY
  unsigned long long i = threadIdx.x + (unsigned long long)blockIdx.x * blockDim.x;
#else
  unsigned long long i = threadIdx.x + (unsigned long long)blockIdx.x * blockDim.x + 0 * threadIdx.y;
#endif
#if STRATAPE_CHECK
  if (i >= y_len && atomicCAS(stratape_fault, 0u, 1u) == 0u) stratape_fault[1] = threadIdx.x;
#endif
  if (i < x_len) y[i] += a * x[i];
}"#;

/// Whether the test is to go on; says so if it is not.
fn present() -> bool {
    if !nvrtc::is_present() {
        skipped("NVRTC not found");
    }
    nvrtc::is_present()
}

#[test]
fn ptx_for_two_architectures() {
    if !present() {
        return;
    }
    for arch in ["sm_80", "sm_90", "compute_80"] {
        let ptx = nvrtc::to_ptx(AXPY, arch, &[]).unwrap();
        assert!(ptx.contains(".entry axpy"), "{ptx}");
        assert!(ptx.contains(&format!(".target sm_{}", &arch[arch.len() - 2..])), "{ptx}");
        assert!(!ptx.contains('\0'));
    }
}

#[test]
fn macros_choose_what_is_compiled() {
    if !present() {
        return;
    }
    let plain = nvrtc::to_ptx(AXPY, "sm_80", &[]).unwrap();
    let checked = nvrtc::to_ptx(AXPY, "sm_80", &["STRATAPE_CHECK=1"]).unwrap();
    assert!(!plain.contains("atom."));
    assert!(checked.contains("atom."));
}

#[test]
fn errors_have_text_and_log() {
    if !present() {
        return;
    }
    let text = "extern \"C\" __global__ void k() {\n  nonsense;\n}";
    let error = nvrtc::to_ptx(text, "sm_80", &[]).unwrap_err();
    let GpuError::Compile { log, .. } = &error else { panic!("{error}") };
    assert!(log.contains("kernel.cu(2)") && log.contains("nonsense"), "{log}");
    assert!(error.to_string().contains("   2 |   nonsense;"));
    assert!(matches!(nvrtc::to_ptx(text, "sm_1", &[]), Err(GpuError::Compile { .. })));
    assert!(matches!(nvrtc::to_ptx("a\0b", "sm_80", &[]), Err(GpuError::Compile { .. })));
    assert!(matches!(nvrtc::to_ptx(AXPY, "sm_80", &["A\0=1"]), Err(GpuError::Compile { .. })));
}

#[test]
fn without_the_library_there_is_an_error() {
    if !nvrtc::is_present() {
        assert_eq!(nvrtc::to_ptx(AXPY, "sm_80", &[]), Err(GpuError::NvrtcMissing));
    }
}
