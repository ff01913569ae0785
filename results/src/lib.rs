//! Records of runs, plans, and the folder that holds them.
//!
//! This crate knows nothing of heaps, and draws no conclusions: it reads and writes a results
//! folder ([`ResultsDir`]: the plan, and one [`RunRecord`] for each run). The crate `gclab-report`
//! says what the records mean. `docs/results.md` describes the format.
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
//!         dir.append_run(&run)?;
//!     }
//! }
//! assert_eq!(ResultsDir::open(dir.path())?.runs()[0].outcome, Status::Timeout);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod conditions;
mod error;
pub mod folder;
mod latency;
mod manifest;
pub mod order;
mod plan;
pub mod probe;
mod profile;
mod program;
mod purpose;
pub mod reading;
mod record;
mod run_files;
pub mod schema;
mod shell;
mod stats;
pub mod time;
mod unit;

pub use conditions::{Conditions, Counters};
pub use error::{ResultsError, TornLine};
pub use folder::{EVENT_LOGS, PROFILES, ResultsDir};
pub use latency::{Latency, MeteredLatency};
pub use manifest::{Axis, Build, Machine, Manifest, NamedBuild};
pub use plan::{Configuration, Fnv1a, PlannedRun};
pub use probe::{Minimum, Probe};
pub use profile::{Census, HeapProfile};
pub use program::{Expectation, Program};
pub use purpose::Purpose;
pub use record::{RunRecord, SCHEMA, Status};
pub use shell::shell_line;
pub use stats::{CollectionRecord, GcThread, Generation, Pauses, RunPhase, RunPhases, RunStats};
pub use time::rfc3339;
pub use unit::Unit;
