//! The arguments of `gclab run`, and the parts of a sweep that follow from them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use gclab_results::{ResultsDir, shell_line};
use gclab_sweep::experiment::Experiment;
use gclab_sweep::minheap::{self, Tools};
use gclab_sweep::plan::Shard;
use gclab_sweep::registry::Registry;
use gclab_sweep::runner::builds::look_at_builds;
use gclab_sweep::runner::preflight::preflight;
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::spec::{self, MAX_REPEAT, parse_duration};
use gclab_sweep::{machine, tell};

use crate::common::{continued_in, ended_by, own_command, refuse, refuse_file};
use crate::own_program;

#[derive(Debug, Default, Args)]
pub(crate) struct Arguments {
    /// The experiment file
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub(crate) experiment: Option<PathBuf>,
    /// A command to run a few times, instead of a file; everything after `--` belongs to it.
    /// Several commands are compared: -- ./old 10 -- ./new 10
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// The command's runtime (ghc, ocaml, jvm, none), whose statistics join the system's [default:
    /// detected from the program's file]
    #[arg(long, value_name = "NAME", conflicts_with = "experiment")]
    pub(crate) runtime: Option<String>,
    /// Folder for the results [default: the newest one under results/runs with the same plan, or a
    /// new one]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Start a new folder even if there is one with the same plan
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Refuse to run on a machine that is unfit for measuring, and fail if a run was disturbed
    #[arg(long)]
    pub(crate) strict: bool,
    /// Number of runs of each configuration, instead of the file's `repeat` (of a command, instead
    /// of 5)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_REPEAT as i64))]
    pub(crate) repeat: Option<u32>,
    /// Print the sweep's grid and how long it will take, from one run of each configuration;
    /// `--dry-run=commands` prints the command of each run
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "grid")]
    pub(crate) dry_run: Option<DryRun>,
    /// Stop before a round that would not finish within this time: 30min, 2h (estimated from the
    /// runs so far). The same command continues later
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) until: Option<Duration>,
    /// Run part I of N (1/4, 2/4, ...); `gclab report` joins the parts' folders
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    pub(crate) shard: Shard,
    /// The folder whose experiment is repeated, instead of a file.
    #[arg(skip)]
    pub(crate) published: Option<Box<ResultsDir>>,
}

/// A duration from `30min` or `2h`.
fn time(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "expected a number and ms, s, m, min or h, such as 30min; at most 1000h".into())
}

/// The output of a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    /// The grid of the sweep, with the time of a run of each configuration
    Grid,
    /// The command of each run, in order; nothing is measured
    Commands,
}

/// Number of runs of a command given without a file.
const RUNS_OF_A_COMMAND: u32 = 5;

impl Arguments {
    /// The experiment of the file, or of the command.
    ///
    /// # Errors
    /// The exit status, after a message about its first fault.
    pub(crate) fn load(&self, registry: &Registry) -> Result<Experiment, ExitCode> {
        let mut experiment = match (&self.experiment, &self.published) {
            (Some(file), _) => spec::load(file, self.repeat, registry).map_err(|error| refuse_file(&error))?,
            (None, Some(published)) => {
                spec::again(published, self.repeat, registry).map_err(|error| refuse_file(&error))?
            }
            (None, None) => {
                let repeat = self.repeat.unwrap_or(RUNS_OF_A_COMMAND);
                own_program::of_words(&self.command, self.runtime.as_deref(), repeat, registry)?
            }
        };
        experiment.executable = Some(machine::executable());
        Ok(experiment)
    }

    /// The file, or the command, for messages.
    pub(crate) fn source(&self) -> String {
        match (&self.experiment, &self.published) {
            (Some(file), _) => file.display().to_string(),
            (None, Some(published)) => published.path().display().to_string(),
            (None, None) => shell_line(&self.command),
        }
    }

    fn is_of_commands(&self) -> bool {
        !self.command.is_empty()
    }

    /// Whether the runs always go to a new folder. A bare command is measured afresh each time.
    pub(crate) fn begins_anew(&self) -> bool {
        self.fresh || self.is_of_commands() && self.out.is_none()
    }

    /// The command that continues the experiment in `folder`.
    pub(crate) fn to_continue_in(&self, folder: &Path) -> Vec<String> {
        if self.is_of_commands() {
            continued_in(&own_command(), folder)
        } else {
            own_command()
        }
    }

    /// The command that repeats the experiment.
    pub(crate) fn to_repeat(&self) -> Vec<String> {
        let mut words = own_command();
        if !self.is_of_commands() {
            words.push("--fresh".to_owned());
        }
        words
    }
}

/// Looks at the builds and programs of an experiment before its first run.
///
/// # Errors
/// The exit status, after the message about a program that cannot run.
pub(crate) fn look_at_programs(
    experiment: &mut Experiment,
    arguments: &Arguments,
    stop: &Stop,
) -> Result<(), ExitCode> {
    let looked = look_at_builds(experiment, stop).and_then(|()| preflight(experiment, stop));
    if let Some(signal) = stop.signal() {
        return Err(ended_by(signal));
    }
    let notes = looked.map_err(|problem| refuse(format!("{}: {problem}", arguments.source())))?;
    for note in notes {
        tell!("gclab: note: {note}");
    }
    Ok(())
}

/// The settings of the search for least heaps. Its tolerance tells 1.5 times the minimum from 1.4
/// times.
pub(crate) fn tools<'t>(experiment: &Experiment, program: &'t Path, stop: &'t Stop) -> Tools<'t> {
    Tools {
        root: minheap::ROOT.into(),
        program,
        executable: machine::executable(),
        timeout: experiment.timeout,
        tolerance: minheap::TOLERANCE,
        runs: minheap::RUNS,
        fresh: false,
        stop,
    }
}

/// The number of groups that shards divide among them: one for each round and workload, and one for
/// the heap profiles and event logs of each workload that has any.
fn groups(experiment: &Experiment) -> usize {
    let untimed = experiment.entries.iter();
    let untimed = untimed.filter(|entry| !entry.profiles.is_empty() || entry.eventlog);
    let untimed: HashSet<_> = untimed.map(|entry| (&entry.workload, &entry.args)).collect();
    experiment.repeat as usize * experiment.works().len() + untimed.len()
}

/// Refuses a plan without runs.
pub(crate) fn no_runs(experiment: &Experiment, arguments: &Arguments) -> ExitCode {
    if arguments.shard.is_all() {
        return refuse(format!(
            "{}: the plan has no runs: `exclude`, or names of points, leave out all of them",
            arguments.source()
        ));
    }
    refuse(format!(
        "shard {} has no runs: {}",
        arguments.shard,
        most_shards(experiment)
    ))
}

/// Refuses more shards than the plan has groups: most of them would have nothing to do.
///
/// # Errors
/// The exit status, after the message.
pub(crate) fn check_shard(experiment: &Experiment, arguments: &Arguments) -> Result<(), ExitCode> {
    if arguments.shard.is_all() || arguments.shard.count() as usize <= groups(experiment) {
        return Ok(());
    }
    Err(refuse(format!(
        "--shard {}: {}",
        arguments.shard,
        most_shards(experiment)
    )))
}

fn most_shards(experiment: &Experiment) -> String {
    let groups = groups(experiment);
    format!(
        "the plan has only {groups} groups of round and workload, and a shard takes whole groups: at most {groups} shards"
    )
}
