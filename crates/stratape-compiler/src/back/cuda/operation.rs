//! Operations of kernels in C++.

use super::{Printer, c_scalar};
use stratape_ir::{Binary, Builtin, Float, Int, Math, Op, Scalar, Unary, ValueId};

impl Printer<'_> {
    pub(super) fn op(&self, op: &Op, ty: Scalar) -> String {
        let v = |value: &ValueId| self.value(*value);
        match op {
            Op::Float(number, text) => float(*number, text, ty),
            Op::Int(number) => int(*number, ty),
            Op::Bool(holds) => holds.to_string(),
            Op::Const(text) => self.constant(&text.text, ty),
            Op::Unary(Unary::Neg, a) if ty.is_float() => format!("-{}", v(a)),
            Op::Unary(Unary::Neg, a) => format!("({})(0 - {})", c_scalar(ty), v(a)),
            Op::Unary(Unary::Not, a) if ty == Scalar::Bool => format!("!{}", v(a)),
            Op::Unary(Unary::Not, a) => format!("({})~{}", c_scalar(ty), v(a)),
            Op::Binary(sign, a, b) => self.binary(*sign, *a, *b, ty),
            Op::Compare(sign, a, b) => format!("{} {} {}", v(a), sign.sign(), v(b)),
            Op::TotalCmp { less, a, b } => {
                let sign = if *less { "<" } else { ">" };
                format!("stratape_order({}) {sign} stratape_order({})", v(a), v(b))
            }
            Op::Math(function, args) => self.math(*function, args, ty),
            Op::Method(name, args) => self.method(name, args, ty),
            Op::Cast(a, to) => self.cast(*a, *to),
            Op::Select(c, a, b) => format!("{} ? {} : {}", v(c), v(a), v(b)),
            Op::Load(place) => self.place(place),
            Op::Len(place) => self.len(place),
            Op::Builtin(builtin) => match builtin {
                Builtin::ThreadIdx(axis) => format!("threadIdx.{}", axis.name()),
                Builtin::BlockIdx(axis) => format!("blockIdx.{}", axis.name()),
                Builtin::BlockDim(axis) => format!("blockDim.{}", axis.name()),
                Builtin::GridDim(axis) => format!("gridDim.{}", axis.name()),
                Builtin::WarpSize => "warpSize".to_owned(),
            },
        }
    }

    fn binary(&self, sign: Binary, a: ValueId, b: ValueId, ty: Scalar) -> String {
        // One division less, and no root: within one unit in the last place.
        if let (Binary::Div, Some(Op::Float(one, _)), Some(Op::Math(Math::Sqrt, of))) =
            (sign, self.ops.get(&a), self.ops.get(&b))
            && *one == 1.0
            && let [of] = &of[..]
        {
            return format!("stratape_rsqrt({})", self.value(*of));
        }
        let (a, b) = (self.value(a), self.value(b));
        let result = c_scalar(ty);
        match (sign, ty) {
            (Binary::Rem, Scalar::Float(_)) => format!("fmod({a}, {b})"),
            (_, Scalar::Float(_)) => format!("{a} {} {b}", sign.sign()),
            (_, Scalar::Bool) => format!("(bool)({a} {} {b})", sign.sign()),
            (Binary::Shl | Binary::Shr, Scalar::Int(int)) => {
                format!("({result})({a} {} ({b} & {}))", sign.sign(), int.bits() - 1)
            }
            // Signed integers wrap as unsigned ones do.
            (Binary::Add | Binary::Sub | Binary::Mul, Scalar::Int(int)) if int.signed() => {
                let unsigned = c_scalar(Scalar::Int(int.unsigned()));
                format!("({result})(({unsigned}){a} {} ({unsigned}){b})", sign.sign())
            }
            (_, Scalar::Int(int)) if int.bits() < 32 => {
                format!("({result})({a} {} {b})", sign.sign())
            }
            _ => format!("{a} {} {b}", sign.sign()),
        }
    }

    fn math(&self, function: Math, args: &[ValueId], ty: Scalar) -> String {
        let text: Vec<String> = args.iter().map(|arg| self.value(*arg)).collect();
        let f32s = ty == Scalar::Float(Float::F32);
        let call = |name: &str| format!("{name}({})", text.join(", "));
        // The overloads for floats are those without a suffix.
        let a = &text[0];
        let one = if f32s { "1.0f" } else { "1.0" };
        match function {
            Math::Sqrt => call("sqrt"),
            Math::Cbrt => call("cbrt"),
            Math::Exp => call("exp"),
            Math::Exp2 => call("exp2"),
            Math::ExpM1 => call("expm1"),
            Math::Ln => call("log"),
            Math::Ln1p => call("log1p"),
            Math::Log2 => call("log2"),
            Math::Log10 => call("log10"),
            Math::Log => format!("log({a}) / log({})", text[1]),
            Math::Sin => call("sin"),
            Math::Cos => call("cos"),
            Math::Tan => call("tan"),
            Math::Asin => call("asin"),
            Math::Acos => call("acos"),
            Math::Atan => call("atan"),
            Math::Sinh => call("sinh"),
            Math::Cosh => call("cosh"),
            Math::Tanh => call("tanh"),
            Math::Asinh => call("asinh"),
            Math::Acosh => call("acosh"),
            Math::Atanh => call("atanh"),
            Math::Hypot => call("hypot"),
            Math::Atan2 => call("atan2"),
            Math::Powi => call("stratape_powi"),
            Math::Powf => call("pow"),
            Math::Abs => call("fabs"),
            Math::Signum => call("stratape_signum"),
            Math::Copysign => call("copysign"),
            Math::Min => call("fmin"),
            Math::Max => call("fmax"),
            Math::Clamp => call("stratape_clamp"),
            Math::Floor => call("floor"),
            Math::Ceil => call("ceil"),
            Math::Round => call("round"),
            Math::RoundTiesEven => call("rint"),
            Math::Trunc => call("trunc"),
            Math::Fract => format!("{a} - trunc({a})"),
            Math::Recip => format!("{one} / {a}"),
            Math::ToRadians if f32s => format!("{a} * 0.017453292f"),
            Math::ToRadians => format!("{a} * (3.14159265358979323846 / 180.0)"),
            Math::ToDegrees if f32s => format!("{a} * 57.29578f"),
            Math::ToDegrees => format!("{a} * (180.0 / 3.14159265358979323846)"),
            Math::MulAdd => call("fma"),
            Math::DivEuclid => call("stratape_div_euclid"),
            Math::RemEuclid => call("stratape_rem_euclid"),
        }
    }

    fn method(&self, name: &str, args: &[ValueId], ty: Scalar) -> String {
        let text: Vec<String> = args.iter().map(|arg| self.value(*arg)).collect();
        let (a, result) = (&text[0], c_scalar(ty));
        let of = self.function.ty(args[0]);
        let b = text.get(1).map_or("", String::as_str);
        let unsigned = match of {
            Scalar::Int(int) => c_scalar(Scalar::Int(int.unsigned())),
            other => c_scalar(other),
        };
        let wraps = |sign: &str| format!("({result})(({unsigned}){a} {sign} ({unsigned}){b})");
        let signed = matches!(of, Scalar::Int(int) if int.signed());
        match name {
            "is_nan" => format!("{a} != {a}"),
            "is_finite" => format!("(bool)isfinite({a})"),
            "is_infinite" => format!("(bool)isinf({a})"),
            "is_sign_negative" => format!("(bool)signbit({a})"),
            "is_sign_positive" => format!("!signbit({a})"),
            "min" => format!("stratape_min({a}, {b})"),
            "max" => format!("stratape_max({a}, {b})"),
            "clamp" => format!("stratape_clamp({})", text.join(", ")),
            "wrapping_add" => wraps("+"),
            "wrapping_sub" => wraps("-"),
            "wrapping_mul" => wraps("*"),
            "saturating_sub" if !signed => format!("({result})({a} > {b} ? {a} - {b} : 0)"),
            "saturating_sub" => {
                let (less, last) = (wraps("-"), format!("({unsigned})-1 >> 1"));
                let end = format!("({result})({a} < 0 ? ~({last}) : {last})");
                format!("((({a} ^ {b}) & ({a} ^ {less})) < 0 ? {end} : {less})")
            }
            "saturating_add" if !signed => {
                format!("({result})(({result})({a} + {b}) < {a} ? ({result})-1 : {a} + {b})")
            }
            "abs" => format!("({result})({a} < 0 ? 0 - {a} : {a})"),
            "unsigned_abs" => {
                format!("({result})({a} < 0 ? 0 - ({unsigned}){a} : ({unsigned}){a})")
            }
            "abs_diff" => format!("({result})({a} > {b} ? {a} - {b} : {b} - {a})"),
            "signum" => format!("({result})(({a} > 0) - ({a} < 0))"),
            "pow" => format!("stratape_int_pow({a}, (unsigned){b})"),
            "rem_euclid" if signed => format!("stratape_int_rem_euclid({a}, {b})"),
            "div_euclid" if signed => format!("stratape_int_div_euclid({a}, {b})"),
            "rem_euclid" => format!("({result})({a} % {b})"),
            "div_euclid" => format!("({result})({a} / {b})"),
            "div_ceil" => format!("({result})({a} / {b} + ({a} % {b} != 0))"),
            "next_multiple_of" => format!("({result})(({a} + {b} - 1) / {b} * {b})"),
            "is_power_of_two" => format!("({a} != 0 && ({a} & ({a} - 1)) == 0)"),
            "count_ones" => format!("({result})__popcll((unsigned long long)({unsigned}){a})"),
            // What is left has no derivative and no short form: it does not compile, and the log says which it is.
            other => format!("stratape_unknown_method_{other}({})", text.join(", ")),
        }
    }

    fn cast(&self, a: ValueId, to: Scalar) -> String {
        let (text, from) = (self.value(a), self.function.ty(a));
        match (from, to) {
            (Scalar::Float(_), Scalar::Int(int)) => {
                let (least, most) = int.bounds();
                let (low, high) = (format!("{:?}", least as f64), format!("{:?}", most as f64));
                let (least, most) = (literal(least, int), literal(most, int));
                let ty = c_scalar(to);
                format!("stratape_to_int<{ty}>((double){text}, {low}, {high}, {least}, {most})")
            }
            _ => format!("({}){text}", c_scalar(to)),
        }
    }
}

