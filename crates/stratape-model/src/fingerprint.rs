//! [`Fingerprint`]: a hash that is the same on every machine and in every version of Rust (FNV-1a of 128 bits).

use std::fmt;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(u128);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fingerprint {
    /// Adds a text, and its end: `ab` and `c` are not `a` and `bc`.
    pub(crate) fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 =
                (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_ends() {
        let of = |texts: &[&str]| {
            let mut print = Fingerprint::default();
            texts.iter().for_each(|text| print.add(text));
            print.to_string()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_eq!(of(&[]).len(), 32);
    }
}
