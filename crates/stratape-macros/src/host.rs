//! What an attribute can find out about the place where it stands.

use stratape_compiler::link::Host;

/// Runs `f` with the crate that is being compiled.
pub(crate) fn with<T>(f: impl FnOnce(&Host<'_>) -> T) -> T {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let crate_name = format!(
        "{} {} {}",
        variable("CARGO_PKG_NAME"),
        variable("CARGO_PKG_VERSION"),
        variable("CARGO_CRATE_NAME")
    );
    f(&Host { crate_name: &crate_name, missing: &|_| None })
}
