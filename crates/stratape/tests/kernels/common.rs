//! Numbers, launches and differences for the kernels of this folder.

pub use stratape::gpu::{Buffer, Device, GpuError, Grid, fresh};

pub struct Rng(pub u64);
impl Rng {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as f64) / (1u64 << 31) as f64
    }
    pub fn vec(&mut self, n: usize, lo: f64, hi: f64) -> Vec<f64> {
        (0..n).map(|_| lo + (hi - lo) * self.next()).collect()
    }
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() * n as f64) as usize).min(n - 1)
    }
    pub fn perm(&mut self, n: usize) -> Vec<usize> {
        let mut p: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            let j = self.below(i + 1);
            p.swap(i, j);
        }
        p
    }
}

pub trait Num: Copy + Default + 'static {
    fn to(self) -> f64;
    fn of(v: f64) -> Self;
    const F32: bool;
}
impl Num for f64 {
    fn to(self) -> f64 {
        self
    }
    fn of(v: f64) -> f64 {
        v
    }
    const F32: bool = false;
}
impl Num for f32 {
    fn to(self) -> f64 {
        self as f64
    }
    fn of(v: f64) -> f32 {
        v as f32
    }
    const F32: bool = true;
}
pub fn cast<T: Num>(v: &[f64]) -> Vec<T> {
    v.iter().map(|x| T::of(*x)).collect()
}
pub fn back<T: Num>(v: Vec<T>) -> Vec<f64> {
    v.into_iter().map(|x| x.to()).collect()
}

pub type Slots = Vec<Vec<f64>>;

