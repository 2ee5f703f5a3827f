//! Small functions built by hand, integers at their bounds, and every rule of [`Dual`] against
//! central differences.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "a test")]

use stratape_interp::{
    Argument, Datum, Dual, Memory, Number, Operation, Options, Outcome, Trap, apply, run,
};
use stratape_ir::{
    Binary, Builder, Carried, Check, Compare, Extent, Float, Function, If, Init, Int, Loop, Math,
    Object, ObjectId, Op, Origin, Param, Place, Range, RecordId, Scalar, Step, Stmt, StmtId, Type,
    Unary, ValueId,
};
use stratape_ir::{Opaque, SourceId};

const F32: Scalar = Scalar::Float(Float::F32);
const F64: Scalar = Scalar::Float(Float::F64);

fn span() -> SourceId {
    SourceId::NONE
}

fn builder() -> Builder {
    Builder::new(Function::new("f"))
}

fn value_param(b: &mut Builder, ty: Scalar) -> ValueId {
    let value = b.function.new_value(ty, span());
    b.function.params.push(Param::Value(value));
    value
}

fn object(b: &mut Builder, ty: Type, origin: Origin) -> ObjectId {
    let name = "m".to_owned();
    b.function.new_object(Object { ty, origin, name, shadow_of: None, span: span() })
}

fn slice_param(b: &mut Builder, ty: Scalar) -> ObjectId {
    let object = object(b, Type::Slice(Box::new(Type::Scalar(ty))), Origin::RefMut);
    b.function.params.push(Param::Object(object));
    object
}

fn element(object: ObjectId, index: ValueId) -> Place {
    Place::whole(object).with(Step::Index(index))
}

fn finish(mut b: Builder, results: &[ValueId]) -> Function {
    b.function.results = results.to_vec();
    b.finish()
}

fn run_f64(function: &Function, args: Vec<Argument<f64>>) -> Result<Outcome<f64>, Trap> {
    run(function, args, &Options::default())
}

fn panic_of(result: Result<Outcome<f64>, Trap>) -> String {
    match result {
        Err(Trap::Panic(message)) => message,
        other => panic!("{other:?} where a panic is expected"),
    }
}

/// `for i in 0..to { body(i, carried) }`, one value carried; returns what the loop leaves.
fn repeat(
    b: &mut Builder,
    to: ValueId,
    reversed: bool,
    init: ValueId,
    body: impl FnOnce(&mut Builder, ValueId, ValueId) -> ValueId,
) -> ValueId {
    let ty = b.function.ty(init);
    let from = b.usize(0, span());
    let counter = b.function.new_value(Scalar::USIZE, span());
    let inside = b.function.new_value(ty, span());
    let after = b.function.new_value(ty, span());
    b.open();
    let next = body(b, counter, inside);
    let body = b.close();
    b.repeat(Loop {
        counter,
        range: Range::UpTo { from, to },
        reversed,
        unordered: false,
        carried: vec![Carried { init, inside, next, after }],
        exit: None,
        trips: None,
        parallel: None,
        schedule: None,
        body,
        span: span(),
    });
    after
}

/// `x.iter().map(|v| v * v).sum()`
fn sum_of_squares() -> Function {
    let mut b = builder();
    let x = slice_param(&mut b, F64);
    let zero = b.float(0.0, F64, span());
    let len = b.emit(Op::Len(Place::whole(x)), Scalar::USIZE, span());
    let sum = repeat(&mut b, len, false, zero, |b, i, sum| {
        let v = b.emit(Op::Load(element(x, i)), F64, span());
        let square = b.binary(Binary::Mul, v, v, span());
        b.binary(Binary::Add, sum, square, span())
    });
    finish(b, &[sum])
}

#[test]
fn a_loop_sums() {
    let f = sum_of_squares();
    let x = Memory::floats([1.0, 2.0, 3.0]);
    let outcome = run_f64(&f, vec![Argument::Memory(x.clone())]).unwrap();
    assert_eq!(outcome.results, [Datum::Float(14.0)]);
    assert_eq!(outcome.memory, [x]);
    let empty = run_f64(&f, vec![Argument::Memory(Memory::List(Vec::new()))]).unwrap();
    assert_eq!(empty.results, [Datum::Float(0.0)]);
}

