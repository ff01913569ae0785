//! The arguments of `gclab run`, and the parts of a sweep that follow from them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gclab_sweep::experiment::Experiment;
use gclab_sweep::machine;
use gclab_sweep::minheap::{self, Tools, store};
use gclab_sweep::plan::Shard;
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::spec::MAX_REPEAT;

use crate::common::refuse;

/// Do the runs of an experiment file, or those that are still missing, and report
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The experiment file
    pub(crate) experiment: PathBuf,
    /// Folder for the results [default: the newest one under results/runs with the same plan, or a
    /// new one]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Begin a new folder even if there is one with the same plan
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Number of runs of each configuration, in place of the file's `repeat`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_REPEAT as i64))]
    pub(crate) repeat: Option<u32>,
    /// Print the grid of the sweep and its time, which one run of each configuration measures;
    /// `--dry-run=commands` prints the command of each run
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "grid")]
    pub(crate) dry_run: Option<DryRun>,
    /// Do part I of N (1/4, 2/4, ...); `gclab report` puts the parts' folders together
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    pub(crate) shard: Shard,
}

/// The output of a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    /// The grid of the sweep, with the time of a run of each configuration
    Grid,
    /// The command of each run, in the order of the runs; nothing is measured
    Commands,
}

/// The command that continues the experiment: this one without `--fresh`.
pub(crate) fn words(arguments: &Arguments) -> Vec<String> {
    let mut words = vec![
        "gclab".to_owned(),
        "run".to_owned(),
        arguments.experiment.display().to_string(),
    ];
    if let Some(out) = &arguments.out {
        words.extend(["--out".to_owned(), out.display().to_string()]);
    }
    if let Some(repeat) = arguments.repeat {
        words.extend(["--repeat".to_owned(), repeat.to_string()]);
    }
    if !arguments.shard.is_all() {
        words.extend(["--shard".to_owned(), arguments.shard.to_string()]);
    }
    words
}

/// The command that repeats the experiment.
pub(crate) fn command(arguments: &Arguments) -> Vec<String> {
    let mut words = words(arguments);
    words.push("--fresh".to_owned());
    words
}

/// The settings of the search for least heaps. Its tolerance keeps 1.5 times the least heap apart
/// from 1.4 times.
pub(crate) fn tools<'t>(experiment: &Experiment, program: &'t Path, stop: &'t Stop) -> Tools<'t> {
    Tools {
        root: store::ROOT.into(),
        program,
        executable: machine::executable(),
        timeout: experiment.timeout,
        least_patience: minheap::LEAST_PATIENCE,
        tolerance: minheap::TOLERANCE,
        runs: minheap::RUNS,
        fresh: false,
        stop,
    }
}

/// Refuses a shard without runs.
pub(crate) fn no_runs(experiment: &Experiment, arguments: &Arguments) -> ExitCode {
    refuse(format!(
        "shard {} has no runs: the plan has only {} groups of round and workload",
        arguments.shard,
        experiment.repeat as usize * experiment.workloads.len()
            + experiment.profiles.iter().filter(|own| !own.is_empty()).count()
    ))
}
