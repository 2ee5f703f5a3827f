//! What is uploaded comes back, for every type of element.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::fmt::Debug;

use stratape_cuda::{Device, Element, GpuError};

/// The emulator, and the CUDA device if there is one.
fn devices() -> Vec<Device> {
    let mut devices = vec![Device::emulator()];
    devices.extend(Device::cuda(0));
    devices
}

fn round_trip<T: Element + PartialEq + Debug>(elements: &[T]) {
    for device in devices() {
        let mut buffer = device.upload(elements).unwrap();
        assert_eq!(buffer.len(), elements.len());
        assert_eq!(buffer.is_empty(), elements.is_empty());
        assert_eq!(buffer.download().unwrap(), elements, "{device}");

        let mut copy = device.alloc_like(&buffer).unwrap();
        copy.copy_from(&buffer).unwrap();
        buffer.fill_zero().unwrap();
        let mut host = elements.to_vec();
        host.reverse();
        copy.download_into(&mut host).unwrap();
        assert_eq!(host, elements, "{device}");

        let zeros = device.zeros::<T>(elements.len()).unwrap().download().unwrap();
        assert_eq!(buffer.download().unwrap(), zeros, "{device}");
        buffer.write(elements).unwrap();
        assert_eq!(buffer.download().unwrap(), elements, "{device}");
    }
}

#[test]
fn scalars() {
    round_trip(&[true, false, true]);
    round_trip(&[0.0f32, -0.0, f32::MIN_POSITIVE, f32::INFINITY, 1.5e-45]);
    round_trip(&[0.0f64, -1.25, f64::MAX, f64::NEG_INFINITY, 5e-324]);
    round_trip(&[i8::MIN, -1, 0, i8::MAX]);
    round_trip(&[i16::MIN, -1, 0, i16::MAX]);
    round_trip(&[i32::MIN, -1, 0, i32::MAX]);
    round_trip(&[i64::MIN, -1, 0, i64::MAX]);
    round_trip(&[isize::MIN, -1, 0, isize::MAX]);
    round_trip(&[0u8, 1, u8::MAX]);
    round_trip(&[0u16, 1, u16::MAX]);
    round_trip(&[0u32, 1, u32::MAX]);
    round_trip(&[0u64, 1, u64::MAX]);
    round_trip(&[0usize, 1, usize::MAX]);
}

#[test]
fn arrays() {
    round_trip(&[[1.0f32, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
    round_trip(&[[[1i16, 2], [3, 4], [5, 6]], [[-1, -2], [-3, -4], [-5, -6]]]);
    round_trip(&[[true, false], [false, true]]);
}

#[test]
fn nothing() {
    round_trip::<f64>(&[]);
    round_trip::<[f64; 3]>(&[]);
    // Elements without scalars.
    round_trip(&[[0.0f64; 0]; 3]);
}

#[test]
fn bits_of_nan() {
    let payload = f64::from_bits(0x7ff8_0000_0000_1234);
    for device in devices() {
        let back = device.upload(&[payload]).unwrap().download().unwrap();
        assert_eq!(back[0].to_bits(), payload.to_bits());
    }
}

#[test]
fn many() {
    round_trip(&(0..100_000).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn more_than_there_is() {
    for device in devices() {
        for len in [usize::MAX, usize::MAX / 8, 1 << 55] {
            let error = device.zeros::<f64>(len).unwrap_err();
            assert!(
                matches!(error, GpuError::OutOfMemory { .. } | GpuError::OutOfHostMemory { .. }),
                "{error}"
            );
        }
        assert_eq!(device.zeros::<f64>(1).unwrap().download().unwrap(), [0.0]);
    }
}

#[test]
fn handles_and_buffers_cross_threads() {
    fn shared<T: Send + Sync>(value: T) -> T {
        value
    }
    let device = shared(Device::emulator());
    let buffer = shared(device.upload(&[1, 2, 3]).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(buffer.download().unwrap(), [1, 2, 3]));
        }
    });
}
