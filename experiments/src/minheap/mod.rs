//! `gclab minheap`: the smallest heap in which a workload completes, for one, several or all
//! collectors, or a program under its runtime. An interrupted search resumes where it stopped.

mod arguments;
mod json;
mod questions;
mod table;

use std::path::Path;
use std::process::ExitCode;

use gclab_results::{Minimum, shell_line};
use gclab_sweep::minheap::progress::Progress;
use gclab_sweep::minheap::{ROOT, SearchError, Tools, find};
use gclab_sweep::registry::Registry;
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::{machine, tell};

pub(crate) use arguments::Arguments;

use crate::common::{ended_by, fail, own_command, print, refuse};
use crate::given::with_letters;
use crate::settings::Settings;
use questions::Outcome;

pub(crate) fn minheap(arguments: &Arguments, words: &[String], registry: &Registry, settings: &Settings) -> ExitCode {
    let words = &with_letters(&arguments.ocaml, words);
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => return fail(format!("cannot listen for signals: {error}")),
    };
    let questions = match &arguments.workload {
        Some(name) => questions::of_workload(name, arguments, words, registry, settings).map_err(refuse),
        None if !words.is_empty() => Err(refuse(
            "flags between +RTS and -RTS before `--` are for gclab's workloads; write the flags of a program after `--`",
        )),
        None => questions::of_program(arguments, registry, &stop),
    };
    let questions = match questions {
        Ok(questions) => questions,
        Err(code) => return code,
    };
    let tools = Tools {
        root: ROOT.into(),
        program: Path::new(machine::THIS_PROGRAM),
        executable: machine::executable(),
        timeout: arguments.timeout,
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
            return stopped(error, &progress);
        }
        progress.found();
        outcomes.push((question, result));
    }
    progress.end();
    report(arguments, &tools, &outcomes)
}

fn stopped(error: &SearchError, progress: &Progress) -> ExitCode {
    let SearchError::Stopped(signal) = error else {
        return if error.is_refusal() { refuse(error) } else { fail(error) };
    };
    tell!(
        "\ngclab: stopped by signal {signal}; all {} probes are kept. To continue:\n  {}",
        progress.probes(),
        shell_line(&own_command())
    );
    ended_by(*signal)
}

fn report(arguments: &Arguments, tools: &Tools<'_>, outcomes: &[Outcome]) -> ExitCode {
    let minima = outcomes.iter().filter_map(|(_, result)| result.as_ref().ok());
    let least = Minimum::least(minima.map(|found| &found.minimum));
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
