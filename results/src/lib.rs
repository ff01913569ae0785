//! What a run wrote down: records, statistics, tables, charts and the HTML report.
//!
//! This crate knows nothing of heaps. It reads a results folder ([`ResultsDir`]: the plan and one [`RunRecord`] for each run).

pub mod folder;
pub mod manifest;
pub mod record;
pub mod schema;

pub use folder::{ResultsDir, ResultsError, Torn};
pub use manifest::{Axis, Build, Machine, Manifest};
pub use record::{
    Configuration, Generation, Pause, PlannedRun, RunRecord, RunStats, SCHEMA, Status, rfc3339,
};
