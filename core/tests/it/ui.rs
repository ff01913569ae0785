//! The safe API, specified by code that does not compile: each file of `tests/ui/fail` is a misuse,
//! and its first line says what damage it would do.

/// Each misuse must fail with the text of its `.stderr` file. Programs that must compile are in
/// `compiles` instead: without them trybuild checks all files with one command and generates no
/// code.
#[test]
#[ignore = "compiles 92 programs: `.ci/test` runs it"]
fn misuses_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
