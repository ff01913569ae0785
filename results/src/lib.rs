//! What a run wrote down: records, statistics, tables, charts and the HTML report.
//!
//! This crate knows nothing of heaps. It reads and writes a results folder ([`ResultsDir`]: the plan, and one [`RunRecord`]
//! for each run); everything else is derived from that: [`summary`] groups runs by configuration, [`maths`] has the
//! formulas, [`compare`](mod@compare) judges two folders, [`table`] and [`report`] show one. `docs/results.md` describes the format.
//!
//! ```
//! use gclab_results::{Configuration, Manifest, PlannedRun, ResultsDir, RunRecord, Status, report, table};
//!
//! let configuration = Configuration { workload: "binary_trees".into(), collector: "copying".into(), ..Default::default() };
//! let mut manifest = Manifest::new("example");
//! manifest.plan.push(PlannedRun::new(configuration, 0, 0));
//!
//! let parent = tempfile::tempdir()?;
//! let mut dir = ResultsDir::create(parent.path().join("example"), manifest)?;
//! for planned in dir.manifest().plan.clone() {
//!     if !dir.is_done(&planned.id) {
//!         let mut run = RunRecord::planned(&planned, dir.manifest().seed);
//!         run.outcome = Status::Timeout;
//!         dir.append_run(&run)?;
//!     }
//! }
//! assert!(table::render(&dir).contains("0/1: timeout"));
//! assert!(report::html(&[dir]).contains("Failed runs"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod chart;
pub mod compare;
pub mod folder;
pub mod latency;
pub mod manifest;
pub mod maths;
pub mod metric;
pub mod parts;
pub mod plan;
pub mod probe;
pub mod profile;
pub mod record;
pub mod report;
pub mod schema;
pub mod shell;
pub mod summary;
pub mod table;
pub mod time;

pub use compare::{Comparison, Verdict, compare};
pub use folder::{ResultsDir, ResultsError, Torn};
pub use latency::Latency;
pub use manifest::{Axis, Build, Machine, Manifest};
pub use plan::{Configuration, PlannedRun};
pub use probe::{Minimum, Probe};
pub use profile::{Census, HeapProfile};
pub use record::{GcThread, Generation, Pause, RunRecord, RunStats, SCHEMA, Status};
pub use shell::shell_line;
pub use summary::Summary;
pub use time::rfc3339;