#[test]
fn a_dual_run_differentiates() {
    let x = Memory::floats([Dual::new(1.0, 0.0), Dual::new(2.0, 1.0), Dual::new(3.0, 0.5)]);
    let outcome = run(&sum_of_squares(), vec![Argument::Memory(x)], &Options::default()).unwrap();
    assert_eq!(outcome.results, [Datum::Float(Dual::new(14.0, 7.0))]);
}

#[test]
fn memory_is_updated_in_place() {
    // for i in (0..n).rev() { y[i] += y[i + 1] }, then y[0] -= 2, y[1] = 5
    let mut b = builder();
    let y = slice_param(&mut b, F64);
    let n = value_param(&mut b, Scalar::USIZE);
    let unit = b.bool(false, span());
    repeat(&mut b, n, true, unit, |b, i, unit| {
        let one = b.usize(1, span());
        let next = b.binary(Binary::Add, i, one, span());
        let value = b.emit(Op::Load(element(y, next)), F64, span());
        b.node(Stmt::Accumulate { place: element(y, i), value, subtract: false });
        unit
    });
    let (zero, one) = (b.usize(0, span()), b.usize(1, span()));
    let (two, five) = (b.float(2.0, F64, span()), b.float(5.0, F64, span()));
    b.node(Stmt::Accumulate { place: element(y, zero), value: two, subtract: true });
    b.node(Stmt::Store { place: element(y, one), value: five });
    let f = finish(b, &[]);
    let args = |n| vec![Argument::Memory(Memory::floats([1.0, 2.0, 4.0])), Argument::Int(n)];
    let outcome = run_f64(&f, args(2)).unwrap();
    assert_eq!(outcome.memory, [Memory::floats([5.0, 5.0, 4.0])]);
    assert_eq!(
        panic_of(run_f64(&f, args(5))),
        "index out of bounds: the len is 3 but the index is 5"
    );
}

#[test]
fn a_branch_merges() {
    let mut b = builder();
    let x = value_param(&mut b, F64);
    let zero = b.float(0.0, F64, span());
    let condition = b.compare(Compare::Lt, x, zero, span());
    b.open();
    let minus = b.emit(Op::Unary(Unary::Neg, x), F64, span());
    let then = b.close();
    b.open();
    let root = b.emit(Op::Math(Math::Sqrt, vec![x]), F64, span());
    let other = b.close();
    let merge = b.merge(minus, root, span());
    b.branch(If { id: StmtId::NONE, condition, then, other, merges: vec![merge], span: span() });
    let f = finish(b, &[merge.value]);
    for (x, y) in [(-3.0, 3.0), (9.0, 3.0)] {
        assert_eq!(run_f64(&f, vec![Argument::Float(x)]).unwrap().results, [Datum::Float(y)]);
    }
}

/// Halves `x` until it is at most one, `exit` given or not.
fn halve(exits: bool) -> Function {
    let mut b = builder();
    let x = value_param(&mut b, F64);
    let counter = b.function.new_value(Scalar::USIZE, span());
    let trips = b.function.new_value(Scalar::USIZE, span());
    let (inside, after) = (b.function.new_value(F64, span()), b.function.new_value(F64, span()));
    let (last, before) = (b.function.new_value(F64, span()), b.function.new_value(F64, span()));
    b.open();
    let half = b.float(0.5, F64, span());
    let next = b.binary(Binary::Mul, inside, half, span());
    let one = b.float(1.0, F64, span());
    let done = b.compare(Compare::Le, next, one, span());
    let body = b.close();
    b.repeat(Loop {
        counter,
        range: Range::Forever,
        reversed: false,
        unordered: false,
        carried: vec![
            Carried { init: x, inside, next, after },
            // What enters an iteration leaves it as the previous one.
            Carried { init: x, inside: last, next: inside, after: before },
        ],
        exit: exits.then_some(done),
        trips: Some(trips),
        parallel: None,
        schedule: None,
        body,
        span: span(),
    });
    finish(b, &[after, before, trips])
}

#[test]
fn a_loop_without_end_exits() {
    let outcome = run_f64(&halve(true), vec![Argument::Float(12.0)]).unwrap();
    assert_eq!(outcome.results, [Datum::Float(0.75), Datum::Float(1.5), Datum::Int(4)]);
    let options = Options { fuel: 1000, ..Options::default() };
    let endless = run(&halve(false), vec![Argument::Float(12.0)], &options);
    assert_eq!(endless, Err(Trap::Fuel));
}

