//! `gclab run FILE --dry-run`: the grid of a sweep and its time, or the command of each run.
//!
//! The time of a configuration comes from earlier runs, or else from one run now. These runs take
//! [`CALIBRATION`] at most; configurations that they do not reach take the mean of their workload.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use gclab_results::{Minimum, Purpose, shell_line};
use gclab_sweep::calibrate::{Calibrated, calibrate};
use gclab_sweep::command_line::shown;
use gclab_sweep::experiment::{Axis, Entry, Experiment};
use gclab_sweep::grid::grid;
use gclab_sweep::minheap::reference;
use gclab_sweep::plan::{ORDER, Plan};
use gclab_sweep::run::Run;
use gclab_sweep::runner::precision::PILOT;
use gclab_sweep::runner::progress::{Estimator, Left};
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::runner::{Environment, Sweep};
use gclab_sweep::text::{counted, duration};
use gclab_sweep::{folder, machine, tell};

use crate::common::{EXIT_USAGE, ended_by, fail, print, refuse};
use crate::run_arguments::{Arguments, DryRun, look_at_programs, no_runs, tools};

/// The longest time of all calibrating runs; the last one may take longer.
const CALIBRATION: Duration = Duration::from_secs(10);

/// Above this many configurations nothing is measured: few would get a turn within [`CALIBRATION`].
const MOST_MEASURED: usize = 1000;

/// Prints the plan, with the minima that earlier searches found.
pub(crate) fn dry_run(experiment: &mut Experiment, arguments: &Arguments, what: DryRun) -> ExitCode {
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return refuse(format!("cannot listen for signals: {error}")),
    };
    // The commands of a plan can be looked at where its programs are not installed.
    if what == DryRun::Grid
        && let Err(code) = look_at_programs(experiment, arguments, &stop)
    {
        return code;
    }
    let experiment = &*experiment;
    let minima = known_minima(experiment, &stop);
    let unknown = !experiment.heap.is_empty() && minima.is_empty();
    if !unknown && let Err(problem) = reference::check(experiment, &minima) {
        return refuse(format!("{}: {problem}", arguments.source()));
    }
    let plan = Plan::new(experiment, &minima, arguments.shard);
    if plan.runs.is_empty() {
        return no_runs(experiment, arguments);
    }
    let mut estimator = Estimator::default();
    let earlier = folder::earlier_runs(&plan.works());
    earlier.iter().for_each(|run| estimator.learn(run));
    let mut text = String::new();
    let mut source = None;
    let firsts = plan.firsts();
    match what {
        DryRun::Commands => text.push_str(&commands(&plan)),
        DryRun::Grid => {
            match measured(&firsts, &mut estimator, experiment, &stop) {
                Ok(found) => source = found,
                Err(code) => return code,
            }
            text.push_str(&settings(experiment));
            text.push_str(&grid_of(experiment, &firsts, &estimator));
        }
    }
    let printed = print(&text);
    tell!("{}", size_and_time(experiment, &plan, &estimator, source));
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

pub(crate) fn known_minima(experiment: &Experiment, stop: &Stop) -> Vec<Minimum> {
    if experiment.heap.is_empty() {
        return Vec::new();
    }
    let tools = tools(experiment, Path::new(machine::THIS_PROGRAM), stop);
    reference::all_known(&reference::questions(experiment), &tools).unwrap_or_default()
}

/// The command of each run.
fn commands(plan: &Plan) -> String {
    let mut text = String::new();
    for run in &plan.runs {
        let multiple = run.planned.heap_multiple.map(|multiple| format!("heap = {multiple}"));
        let purpose = match run.planned.purpose() {
            Purpose::Times => None,
            Purpose::HeapProfile(_) => Some("profile".to_owned()),
            Purpose::EventLog => Some("event log".to_owned()),
        };
        let notes: Vec<String> = multiple.into_iter().chain(purpose).collect();
        let notes = if notes.is_empty() {
            String::new()
        } else {
            format!("  # {}", notes.join(", "))
        };
        text.push_str(&format!("{}{notes}\n", shell_line(&shown(run))));
    }
    text
}

/// The grid of the configurations; for a part without timed runs, of the others.
fn grid_of(experiment: &Experiment, firsts: &[&Run], estimator: &Estimator) -> String {
    let is_timed = |run: &&Run| run.planned.purpose().is_timed();
    let timed: Vec<&Run> = firsts.iter().copied().filter(is_timed).collect();
    grid(experiment, if timed.is_empty() { firsts } else { &timed }, estimator)
}

