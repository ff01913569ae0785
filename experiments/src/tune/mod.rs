//! `gclab tune`: which flags for this program? An interrupted search continues where it stopped.

mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use clap::Args as ClapArgs;
use gclab_results::{ResultsDir, path_name, shell_line};
use gclab_sweep::environment::{self, Root};
use gclab_sweep::experiment::{Entry, Experiment};
use gclab_sweep::plan::Shard;
use gclab_sweep::registry::Registry;
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::runner::{Environment, Sweep, go as go_on};
use gclab_sweep::spec::parse_duration;
use gclab_sweep::text::counted;
use gclab_sweep::tune::figures::{Goal, Limit};
use gclab_sweep::tune::offer::{self, Offer};
use gclab_sweep::tune::search::{Budget, LEAST_BUDGET, Rules, Search};
use gclab_sweep::tune::{self, Tuning};
use gclab_sweep::{folder, machine, tell};

use crate::common::{self, ended_by, fail, own_command, print, refuse};
use crate::own_program;
use crate::report::write_html;
use crate::settings::{RtsOpts, Settings};
use text::Tuned;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The default flags always take part. If the program's command has flags of its runtime, they belong to the default. An interrupted search continues if the same command is given again."
)]
pub(crate) struct Arguments {
    /// A workload of gclab's; `gclab list workloads` shows them
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    workload: Option<String>,
    /// Its arguments; `-` stands for the default, and trailing ones may be omitted
    #[arg(allow_hyphen_values = false)]
    args: Vec<String>,
    /// A program of your own; everything after `--` is its command
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// The figure to minimise: time (elapsed), pause (the longest) or memory (the peak)
    #[arg(long, value_name = "GOAL", default_value = "time", value_parser = Goal::from_str)]
    goal: Goal,
    /// Upper limit for a figure: memory=2g, pause=10ms or time=1.5s; repeat it for several
    #[arg(long = "limit", value_name = "FIGURE=MOST", value_parser = Limit::from_str)]
    limits: Vec<Limit>,
    /// Budget, as a number of runs or the time they would take with the default flags: 100, 90s,
    /// 5min [default: one run per setting, at least 60 and at most 200]
    #[arg(long, value_name = "RUNS|TIME", value_parser = budget)]
    budget: Option<Budget>,
    /// Seed for the order of runs and the choice of settings
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The runtime of the program (ghc, ocaml, jvm) [default: detected from its file]
    #[arg(long, value_name = "NAME", conflicts_with = "workload")]
    runtime: Option<String>,
    /// Time limit of one run: 300s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = timeout)]
    timeout: Duration,
    /// Folder for the results [default: an unfinished one of the same search under results/runs, or
    /// a new one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Start a new folder even if there is an unfinished one
    #[arg(long)]
    fresh: bool,
    /// Print the settings that could be tried, and run none
    #[arg(long)]
    dry_run: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

fn timeout(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "expected a time such as 300s, 5m or 1h, at most 1000h".into())
}

fn budget(text: &str) -> Result<Budget, String> {
    let problem = || format!("expected a number of runs, at least {LEAST_BUDGET}, or a time: 100, 90s, 5min");
    if let Ok(runs) = text.parse::<usize>() {
        let enough = (LEAST_BUDGET..=MOST_BUDGET).contains(&runs);
        return enough.then_some(Budget::Runs(runs)).ok_or_else(problem);
    }
    let time = parse_duration(text).ok_or_else(problem)?;
    Ok(Budget::Seconds(time.as_secs_f64()))
}

/// More runs than any search space needs.
const MOST_BUDGET: usize = 1_000_000;

/// The smallest and largest default budget.
const DEFAULT_BUDGET: (usize, usize) = (60, 200);

pub(crate) fn tune(arguments: &Arguments, registry: &Registry, settings: &Settings) -> ExitCode {
    if settings.rtsopts != RtsOpts::All {
        return refuse("tune sets flags of its runs, which this program forbids");
    }
    // From here on Ctrl-C is a request to stop, so that no record is lost half-written.
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return fail(format!("cannot listen for signals: {error}")),
    };
    let experiment = match experiment(arguments, registry) {
        Ok(experiment) => experiment,
        Err(code) => return code,
    };
    let offered = offer::offer(experiment, registry, &stop);
    if let Some(signal) = stop.signal() {
        return ended_by(signal);
    }
    let offer = match offered {
        Ok(offer) => offer,
        Err(problem) => return refuse(problem),
    };
    for note in &offer.notes {
        tell!("gclab: note: {note}");
    }
    if offer.space.is_empty() {
        return refuse(format!("{}: there are no flags to try", arguments.work()));
    }
    if arguments.dry_run {
        return print(&text::settings(&offer));
    }
    go(arguments, offer, &stop)
}

/// A workload's collector if none is named.
const DEFAULT_COLLECTOR: &str = "copying";

