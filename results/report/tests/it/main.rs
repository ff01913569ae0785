//! Integration tests of the report crate, on the synthetic records of the results crate.

mod compare;
mod maths;
mod memory;
mod parallel;
mod profiles;
mod report;
mod summary;
mod synthetic;
mod table;

/// Where the committed folder of synthetic records is.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/it/fixtures");
