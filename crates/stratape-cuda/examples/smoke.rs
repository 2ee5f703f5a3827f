//! Whether a CUDA device works: copies, a launch, its checks, and how long a kernel takes to be ready in the first and in the
//! second start of a program.
//!
//! ```sh
//! cargo run --release -p stratape-cuda --example smoke
//! ```

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use stratape_cuda::__private::{Arg, Fresh, Kernel, KernelText, Order, Param, Tape, launch};
use stratape_cuda::{Device, GpuError, Grid, ScalarType, Stream};

const fn doubles(mutable: bool) -> Param {
    Param::Slice {
        scalar: ScalarType::F64,
        arity: 1,
        mutable,
        shadow_of: None,
        fresh: Fresh::Added,
    }
}

/// What `#[stratape::kernel]` would make of an axpy.
static AXPY: Kernel = Kernel::new(&KernelText {
    name: "axpy",
    language: "",
    cuda: r#"extern "C" __global__ void axpy(double* y, unsigned long long y_len, const double* x, unsigned long long x_len,
    double a, unsigned char* stratape_tape, unsigned long long stratape_tape_bytes, unsigned int* stratape_fault) {
  unsigned long long i = threadIdx.x + (unsigned long long)blockIdx.x * blockDim.x;
  if (i >= x_len) return;
#if STRATAPE_CHECK
  if (i >= y_len) {
    if (atomicCAS(stratape_fault, 0u, 1u) == 0u) {
      stratape_fault[1] = threadIdx.x;
      stratape_fault[4] = blockIdx.x;
    }
    return;
  }
#endif
  y[i] += a * x[i];
}"#,
    params: &[doubles(true), doubles(false), Param::Value(ScalarType::F64)],
    tape: Tape::None,
    constants: &[],
    dynamic_shared: 1,
    order: [Order::Free; 2],
    elect: None,
    checks: &["index of `y`"],
});

const N: usize = 1 << 24;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::var_os("STRATAPE_SMOKE").is_some() {
        return Ok(smoke()?);
    }
    let cache = tempfile::tempdir()?;
    for start in ["first start", "second start"] {
        println!("{start}");
        let mut again = Command::new(std::env::current_exe()?);
        again.env("STRATAPE_SMOKE", "1").env("STRATAPE_CACHE", cache.path());
        if !again.status()?.success() {
            return Err(format!("the {start} failed").into());
        }
    }
    Ok(())
}

fn smoke() -> Result<(), GpuError> {
    let opened = Instant::now();
    let gpu = Device::new()?;
    println!("  device            {gpu}, opened in {:.1} ms", milliseconds(opened));
    if gpu.is_emulator() {
        println!("  nothing to do: the kernel of this example is written in CUDA C++");
        return Ok(());
    }
    let host: Vec<f64> = (0..N).map(|i| (i % 1000) as f64).collect();
    let (mut y, x) = (gpu.zeros::<f64>(N)?, gpu.upload(&host)?);
    let grid = Grid::blocks(N.div_ceil(256)).threads(256);

    let compiled = Instant::now();
    launch(&AXPY, &gpu, &grid, &mut [Arg::from(&mut y), Arg::from(&x), Arg::from(2.0)])?;
    println!(
        "  first launch      {:.2} ms, with its compilation or its file",
        milliseconds(compiled)
    );
    gpu.synchronize()?;

    let runs = 100;
    let running = Instant::now();
    for _ in 0..runs {
        launch(&AXPY, &gpu, &grid, &mut [Arg::from(&mut y), Arg::from(&x), Arg::from(0.0)])?;
    }
    let queued = milliseconds(running) / f64::from(runs);
    gpu.synchronize()?;
    let each = milliseconds(running) / f64::from(runs);
    println!(
        "  later launches    {:.1} µs to put on the stream, {:.1} µs to run, {:.0} GB/s",
        1e3 * queued,
        1e3 * each,
        24e-6 * N as f64 / each
    );

    let stream = Stream::new(&gpu)?;
    let on = grid.clone().stream(&stream);
    launch(&AXPY, &gpu, &on, &mut [Arg::from(&mut y), Arg::from(&x), Arg::from(1.0)])?;

    let copying = Instant::now();
    let result = y.download()?;
    println!("  download          {:.1} GB/s", 8e-6 * N as f64 / milliseconds(copying));
    let copying = Instant::now();
    y.write(&result)?;
    println!("  upload            {:.1} GB/s", 8e-6 * N as f64 / milliseconds(copying));
    let wrong = result.iter().zip(&host).filter(|(y, x)| **y != 3.0 * **x).count();
    println!("  results           {wrong} of {N} are wrong");

    let mut short = gpu.zeros::<f64>(N - 1)?;
    let args = &mut [Arg::from(&mut short), Arg::from(&x), Arg::from(1.0)];
    let fault = launch(&AXPY, &gpu.clone().checking(true), &grid, args);
    match &fault {
        Err(GpuError::Fault(fault)) => println!("  checks            {fault}"),
        other => println!("  checks            found nothing: {other:?}"),
    }
    if wrong > 0 || fault.is_ok() {
        return Err(GpuError::Unsupported(format!("{gpu} computes something else")));
    }
    Ok(())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
