//! Launches of hand-written kernels: on a CUDA device if there is one, and on the made-up driver of `tests/fake`, which knows
//! these kernels by name and ends the process at any access that is not ordered by events.

#![allow(clippy::panic, clippy::unwrap_used)]

mod support;

use std::thread;

use stratape_cuda::__private::{Arg, Fresh, Kernel, KernelText, Order, Param, Tape, launch};
use stratape_cuda::{Buffer, Device, FaultKind, GpuError, Grid, ScalarType, Stream, fresh};

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
      stratape_fault[1] = threadIdx.x; stratape_fault[2] = threadIdx.y; stratape_fault[3] = threadIdx.z;
      stratape_fault[4] = blockIdx.x; stratape_fault[5] = blockIdx.y; stratape_fault[6] = blockIdx.z;
      stratape_fault[7] = 0;
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

const WALK: &str = r#"extern "C" __global__ void walk(double* out, unsigned long long out_len, unsigned long long n,
    unsigned char* stratape_tape, unsigned long long stratape_tape_bytes, unsigned int* stratape_fault) {
  unsigned long long t = threadIdx.x + (unsigned long long)blockIdx.x * blockDim.x;
  double* mine = (double*)(stratape_tape + t * stratape_tape_bytes);
  double sum = 0;
  for (unsigned long long k = 0; k < n; ++k) {
    if ((k + 1) * 8 > stratape_tape_bytes) {
      if (atomicCAS(stratape_fault, 0u, 3u) == 0u) { stratape_fault[1] = threadIdx.x; stratape_fault[4] = blockIdx.x; }
      break;
    }
    mine[k] = (double)k;
    sum += mine[k];
  }
  out[t] = sum;
}"#;

const WALK_PARAMS: &[Param] = &[doubles(true), Param::Value(ScalarType::Usize)];

const fn walk(tape: Tape) -> KernelText {
    KernelText {
        name: "walk",
        language: "",
        cuda: WALK,
        params: WALK_PARAMS,
        tape,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &[],
    }
}

/// Ten doubles a thread.
static WALK_TEN: Kernel = Kernel::new(&walk(Tape::PerThread(80)));
static WALK_A_HUNDRED: Kernel = Kernel::new(&walk(Tape::PerThread(800)));
static WALK_ANY: Kernel = Kernel::new(&walk(Tape::Unknown));

fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs()), "{a:?} {b:?}");
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64 * 0.5 + 1.0).collect()
}

fn axpy(
    device: &Device,
    grid: &Grid,
    y: &mut Buffer<f64>,
    x: &Buffer<f64>,
    a: f64,
) -> Result<(), GpuError> {
    launch(&AXPY, device, grid, &mut [Arg::from(y), Arg::from(x), Arg::from(a)])
}

fn computes(device: &Device) {
    let host = numbers(1000);
    let x = device.upload(&host).unwrap();
    let mut y = device.zeros(1000).unwrap();
    for device in [device.clone(), device.clone().checking(true)] {
        axpy(&device, &Grid::blocks(4).threads(256), &mut y, &x, 2.0).unwrap();
    }
    close(&y.download().unwrap(), &host.iter().map(|x| 4.0 * x).collect::<Vec<_>>());

    let shadow = &mut [Arg::from(fresh(&mut y)), Arg::from(&x), Arg::from(1.0)];
    launch(&AXPY, device, &Grid::blocks(4).threads(256), shadow).unwrap();
    close(&y.download().unwrap(), &host);
}

fn reports_indices_out_of_bounds(device: &Device) {
    let device = device.clone().checking(true);
    let x = device.upload(&numbers(1000)).unwrap();
    let mut y = device.zeros(900).unwrap();
    let error = axpy(&device, &Grid::blocks(4).threads(256), &mut y, &x, 1.0).unwrap_err();
    let GpuError::Fault(fault) = &error else { panic!("{error}") };
    assert_eq!((fault.kind, fault.block), (FaultKind::OutOfBounds, [3, 0, 0]));
    assert!(fault.thread[0] >= 132, "{error}");
    assert_eq!((fault.kernel.as_str(), fault.detail.as_str()), ("axpy", "index of `y`"));
    // Neither the device nor the next launch has suffered.
    axpy(&device, &Grid::blocks(4).threads(225), &mut y, &device.zeros(900).unwrap(), 1.0).unwrap();
}

