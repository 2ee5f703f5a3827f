//! What `#[gradient]` does not accept is refused at the token, with what to write instead.

#[test]
fn refused() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}

#[cfg(feature = "argmin")]
#[test]
fn refused_objectives() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/argmin/*.rs");
}
