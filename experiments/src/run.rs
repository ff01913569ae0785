//! `gclab run`: a sweep, from an experiment file to a table and a report. An interrupted sweep
//! continues where it stopped.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use gclab_flags::{ENVIRONMENT, OCAML_ENVIRONMENT};
use gclab_results::{Minimum, ResultsDir, path_name, shell_line};
use gclab_sweep::environment::Root;
use gclab_sweep::experiment::{Entry, Experiment};
use gclab_sweep::folder::{self, Folder};
use gclab_sweep::minheap::{self, SearchError, reference};
use gclab_sweep::plan::plan;
use gclab_sweep::registry::Registry;
use gclab_sweep::runner::fixed::{SweepEnd, sweep};
use gclab_sweep::runner::precision::{needs, remedy, told};
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::runner::{Environment, Sweep};
use gclab_sweep::text::counted;
use gclab_sweep::unmatched::unmatched;
use gclab_sweep::{machine, tell};

use crate::common::{ended_by, fail, own_command, refuse};
use crate::conditions;
use crate::dry_run::dry_run;
use crate::report::{show, show_reproduction};
use crate::run_arguments::{Arguments, check_shard, look_at_programs, no_runs, tools};
use crate::settings::{RtsOpts, Settings};
use crate::verdict::faults;

#[cfg(test)]
mod tests;

