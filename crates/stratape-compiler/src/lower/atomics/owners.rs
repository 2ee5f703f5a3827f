//! Which thread an element belongs to: an index as digits of a number in mixed radix.

use std::collections::{BTreeSet, HashMap};

use super::facts::Known;
use stratape_ir::analysis::{Affine, DefUse, Definition, Polynomial};
use stratape_ir::{
    Axis, Binary, Builtin, Extent, Function, Loop, ObjectId, Op, Origin, Place, Scalar, Step, Stmt,
    Type, ValueId, walk,
};

/// What a launch must fulfil for an element to belong to one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Question {
    /// A number of threads or blocks is 1.
    One(Builtin),
    /// It is at most so many.
    AtMost(Builtin, i128),
    /// It is a multiple.
    Multiple(Builtin, i128),
}

impl Question {
    /// The number of threads or blocks that it is about.
    pub(super) fn about(self) -> Builtin {
        match self {
            Self::One(one) | Self::AtMost(one, _) | Self::Multiple(one, _) => one,
        }
    }
}

/// What a digit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The index of a thread or a block along an axis.
    Own(Builtin),
    /// The counter of a loop, or one of the numbers that it took.
    Turn(ValueId),
    /// A number, divided by another without the rest.
    Quotient(Polynomial, i128),
    /// The rest.
    Rest(Polynomial, i128),
}

/// A digit and its stride.
#[derive(Clone, Debug)]
pub(crate) struct Digit {
    pub(crate) part: Part,
    pub(crate) stride: Polynomial,
}

/// An index in mixed radix.
#[derive(Clone, Debug)]
pub(crate) struct Digits {
    /// The stride of the least digit.
    pub(crate) least: i128,
    /// The digits, from the least.
    pub(crate) digits: Vec<Digit>,
    /// What is added, the same for all threads.
    pub(crate) offset: Polynomial,
    /// What must be asked for the digits to determine the thread.
    pub(crate) questions: BTreeSet<Question>,
}

/// Whether indices of two additions belong to the same threads.
pub(crate) fn agree(a: &Digits, b: &Digits) -> bool {
    // Where the strides are the same, an index has the same digits, whatever is counted by them.
    let same = |(a, b): (&Digit, &Digit)| {
        let turns = matches!((&a.part, &b.part), (Part::Turn(_), Part::Turn(_)));
        a.stride == b.stride && (turns || a.part == b.part)
    };
    let apart = a.offset.minus(&b.offset).as_number();
    a.least == b.least
        && a.digits.len() == b.digits.len()
        && a.digits.iter().zip(&b.digits).all(same)
        && apart.is_some_and(|apart| apart == 0 || apart.abs() < a.least)
}

/// A stride that the next digit may have, or more, and what must be asked.
struct Next {
    stride: Polynomial,
    question: Option<Question>,
}

