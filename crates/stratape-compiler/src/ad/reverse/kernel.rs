//! The adjoints of exchanges inside a warp.

use super::Reverse;
use stratape_ir::{
    Axis, Binary, Builtin, Compare, Exchange, Op, Scalar, Shuffle, SourceId, Stmt, ValueId, WARP,
};

impl Reverse<'_> {
    /// Hands the adjoint of what a lane got to the lane that gave it. A lane at the end of the warp, which has nobody to get a number from, keeps its own.
    ///
    /// ```text
    /// b = a of lane + by      →   da += (lane ≥ by ? db of lane − by : 0) + (lane + by ≥ 32 ? db : 0)
    /// b = a of lane ^ bits    →   da += db of lane ^ bits
    /// ```
    pub(super) fn shuffled(&mut self, shuffle: &Shuffle) {
        let Some(d) = self.adjoints.remove(&shuffle.value) else { return };
        if !self.active(shuffle.operand) {
            return;
        }
        let by = self.primal(shuffle.by);
        let part = match shuffle.exchange {
            Exchange::Xor => self.exchanged(Exchange::Xor, d, by),
            Exchange::Down => {
                let (lane, last) = (self.lane(), self.lane_plus(by));
                let given = self.exchanged(Exchange::Up, d, by);
                let given = self.where_holds(Compare::Ge, lane, by, given);
                let size = self.b.usize(WARP, SourceId::NONE);
                let own = self.where_holds(Compare::Ge, last, size, d);
                self.both(given, own)
            }
            Exchange::Up => {
                let (lane, last) = (self.lane(), self.lane_plus(by));
                let given = self.exchanged(Exchange::Down, d, by);
                let size = self.b.usize(WARP, SourceId::NONE);
                let given = self.where_holds(Compare::Lt, last, size, given);
                let own = self.where_holds(Compare::Lt, lane, by, d);
                self.both(given, own)
            }
        };
        self.add(shuffle.operand, part);
    }

    fn exchanged(&mut self, exchange: Exchange, operand: ValueId, by: ValueId) -> ValueId {
        let ty = self.b.function.ty(operand);
        let value = self.b.function.new_value(ty, SourceId::NONE);
        self.b.node(Stmt::Shuffle(Box::new(Shuffle { value, exchange, operand, by })));
        self.is_adjoint(value)
    }

    fn where_holds(&mut self, sign: Compare, a: ValueId, b: ValueId, d: ValueId) -> ValueId {
        let ty = self.b.function.ty(d);
        let (condition, zero) = (self.b.compare(sign, a, b, SourceId::NONE), self.zero(ty));
        let part = self.b.select(condition, d, zero, SourceId::NONE);
        self.is_adjoint(part)
    }

    fn both(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let sum = self.b.binary(Binary::Add, a, b, SourceId::NONE);
        self.is_adjoint(sum)
    }

    /// The number of the thread in its warp.
    fn lane(&mut self) -> ValueId {
        let mut of = |builtin| self.b.emit(Op::Builtin(builtin), Scalar::USIZE, SourceId::NONE);
        let index = Axis::ALL.map(|axis| of(Builtin::ThreadIdx(axis)));
        let size = Axis::ALL.map(|axis| of(Builtin::BlockDim(axis)));
        let mut binary = |sign, a, b| self.b.binary(sign, a, b, SourceId::NONE);
        let planes = binary(Binary::Mul, index[2], size[1]);
        let rows = binary(Binary::Add, planes, index[1]);
        let before = binary(Binary::Mul, rows, size[0]);
        let number = binary(Binary::Add, before, index[0]);
        let warp = self.b.usize(WARP, SourceId::NONE);
        self.b.binary(Binary::Rem, number, warp, SourceId::NONE)
    }

    fn lane_plus(&mut self, by: ValueId) -> ValueId {
        let lane = self.lane();
        self.b.binary(Binary::Add, lane, by, SourceId::NONE)
    }
}
