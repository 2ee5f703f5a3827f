//! Functions in the text form, and what the validator says of them.

#![allow(dead_code, clippy::panic, reason = "each test uses some of them")]

use stratape_ir::text::parse_function;
use stratape_ir::{Function, valid};

pub(crate) fn read(text: &str) -> Function {
    parse_function(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn accepted(text: &str) {
    if let Err(fault) = valid::validate(&read(text)) {
        panic!("{fault}\n{text}");
    }
}

pub(crate) fn refused(rule: &str, text: &str) {
    match valid::validate(&read(text)) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(fault) => assert_eq!(fault.rule, rule, "{fault}\n{text}"),
    }
}

pub(crate) fn all_refused(texts: &[&str]) {
    let accepted: Vec<&&str> =
        texts.iter().filter(|text| valid::validate(&read(text)).is_ok()).collect();
    assert!(accepted.is_empty(), "{} accepted:\n{accepted:#?}", accepted.len());
}