fn gives_each_thread_its_tape(device: &Device) {
    let mut out = device.zeros::<f64>(300).unwrap();
    let grid = Grid::blocks(3).threads(100);
    for (kernel, n, sum) in
        [(&WALK_TEN, 10usize, 45.0), (&WALK_A_HUNDRED, 100, 4950.0), (&WALK_TEN, 10, 45.0)]
    {
        launch(kernel, device, &grid, &mut [Arg::from(&mut out), Arg::from(n)]).unwrap();
        assert_eq!(out.download().unwrap(), [sum; 300]);
    }
    launch(&WALK_ANY, device, &grid, &mut [Arg::from(&mut out), Arg::from(20usize)]).unwrap();
    assert_eq!(out.download().unwrap(), [190.0; 300]);

    let small = grid.tape_bytes(300 * 8 * 20 - 1);
    let error = launch(&WALK_ANY, device, &small, &mut [Arg::from(&mut out), Arg::from(20usize)]);
    let error = error.unwrap_err();
    assert!(matches!(&error, GpuError::Fault(fault) if fault.kind == FaultKind::TapeExhausted));
    assert!(error.to_string().contains("`.tape_bytes(n)`"), "{error}");
    let none = Grid::blocks(3).threads(100).tape_bytes(0);
    launch(&WALK_ANY, device, &none, &mut [Arg::from(&mut out), Arg::from(1usize)]).unwrap_err();
    launch(&WALK_ANY, device, &none, &mut [Arg::from(&mut out), Arg::from(0usize)]).unwrap();
}

fn passes_values_of_every_type(device: &Device) {
    use ScalarType as S;
    static TYPES: Kernel = Kernel::new(&KernelText {
        name: "types",
        language: "",
        cuda: r#"extern "C" __global__ void types(double* out, unsigned long long out_len, bool a, signed char b, short c, int d,
    long long e, unsigned char f, unsigned short g, unsigned int h, unsigned long long i, float j, double k,
    unsigned char* stratape_tape, unsigned long long stratape_tape_bytes, unsigned int* stratape_fault) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; out[7] = h; out[8] = i; out[9] = j;
  out[10] = k;
}"#,
        params: &[
            doubles(true),
            Param::Value(S::Bool),
            Param::Value(S::I8),
            Param::Value(S::I16),
            Param::Value(S::I32),
            Param::Value(S::Isize),
            Param::Value(S::U8),
            Param::Value(S::U16),
            Param::Value(S::U32),
            Param::Value(S::U64),
            Param::Value(S::F32),
            Param::Value(S::F64),
        ],
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &[],
    });
    let mut out = device.zeros::<f64>(11).unwrap();
    let args = &mut [
        Arg::from(&mut out),
        Arg::from(true),
        Arg::from(-7i8),
        Arg::from(-300i16),
        Arg::from(-70_000i32),
        Arg::from(-5_000_000_000isize),
        Arg::from(200u8),
        Arg::from(60_000u16),
        Arg::from(4_000_000_000u32),
        Arg::from(5_000_000_000u64),
        Arg::from(1.5f32),
        Arg::from(-2.25f64),
    ];
    launch(&TYPES, device, &Grid::blocks(1), args).unwrap();
    let expected = [1.0, -7.0, -300.0, -70_000.0, -5e9, 200.0, 60_000.0, 4e9, 5e9, 1.5, -2.25];
    assert_eq!(out.download().unwrap(), expected);
}

