//! Hashes the sources of the model, so that results kept from an older one are not taken for those of this one.

use std::path::Path;

fn main() {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for folder in ["src", "programs"] {
        println!("cargo::rerun-if-changed={folder}");
        add(&mut hash, Path::new(folder));
    }
    println!("cargo::rustc-env=STRATAPE_MODEL_SOURCES={hash:016x}");
}

/// Adds a file, or all files of a folder by name (FNV-1a). What cannot be read the compiler will complain about.
fn add(hash: &mut u64, path: &Path) {
    if let Ok(entries) = std::fs::read_dir(path) {
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().for_each(|path| add(hash, path));
    } else if let Ok(bytes) = std::fs::read(path) {
        for byte in bytes {
            *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
