//! The safe API, specified by what does not compile: each file of `tests/ui/fail` is a misuse, and says what it would break.

#[test]
fn misuses_do_not_compile_and_programs_do() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
