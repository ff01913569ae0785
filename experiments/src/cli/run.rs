//! `gclab run`: a sweep, from an experiment file to a table and a report. Goes on where it stopped.

use gclab_sweep::tell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gclab_results::{Manifest, Minimum, ResultsDir, shell_line};

use super::{USAGE, show, usage};
use gclab_sweep::command_line::shown;
use gclab_sweep::experiment::Spec;
use gclab_sweep::folder::{self, Folder};
use gclab_sweep::machine;
use gclab_sweep::minheap::{self, Halt, Tools, reference, store};
use gclab_sweep::plan::Shard;
use gclab_sweep::registry::Registry;
use gclab_sweep::runner::progress::{Estimator, human};
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::runner::{Sweep, Swept, sweep};
use gclab_sweep::spec;
use gclab_sweep::verdict::verdict;

/// Do the runs of an experiment file, or those that are still missing, and report
#[derive(Debug, Args)]
pub struct Arguments {
    /// The experiment file
    experiment: PathBuf,
    /// Folder for the results [default: the newest one under results/runs with the same plan, or a new one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Begin another folder even if there is one with the same plan
    #[arg(long)]
    fresh: bool,
    /// Print the plan and how long it may take, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do part I of N (1/4, 2/4, ...); `gclab report` puts the parts' folders together
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    shard: Shard,
}

pub fn run(arguments: &Arguments, registry: &Registry) -> ExitCode {
    let spec = match spec::load(&arguments.experiment, registry) {
        Ok(spec) => spec,
        Err(error) => return show(&*error),
    };
    if arguments.dry_run {
        return dry_run(&spec, arguments);
    }
    // From here on Ctrl-C is a request, not the end: a run that has just been written down is not lost.
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return usage(format!("cannot listen for signals: {error}")),
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            return failed(format!(
                "cannot find this program itself, which is to be started for each run: {error}"
            ));
        }
    };
    let minima = match minima(&spec, &program, &stop) {
        Ok(minima) => minima,
        Err(Halt::Stopped(signal)) => {
            tell!(
                "\ngclab: stopped by signal {signal} while looking for the least heaps; all probes are kept. To go on:\n  {}",
                shell_line(&words(arguments))
            );
            return by_signal(signal);
        }
        Err(halt) => return failed(halt),
    };
    if let Err(problem) = reference::check(&spec, &minima) {
        return usage(format!("{}: {problem}", arguments.experiment.display()));
    }
    let manifest = folder::manifest(&spec, minima, arguments.shard, command(arguments));
    if manifest.plan.is_empty() {
        return no_runs(&spec, arguments);
    }
    match folder::choose(manifest, arguments.shard, arguments.out.as_deref(), arguments.fresh) {
        Ok(folder) => go(folder, &spec, arguments, &program, &stop),
        Err(error) => usage(error),
    }
}

fn no_runs(spec: &Spec, arguments: &Arguments) -> ExitCode {
    usage(format!(
        "shard {} has no runs: the plan has only {} groups of block and workload",
        arguments.shard,
        spec.repeat as usize * spec.workloads.len() + spec.profiles.iter().filter(|own| !own.is_empty()).count()
    ))
}

/// How the minima of an experiment are looked for: so near that what is said of 1.5 times the least heap is not said of 1.4.
fn tools<'t>(spec: &Spec, program: &'t Path, stop: &'t Stop) -> Tools<'t> {
    Tools {
        root: store::ROOT.into(),
        program,
        executable: machine::executable(),
        timeout: spec.timeout,
        least_patience: minheap::LEAST_PATIENCE,
        tolerance: minheap::TOLERANCE,
        runs: minheap::RUNS,
        fresh: false,
        stop,
    }
}

/// The minima that `heap` needs: from earlier searches, or found now.
fn minima(spec: &Spec, program: &Path, stop: &Stop) -> Result<Vec<Minimum>, Halt> {
    if spec.heap.is_empty() {
        return Ok(Vec::new());
    }
    let questions = reference::questions(spec);
    let tools = tools(spec, program, stop);
    if let Some(minima) = reference::all_known(&questions, &tools) {
        return Ok(minima);
    }
    tell!(
        "gclab: first the least heap of {}",
        several(questions.len(), "configuration")
    );
    let mut progress = minheap::progress::Progress::begin(questions.len());
    let minima = reference::find_all(&questions, &tools, &mut progress);
    progress.end();
    minima
}

/// The command that goes on with the experiment: what was asked for, but for `--fresh`.
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