/// Measures the configurations of the plan, unless earlier runs give all their times. Returns where
/// the times come from, in words; `None` if there are too many configurations to measure.
fn measured(
    firsts: &[&Run],
    estimator: &mut Estimator,
    experiment: &Experiment,
    stop: &Stop,
) -> Result<Option<String>, ExitCode> {
    let timed = firsts.iter().copied().filter(|run| run.planned.purpose().is_timed());
    let missing = timed.filter(|run| estimator.seconds(&run.planned).is_none());
    // One more shows that there are too many.
    let missing: Vec<&Run> = missing.take(MOST_MEASURED + 1).collect();
    if missing.is_empty() {
        return Ok(Some("by earlier runs".to_owned()));
    }
    if missing.len() > MOST_MEASURED {
        return Ok(None);
    }
    let sweep = Sweep {
        program: Path::new(machine::THIS_PROGRAM),
        timeout: experiment.timeout,
        stop,
        environment: Environment::default(),
    };
    match calibrate(&missing, estimator, &sweep, CALIBRATION) {
        Ok(Some(Calibrated {
            configurations,
            measured,
            took,
        })) => {
            let all = if measured == configurations {
                "each of".to_owned()
            } else {
                format!("{measured} of")
            };
            Ok(Some(format!(
                "by one run of {all} {}, which took {}",
                counted(configurations, "configuration"),
                duration(took)
            )))
        }
        Ok(None) => Err(ended_by(stop.signal().unwrap_or(0))),
        Err(error) => Err(fail(format!("cannot measure a run: {error}"))),
    }
}

/// The question and the lists of the file, a line each.
fn settings(experiment: &Experiment) -> String {
    let texts = |entry: &Entry| {
        let flags = entry.flags.values();
        flags
            .map(|flag| format!("{}={}", flag.key(), flag.text()))
            .collect::<Vec<_>>()
            .join("  ")
    };
    let sweep = |axes: &Vec<Axis>| axes.iter().map(Axis::describe).collect::<Vec<_>>().join("  ×  ");
    let mut rows = vec![
        ("question", experiment.question.clone()),
        ("collectors", experiment.collectors().join("  ")),
    ];
    for own in experiment.own().take(1) {
        rows.push(("flags", texts(own)));
        rows.extend(own.sweeps.iter().map(|axes| ("sweep", sweep(axes))));
    }
    let builds: Vec<&str> = experiment.builds.iter().map(|build| build.name.as_str()).collect();
    rows.push(("builds", builds.join("  ")));
    for entry in experiment.programs() {
        let program = &entry.program.description;
        let command = shell_line(&program.command);
        let row = format!("{} ({}): {command}  {}", program.name, program.runtime, texts(entry));
        rows.push(("program", row.trim_end().to_owned()));
        rows.extend(entry.sweeps.iter().map(|axes| ("  sweep", sweep(axes))));
    }
    let multiples: Vec<String> = experiment.heap.iter().map(|multiple| format!("{multiple}×")).collect();
    rows.push(("heap", multiples.join("  ")));
    let mut text = String::new();
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("{name:<11} {value}\n"));
    }
    text
}

/// The number of runs, and the time that they will take.
fn size_and_time(experiment: &Experiment, plan: &Plan, estimator: &Estimator, source: Option<String>) -> String {
    let runs = plan.runs.len();
    let left = Left::of(plan.runs.iter().map(|run| &run.planned));
    let time = (!estimator.is_empty()).then(|| estimator.estimate(&left));
    let estimate = match (time.flatten(), source) {
        (Some(time), source) => {
            let source = source.unwrap_or_else(|| "by earlier runs".to_owned());
            format!("about {} {source}", duration(time))
        }
        (None, _) => "no earlier runs to estimate by".to_owned(),
    };
    let most = experiment
        .timeout
        .checked_mul(u32::try_from(runs).unwrap_or(u32::MAX))
        .unwrap_or(Duration::MAX);
    let [timed, profiles, logs] = plan.counts();
    let untimed = [(profiles, "heap profile"), (logs, "event log")];
    let untimed = untimed.iter().filter(|(number, _)| *number > 0);
    let and_untimed: Vec<String> = untimed
        .map(|(number, name)| format!(", and {}", counted(*number, name)))
        .collect();
    let and_untimed = and_untimed.concat();
    let or_precise = experiment.precision.map_or_else(String::new, |precision| {
        if experiment.repeat as usize <= PILOT {
            return format!("; `precision` has no effect: it is first checked after {PILOT} rounds");
        }
        format!(
            "; fewer rounds, {PILOT} or more, if the 95 % interval of each mean time reaches at most {} % to either side",
            (precision * 1e6).round() / 1e4
        )
    });
    format!(
        "{} in {} ({ORDER}){and_untimed}: {estimate}; at most {} by the time limit of {}{or_precise}",
        counted(timed, "run"),
        counted(experiment.repeat as usize, "round"),
        duration(most),
        duration(experiment.timeout)
    )
}
