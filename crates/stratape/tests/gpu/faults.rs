//! What goes wrong is an error that says what to do.

use stratape::gpu::{Device, FaultKind, GpuError, Grid};

#[stratape::kernel]
#[gradient]
fn copy(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    y[i] = x[i];
}

#[test]
fn an_index_out_of_bounds_is_reported_with_its_thread() {
    let gpu = Device::new().unwrap().checking(true);
    let (x, mut y) = (gpu.upload(&[1.0; 5]).unwrap(), gpu.zeros(5).unwrap());
    let error = copy::launch(&gpu, Grid::blocks(2).threads(4), (&mut y, &x)).unwrap_err();
    let GpuError::Fault(fault) = error else { panic!("{error}") };
    assert_eq!((fault.kind, fault.block), (FaultKind::OutOfBounds, [1, 0, 0]));
    assert_eq!(fault.kernel, "copy");
}

#[stratape::kernel]
fn meet(y: &mut [f64]) {
    y[0] = thread_idx().x as f64;
}

#[test]
fn a_race_is_reported_by_the_emulator() {
    let gpu = Device::emulator().checking(true);
    let mut y = gpu.zeros(1).unwrap();
    let error = meet::launch(&gpu, Grid::blocks(1).threads(2), (&mut y,)).unwrap_err();
    let GpuError::Fault(fault) = &error else { panic!("{error}") };
    assert_eq!(fault.kind, FaultKind::Race);
    assert!(error.to_string().contains("`y` at 0"), "{error}");
}

#[test]
fn lengths_and_grids_are_checked() {
    let gpu = Device::new().unwrap();
    let (x, mut y) = (gpu.upload(&[1.0; 4]).unwrap(), gpu.zeros(4).unwrap());
    let (mut dy, mut dx) = (gpu.zeros(4).unwrap(), gpu.zeros(3).unwrap());
    let grid = Grid::blocks(1).threads(4);
    let error = copy_grad::launch(&gpu, &grid, (&mut y, &mut dy, &x, &mut dx)).unwrap_err();
    assert!(matches!(error, GpuError::Length { expected: 4, found: 3, .. }), "{error}");
    let error = copy::launch(&gpu, Grid::blocks(1).threads(2000), (&mut y, &x)).unwrap_err();
    assert!(matches!(error, GpuError::GridLimit { .. }), "{error}");
    let error = copy::launch(&gpu, Grid::blocks(0), (&mut y, &x)).unwrap_err();
    assert!(matches!(error, GpuError::EmptyGrid { .. }), "{error}");
    let other = Device::emulator();
    let foreign = other.upload(&[1.0; 4]).unwrap();
    let error = copy::launch(&gpu, &grid, (&mut y, &foreign)).unwrap_err();
    assert!(matches!(error, GpuError::WrongDevice { .. }), "{error}");
}

#[stratape::kernel]
#[gradient]
fn tiles(y: &mut [f64], x: &[f64]) {
    let mut tile = shared::<[f64; 4096]>();
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[t] * tile[t];
}

#[test]
fn shared_memory_is_limited_as_on_a_device() {
    // 32 KiB fit, and with the adjoints of the tile they do not.
    let gpu = Device::emulator();
    let grid = Grid::blocks(1).threads(2);
    let (x, mut y) = (gpu.upload(&[1.0, 2.0]).unwrap(), gpu.zeros(2).unwrap());
    tiles::launch(&gpu, &grid, (&mut y, &x)).unwrap();
    let most = grid.clone().shared((227 << 10) - (32 << 10));
    tiles::launch(&gpu, &most, (&mut y, &x)).unwrap();
    let error = tiles::launch(&gpu, grid.clone().shared(200 << 10), (&mut y, &x)).unwrap_err();
    assert!(matches!(error, GpuError::SharedMemory { limit, .. } if limit == 195 << 10), "{error}");
    let (mut dy, mut dx) = (gpu.zeros(2).unwrap(), gpu.zeros(2).unwrap());
    let error = tiles_grad::launch(&gpu, &grid, (&mut y, &mut dy, &x, &mut dx)).unwrap_err();
    let GpuError::StaticSharedMemory { declared, limit, .. } = error else { panic!("{error}") };
    assert_eq!((declared, limit), (64 << 10, 48 << 10));
}
