//! `gclab run`: a sweep, from an experiment file to a table and a report. An interrupted sweep
//! continues where it stopped.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gclab_results::{Manifest, Minimum, ResultsDir, shell_line};
use gclab_sweep::command_line::shown;
use gclab_sweep::experiment::Experiment;
use gclab_sweep::folder::{self, Folder};
use gclab_sweep::minheap::{self, SearchError, Tools, reference, store};
use gclab_sweep::plan::{ORDER, Shard};
use gclab_sweep::registry::Registry;
use gclab_sweep::runner::progress::Estimator;
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::runner::{Sweep, SweepEnd, sweep};
use gclab_sweep::text::{counted, duration};
use gclab_sweep::{machine, spec, tell};

use crate::common::{EXIT_USAGE, ended_by, fail, print, refuse, refuse_file, this_program};
use crate::report::write_html;
use crate::verdict::faults;

/// Do the runs of an experiment file, or those that are still missing, and report
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The experiment file
    experiment: PathBuf,
    /// Folder for the results [default: the newest one under results/runs with the same plan, or a
    /// new one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Begin a new folder even if there is one with the same plan
    #[arg(long)]
    fresh: bool,
    /// Print the plan and an estimate of its time; run nothing
    #[arg(long)]
    dry_run: bool,
    /// Do part I of N (1/4, 2/4, ...); `gclab report` puts the parts' folders together
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    shard: Shard,
}

pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> ExitCode {
    let experiment = match spec::load(&arguments.experiment, registry) {
        Ok(experiment) => experiment,
        Err(error) => return refuse_file(&error),
    };
    if arguments.dry_run {
        return dry_run(&experiment, arguments);
    }
    // From here on Ctrl-C is a request to stop, so that no record is lost half-written.
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return refuse(format!("cannot listen for signals: {error}")),
    };
    let program = match this_program() {
        Ok(program) => program,
        Err(message) => return fail(message),
    };
    let minima = match minima(&experiment, &program, &stop) {
        Ok(minima) => minima,
        Err(SearchError::Stopped(signal)) => {
            tell!(
                "\ngclab: stopped by signal {signal} during the search for least heaps; all probes are kept. To continue:\n  {}",
                shell_line(&words(arguments))
            );
            return ended_by(signal);
        }
        Err(error) => return fail(error),
    };
    if let Err(problem) = reference::check(&experiment, &minima) {
        return refuse(format!("{}: {problem}", arguments.experiment.display()));
    }
    let manifest = folder::manifest(&experiment, minima, arguments.shard, command(arguments));
    if manifest.plan.is_empty() {
        return no_runs(&experiment, arguments);
    }
    match folder::choose(manifest, arguments.shard, arguments.out.as_deref(), arguments.fresh) {
        Ok(folder) => go(folder, &experiment, arguments, &program, &stop),
        Err(error) => refuse(error),
    }
}

fn no_runs(experiment: &Experiment, arguments: &Arguments) -> ExitCode {
    refuse(format!(
        "shard {} has no runs: the plan has only {} groups of block and workload",
        arguments.shard,
        experiment.repeat as usize * experiment.workloads.len()
            + experiment.profiles.iter().filter(|own| !own.is_empty()).count()
    ))
}

