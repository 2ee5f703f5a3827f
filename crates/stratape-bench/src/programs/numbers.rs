//! The random numbers of the inputs: splitmix64, so that every tool can draw the same.

/// A sequence of numbers that its seed determines.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    state: u64,
}

impl Numbers {
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number between `low` and `high`.
    pub(crate) fn within(&mut self, low: f64, high: f64) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let unit = (z >> 11) as f64 * 2.0_f64.powi(-53);
        low + (high - low) * unit
    }

    /// `n` numbers between `low` and `high`.
    pub(crate) fn array(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|_| self.within(low, high)).collect()
    }
}
