//! Time loops whose states are on a device: the same gradient, to the bit, as with states of the host.

#![allow(clippy::panic, clippy::unwrap_used)]

mod support;

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use stratape_checkpoint::store::{DiskStore, SnapshotStore, TierError};
use stratape_checkpoint::{Report, Snapshot, Strategy, TimeLoop, snapshot};
use stratape_cuda::{Buffer, Device, DeviceStore, DeviceTapeOptions};
use stratape_tape::TapeOptions;
use stratape_tape::tier::{Fault, FaultyTier, MemoryTier, Operation};

use support::{fake, is_child, passed, run, skipped};

const N: usize = 512;
const BYTES: usize = 8 * N;
const STEPS: usize = 60;

type State = (Buffer<f64>, Buffer<u32>, f64);

fn start() -> Vec<f64> {
    (0..N).map(|i| 0.1 + i as f64 / 1000.0).collect()
}

/// Stands for launches: a field, a count, and a time on the host.
fn step(n: usize, (x, count, time): &mut State) {
    let host: Vec<f64> =
        x.download().unwrap().iter().map(|x| x + 0.1 * (x + *time).sin()).collect();
    x.write(&host).unwrap();
    assert_eq!(count.download().unwrap(), [n as u32]);
    count.write(&[n as u32 + 1]).unwrap();
    *time += 0.01;
}

fn pullback(n: usize, (x, count, time): &State, dx: &mut Buffer<f64>) {
    assert_eq!(count.download().unwrap(), [n as u32]);
    let x = x.download().unwrap();
    let back: Vec<f64> = dx
        .download()
        .unwrap()
        .iter()
        .zip(x)
        .map(|(dx, x)| dx * (1.0 + 0.1 * (x + time).cos()))
        .collect();
    dx.write(&back).unwrap();
}

/// The same without a device or a schedule.
fn expected() -> (Vec<f64>, Vec<f64>) {
    let mut states = vec![(start(), 0.0f64)];
    for _ in 0..STEPS {
        let (x, time) = states.last().unwrap();
        states.push((x.iter().map(|x| x + 0.1 * (x + time).sin()).collect(), time + 0.01));
    }
    let (last, _) = states.pop().unwrap();
    let mut dx = vec![1.0; N];
    for (x, time) in states.iter().rev() {
        dx.iter_mut().zip(x).for_each(|(dx, x)| *dx *= 1.0 + 0.1 * (x + time).cos());
    }
    (last, dx)
}

fn reverse(device: &Device, with: impl FnOnce(TimeLoop<State>) -> TimeLoop<State>) -> Report {
    let first = (device.upload(&start()).unwrap(), device.upload(&[0]).unwrap(), 0.0);
    let time_loop = with(TimeLoop::new(first).steps(STEPS));
    let seed = |_: &State| device.upload(&vec![1.0; N]).unwrap();
    let ((x, _, _), dx, report) = time_loop.gradient(step, seed, pullback).unwrap();
    let (last, gradient) = expected();
    assert_eq!(x.download().unwrap(), last);
    assert_eq!(dx.download().unwrap(), gradient);
    report
}

fn options(device_bytes: usize, host_bytes: usize, below: TapeOptions) -> DeviceTapeOptions {
    DeviceTapeOptions::new().device_bytes(device_bytes).host_bytes(host_bytes).below(below)
}

fn in_memory() -> TapeOptions {
    TapeOptions::new().tier(Arc::new(MemoryTier::new()))
}

fn snapshots_in_memory_are_on_the_device(device: &Device) {
    for strategy in [Strategy::Revolve, Strategy::StoreAll, Strategy::Auto] {
        reverse(device, |time_loop| time_loop.slots(70).schedule(strategy));
    }
    reverse(device, |time_loop| time_loop.slots(4).schedule(Strategy::Revolve).check(true));
}

