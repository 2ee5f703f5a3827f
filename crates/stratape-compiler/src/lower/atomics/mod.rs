//! Atomics: which adjoints several threads of a kernel may add to at once.
//!
//! What several threads read, their backward halves add to. The addition must be atomic, unless no two threads meet in one element:
//!
//! ```text
//! @dx[i] += d      i = thread_idx.x + block_idx.x * block_dim.x     →   stays, if the grid has no other axis; atomic otherwise
//! @dx[0] += d                                                       →   atomic add @dx[0], d
//! ```
//!
//! An index is *owned* by a thread if it is a number in mixed radix whose digits determine the thread: `c·(d₀ + r₀·d₁ + r₀·r₁·d₂ + …) + offset`, where each digit
//! is below its radix: an index of a thread or a block, the counter of a loop, or a sum of such which a guard keeps below a bound (`if x < width`). Axes that
//! do not occur must have one thread and one block: what the launch decides is asked at run time, once for each kernel. Two additions to one object must be owned in the same
//! way: their offsets differ by less than `c`. Within a block, of shared memory, the digits need to determine the thread alone.
//!
//! A thread's own locals are never shared. Plain additions of the primal are the user's: two threads that meet there race.

mod facts;
mod owners;

use std::collections::{BTreeMap, BTreeSet};

use self::owners::Question;
use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::{DefUse, Uniform};
use stratape_ir::{
    Atomic, AtomicOp, Binary, Block, Compare, Function, ObjectId, Op, Place, Scalar, SourceId,
    Stmt, ValueId,
};

pub(crate) use self::facts::Known;
pub(crate) use self::owners::{Digits, Owners, Part, agree};

/// The pass.
pub const ATOMICS: Pass = Pass {
    name: "atomics",
    after: &["dce"],
    promise: Promise::AdjointBits,
    required: true,
    run: atomics,
};

/// How threads meet in what they add to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sharing {
    /// Each element belongs to one thread, if the launch answers these questions with yes.
    Owned(BTreeSet<Question>),
    /// Several threads may add to one element.
    Shared,
}

fn atomics(function: &mut Function, cx: &mut Context<'_>) {
    let found = {
        let definitions = DefUse::new(function);
        let owners = Owners::new(function, &definitions);
        let mut additions = BTreeMap::new();
        collect(&owners, &function.body, &mut Known::default(), &mut additions);
        sharing(&additions)
    };
    let mut body = std::mem::take(&mut function.body);
    let uniform = Uniform::new(&Function { body: body.clone(), ..function.clone() });
    let mut writer = Writer { function, uniform, conditions: BTreeMap::new(), head: Block::new() };
    writer.block(&mut body, &found);
    let mut head = writer.head;
    head.append(&mut body);
    function.body = head;
    for (object, sharing) in &found {
        let known = &function.objects[object.index()];
        let (name, span) = (known.name.clone(), known.span);
        match sharing {
            Sharing::Shared => cx.missed(
                span,
                format!("several threads may add to one element of `{name}`: atomic additions"),
            ),
            Sharing::Owned(_) => cx.applied(
                span,
                format!("each element of `{name}` belongs to one thread: plain additions"),
            ),
        }
    }
}

/// The additions to each object that other threads see: how they are owned, if they are.
fn collect(
    owners: &Owners<'_>,
    block: &Block,
    known: &mut Known,
    additions: &mut BTreeMap<ObjectId, Vec<[Option<Digits>; 2]>>,
) {
    for node in block {
        match node {
            Stmt::Accumulate { place, .. } if owners.is_communal_adjoint(place.object) => {
                let owned = [false, true].map(|whole| owners.digits(place, known, whole));
                additions.entry(place.object).or_default().push(owned);
            }
            Stmt::Atomic(atomic) if owners.is_adjoint(atomic.place.object) => {
                additions.entry(atomic.place.object).or_default().push([None, None]);
            }
            Stmt::If(branch) => {
                for (holds, block) in [(true, &branch.then), (false, &branch.other)] {
                    owners.under(branch.condition, holds, known, &mut |known| {
                        collect(owners, block, known, additions);
                    });
                }
            }
            Stmt::Loop(repeat) => owners.during(repeat, known, &mut |known| {
                collect(owners, &repeat.body, known, additions);
            }),
            _ => {}
        }
    }
}

