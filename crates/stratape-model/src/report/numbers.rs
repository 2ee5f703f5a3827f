//! A report as a list of numbers, to be kept and read again.

use super::{PassReport, Report, Traffic};

/// Visits all numbers of a report in order.
fn each(report: &mut Report, visit: &mut impl FnMut(&mut u64)) {
    for pass in [&mut report.forward, &mut report.reverse] {
        let PassReport { cycles, operations, traffic, stalls, layers, oversized_layers } = pass;
        visit(cycles);
        operations.iter_mut().for_each(&mut *visit);
        for one in traffic {
            let Traffic { loads, stores, hits, misses, scratchpad, lines_read, lines_written } =
                one;
            [loads, stores, hits, misses, scratchpad, lines_read, lines_written]
                .into_iter()
                .for_each(&mut *visit);
        }
        let super::Stalls { dram, ports, banks, streams, issue, dependence } = stalls;
        [dram, ports, banks, streams, issue, dependence].into_iter().for_each(&mut *visit);
        visit(layers);
        visit(oversized_layers);
    }
    visit(&mut report.energy);
    report.left_dirty.iter_mut().for_each(&mut *visit);
    report.footprint.iter_mut().for_each(&mut *visit);
    report.lifetimes.tape.0.iter_mut().for_each(&mut *visit);
    report.lifetimes.others.0.iter_mut().for_each(&mut *visit);
}

impl Report {
    /// All numbers, in an order that [`from_numbers`](Self::from_numbers) knows.
    pub fn numbers(&self) -> Vec<u64> {
        let mut found = Vec::new();
        each(&mut self.clone(), &mut |number| found.push(*number));
        found
    }

    /// The report of which these are the [`numbers`](Self::numbers); `None` if they are too few or too many.
    ///
    /// ```
    /// use stratape_model::Report;
    ///
    /// let report = Report { energy: 7, ..Report::default() };
    /// let mut numbers = report.numbers();
    /// assert_eq!(Report::from_numbers(&numbers), Some(report));
    /// numbers.pop();
    /// assert_eq!(Report::from_numbers(&numbers), None);
    /// ```
    pub fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let mut report = Self::default();
        let (mut rest, mut enough) = (numbers.iter(), true);
        each(&mut report, &mut |number| match rest.next() {
            Some(given) => *number = *given,
            None => enough = false,
        });
        (enough && rest.next().is_none()).then_some(report)
    }
}
