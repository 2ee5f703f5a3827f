//! Measurements drawn as bars, and compared with those of an earlier run.

mod bars;
mod compare;

use std::io::{self, IsTerminal, Write};

use stratape_bench::{Measurement, Size};
use stratape_console::failure::Failure;
use stratape_console::terminal;

use self::bars::Look;
pub(crate) use self::compare::Earlier;

/// Columns to draw in if the width of the terminal is unknown.
const COLUMNS: usize = 80;

/// Prints the bars of what was measured.
pub(crate) fn print(
    found: &[Measurement],
    size: Size,
    earlier: Option<&Earlier>,
) -> Result<(), Failure> {
    let stdout = io::stdout();
    let look = Look {
        width: terminal::columns().unwrap_or(COLUMNS),
        plain: !stdout.is_terminal(),
        colours: terminal::colours(&stdout),
    };
    let text = bars::draw(found, size, earlier, &look);
    write!(io::stdout(), "{text}").map_err(Failure::output)
}
