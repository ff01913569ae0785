//! `gclab minheap`: the least `-M` with which a workload completes, for one, several or all
//! collectors. An interrupted search continues where it stopped.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args as ClapArgs;
use gclab_core::config::HeapHint;
use gclab_flags::{ENVIRONMENT, Flags};
use gclab_results::probe::reference;
use gclab_results::{Configuration, Status, shell_line};
use gclab_sweep::minheap::progress::{Progress, outcome};
use gclab_sweep::minheap::{Found, LEAST_PATIENCE, RUNS, SearchError, TOLERANCE, Tools, find, store};
use gclab_sweep::registry::Registry;
use gclab_sweep::run::Combination;
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::spec::parse_duration;
use gclab_sweep::text::mebibytes;
use gclab_sweep::{machine, tell};
use serde_json::{Value, json};

use crate::common::{self, ended_by, fail, fraction, print, refuse};
use crate::given::{notes, with_defaults};
use crate::settings::Settings;

/// Find the least -M with which a workload completes, by bisection; continues where it stopped
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Flags of the runs stand between +RTS and -RTS, and in GCLABRTS. Every probe is kept in results/minheap/ and never repeated."
)]
pub(crate) struct Arguments {
    /// The workload; `gclab list workloads` shows them
    workload: String,
    /// Its arguments; `-`, or leaving out the last ones, takes the default
    #[arg(allow_hyphen_values = false)]
    args: Vec<String>,
    /// A collector; repeat it for several [default: all that honour the flags]
    #[arg(long = "collector", value_name = "NAME")]
    collectors: Vec<String>,
    /// Relative error of the result: 1% or 0.01; never finer than a megablock, 1 MiB
    #[arg(long, value_name = "FRACTION", default_value_t = Tolerance(TOLERANCE))]
    tolerance: Tolerance,
    /// Number of runs that must complete
    #[arg(long, value_name = "K", default_value_t = RUNS, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Time limit of the first run, which has the memory of the machine: 300s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = timeout)]
    timeout: Duration,
    /// Forget earlier probes
    #[arg(long)]
    fresh: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// A fraction, written in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tolerance(f64);

impl std::str::FromStr for Tolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Tolerance, String> {
        fraction(text)
            .filter(|fraction| (0.0..=1.0).contains(fraction))
            .map(Tolerance)
            .ok_or_else(|| "expected a fraction between 0 and 1, such as 1% or 0.01".into())
    }
}

impl std::fmt::Display for Tolerance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}%", self.0 * 100.0)
    }
}

fn timeout(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "expected a time such as 300s, 5m or 1h, at most 1000h".into())
}

/// An `-M` for checks of flags that need one. No machine has so much memory, so it contradicts no
/// other flag.
const SOME_LIMIT: &str = "-M1t";

/// The result of one collector.
type Outcome = (Configuration, Result<Found, SearchError>);

pub(crate) fn minheap(arguments: &Arguments, words: &[String], registry: &Registry, settings: &Settings) -> ExitCode {
    let questions = match questions(arguments, words, registry, settings) {
        Ok(questions) => questions,
        Err(message) => return refuse(message),
    };
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return fail(format!("cannot listen for signals: {error}")),
    };
    let tools = Tools {
        root: store::ROOT.into(),
        program: Path::new(machine::THIS_PROGRAM),
        executable: machine::executable(),
        timeout: arguments.timeout,
        least_patience: LEAST_PATIENCE,
        tolerance: arguments.tolerance.0,
        runs: arguments.runs,
        fresh: arguments.fresh,
        stop: &stop,
    };
    let mut progress = Progress::begin(questions.len());
    let mut outcomes: Vec<Outcome> = Vec::new();
    for question in questions {
        let result = find(&question, &tools, &mut progress);
        if let Err(error) = &result
            && !matches!(error, SearchError::Failed(..))
        {
            progress.end();
            return stopped(error, arguments, words, &progress);
        }
        progress.found();
        outcomes.push((question.configuration().clone(), result));
    }
    progress.end();
    report(arguments, &tools, &outcomes)
}

