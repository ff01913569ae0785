//! Integration tests of the results crate, on synthetic records.

mod compare;
mod docs;
mod folder;
mod maths;
mod memory;
mod parallel;
mod profiles;
mod reference;
mod report;
mod summary;
mod synthetic;
mod table;