/// The settings of the search for least heaps. Its tolerance keeps 1.5 times the least heap apart
/// from 1.4 times.
fn tools<'t>(experiment: &Experiment, program: &'t Path, stop: &'t Stop) -> Tools<'t> {
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

/// The minima that `heap` needs, from earlier searches or from one now.
fn minima(experiment: &Experiment, program: &Path, stop: &Stop) -> Result<Vec<Minimum>, SearchError> {
    if experiment.heap.is_empty() {
        return Ok(Vec::new());
    }
    let questions = reference::questions(experiment);
    let tools = tools(experiment, program, stop);
    if let Some(minima) = reference::all_known(&questions, &tools) {
        return Ok(minima);
    }
    tell!(
        "gclab: searching first for the least heap of {}",
        counted(questions.len(), "configuration")
    );
    let mut progress = minheap::progress::Progress::begin(questions.len());
    let minima = reference::find_all(&questions, &tools, &mut progress);
    progress.end();
    minima
}

/// The command that continues the experiment: this one without `--fresh`.
fn words(arguments: &Arguments) -> Vec<String> {
    let mut words = vec![
        "gclab".to_owned(),
        "run".to_owned(),
        arguments.experiment.display().to_string(),
    ];
    if let Some(out) = &arguments.out {
        words.extend(["--out".to_owned(), out.display().to_string()]);
    }
    if !arguments.shard.is_all() {
        words.extend(["--shard".to_owned(), arguments.shard.to_string()]);
    }
    words
}

/// The command that repeats the experiment.
fn command(arguments: &Arguments) -> Vec<String> {
    let mut words = words(arguments);
    words.push("--fresh".to_owned());
    words
}

fn go(mut folder: Folder, experiment: &Experiment, arguments: &Arguments, program: &Path, stop: &Stop) -> ExitCode {
    for note in &folder.notes {
        tell!("gclab: note: {note}");
    }
    let path = folder.results.path().to_owned();
    let (done, all) = (folder.results.done(), folder.results.manifest().plan.len());
    match (done, all) {
        _ if done == all => tell!("{}: all {all} runs are done; --fresh measures again", path.display()),
        (0, _) => tell!("{}: {}", path.display(), counted(all, "run")),
        _ => tell!("{}: continuing, {done} of {all} runs are done", path.display()),
    }
    if done < all {
        let swept = sweep(
            &mut folder.results,
            &Sweep {
                program,
                timeout: experiment.timeout,
                stop,
            },
        );
        match swept {
            Ok(SweepEnd::Complete) => {}
            Ok(SweepEnd::Stopped(signal)) => return stopped(signal, &folder.results, arguments),
            Err(error) => return fail(format!("{error}\n{}", to_continue(&folder.results, arguments))),
        }
    }
    finish(&folder.results, &path)
}

/// Prints the table and the faults, and writes the report.
fn finish(results: &ResultsDir, path: &Path) -> ExitCode {
    let printed = print(&gclab_report::terminal(results));
    let mut faults = faults(results);
    match write_html(results, path) {
        Ok(report) => tell!("\n{}", report.display()),
        // The runs are recorded, so their faults are still printed.
        Err(error) => faults.push(error),
    }
    for fault in &faults {
        tell!("gclab: {fault}");
    }
    if faults.is_empty() { printed } else { ExitCode::FAILURE }
}

fn stopped(signal: i32, results: &ResultsDir, arguments: &Arguments) -> ExitCode {
    tell!(
        "\ngclab: stopped by signal {signal}; {}",
        to_continue(results, arguments)
    );
    ended_by(signal)
}

fn to_continue(results: &ResultsDir, arguments: &Arguments) -> String {
    format!(
        "{} of {} runs are done and kept. To continue:\n  {}",
        results.done(),
        results.manifest().plan.len(),
        shell_line(&words(arguments))
    )
}

/// Prints the plan, with the minima that earlier searches found.
fn dry_run(experiment: &Experiment, arguments: &Arguments) -> ExitCode {
    let minima = match known_minima(experiment) {
        Ok(minima) => minima,
        Err(error) => return refuse(error),
    };
    let unknown = !experiment.heap.is_empty() && minima.is_empty();
    let manifest = folder::manifest(experiment, minima, arguments.shard, command(arguments));
    if manifest.plan.is_empty() {
        return no_runs(experiment, arguments);
    }
    print_plan(experiment, &manifest, unknown)
}

fn known_minima(experiment: &Experiment) -> std::io::Result<Vec<Minimum>> {
    if experiment.heap.is_empty() {
        return Ok(Vec::new());
    }
    let stop = Stop::listen()?;
    let tools = tools(experiment, Path::new(""), &stop);
    Ok(reference::all_known(&reference::questions(experiment), &tools).unwrap_or_default())
}

fn print_plan(experiment: &Experiment, manifest: &Manifest, unknown: bool) -> ExitCode {
    let mut text = String::new();
    for run in &manifest.plan {
        let multiple = run.heap_multiple.map(|multiple| format!("heap = {multiple}"));
        let profile = run.profile_flags.as_ref().map(|_| "profile".to_owned());
        let notes: Vec<String> = multiple.into_iter().chain(profile).collect();
        let notes = if notes.is_empty() {
            String::new()
        } else {
            format!("  # {}", notes.join(", "))
        };
        match shown(run) {
            Ok(words) => text.push_str(&format!("{}{notes}\n", shell_line(&words))),
            // Not reached: the file was checked.
            Err(error) => return refuse(error),
        }
    }
    let mut estimator = Estimator::default();
    folder::earlier_runs(&manifest.plan)
        .iter()
        .for_each(|run| estimator.learn(run));
    let runs = manifest.plan.len();
    let estimate = match estimator.estimate(&manifest.plan) {
        Some(time) => format!("about {} by earlier runs", duration(time)),
        None => "no earlier runs to estimate by".to_owned(),
    };
    let most = experiment
        .timeout
        .checked_mul(u32::try_from(runs).unwrap_or(u32::MAX))
        .unwrap_or(Duration::MAX);
    let printed = print(&text);
    let profiled = manifest.plan.iter().filter(|run| run.profile_flags.is_some()).count();
    let and_profiles = if profiled == 0 {
        String::new()
    } else {
        format!(", and {}", counted(profiled, "heap profile"))
    };
    tell!(
        "{} in {} ({}){and_profiles}: {estimate}; at most {} by the time limit of {}",
        counted(runs - profiled, "run"),
        counted(experiment.repeat as usize, "block"),
        ORDER,
        duration(most),
        duration(experiment.timeout)
    );
    if unknown {
        tell!(
            "before them a search finds the least heap of each of {}; -M is then its multiple",
            counted(reference::questions(experiment).len(), "configuration")
        );
    }
    if printed == ExitCode::from(EXIT_USAGE) {
        ExitCode::FAILURE
    } else {
        printed
    }
}
