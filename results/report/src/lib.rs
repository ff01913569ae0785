//! What results folders say: statistics, comparisons, and reports for people and for programs.
//!
//! Everything follows from the records of [`gclab_results`]: [`summary`] groups runs by configuration, [`maths`] has the
//! formulas, [`compare`](mod@compare) judges two folders, [`table`] and [`report`] show one.
//!
//! ```
//! use gclab_results::{Configuration, Manifest, PlannedRun, ResultsDir, RunRecord, Status};
//!
//! let configuration = Configuration { workload: "binary_trees".into(), collector: "copying".into(), ..Default::default() };
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

pub mod chart;
pub mod compare;
pub mod maths;
pub mod metric;
pub mod report;
pub mod summary;
pub mod table;

pub use compare::{Comparison, Verdict, compare};
pub use report::profiles::{csv as profile_csv, wrong_results};
pub use report::{csv, html, markdown};
pub use summary::Summary;
pub use table::{comparison as comparison_table, disagreements, render as terminal, render_within as terminal_within};
