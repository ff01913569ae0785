//! Reports on results folders: statistics, comparisons, and their presentation.
//!
//! Everything follows from the records of [`gclab_results`], its [`inference`](gclab_results::inference)
//! and the event logs beside them; nothing here runs a program. From the ground up:
//!
//! - `metric` and `summary`: the figures of a run, and runs by configuration;
//! - `ranking` and `verdict`: which contender is best, and whether a change made anything worse;
//! - `format` and `chart`: figures as text, and charts as SVG;
//! - `document`: sections of text, tables and charts, before they get a format;
//! - `topics`: one file for each topic of a report, with its analysis and its section; a comparison
//!   and a history of folders are documents, too;
//! - `render`: a document as HTML, Markdown or text, and all runs as CSV. JSON is derived.
//!
//! Folders are reported one after another and never pooled: two folders may come from two machines.
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
//! dir.append_run(run)?;
//! let report = gclab_report::report(&dir);
//! assert!(gclab_report::terminal(&report, false).contains("No setting completes binary_trees (timeout)."));
//! assert!(gclab_report::html(&[report]).contains("Failed runs"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod chart;
mod document;
mod format;
mod metric;
mod ranking;
mod render;
mod summary;
#[cfg(test)]
mod tests;
mod topics;
mod verdict;

pub use document::Document;
pub use format::short_list;
pub use render::{
    HeapFacts, TimelineFacts, csv, folded, heap_map_page, heap_page, html, markdown, profile_changes, profile_line,
    profile_page, terminal, timeline_page, wrapped,
};
pub use topics::checksums::{disagreements, untimed_disagreements};
pub use topics::comparison::{Comparison, Side, compare};
pub use topics::history::{History, history};
pub use topics::reproduction::{Reproduction, reproduction};
pub use topics::{names, report};
pub use verdict::Verdict;