fn snapshots_are_written_as_bytes(device: &Device) {
    let store = DiskStore::open(&in_memory()).unwrap();
    let multistage = |time_loop: TimeLoop<State>| time_loop.slots(2).schedule(Strategy::Multistage);
    let report = reverse(device, |time_loop| multistage(time_loop).store(store, 10));
    assert!(report.writes[1] > 0);
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("run");
    reverse(device, |time_loop| {
        multistage(time_loop).disk_slots(directory.path(), 10).resume(place)
    });
}

const PLACE: &str = "STRATAPE_TEST_PLACE";

/// A run whose process ends in the middle of the backward pass, and one that goes on.
fn resumed(ends_at: Option<usize>) -> Report {
    let device = Device::emulator();
    let place = std::env::var_os(PLACE).unwrap();
    let first = (device.upload(&start()).unwrap(), device.upload(&[0]).unwrap(), 0.0);
    let ending = move |n: usize, state: &State, dx: &mut Buffer<f64>| {
        if ends_at == Some(n) {
            std::process::exit(0);
        }
        pullback(n, state, dx);
    };
    let seed = |_: &State| device.upload(&vec![1.0; N]).unwrap();
    let time_loop = TimeLoop::new(first).steps(STEPS).slots(2).schedule(Strategy::Multistage);
    let time_loop = time_loop.disk_slots(&place, 10).resume(&place).save_every(7);
    let ((x, _, _), dx, report) = time_loop.gradient(step, seed, ending).unwrap();
    let (last, gradient) = expected();
    assert_eq!(x.download().unwrap(), last);
    assert_eq!(dx.download().unwrap(), gradient);
    report
}

#[test]
fn a_run_that_ends() {
    if is_child() {
        resumed(Some(20));
    }
}

#[test]
fn a_run_that_goes_on() {
    if is_child() {
        let report = resumed(None);
        let at = report.resumed.unwrap();
        assert!((20..STEPS - 20).contains(&at), "{report}");
        println!("resumed at {at}");
    }
}

#[test]
fn another_process_goes_on() {
    if is_child() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("run");
    let place = [(PLACE, place.to_str().unwrap())];
    passed(&run("a_run_that_ends", directory.path(), &place));
    let output = run("a_run_that_goes_on", directory.path(), &place);
    passed(&output);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("resumed at "), "{told}");
}

fn snapshots_are_in_layers(device: &Device) {
    for (on_device, on_host) in [(1 << 30, 0), (4, 4), (0, 3), (2, 0), (0, 0)] {
        let store =
            options(on_device * BYTES, on_host * BYTES, in_memory()).open_store(device).unwrap();
        let report = reverse(device, |time_loop| {
            time_loop.slots(1).store(store, 20).schedule(Strategy::Multistage)
        });
        assert_eq!(report.tier, "device, host memory, disk");
        assert!(report.writes[1] >= 10 && report.mended.is_empty(), "{report}");
    }
}

/// A disk that fails: snapshots that cannot be put stay with the run, those that cannot be read are read again, or made again.
fn a_broken_disk_costs_time_alone(device: &Device) {
    for broken in [Operation::Write, Operation::Read] {
        for some in [0, 3, 9] {
            let tier = FaultyTier::new(MemoryTier::new(), move |n, operation| {
                let fails = match operation {
                    Operation::Write => n >= some,
                    Operation::Read => n % (some / 3 + 5) == 0,
                };
                match operation == broken && fails {
                    true => Fault::Fail(ErrorKind::Other),
                    false => Fault::Pass,
                }
            });
            let below = TapeOptions::new().tier(Arc::new(tier));
            let store = options(BYTES, 2 * BYTES, below).open_store(device).unwrap();
            reverse(device, |time_loop| {
                time_loop.slots(2).store(store, 20).schedule(Strategy::Multistage)
            });
        }
    }
}

