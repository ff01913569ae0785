//! What a run wrote down: records, statistics, tables, charts and the HTML report.
//!
//! This crate knows nothing of heaps. It reads a results folder ([`ResultsDir`]: the plan and one [`RunRecord`] for each run).

pub mod chart;
pub mod compare;
pub mod folder;
pub mod manifest;
pub mod maths;
pub mod metric;
pub mod plan;
pub mod record;
pub mod report;
pub mod schema;
pub mod summary;
pub mod table;
pub mod time;

pub use compare::{Comparison, Verdict, compare};
pub use folder::{ResultsDir, ResultsError, Torn};
pub use manifest::{Axis, Build, Machine, Manifest};
pub use plan::{Configuration, PlannedRun};
pub use record::{Generation, Pause, RunRecord, RunStats, SCHEMA, Status};
pub use summary::Summary;
pub use time::rfc3339;
