//! [`Machine::check`]: what no hardware can be, or the model cannot hold.

use super::{Machine, Unit};
use crate::{ModelError, energy};

/// Beyond this many cycles or nodes a setting is a slip, and the model would need memory for all of them.
const MOST: u64 = 1 << 20;

impl Machine {
    /// Checks that the machine can be built.
    ///
    /// # Errors
    /// With the setting that cannot be, and what to write instead.
    pub fn check(&self) -> Result<(), ModelError> {
        self.check_grid()?;
        self.check_cache()?;
        self.check_scratchpad()?;
        self.check_dram()
    }

    fn check_grid(&self) -> Result<(), ModelError> {
        within("clock_mhz", self.clock_mhz, 1, MOST)?;
        within("units", self.units.into(), 1, MOST)?;
        within("issue_width", self.issue_width.into(), 1, MOST)?;
        within("window", self.window as u64, 1, MOST)?;
        for unit in Unit::ALL {
            within("timings", self.timings.of(unit).latency, 1, MOST)?;
        }
        Ok(())
    }

    fn check_cache(&self) -> Result<(), ModelError> {
        let cache = &self.cache;
        within("cache.ports", cache.ports.into(), 1, MOST)?;
        within("cache.latency", cache.latency, 1, MOST)?;
        within("cache.misses_in_flight", cache.misses_in_flight.into(), 1, MOST)?;
        within("cache.line", cache.line, 8, 4096)?;
        if !cache.line.is_power_of_two() {
            return Err(wrong("cache.line", cache.line, "a power of two"));
        }
        if energy::cache(cache.size).is_none() {
            return Err(wrong(
                "cache.size",
                cache.size,
                "131072 (128k) or less: the energy of larger ones is not known",
            ));
        }
        if cache.ways == 0 {
            return Err(wrong("cache.ways", 0, "1 or more"));
        }
        let way = cache.ways.saturating_mul(cache.line);
        let sets = cache.size / way;
        if sets == 0 || !cache.size.is_multiple_of(way) || !sets.is_power_of_two() {
            let below = if sets == 0 { 1 } else { 1 << sets.ilog2() };
            return Err(ModelError::Setting {
                setting: "cache.size",
                value: cache.size,
                instead: format!(
                    "ways × line × a power of two; with {} ways of {} bytes, {} is one",
                    cache.ways,
                    cache.line,
                    way.saturating_mul(below)
                ),
            });
        }
        Ok(())
    }

    fn check_scratchpad(&self) -> Result<(), ModelError> {
        let scratchpad = &self.scratchpad;
        within("streams.buffer", self.streams.buffer, 0, 1 << 40)?;
        if scratchpad.bytes == 0 {
            return Ok(());
        }
        within("scratchpad.latency", scratchpad.latency, 1, MOST)?;
        within("scratchpad.banks", scratchpad.banks, 1, MOST)?;
        within("scratchpad.bytes", scratchpad.bytes, 8, 1 << 40)?;
        let words = scratchpad.banks * 8;
        if !scratchpad.bytes.is_multiple_of(words) {
            return Err(ModelError::Setting {
                setting: "scratchpad.bytes",
                value: scratchpad.bytes,
                instead: format!(
                    "banks × 8 × a whole number; with {} banks, {} is one",
                    scratchpad.banks,
                    (scratchpad.bytes / words).max(1) * words
                ),
            });
        }
        Ok(())
    }

    fn check_dram(&self) -> Result<(), ModelError> {
        within("dram.latency", self.dram.latency, 0, MOST)?;
        within("dram.megabytes_per_second", self.dram.megabytes_per_second, 1, 1 << 40)?;
        // A byte takes a thousand cycles at most: more is a slip of units, and slow to model.
        if self.millibytes_per_cycle() == 0 {
            return Err(ModelError::Setting {
                setting: "dram.megabytes_per_second",
                value: self.dram.megabytes_per_second,
                instead: format!("at least {}", self.clock_mhz.div_ceil(1000)),
            });
        }
        Ok(())
    }

    /// The DRAM's bandwidth in thousandths of a byte a cycle: whole for the machines of Table III.
    pub(crate) fn millibytes_per_cycle(&self) -> u64 {
        self.dram.megabytes_per_second * 1000 / self.clock_mhz.max(1)
    }
}

fn wrong(setting: &'static str, value: u64, instead: &str) -> ModelError {
    ModelError::Setting { setting, value, instead: instead.to_owned() }
}

fn within(setting: &'static str, value: u64, least: u64, most: u64) -> Result<(), ModelError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(ModelError::Setting { setting, value, instead: format!("{least} to {most}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size;

    fn refused(change: impl FnOnce(&mut Machine)) -> String {
        let mut machine = Machine::default();
        change(&mut machine);
        machine.check().unwrap_err().to_string()
    }

    #[test]
    fn the_machines_of_the_table_can_be_built() {
        for (text, ways) in [
            ("1k", 2),
            ("2k", 2),
            ("4k", 2),
            ("8k", 2),
            ("16k", 2),
            ("32k", 4),
            ("64k", 1024),
            ("128k", 8),
        ] {
            assert_eq!(Machine::default().with_cache(text).unwrap().cache.ways, ways);
        }
        assert_eq!(Machine::baseline().check(), Ok(()));
        assert_eq!(Machine::default().millibytes_per_cycle(), 9600);
    }

    #[test]
    fn settings_that_cannot_be_say_what_to_write() {
        // 3000 / (4 × 64) = 11.7: eight sets are the next lower power of two.
        assert!(refused(|m| m.cache.size = 3000).contains("with 4 ways of 64 bytes, 2048 is one"));
        assert!(refused(|m| m.cache.size = 0).contains("256 is one"));
        assert!(refused(|m| m.cache.size = 256 << 10).contains("131072"));
        assert!(refused(|m| m.cache.ways = 0).contains("1 or more"));
        assert!(refused(|m| m.cache.ways = u64::MAX).contains("cache.size"));
        assert!(refused(|m| m.cache.ports = 0).contains("`cache.ports` is 0"));
        assert!(refused(|m| m.cache.line = 48).contains("power of two"));
        assert!(refused(|m| m.scratchpad.bytes = 500).contains("with 8 banks, 448 is one"));
        assert!(refused(|m| m.scratchpad.banks = 0).contains("scratchpad.banks"));
        assert!(refused(|m| m.window = 0).contains("window"));
        assert!(refused(|m| m.timings.divide.latency = 0).contains("timings"));
        assert!(refused(|m| m.dram.megabytes_per_second = 1).contains("at least 2"));
        assert!(refused(|m| m.clock_mhz = 0).contains("clock_mhz"));
    }

    #[test]
    fn texts_that_are_no_sizes() {
        for text in
            ["", "k", "-1k", "+1k", "1.5k", "32kB", "99999999999999999999", "99999999999999999M"]
        {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
