//! Launches that ask for the same bits in every run.

use crate::differences::{agree, numbers, weights};
use crate::ptx::ptx;
use stratape::gpu::__private::Order;
use stratape::gpu::{Device, Grid, fresh};

#[stratape::kernel]
#[gradient]
fn gathered(y: &mut [f64], x: &[f64], at: &[u32], scale: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] = scale * x[at[i] as usize] * x[at[i] as usize / 2];
    }
}

#[stratape::kernel]
#[gradient]
fn summed(sum: &mut [f32], x: &[f32], n: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    for k in 0..n {
        atomic_add(&mut sum[k % 3], x[(i * k) % x.len()]);
    }
}

#[stratape::kernel]
#[gradient]
fn squared(y: &mut [f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < y.len() {
        y[i] *= y[i];
    }
}

#[stratape::kernel]
#[gradient]
fn through_shared(y: &mut [f64], x: &[f64]) {
    let mut tile = shared::<[f64; 64]>();
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[t] * tile[t / 2];
}

#[stratape::kernel]
fn tickets(slots: &mut [f64], next: &mut [u32]) {
    let own = atomic_add(&mut next[0], 1);
    slots[own as usize] = thread_idx().x as f64;
}

#[test]
fn what_can_be_had() {
    let order = |texts: &'static stratape::gpu::__private::Kernel| texts.text().order;
    // Along x the additions to `dx` are two, and that to `dscale` is a third; `dy` belongs to the threads.
    assert_eq!(order(gathered_grad::__kernel())[0], Order::Logged(Some(3)));
    assert_eq!(order(gathered::__kernel()), [Order::Free; 2]);
    assert_eq!(order(summed::__kernel()), [Order::Logged(None); 2]);
    assert_eq!(order(summed_grad::__kernel()), [Order::Logged(None); 2]);
    let [along_x, other] = order(squared_grad::__kernel());
    assert_eq!(along_x, Order::Free);
    assert!(matches!(other, Order::Refused(why) if why.contains("also reads")), "{other:?}");
    let [shared, _] = order(through_shared_grad::__kernel());
    assert!(matches!(shared, Order::Refused(why) if why.contains("shared memory")), "{shared:?}");
    let [tickets, _] = order(tickets::__kernel());
    assert!(matches!(tickets, Order::Refused(why) if why.contains("comes first")), "{tickets:?}");
}

#[test]
fn they_compile_for_a_device() {
    ptx(&[gathered_grad::texts(), summed::texts(), summed_grad::texts(), squared_grad::texts()]);
}

#[test]
fn the_same_bits_in_every_run() {
    let gpu = Device::new().unwrap();
    let n: usize = 500;
    let grid = Grid::blocks(n.div_ceil(32)).threads(32).deterministic();
    let at: Vec<u32> = (0..n).map(|k| (k * k % 7) as u32).collect();
    let (at, numbers) = (gpu.upload(&at).unwrap(), numbers(8));
    let run = |numbers: &[f64]| {
        let (x, mut y) = (gpu.upload(&numbers[..7]).unwrap(), gpu.zeros(n).unwrap());
        gathered::launch(&gpu, &grid, (&mut y, &x, &at, numbers[7])).unwrap();
        let y = y.download().unwrap();
        y.iter().zip(weights(n)).map(|(y, w)| y * w).sum::<f64>()
    };
    let x = gpu.upload(&numbers[..7]).unwrap();
    let mut first: Option<Vec<f64>> = None;
    for _ in 0..10 {
        let (mut y, mut dy) = (gpu.zeros(n).unwrap(), gpu.upload(&weights(n)).unwrap());
        let (mut dx, mut dscale) = (gpu.zeros(7).unwrap(), gpu.zeros(1).unwrap());
        let arguments = (&mut y, &mut dy, &x, fresh(&mut dx), &at, numbers[7], fresh(&mut dscale));
        gathered_grad::launch(&gpu, &grid, arguments).unwrap();
        let found = [dx.download().unwrap(), dscale.download().unwrap()].concat();
        match &first {
            Some(first) => assert_eq!(*first, found),
            None => {
                agree(run, &numbers, &found, 1e-6);
                first = Some(found);
            }
        }
    }
}
