//! Loops with schedules, run as a back end would run them: in parts, in strips, in blocks.
//!
//! What a schedule claims is checked as it runs: a part keeps to its windows, a view covers what it is said to, nothing looks at a sum that
//! is kept in several partial ones, an addition that waits finds its element where the schedule says it is.

use super::machine::Machine;
use super::operation::binary;
use super::rotating::Rotating;
use super::{Datum, Memory, Number, Observer, Trap, fault};
use stratape_ir::{
    Binary, Loop, ObjectId, Parts, Place, Polynomial, Range, Schedule, Simd, Step, Stmt, Strip,
    View,
};

/// What a loop carries.
type State<N> = Vec<Datum<N>>;

impl<N: Number, O: Observer> Machine<'_, N, O> {
    pub(super) fn scheduled(&mut self, node: &Loop, schedule: &Schedule) -> Result<(), Trap> {
        let Range::UpTo { from, to } = node.range else {
            return fault("a loop without end has a schedule");
        };
        let (from, to) = (self.int(from)?, self.int(to)?);
        let to = to.max(from);
        let inits: Vec<_> = node.carried.iter().map(|carried| carried.init).collect();
        let state = self.get_all(&inits)?;
        let insides = node.carried.iter().map(|carried| carried.inside);
        self.tell_handed_on(insides.clone(), inits.into_iter());
        let state = match &schedule.parts {
            Some(parts) => self.in_parts(node, schedule, parts, (from, to), state)?,
            None => self.in_strips(node, schedule, (from, to), state)?,
        };
        let afters = node.carried.iter().map(|carried| carried.after);
        self.tell_handed_on(afters.clone(), insides);
        self.set_all(afters, state)
    }

    /// Runs the parts one after the other, each on its lane.
    fn in_parts(
        &mut self,
        node: &Loop,
        schedule: &Schedule,
        parts: &Parts,
        (from, to): (i128, i128),
        state: State<N>,
    ) -> Result<State<N>, Trap> {
        let total = to - from;
        let count = total.clamp(1, self.options.parts.max(1) as i128);
        let begins = |part: i128| {
            let (each, more) = (total / count, total % count);
            from + each * part + part.min(more)
        };
        let zeros: State<N> = state
            .iter()
            .zip(&node.carried)
            .map(|(_, carried)| Ok(zero(self.ty(carried.inside)?)))
            .collect::<Result<_, Trap>>()?;
        let mut sums: Vec<State<N>> = Vec::new();
        let mut copies: Vec<Vec<Memory<N>>> = Vec::new();
        self.lanes.resize_with(self.lanes.len().max(count as usize), Vec::new);
        for part in 0..count {
            let (first, end) = (begins(part), begins(part + 1));
            let mut kept = Vec::new();
            for object in parts.private.iter().filter(|_| part > 0) {
                let memory = self.memory(&Place::whole(*object))?.zeroed();
                kept.push(self.replace_object(*object, memory)?);
            }
            let windows = self.windows.len();
            for (object, window) in &parts.windows {
                let stride = self.polynomial(&window.stride)?;
                let first = self.index(stride, first, &window.base)?;
                let end = self.index(stride, end, &window.base)?;
                self.windows.push((*object, first, end));
            }
            std::mem::swap(&mut self.tape, &mut self.lanes[part as usize]);
            let outcome = self.in_strips(node, schedule, (first, end), zeros.clone());
            std::mem::swap(&mut self.tape, &mut self.lanes[part as usize]);
            self.windows.truncate(windows);
            sums.push(outcome?);
            let mut own = Vec::new();
            for (object, memory) in parts.private.iter().zip(kept) {
                own.push(self.replace_object(*object, memory)?);
            }
            copies.push(own);
        }
        for own in copies {
            for (object, memory) in parts.private.iter().zip(own) {
                let Some(Some(target)) = self.objects.get_mut(object.index()) else {
                    return fault(format!("{object:?} is gone"));
                };
                add_all(target, &memory)?;
                let known = &self.function.objects[object.index()].ty;
                let sum = std::mem::replace(target, Memory::Bool(false));
                *target = sum.fit(known)?;
            }
        }
        let mut state = state;
        for part in sums {
            for ((sum, partial), carried) in state.iter_mut().zip(part).zip(&node.carried) {
                *sum = binary(Binary::Add, *sum, partial, self.ty(carried.inside)?)?;
            }
        }
        Ok(state)
    }

    fn in_strips(
        &mut self,
        node: &Loop,
        schedule: &Schedule,
        (from, to): (i128, i128),
        mut state: State<N>,
    ) -> Result<State<N>, Trap> {
        let Some(strip) = &schedule.strip else {
            let counters: Vec<i128> =
                if node.reversed { (from..to).rev().collect() } else { (from..to).collect() };
            for counter in counters {
                (state, _) = self.iteration(node, counter, state)?;
            }
            return Ok(state);
        };
        let Some(region) = strip.region else {
            return self.strip(node, schedule, strip, (from, to - from), state);
        };
        let mut left = to - from;
        while left > 0 {
            let count = self.open_layer(node, region, left)?;
            let first = if node.reversed { from + left - count } else { to - left };
            state = self.strip(node, schedule, strip, (first, count), state)?;
            self.close_layer(node)?;
            left -= count;
        }
        Ok(state)
    }

    /// Runs the iterations of one strip.
    fn strip(
        &mut self,
        node: &Loop,
        schedule: &Schedule,
        strip: &Strip,
        (first, count): (i128, i128),
        mut state: State<N>,
    ) -> Result<State<N>, Trap> {
        for view in &strip.views {
            self.open(view, first, count)?;
        }
        if let Some(simd) = &schedule.simd {
            if node.reversed && !node.unordered {
                return fault("a loop in reverse order runs in blocks");
            }
            return self.in_blocks(node, simd, (first, count), state);
        }
        let order: Vec<i128> = if node.reversed && !node.unordered {
            (0..count).rev().collect()
        } else {
            (0..count).collect()
        };
        for k in order {
            self.enter_region(node, k);
            (state, _) = self.iteration(node, first + k, state)?;
        }
        Ok(state)
    }

    /// The iteration of a strip that is run next; it has a frame, if the strip has a region.
    fn enter_region(&mut self, node: &Loop, k: i128) {
        let strip = node.schedule.as_ref().and_then(|schedule| schedule.strip.as_ref());
        if strip.is_some_and(|strip| strip.region.is_some()) {
            self.enter_frame(k);
        }
    }

    /// Slices a view.
    fn open(&self, view: &View, first: i128, count: i128) -> Result<(), Trap> {
        if count == 0 {
            return Ok(());
        }
        let start = self.index(view.stride, first, &view.base)?;
        let end = self.index(view.stride, first + count, &view.base)?;
        let len = self.len(view.object)?;
        if start < 0 || end > len {
            return Err(self.no_element(view.object, start.max(len), len));
        }
        Ok(())
    }

    fn in_blocks(
        &mut self,
        node: &Loop,
        simd: &Simd,
        (first, count): (i128, i128),
        mut state: State<N>,
    ) -> Result<State<N>, Trap> {
        let width = simd.width.max(1);
        let blocks = count / width as i128;
        let types = node
            .carried
            .iter()
            .map(|carried| self.ty(carried.inside))
            .collect::<Result<Vec<_>, Trap>>()?;
        let mut partial: Vec<State<N>> = types.iter().map(|ty| vec![zero(*ty); width]).collect();
        let mut rotating = Vec::new();
        for rotation in &simd.rotations {
            rotating.push(self.begin(node, rotation, width)?);
        }
        for block in 0..blocks {
            let start = first + block * width as i128;
            let mut ordered: Vec<State<N>> = vec![Vec::new(); simd.reductions.len()];
            let mut delayed: Vec<Vec<(Vec<usize>, Datum<N>)>> =
                vec![Vec::new(); simd.delayed.len()];
            for lane in 0..width {
                self.enter_region(node, block * width as i128 + lane as i128);
                let (terms, late, turning) = self.lane(node, simd, start + lane as i128)?;
                for (number, (reduction, term)) in simd.reductions.iter().zip(terms).enumerate() {
                    if reduction.reassociate {
                        let sum = partial[number].get_mut(lane);
                        if let Some(sum) = sum {
                            *sum = binary(Binary::Add, *sum, term, types[number])?;
                        }
                    } else {
                        ordered[number].push(term);
                    }
                }
                for (waiting, late) in delayed.iter_mut().zip(late) {
                    waiting.push(late);
                }
                for ((rotation, rotating), terms) in
                    simd.rotations.iter().zip(&mut rotating).zip(turning)
                {
                    let alone = rotation.additions.len() == 1;
                    for (number, ((at, distance), term)) in
                        rotation.additions.iter().zip(terms).enumerate()
                    {
                        if *distance == 0 && !alone {
                            self.add_at(node, rotation, *at, start + lane as i128, term)?;
                        } else {
                            rotating.terms[number].push(term);
                        }
                    }
                }
            }
            for (number, reduction) in simd.reductions.iter().enumerate() {
                for term in std::mem::take(&mut ordered[number]) {
                    state[number] =
                        binary(sign(reduction.subtract), state[number], term, types[number])?;
                }
            }
            for (rotation, rotating) in simd.rotations.iter().zip(&mut rotating) {
                self.turn(node, rotation, rotating, start, width)?;
            }
            for (at, waiting) in simd.delayed.iter().zip(delayed) {
                for (path, term) in waiting {
                    self.add_late(node, *at, &path, term)?;
                }
            }
        }
        for (number, reduction) in simd.reductions.iter().enumerate() {
            if reduction.reassociate {
                let sum = pairwise(std::mem::take(&mut partial[number]), types[number])?;
                state[number] =
                    binary(sign(reduction.subtract), state[number], sum, types[number])?;
            }
        }
        self.left_over(node, simd, &mut rotating, (first, count), blocks * width as i128, state)
    }

    /// The iterations that do not fill a block, and what rotations still hold.
    fn left_over(
        &mut self,
        node: &Loop,
        simd: &Simd,
        rotating: &mut [Rotating<N>],
        (first, count): (i128, i128),
        done: i128,
        mut state: State<N>,
    ) -> Result<State<N>, Trap> {
        for (rotation, rotating) in simd.rotations.iter().zip(&mut *rotating) {
            for (number, (at, distance)) in rotation.additions.iter().enumerate() {
                let (subtract, ty) = self.addition(node, *at)?;
                for ahead in 0..*distance {
                    let carried = rotating.carried[number][ahead];
                    let slot = &mut rotating.waiting[ahead];
                    *slot = binary(sign(subtract), *slot, carried, ty)?;
                }
            }
        }
        for k in done..count {
            self.enter_region(node, k);
            let (terms, late, turning) = self.lane(node, simd, first + k)?;
            for (number, (reduction, term)) in simd.reductions.iter().zip(terms).enumerate() {
                let ty = self.ty(node.carried[number].inside)?;
                state[number] = binary(sign(reduction.subtract), state[number], term, ty)?;
            }
            for (at, (path, term)) in simd.delayed.iter().zip(late) {
                self.add_late(node, *at, &path, term)?;
            }
            for ((rotation, rotating), terms) in
                simd.rotations.iter().zip(&mut *rotating).zip(turning)
            {
                if let [(at, _)] = rotation.additions[..] {
                    for term in terms {
                        self.add_at(node, rotation, at, first + k, term)?;
                    }
                    continue;
                }
                for ((at, distance), term) in rotation.additions.iter().zip(terms) {
                    let (subtract, ty) = self.addition(node, *at)?;
                    let slot = &mut rotating.waiting[*distance];
                    *slot = binary(sign(subtract), *slot, term, ty)?;
                }
                self.let_go(node, rotation, rotating, first + k)?;
            }
        }
        if count > 0 {
            for (rotation, rotating) in simd.rotations.iter().zip(rotating) {
                if rotation.additions.len() > 1 {
                    for ahead in 0..rotating.waiting.len() as i128 - 1 {
                        self.let_go(node, rotation, rotating, first + count + ahead)?;
                    }
                }
            }
        }
        Ok(state)
    }

    /// Runs an iteration; returns the terms of its reductions, its delayed additions, and the terms of its rotations.
    #[expect(clippy::type_complexity, reason = "three lists")]
    fn lane(
        &mut self,
        node: &Loop,
        simd: &Simd,
        counter: i128,
    ) -> Result<(State<N>, Vec<(Vec<usize>, Datum<N>)>, Vec<State<N>>), Trap> {
        self.burn()?;
        self.set(node.counter, Datum::Int(counter))?;
        // Nothing may look at a sum.
        for carried in &node.carried {
            self.values[carried.inside.index()] = None;
        }
        self.begin_iteration(node, counter)?;
        let rotates = |at: usize| {
            simd.rotations
                .iter()
                .any(|rotation| rotation.additions.iter().any(|(one, _)| *one == at))
        };
        for (at, item) in node.body.iter().enumerate() {
            let is_sum = matches!(item, Stmt::Let { value, .. }
                if node.carried.iter().any(|carried| carried.next == *value));
            if !is_sum && !simd.delayed.contains(&at) && !rotates(at) {
                self.node(item)?;
            }
        }
        let mut terms = Vec::new();
        for reduction in &simd.reductions {
            terms.push(self.get(reduction.term)?);
        }
        let mut late = Vec::new();
        for at in &simd.delayed {
            let Some(Stmt::Accumulate { place, value, .. }) = node.body.get(*at) else {
                return fault(format!("statement {at} is no addition"));
            };
            late.push((self.path(place)?, self.get(*value)?));
        }
        let mut turning = Vec::new();
        for rotation in &simd.rotations {
            let mut terms = Vec::new();
            for (at, distance) in &rotation.additions {
                let Some(Stmt::Accumulate { place, value, .. }) = node.body.get(*at) else {
                    return fault(format!("statement {at} is no addition"));
                };
                let index = self.index(1, counter + *distance as i128, &rotation.base)?;
                if place.object != rotation.object || self.path(place)? != [index as usize] {
                    return fault(format!("statement {at} does not add to element {index}"));
                }
                terms.push(self.get(*value)?);
            }
            turning.push(terms);
        }
        self.iterations.pop();
        self.forget(&node.body);
        Ok((terms, late, turning))
    }

    fn add_late(
        &mut self,
        node: &Loop,
        at: usize,
        path: &[usize],
        term: Datum<N>,
    ) -> Result<(), Trap> {
        let Some(Stmt::Accumulate { place, subtract, value }) = node.body.get(at) else {
            return fault(format!("statement {at} is no addition"));
        };
        let ty = self.ty(*value)?;
        let Some(Some(mut target)) = self.objects.get_mut(place.object.index()).map(Option::as_mut)
        else {
            return fault(format!("{:?} is gone", place.object));
        };
        for index in path {
            let Memory::List(items) = target else { return fault("a path into a single value") };
            let len = items.len();
            target = match items.get_mut(*index) {
                Some(item) => item,
                None => {
                    let message = super::access::out_of_bounds(*index as i128, len as i128);
                    return Err(Trap::Panic(message));
                }
            };
        }
        let Some(old) = target.datum() else { return fault("more than one value") };
        *target = binary(sign(*subtract), old, term, ty)?.into();
        Ok(())
    }

    fn len(&self, object: ObjectId) -> Result<i128, Trap> {
        match self.memory(&Place::whole(object))? {
            Memory::List(items) => Ok(items.len() as i128),
            _ => fault(format!("{object:?} has no length")),
        }
    }

    /// The number a polynomial is.
    pub(super) fn polynomial(&self, polynomial: &Polynomial) -> Result<i128, Trap> {
        let mut sum = 0_i128;
        for (symbols, factor) in polynomial.terms() {
            let mut product = factor;
            for symbol in symbols {
                product = small(product.checked_mul(self.int(*symbol)?))?;
            }
            sum = small(sum.checked_add(product))?;
        }
        Ok(sum)
    }

    /// `stride * counter + base`
    pub(super) fn index(
        &self,
        stride: i128,
        counter: i128,
        base: &Polynomial,
    ) -> Result<i128, Trap> {
        let from_zero = small(stride.checked_mul(counter))?;
        small(from_zero.checked_add(self.polynomial(base)?))
    }

    /// Whether an access keeps to the windows of the part that is being run.
    pub(super) fn keeps_to_window(&self, place: &Place, path: &[usize]) -> Result<(), Trap> {
        let window = self.windows.iter().rev().find(|(object, ..)| *object == place.object);
        let (Some((_, from, to)), Some(Step::Index(_))) = (window, place.path.first()) else {
            return Ok(());
        };
        let index = path[0] as i128;
        // An index out of bounds of the whole list panics as ever.
        if (*from..*to).contains(&index) || index >= self.len(place.object)? {
            Ok(())
        } else {
            fault(format!("{place:?} at {index} leaves the window {from}..{to} of its part"))
        }
    }

    fn replace_object(&mut self, object: ObjectId, memory: Memory<N>) -> Result<Memory<N>, Trap> {
        match self.objects.get_mut(object.index()).and_then(Option::as_mut) {
            Some(slot) => Ok(std::mem::replace(slot, memory)),
            None => fault(format!("{object:?} is used before it is made")),
        }
    }
}