fn a_store_keeps_what_is_put(device: &Device) {
    let mut store: DeviceStore =
        options(2 * BYTES, 2 * BYTES, in_memory()).open_store(device).unwrap();
    let state = |i: usize| device.upload(&vec![i as f64; N]).unwrap();
    for i in 0..20 {
        store.put(i, &state(i)).unwrap();
    }
    assert_eq!(SnapshotStore::<Buffer<f64>>::bytes(&store), 20 * BYTES as u64);
    // Of another length, or of none: the buffer is made anew.
    for i in [0, 19, 7, 7, 3, 0] {
        SnapshotStore::<Buffer<f64>>::prefetch(&mut store, i);
        let mut back = device.zeros::<f64>(i).unwrap();
        store.get(i, &mut back).unwrap();
        assert_eq!(back.download().unwrap(), vec![i as f64; N]);
        store.get(i, &mut back).unwrap();
        assert_eq!(back.download().unwrap(), vec![i as f64; N]);
    }
    let stats = store.layers();
    assert!(stats.device.peak_bytes <= 2 * BYTES as u64 && stats.disk.buffers >= 10, "{stats}");
    assert!(matches!(store.get(3, &mut device.zeros::<f32>(N).unwrap()), Err(TierError::Io(_))));
    assert!(matches!(store.get(20, &mut state(0)), Err(TierError::Missing(_))));
    assert!(store.get(3, &mut vec![state(0), state(0)]).is_err());
    assert!(store.get(3, &mut Vec::<Buffer<f64>>::new()).is_err());
    for i in 0..20 {
        SnapshotStore::<Buffer<f64>>::remove(&mut store, i);
    }
    assert_eq!(store.layers().bytes, 0);
}

fn buffers_have_a_written_form(device: &Device) {
    let x = device.upload(&[[1i16, -2], [3, -4]]).unwrap();
    let bytes = snapshot::to_bytes(&x);
    assert_eq!(bytes.len(), x.encoded_len());
    let back: Buffer<[i16; 2]> = snapshot::from_bytes(&bytes).unwrap();
    assert_eq!(back.download().unwrap(), [[1, -2], [3, -4]]);
    // On the same device, so that one can be copied to the other.
    let mut same = device.zeros::<[i16; 2]>(2).unwrap();
    same.copy_from(&back).unwrap();
    for len in [0, 2, 5] {
        let mut other = device.zeros::<[i16; 2]>(len).unwrap();
        snapshot::read_into(&mut other, &bytes).unwrap();
        assert_eq!(other.download().unwrap(), [[1, -2], [3, -4]]);
    }
    for cut in 0..bytes.len() {
        assert!(snapshot::from_bytes::<Buffer<[i16; 2]>>(&bytes[..cut]).is_err());
        assert!(snapshot::read_into(&mut same, &bytes[..cut]).is_err());
    }
    // A length that nobody has memory for, a buffer that could not be written, no such device.
    for (at, byte) in [(16, 0xff), (0, 0), (0, 9)] {
        let mut wrong = bytes.clone();
        wrong[at] = byte;
        assert!(snapshot::from_bytes::<Buffer<[i16; 2]>>(&wrong).is_err());
    }
}

/// A case by its name.
type Case = (&'static str, fn(&Device));

fn all(device: &Device) {
    let cases: [Case; 6] = [
        ("snapshots_in_memory_are_on_the_device", snapshots_in_memory_are_on_the_device),
        ("snapshots_are_written_as_bytes", snapshots_are_written_as_bytes),
        ("snapshots_are_in_layers", snapshots_are_in_layers),
        ("a_broken_disk_costs_time_alone", a_broken_disk_costs_time_alone),
        ("a_store_keeps_what_is_put", a_store_keeps_what_is_put),
        ("buffers_have_a_written_form", buffers_have_a_written_form),
    ];
    for (name, case) in cases {
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
        // The threads of a disk let go of the device a moment after the store is dropped.
        std::thread::sleep(Duration::from_millis(300));
    }
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
    let path = ("LD_LIBRARY_PATH", libraries.to_str().unwrap());
    let said = passed(&run("cases", directory.path(), &[path, ("FAKE_LAG", "2")]));
    assert!(said.contains("buffers_have_a_written_form on Fake"), "{said}");
    assert!(!said.contains("leaked:"), "{said}");
}