/// One question for each collector.
fn questions(
    arguments: &Arguments,
    words: &[String],
    registry: &Registry,
    settings: &Settings,
) -> Result<Vec<Combination>, String> {
    let workload = common::workload(&arguments.workload, registry)?;
    common::arguments(workload, &arguments.args)?;
    // The runs will have an -M, and some flags need one. Any other -M overrides this one.
    let given = with_defaults(&format!("{} {SOME_LIMIT}", settings.with_rtsopts), words, settings)?;
    let without_limit = |mut flags: Flags| -> Result<Flags, String> {
        let other_limit = flags
            .to_words()
            .iter()
            .any(|word| word.starts_with("-M") && word != SOME_LIMIT);
        if other_limit || matches!(flags.config.heap_hint, HeapHint::Size(_)) {
            return Err(format!(
                "minheap chooses -M itself: leave out -M, and -H with a size, here and in {ENVIRONMENT} (--no-M and --no-H take them back)"
            ));
        }
        flags.config.max_heap = None;
        Ok(flags)
    };
    let flags = without_limit(given.flags().clone())?;
    let mut questions: Vec<Combination> = Vec::new();
    let mut refusals = Vec::new();
    let all = registry.collector_names();
    let named: Vec<&str> = arguments.collectors.iter().map(String::as_str).collect();
    for name in if named.is_empty() { &all } else { &named } {
        let collector = common::collector(name, registry)?;
        let flags = if named.is_empty() {
            match registry.fit(collector, &flags) {
                Ok(_) => flags.clone(),
                Err(error) => {
                    refusals.push(error.to_string());
                    continue;
                }
            }
        } else {
            let fitted = given.fit(collector, &registry.collectors);
            let (mut fitted, overridden) = fitted.map_err(|error| error.to_string())?;
            notes(&overridden);
            // The collector's own number of generations is no flag.
            if !fitted.given.contains("G") {
                fitted.config.generations = flags.config.generations;
            }
            without_limit(fitted)?
        };
        let question = Combination::new(workload.name, &arguments.args, collector.name, flags.as_toml());
        kept(&question, &flags)?;
        if !questions.contains(&question) {
            questions.push(question);
        }
    }
    if questions.is_empty() {
        return Err(format!("no collector honours these flags: {}", refusals.join("; ")));
    }
    refusals
        .iter()
        .for_each(|refusal| tell!("gclab: note: left out: {refusal}"));
    Ok(questions)
}

/// Checks that the runs get all flags: a flag that asks for output has no name in a plan.
fn kept(question: &Combination, flags: &Flags) -> Result<(), String> {
    let kept = question.flags().to_words();
    match flags.to_words().into_iter().find(|word| !kept.contains(word)) {
        None => Ok(()),
        Some(word) => Err(format!(
            "{word} is of no use in a search: use it with `gclab exec` and the -M that was found"
        )),
    }
}

fn stopped(error: &SearchError, arguments: &Arguments, words: &[String], progress: &Progress) -> ExitCode {
    let SearchError::Stopped(signal) = error else {
        return fail(error);
    };
    tell!(
        "\ngclab: stopped by signal {signal}; all {} probes are kept. To continue:\n  {}",
        progress.probes(),
        shell_line(&again(arguments, words))
    );
    ended_by(*signal)
}

/// The command that continues the search: this one without `--fresh`.
fn again(arguments: &Arguments, rts: &[String]) -> Vec<String> {
    let mut words = vec!["gclab".to_owned(), "minheap".to_owned(), arguments.workload.clone()];
    words.extend(arguments.args.iter().cloned());
    for collector in &arguments.collectors {
        words.extend(["--collector".to_owned(), collector.clone()]);
    }
    if arguments.tolerance.0 != TOLERANCE {
        words.extend(["--tolerance".to_owned(), arguments.tolerance.to_string()]);
    }
    if arguments.runs != RUNS {
        words.extend(["--runs".to_owned(), arguments.runs.to_string()]);
    }
    if arguments.json {
        words.push("--json".to_owned());
    }
    if !rts.is_empty() {
        words.push("+RTS".to_owned());
        words.extend(rts.iter().cloned());
    }
    words
}

fn report(arguments: &Arguments, tools: &Tools<'_>, outcomes: &[Outcome]) -> ExitCode {
    let minima = outcomes.iter().filter_map(|(_, result)| result.as_ref().ok());
    let least = reference(minima.map(|found| &found.minimum));
    let printed = if arguments.json {
        print(&format!("{:#}\n", as_json(arguments, tools, outcomes, least)))
    } else {
        print(&table(outcomes, least))
    };
    let mut complaints: Vec<String> = Vec::new();
    for (question, result) in outcomes {
        match result {
            Err(error) => complaints.push(format!("{}: {error}", question.collector)),
            Ok(found) if found.minimum.minimum_bytes.is_none() => {
                complaints.push(format!(
                    "{}: {}",
                    question.collector,
                    found.minimum.note.as_deref().unwrap_or_default()
                ));
            }
            Ok(_) => {}
        }
    }
    complaints.extend(disagreement(outcomes));
    complaints.iter().for_each(|complaint| tell!("gclab: {complaint}"));
    if complaints.is_empty() {
        printed
    } else {
        ExitCode::FAILURE
    }
}

/// A message, if two collectors have different checksums.
fn disagreement(outcomes: &[Outcome]) -> Option<String> {
    let sums = outcomes
        .iter()
        .filter_map(|(question, result)| Some((&question.collector, result.as_ref().ok()?.checksum.as_ref()?)));
    let (first, sum) = sums.clone().next()?;
    let (other, wrong) = sums.clone().find(|(_, other)| *other != sum)?;
    Some(format!(
        "WRONG RESULTS: checksum {sum} under {first}, {wrong} under {other}"
    ))
}

