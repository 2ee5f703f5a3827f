//! A report as a table for people, and as a line of CSV.

use std::fmt;
use std::fmt::Write as _;

use super::{Data, PassReport, Report, Traffic};

/// What a line of CSV says of each pass, beside its traffic.
const PASS: [&str; 9] =
    ["cycles", "operations", "layers", "dram", "ports", "banks", "streams", "issue", "dependence"];

/// What it says of each class of data in each pass.
const TRAFFIC: [&str; 7] =
    ["loads", "stores", "hits", "misses", "scratchpad", "lines_read", "lines_written"];

fn pass_numbers(pass: &PassReport) -> [u64; 9] {
    let stalls = &pass.stalls;
    [
        pass.cycles,
        pass.operations.iter().sum(),
        pass.layers,
        stalls.dram,
        stalls.ports,
        stalls.banks,
        stalls.streams,
        stalls.issue,
        stalls.dependence,
    ]
}

fn traffic_numbers(traffic: &Traffic) -> [u64; 7] {
    [
        traffic.loads,
        traffic.stores,
        traffic.hits,
        traffic.misses,
        traffic.scratchpad,
        traffic.lines_read,
        traffic.lines_written,
    ]
}

impl Report {
    /// The names of the columns of [`csv`](Self::csv).
    ///
    /// ```
    /// use stratape_model::Report;
    /// let columns = Report::csv_header().split(',').count();
    /// assert_eq!(columns, Report::default().csv().split(',').count());
    /// ```
    pub fn csv_header() -> String {
        let mut line = "energy".to_owned();
        for pass in ["forward", "reverse"] {
            for name in PASS {
                let _ = write!(line, ",{pass}_{name}");
            }
            for data in Data::ALL {
                for name in TRAFFIC {
                    let _ = write!(line, ",{pass}_{}_{name}", data.name());
                }
            }
        }
        line
    }

    /// All numbers as one line of CSV, without the end of the line.
    pub fn csv(&self) -> String {
        let mut line = self.energy.to_string();
        for pass in [&self.forward, &self.reverse] {
            let traffic = pass.traffic.iter().flat_map(traffic_numbers);
            for number in pass_numbers(pass).into_iter().chain(traffic) {
                let _ = write!(line, ",{number}");
            }
        }
        line
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<20}{:>14}{:>14}", "", "forward", "reverse")?;
        let passes = pass_numbers(&self.forward).into_iter().zip(pass_numbers(&self.reverse));
        for (index, (name, (forward, reverse))) in PASS.into_iter().zip(passes).enumerate() {
            // Behind the first three come the stalls.
            let name = if index < 3 { name.to_owned() } else { format!("  held by {name}") };
            writeln!(f, "{name:<20}{forward:>14}{reverse:>14}")?;
        }
        writeln!(f, "on-chip energy      {:>28}", self.energy)?;
        write!(f, "\n{:<18}", "")?;
        for name in ["accesses", "hits", "misses", "scratchpad", "lines read", "written"] {
            write!(f, "{name:>12}")?;
        }
        for (name, pass) in [("forward", &self.forward), ("reverse", &self.reverse)] {
            for (data, traffic) in Data::ALL.into_iter().zip(&pass.traffic) {
                if *traffic == Traffic::default() {
                    continue;
                }
                write!(f, "\n{:<18}{:>12}", format!("{name} {}", data.name()), traffic.accesses())?;
                for number in &traffic_numbers(traffic)[2..] {
                    write!(f, "{number:>12}")?;
                }
            }
        }
        Ok(())
    }
}
