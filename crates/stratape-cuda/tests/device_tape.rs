//! Stacks of buffers over three layers: on the emulator, on a CUDA device if there is one, and on the made-up driver of `tests/fake`, which ends the
//! process at any copy that is not ordered by events, and at host memory that is used before a copy has ended.

#![allow(clippy::panic, clippy::unwrap_used)]

mod support;

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use stratape_cuda::__private::{Arg, Fresh, Kernel, KernelText, Order, Param, Tape, launch};
use stratape_cuda::{
    Buffer, Device, DeviceTape, DeviceTapeOptions, GpuError, Grid, ScalarType, Stream,
};
use stratape_tape::TapeOptions;
use stratape_tape::tier::{Fault, FaultyTier, MemoryTier, Operation};

use support::{fake, is_child, passed, run, skipped};

const PAGE: usize = 4096;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// What is on a tape, in memory of the host.
#[derive(Clone, Debug, PartialEq)]
enum Held {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I16(Vec<i16>),
    Bool(Vec<bool>),
    Points(Vec<[f64; 3]>),
}

impl Held {
    fn random(random: &mut Random, longest: usize) -> Self {
        let len = random.below(longest + 1);
        let seed = random.below(1000) as f64;
        let numbers = (0..len).map(|i| seed + i as f64);
        match random.below(5) {
            0 => Self::F64(numbers.map(|x| -x).collect()),
            1 => Self::F32(numbers.map(|x| x as f32).collect()),
            2 => Self::I16(numbers.map(|x| 7 - x as i16).collect()),
            3 => Self::Bool(numbers.map(|x| (x as usize).is_multiple_of(3)).collect()),
            _ => Self::Points(numbers.map(|x| [x, -x, 0.5]).collect()),
        }
    }

    fn push(&self, device: &Device, tape: &mut DeviceTape, copy: bool) -> Result<(), GpuError> {
        match self {
            Self::F64(list) => push(device, tape, copy, list),
            Self::F32(list) => push(device, tape, copy, list),
            Self::I16(list) => push(device, tape, copy, list),
            Self::Bool(list) => push(device, tape, copy, list),
            Self::Points(list) => push(device, tape, copy, list),
        }
    }

    fn pop_like(&self, tape: &mut DeviceTape) -> Result<Option<Self>, GpuError> {
        Ok(match self {
            Self::F64(_) => pop(tape)?.map(Self::F64),
            Self::F32(_) => pop(tape)?.map(Self::F32),
            Self::I16(_) => pop(tape)?.map(Self::I16),
            Self::Bool(_) => pop(tape)?.map(Self::Bool),
            Self::Points(_) => pop(tape)?.map(Self::Points),
        })
    }
}

fn push<T: stratape_cuda::Element>(
    device: &Device,
    tape: &mut DeviceTape,
    copy: bool,
    list: &[T],
) -> Result<(), GpuError> {
    let mut buffer = device.upload(list)?;
    if !copy {
        return Ok(tape.push(buffer)?);
    }
    tape.push_copy(&buffer)?;
    // Would show, if the copy did not come first.
    buffer.fill_zero()
}

fn pop<T: stratape_cuda::Element>(tape: &mut DeviceTape) -> Result<Option<Vec<T>>, GpuError> {
    tape.pop::<T>()?.map(|buffer| buffer.download()).transpose()
}

fn in_memory() -> TapeOptions {
    TapeOptions::new().tier(Arc::new(MemoryTier::new()))
}

