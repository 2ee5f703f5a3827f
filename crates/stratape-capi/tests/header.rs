//! `include/stratape.h` is what cbindgen makes of the source. `STRATAPE_UPDATE=1` writes it anew.

#![allow(clippy::expect_used, clippy::panic)]

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config =
        cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("a valid configuration");
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/lib.rs"))
        .generate()
        .expect("the source can be read");
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    let generated = String::from_utf8(generated).expect("text");
    let path = root.join("include/stratape.h");
    if std::env::var_os("STRATAPE_UPDATE").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == generated,
        "include/stratape.h is not what the source says; run STRATAPE_UPDATE=1 cargo test -p stratape-capi --test header"
    );
    // Every function of the source is there: cbindgen leaves out what it does not understand.
    for file in std::fs::read_dir(root.join("src")).expect("the source") {
        let text = std::fs::read_to_string(file.expect("an entry").path()).expect("a source file");
        for (_, rest) in text
            .match_indices("extern \"C\" fn ")
            .map(|(at, found)| text.split_at(at + found.len()))
        {
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(generated.contains(&format!("{name}(")), "{name} is missing from the header");
        }
    }
}
