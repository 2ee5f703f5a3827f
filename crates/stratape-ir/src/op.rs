//! Operations: how a value comes to be. They have no side effect but a panic.

use super::{Builtin, Opaque, Place, Scalar, ValueId};

/// Operations on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-a`
    Neg,
    /// `!a`
    Not,
}

/// Operations on two operands of one type (shifts: of two integer types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as the traits of std::ops")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
}

impl Binary {
    /// Every operation.
    pub const ALL: [Self; 10] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Rem,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
        Self::Shl,
        Self::Shr,
    ];

    /// The operation with a sign.
    pub fn from_sign(sign: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.sign() == sign)
    }

    /// The sign in Rust.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::Shl => "<<",
            Self::Shr => ">>",
        }
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as the methods of PartialOrd")]
pub enum Compare {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Compare {
    /// Every comparison.
    pub const ALL: [Self; 6] = [Self::Lt, Self::Le, Self::Gt, Self::Ge, Self::Eq, Self::Ne];

    /// The comparison with a sign.
    pub fn from_sign(sign: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.sign() == sign)
    }

    /// The sign in Rust.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
        }
    }

    /// Whether it holds.
    pub fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
            Self::Eq => a == b,
            Self::Ne => a != b,
        }
    }

    /// What holds of integers where it does not.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
        }
    }

    /// `a sign b` as `b sign' a`.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            same => same,
        }
    }
}

macro_rules! math {
    ($($name:ident $method:literal $arity:literal),* $(,)?) => {
        /// Functions of the float library, by their methods' names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "named as the methods of f64")]
        pub enum Math { $($name),* }

        impl Math {
            /// The function with a method's name.
            pub fn from_method(name: &str) -> Option<Self> {
                match name { $($method => Some(Self::$name),)* _ => None }
            }

            /// The method's name.
            pub fn method(self) -> &'static str {
                match self { $(Self::$name => $method),* }
            }

            /// Number of arguments, the receiver among them.
            pub fn arity(self) -> usize {
                match self { $(Self::$name => $arity),* }
            }
        }
    };
}

math! {
    Sqrt "sqrt" 1, Cbrt "cbrt" 1, Exp "exp" 1, Exp2 "exp2" 1, ExpM1 "exp_m1" 1,
    Ln "ln" 1, Ln1p "ln_1p" 1, Log2 "log2" 1, Log10 "log10" 1, Log "log" 2,
    Sin "sin" 1, Cos "cos" 1, Tan "tan" 1, Asin "asin" 1, Acos "acos" 1, Atan "atan" 1,
    Sinh "sinh" 1, Cosh "cosh" 1, Tanh "tanh" 1, Asinh "asinh" 1, Acosh "acosh" 1,
    Atanh "atanh" 1, Hypot "hypot" 2, Atan2 "atan2" 2, Powi "powi" 2, Powf "powf" 2,
    Abs "abs" 1, Signum "signum" 1, Copysign "copysign" 2, Min "min" 2, Max "max" 2,
    Clamp "clamp" 3, Floor "floor" 1, Ceil "ceil" 1, Round "round" 1,
    RoundTiesEven "round_ties_even" 1, Trunc "trunc" 1, Fract "fract" 1, Recip "recip" 1,
    ToRadians "to_radians" 1, ToDegrees "to_degrees" 1, MulAdd "mul_add" 3,
    DivEuclid "div_euclid" 2, RemEuclid "rem_euclid" 2,
}

/// One operation.
#[derive(Clone, Debug)]
pub enum Op {
    /// A float literal: its number, and its text, which decides the bits.
    Float(f64, String),
    /// An integer literal.
    Int(i128),
    /// `true`, `false`
    Bool(bool),
    /// A constant expression the compiler does not look into.
    Const(Opaque),
    /// An operation on one operand.
    Unary(Unary, ValueId),
    /// An operation on two operands.
    Binary(Binary, ValueId, ValueId),
    /// A comparison.
    Compare(Compare, ValueId, ValueId),
    /// `a.total_cmp(&b) == Ordering::Less` where `less`, `== Greater` otherwise.
    TotalCmp {
        /// Which of the two is asked.
        less: bool,
        /// Left operand.
        a: ValueId,
        /// Right operand.
        b: ValueId,
    },
    /// A function of the float library.
    Math(Math, Vec<ValueId>),
    /// A method that has no derivative, by its name: of integers, or `is_nan` and its like.
    Method(String, Vec<ValueId>),
    /// `a as T`
    Cast(ValueId, Scalar),
    /// `if c { a } else { b }`; both are computed.
    Select(ValueId, ValueId, ValueId),
    /// Reads one value from memory.
    Load(Place),
    /// The length of an array, slice or `Vec`.
    Len(Place),
    /// What a thread of a kernel knows of itself.
    Builtin(Builtin),
}

impl Op {
    /// Calls `f` with each operand, those in places included.
    pub fn for_each_operand(&self, f: &mut dyn FnMut(ValueId)) {
        match self {
            Self::Float(..) | Self::Int(_) | Self::Bool(_) | Self::Const(_) | Self::Builtin(_) => {}
            Self::Unary(_, a) | Self::Cast(a, _) => f(*a),
            Self::Binary(_, a, b) | Self::Compare(_, a, b) | Self::TotalCmp { a, b, .. } => {
                f(*a);
                f(*b);
            }
            Self::Math(_, args) | Self::Method(_, args) => args.iter().for_each(|a| f(*a)),
            Self::Select(c, a, b) => {
                f(*c);
                f(*a);
                f(*b);
            }
            Self::Load(place) | Self::Len(place) => place.for_each_operand(f),
        }
    }

    /// Calls `f` with each operand, to be changed in place.
    pub fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut ValueId)) {
        match self {
            Self::Float(..) | Self::Int(_) | Self::Bool(_) | Self::Const(_) | Self::Builtin(_) => {}
            Self::Unary(_, a) | Self::Cast(a, _) => f(a),
            Self::Binary(_, a, b) | Self::Compare(_, a, b) | Self::TotalCmp { a, b, .. } => {
                f(a);
                f(b);
            }
            Self::Math(_, args) | Self::Method(_, args) => args.iter_mut().for_each(f),
            Self::Select(c, a, b) => {
                f(c);
                f(a);
                f(b);
            }
            Self::Load(place) | Self::Len(place) => place.for_each_operand_mut(f),
        }
    }

    /// The literal that is zero, or false.
    pub fn zero(ty: Scalar) -> Self {
        match ty {
            Scalar::Bool => Self::Bool(false),
            Scalar::Int(_) | Scalar::Infer(_) => Self::Int(0),
            Scalar::Float(_) => Self::Float(0.0, "0.0".to_owned()),
        }
    }

    /// Whether the operation is a literal or a constant.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Float(..) | Self::Int(_) | Self::Bool(_) | Self::Const(_))
    }
}
