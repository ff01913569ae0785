//! Reports on results folders: statistics, comparisons, and their presentation.
//!
//! Everything follows from the records of [`gclab_results`] and the event logs beside them; nothing
//! here runs a program. From the ground up:
//!
//! - `measures`, `metric`, `summary` and `power`: the figures of a run, runs by configuration, and
//!   advice on their number (the formulas are those of `gclab_inference`);
//! - `format` and `chart`: figures as text, and charts as SVG;
//! - `analysis`: the answers of the runs (which collector is fastest, which is best at which heap
//!   size, whether parallel collection pays, whether a change made anything slower);
//! - `document` and `sections`: the analyses as sections of text, tables and charts;
//! - `render`: sections as HTML, Markdown, a table for the terminal, or CSV.
//!
//! Folders are reported one after the other and never pooled: two folders may come from two
//! machines.
//!
//! ```
//! use gclab_results::{Configuration, Manifest, PlannedRun, ResultsDir, RunRecord, Status};
//!
//! let mut configuration = Configuration::default();
//! (configuration.workload, configuration.collector) = ("binary_trees".into(), "copying".into());
//! let mut manifest = Manifest::new("example");
//! manifest.plan.push(PlannedRun::new(configuration, 0, 0));
//!
//! let parent = tempfile::tempdir()?;
//! let mut dir = ResultsDir::create(parent.path().join("example"), manifest)?;
//! let mut run = RunRecord::planned(&dir.manifest().plan[0], dir.manifest().seed);
//! run.outcome = Status::Timeout;
//! dir.append_run(&run)?;
//! assert!(gclab_report::terminal(&dir).contains("0/1: timeout"));
//! assert!(gclab_report::html(&[dir]).contains("Failed runs"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod analysis;
mod chart;
mod document;
mod format;
mod measures;
mod metric;
mod power;
mod render;
mod sections;
mod summary;
#[cfg(test)]
mod tests;

pub use analysis::checksums::{disagreements, untimed_disagreements};
pub use analysis::compare::{Comparison, Rivals, compare};
pub use render::{
    TimelineFacts, comparison, comparison_json, comparison_markdown, csv, html, markdown, profile_csv, profile_line,
    profile_page, terminal, timeline_page,
};