fn table(outcomes: &[Outcome], least: Option<u64>) -> String {
    let header = [
        "collector",
        "least -M",
        "over the least",
        "below that",
        "time",
        "without -M",
        "probes",
    ]
    .map(str::to_owned);
    let mut rows = vec![header];
    let mut notes = String::new();
    for (question, result) in outcomes {
        rows.push(row(question, result, least));
        if let Ok(Found { minimum, .. }) = result
            && let (Some(note), Some(_)) = (&minimum.note, minimum.minimum_bytes)
        {
            notes.push_str(&format!("{}: {note}\n", question.collector));
        }
    }
    let (question, _) = &outcomes[0];
    let flags: String = question
        .flags
        .iter()
        .map(|(name, value)| format!(" {name}={value}"))
        .collect();
    let mut text = format!("{}{flags}\n", question.work());
    text.push_str(&columns(&rows));
    text.push_str(&notes);
    let holders = |bytes| {
        let at = outcomes.iter().filter(|(_, result)| {
            result
                .as_ref()
                .is_ok_and(|found| found.minimum.minimum_bytes == Some(bytes))
        });
        at.map(|(question, _)| question.collector.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match least {
        Some(bytes) => text.push_str(&format!(
            "reference minimum: {} ({bytes} bytes), of {}\n",
            mebibytes(bytes),
            holders(bytes)
        )),
        None => text.push_str("no reference minimum: it completes under none of them\n"),
    }
    text
}

fn row(question: &Configuration, result: &Result<Found, SearchError>, least: Option<u64>) -> [String; 7] {
    let none = || "–".to_owned();
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    let name = question.collector.clone();
    match result {
        Err(error) => [name, error.note(), none(), none(), none(), none(), none()],
        Ok(Found {
            minimum,
            generous,
            wall,
            below,
            ..
        }) => [
            name,
            minimum.minimum_bytes.map_or_else(|| "none".to_owned(), mebibytes),
            minimum
                .minimum_bytes
                .zip(least)
                .map_or_else(none, |(mine, least)| format!("{:.2}", mine as f64 / least as f64)),
            minimum
                .too_small_bytes
                .zip(below.as_ref())
                .map_or_else(none, |(bytes, status)| {
                    format!("{}: {}", mebibytes(bytes), outcome(status))
                }),
            wall.map_or_else(none, seconds),
            seconds(*generous),
            minimum.probes.to_string(),
        ],
    }
}

/// Columns as wide as their cells. A row whose cells are dashes from the third on ends before
/// them, and its text may be wider than the second column.
fn columns(rows: &[[String; 7]]) -> String {
    let long = |row: &[String; 7]| row[2..].iter().all(|cell| cell == "–");
    let width = |column: usize| {
        let fitting = rows.iter().filter(|row| column == 0 || !long(row));
        fitting.map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let cells = if long(row) { &row[..2] } else { &row[..] };
        let line: Vec<String> = cells
            .iter()
            .enumerate()
            .map(|(column, cell)| format!("{cell:0$}", width(column)))
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn as_json(arguments: &Arguments, tools: &Tools<'_>, outcomes: &[Outcome], least: Option<u64>) -> Value {
    let collectors: Vec<Value> = outcomes
        .iter()
        .map(|(question, result)| {
            let probes = store::folder(&tools.root, question, &tools.executable);
            match result {
                Err(error) => json!({ "collector": question.collector, "minimum_bytes": null, "failure": error.note(), "folder": probes }),
                Ok(found) => json!({
                    "collector": question.collector,
                    "minimum_bytes": found.minimum.minimum_bytes,
                    "multiple": found.minimum.minimum_bytes.zip(least).map(|(mine, least)| mine as f64 / least as f64),
                    "too_small_bytes": found.minimum.too_small_bytes,
                    "too_small_because": found.below.as_ref().map(Status::kind).map(|kind| if kind == "timeout" { "thrashing" } else { kind }),
                    "wall_seconds": found.wall.map(|time| time.as_secs_f64()),
                    "generous_wall_seconds": found.generous.as_secs_f64(),
                    "probes": found.minimum.probes,
                    "note": found.minimum.note,
                    "folder": probes,
                }),
            }
        })
        .collect();
    let (question, _) = &outcomes[0];
    json!({
        "workload": question.workload,
        "args": question.args,
        "flags": question.flags,
        "tolerance": arguments.tolerance.0,
        "runs": arguments.runs,
        "executable": tools.executable,
        "reference_bytes": least,
        "collectors": collectors,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances() {
        let parse = |text: &str| text.parse::<Tolerance>();
        assert_eq!(
            (parse("1%"), parse("0.05"), parse("0")),
            (Ok(Tolerance(0.01)), Ok(Tolerance(0.05)), Ok(Tolerance(0.0)))
        );
        for wrong in ["", "%", "-1%", "x", "NaN", "101%", "2"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Tolerance(TOLERANCE).to_string(), "1%");
    }
}