/// Values of the slots after the kernel (inputs unchanged).
#[macro_export]
macro_rules! fwd {
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $n:ident, [$($acc:tt)*], [$($out:tt)*];) => {{
        $k::launch($gpu, $grid, ($($acc)*))?;
        Ok(vec![$($out)*])
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $n:ident, [$($acc:tt)*], [$($out:tt)*]; mut $t:ty, $($rest:tt)*) => {{
        let mut b: Buffer<$t> = $gpu.upload(&cast::<$t>(&$v[$n]))?;
        $n += 1;
        fwd!($k, $gpu, $grid, $v, $n, [$($acc)* &mut b,], [$($out)* back::<$t>(b.download()?),]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $n:ident, [$($acc:tt)*], [$($out:tt)*]; in $t:ty, $($rest:tt)*) => {{
        let b: Buffer<$t> = $gpu.upload(&cast::<$t>(&$v[$n]))?;
        $n += 1;
        fwd!($k, $gpu, $grid, $v, $n, [$($acc)* &b,], [$($out)* back::<$t>(b.download()?),]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $n:ident, [$($acc:tt)*], [$($out:tt)*]; val $t:ty, $($rest:tt)*) => {{
        let b: $t = <$t as Num>::of($v[$n][0]);
        $n += 1;
        fwd!($k, $gpu, $grid, $v, $n, [$($acc)* b,], [$($out)* vec![b.to()],]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $n:ident, [$($acc:tt)*], [$($out:tt)*]; raw ($e:expr), $($rest:tt)*) => {{
        fwd!($k, $gpu, $grid, $v, $n, [$($acc)* $e,], [$($out)*]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $n:ident, [$($acc:tt)*], [$($out:tt)*]; buf ($e:expr), $($rest:tt)*) => {{
        let b = $gpu.upload($e)?;
        fwd!($k, $gpu, $grid, $v, $n, [$($acc)* &b,], [$($out)*]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $n:ident, [$($acc:tt)*], [$($out:tt)*]; bufmut ($e:expr), $($rest:tt)*) => {{
        let mut b = $gpu.upload($e)?;
        fwd!($k, $gpu, $grid, $v, $n, [$($acc)* &mut b,], [$($out)*]; $($rest)*)
    }};
}
/// (values after, shadows after)
#[macro_export]
macro_rules! rev {
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $s:ident, $n:ident, $f:tt, [$($acc:tt)*], [$($out:tt)*], [$($sh:tt)*];) => {{
        $k::launch($gpu, $grid, ($($acc)*))?;
        Ok((vec![$($out)*], vec![$($sh)*]))
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $s:ident, $n:ident, $f:tt, [$($acc:tt)*], [$($out:tt)*], [$($sh:tt)*]; mut $t:ty, $($rest:tt)*) => {{
        let mut b: Buffer<$t> = $gpu.upload(&cast::<$t>(&$v[$n]))?;
        let mut d: Buffer<$t> = $gpu.upload(&cast::<$t>(&$s[$n]))?;
        $n += 1;
        rev!($k, $gpu, $grid, $v, $s, $n, $f, [$($acc)* &mut b, &mut d,], [$($out)* back::<$t>(b.download()?),], [$($sh)* back::<$t>(d.download()?),]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $s:ident, $n:ident, fresh, [$($acc:tt)*], [$($out:tt)*], [$($sh:tt)*]; in $t:ty, $($rest:tt)*) => {{
        let b: Buffer<$t> = $gpu.upload(&cast::<$t>(&$v[$n]))?;
        let mut d: Buffer<$t> = $gpu.upload(&cast::<$t>(&$s[$n]))?;
        $n += 1;
        rev!($k, $gpu, $grid, $v, $s, $n, fresh, [$($acc)* &b, fresh(&mut d),], [$($out)* back::<$t>(b.download()?),], [$($sh)* back::<$t>(d.download()?),]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $s:ident, $n:ident, add, [$($acc:tt)*], [$($out:tt)*], [$($sh:tt)*]; in $t:ty, $($rest:tt)*) => {{
        let b: Buffer<$t> = $gpu.upload(&cast::<$t>(&$v[$n]))?;
        let mut d: Buffer<$t> = $gpu.upload(&cast::<$t>(&$s[$n]))?;
        $n += 1;
        rev!($k, $gpu, $grid, $v, $s, $n, add, [$($acc)* &b, &mut d,], [$($out)* back::<$t>(b.download()?),], [$($sh)* back::<$t>(d.download()?),]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $s:ident, $n:ident, fresh, [$($acc:tt)*], [$($out:tt)*], [$($sh:tt)*]; val $t:ty, $($rest:tt)*) => {{
        let b: $t = <$t as Num>::of($v[$n][0]);
        let mut d: Buffer<$t> = $gpu.upload(&cast::<$t>(&$s[$n]))?;
        $n += 1;
        rev!($k, $gpu, $grid, $v, $s, $n, fresh, [$($acc)* b, fresh(&mut d),], [$($out)* vec![b.to()],], [$($sh)* back::<$t>(d.download()?),]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $s:ident, $n:ident, add, [$($acc:tt)*], [$($out:tt)*], [$($sh:tt)*]; val $t:ty, $($rest:tt)*) => {{
        let b: $t = <$t as Num>::of($v[$n][0]);
        let mut d: Buffer<$t> = $gpu.upload(&cast::<$t>(&$s[$n]))?;
        $n += 1;
        rev!($k, $gpu, $grid, $v, $s, $n, add, [$($acc)* b, &mut d,], [$($out)* vec![b.to()],], [$($sh)* back::<$t>(d.download()?),]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $s:ident, $n:ident, $f:tt, [$($acc:tt)*], [$($out:tt)*], [$($sh:tt)*]; raw ($e:expr), $($rest:tt)*) => {{
        rev!($k, $gpu, $grid, $v, $s, $n, $f, [$($acc)* $e,], [$($out)*], [$($sh)*]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $s:ident, $n:ident, $f:tt, [$($acc:tt)*], [$($out:tt)*], [$($sh:tt)*]; buf ($e:expr), $($rest:tt)*) => {{
        let b = $gpu.upload($e)?;
        rev!($k, $gpu, $grid, $v, $s, $n, $f, [$($acc)* &b,], [$($out)*], [$($sh)*]; $($rest)*)
    }};
    ($k:ident, $gpu:ident, $grid:ident, $v:ident, $s:ident, $n:ident, $f:tt, [$($acc:tt)*], [$($out:tt)*], [$($sh:tt)*]; bufmut ($e:expr), $($rest:tt)*) => {{
        let mut b = $gpu.upload($e)?;
        rev!($k, $gpu, $grid, $v, $s, $n, $f, [$($acc)* &mut b,], [$($out)*], [$($sh)*]; $($rest)*)
    }};
}
/// Whether slot is mut
#[macro_export]
macro_rules! kinds {
    ([$($o:tt)*];) => { vec![$($o)*] };
    ([$($o:tt)*]; mut f32, $($r:tt)*) => { kinds!([$($o)* (true, true),]; $($r)*) };
    ([$($o:tt)*]; mut f64, $($r:tt)*) => { kinds!([$($o)* (true, false),]; $($r)*) };
    ([$($o:tt)*]; in f32, $($r:tt)*) => { kinds!([$($o)* (false, true),]; $($r)*) };
    ([$($o:tt)*]; in f64, $($r:tt)*) => { kinds!([$($o)* (false, false),]; $($r)*) };
    ([$($o:tt)*]; val f32, $($r:tt)*) => { kinds!([$($o)* (false, true),]; $($r)*) };
    ([$($o:tt)*]; val f64, $($r:tt)*) => { kinds!([$($o)* (false, false),]; $($r)*) };
    ([$($o:tt)*]; raw $e:tt, $($r:tt)*) => { kinds!([$($o)*]; $($r)*) };
    ([$($o:tt)*]; buf $e:tt, $($r:tt)*) => { kinds!([$($o)*]; $($r)*) };
    ([$($o:tt)*]; bufmut $e:tt, $($r:tt)*) => { kinds!([$($o)*]; $($r)*) };
}

/// check!(kernel, kernel_grad, grid, slots, [spec,...])
#[macro_export]
macro_rules! check {
    ($k:ident, $g:ident, $grid:expr, $slots:expr, [$($spec:tt)*]) => {{
        let slots: Slots = $slots;
        let the_grid = $grid;
        let grid = &the_grid;
        let run = |gpu: &Device, v: &Slots| -> Result<Slots, GpuError> { let mut n = 0; let r = fwd!($k, gpu, grid, v, n, [], []; $($spec)*); let _ = n; r };
        let add = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> { let mut n = 0; let r = rev!($g, gpu, grid, v, s, n, add, [], [], []; $($spec)*); let _ = n; r };
        let fre = |gpu: &Device, v: &Slots, s: &Slots| -> Result<(Slots, Slots), GpuError> { let mut n = 0; let r = rev!($g, gpu, grid, v, s, n, fresh, [], [], []; $($spec)*); let _ = n; r };
        let kinds: Vec<(bool, bool)> = kinds!([]; $($spec)*);
        $crate::common::verify(concat!(stringify!($k)), &format!("{:?}", grid), &slots, &kinds, &run, &add, &fre);
    }};
}

pub fn verify(
    name: &str,
    grid: &str,
    slots: &Slots,
    kinds: &[(bool, bool)],
    run: &dyn Fn(&Device, &Slots) -> Result<Slots, GpuError>,
    add: &dyn Fn(&Device, &Slots, &Slots) -> Result<(Slots, Slots), GpuError>,
    fre: &dyn Fn(&Device, &Slots, &Slots) -> Result<(Slots, Slots), GpuError>,
) {
    assert_eq!(slots.len(), kinds.len(), "test of {name} is wrong: slots");
    let mut rng = Rng(12345 + name.len() as u64);
    let f32s = kinds.iter().any(|k| k.1);
    let devs = [("checked", Device::emulator()), ("unchecked", Device::emulator().checking(false))];
    let gpu = &devs[0].1;
    let base = match run(gpu, slots) {
        Ok(b) => b,
        Err(e) => panic!("{name} [{grid}] FORWARD: {e}"),
    };
    let seeds: Slots = slots.iter().map(|s| rng.vec(s.len(), -1.0, 1.0)).collect();
    let loss = |v: &Slots| -> f64 {
        let out = run(gpu, v).unwrap();
        let mut l = 0.0;
        for (k, o) in out.iter().enumerate() {
            if kinds[k].0 {
                for (i, y) in o.iter().enumerate() {
                    l += y * seeds[k][i];
                }
            }
        }
        l
    };
    let f32s = f32s || name.contains("f32") || name == "shuffle_int";
    let (h, tol) = if f32s { (4e-3, 2e-2) } else { (1e-5, 1e-6) };
    // sampled elements
    let mut samples = Vec::new();
    for (k, s) in slots.iter().enumerate() {
        let picks: Vec<usize> = if std::env::var_os("FUZZ").is_some() {
            Vec::new()
        } else if s.len() <= 24 {
            (0..s.len()).collect()
        } else {
            let p = rng.perm(s.len());
            let mut q = p[..20].to_vec();
            q.extend([0, s.len() - 1]);
            q
        };
        for i in picks {
            let difference = |h: f64| {
                let mut v = slots.clone();
                v[k][i] += h;
                let p = loss(&v);
                v[k][i] = slots[k][i] - h;
                let m = loss(&v);
                (p - m) / (2.0 * h)
            };
            samples.push((k, i, difference(h)));
        }
    }
    // direction
    let dir: Slots = slots.iter().map(|s| rng.vec(s.len(), -1.0, 1.0)).collect();
    let shift = |c: f64| -> Slots {
        slots
            .iter()
            .zip(&dir)
            .map(|(s, d)| s.iter().zip(d).map(|(a, b)| a + c * b).collect())
            .collect()
    };
    let along = (loss(&shift(h)) - loss(&shift(-h))) / (2.0 * h);
    let mut errors = Vec::new();
    let mut scale = 1.0f64;
    for (_, _, e) in &samples {
        scale = scale.max(e.abs());
    }
    for (dname, dev) in &devs {
        for (mode, f, is_add) in [("add", add, true), ("fresh", fre, false)] {
            let (values, shadows) = match f(dev, slots, &seeds) {
                Ok(r) => r,
                Err(e) => {
                    errors.push(format!("{dname}/{mode} GRADIENT LAUNCH: {e}"));
                    continue;
                }
            };
            for k in 0..slots.len() {
                for i in 0..slots[k].len() {
                    if (values[k][i] - base[k][i]).abs()
                        > if f32s { 1e-4 } else { 1e-10 } * (1.0 + base[k][i].abs())
                        || values[k][i].is_nan() != base[k][i].is_nan()
                    {
                        errors.push(format!(
                            "{dname}/{mode} primal slot {k}[{i}]: kernel {} gradient {}",
                            base[k][i], values[k][i]
                        ));
                        break;
                    }
                }
            }
            let g = |k: usize, i: usize| {
                shadows[k][i] - if !kinds[k].0 && is_add { seeds[k][i] } else { 0.0 }
            };
            let mut bad = 0;
            for &(k, i, e) in &samples {
                // A difference that does not fit is taken again with smaller steps.
                let again = || {
                    !f32s
                        && [1e-6, 1e-7].iter().any(|h| {
                            let mut v = slots.clone();
                            v[k][i] += h;
                            let p = loss(&v);
                            v[k][i] = slots[k][i] - h;
                            let m = loss(&v);
                            ((p - m) / (2.0 * h) - g(k, i)).abs() <= 3e-6 * scale
                        })
                };
                if !((g(k, i) - e).abs() <= tol * scale) && !again() {
                    bad += 1;
                    if bad <= 6 {
                        errors.push(format!(
                            "{dname}/{mode} slot {k}[{i}]: differences {e} gradient {}",
                            g(k, i)
                        ));
                    }
                }
            }
            if bad > 0 {
                errors.push(format!("{dname}/{mode}: {bad} of {} wrong", samples.len()));
            }
            let mut d = 0.0;
            let mut sz = scale;
            for k in 0..slots.len() {
                for i in 0..slots[k].len() {
                    d += g(k, i) * dir[k][i];
                    sz += (g(k, i) * dir[k][i]).abs();
                }
            }
            let again = || {
                !f32s
                    && [(1e-6, 3e-6), (1e-7, 3e-6), (1e-9, 1e-4), (1e-10, 1e-3)].iter().any(
                        |(h, tol)| {
                            ((loss(&shift(*h)) - loss(&shift(-*h))) / (2.0 * h) - d).abs()
                                <= tol * sz
                        },
                    )
            };
            if !((d - along).abs() <= tol * sz) && !again() {
                errors.push(format!("{dname}/{mode} direction: differences {along} gradient {d}"));
            }
        }
    }
    if !errors.is_empty() {
        panic!("{name} [{grid}]:\n  {}", errors.join("\n  "));
    }
}

pub fn g(b: u32, t: u32) -> Grid {
    Grid::blocks(b).threads(t)
}
pub fn bt() -> Vec<(u32, u32)> {
    vec![(1, 40), (5, 8), (3, 33), (40, 1), (2, 64)]
}
#[macro_export]
macro_rules! many {
    ($r:ident; $($name:ident { $($body:tt)* })*) => { $(#[test] fn $name() { #[allow(unused_mut, unused_variables)] let mut r0 = Rng(7); #[allow(unused_variables)] let $r = &mut r0; $($body)* })* };
}
