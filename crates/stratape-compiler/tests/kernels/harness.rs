//! Compiles kernels from text, runs them, and holds their gradients against differences.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use stratape_compiler::back::cuda::{Factor, Fresh, overwriting};
use stratape_compiler::driver::CompiledKernel;
use stratape_compiler::kernels;
use stratape_interp::simt::{self, Arg, Fault, Launch};
use stratape_ir::{Float, Function, Param, Scalar, Stmt, walk};

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// Floats, whatever their width in the kernel.
    Floats(Vec<f64>),
    /// Integers.
    Ints(Vec<i64>),
    Float(f64),
    Int(i64),
}

/// Compiles the kernel of a name; the text may hold device functions and constants.
pub(crate) fn compile(text: &str, name: &str) -> Result<CompiledKernel, String> {
    let file = syn::parse_file(text).unwrap();
    kernels::compile_in(&file.items, name).map_err(|error| error.to_string())
}

fn scalar(function: &Function, param: &Param) -> Scalar {
    match param {
        Param::Value(value) => function.ty(*value),
        Param::Object(object) => {
            let mut ty = &function.objects[object.index()].ty;
            while let Some(item) = ty.element() {
                ty = item;
            }
            ty.scalar().unwrap()
        }
    }
}

fn cell(number: f64, ty: Scalar) -> u64 {
    match ty {
        Scalar::Float(Float::F32) => u64::from((number as f32).to_bits()),
        Scalar::Float(Float::F64) => number.to_bits(),
        _ => number as i64 as u64,
    }
}

fn float(cell: u64, ty: Scalar) -> f64 {
    match ty {
        Scalar::Float(Float::F32) => f64::from(f32::from_bits(cell as u32)),
        Scalar::Float(Float::F64) => f64::from_bits(cell),
        _ => cell as i64 as f64,
    }
}

/// Runs a kernel; what its memory holds at the end, by argument (a number stays what it is).
pub(crate) fn run(
    kernel: &Function,
    launch: &Launch,
    given: &[Given],
) -> Result<Vec<Vec<f64>>, Fault> {
    let types: Vec<Scalar> = kernel.params.iter().map(|param| scalar(kernel, param)).collect();
    let cells: Vec<Vec<AtomicU64>> = given
        .iter()
        .zip(&types)
        .map(|(given, ty)| {
            let numbers: Vec<f64> = match given {
                Given::Floats(numbers) => numbers.clone(),
                Given::Ints(numbers) => numbers.iter().map(|one| *one as f64).collect(),
                Given::Float(number) => vec![*number],
                Given::Int(number) => vec![*number as f64],
            };
            numbers.into_iter().map(|number| AtomicU64::new(cell(number, *ty))).collect()
        })
        .collect();
    let args: Vec<Arg<'_>> = given
        .iter()
        .zip(&cells)
        .map(|(given, cells)| match given {
            Given::Floats(_) | Given::Ints(_) => Arg::Memory(cells),
            _ => Arg::Value(cells[0].load(Ordering::Relaxed)),
        })
        .collect();
    let mut launch = launch.clone();
    launch.constants.insert("f64 :: NEG_INFINITY".to_owned(), f64::NEG_INFINITY);
    simt::run(kernel, &launch, &args)?;
    let back = |(cells, ty): (&Vec<AtomicU64>, &Scalar)| {
        cells.iter().map(|cell| float(cell.load(Ordering::Relaxed), *ty)).collect()
    };
    Ok(cells.iter().zip(&types).map(back).collect())
}

/// The shadow of each argument that has one, by position.
pub(crate) type Shadows = Vec<Option<Vec<f64>>>;

/// Runs the gradient with weights for what is written (1, 2, 3, … over all memory that has a shadow); the shadows at the end.
pub(crate) fn gradient(
    compiled: &CompiledKernel,
    launch: &Launch,
    given: &[Given],
    weights: &[Vec<f64>],
) -> Result<Shadows, Fault> {
    let gradient = &compiled.gradient.as_ref().unwrap().function;
    let (all, place) = arguments(compiled, given, weights);
    let left = run(gradient, launch, &all)?;
    Ok(place.into_iter().map(|at| at.map(|at| left[at].clone())).collect())
}

