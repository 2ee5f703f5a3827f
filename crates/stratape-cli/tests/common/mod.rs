//! What the tests of commands share.

use std::error::Error;
use std::path::Path;

/// The names in a directory.
pub(crate) fn files(directory: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}
