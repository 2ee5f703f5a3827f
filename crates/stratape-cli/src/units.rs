//! Numbers of bytes and lengths of time, to be read and to be typed.

use std::time::Duration;

/// A number of bytes in the unit that suits it.
pub(crate) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{count} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

/// A number of things, with their name in the singular.
pub(crate) fn count(count: u64, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

/// What `--memory` accepts: a number of bytes, or one with `K`, `M` or `G`.
pub(crate) fn parse(text: &str) -> Result<usize, String> {
    let trimmed = text.trim_end_matches(['B', 'i']);
    let (digits, factor) = match trimmed.char_indices().last() {
        Some((at, 'K' | 'k')) => (&trimmed[..at], 1_usize << 10),
        Some((at, 'M' | 'm')) => (&trimmed[..at], 1 << 20),
        Some((at, 'G' | 'g')) => (&trimmed[..at], 1 << 30),
        _ => (trimmed, 1),
    };
    digits
        .trim()
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| format!("`{text}` is no number of bytes: write 16777216, 16M or 16MiB"))
}

/// What `--older-than` accepts: a number with `s`, `m`, `h` or `d`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let unit = text.chars().last().and_then(|unit| match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(60 * 60),
        'd' => Some(24 * 60 * 60),
        _ => None,
    });
    let number = |unit: u64| text[..text.len() - 1].trim().parse::<u64>().ok()?.checked_mul(unit);
    unit.and_then(number)
        .map(Duration::from_secs)
        .ok_or_else(|| format!("`{text}` is no length of time: write 90s, 15m, 12h or 2d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2d"), Ok(Duration::from_secs(48 * 60 * 60)));
        for wrong in ["", "d", "3", "1w", "-1s", "1.5h", "99999999999999999999d", "ä"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytes_are_read_and_written() {
        assert_eq!(parse("16M"), Ok(16 << 20));
        assert_eq!(parse("16MiB"), Ok(16 << 20));
        assert_eq!(parse("4096"), Ok(4096));
        assert!(parse("").is_err() && parse("M").is_err() && parse("many").is_err());
        assert_eq!(bytes(1 << 20), "1.0 MiB");
        assert_eq!(bytes(3), "3 B");
        assert_eq!((count(1, "byte"), count(2, "byte")), ("1 byte".into(), "2 bytes".into()));
    }
}
