//! What a launch and a copy refuse, before they change anything.

#![allow(clippy::panic, clippy::unwrap_used)]

use stratape_cuda::__private::{Arg, Fresh, Kernel, KernelText, Order, Param, Tape, launch};
use stratape_cuda::{Buffer, Device, GpuError, Grid, ScalarType, Shadow, Stream, fresh};

const fn slice(mutable: bool, shadow_of: Option<usize>) -> Param {
    Param::Slice { scalar: ScalarType::F64, arity: 1, mutable, shadow_of, fresh: Fresh::Added }
}

/// Does nothing, with the parameters of the gradient of an axpy: y, dy, x, dx, a, da.
static NOTHING: Kernel = Kernel::new(&KernelText {
    name: "nothing",
    language: "fn nothing(@y: &mut [f64], @dy: &mut [f64], @x: &[f64], @dx: &mut [f64], a: f64, @da: &mut [f64]) { }",
    cuda: r#"extern "C" __global__ void nothing(
        double* y, unsigned long long y_len, double* dy, unsigned long long dy_len,
        const double* x, unsigned long long x_len, double* dx, unsigned long long dx_len,
        double a, double* da, unsigned long long da_len,
        unsigned char* stratape_tape, unsigned long long stratape_tape_bytes, unsigned int* stratape_fault) {}"#,
    params: &[
        slice(true, None),
        slice(true, Some(0)),
        slice(false, None),
        slice(true, Some(2)),
        Param::Value(ScalarType::F64),
        slice(true, Some(4)),
    ],
    tape: Tape::None,
    constants: &[],
    dynamic_shared: 1,
    order: [Order::Free; 2],
    elect: None,
    checks: &[],
});

struct Buffers {
    y: Buffer<f64>,
    dy: Buffer<f64>,
    x: Buffer<f64>,
    dx: Buffer<f64>,
    da: Buffer<f64>,
}

impl Buffers {
    fn on(device: &Device) -> Self {
        let ones = |n| device.upload(&vec![1.0; n]).unwrap();
        Self { y: ones(3), dy: ones(3), x: ones(4), dx: ones(4), da: ones(1) }
    }

    fn args(&mut self) -> [Arg<'_>; 6] {
        [
            Arg::from(&mut self.y),
            Arg::from(Shadow::from(&mut self.dy)),
            Arg::from(&self.x),
            Arg::from(fresh(&mut self.dx)),
            Arg::from(2.5),
            Arg::from(&mut self.da),
        ]
    }
}

/// What a launch with one argument replaced says.
fn with(index: usize, arg: Arg<'_>) -> String {
    let device = Device::emulator();
    let mut buffers = Buffers::on(&device);
    let mut args = buffers.args();
    args[index] = arg;
    launch(&NOTHING, &device, &Grid::blocks(1), &mut args).unwrap_err().to_string()
}

#[test]
fn another_number_of_arguments() {
    let device = Device::emulator();
    let mut buffers = Buffers::on(&device);
    let mut args: Vec<_> = buffers.args().into_iter().collect();
    args.pop();
    let grid = Grid::blocks(1);
    let error = launch(&NOTHING, &device, &grid, &mut args).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `nothing` takes `&mut Buffer<f64>` as argument 5 and was given nothing. Nothing was launched"
    );
    let mut many: Vec<_> = buffers.args().into_iter().chain([Arg::from(1u8)]).collect();
    let error = launch(&NOTHING, &device, &grid, &mut many).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("takes nothing as argument 6 and was given a value of type `u8`")
    );
}

#[test]
fn arguments_of_another_kind() {
    let device = Device::emulator();
    let single = device.zeros::<f32>(3).unwrap();
    let wide = device.zeros::<[f64; 2]>(4).unwrap();
    let right = device.zeros::<f64>(3).unwrap();
    assert!(
        with(4, Arg::from(2.5f32)).contains(
            "takes a value of type `f64` as argument 4 and was given a value of type `f32`"
        )
    );
    assert!(with(4, Arg::from(&right)).contains("was given `&Buffer<f64>`"));
    assert!(with(0, Arg::from(1.0)).contains("takes `&mut Buffer<f64>` as argument 0"));
    assert!(with(0, Arg::from(&right)).contains("was given `&Buffer<f64>`"));
    assert!(with(2, Arg::from(&single)).contains("was given `&Buffer<f32>`"));
    assert!(with(2, Arg::from(&wide)).contains("was given `&Buffer<[f64; 2]>`"));
}

