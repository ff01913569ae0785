//! Tests of analyses and formats on the synthetic records of the results crate.

mod answers;
mod compare;
mod docs;
mod logs;
mod memory;
mod overhead;
mod parallel;
mod pauses;
mod profiles;
mod report;
mod several;
mod steadiness;
mod summary;
pub(crate) mod synthetic;
mod table;