fn compiles_for_the_shape_of_the_grid(device: &Device) {
    static SHAPE: Kernel = Kernel::new(&KernelText {
        name: "shape",
        language: "",
        cuda: r#"extern "C" __global__ void shape(unsigned int* out, unsigned long long out_len,
    unsigned char* stratape_tape, unsigned long long stratape_tape_bytes, unsigned int* stratape_fault) {
  out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z; out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z;
  out[6] = out[7] = out[8] = 0;
#if STRATAPE_GRID_X_ONLY
  out[6] = 1;
#endif
#if STRATAPE_DETERMINISTIC
  out[7] = 1;
#endif
#if STRATAPE_CHECK
  out[8] = 1;
#endif
}"#,
        params: &[Param::Slice {
            scalar: ScalarType::U32,
            arity: 1,
            mutable: true,
            shadow_of: None,
            fresh: Fresh::Added,
        }],
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &[],
    });
    let mut out = device.zeros::<u32>(9).unwrap();
    let cases = [
        (false, Grid::blocks(3).threads(2), [3, 1, 1, 2, 1, 1, 1, 0, 0]),
        (true, Grid::blocks((3, 4, 5)).threads((2, 3, 4)), [3, 4, 5, 2, 3, 4, 0, 0, 1]),
        // Nothing in it depends on an order.
        (false, Grid::blocks(3).threads((1, 2)).deterministic(), [3, 1, 1, 1, 2, 1, 0, 0, 0]),
    ];
    for (checking, grid, expected) in cases {
        let device = device.clone().checking(checking);
        launch(&SHAPE, &device, &grid, &mut [Arg::from(&mut out)]).unwrap();
        assert_eq!(out.download().unwrap(), expected);
    }
}

const SCATTER: &str = r#"
extern "C" __global__ void scatter(double* y, unsigned long long y_len, const double* x, unsigned long long x_len,
    unsigned char* stratape_tape, unsigned long long stratape_tape_bytes, unsigned int* stratape_fault
#ifdef STRATAPE_DETERMINISTIC
    , unsigned long long* entries, unsigned long long room
#endif
) {
  unsigned long long t = threadIdx.x + (unsigned long long)blockIdx.x * blockDim.x, threads = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long k = 0, i = t; i < x_len; i += threads, ++k) {
#ifdef STRATAPE_DETERMINISTIC
    if (k >= room) { stratape_fault[0] = 3; return; }
    entries[2 * k * threads + t] = (unsigned long long)(y + i % y_len);
    entries[(2 * k + 1) * threads + t] = (unsigned long long)__double_as_longlong(x[i]);
#else
    atomicAdd(y + i % y_len, x[i]);
#endif
  }
}"#;

const SCATTER_PARAMS: &[Param] = &[doubles(true), doubles(false)];

const fn scatter(order: Order) -> KernelText {
    KernelText {
        name: "scatter",
        language: "",
        cuda: SCATTER,
        params: SCATTER_PARAMS,
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [order; 2],
        elect: None,
        checks: &[],
    }
}

fn adds_in_a_fixed_order(device: &Device) {
    static KNOWN: Kernel = Kernel::new(&scatter(Order::Logged(Some(3))));
    static UNKNOWN: Kernel = Kernel::new(&scatter(Order::Logged(None)));
    static REFUSED: Kernel = Kernel::new(&scatter(Order::Refused("it is read")));
    let n = 3 * 64;
    // Of all sizes, so that every order rounds otherwise.
    let x: Vec<f64> = (0..n).map(|k| (1.0 + 0.1 * k as f64) * 10f64.powi(k % 23 - 11)).collect();
    let start = [0.1, -3.0, 1e3, 0.0, 7.5];
    let mut wanted = start;
    // The first addition of every thread, then the second ones: here that is the order of the elements.
    for (k, x) in x.iter().enumerate() {
        wanted[k % 5] += x;
    }
    let x = device.upload(&x).unwrap();
    let grid = Grid::blocks(2).threads(32).deterministic();
    let stream = Stream::new(device).unwrap();
    for (kernel, grid) in
        [(&KNOWN, grid.clone()), (&UNKNOWN, grid.clone()), (&KNOWN, grid.clone().stream(&stream))]
    {
        let mut y = device.upload(&start).unwrap();
        launch(kernel, device, &grid, &mut [Arg::from(&mut y), Arg::from(&x)]).unwrap();
        let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&y.download().unwrap()), bits(&wanted));
    }
    let mut y = device.upload(&start).unwrap();
    // Two entries for each thread.
    let small = grid.clone().tape_bytes(2 * 16 * 64);
    let full = launch(&UNKNOWN, device, &small, &mut [Arg::from(&mut y), Arg::from(&x)]);
    let Err(GpuError::Fault(fault)) = full else { panic!("{full:?}") };
    assert_eq!(fault.kind, FaultKind::TapeExhausted);
    let mut y = device.upload(&start).unwrap();
    let refused = launch(&REFUSED, device, &grid, &mut [Arg::from(&mut y), Arg::from(&x)]);
    assert!(refused.unwrap_err().to_string().contains("it is read"));
    assert_eq!(y.download().unwrap(), start);
}