/// Random pushes and pops against a list, with budgets of every size.
fn agrees_with_a_list(device: &Device) {
    let disk = tempfile::tempdir().unwrap();
    let budgets = [
        (0, 0),
        (0, 3 * PAGE),
        (PAGE, 0),
        (2 * PAGE, 4 * PAGE),
        (16 * PAGE, 2 * PAGE),
        (5 * PAGE, 1 << 30),
        (1 << 30, 0),
    ];
    for (seed, (device_bytes, host_bytes)) in budgets.into_iter().cycle().take(28).enumerate() {
        let below =
            if seed % 2 == 0 { in_memory() } else { TapeOptions::new().spill_to(disk.path()) };
        let options =
            DeviceTapeOptions::new().device_bytes(device_bytes).host_bytes(host_bytes).below(below);
        let mut tape = options.open(device).unwrap();
        let mut model: Vec<Held> = Vec::new();
        let mut random = Random(seed as u64 + 1);
        let longest = [40, 600, 3000][seed % 3];
        let mut largest = 0;
        for round in 0..300 {
            // Up for a while, then down for a while.
            let upward = (round / 60) % 2 == 0;
            if random.below(10) < if upward { 8 } else { 2 } {
                let held = Held::random(&mut random, longest);
                held.push(device, &mut tape, random.below(3) == 0).unwrap();
                model.push(held);
            } else if let Some(held) = model.pop() {
                assert_eq!(held.pop_like(&mut tape).unwrap(), Some(held));
            } else {
                assert!(tape.pop::<f64>().unwrap().is_none());
            }
            assert_eq!(tape.len(), model.len());
            let stats = tape.stats();
            assert_eq!(stats.buffers, model.len());
            largest = largest.max(24 * longest);
            assert!(stats.device.bytes as usize <= device_bytes.max(largest), "{stats}");
        }
        let stats = tape.stats();
        // One buffer of any length is let through.
        let one = (24 * longest).next_multiple_of(PAGE) * 9 / 8 + PAGE;
        assert!(stats.host.peak_bytes as usize <= host_bytes.max(one), "{seed}: {stats}");
        assert!(stats.device.peak_bytes as usize <= device_bytes.max(24 * longest), "{stats}");
        while let Some(held) = model.pop() {
            assert_eq!(held.pop_like(&mut tape).unwrap(), Some(held));
        }
        assert!(tape.is_empty() && tape.pop::<f64>().unwrap().is_none());
        let stats = tape.stats();
        assert_eq!((stats.bytes, stats.device.bytes, stats.disk.bytes), (0, 0, 0), "{stats}");
    }
}

/// Up through all layers and down again: what moves, and how often.
fn moves_each_buffer_once(device: &Device) {
    let mut tape = DeviceTapeOptions::new()
        .device_bytes(8 * PAGE)
        .host_bytes(8 * PAGE)
        .below(in_memory())
        .open(device)
        .unwrap();
    let state = |i: usize| vec![i as f64; PAGE / 8];
    for i in 0..64 {
        tape.push(device.upload(&state(i)).unwrap()).unwrap();
    }
    let stats = tape.stats();
    assert_eq!((stats.buffers, stats.bytes), (64, 64 * PAGE as u64));
    assert!(stats.device.peak_bytes <= 8 * PAGE as u64, "{stats}");
    assert!(stats.host.peak_bytes <= 8 * PAGE as u64, "{stats}");
    assert!(stats.disk.buffers >= 64 - 16, "{stats}");
    // A swing at the top moves nothing.
    let before = tape.stats();
    for _ in 0..20 {
        let x = tape.pop::<f64>().unwrap().unwrap();
        let y = tape.pop::<f64>().unwrap().unwrap();
        tape.push(y).unwrap();
        tape.push(x).unwrap();
    }
    let after = tape.stats();
    assert!(after.raised_bytes == before.raised_bytes, "{after}");
    for i in (0..64).rev() {
        assert_eq!(pop(&mut tape).unwrap(), Some(state(i)));
    }
    let stats = tape.stats();
    let all = 64 * PAGE as u64;
    assert!(stats.spilled_bytes <= all + 8 * PAGE as u64, "{stats}");
    assert!(stats.raised_bytes <= all, "{stats}");
    assert!(stats.written_bytes <= all && stats.read_bytes <= stats.written_bytes, "{stats}");
    assert_eq!((stats.failed_writes, stats.unlocked_blocks), (0, 0));
    assert!(stats.to_string().contains("0 buffers"), "{stats}");
}

