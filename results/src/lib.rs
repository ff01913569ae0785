//! Records of runs, plans, the folder that holds them, and inference from samples of runs.
//!
//! This crate knows nothing of heaps: it reads and writes a results folder ([`ResultsDir`]: the plan,
//! and one [`RunRecord`] for each run), and has the statistics that reports and sweeps share
//! ([`inference`]). The crate `gclab-report` says what the records mean. `docs/results.md` describes the format.
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
//! for planned in dir.manifest().plan.clone() {
//!     if !dir.is_done(&planned.id) {
//!         let mut run = RunRecord::planned(&planned, dir.manifest().seed);
//!         run.outcome = Status::Timeout;
//!         dir.append_run(run)?;
//!     }
//! }
//! assert_eq!(ResultsDir::open(dir.path())?.runs()[0].outcome, Status::Timeout);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod collections;
mod error;
mod fingerprint;
pub mod folder;
pub mod inference;
mod manifest;
mod plan;
mod record;
mod shell;
mod stats;
mod time;
mod unit;

pub use gclab_core::stats::render::path_name;

pub use collections::Collections;
pub use error::{ResultsError, TornLine};
pub use fingerprint::Fingerprint;
pub use folder::{EVENT_LOGS, PROFILES, ResultsDir};
pub use manifest::{Axis, Build, Expectation, Machine, Manifest, Minimum, NamedBuild, Program};
pub use plan::{Configuration, PlannedRun, Purpose};
pub use record::{Census, Conditions, Counters, HeapProfile, Latency, MeteredLatency, RunRecord, Status};
pub use shell::{printable, shell_line};
pub use stats::{Generation, Pauses, RunPhase, RunPhases, RunStats};
pub use time::rfc3339;
pub use unit::Unit;