/// The arguments of the gradient, and where the shadow of each argument of the kernel is.
fn arguments(
    compiled: &CompiledKernel,
    given: &[Given],
    weights: &[Vec<f64>],
) -> (Vec<Given>, Vec<Option<usize>>) {
    let (primal, gradient) = (&compiled.primal, &compiled.gradient.as_ref().unwrap().function);
    let mut all = Vec::new();
    let mut place = vec![None; given.len()];
    let mut own = 0;
    for (at, param) in gradient.params.iter().enumerate() {
        if own < primal.params.len() && *param == primal.params[own] {
            all.push(given[own].clone());
            own += 1;
            continue;
        }
        place[own - 1] = Some(at);
        all.push(match &given[own - 1] {
            Given::Floats(_) => Given::Floats(weights[own - 1].clone()),
            _ => Given::Floats(vec![0.0]),
        });
    }
    (all, place)
}

/// Runs the gradient where shadows are to be overwritten: what they hold before must not matter where it says so.
fn check_overwriting(
    compiled: &CompiledKernel,
    launch: &Launch,
    given: &[Given],
    weights: &[Vec<f64>],
    wanted: &Shadows,
) {
    let gradient = &compiled.gradient.as_ref().unwrap().function;
    let (function, shadows) = overwriting(gradient);
    let one = |dims: &[u32; 3]| dims[1..] == [1, 1];
    if shadows.is_empty() || !one(&launch.grid) || !one(&launch.block) {
        return;
    }
    let (mut all, place) = arguments(compiled, given, weights);
    let factor = |factor: &Factor| match factor {
        Factor::Threads => u64::from(launch.block[0]),
        Factor::Blocks => u64::from(launch.grid[0]),
        Factor::Number(number) => *number,
        Factor::Value(at) => match all[*at] {
            Given::Int(number) => number as u64,
            _ => panic!("argument {at} is no integer"),
        },
        Factor::Len(at) => match &all[*at] {
            Given::Floats(numbers) => numbers.len() as u64,
            _ => panic!("argument {at} has no length"),
        },
    };
    let covers = |fresh: &Fresh, len: usize| match fresh {
        Fresh::Stored => false,
        Fresh::Covered(products) => {
            products.iter().all(|product| product.iter().map(factor).product::<u64>() >= len as u64)
        }
    };
    let mut unknown = Vec::new();
    for (at, fresh) in &shadows {
        if let Given::Floats(numbers) = &all[*at]
            && covers(fresh, numbers.len())
        {
            unknown.push((*at, numbers.len()));
        }
    }
    for (at, len) in unknown {
        all[at] = Given::Floats(vec![f64::NAN; len]);
    }
    let left = run(&function, launch, &all)
        .unwrap_or_else(|fault| panic!("the gradient that overwrites: {fault}\n{function}"));
    for (wanted, at) in wanted.iter().zip(place) {
        let (Some(wanted), Some(at)) = (wanted, at) else { continue };
        for (k, (wanted, found)) in wanted.iter().zip(&left[at]).enumerate() {
            assert!(
                (found - wanted).abs() <= 1e-6 * (1.0 + wanted.abs()),
                "element {k} of parameter {at}: {found} where the shadow is overwritten, {wanted} where it is added to\n{function}"
            );
        }
    }
}

/// Runs a gradient alone, and once more with shadows that are overwritten.
pub(crate) fn check_stores(
    compiled: &CompiledKernel,
    launch: &Launch,
    given: &[Given],
) -> Result<(), Fault> {
    let written = written(&compiled.primal);
    let weights: Vec<Vec<f64>> = given
        .iter()
        .zip(&written)
        .map(|(given, written)| match given {
            Given::Floats(numbers) => vec![f64::from(u8::from(*written)); numbers.len()],
            _ => Vec::new(),
        })
        .collect();
    let shadows = gradient(compiled, launch, given, &weights)?;
    check_overwriting(compiled, launch, given, &weights, &shadows);
    Ok(())
}

/// Which shadows are stored to where they are overwritten, by position, and how.
pub(crate) fn stores(compiled: &CompiledKernel) -> HashMap<usize, Fresh> {
    overwriting(&compiled.gradient.as_ref().unwrap().function).1
}

