//! `gclab run FILE --dry-run`: the grid of a sweep and its time, or the command of each run.
//!
//! The time of a configuration is that of earlier runs, or else of one run now. These runs take
//! [`CALIBRATION`] at most; configurations that they do not reach take the mean of their workload.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use gclab_flags::FlagValue;
use gclab_results::{Manifest, Minimum, PlannedRun, Purpose, shell_line};
use gclab_sweep::calibrate::{Calibrated, calibrate};
use gclab_sweep::command_line::shown;
use gclab_sweep::experiment::{Axis, Experiment};
use gclab_sweep::minheap::reference;
use gclab_sweep::plan::{ORDER, plan};
use gclab_sweep::run::Run;
use gclab_sweep::runner::Sweep;
use gclab_sweep::runner::progress::{Estimator, Left};
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::runtime::Value;
use gclab_sweep::text::{counted, duration};
use gclab_sweep::{folder, machine, tell};

use crate::common::{EXIT_USAGE, ended_by, fail, print, refuse};
use crate::run_arguments::{Arguments, DryRun, command, look_at_programs, no_runs, tools};

/// The longest time of all calibrating runs; the last one may take longer.
const CALIBRATION: Duration = Duration::from_secs(10);

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
    let plan = plan(experiment, &minima, arguments.shard);
    if plan.is_empty() {
        return no_runs(experiment, arguments);
    }
    let manifest = folder::manifest(experiment, &plan, minima, arguments.shard, command(arguments));
    let mut estimator = Estimator::default();
    let earlier = folder::earlier_runs(&manifest.plan);
    earlier.iter().for_each(|run| estimator.learn(run));
    let mut text = String::new();
    let mut source = None;
    match what {
        DryRun::Commands => text.push_str(&commands(&plan)),
        DryRun::Grid => {
            match measured(&plan, &mut estimator, experiment, &stop) {
                Ok(found) => source = Some(found),
                Err(code) => return code,
            }
            text.push_str(&settings(experiment));
            text.push_str(&grid(experiment, &manifest.plan, &estimator));
        }
    }
    let printed = print(&text);
    tell!("{}", size_and_time(experiment, &manifest, &estimator, source));
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

fn known_minima(experiment: &Experiment, stop: &Stop) -> Vec<Minimum> {
    if experiment.heap.is_empty() {
        return Vec::new();
    }
    let tools = tools(experiment, Path::new(machine::THIS_PROGRAM), stop);
    reference::all_known(&reference::questions(experiment), &tools).unwrap_or_default()
}

/// The command of each run.
fn commands(plan: &[Run]) -> String {
    let mut text = String::new();
    for run in plan {
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

/// Measures the configurations of the plan, unless earlier runs have told the time of all. Returns
/// the origin of the times, in words.
fn measured(plan: &[Run], estimator: &mut Estimator, experiment: &Experiment, stop: &Stop) -> Result<String, ExitCode> {
    let timed = || plan.iter().filter(|run| run.planned.purpose().is_timed());
    if timed().all(|run| estimator.seconds(&run.planned).is_some()) {
        return Ok("by earlier runs".to_owned());
    }
    let missing: Vec<&Run> = timed()
        .filter(|run| estimator.seconds(&run.planned).is_none())
        .collect();
    let sweep = Sweep {
        program: Path::new(machine::THIS_PROGRAM),
        timeout: experiment.timeout,
        stop,
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
            Ok(format!(
                "by one run of {all} {}, which took {}",
                counted(configurations, "configuration"),
                duration(took)
            ))
        }
        Ok(None) => Err(ended_by(stop.signal().unwrap_or(0))),
        Err(error) => Err(fail(format!("cannot measure a run: {error}"))),
    }
}

/// The question and the lists of the file, a line each.
fn settings(experiment: &Experiment) -> String {
    let mut rows = vec![
        ("question", experiment.question.clone()),
        ("collectors", experiment.collectors.join("  ")),
    ];
    let fixed = experiment.flags.values();
    let fixed: Vec<String> = fixed.map(|flag| format!("{}={}", flag.key(), flag.text())).collect();
    rows.push(("flags", fixed.join("  ")));
    for axes in &experiment.sweeps {
        rows.push(("sweep", product(axes, FlagValue::text)));
    }
    for entry in &experiment.programs {
        let program = &entry.program.description;
        let fixed = entry
            .flags
            .iter()
            .map(|(key, value)| format!("  {key}={}", value.text()));
        let command = shell_line(&program.command);
        rows.push((
            "program",
            format!(
                "{} ({}): {command}{}",
                program.name,
                program.runtime,
                fixed.collect::<String>()
            ),
        ));
        for axes in &entry.sweeps {
            rows.push(("  sweep", product(axes, Value::text)));
        }
    }
    let multiples: Vec<String> = experiment.heap.iter().map(|multiple| format!("{multiple}×")).collect();
    rows.push(("heap", multiples.join("  ")));
    let mut text = String::new();
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("{name:<11} {value}\n"));
    }
    text
}