/// Which threads elements belong to, in one kernel.
pub(crate) struct Owners<'a> {
    function: &'a Function,
    definitions: &'a DefUse,
    pub(super) affine: Affine<'a>,
    /// One value for each builtin, the length of each object, and what is computed from them.
    canonical: HashMap<String, ValueId>,
    same: HashMap<ValueId, ValueId>,
    /// Loops that leave one of the numbers that they counted: whether they do, and the number.
    pub(super) picked: Vec<(ValueId, (&'a Loop, ValueId))>,
    /// `a − ⌊a / b⌋ · b`, which is at least 0, of all quotients that are the same for all threads.
    rests: Vec<Polynomial>,
}

impl<'a> Owners<'a> {
    pub(crate) fn new(function: &'a Function, definitions: &'a DefUse) -> Self {
        let affine = Affine::new(function, definitions);
        let mut owners = Self {
            function,
            definitions,
            affine,
            canonical: HashMap::new(),
            same: HashMap::new(),
            picked: Vec::new(),
            rests: Vec::new(),
        };
        walk(&function.body, &mut |node| match node {
            Stmt::Let { value, op } => owners.unify(*value, op),
            Stmt::Loop(repeat) => owners.pick(repeat),
            _ => {}
        });
        owners
    }

    /// Finds the value that stands for all that are computed in the same way.
    fn unify(&mut self, value: ValueId, op: &Op) {
        // Indices and extents fit in 32 bits.
        if let (Op::Cast(of, _), true) =
            (op, matches!(self.function.ty(value), Scalar::Int(to) if to.bits() >= 32))
            && self.builtin(*of).is_some()
        {
            let of = self.same(*of);
            self.same.insert(value, of);
            return;
        }
        let mut op = op.clone();
        let is_pure = matches!(op, Op::Builtin(_) | Op::Len(_) | Op::Binary(..) | Op::Method(..));
        if is_pure || op.is_constant() {
            op.for_each_operand_mut(&mut |operand| *operand = self.same(*operand));
            let ty = self.function.ty(value);
            let first = *self.canonical.entry(format!("{op:?} {ty:?}")).or_insert(value);
            self.same.insert(value, first);
            if let Op::Binary(Binary::Div, a, b) = op
                && first == value
                && self.affine.is_natural(value)
                && self.is_uniform(value)
            {
                let whole = Polynomial::symbol(value).times(&self.polynomial(b));
                self.rests.push(self.polynomial(a).minus(&whole));
            }
        }
    }

    /// Notes the numbers that a loop picks of those that it counts: `at = if c then counter else at; found = if c then true else found`.
    fn pick(&mut self, repeat: &'a Loop) {
        let choice = |inside: ValueId, next: ValueId| match self.op(next) {
            Some(Op::Select(c, a, b)) if *b == inside => Some((*c, true, *a)),
            Some(Op::Select(c, a, b)) if *a == inside => Some((*c, false, *b)),
            _ => None,
        };
        let is = |value: ValueId, is: bool| matches!(self.op(value), Some(Op::Bool(b)) if *b == is);
        let choices =
            || repeat.carried.iter().filter_map(|one| Some((one, choice(one.inside, one.next)?)));
        let mut found = Vec::new();
        for (flag, (condition, holds, chosen)) in choices() {
            if !is(flag.init, false) || !is(chosen, true) {
                continue;
            }
            for (number, choice) in choices() {
                if choice == (condition, holds, repeat.counter) {
                    found.push((flag.after, (repeat, number.after)));
                }
            }
        }
        self.picked.extend(found);
    }

    /// Whether an object holds adjoints.
    pub(super) fn is_adjoint(&self, object: ObjectId) -> bool {
        self.function.holds_adjoints(object)
    }

    /// Whether an object holds adjoints, and threads other than its own can see it.
    pub(super) fn is_communal_adjoint(&self, object: ObjectId) -> bool {
        let communal = self.function.shared.contains(&object)
            || self.function.objects[object.index()].origin == Origin::RefMut;
        communal && self.is_adjoint(object)
    }

    pub(crate) fn op(&self, value: ValueId) -> Option<&'a Op> {
        self.affine.op(value)
    }

    /// The value that stands for all that are the same number, also where it was saved.
    pub(crate) fn same(&self, value: ValueId) -> ValueId {
        let restored = self.function.values[value.index()].stands_for.unwrap_or(value);
        self.same.get(&restored).copied().unwrap_or(restored)
    }

    /// A polynomial in which values that are the same number are the same symbol.
    pub(crate) fn unified(&self, polynomial: &Polynomial) -> Polynomial {
        let mut sum = Polynomial::default();
        for (symbols, factor) in polynomial.terms() {
            let product = symbols.iter().fold(Polynomial::number(factor), |product, symbol| {
                let symbol = self.same(*symbol);
                product.times(&match self.builtin(symbol) {
                    Some(Builtin::WarpSize) => Polynomial::number(32),
                    _ => Polynomial::symbol(symbol),
                })
            });
            sum = sum.plus(&product);
        }
        sum
    }

    pub(crate) fn polynomial(&self, value: ValueId) -> Polynomial {
        self.unified(&self.affine.of(value))
    }

    pub(crate) fn builtin(&self, value: ValueId) -> Option<Builtin> {
        match self.op(value)? {
            Op::Builtin(builtin) => Some(*builtin),
            _ => None,
        }
    }

    /// Whether all threads of a grid see the same number.
    fn is_uniform(&self, value: ValueId) -> bool {
        match self.definitions.of(value) {
            Definition::Param => true,
            Definition::Op(Op::Builtin(builtin)) => {
                !matches!(builtin, Builtin::ThreadIdx(_) | Builtin::BlockIdx(_))
            }
            Definition::Op(Op::Load(place)) => {
                let mut uniform = self.function.objects[place.object.index()].origin == Origin::Ref;
                place.for_each_operand(&mut |index| uniform &= self.is_uniform(index));
                uniform
            }
            Definition::Op(op) => {
                let mut uniform = true;
                op.for_each_operand(&mut |operand| uniform &= self.is_uniform(operand));
                uniform
            }
            _ => false,
        }
    }

    pub(crate) fn is_constant(&self, polynomial: &Polynomial) -> bool {
        polynomial.symbols().all(|symbol| self.is_uniform(symbol))
    }

    /// Whether a value is never negative.
    pub(crate) fn is_natural(&self, value: ValueId) -> bool {
        self.affine.is_natural(value)
    }

    /// The symbol of a builtin, if the kernel mentions it.
    pub(crate) fn symbol(&self, builtin: Builtin) -> Option<ValueId> {
        let key = format!("{:?} {:?}", Op::Builtin(builtin), Scalar::USIZE);
        self.canonical.get(&key).copied()
    }

    fn extent_of(&self, builtin: Builtin) -> Option<Polynomial> {
        self.symbol(builtin).map(Polynomial::symbol)
    }

    /// What a symbol is as a digit.
    fn part(&self, symbol: ValueId, known: &Known) -> Option<Part> {
        if let Some(own @ (Builtin::ThreadIdx(_) | Builtin::BlockIdx(_))) = self.builtin(symbol) {
            return Some(Part::Own(own));
        }
        if self.affine.counted(symbol).is_some() {
            return Some(Part::Turn(symbol));
        }
        if let Some((_, (repeat, _))) = self
            .picked
            .iter()
            .find(|(flag, (_, picked))| *picked == symbol && known.truths.contains(&(*flag, true)))
        {
            return Some(Part::Turn(repeat.counter));
        }
        let Some(Op::Binary(sign, a, b)) = self.op(symbol) else { return None };
        let of = self.polynomial(*a);
        let by = self.polynomial(*b).as_number().filter(|_| self.affine.is_natural(*a))?;
        let power = |by: i128| u32::try_from(by).ok().and_then(|by| 1_i128.checked_shl(by));
        let part = match sign {
            Binary::Div => Part::Quotient(of, by),
            Binary::Rem => Part::Rest(of, by),
            Binary::Shr => Part::Quotient(of, power(by)?),
            Binary::BitAnd if (by + 1).count_ones() == 1 => Part::Rest(of, by + 1),
            _ => return None,
        };
        (by > 0).then_some(part)
    }

    /// The least number that a digit can be, and how many there are, if that is known.
    fn range(&self, part: &Part) -> Option<(Polynomial, Option<Polynomial>)> {
        let zero = Polynomial::default();
        match part {
            Part::Own(Builtin::ThreadIdx(axis)) => {
                Some((zero, self.extent_of(Builtin::BlockDim(*axis))))
            }
            Part::Own(Builtin::BlockIdx(axis)) => {
                Some((zero, self.extent_of(Builtin::GridDim(*axis))))
            }
            Part::Own(_) => None,
            Part::Quotient(..) => Some((zero, None)),
            Part::Rest(_, by) => Some((zero, Some(Polynomial::number(*by)))),
            Part::Turn(counter) => {
                let counted = self.affine.counted(*counter)?;
                let from = self.unified(&counted.from);
                let extent = counted.extent.as_ref().map(|extent| self.unified(extent));
                self.is_constant(&from)
                    .then(|| (from, extent.filter(|extent| self.is_constant(extent))))
            }
        }
    }

    /// The index of a place as digits that determine the thread: the first index, or those of arrays in arrays as one.
    pub(crate) fn digits(&self, place: &Place, known: &Known, whole: bool) -> Option<Digits> {
        let Some(Step::Index(index)) = place.path.first() else { return None };
        let mut index = self.polynomial(*index);
        let mut known = known.clone();
        if whole {
            let mut ty = self.function.objects[place.object.index()].ty.element()?;
            for step in &place.path[1..] {
                let (Step::Index(inner), Type::Array(item, Extent::Known(len))) = (step, ty) else {
                    return None;
                };
                let len = Polynomial::number(i128::try_from(*len).ok()?);
                let inner = self.polynomial(*inner);
                // An index is within its array.
                known.facts.push(len.minus(&inner).minus(&Polynomial::number(1)));
                index = index.times(&len).plus(&inner);
                ty = item;
            }
        }
        let (mut digits, mut seen) = self.decomposed(&index, &known)?;
        self.together(&mut digits, &known, &mut seen);
        for axis in Axis::ALL {
            if !seen.contains(&Builtin::ThreadIdx(axis)) {
                digits.questions.insert(Question::One(Builtin::BlockDim(axis)));
            }
            if !seen.contains(&Builtin::BlockIdx(axis))
                && !self.function.shared.contains(&place.object)
            {
                digits.questions.insert(Question::One(Builtin::GridDim(axis)));
            }
        }
        // Blocks of one thread are not worth a second version.
        let one = Question::One(Builtin::BlockDim(Axis::X));
        (!digits.questions.contains(&one)).then_some(digits)
    }

    /// A polynomial as digits, and the indices of threads and blocks among them.
    fn decomposed(
        &self,
        polynomial: &Polynomial,
        known: &Known,
    ) -> Option<(Digits, BTreeSet<Builtin>)> {
        let mut offset = polynomial.clone();
        let mut left: Vec<(ValueId, Part, Polynomial)> = Vec::new();
        let symbols: BTreeSet<ValueId> =
            offset.symbols().filter(|symbol| !self.is_uniform(*symbol)).collect();
        for symbol in symbols {
            let (factor, rest) = offset.split(symbol)?;
            let part = self.part(symbol, known)?;
            let (from, _) = self.range(&part)?;
            if !self.is_constant(&factor) {
                return None;
            }
            offset = rest.plus(&factor.times(&from));
            left.push((symbol, part, factor));
        }
        let numbers = left.iter().filter_map(|(_, _, stride)| stride.as_number());
        let least = numbers.min().filter(|least| *least > 0)?;
        let mut next = vec![Next { stride: Polynomial::number(least), question: None }];
        let mut found = Digits { least, digits: Vec::new(), offset, questions: BTreeSet::new() };
        let mut together = Polynomial::default();
        // The strides so far, and what the digits below them are together.
        let mut below = Vec::new();
        while !left.is_empty() {
            let (at, question) = self.lowest(&left, &next)?;
            found.questions.extend(question);
            let (symbol, part, stride) = left.remove(at);
            let (from, extent) = self.range(&part)?;
            let digit = Polynomial::symbol(symbol).minus(&from);
            below.push((stride.clone(), together.clone()));
            together = together.plus(&stride.times(&digit));
            next = extent
                .map(|extent| Next { stride: stride.times(&extent), question: None })
                .into_iter()
                .collect();
            // A fact `digits from some stride on, counted one by one, < bound`.
            for fact in &known.facts {
                for (stride, lower) in &below {
                    let bound = fact.times(stride).plus(&together).minus(lower).plus(stride);
                    if self.is_constant(&bound) {
                        next.push(Next { stride: bound, question: None });
                    }
                }
            }
            next.extend(left.iter().filter_map(|(_, _, higher)| {
                let question = Some(self.question(&part, &stride, higher)?);
                Some(Next { stride: higher.clone(), question })
            }));
            found.digits.push(Digit { part, stride });
        }
        let own = |digit: &Digit| match digit.part {
            Part::Own(builtin) => Some(builtin),
            _ => None,
        };
        let seen = found.digits.iter().filter_map(own).collect();
        Some((found, seen))
    }

    /// The digit that may come next, and what must be asked for it.
    fn lowest(
        &self,
        left: &[(ValueId, Part, Polynomial)],
        next: &[Next],
    ) -> Option<(usize, Option<Question>)> {
        let fits = |stride: &Polynomial| {
            let fits = |one: &&Next| {
                stride == &one.stride
                    || self.affine.follows(&stride.minus(&one.stride), 0, &self.rests)
            };
            next.iter().filter(fits).min_by_key(|one| one.question.is_some())
        };
        let found = left.iter().enumerate().filter_map(|(at, (_, _, stride))| {
            let next = fits(stride)?;
            let size = stride.as_number().unwrap_or(i128::MAX);
            Some((at, size, &next.stride != stride, next.question))
        });
        let found =
            found.min_by_key(|(_, size, more, question)| (question.is_some(), *size, *more));
        found.map(|(at, _, _, question)| (at, question))
    }

    /// What must be asked for a digit to stay below the stride of a higher one.
    fn question(&self, part: &Part, stride: &Polynomial, higher: &Polynomial) -> Option<Question> {
        // The number of threads or blocks that bounds the digit, and how many of them it takes for one more.
        let (extent, each) = match part {
            Part::Own(Builtin::ThreadIdx(axis)) => (Builtin::BlockDim(*axis), 1),
            Part::Quotient(of, by) => {
                let mut axes = Axis::ALL.into_iter();
                let axis = axes.find(|axis| {
                    let thread = self.extent_of(Builtin::ThreadIdx(*axis));
                    thread.as_ref() == Some(of)
                })?;
                (Builtin::BlockDim(axis), *by)
            }
            _ => return None,
        };
        if let Some(times) = ratio(higher, stride) {
            let most = times.checked_mul(each)?;
            // Blocks of fewer threads are not worth a second version.
            let worth = extent != Builtin::BlockDim(Axis::X) || most >= 4;
            return worth.then_some(Question::AtMost(extent, most));
        }
        // A whole number of warps in a block.
        let threads = self.extent_of(extent)?;
        let is_count = |symbol: &ValueId| {
            *higher == stride.times(&Polynomial::symbol(*symbol))
                && matches!(self.part(*symbol, &Known::default()), Some(Part::Quotient(of, by)) if of == threads && by == each)
        };
        let counts = each > 1 && higher.symbols().any(|symbol| is_count(&symbol));
        counts.then_some(Question::Multiple(extent, each))
    }

    /// A quotient and a rest determine what was divided, and with it threads and blocks.
    fn together(&self, found: &mut Digits, known: &Known, seen: &mut BTreeSet<Builtin>) {
        let mut questions = BTreeSet::new();
        for quotient in &found.digits {
            let Part::Quotient(of, by) = &quotient.part else { continue };
            for rest in &found.digits {
                let Part::Rest(other, same) = &rest.part else { continue };
                if by != same {
                    continue;
                }
                let Some(asked) = self.same_rest(of, other, *by) else { continue };
                if let Some((digits, more)) = self.decomposed(of, known) {
                    seen.extend(more);
                    questions.extend(asked);
                    questions.extend(digits.questions);
                }
            }
        }
        found.questions.extend(questions);
    }

    /// What must be asked for two numbers to leave the same rest.
    fn same_rest(&self, a: &Polynomial, b: &Polynomial, by: i128) -> Option<Vec<Question>> {
        let apart = a.minus(b);
        let mut questions = Vec::new();
        for (symbols, factor) in apart.terms() {
            if factor % by == 0 {
                continue;
            }
            let extent = symbols.iter().find_map(|symbol| match self.builtin(*symbol) {
                Some(extent @ Builtin::BlockDim(_)) => Some(extent),
                _ => None,
            });
            questions.push(Question::Multiple(extent?, by));
        }
        Some(questions)
    }
}

/// How many times a polynomial is another one.
fn ratio(of: &Polynomial, by: &Polynomial) -> Option<i128> {
    let (symbols, factor) = by.terms().next()?;
    let (_, higher) = of.terms().find(|(others, _)| *others == symbols)?;
    let times = higher.checked_div(factor).filter(|times| *times > 0)?;
    (by.times(&Polynomial::number(times)) == *of).then_some(times)
}
