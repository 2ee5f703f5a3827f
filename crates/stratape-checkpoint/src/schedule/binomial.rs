//! The numbers of binomial reversal: how many steps so many slots reverse, and where a segment is best split.
//!
//! With `s` slots (the one of the segment's first state included) and every step run at most `r` times before it is
//! recorded, `C(s + r, s)` steps can be reversed (Griewank & Walther). For a segment of `n` steps, `r` is the least with
//! `n ≤ C(s + r, s)`, and the steps run unrecorded are `r·n − C(s + r, s + 1)`, which no other schedule beats.
//!
//! That count is convex and piecewise linear in `n`, with slope `r`. So the place of the next stored state is
//! best where the slopes of the two parts, one step of repetition apart, meet. Anywhere in a range of places does;
//! taken is the one after which the fewest states are stored (found by dynamic programming for small sizes), unless
//! it matters on which level they are.

/// `C(n, k)`, or `u64::MAX` where that is more.
pub(crate) fn choose(n: u64, k: u64) -> u64 {
    if k > n {
        return 0;
    }
    let k = k.min(n - k);
    let mut value = 1_u64;
    for i in 1..=k {
        // `value` is C(n - k + i - 1, i - 1), so the product is divisible.
        let factor = n - k + i;
        value = match value.checked_mul(factor) {
            Some(product) => product / i,
            None => match u64::try_from(u128::from(value) * u128::from(factor) / u128::from(i)) {
                Ok(value) => value,
                Err(_) => return u64::MAX,
            },
        };
    }
    value
}

/// The steps that `slots` can reverse with each one run at most `repetitions` times unrecorded.
pub(super) fn reach(slots: u64, repetitions: u64) -> u64 {
    choose(slots + repetitions, slots.min(repetitions))
}

/// How often a step is run at most before it is recorded, to reverse `steps` with `slots`, the slot of the first
/// state included.
///
/// ```
/// use stratape_checkpoint::schedule::repetitions;
///
/// assert_eq!(repetitions(10, 3), 2);
/// assert_eq!(repetitions(1_000_000, 30), 6);
/// ```
///
/// # Panics
/// With zero slots and more than one step.
pub fn repetitions(steps: usize, slots: usize) -> usize {
    assert!(slots > 0 || steps <= 1, "no number of repetitions does without a slot");
    let (steps, slots) = (steps as u64, slots as u64);
    if slots == 1 {
        return steps.saturating_sub(1) as usize;
    }
    let mut upper = 1;
    while reach(slots, upper) < steps {
        upper *= 2;
    }
    // The least that reaches, by halving.
    let mut lower = 0;
    while lower < upper {
        let middle = lower.midpoint(upper);
        if reach(slots, middle) >= steps { upper = middle } else { lower = middle + 1 }
    }
    upper as usize
}

/// The fewest steps that are run unrecorded to reverse `steps` with `slots`, the slot of the first state included.
///
/// ```
/// use stratape_checkpoint::schedule::extra_steps;
///
/// assert_eq!(extra_steps(10, 3), 15);
/// assert_eq!(extra_steps(1_000_000, 30), 5_623_008);
/// ```
///
/// # Panics
/// With zero slots and more than one step.
pub fn extra_steps(steps: usize, slots: usize) -> u128 {
    let r = repetitions(steps, slots) as u64;
    // C(s + r, s + 1) = C(s + r, s) · r / (s + 1), which is small enough where r·n is.
    let below = u128::from(reach(slots as u64, r)) * u128::from(r) / (slots as u128 + 1);
    u128::from(r) * steps as u128 - below
}

/// Where the next state of a segment may be stored without taking more steps than needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) length: u64,
    slots: u64,
    pub(super) repetitions: u64,
    pub(super) nearest: u64,
    pub(super) furthest: u64,
    /// The steps that all slots reach with one repetition less, and with two.
    pub(super) below: u64,
    pub(super) twice_below: u64,
    /// The steps that all slots but one reach with as many repetitions, and with one less.
    pub(super) right: u64,
    pub(super) right_below: u64,
}

impl Range {
    /// For a segment of two steps or more, and slots with that of its first state. `hint` is no less than the repetitions it
    /// takes; `u64::MAX` for not known.
    pub(super) fn new(length: usize, slots: u64, hint: u64) -> Self {
        let n = length as u64;
        let mut r =
            if hint == u64::MAX { repetitions(length, slots as usize) as u64 } else { hint };
        let mut below = reach(slots, r - 1);
        while below >= n && r > 1 {
            r -= 1;
            below = reach(slots, r - 1);
        }
        let right_below = scaled(below, slots, slots + r - 1);
        let right = scaled(right_below, slots + r - 1, r);
        let twice_below = scaled(below, r - 1, slots + r - 1);
        Self {
            length: n,
            slots,
            repetitions: r,
            nearest: twice_below.max(n.saturating_sub(right)).max(1),
            furthest: below.min(n - right_below),
            below,
            twice_below,
            right,
            right_below,
        }
    }

    /// The place after which the fewest states are stored.
    pub(super) fn fewest_writes(&self) -> usize {
        let Self { length, slots, repetitions, right_below, .. } = *self;
        let beside = scaled(right_below, slots - 1, slots + repetitions - 2);
        self.clamp(length.saturating_sub(right_below + beside))
    }

    pub(super) fn clamp(&self, ahead: u64) -> usize {
        ahead.clamp(self.nearest, self.furthest) as usize
    }
}

/// `value · times / over`, where that is a whole number.
fn scaled(value: u64, times: u64, over: u64) -> u64 {
    match value.checked_mul(times) {
        Some(product) => product / over,
        None => u64::try_from(u128::from(value) * u128::from(times) / u128::from(over))
            .unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_coefficients() {
        assert_eq!(choose(5, 2), 10);
        assert_eq!(choose(3, 0), 1);
        assert_eq!(choose(2, 3), 0);
        assert_eq!(choose(64, 32), 1_832_624_140_942_590_534);
        assert_eq!(choose(100, 50), u64::MAX);
    }

    #[test]
    fn the_formula_equals_the_dynamic_programme() {
        let (n, s) = (60, 7);
        let mut table = vec![vec![0_u128; n + 1]; s + 1];
        for steps in 2..=n {
            table[1][steps] = (steps * (steps - 1) / 2) as u128;
            for slots in 2..=s {
                table[slots][steps] = (1..steps)
                    .map(|i| i as u128 + table[slots][i] + table[slots - 1][steps - i])
                    .min()
                    .unwrap_or(0);
            }
        }
        for (slots, row) in table.iter().enumerate().skip(1) {
            for (steps, fewest) in row.iter().enumerate().skip(1) {
                assert_eq!(extra_steps(steps, slots), *fewest, "{steps} {slots}");
            }
        }
    }
}
