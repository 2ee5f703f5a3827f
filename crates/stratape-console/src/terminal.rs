//! What the terminal can show.

use std::io::IsTerminal;

/// The narrowest that is taken seriously.
const NARROWEST: usize = 20;

/// Whether to colour: on a terminal, unless `NO_COLOR` asks for none.
///
/// ```
/// let file = std::fs::File::open("Cargo.toml")?;
/// assert!(!stratape_console::terminal::colours(&file));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// How many columns the output has, if anyone knows: what `COLUMNS` says, or the terminal.
///
/// ```
/// assert!(stratape_console::terminal::columns().is_none_or(|columns| columns >= 20));
/// ```
pub fn columns() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let columns = said.filter(|columns| *columns > 0).or_else(|| {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    });
    columns.map(|columns| columns.max(NARROWEST))
}

/// Breaks a text into lines of so many characters at most: at spaces, and inside words that are longer.
///
/// ```
/// assert_eq!(stratape_console::terminal::wrapped("one two three", 7), ["one two", "three"]);
/// ```
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let mut letters: Vec<char> = word.chars().collect();
        if used > 0 {
            if used + 1 + letters.len() <= width {
                push(&mut lines, " ");
                used += 1;
            } else {
                lines.push(String::new());
                used = 0;
            }
        }
        while letters.len() > width {
            let rest = letters.split_off(width);
            push(&mut lines, &String::from_iter(letters));
            lines.push(String::new());
            letters = rest;
        }
        used += letters.len();
        push(&mut lines, &String::from_iter(letters));
    }
    lines
}

fn push(lines: &mut [String], text: &str) {
    if let Some(last) = lines.last_mut() {
        last.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_inside_long_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrapped("", 4), [""]);
        assert!(wrapped("ÄÖÜ äöü ß", 3).iter().all(|line| line.chars().count() <= 3));
    }
}