/// Pushes each element, then pops as `popped` says, from the last iteration or from the first, and stores what it finds twofold.
fn push_and_pop(popped: RecordId, mirrored: bool) -> Function {
    let mut b = builder();
    let y = slice_param(&mut b, F64);
    let len = b.emit(Op::Len(Place::whole(y)), Scalar::USIZE, span());
    let unit = b.bool(false, span());
    repeat(&mut b, len, false, unit, |b, i, unit| {
        let v = b.emit(Op::Load(element(y, i)), F64, span());
        b.node(Stmt::Push { record: RecordId(0), values: vec![v, i] });
        unit
    });
    repeat(&mut b, len, mirrored, unit, |b, i, unit| {
        let (v, at) =
            (b.function.new_value(F64, span()), b.function.new_value(Scalar::USIZE, span()));
        b.node(Stmt::Pop { record: popped, values: vec![v, at] });
        let twice = b.emit(Op::Binary(Binary::Add, v, v), F64, span());
        b.node(Stmt::Store { place: element(y, i), value: twice });
        unit
    });
    finish(b, &[])
}

#[test]
fn the_tape_gives_back_in_reverse() {
    let x = || vec![Argument::Memory(Memory::floats([1.0, 2.0, 3.0]))];
    let outcome = run_f64(&push_and_pop(RecordId(0), true), x()).unwrap();
    assert_eq!(outcome.memory, [Memory::floats([2.0, 4.0, 6.0])]);
    assert_eq!((outcome.pushes, outcome.peak), (3, 6));
    assert!(matches!(run_f64(&push_and_pop(RecordId(1), true), x()), Err(Trap::Fault(_))));
    // A record belongs to the iteration that left it.
    assert!(matches!(run_f64(&push_and_pop(RecordId(0), false), x()), Err(Trap::Fault(_))));

    let mut b = builder();
    let v = b.function.new_value(F64, span());
    b.node(Stmt::Pop { record: RecordId(0), values: vec![v] });
    assert!(matches!(run_f64(&finish(b, &[]), Vec::new()), Err(Trap::Fault(_))));

    let mut b = builder();
    let v = b.float(1.0, F64, span());
    b.node(Stmt::Push { record: RecordId(0), values: vec![v] });
    assert!(matches!(run_f64(&finish(b, &[]), Vec::new()), Err(Trap::Fault(_))));
}

#[test]
fn objects_are_made() {
    let pair = Type::Tuple(vec![Type::Scalar(F64), Type::Scalar(Scalar::USIZE)]);
    let array = Type::Array(Box::new(pair), Extent::Known(2));
    let mut b = builder();
    let table = object(&mut b, array.clone(), Origin::Local);
    let zeros = object(&mut b, array, Origin::Local);
    let (v, n) = (b.float(1.5, F64, span()), b.usize(3, span()));
    let item = Init::Items(vec![Init::Value(v), Init::Value(n)]);
    b.node(Stmt::New { object: table, init: Init::Fill(Box::new(item)) });
    b.node(Stmt::New { object: zeros, init: Init::ZeroLike(table) });
    let one = b.usize(1, span());
    let second = |object| element(object, one);
    let float = b.emit(Op::Load(second(table).with(Step::Field(0))), F64, span());
    let int = b.emit(Op::Load(second(table).with(Step::Field(1))), Scalar::USIZE, span());
    let zero = b.emit(Op::Load(second(zeros).with(Step::Field(0))), F64, span());
    let outcome = run_f64(&finish(b, &[float, int, zero]), Vec::new()).unwrap();
    assert_eq!(outcome.results, [Datum::Float(1.5), Datum::Int(3), Datum::Float(0.0)]);
}

#[test]
fn checks_and_constants() {
    let mut b = builder();
    let index = value_param(&mut b, Scalar::USIZE);
    let len = b.usize(3, span());
    b.node(Stmt::Check { check: Check::Bounds { index, len }, span: span() });
    let tokens = Opaque::new("TAU");
    let constant = b.emit(Op::Const(tokens), F64, span());
    let f = finish(b, &[constant]);
    assert!(matches!(run_f64(&f, vec![Argument::Int(1)]), Err(Trap::Unknown(_))));
    let message = "index out of bounds: the len is 3 but the index is 3";
    assert_eq!(panic_of(run_f64(&f, vec![Argument::Int(3)])), message);
    let mut options = Options::default();
    options.constants.insert("TAU".to_owned(), 6.25);
    let outcome = run::<f64>(&f, vec![Argument::Int(1)], &options).unwrap();
    assert_eq!(outcome.results, [Datum::Float(6.25)]);
}