#[test]
fn shadows_of_another_length() {
    let device = Device::emulator();
    let mut buffers = Buffers::on(&device);
    buffers.dx = device.zeros(5).unwrap();
    let error = launch(&NOTHING, &device, &Grid::blocks(1), &mut buffers.args()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the shadow, argument 3 of kernel `nothing`, has 5 elements and must have 4. Nothing was changed"
    );
    buffers.dx = device.zeros(4).unwrap();
    buffers.da = device.zeros(2).unwrap();
    let error = launch(&NOTHING, &device, &Grid::blocks(1), &mut buffers.args()).unwrap_err();
    assert!(matches!(error, GpuError::Length { expected: 1, found: 2, .. }), "{error}");
}

#[test]
fn buffers_and_streams_of_another_device() {
    let (here, there) = (Device::emulator(), Device::emulator());
    let mut buffers = Buffers::on(&here);
    buffers.x = there.zeros(4).unwrap();
    let error = launch(&NOTHING, &here, &Grid::blocks(1), &mut buffers.args()).unwrap_err();
    assert!(error.to_string().starts_with(
        "argument 2 of kernel `nothing` belongs to emulator and was used with another emulator."
    ));

    let mut buffers = Buffers::on(&here);
    let stream = Stream::new(&there).unwrap();
    let grid = Grid::blocks(1).stream(&stream);
    let error = launch(&NOTHING, &here, &grid, &mut buffers.args()).unwrap_err();
    assert!(matches!(error, GpuError::WrongDevice { .. }), "{error}");

    let x = here.upload(&[1.0]).unwrap();
    let mut y = there.upload(&[2.0]).unwrap();
    assert!(matches!(y.copy_from(&x), Err(GpuError::WrongDevice { .. })));
    assert_eq!(y.download().unwrap(), [2.0]);

    // Handles of one device are the same, whether they check or not.
    let mut z = here.clone().checking(false).zeros(1).unwrap();
    z.copy_from(&x).unwrap();
    assert_eq!(here, here.clone().checking(false));
    assert_ne!(here, there);
}

#[test]
fn grids_beyond_the_limits() {
    let device = Device::emulator();
    let mut buffers = Buffers::on(&device);
    let mut refused =
        |grid: Grid| launch(&NOTHING, &device, &grid, &mut buffers.args()).unwrap_err();
    assert!(matches!(refused(Grid::blocks(0)), GpuError::EmptyGrid { .. }));
    assert!(matches!(refused(Grid::blocks(1).threads((8, 0))), GpuError::EmptyGrid { .. }));
    assert_eq!(
        refused(Grid::blocks((1, 70_000))).to_string(),
        "the launch asks for 70000 blocks along y, the device allows 65535. Nothing was launched; let each thread do more, \
         or choose another shape of the grid"
    );
    assert!(matches!(
        refused(Grid::blocks(1).threads((32, 33))),
        GpuError::GridLimit { asked: 1056, limit: 1024, .. }
    ));
    assert!(matches!(refused(Grid::blocks(1usize << 40)), GpuError::GridLimit { .. }));
    assert!(matches!(refused(Grid::blocks(1).shared(1 << 20)), GpuError::SharedMemory { .. }));
}

#[test]
fn a_fresh_shadow_is_zeroed_and_another_is_not() {
    let device = Device::emulator();
    let mut buffers = Buffers::on(&device);
    match launch(&NOTHING, &device, &Grid::blocks(1), &mut buffers.args()) {
        Ok(()) | Err(GpuError::Unsupported(_)) => {}
        Err(other) => panic!("{other}"),
    }
    assert_eq!(buffers.dx.download().unwrap(), [0.0; 4]);
    assert_eq!(buffers.dy.download().unwrap(), [1.0; 3]);
}

#[test]
fn a_kernel_that_cannot_be_read() {
    static BROKEN: Kernel = Kernel::new(&KernelText {
        name: "broken",
        language: "fn broken() {\n  what is this\n}",
        cuda: "",
        params: &[],
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &[],
    });
    let error = launch(&BROKEN, &Device::emulator(), &Grid::blocks(1), &mut []).unwrap_err();
    let GpuError::Compile { kernel, log, .. } = &error else { panic!("{error}") };
    assert_eq!(kernel, "broken");
    assert!(log.starts_with("2:"), "{log}");
}

#[test]
fn copies_between_different_lengths() {
    let device = Device::emulator();
    let mut three = device.upload(&[1.0, 2.0, 3.0]).unwrap();
    let two = device.upload(&[9.0, 9.0]).unwrap();
    let length = |error| matches!(error, Err(GpuError::Length { expected: 3, found: 2, .. }));
    assert!(length(three.copy_from(&two)));
    assert!(length(three.write(&[9.0, 9.0])));
    assert!(length(three.download_into(&mut [9.0, 9.0])));
    assert_eq!(three.download().unwrap(), [1.0, 2.0, 3.0]);
}