fn allows_large_shared_memory(device: &Device) {
    static SHARED: Kernel = Kernel::new(&KernelText {
        name: "shared",
        language: "",
        cuda: r#"extern __shared__ unsigned char tile[];
extern "C" __global__ void shared(unsigned char* stratape_tape, unsigned long long stratape_tape_bytes,
    unsigned int* stratape_fault) {
  tile[threadIdx.x] = 1;
}"#,
        params: &[],
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &[],
    });
    for bytes in [32, 48 << 10, 64 << 10, 96 << 10] {
        launch(&SHARED, device, &Grid::blocks(2).threads(32).shared(bytes), &mut []).unwrap();
    }
    let error = launch(&SHARED, device, &Grid::blocks(2).shared(1 << 20), &mut []).unwrap_err();
    assert!(matches!(error, GpuError::SharedMemory { .. }), "{error}");
    device.synchronize().unwrap();
}

fn refuses_blocks_beyond_the_registers(device: &Device) {
    static REGISTERS: Kernel = Kernel::new(&KernelText {
        name: "registers",
        language: "",
        cuda: r#"extern "C" __global__ void __launch_bounds__(256) registers(
    unsigned char* stratape_tape, unsigned long long stratape_tape_bytes, unsigned int* stratape_fault) {}"#,
        params: &[],
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &[],
    });
    launch(&REGISTERS, device, &Grid::blocks(1).threads(256), &mut []).unwrap();
    let error = launch(&REGISTERS, device, &Grid::blocks(1).threads(257), &mut []).unwrap_err();
    assert!(matches!(error, GpuError::GridLimit { asked: 257, limit: 256, .. }), "{error}");
}

fn refuses_kernels_that_do_not_compile(device: &Device) {
    static REFUSED: Kernel = Kernel::new(&KernelText {
        name: "refused",
        language: "",
        cuda: "#error it is",
        params: &[],
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &[],
    });
    static MISNAMED: Kernel = Kernel::new(&KernelText {
        name: "misnamed",
        language: "",
        cuda: r#"extern "C" __global__ void other() {}"#,
        params: &[],
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &[],
    });
    for kernel in [&REFUSED, &MISNAMED] {
        let error = launch(kernel, device, &Grid::blocks(1), &mut []).unwrap_err();
        let GpuError::Compile { kernel: name, log, .. } = &error else { panic!("{error}") };
        assert_eq!(name, kernel.text().name);
        assert!(!log.is_empty());
    }
}

