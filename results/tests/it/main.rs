//! Integration tests of the results crate, on synthetic records.

mod docs;
mod folder;
mod reference;
mod stats;
mod synthetic;

/// The folder of the committed synthetic records.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures");