/// One operation on integers of a type.
fn integer(
    op: impl FnOnce(Vec<ValueId>) -> Op,
    ty: Int,
    to: Scalar,
    args: &[i128],
) -> Result<Datum<f64>, Trap> {
    let mut b = builder();
    let params = args.iter().map(|_| value_param(&mut b, Scalar::Int(ty))).collect();
    let result = b.emit(op(params), to, span());
    let args = args.iter().map(|arg| Argument::Int(*arg)).collect();
    Ok(run_f64(&finish(b, &[result]), args)?.results[0])
}

#[test]
fn integers_panic_at_their_bounds() {
    let message = |sign, ty: Int, a, b| {
        let to = Scalar::Int(ty);
        match integer(|v| Op::Binary(sign, v[0], v[1]), ty, to, &[a, b]) {
            Err(Trap::Panic(message)) => message,
            other => format!("{other:?}"),
        }
    };
    assert_eq!(message(Binary::Add, Int::U8, 200, 100), "attempt to add with overflow");
    assert_eq!(message(Binary::Sub, Int::Usize, 1, 2), "attempt to subtract with overflow");
    assert_eq!(
        message(Binary::Mul, Int::I32, 1 << 20, 1 << 20),
        "attempt to multiply with overflow"
    );
    assert_eq!(message(Binary::Div, Int::I8, 1, 0), "attempt to divide by zero");
    assert_eq!(message(Binary::Div, Int::I8, -128, -1), "attempt to divide with overflow");
    assert_eq!(
        message(Binary::Rem, Int::I8, -128, -1),
        "attempt to calculate the remainder with overflow"
    );
    assert_eq!(message(Binary::Shl, Int::U8, 1, 8), "attempt to shift left with overflow");
    assert_eq!(message(Binary::Shl, Int::U8, 129, 1), "Ok(Int(2))");
    assert_eq!(message(Binary::Shr, Int::I8, -128, 7), "Ok(Int(-1))");
}

#[test]
fn methods_of_integers() {
    let method = |name: &str, ty, args: &[i128]| {
        integer(|v| Op::Method(name.to_owned(), v), ty, Scalar::Int(ty), args)
    };
    let cases: [(&str, Int, &[i128], i128); 15] = [
        ("pow", Int::I64, &[-3, 3], -27),
        ("abs", Int::I8, &[-5], 5),
        ("abs_diff", Int::U8, &[3, 250], 247),
        ("rem_euclid", Int::I32, &[-7, 3], 2),
        ("div_euclid", Int::I32, &[-7, 3], -3),
        ("wrapping_sub", Int::U8, &[1, 2], 255),
        ("wrapping_mul", Int::I8, &[100, 3], 44),
        ("saturating_sub", Int::Usize, &[1, 2], 0),
        ("strict_add", Int::I8, &[-100, 99], -1),
        ("saturating_add", Int::I8, &[-100, -100], -128),
        ("leading_zeros", Int::U32, &[1], 31),
        ("trailing_zeros", Int::U8, &[0], 8),
        ("count_ones", Int::I16, &[-1], 16),
        ("isqrt", Int::U64, &[24], 4),
        ("clamp", Int::I32, &[7, 0, 5], 5),
    ];
    for (name, ty, args, expected) in cases {
        assert_eq!(method(name, ty, args), Ok(Datum::Int(expected)), "{name}");
    }
    assert!(matches!(method("no_such_method", Int::U8, &[1]), Err(Trap::Unknown(_))));
    assert!(matches!(method("pow", Int::U8, &[2, 8]), Err(Trap::Panic(_))));
}

