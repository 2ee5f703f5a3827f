//! What the figures were measured on.

use std::thread::available_parallelism;

/// Version, processor, cores and system, in a line.
pub(super) fn machine() -> String {
    let cores = available_parallelism().map_or(1, usize::from);
    let build = if cfg!(debug_assertions) { ", debug build: its times mean little" } else { "" };
    format!(
        "Stratape {}{build}; {}, {cores} core{}; {} on {}",
        env!("CARGO_PKG_VERSION"),
        processor().unwrap_or_else(|| "unknown processor".to_owned()),
        if cores == 1 { "" } else { "s" },
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

/// The name of the processor, where the system tells it in a file.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    named(&text)
}

fn named(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_read_where_it_is_told() {
        let text = "processor\t: 0\nmodel name\t: A  Processor @ 2 GHz\n";
        assert_eq!(named(text).as_deref(), Some("A Processor @ 2 GHz"));
        assert_eq!(named("processor\t: 0\n"), None);
        assert!(machine().contains("core"));
    }
}