fn refuses_other_types_and_devices(device: &Device) {
    let mut tape = DeviceTape::new(device).unwrap();
    tape.push(device.upload(&[[1.0f64, 2.0]]).unwrap()).unwrap();
    for error in [tape.pop::<f64>().unwrap_err(), tape.pop_to_host::<[f32; 2]>().unwrap_err()] {
        assert!(matches!(error, GpuError::ElementType { .. }), "{error}");
        assert!(error.to_string().contains("[f64; 2]"), "{error}");
    }
    let refused = tape.push(Device::emulator().upload(&[5]).unwrap()).unwrap_err();
    assert!(matches!(refused.error(), GpuError::WrongDevice { .. }));
    assert_eq!(refused.into_buffer().download().unwrap(), [5]);
    let other = Device::emulator();
    assert!(tape.push_copy(&other.upload(&[5]).unwrap()).is_err());
    let stream = Stream::new(&other).unwrap();
    assert!(tape.push_copy_on(&device.upload(&[5]).unwrap(), &stream).is_err());
    assert_eq!(tape.len(), 1);
    assert_eq!(pop(&mut tape).unwrap(), Some(vec![[1.0, 2.0]]));
}

/// A disk that takes nothing for a while: everything that was pushed stays, and what could not be is handed back.
fn keeps_what_the_disk_refuses(device: &Device) {
    let broken = Arc::new(AtomicBool::new(true));
    let is_broken = Arc::clone(&broken);
    let tier = FaultyTier::new(MemoryTier::new(), move |_, operation| match operation {
        Operation::Write if is_broken.load(Ordering::Relaxed) => {
            Fault::Fail(ErrorKind::StorageFull)
        }
        _ => Fault::Pass,
    });
    let mut tape = DeviceTapeOptions::new()
        .device_bytes(4 * PAGE)
        .host_bytes(3 * PAGE)
        .below(TapeOptions::new().tier(Arc::new(tier)))
        .open(device)
        .unwrap();
    let state = |i: usize| vec![i as u32; PAGE / 4];
    let mut pushed = 0;
    let refused = loop {
        match tape.push(device.upload(&state(pushed)).unwrap()) {
            Ok(()) => pushed += 1,
            Err(refused) => break refused,
        }
        assert!(pushed < 20);
    };
    assert!(matches!(refused.error(), GpuError::Spill { .. }), "{refused}");
    assert!(pushed >= 7);
    let buffer = refused.into_buffer();
    assert_eq!(buffer.download().unwrap(), state(pushed));
    assert_eq!(tape.len(), pushed);
    assert!(tape.stats().failed_writes > 0);
    let error = tape.push_copy(&buffer).unwrap_err();
    assert!(matches!(error, GpuError::Spill { .. }), "{error}");
    // The disk is mended: the same call works.
    broken.store(false, Ordering::Relaxed);
    tape.push(buffer).unwrap();
    for i in pushed + 1..30 {
        tape.push(device.upload(&state(i)).unwrap()).unwrap();
    }
    for i in (0..30).rev() {
        assert_eq!(pop(&mut tape).unwrap(), Some(state(i)));
    }
}

/// Every read fails once: pops say so, and work the next time.
fn reads_again_what_could_not_be_read(device: &Device) {
    for fault in [Fault::Fail(ErrorKind::Other), Fault::FlipBit] {
        let reads = AtomicUsize::new(0);
        let tier = FaultyTier::new(MemoryTier::new(), move |_, operation| match operation {
            Operation::Read if reads.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) => fault,
            _ => Fault::Pass,
        });
        let mut tape = DeviceTapeOptions::new()
            .device_bytes(2 * PAGE)
            .host_bytes(2 * PAGE)
            .below(TapeOptions::new().tier(Arc::new(tier)))
            .open(device)
            .unwrap();
        let state = |i: usize| vec![i as i64; PAGE / 8];
        for i in 0..20 {
            tape.push(device.upload(&state(i)).unwrap()).unwrap();
        }
        let mut failures = 0;
        for i in (0..20).rev() {
            let back = loop {
                match pop(&mut tape) {
                    Ok(back) => break back,
                    Err(error) => assert!(matches!(error, GpuError::Spill { .. }), "{error}"),
                }
                failures += 1;
                assert_eq!(tape.len(), i + 1);
                assert!(failures < 100);
            };
            assert_eq!(back, Some(state(i)));
        }
    }
}