/// What is to be done for each object.
fn sharing(
    additions: &BTreeMap<ObjectId, Vec<[Option<Digits>; 2]>>,
) -> BTreeMap<ObjectId, Sharing> {
    let owned = |additions: &[[Option<Digits>; 2]], whole: usize| {
        let owned = additions.iter().map(|addition| addition[whole].as_ref());
        let owned: Vec<&Digits> = owned.collect::<Option<_>>()?;
        let all = owned.iter().all(|a| owned.iter().all(|b| agree(a, b)));
        let questions = owned.iter().flat_map(|one| one.questions.iter().copied());
        all.then(|| Sharing::Owned(questions.collect()))
    };
    let of = |additions: &[[Option<Digits>; 2]]| {
        let found = [0, 1].into_iter().find_map(|whole| owned(additions, whole));
        found.unwrap_or(Sharing::Shared)
    };
    additions.iter().map(|(object, additions)| (*object, of(additions))).collect()
}

struct Writer<'a> {
    function: &'a mut Function,
    uniform: Uniform,
    /// The conditions under which elements belong to threads.
    conditions: BTreeMap<Vec<Question>, ValueId>,
    /// Where they are computed.
    head: Block,
}

impl Writer<'_> {
    /// Whether all threads of a block that come to a place together come to the same.
    fn is_uniform(&self, place: &Place) -> bool {
        let mut uniform = true;
        place.for_each_operand(&mut |index| uniform &= self.uniform.value(index));
        uniform
    }

    fn block(&mut self, block: &mut Block, found: &BTreeMap<ObjectId, Sharing>) {
        for node in block {
            for inner in node.blocks_mut() {
                self.block(inner, found);
            }
            let Stmt::Accumulate { place, value, subtract } = node else { continue };
            let Some(sharing) = found.get(&place.object) else { continue };
            let questions = match sharing {
                Sharing::Owned(questions) if questions.is_empty() => continue,
                Sharing::Owned(questions) => Some(questions),
                Sharing::Shared => None,
            };
            let (place, value) = (place.clone(), *value);
            let (mut added, mut atomic) = (value, Block::new());
            if *subtract {
                let ty = self.function.ty(value);
                let op = Op::Unary(stratape_ir::Unary::Neg, value);
                added = self.function.define(&mut atomic, ty, op, SourceId::NONE);
                self.function.values[added.index()].adjoint = true;
            }
            let add = Atomic {
                op: AtomicOp::Add,
                place: place.clone(),
                value: added,
                old: None,
                block: false,
                warp: self.is_uniform(&place),
            };
            atomic.push(Stmt::Atomic(Box::new(add)));
            let plain = vec![Stmt::Accumulate { place, value, subtract: *subtract }];
            let (condition, then, other) = match questions {
                Some(questions) => (self.condition(questions), plain, atomic),
                None if atomic.len() == 1 => {
                    *node = atomic.remove(0);
                    continue;
                }
                None => {
                    let op = Op::Bool(true);
                    let at = SourceId::NONE;
                    (
                        self.function.define(&mut self.head, Scalar::Bool, op, at),
                        atomic,
                        Block::new(),
                    )
                }
            };
            *node = Stmt::branch(condition, then, other);
        }
    }

    fn define(&mut self, ty: Scalar, op: Op) -> ValueId {
        self.function.define(&mut self.head, ty, op, SourceId::NONE)
    }

    /// Whether all questions are answered with yes.
    fn condition(&mut self, questions: &BTreeSet<Question>) -> ValueId {
        let key: Vec<Question> = questions.iter().copied().collect();
        if let Some(known) = self.conditions.get(&key) {
            return *known;
        }
        let mut product = None;
        let mut answers = Vec::new();
        for question in &key {
            let size = self.define(Scalar::USIZE, Op::Builtin(question.about()));
            match question {
                // One product for all.
                Question::One(_) => {
                    product = Some(product.map_or(size, |so_far| {
                        self.define(Scalar::USIZE, Op::Binary(Binary::Mul, so_far, size))
                    }));
                }
                Question::AtMost(_, most) => {
                    let most = self.define(Scalar::USIZE, Op::Int(*most));
                    answers.push(self.define(Scalar::Bool, Op::Compare(Compare::Le, size, most)));
                }
                Question::Multiple(_, of) => {
                    let of = self.define(Scalar::USIZE, Op::Int(*of));
                    let rest = self.define(Scalar::USIZE, Op::Binary(Binary::Rem, size, of));
                    let zero = self.define(Scalar::USIZE, Op::Int(0));
                    answers.push(self.define(Scalar::Bool, Op::Compare(Compare::Eq, rest, zero)));
                }
            }
        }
        if let Some(product) = product {
            let one = self.define(Scalar::USIZE, Op::Int(1));
            answers.insert(0, self.define(Scalar::Bool, Op::Compare(Compare::Eq, product, one)));
        }
        let first = answers.first().copied();
        let first = first.unwrap_or_else(|| self.define(Scalar::Bool, Op::Bool(true)));
        let condition = answers.iter().skip(1).fold(first, |all, answer| {
            self.define(Scalar::Bool, Op::Binary(Binary::BitAnd, all, *answer))
        });
        self.conditions.insert(key, condition);
        condition
    }
}