/// Does the sweep of `arguments` on the machine whose files lie below `root`.
pub(crate) fn run(arguments: &Arguments, registry: &Registry, settings: &Settings, root: &Root) -> ExitCode {
    let until = arguments.until.map(|time| Instant::now() + time);
    let mut experiment = match arguments.load(registry) {
        Ok(experiment) => experiment,
        Err(refusal) => return refusal,
    };
    let sets_flags = |own: &Entry| !(own.flags.is_empty() && own.sweeps.is_empty() && own.profiles.is_empty());
    let asks_for_flags = !experiment.heap.is_empty() || experiment.own().any(sets_flags);
    if settings.rtsopts != RtsOpts::All && asks_for_flags {
        return refuse(format!(
            "{}: it sets flags of its runs, which this program forbids",
            arguments.source()
        ));
    }
    for variable in [ENVIRONMENT, OCAML_ENVIRONMENT] {
        if std::env::var_os(variable).is_some() {
            tell!("gclab: note: {variable} is set, but the flags of a sweep come only from its file");
        }
    }
    for reason in &experiment.left_out {
        tell!("gclab: note: left out of `collectors`: {reason}");
    }
    if let Err(refusal) = check_shard(&experiment, arguments) {
        return refusal;
    }
    if let Some(what) = arguments.dry_run {
        let code = dry_run(&mut experiment, arguments, what);
        // The command ends here, and to free a hundred thousand cells takes a part of its second.
        std::mem::forget(experiment);
        return code;
    }
    // From here on Ctrl-C is a request to stop, so that no record is lost half-written.
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return refuse(format!("cannot listen for signals: {error}")),
    };
    if let Err(code) = look_at_programs(&mut experiment, arguments, &stop) {
        return code;
    }
    let found = conditions::before(&experiment, root);
    if let Err(refusal) = conditions::tell(&found, arguments) {
        return refusal;
    }
    let program = Path::new(machine::THIS_PROGRAM);
    let minima = match minima(&experiment, program, &stop) {
        Ok(minima) => minima,
        Err(SearchError::Stopped(signal)) => {
            tell!(
                "\ngclab: stopped by signal {signal} during the search for least heaps; all probes are kept. To continue:\n  {}",
                shell_line(&own_command())
            );
            return ended_by(signal);
        }
        Err(error) if error.is_refusal() => return refuse(error),
        Err(error) => return fail(error),
    };
    if let Err(problem) = reference::check(&experiment, &minima) {
        return refuse(format!("{}: {problem}", arguments.source()));
    }
    let plan = plan(&experiment, &minima, arguments.shard);
    if plan.is_empty() {
        return no_runs(&experiment, arguments);
    }
    let mut manifest = folder::manifest(&experiment, &plan, minima, arguments.shard, arguments.to_repeat());
    conditions::warn(&mut manifest, &found);
    let here = manifest.machine.clone();
    match folder::choose(
        manifest,
        &plan,
        arguments.shard,
        arguments.out.as_deref(),
        arguments.begins_anew(),
    ) {
        Ok(folder) => match conditions::changes(&folder, &here, arguments, root) {
            Ok(environment) => go(folder, &experiment, arguments, program, &stop, until, environment),
            Err(refusal) => refusal,
        },
        Err(error) => refuse(error),
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

fn go(
    mut folder: Folder,
    experiment: &Experiment,
    arguments: &Arguments,
    program: &Path,
    stop: &Stop,
    until: Option<Instant>,
    environment: Environment,
) -> ExitCode {
    for note in &folder.notes {
        tell!("gclab: note: {note}");
    }
    let path = folder.results.path().to_owned();
    let (done, all) = (folder.results.done(), folder.runs.len());
    match (done, all) {
        _ if done == all => tell!("{}: all {all} runs are done; --fresh measures again", path_name(&path)),
        (0, _) => tell!("{}: {}", path_name(&path), counted(all, "run")),
        _ => tell!("{}: continuing, {done} of {all} runs are done", path_name(&path)),
    }
    if done < all {
        let swept = sweep(
            &mut folder.results,
            &folder.runs,
            &Sweep {
                program,
                timeout: experiment.timeout,
                stop,
                environment,
            },
            until,
        );
        match swept {
            Ok(SweepEnd::Complete) => {}
            Ok(SweepEnd::Precise) => {
                let left_out = all - folder.results.done();
                tell!(
                    "{}: the times have the requested precision; {} left out",
                    path_name(&path),
                    counted(left_out, "run")
                );
                return match ResultsDir::open(&path) {
                    Ok(results) => finish(&results, arguments, None),
                    Err(error) => fail(error),
                };
            }
            Ok(SweepEnd::OutOfTime) => {
                tell!(
                    "{}: the next round would not finish in time; {}",
                    path_name(&path),
                    to_continue(&path, all, arguments)
                );
                return match ResultsDir::open(&path) {
                    Ok(results) if results.runs().is_empty() => ExitCode::SUCCESS,
                    Ok(results) => finish(&results, arguments, None),
                    Err(error) => fail(error),
                };
            }
            Ok(SweepEnd::FailedAtOnce(program)) => {
                let fault = faults(&folder.results).join("\n");
                return fail(format!(
                    "{fault}\n{program} failed at once in the first round, so no other was started; {}",
                    to_continue(&path, all, arguments)
                ));
            }
            Ok(SweepEnd::Stopped(signal)) => return stopped(signal, &path, all, arguments),
            Err(error) => return fail(format!("{error}\n{}", to_continue(&path, all, arguments))),
        }
    }
    // The runner has the totals only. A report has everything that is on disk.
    match ResultsDir::open(&path) {
        Ok(results) if results.done() == all => {
            unmatched(&folder.results)
                .iter()
                .for_each(|note| tell!("gclab: note: {note}"));
            let missed = missed(&folder.results, experiment.precision);
            finish(&results, arguments, missed)
        }
        Ok(results) => fail(format!(
            "{}: lines were removed while the sweep ran: {}",
            path_name(results.runs_file()),
            to_continue(&path, all, arguments)
        )),
        Err(error) => fail(error),
    }
}

/// The note that a complete folder does not have the precision that its experiment asks for, and
/// how many runs would.
fn missed(dir: &ResultsDir, precision: Option<f64>) -> Option<String> {
    let precision = precision?;
    let needs = needs(dir, precision);
    let lines = told(&needs, precision);
    let remedy = remedy(&needs).map_or_else(String::new, |remedy| format!("\n  {remedy}"));
    (!lines.is_empty()).then(|| format!("all runs are done, and {}{remedy}", lines.join("\n")))
}

/// Prints the table, or what agrees with the published figures, and the faults, and writes the
/// report. `missed` says that a precision is not reached.
fn finish(results: &ResultsDir, arguments: &Arguments, missed: Option<String>) -> ExitCode {
    let (printed, written) = match &arguments.published {
        Some(published) => show_reproduction(published, results),
        None => show(results),
    };
    let mut faults = faults(results);
    let disturbed = conditions::disturbed(results).into_iter().chain(missed);
    if arguments.strict {
        faults.extend(disturbed);
    } else {
        disturbed.for_each(|note| tell!("gclab: note: {note}"));
    }
    match written {
        Ok(report) => tell!("\n{}", path_name(&report)),
        // The runs are recorded, so their faults are still printed.
        Err(error) => faults.push(error),
    }
    for fault in &faults {
        tell!("gclab: {fault}");
    }
    if faults.is_empty() { printed } else { ExitCode::FAILURE }
}

fn stopped(signal: i32, path: &Path, planned: usize, arguments: &Arguments) -> ExitCode {
    tell!(
        "\ngclab: stopped by signal {signal}; {}",
        to_continue(path, planned, arguments)
    );
    ended_by(signal)
}

/// The state of the folder on disk, and the command that continues.
fn to_continue(path: &Path, planned: usize, arguments: &Arguments) -> String {
    let done = ResultsDir::open(path).map_or(0, |found| found.done());
    format!(
        "{done} of {} runs are done and kept. To continue:\n  {}",
        planned,
        shell_line(&arguments.to_continue_in(path))
    )
}