/// Which parameters the kernel writes.
fn written(kernel: &Function) -> Vec<bool> {
    let mut objects = std::collections::HashSet::new();
    walk(&kernel.body, &mut |node| {
        if !matches!(node, Stmt::Barrier(_)) {
            objects.extend(node.written().iter().map(|place| place.object));
        }
    });
    let is = |param: &Param| matches!(param, Param::Object(object) if objects.contains(object));
    kernel.params.iter().map(is).collect()
}

/// Compiles a kernel and holds its gradient against central differences of the weighted sum of what it writes.
pub(crate) fn check(text: &str, name: &str, launch: &Launch, given: &[Given]) -> CompiledKernel {
    let compiled = compile(text, name).unwrap_or_else(|error| panic!("{error}"));
    check_compiled(&compiled, launch, given);
    compiled
}

pub(crate) fn check_compiled(compiled: &CompiledKernel, launch: &Launch, given: &[Given]) {
    let written = written(&compiled.primal);
    let weights: Vec<Vec<f64>> = given
        .iter()
        .zip(&written)
        .enumerate()
        .map(|(at, (given, written))| match given {
            Given::Floats(numbers) if *written => {
                (0..numbers.len()).map(|k| ((at * 7 + k * 3) % 11) as f64 * 0.25 - 1.0).collect()
            }
            Given::Floats(numbers) => vec![0.0; numbers.len()],
            _ => Vec::new(),
        })
        .collect();
    let value = |given: &[Given]| {
        let left = run(&compiled.primal, launch, given).unwrap_or_else(|fault| {
            panic!("the primal: {fault}\n{}", compiled.primal);
        });
        let mut sum = 0.0;
        for ((numbers, weights), written) in left.iter().zip(&weights).zip(&written) {
            if *written {
                sum += numbers.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        sum
    };
    let function = &compiled.gradient.as_ref().unwrap().function;
    let shadows = gradient(compiled, launch, given, &weights)
        .unwrap_or_else(|fault| panic!("the gradient: {fault}\n{function}"));
    check_overwriting(compiled, launch, given, &weights, &shadows);
    let single = compiled
        .primal
        .params
        .iter()
        .any(|param| scalar(&compiled.primal, param) == Scalar::Float(Float::F32));
    let (step, tolerance) = if single { (1e-2, 2e-2) } else { (1e-5, 1e-6) };
    for (at, shadow) in shadows.iter().enumerate() {
        let Some(shadow) = shadow else { continue };
        for (k, found) in shadow.iter().enumerate() {
            let shifted = |by: f64| {
                let mut given = given.to_vec();
                match &mut given[at] {
                    Given::Floats(numbers) => numbers[k] += by,
                    Given::Float(number) => *number += by,
                    _ => {}
                }
                value(&given)
            };
            let difference = |step: f64| (shifted(step) - shifted(-step)) / (2.0 * step);
            let mut wanted = difference(step);
            if (found - wanted).abs() > tolerance * (1.0 + wanted.abs()) {
                // Where the third derivative is large, its part is taken out.
                wanted = (4.0 * difference(0.5 * step) - wanted) / 3.0;
            }
            assert!(
                (found - wanted).abs() <= tolerance * (1.0 + wanted.abs()),
                "argument {at}, element {k}: {found}, and by differences {wanted}\n{}\n{function}",
                compiled.primal
            );
        }
    }
}

/// How many additions to shadows are atomic, and how many are plain.
pub(crate) fn additions(compiled: &CompiledKernel) -> (usize, usize) {
    let function = &compiled.gradient.as_ref().unwrap().function;
    let (mut atomic, mut plain) = (0, 0);
    walk(&function.body, &mut |node| match node {
        Stmt::Atomic(one) if !one.block && function.holds_adjoints(one.place.object) => atomic += 1,
        Stmt::Accumulate { place, .. } if function.holds_adjoints(place.object) => plain += 1,
        _ => {}
    });
    (atomic, plain)
}

/// Numbers between 0.5 and 1.5, no two alike.
pub(crate) fn numbers(n: usize) -> Given {
    Given::Floats((0..n).map(|k| 0.5 + ((k * 37 + 11) % 101) as f64 / 101.0).collect())
}

pub(crate) fn zeros(n: usize) -> Given {
    Given::Floats(vec![0.0; n])
}

pub(crate) fn grid(blocks: u32, threads: u32) -> Launch {
    Launch::new([blocks, 1, 1], [threads, 1, 1])
}