/// The axes of a sweep in words: `A = 1m 4m  ×  F = 2`.
fn product<V>(axes: &[Axis<V>], text: fn(&V) -> &str) -> String {
    let axis = axes.iter().map(|axis| {
        let values: Vec<&str> = axis.values.iter().map(text).collect();
        format!("{} = {}", axis.flag, values.join(" "))
    });
    axis.collect::<Vec<_>>().join("  ×  ")
}

/// The grid: a row for each workload and setting, a column for each collector, and in each cell the
/// seconds of one run.
fn grid(experiment: &Experiment, plan: &[PlannedRun], estimator: &Estimator) -> String {
    let mut rows: BTreeMap<(Vec<usize>, String), BTreeMap<&str, &PlannedRun>> = BTreeMap::new();
    let mut in_order: Vec<&PlannedRun> = plan
        .iter()
        .filter(|run| run.round == 0 && run.purpose().is_timed())
        .collect();
    if in_order.is_empty() {
        in_order = plan.iter().collect();
    }
    let axes = experiment.axes();
    let places = Places::of(experiment, &axes);
    for run in in_order {
        let mut words = vec![run.workload.clone()];
        words.extend(run.args.iter().cloned());
        words.extend(
            run.flags
                .iter()
                .filter(|(name, _)| swept(experiment, name))
                .map(|(name, value)| format!("{name}={value}")),
        );
        words.extend(run.heap_multiple.map(|multiple| format!("{multiple}×")));
        let row = rows.entry((places.place(run), words.join(" "))).or_default();
        row.insert(&run.collector, run);
    }
    let width = rows.keys().map(|(_, name)| name.chars().count()).max().unwrap_or(0);
    let columns = experiment.columns();
    let mut text = format!("\n{:width$}", "seconds of one run");
    for collector in &columns {
        text.push_str(&format!("  {collector:>9}"));
    }
    text.push('\n');
    for ((_, name), row) in &rows {
        text.push_str(&format!("{name:width$}"));
        for collector in &columns {
            let cell = match row.get(collector).map(|run| estimator.seconds(run)) {
                Some(Some(seconds)) => format!("{seconds:.3}"),
                Some(None) => "?".to_owned(),
                None => "–".to_owned(),
            };
            let wide = collector.chars().count().max(9);
            text.push_str(&format!("  {cell:>wide$}"));
        }
        text.push('\n');
    }
    text
}

/// The places of workloads and settings in the file. The order of the plan is random.
struct Places<'e> {
    works: HashMap<(&'e str, &'e [String]), usize>,
    /// Of each axis, its flag and the places of its values.
    axes: Vec<(&'e str, HashMap<&'e str, usize>)>,
    heap: &'e [f64],
}

impl<'e> Places<'e> {
    fn of(experiment: &'e Experiment, axes: &'e [Axis<String>]) -> Places<'e> {
        let places = |axis: &'e Axis<String>| axis.values.iter().map(String::as_str).zip(0..).collect();
        Places {
            works: experiment.works().into_iter().zip(0..).collect(),
            axes: axes.iter().map(|axis| (axis.flag, places(axis))).collect(),
            heap: &experiment.heap,
        }
    }

    /// The place of a run's workload, of its value on each axis, and of its multiple of the heap.
    fn place(&self, run: &PlannedRun) -> Vec<usize> {
        let work = self.works.get(&(run.workload.as_str(), run.args.as_slice())).copied();
        let axes = self
            .axes
            .iter()
            .map(|(flag, values)| values.get(run.flags.get(*flag)?.as_str()).copied());
        let heap = self
            .heap
            .iter()
            .position(|multiple| Some(*multiple) == run.heap_multiple);
        let places = [work].into_iter().chain(axes).chain([heap]);
        places.map(|place| place.unwrap_or(usize::MAX)).collect()
    }
}

fn swept(experiment: &Experiment, name: &str) -> bool {
    experiment.axes().iter().any(|axis| axis.flag == name)
}

/// The number of runs, and the time that they will take.
fn size_and_time(
    experiment: &Experiment,
    manifest: &Manifest,
    estimator: &Estimator,
    source: Option<String>,
) -> String {
    let runs = manifest.plan.len();
    let estimate = match (estimator.estimate(&Left::of(&manifest.plan)), source) {
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
    let count = |is: fn(Purpose<'_>) -> bool| manifest.plan.iter().filter(|run| is(run.purpose())).count();
    let timed = count(|purpose| purpose.is_timed());
    let untimed = [
        (
            count(|purpose| matches!(purpose, Purpose::HeapProfile(_))),
            "heap profile",
        ),
        (count(|purpose| purpose == Purpose::EventLog), "event log"),
    ];
    let untimed = untimed.iter().filter(|(number, _)| *number > 0);
    let and_untimed: Vec<String> = untimed
        .map(|(number, name)| format!(", and {}", counted(*number, name)))
        .collect();
    let and_untimed = and_untimed.concat();
    format!(
        "{} in {} ({ORDER}){and_untimed}: {estimate}; at most {} by the time limit of {}",
        counted(timed, "run"),
        counted(experiment.repeat as usize, "round"),
        duration(most),
        duration(experiment.timeout)
    )
}
