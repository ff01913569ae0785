//! The time of a sweep before its first run: one run of each configuration is measured, within a
//! time limit. Nothing is kept in a results folder.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use crate::run::Run;
use crate::run::describe;
use crate::runner::progress::{Estimator, bar};
use crate::runner::{Scratch, Sweep, one};

/// The end of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibrated {
    /// The number of configurations.
    pub configurations: usize,
    /// The number of configurations that were measured.
    pub measured: usize,
    /// The time that the measurements took.
    pub took: Duration,
}

/// Runs each configuration of `plan` once, and lets `estimator` learn its time. The order is the
/// plan's, which is random; no run starts after `most`. Returns `None` if a signal came.
///
/// # Errors
/// If a process cannot be started, or the folder for its files cannot be made.
pub fn calibrate(
    plan: &[&Run],
    estimator: &mut Estimator,
    sweep: &Sweep<'_>,
    most: Duration,
) -> io::Result<Option<Calibrated>> {
    let begun = Instant::now();
    let parent = std::env::temp_dir().join(format!("gclab-{}", std::process::id()));
    let scratch = Scratch::new(&parent)?;
    let mut seen = BTreeSet::new();
    let first = plan.iter().filter(|run| run.planned.purpose().is_timed());
    let configurations: Vec<&Run> = first
        .copied()
        .filter(|run| seen.insert(run.planned.cell.as_str()))
        .collect();
    let progress = bar(0, configurations.len());
    let mut measured = 0;
    let mut stopped = false;
    for run in &configurations {
        if begun.elapsed() >= most {
            break;
        }
        if let Some(bar) = &progress {
            bar.set_message(format!("measuring {}", describe(&run.planned)));
        }
        match one(run, 0, sweep, &scratch.path)? {
            Some(record) => estimator.learn(&record),
            None => {
                stopped = true;
                break;
            }
        }
        measured += 1;
        if let Some(bar) = &progress {
            bar.inc(1);
        }
    }
    if let Some(bar) = progress {
        bar.finish_and_clear();
    }
    drop(scratch);
    // The folder is now empty; a leftover is harmless.
    let _ = std::fs::remove_dir(&parent);
    Ok((!stopped).then_some(Calibrated {
        configurations: configurations.len(),
        measured,
        took: begun.elapsed(),
    }))
}
