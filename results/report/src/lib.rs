//! Reports on results folders: statistics, comparisons, and their presentation.
//!
//! Everything follows from the records of [`gclab_results`] and the event logs beside them; nothing
//! here runs a program. From the ground up:
//!
//! - `run`, `measures`, `metric` and `folder`: the figures of a run, and a folder in memory with
//!   some hundred bytes for each run;
//! - `summary` and `power`: runs by configuration, and advice on their number (the formulas are
//!   those of `inference`);
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
//! let results = gclab_report::Results::open(dir.path())?;
//! assert!(gclab_report::terminal(&results).contains("0/1: timeout"));
//! assert!(gclab_report::html(&[results]).contains("Failed runs"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod analysis;
mod chart;
mod document;
mod figures;
mod folder;
mod format;
pub mod inference;
mod measures;
mod metric;
mod power;
mod render;
mod run;
mod sections;
mod summary;
#[cfg(test)]
mod tests;

pub use analysis::checksums::{disagreements, untimed_disagreements};
pub use analysis::compare::{Comparison, Rivals, compare, compare_builds};
pub use analysis::history::{History, Order, history as history_of};
pub use folder::{Failures, Reader, Results, Strays, put_together};
pub use render::{
    HeapMapFacts, TimelineFacts, comparison, comparison_json, comparison_markdown, csv, heap_map_page, history,
    history_json, history_markdown, html, html_and_tables, markdown, profile_line, profile_page, terminal,
    timeline_page, write_csv,
};
