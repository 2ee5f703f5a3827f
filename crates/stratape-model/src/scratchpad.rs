//! [`Scratchpad`]: banks, each with one access a cycle.

use crate::ScratchpadSettings;
use crate::calendar::Calendar;

#[derive(Debug)]
pub(crate) struct Scratchpad {
    banks: Vec<Calendar>,
    words: u64,
    pub(crate) latency: u64,
}

impl Scratchpad {
    /// `None` if the machine has no scratchpad.
    pub(crate) fn new(settings: &ScratchpadSettings) -> Option<Self> {
        if settings.bytes == 0 {
            return None;
        }
        let banks = (0..settings.banks).map(|_| Calendar::new(1)).collect();
        Some(Self { banks, words: settings.bytes / 8, latency: settings.latency })
    }

    /// The words of 8 bytes that an access touches. The tape's addresses wrap around at the scratchpad's size.
    pub(crate) fn words(&self, address: u64, bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let last = address.saturating_add(bytes.saturating_sub(1)) / 8;
        let words = self.words;
        (address / 8..=last).map(move |word| word % words)
    }

    /// The bank of a word.
    pub(crate) fn bank(&mut self, word: u64) -> &mut Calendar {
        let banks = self.banks.len() as u64;
        &mut self.banks[(word % banks) as usize]
    }

    pub(crate) fn advance(&mut self, floor: u64) {
        for bank in &mut self.banks {
            bank.advance(floor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;

    #[test]
    fn consecutive_words_lie_in_consecutive_banks() {
        let mut scratchpad = Scratchpad::new(&Machine::default().scratchpad).unwrap();
        assert_eq!(scratchpad.words(1024, 16).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(scratchpad.words(504, 16).collect::<Vec<_>>(), [63, 0]);
        // Words 0 and 8 share a bank, 0 and 1 do not.
        scratchpad.bank(0).take(0, 1);
        assert_eq!(scratchpad.bank(8).first_free(0), 1);
        assert_eq!(scratchpad.bank(1).first_free(0), 0);
    }
}
