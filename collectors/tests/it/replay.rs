//! The test that a search prints for a failed program, and the same test pasted here.

use crate::mutants::{Forgetful, Mutant};

/// The printed test, without its attribute.
const PRINTED: &str = include_str!("replay/failed.rs");

#[test]
fn a_search_prints_a_test_to_paste() {
    let why = gclab_proof::search_for::<Mutant<Forgetful>>(1, 200, true).expect_err("the fault is found");
    let (fault, test) = why.split_once("#[test]\n").expect("a test is printed");
    assert!(
        fault.starts_with("seed 1: ") && fault.contains("the check of "),
        "{fault}"
    );
    assert!(test == PRINTED, "the search prints another test now:\n{test}");
}

mod under_the_faulty_collector {
    use super::{Forgetful, Mutant};

    include!("replay/failed.rs");

    #[test]
    #[should_panic(expected = "the check of ")]
    fn it_fails() {
        random_program_that_failed();
    }
}

mod under_a_right_collector {
    /// The test refers to these names, which stand for `copying` here.
    type Mutant<C> = C;
    type Forgetful = gclab_collectors::Copying;

    include!("replay/failed.rs");

    #[test]
    fn it_passes() {
        random_program_that_failed();
    }
}