fn go(mut folder: Folder, spec: &Spec, arguments: &Arguments, program: &Path, stop: &Stop) -> ExitCode {
    for note in &folder.notes {
        tell!("gclab: note: {note}");
    }
    let path = folder.results.path().to_owned();
    let (done, all) = (folder.results.done(), folder.results.manifest().plan.len());
    match (done, all) {
        _ if done == all => tell!("{}: all {all} runs are done; --fresh measures again", path.display()),
        (0, _) => tell!("{}: {}", path.display(), several(all, "run")),
        _ => tell!("{}: going on, {done} of {all} runs are done", path.display()),
    }
    if done < all {
        let swept = sweep(
            &mut folder.results,
            &Sweep {
                program,
                timeout: spec.timeout,
                stop,
            },
        );
        match swept {
            Ok(Swept::Complete) => {}
            Ok(Swept::Stopped(signal)) => return stopped(signal, &folder.results, arguments),
            Err(error) => return failed(format!("{error}\n{}", go_on(&folder.results, arguments))),
        }
    }
    finish(&folder.results, &path)
}

/// The table, the report, and whether all is well.
fn finish(results: &ResultsDir, path: &Path) -> ExitCode {
    let printed = super::print(&gclab_report::terminal(results));
    let mut complaints = verdict(results);
    match super::report::write_html(results, path) {
        Ok(report) => tell!("\n{}", report.display()),
        // The runs are done and recorded: what is to be said of them is said all the same.
        Err(error) => complaints.push(error),
    }
    for complaint in &complaints {
        tell!("gclab: {complaint}");
    }
    if complaints.is_empty() {
        printed
    } else {
        ExitCode::FAILURE
    }
}

fn failed(message: impl std::fmt::Display) -> ExitCode {
    tell!("gclab: {message}");
    ExitCode::FAILURE
}

fn stopped(signal: i32, results: &ResultsDir, arguments: &Arguments) -> ExitCode {
    tell!("\ngclab: stopped by signal {signal}; {}", go_on(results, arguments));
    by_signal(signal)
}

/// The shell's convention for a program that a signal ended.
fn by_signal(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

fn go_on(results: &ResultsDir, arguments: &Arguments) -> String {
    format!(
        "{} of {} runs are done and kept. To go on:\n  {}",
        results.done(),
        results.manifest().plan.len(),
        shell_line(&words(arguments))
    )
}

/// The plan, with the minima as far as they are known already.
fn dry_run(spec: &Spec, arguments: &Arguments) -> ExitCode {
    let minima = match known_minima(spec) {
        Ok(minima) => minima,
        Err(error) => return usage(error),
    };
    let unknown = !spec.heap.is_empty() && minima.is_empty();
    let manifest = folder::manifest(spec, minima, arguments.shard, command(arguments));
    if manifest.plan.is_empty() {
        return no_runs(spec, arguments);
    }
    print_plan(spec, &manifest, unknown)
}

fn known_minima(spec: &Spec) -> std::io::Result<Vec<Minimum>> {
    if spec.heap.is_empty() {
        return Ok(Vec::new());
    }
    let stop = Stop::listen()?;
    let tools = tools(spec, Path::new(""), &stop);
    Ok(reference::all_known(&reference::questions(spec), &tools).unwrap_or_default())
}

fn print_plan(spec: &Spec, manifest: &Manifest, unknown: bool) -> ExitCode {
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
            // The file was checked, so this is not reached; were it, the message is right.
            Err(error) => return usage(error),
        }
    }
    let mut estimator = Estimator::default();
    folder::earlier_runs(&manifest.plan)
        .iter()
        .for_each(|run| estimator.learn(run));
    let runs = manifest.plan.len();
    let estimate = match estimator.estimate(&manifest.plan) {
        Some(time) => format!("about {} by earlier runs", human(time)),
        None => "no earlier runs to estimate by".to_owned(),
    };
    let most = spec
        .timeout
        .checked_mul(u32::try_from(runs).unwrap_or(u32::MAX))
        .unwrap_or(Duration::MAX);
    let printed = super::print(&text);
    let profiled = manifest.plan.iter().filter(|run| run.profile_flags.is_some()).count();
    let and_profiles = if profiled == 0 {
        String::new()
    } else {
        format!(", and {}", several(profiled, "heap profile"))
    };
    tell!(
        "{} in {} ({}){and_profiles}: {estimate}; at most {} by the time limit of {}",
        several(runs - profiled, "run"),
        several(spec.repeat as usize, "block"),
        gclab_sweep::plan::ORDER,
        human(most),
        human(spec.timeout)
    );
    if unknown {
        tell!(
            "before them the least heap of each of {} is looked for; -M is then its multiple",
            several(reference::questions(spec).len(), "configuration")
        );
    }
    if printed == ExitCode::from(USAGE) {
        ExitCode::FAILURE
    } else {
        printed
    }
}

/// `1 run`, `2 runs`.
fn several(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