fn literal(number: i128, int: Int) -> String {
    match int {
        Int::I64 | Int::Isize if number == i128::from(i64::MIN) => {
            "(-9223372036854775807ll - 1)".to_owned()
        }
        Int::I64 | Int::Isize => format!("{number}ll"),
        Int::U64 | Int::Usize => format!("{number}ull"),
        Int::U32 => format!("{number}u"),
        Int::I32 if number == i128::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        int => format!("({}){number}", c_scalar(Scalar::Int(int))),
    }
}

fn int(number: i128, ty: Scalar) -> String {
    match ty {
        Scalar::Int(int) => literal(number, int),
        _ => number.to_string(),
    }
}

/// A literal whose bits are those that Rust reads in its text.
fn float(number: f64, text: &str, ty: Scalar) -> String {
    let plain: String = text.chars().filter(|c| *c != '_' && !c.is_whitespace()).collect();
    let digits = plain.trim_end_matches("f32").trim_end_matches("f64");
    match ty {
        Scalar::Float(Float::F32) => {
            let number = digits.parse::<f32>().unwrap_or(number as f32);
            match number.is_finite() {
                true => format!("{number:?}f"),
                false => format!("__uint_as_float({:#x}u)", number.to_bits()),
            }
        }
        _ => {
            let number = digits.parse::<f64>().unwrap_or(number);
            match number.is_finite() {
                true => format!("{number:?}"),
                false => format!("__longlong_as_double((long long){:#x}ull)", number.to_bits()),
            }
        }
    }
}