#[test]
fn casts_are_those_of_rust() {
    let from_float = |x: f64, to: Int| {
        let mut b = builder();
        let v = value_param(&mut b, F64);
        let result = b.emit(Op::Cast(v, Scalar::Int(to)), Scalar::Int(to), span());
        run_f64(&finish(b, &[result]), vec![Argument::Float(x)]).unwrap().results[0]
    };
    assert_eq!(from_float(-1.5, Int::Usize), Datum::Int(0));
    assert_eq!(from_float(300.7, Int::U8), Datum::Int(255));
    assert_eq!(from_float(-3.9, Int::I8), Datum::Int(-3));
    assert_eq!(from_float(f64::NAN, Int::I64), Datum::Int(0));
    let wrapped =
        integer(|v| Op::Cast(v[0], Scalar::Int(Int::I8)), Int::I32, Scalar::Int(Int::I8), &[200]);
    assert_eq!(wrapped, Ok(Datum::Int(-56)));
}

#[test]
fn f32_rounds_after_each_operation() {
    let mut b = builder();
    let x = value_param(&mut b, F32);
    let tenth = b.emit(Op::Float(0.1, "0.1_f32".to_owned()), F32, span());
    let product = b.binary(Binary::Mul, x, tenth, span());
    let sine = b.emit(Op::Math(Math::Sin, vec![product]), F32, span());
    let sum = b.binary(Binary::Add, sine, tenth, span());
    let f = finish(b, &[sum]);
    for x in [0.3_f32, 1.7, -25.5, 1e-20] {
        let expected = (x * 0.1).sin() + 0.1;
        let outcome = run_f64(&f, vec![Argument::Float(f64::from(x))]).unwrap();
        assert_eq!(outcome.results, [Datum::Float(f64::from(expected))]);
    }
}

/// Every function of the library with a range of arguments inside its domain.
fn domains() -> Vec<(Math, Vec<(f64, f64)>)> {
    const ALL: [Math; 43] = [
        Math::Sqrt,
        Math::Cbrt,
        Math::Exp,
        Math::Exp2,
        Math::ExpM1,
        Math::Ln,
        Math::Ln1p,
        Math::Log2,
        Math::Log10,
        Math::Log,
        Math::Sin,
        Math::Cos,
        Math::Tan,
        Math::Asin,
        Math::Acos,
        Math::Atan,
        Math::Sinh,
        Math::Cosh,
        Math::Tanh,
        Math::Asinh,
        Math::Acosh,
        Math::Atanh,
        Math::Hypot,
        Math::Atan2,
        Math::Powf,
        Math::Abs,
        Math::Signum,
        Math::Copysign,
        Math::Min,
        Math::Max,
        Math::Clamp,
        Math::Floor,
        Math::Ceil,
        Math::Round,
        Math::RoundTiesEven,
        Math::Trunc,
        Math::Fract,
        Math::Recip,
        Math::ToRadians,
        Math::ToDegrees,
        Math::MulAdd,
        Math::DivEuclid,
        Math::RemEuclid,
    ];
    let domain = |function: Math| match function {
        Math::Sqrt | Math::Ln | Math::Log2 | Math::Log10 | Math::Recip => vec![(0.1, 5.0)],
        Math::Ln1p => vec![(-0.9, 5.0)],
        Math::Log => vec![(0.1, 5.0), (1.5, 4.0)],
        Math::Asin | Math::Acos | Math::Atanh => vec![(-0.9, 0.9)],
        Math::Acosh => vec![(1.1, 5.0)],
        Math::Tan => vec![(-1.4, 1.4)],
        Math::Powf => vec![(0.1, 3.0), (-3.0, 3.0)],
        Math::Clamp => vec![(-3.0, 3.0), (-2.0, -1.0), (1.0, 2.0)],
        Math::DivEuclid | Math::RemEuclid => vec![(-9.0, 9.0), (0.7, 2.0)],
        _ => vec![(-3.0, 3.0); function.arity()],
    };
    ALL.into_iter().map(|function| (function, domain(function))).collect()
}

struct Random(u64);