/// Streams that read one buffer and write others, handing them on without a wait of the host; buffers dropped while in use.
fn orders_streams_by_their_buffers(device: &Device) {
    let n = 1 << 16;
    let grid = Grid::blocks(n / 256).threads(256);
    let host = numbers(n);
    let mut early = device.upload(&host).unwrap();
    axpy(device, &grid, &mut early, &device.upload(&host).unwrap(), 1.0).unwrap();

    // What was launched before there were streams is behind what they run, and memory given back behind its last use.
    let x = device.upload(&host).unwrap();
    axpy(device, &grid, &mut early, &x, 1.0).unwrap();
    let first = Stream::new(device).unwrap();
    axpy(device, &grid.clone().stream(&first), &mut early, &x, -1.0).unwrap();
    drop(x);
    let streams: Vec<_> = (0..4).map(|_| Stream::new(device).unwrap()).collect();
    let mut last = device.zeros(n).unwrap();
    for round in 0..8 {
        let on = |i: usize| grid.clone().stream(&streams[(round + i) % 4]);
        let x = device.upload(&host).unwrap();
        let mut a = device.alloc_like(&x).unwrap();
        let mut b = device.alloc_like(&x).unwrap();
        axpy(device, &on(0), &mut a, &x, 1.0).unwrap();
        axpy(device, &on(1), &mut b, &x, 2.0).unwrap();
        axpy(device, &on(2), &mut a, &b, 1.0).unwrap();
        axpy(device, &on(3), &mut b, &early, 0.0).unwrap();
        axpy(device, &grid, &mut b, &a, 1.0).unwrap();
        last.copy_from(&b).unwrap();
        b.fill_zero().unwrap();
        axpy(device, &on(1), &mut b, &last, 1.0).unwrap();
        close(&b.download().unwrap(), &host.iter().map(|x| 5.0 * x).collect::<Vec<_>>());
    }
    close(&early.download().unwrap(), &host.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
    let mut out = device.zeros::<f64>(300).unwrap();
    for stream in &streams {
        let grid = Grid::blocks(3).threads(100).stream(stream);
        launch(&WALK_TEN, device, &grid, &mut [Arg::from(&mut out), Arg::from(10usize)]).unwrap();
        stream.synchronize().unwrap();
    }
    drop(streams);
    assert_eq!(out.download().unwrap(), [45.0; 300]);
}

fn is_shared_between_threads(device: &Device) {
    let x = device.upload(&numbers(1024)).unwrap();
    thread::scope(|scope| {
        for worker in 0..4 {
            let (device, x) = (device.clone(), &x);
            scope.spawn(move || {
                let device = device.checking(worker % 2 == 0);
                let stream = Stream::new(&device).unwrap();
                let mut y = device.zeros(1024).unwrap();
                let mut out = device.zeros::<f64>(300).unwrap();
                for i in 0..20 {
                    let grid = Grid::blocks(4).threads(256);
                    let grid = if i % 2 == 0 { grid.stream(&stream) } else { grid };
                    axpy(&device, &grid, &mut y, x, 1.0).unwrap();
                    let kernel = if i % 3 == 0 { &WALK_TEN } else { &WALK_A_HUNDRED };
                    let args = &mut [Arg::from(&mut out), Arg::from(10usize)];
                    launch(kernel, &device, &Grid::blocks(3).threads(100), args).unwrap();
                }
                close(
                    &y.download().unwrap(),
                    &numbers(1024).iter().map(|x| 20.0 * x).collect::<Vec<_>>(),
                );
                assert_eq!(out.download().unwrap(), [45.0; 300]);
            });
        }
    });
}

fn says_how_much_memory_is_left(device: &Device) {
    let error = device.zeros::<f64>(1 << 45).unwrap_err();
    let GpuError::OutOfMemory { asked, free } = error else { panic!("{error}") };
    assert_eq!(asked, 8 << 45);
    assert!(free > 0);
    let error = launch(
        &WALK_A_HUNDRED,
        device,
        &Grid::blocks((1u32 << 31) - 1).threads(1024),
        &mut [Arg::from(&mut device.zeros::<f64>(1).unwrap()), Arg::from(1usize)],
    );
    assert!(matches!(error, Err(GpuError::OutOfMemory { .. })));
    gives_each_thread_its_tape(device);
}

fn belongs_to_itself(device: &Device) {
    assert_eq!(*device, Device::cuda(0).unwrap());
    let x = Device::emulator().upload(&[1.0]).unwrap();
    let mut y = device.zeros(1).unwrap();
    assert!(matches!(y.copy_from(&x), Err(GpuError::WrongDevice { .. })));
    let error = axpy(device, &Grid::blocks(1), &mut y, &x, 1.0).unwrap_err();
    assert!(matches!(error, GpuError::WrongDevice { .. }), "{error}");
    assert!(matches!(Device::cuda(1000), Err(GpuError::NoDevice { .. })));
    assert!(device.name().ends_with("(CUDA device 0)"));
}

/// A case by its name.
type Case = (&'static str, fn(&Device));

#[test]
fn cases() {
    if !is_child() {
        return;
    }
    let device = Device::cuda(0).unwrap();
    let cases: [Case; 13] = [
        ("computes", computes),
        ("reports_indices_out_of_bounds", reports_indices_out_of_bounds),
        ("gives_each_thread_its_tape", gives_each_thread_its_tape),
        ("passes_values_of_every_type", passes_values_of_every_type),
        ("compiles_for_the_shape_of_the_grid", compiles_for_the_shape_of_the_grid),
        ("adds_in_a_fixed_order", adds_in_a_fixed_order),
        ("allows_large_shared_memory", allows_large_shared_memory),
        ("refuses_blocks_beyond_the_registers", refuses_blocks_beyond_the_registers),
        ("refuses_kernels_that_do_not_compile", refuses_kernels_that_do_not_compile),
        ("says_how_much_memory_is_left", says_how_much_memory_is_left),
        ("orders_streams_by_their_buffers", orders_streams_by_their_buffers),
        ("is_shared_between_threads", is_shared_between_threads),
        ("belongs_to_itself", belongs_to_itself),
    ];
    for (name, case) in cases {
        eprintln!("{name} on {device}");
        case(&device);
    }
    // What is left outlives the last handle of its device.
    let buffer = device.upload(&[1.0, 2.0]).unwrap();
    drop(device);
    assert_eq!(buffer.download().unwrap(), [1.0, 2.0]);
}

#[test]
fn on_a_cuda_device() {
    if is_child() {
        return;
    }
    match Device::cuda(0) {
        Ok(_) => {
            let directory = tempfile::tempdir().unwrap();
            passed(&run("cases", directory.path(), &[]));
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
    let path = libraries.to_str().unwrap();
    let said = passed(&run("cases", directory.path(), &[("LD_LIBRARY_PATH", path)]));
    assert!(said.contains("computes on Fake (CUDA device 0)"), "{said}");
    assert!(!said.contains("leaked:"), "{said}");
    assert_eq!(said.matches("compiled: ").count(), 13, "{said}");

    // All kernels come from the disk the second time, except the one that has no function of its name.
    let said = passed(&run("cases", directory.path(), &[("LD_LIBRARY_PATH", path)]));
    assert_eq!(said.matches("compiled: ").count(), 1, "{said}");

    let without = [("LD_LIBRARY_PATH", path), ("FAKE_NO_POOLS", "1"), ("STRATAPE_CACHE", "")];
    let said = passed(&run("cases", directory.path(), &without));
    assert!(!said.contains("leaked:"), "{said}");
    assert!(said.contains("compiled: --gpu-architecture=sm_90"), "{said}");

    // A device newer than the compiler runs the PTX of the newest that is older.
    let old = [("LD_LIBRARY_PATH", path), ("FAKE_OLD_NVRTC", "1"), ("STRATAPE_CACHE", "")];
    let said = passed(&run("cases", directory.path(), &old));
    assert!(said.contains("compiled: --gpu-architecture=compute_86"), "{said}");
    assert!(!said.contains("sm_"), "{said}");
}

/// Every text of this file through the real compiler, if it is there.
#[test]
fn kernels_compile() {
    if is_child() || !stratape_cuda::nvrtc::is_present() {
        skipped("NVRTC not found");
        return;
    }
    for arch in ["sm_80", "sm_90"] {
        for defines in [&[][..], &["STRATAPE_CHECK=1"]] {
            for text in [AXPY.text().cuda, WALK] {
                assert!(text.contains("stratape_tape_bytes"));
                stratape_cuda::nvrtc::to_ptx(text, arch, defines).unwrap();
            }
        }
    }
}