/// An index that 128 bits hold; no program has others.
fn small(number: Option<i128>) -> Result<i128, Trap> {
    number.map_or_else(|| fault("an index beyond 128 bits"), Ok)
}

pub(super) fn sign(subtract: bool) -> Binary {
    if subtract { Binary::Sub } else { Binary::Add }
}

pub(super) fn zero<N: Number>(ty: stratape_ir::Scalar) -> Datum<N> {
    match ty {
        stratape_ir::Scalar::Float(_) | stratape_ir::Scalar::Infer(_) => {
            Datum::Float(N::constant(0.0))
        }
        stratape_ir::Scalar::Int(_) => Datum::Int(0),
        stratape_ir::Scalar::Bool => Datum::Bool(false),
    }
}

/// Adds up partial sums: the upper half to the lower, until one is left.
fn pairwise<N: Number>(mut sums: State<N>, ty: stratape_ir::Scalar) -> Result<Datum<N>, Trap> {
    while sums.len() > 1 {
        let half = sums.len().next_power_of_two() / 2;
        let upper = sums.split_off(half);
        for (sum, other) in sums.iter_mut().zip(upper) {
            *sum = binary(Binary::Add, *sum, other, ty)?;
        }
    }
    Ok(sums.pop().unwrap_or_else(|| zero(ty)))
}

/// Adds the floats of one memory to those of another of its shape.
fn add_all<N: Number>(target: &mut Memory<N>, other: &Memory<N>) -> Result<(), Trap> {
    match (target, other) {
        (Memory::List(items), Memory::List(others)) => {
            items.iter_mut().zip(others).try_for_each(|(item, other)| add_all(item, other))
        }
        (Memory::Float(sum), Memory::Float(part)) => {
            let ty = stratape_ir::Scalar::Float(stratape_ir::Float::F64);
            let new = binary(Binary::Add, Datum::Float(*sum), Datum::Float(*part), ty)?;
            if let Datum::Float(new) = new {
                *sum = new;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