impl Random {
    /// splitmix64, as a number of a range.
    fn within(&mut self, (from, to): (f64, f64)) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        from + (to - from) * ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The tangent against the central difference, on random points; points beside a jump or
/// a kink, where the difference spans both sides, are left out.
fn against_differences(operation: Operation, domain: &[(f64, f64)]) {
    let mut random = Random(1);
    let mut compared = 0;
    for _ in 0..200 {
        let point: Vec<f64> = domain.iter().map(|range| random.within(*range)).collect();
        let direction: Vec<f64> = domain.iter().map(|_| random.within((-1.0, 1.0))).collect();
        let at =
            |t: f64| -> Vec<f64> { point.iter().zip(&direction).map(|(x, d)| x + t * d).collect() };
        let value = |t: f64| apply(operation, &at(t), Float::F64).unwrap();
        let h = 1e-5;
        let difference = (value(h) - value(-h)) / (2.0 * h);
        let (left, right) = ((value(0.0) - value(-h)) / h, (value(h) - value(0.0)) / h);
        if (left - right).abs() > 0.1 * (1.0 + left.abs().min(right.abs())) {
            continue;
        }
        compared += 1;
        let duals: Vec<Dual> =
            point.iter().zip(&direction).map(|(x, d)| Dual::new(*x, *d)).collect();
        let dual = apply(operation, &duals, Float::F64).unwrap();
        assert_eq!(dual.value.to_bits(), value(0.0).to_bits(), "{operation:?} at {point:?}");
        let error = (dual.tangent - difference).abs() / (1.0 + difference.abs());
        assert!(error < 1e-6, "{operation:?} at {point:?}: {} and {difference}", dual.tangent);
    }
    assert!(compared > 150, "{operation:?}: only {compared} points");
}

#[test]
fn every_rule_agrees_with_differences() {
    for (function, domain) in domains() {
        against_differences(Operation::Math(function), &domain);
    }
    for n in -3..=4 {
        against_differences(Operation::Powi(n), &[(0.3, 2.0)]);
        against_differences(Operation::Powi(n), &[(-2.0, -0.3)]);
    }
    for sign in [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Rem] {
        against_differences(Operation::Binary(sign), &[(-3.0, 3.0), (0.7, 2.0)]);
        against_differences(Operation::Binary(sign), &[(-3.0, 3.0), (-2.0, -0.7)]);
    }
    against_differences(Operation::Neg, &[(-1.0, 1.0)]);
    against_differences(Operation::Cast, &[(-1.0, 1.0)]);
}

#[test]
fn kinks_take_the_chosen_side() {
    let math = |function, args: &[(f64, f64)]| {
        let args: Vec<Dual> = args.iter().map(|(v, t)| Dual::new(*v, *t)).collect();
        apply(Operation::Math(function), &args, Float::F64).unwrap().tangent
    };
    assert_eq!(math(Math::Abs, &[(0.0, 3.0)]), 0.0);
    assert_eq!(math(Math::Max, &[(1.0, 3.0), (1.0, 5.0)]), 3.0);
    assert_eq!(math(Math::Min, &[(1.0, 3.0), (1.0, 5.0)]), 3.0);
    assert_eq!(math(Math::Max, &[(f64::NAN, 3.0), (1.0, 5.0)]), 5.0);
    assert_eq!(math(Math::Min, &[(1.0, 3.0), (f64::NAN, 5.0)]), 3.0);
    assert_eq!(math(Math::Clamp, &[(2.0, 3.0), (0.0, 5.0), (2.0, 7.0)]), 3.0);
    assert_eq!(math(Math::Clamp, &[(2.5, 3.0), (0.0, 5.0), (2.0, 7.0)]), 7.0);
    assert_eq!(math(Math::Copysign, &[(-0.0, 3.0), (1.0, 5.0)]), -3.0);
    assert_eq!(math(Math::Hypot, &[(0.0, 3.0), (0.0, 5.0)]), 0.0);
    assert_eq!(math(Math::Powf, &[(0.0, 3.0), (0.0, 0.0)]), 0.0);
    assert_eq!(math(Math::Powf, &[(0.0, 0.0), (2.0, 5.0)]), 0.0);
    assert_eq!(math(Math::Powf, &[(-2.0, 1.0), (2.0, 0.0)]), -4.0);
    assert_eq!(math(Math::Sqrt, &[(0.0, 1.0)]), f64::INFINITY);
    assert_eq!(Dual::constant(1.5), Dual::new(1.5, 0.0));
}

#[test]
fn a_clamp_that_cannot_hold_panics() {
    let clamp = apply(Operation::Math(Math::Clamp), &[0.0, 2.0, 1.0], Float::F64);
    let message = "min > max, or either was NaN. min = 2.0, max = 1.0";
    assert_eq!(clamp, Err(Trap::Panic(message.to_owned())));
}
