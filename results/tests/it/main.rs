//! Integration tests of the results crate, on synthetic records.

mod docs;
mod folder;
mod reference;
mod stats;
mod synthetic;

/// Where the committed folder of synthetic records is.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures");