/// The experiment of the program, or of the workload under each collector, the default first.
fn experiment(arguments: &Arguments, registry: &Registry) -> Result<Experiment, ExitCode> {
    let (name, text, entries) = match &arguments.workload {
        Some(name) => {
            let workload = common::workload(name, registry).map_err(refuse)?;
            common::arguments(workload, &arguments.args).map_err(refuse)?;
            let mut collectors = registry.collector_names();
            collectors.sort_by_key(|collector| *collector != DEFAULT_COLLECTOR);
            let entry = |collector: &&str| Entry::of_workload(name, &arguments.args, collector);
            (name.clone(), String::new(), collectors.iter().map(entry).collect())
        }
        None => {
            let experiment = own_program::of_command(&arguments.command, arguments.runtime.as_deref(), registry)?;
            (experiment.name, experiment.text, experiment.entries)
        }
    };
    Ok(Experiment {
        name: format!("tune-{name}"),
        text,
        entries,
        question: format!(
            "Which flags make the {} of {} least?",
            arguments.goal.words(),
            arguments.work()
        ),
        is_of_commands: true,
        repeat: 1,
        seed: arguments.seed,
        timeout: arguments.timeout,
        ..Experiment::default()
    })
}

impl Arguments {
    /// The work, as on a command line.
    fn work(&self) -> String {
        let own = self.workload.iter().chain(&self.args);
        shell_line(&own.chain(&self.command).cloned().collect::<Vec<_>>())
    }
}

/// Does the runs, and prints the answer.
fn go(arguments: &Arguments, offer: Offer, stop: &Stop) -> ExitCode {
    let plan = tune::plan(&offer);
    let whole = Shard::default();
    let mut manifest = folder::manifest(&offer.experiment, &plan, Vec::new(), whole, own_command());
    manifest.sweep = offer.axes();
    let mut folder = match folder::choose(manifest, &plan, whole, arguments.out.as_deref(), arguments.fresh) {
        Ok(folder) => folder,
        Err(error) => return refuse(error),
    };
    for note in &folder.notes {
        tell!("gclab: note: {note}");
    }
    let path = folder.results.path().to_owned();
    // With the ids that the folder has.
    let plan = std::mem::take(&mut folder.runs);
    let default_budget = offer.space.len().clamp(DEFAULT_BUDGET.0, DEFAULT_BUDGET.1);
    let rules = Rules {
        goal: arguments.goal,
        limits: arguments.limits.clone(),
        budget: arguments.budget.unwrap_or(Budget::Runs(default_budget)),
        seed: arguments.seed,
    };
    let known = match folder.results.done() {
        0 => String::new(),
        done => format!(", {} are there", counted(done, "run")),
    };
    tell!(
        "{}: {} to choose from{known}",
        path_name(&path),
        counted(offer.space.len(), "setting")
    );
    let mut search = Search::new(offer.space.clone(), rules);
    let here = environment::machine(&Root::system());
    let sweep = Sweep {
        program: Path::new(machine::THIS_PROGRAM),
        timeout: arguments.timeout,
        stop,
        environment: Environment {
            changes: environment::changes(&folder.results.manifest().machine, &here),
            ..Environment::default()
        },
    };
    let mut tuning = Tuning::new(&mut search, &plan);
    let signal = go_on(&mut folder.results, &mut tuning, &sweep);
    let done = std::mem::take(&mut tuning.done);
    match signal {
        Ok(None) => {}
        Ok(Some(signal)) => {
            tell!(
                "\ngclab: stopped by signal {signal}; all runs that ended are kept. To continue:\n  {}",
                shell_line(&own_command())
            );
            return ended_by(signal);
        }
        Err(error) => return fail(error),
    }
    if let Err(error) = folder.results.replace_plan(done) {
        return fail(error);
    }
    let tuned = Tuned {
        work: arguments.work(),
        offer: &offer,
        search: &search,
        folder: &path,
    };
    finish(&tuned, arguments.json)
}

fn finish(tuned: &Tuned<'_>, as_json: bool) -> ExitCode {
    match ResultsDir::open(tuned.folder).map_err(|error| error.to_string()) {
        Ok(results) => {
            if let Err(error) = write_html(&results) {
                tell!("gclab: {error}");
            }
        }
        Err(error) => return fail(error),
    }
    if let Some(missing) = tuned.search.missing() {
        return refuse(format!(
            "{}: its runs do not report the {}; `gclab help tune` lists the other goals and limits",
            tuned.work,
            missing.words()
        ));
    }
    let printed = if as_json {
        print(&text::json(tuned))
    } else {
        print(&text::answer(tuned))
    };
    if tuned.search.default_failed() {
        ExitCode::FAILURE
    } else {
        printed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_runs_or_times() {
        assert_eq!(budget("100"), Ok(Budget::Runs(100)));
        assert_eq!(budget("5min"), Ok(Budget::Seconds(300.0)));
        for wrong in ["", "3", "-5", "many", "10x"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
