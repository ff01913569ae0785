//! `gclab minheap`: the least memory with which a workload completes, for one, several or all
//! collectors, or a program under its runtime. An interrupted search continues where it stopped.

mod json;
mod questions;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args as ClapArgs;
use gclab_results::probe::reference;
use gclab_results::shell_line;
use gclab_sweep::minheap::progress::Progress;
use gclab_sweep::minheap::{Found, LEAST_PATIENCE, RUNS, SearchError, TOLERANCE, Tools, find, store};
use gclab_sweep::registry::Registry;
use gclab_sweep::run::Combination;
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::spec::parse_duration;
use gclab_sweep::{machine, tell};

use crate::common::{ended_by, fail, fraction, print, refuse};
use crate::settings::Settings;

/// Find the least memory with which a workload or a program completes, by bisection; continues
/// where it stopped
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Flags of the runs stand between +RTS and -RTS, and in GCLABRTS. A program of your own has the limit of its runtime: -M, -Xmx, or one of its address space. Every probe is kept in results/minheap/ and never repeated."
)]
pub(crate) struct Arguments {
    /// The workload; `gclab list workloads` shows them
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    workload: Option<String>,
    /// Its arguments; `-`, or leaving out the last ones, takes the default
    #[arg(allow_hyphen_values = false)]
    args: Vec<String>,
    /// A program of your own; every word after `--` is its command's
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// A collector; repeat it for several [default: all that honour the flags]
    #[arg(long = "collector", value_name = "NAME", conflicts_with = "command")]
    collectors: Vec<String>,
    /// The runtime of the program (ghc, ocaml, jvm, none) [default: told from its file]
    #[arg(long, value_name = "NAME", requires = "command")]
    runtime: Option<String>,
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

/// The result of one collector.
type Outcome = (Combination, Result<Found, SearchError>);

pub(crate) fn minheap(arguments: &Arguments, words: &[String], registry: &Registry, settings: &Settings) -> ExitCode {
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return fail(format!("cannot listen for signals: {error}")),
    };
    let questions = match &arguments.workload {
        Some(name) => questions::of_workload(name, arguments, words, registry, settings).map_err(refuse),
        None if !words.is_empty() => Err(refuse(
            "flags between +RTS and -RTS before `--` are for gclab's workloads: those of a program stand behind it",
        )),
        None => questions::of_program(arguments, registry, &stop),
    };
    let questions = match questions {
        Ok(questions) => questions,
        Err(code) => return code,
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
        outcomes.push((question, result));
    }
    progress.end();
    report(arguments, &tools, &outcomes)
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
    let mut words = vec!["gclab".to_owned(), "minheap".to_owned()];
    words.extend(arguments.workload.iter().cloned());
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
    if !arguments.command.is_empty() {
        words.extend(arguments.runtime.iter().map(|runtime| format!("--runtime={runtime}")));
        words.push("--".to_owned());
        words.extend(arguments.command.iter().cloned());
    }
    words
}

fn report(arguments: &Arguments, tools: &Tools<'_>, outcomes: &[Outcome]) -> ExitCode {
    let minima = outcomes.iter().filter_map(|(_, result)| result.as_ref().ok());
    let least = reference(minima.map(|found| &found.minimum));
    let printed = if arguments.json {
        print(&format!("{:#}\n", json::result(arguments, tools, outcomes, least)))
    } else {
        print(&table::result(outcomes, least))
    };
    let mut complaints: Vec<String> = Vec::new();
    for (question, result) in outcomes {
        match result {
            Err(error) => complaints.push(format!("{}: {error}", question.configuration().collector)),
            Ok(found) if found.minimum.minimum_bytes.is_none() => {
                complaints.push(format!(
                    "{}: {}",
                    question.configuration().collector,
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
    let sums = outcomes.iter().filter_map(|(question, result)| {
        Some((
            &question.configuration().collector,
            result.as_ref().ok()?.checksum.as_ref()?,
        ))
    });
    let (first, sum) = sums.clone().next()?;
    let (other, wrong) = sums.clone().find(|(_, other)| *other != sum)?;
    Some(format!(
        "WRONG RESULTS: checksum {sum} under {first}, {wrong} under {other}"
    ))
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
