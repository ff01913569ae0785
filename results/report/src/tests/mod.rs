//! Tests of analyses and formats on the synthetic records of the results crate.

mod answers;
mod compare;
mod logs;
mod maths;
mod memory;
mod parallel;
mod profiles;
mod report;
mod summary;
pub(crate) mod synthetic;
mod table;