fn is_dropped_with_copies_under_way(device: &Device) {
    let disk = tempfile::tempdir().unwrap();
    for round in 0..6 {
        let mut tape = DeviceTapeOptions::new()
            .device_bytes(64 << 10)
            .host_bytes(256 << 10)
            .spill_to(disk.path())
            .open(device)
            .unwrap();
        for i in 0..60 {
            tape.push(device.upload(&vec![i; 4000]).unwrap()).unwrap();
        }
        let mut kept: Vec<Buffer<i32>> = Vec::new();
        for _ in 0..round * 8 {
            kept.extend(tape.pop::<i32>().unwrap());
        }
        drop(tape);
        for (buffer, i) in kept.iter().zip((0..60).rev()) {
            assert_eq!(buffer.download().unwrap(), vec![i; 4000]);
        }
    }
}

/// A disk that does not answer: drops do not hang, nor do pushes that need not wait.
fn is_dropped_while_the_disk_is_silent(device: &Device) {
    let tier = Arc::new(FaultyTier::new(MemoryTier::new(), |_, _| Fault::Hold));
    let mut tape = DeviceTapeOptions::new()
        .device_bytes(PAGE)
        .host_bytes(4 * PAGE)
        .below(TapeOptions::new().tier(tier.clone()))
        .open(device)
        .unwrap();
    for i in 0..5 {
        tape.push(device.upload(&vec![i as u8; PAGE]).unwrap()).unwrap();
    }
    drop(tape);
    // Memory that the disk has kept goes back when it answers; what was still being copied is asked of it a moment later.
    for _ in 0..20 {
        tier.release();
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn hands_back_what_lies_below(device: &Device) {
    let mut tape = DeviceTapeOptions::new()
        .device_bytes(2 * PAGE)
        .host_bytes(2 * PAGE)
        .below(in_memory())
        .open(device)
        .unwrap();
    for i in 0..10u8 {
        tape.push(device.upload(&vec![i; PAGE]).unwrap()).unwrap();
    }
    for i in (5..10u8).rev() {
        assert_eq!(tape.pop_to_host::<u8>().unwrap(), Some(vec![i; PAGE]));
    }
    assert!(tape.discard());
    assert!(tape.spill(usize::MAX).unwrap() <= 2 * PAGE);
    assert_eq!(tape.stats().device.bytes, 0);
    assert_eq!(pop(&mut tape).unwrap(), Some(vec![3u8; PAGE]));
    assert_eq!(tape.len(), 3);
}

/// Buffers that are written and read on several streams, pushed and popped without a wait of the host.
fn works_with_streams(device: &Device) {
    let streams: Vec<_> = (0..3).map(|_| Stream::new(device).unwrap()).collect();
    let mut tape = DeviceTapeOptions::new()
        .device_bytes(4 * PAGE)
        .host_bytes(8 * PAGE)
        .below(in_memory())
        .open(device)
        .unwrap();
    let mut state = device.upload(&vec![0.0f64; 512]).unwrap();
    for i in 0..40 {
        tape.push_copy_on(&state, &streams[i % 3]).unwrap();
        let on_stream = state.try_clone_on(&streams[(i + 1) % 3]).unwrap();
        tape.push(on_stream).unwrap();
        state.write(&vec![i as f64 + 1.0; 512]).unwrap();
    }
    for i in (0..40).rev() {
        let mut one = tape.pop::<f64>().unwrap().unwrap();
        let two = tape.pop::<f64>().unwrap().unwrap();
        let copy = one.try_clone_on(&streams[i % 3]).unwrap();
        one.copy_from(&two).unwrap();
        one.fill_zero().unwrap();
        drop(one);
        assert_eq!(copy.download().unwrap(), vec![i as f64; 512]);
        assert_eq!(two.download().unwrap(), vec![i as f64; 512]);
    }
    assert!(tape.is_empty());
}

fn crosses_threads(device: &Device) {
    let mut tape = DeviceTapeOptions::new().device_bytes(PAGE).open(device).unwrap();
    for i in 0..8 {
        tape.push(device.upload(&vec![i as f32; 1024]).unwrap()).unwrap();
    }
    let mut tape = std::thread::spawn(move || {
        assert_eq!(pop(&mut tape).unwrap(), Some(vec![7.0f32; 1024]));
        tape
    })
    .join()
    .unwrap();
    assert_eq!(pop(&mut tape).unwrap(), Some(vec![6.0f32; 1024]));
}

/// A case by its name.
type Case = (&'static str, fn(&Device));

const CASES: [Case; 11] = [
    ("agrees_with_a_list", agrees_with_a_list),
    ("moves_each_buffer_once", moves_each_buffer_once),
    ("refuses_other_types_and_devices", refuses_other_types_and_devices),
    ("keeps_what_the_disk_refuses", keeps_what_the_disk_refuses),
    ("reads_again_what_could_not_be_read", reads_again_what_could_not_be_read),
    ("is_dropped_with_copies_under_way", is_dropped_with_copies_under_way),
    ("is_dropped_while_the_disk_is_silent", is_dropped_while_the_disk_is_silent),
    ("hands_back_what_lies_below", hands_back_what_lies_below),
    ("works_with_streams", works_with_streams),
    ("crosses_threads", crosses_threads),
    ("copies_that_fail", copies_that_fail),
];

/// A buffer without memory says so at every use.
fn copies_that_fail(device: &Device) {
    let x = device.upload(&[1.0, 2.0]).unwrap();
    let mut y = x.clone();
    y.clone_from(&device.upload(&[3.0]).unwrap());
    assert_eq!(y.download().unwrap(), [3.0]);
    assert_eq!(x.try_clone().unwrap().download().unwrap(), [1.0, 2.0]);
}

fn all(device: &Device) {
    for (name, case) in CASES {
        eprintln!("{name} on {device}");
        case(device);
    }
}

#[test]
fn on_the_emulator() {
    if !is_child() {
        all(&Device::emulator());
    }
}

#[test]
fn cases() {
    if is_child() {
        all(&Device::cuda(0).unwrap());
        let_threads_end();
    }
}

/// The threads of a disk let go of the tape's memory, and with it of the device, a moment after the tape is dropped.
fn let_threads_end() {
    std::thread::sleep(Duration::from_millis(300));
}

/// Too little device memory for the budget: the tape makes do with what there is.
#[test]
fn little_memory() {
    if !is_child() {
        return;
    }
    let device = Device::cuda(0).unwrap();
    let mut tape =
        DeviceTapeOptions::new().below(in_memory()).host_bytes(1 << 20).open(&device).unwrap();
    let state = |i: usize| vec![i as u8; 100_000];
    let first = device.upload(&state(0)).unwrap();
    for _ in 0..40 {
        tape.push_copy(&first).unwrap();
    }
    let stats = tape.stats();
    assert!(stats.device.bytes <= 1_000_000 && stats.disk.buffers > 0, "{stats}");
    // The program's own buffers want what the tape has.
    let mut own = Vec::new();
    for i in 0..7 {
        own.push(match device.upload(&state(i)) {
            Ok(buffer) => buffer,
            Err(GpuError::OutOfMemory { asked, .. }) => {
                assert!(tape.spill(asked).unwrap() >= asked);
                device.upload(&state(i)).unwrap()
            }
            Err(error) => panic!("{error}"),
        });
    }
    for _ in 0..40 {
        assert_eq!(pop(&mut tape).unwrap(), Some(state(0)));
    }
    // A copy for which there is no memory at all.
    tape.push_copy(&first).unwrap();
    own.push(device.upload(&state(8)).unwrap());
    let failed = first.clone();
    assert!(matches!(failed.download(), Err(GpuError::OutOfMemory { .. })));
    assert!(matches!(failed.clone().fill_zero(), Err(GpuError::OutOfMemory { .. })));
    let mut mended = failed;
    drop(own);
    mended.clone_from(&first);
    assert_eq!(mended.download().unwrap(), state(0));
    assert_eq!(pop(&mut tape).unwrap(), Some(state(0)));
    drop(tape);
    let_threads_end();
}

/// A kernel takes the device with it: what lies below can still be had.
#[test]
fn lost_device() {
    static AXPY: Kernel = Kernel::new(&KernelText {
        name: "axpy",
        language: "",
        cuda: r#"extern "C" __global__ void axpy(double* y, unsigned long long y_len, const double* x, unsigned long long x_len,
    double a, unsigned char* stratape_tape, unsigned long long stratape_tape_bytes, unsigned int* stratape_fault) {
  unsigned long long i = threadIdx.x;
  if (i < x_len) y[i < y_len ? i : i << 50] += a * x[i];
}"#,
        params: &[DOUBLES_MUT, DOUBLES, Param::Value(ScalarType::F64)],
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &[],
    });
    if !is_child() {
        return;
    }
    let device = Device::cuda(0).unwrap().checking(false);
    let mut tape = DeviceTapeOptions::new()
        .device_bytes(4 * PAGE)
        .host_bytes(8 * PAGE)
        .below(in_memory())
        .open(&device)
        .unwrap();
    let state = |i: usize| vec![i as f64; PAGE / 8];
    for i in 0..20 {
        tape.push(device.upload(&state(i)).unwrap()).unwrap();
    }
    tape.spill(usize::MAX).unwrap();
    tape.push(device.upload(&state(20)).unwrap()).unwrap();
    let (mut y, x) = (device.zeros::<f64>(32).unwrap(), device.upload(&[1.0; 64]).unwrap());
    let mut args = [Arg::from(&mut y), Arg::from(&x), Arg::from(1.0)];
    let launched = launch(&AXPY, &device, &Grid::blocks(1).threads(64), &mut args);
    launched.and_then(|()| device.synchronize()).unwrap_err();

    // A push may need nothing of the device, and find out later.
    if tape.push(x).is_ok() {
        assert!(tape.discard());
    }
    // On the device alone, and gone with it; it is still counted, so that the others are where they were.
    assert!(matches!(tape.pop_to_host::<f64>(), Err(GpuError::ContextLost { .. })));
    assert_eq!(tape.len(), 21);
    assert!(tape.discard());
    assert!(matches!(tape.pop::<f64>(), Err(GpuError::ContextLost { .. })));
    for i in (0..20).rev() {
        assert_eq!(tape.pop_to_host::<f64>().unwrap(), Some(state(i)));
    }
    assert!(tape.is_empty());
}

const DOUBLES: Param = Param::Slice {
    scalar: ScalarType::F64,
    arity: 1,
    mutable: false,
    shadow_of: None,
    fresh: Fresh::Added,
};
const DOUBLES_MUT: Param = Param::Slice {
    scalar: ScalarType::F64,
    arity: 1,
    mutable: true,
    shadow_of: None,
    fresh: Fresh::Added,
};

/// A system that locks no pages.
#[test]
fn no_pinned_memory() {
    if !is_child() {
        return;
    }
    let device = Device::cuda(0).unwrap();
    agrees_with_a_list(&device);
    let mut tape = DeviceTapeOptions::new().device_bytes(0).open(&device).unwrap();
    tape.push(device.upload(&[1.0, 2.0]).unwrap()).unwrap();
    assert!(tape.stats().unlocked_blocks > 0);
    assert!(tape.stats().to_string().contains("page-locked"));
    assert_eq!(pop(&mut tape).unwrap(), Some(vec![1.0, 2.0]));
    drop(tape);
    let_threads_end();
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
            passed(&run("lost_device", directory.path(), &[]));
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
    // Copies that have ended when they are first asked for, and copies that take their time.
    for lag in ["0", "3"] {
        let said = passed(&run("cases", directory.path(), &[path, ("FAKE_LAG", lag)]));
        assert!(said.contains("crosses_threads on Fake"), "{said}");
        assert!(!said.contains("leaked:"), "{said}");
    }
    let said = passed(&run("cases", directory.path(), &[path, ("FAKE_NO_POOLS", "1")]));
    assert!(!said.contains("leaked:"), "{said}");
    let said = passed(&run("little_memory", directory.path(), &[path, ("FAKE_MEMORY", "1000000")]));
    assert!(!said.contains("leaked:"), "{said}");
    passed(&run("lost_device", directory.path(), &[path]));
    let said = passed(&run("no_pinned_memory", directory.path(), &[path, ("FAKE_PINNED", "1")]));
    assert!(!said.contains("leaked:"), "{said}");
}
