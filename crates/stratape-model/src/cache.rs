//! [`Cache`]: set-associative, LRU, write-back, write-allocate.

use crate::report::Data;
use crate::{CacheSettings, Machine, ModelError};

/// What an access to a line found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lookup {
    /// Whether the line was there. If not, it has been fetched.
    pub hit: bool,
    /// The dirty line that had to leave for it, by the class of data that wrote it last.
    pub written_back: Option<Data>,
    /// The cycle from which the line is there, if it is still on its way.
    pub(crate) ready: u64,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    /// Address divided by the line's size.
    number: u64,
    /// The class that last wrote it, if it is dirty.
    dirty: Option<Data>,
    ready: u64,
}

/// A cache, without time: which accesses hit, and which lines leave.
///
/// ```
/// use stratape_model::{Cache, Data, Machine};
///
/// let mut cache = Cache::new(&Machine::default().with_cache("1k")?)?;
/// assert!(!cache.access(Data::Input, 0, true).hit);
/// assert!(cache.access(Data::Input, 56, false).hit); // the same line of 64 bytes
/// // Eight sets of two ways: three lines 512 bytes apart do not fit.
/// cache.access(Data::Tape, 512, false);
/// assert_eq!(cache.access(Data::Tape, 1024, false).written_back, Some(Data::Input));
/// # Ok::<(), stratape_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Cache {
    /// Each with the line used last in front.
    sets: Vec<Vec<Line>>,
    ways: usize,
    line: u64,
}

impl Cache {
    /// An empty cache.
    ///
    /// # Errors
    /// If the machine cannot be built.
    pub fn new(machine: &Machine) -> Result<Self, ModelError> {
        machine.check()?;
        let CacheSettings { size, ways, line, .. } = machine.cache;
        let sets = (size / (ways * line)) as usize;
        Ok(Self { sets: vec![Vec::new(); sets], ways: ways as usize, line })
    }

    /// Accesses the line that holds an address.
    pub fn access(&mut self, data: Data, address: u64, write: bool) -> Lookup {
        let number = address / self.line;
        let ways = self.ways;
        let set = self.set(number);
        let found = set.iter().position(|line| line.number == number);
        let mut written_back = None;
        match found {
            Some(place) => set[..=place].rotate_right(1),
            None => {
                if set.len() == ways {
                    written_back = set.pop().and_then(|line| line.dirty);
                }
                set.insert(0, Line { number, dirty: None, ready: 0 });
            }
        }
        let line = &mut set[0];
        if write {
            line.dirty = Some(data);
        }
        Lookup { hit: found.is_some(), written_back, ready: line.ready }
    }

    /// Says when the line that was accessed last in its set arrives.
    pub(crate) fn arrives(&mut self, address: u64, cycle: u64) {
        let number = address / self.line;
        if let Some(line) = self.set(number).first_mut() {
            line.ready = cycle;
        }
    }

    /// The address of each line that an access touches.
    pub fn lines(&self, address: u64, bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let line = self.line;
        let last = address.saturating_add(bytes.saturating_sub(1)) / line;
        (address / line..=last).map(move |number| number * line)
    }

    /// The dirty lines, by the class that last wrote them.
    pub fn dirty(&self) -> impl Iterator<Item = Data> {
        self.sets.iter().flatten().filter_map(|line| line.dirty)
    }

    fn set(&mut self, number: u64) -> &mut Vec<Line> {
        let sets = self.sets.len();
        // A checked machine has a power of two of sets.
        &mut self.sets[number as usize & (sets - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 sets × 2 ways × 64 bytes.
    fn small() -> Cache {
        let mut machine = Machine::default();
        machine.cache.size = 256;
        machine.cache.ways = 2;
        Cache::new(&machine).unwrap()
    }

    #[test]
    fn a_known_string_of_accesses() {
        // Lines 0, 2, 4 go to set 0, lines 1, 3 to set 1. After each access, set 0 from the line used last, with * for dirty:
        //   0 w Output  miss            0*
        //   2 r Input   miss            2  0*
        //   1 w Tape    miss            (set 1: 1*)
        //   0 r Local   hit             0* 2
        //   4 r Adjoint miss, 2 leaves  4  0*        clean: nothing is written
        //   4 w Adjoint hit             4* 0*
        //   2 r Input   miss, 0 leaves  2  4*        Output is written back; the read by Local changed no owner
        //   3 w Tape    miss            (set 1: 3* 1*)
        //   0 r Local   miss, 4 leaves  0  2         Adjoint is written back
        //   5 r Input   miss, 1 leaves  (set 1: 5 3*) Tape is written back
        use Data::{Adjoint, Input, Local, Output, Tape};
        let accesses = [
            (0, true, Output, false, None),
            (2, false, Input, false, None),
            (1, true, Tape, false, None),
            (0, false, Local, true, None),
            (4, false, Adjoint, false, None),
            (4, true, Adjoint, true, None),
            (2, false, Input, false, Some(Output)),
            (3, true, Tape, false, None),
            (0, false, Local, false, Some(Adjoint)),
            (5, false, Input, false, Some(Tape)),
        ];
        let mut cache = small();
        for (step, (line, write, data, hit, written_back)) in accesses.into_iter().enumerate() {
            let found = cache.access(data, line * 64 + 8, write);
            assert_eq!((found.hit, found.written_back), (hit, written_back), "access {step}");
        }
        // Set 0 holds 0 and 2, both clean; set 1 holds 5 and 3*.
        assert_eq!(cache.dirty().collect::<Vec<_>>(), [Tape]);
    }

    #[test]
    fn an_access_may_touch_two_lines() {
        let cache = small();
        assert_eq!(cache.lines(56, 8).collect::<Vec<_>>(), [0]);
        assert_eq!(cache.lines(60, 8).collect::<Vec<_>>(), [0, 64]);
        assert_eq!(cache.lines(64, 0).collect::<Vec<_>>(), [64]);
        assert_eq!(cache.lines(u64::MAX, 8).count(), 1);
    }
}
