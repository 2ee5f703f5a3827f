//! Launches beside and after each other.

use stratape::gpu::{Device, Grid, Stream};

#[stratape::kernel]
#[gradient]
fn scale(y: &mut [f64], x: &[f64], a: f64) {
    let first = thread_idx().x + block_idx().x * block_dim().x;
    for i in (first..x.len()).step_by(block_dim().x * grid_dim().x) {
        y[i] = a * x[i] * x[i];
    }
}

#[test]
fn a_chain_of_launches_and_its_gradient_on_streams() {
    let gpu = Device::new().unwrap();
    let (one, two) = (Stream::new(&gpu).unwrap(), Stream::new(&gpu).unwrap());
    let n = 4096;
    let grid = Grid::blocks(8).threads(64);
    let x = gpu.upload(&vec![1.5; n]).unwrap();
    let (mut y, mut z) = (gpu.zeros(n).unwrap(), gpu.zeros(n).unwrap());
    scale::launch(&gpu, grid.clone().stream(&one), (&mut y, &x, 2.0)).unwrap();
    // Another stream waits for what it reads.
    scale::launch(&gpu, grid.clone().stream(&two), (&mut z, &y, 0.5)).unwrap();
    assert_eq!(z.download().unwrap(), vec![0.5 * 4.5 * 4.5; n]);
    let (mut dz, mut dy, mut dx) =
        (gpu.upload(&vec![1.0; n]).unwrap(), gpu.zeros(n).unwrap(), gpu.zeros(n).unwrap());
    let (mut da, mut db) = (gpu.zeros(1).unwrap(), gpu.zeros(1).unwrap());
    let back = (&mut z, &mut dz, &y, &mut dy, 0.5, &mut db);
    scale_grad::launch(&gpu, grid.clone().stream(&two), back).unwrap();
    let back = (&mut y, &mut dy, &x, &mut dx, 2.0, &mut da);
    scale_grad::launch(&gpu, grid.stream(&one), back).unwrap();
    let slope = 2.0 * 0.5 * 4.5 * 2.0 * 2.0 * 1.5;
    assert_eq!(dx.download().unwrap(), vec![slope; n]);
    assert_eq!(db.download().unwrap(), [4.5 * 4.5 * n as f64]);
    assert_eq!(da.download().unwrap(), [2.0 * 0.5 * 4.5 * 1.5 * 1.5 * n as f64]);
}

#[test]
fn texts_can_be_read() {
    let (language, cuda) = scale_grad::texts();
    assert!(language.starts_with("fn scale_grad("));
    assert!(cuda.contains("extern \"C\" __global__ void scale_grad_kernel("));
}
