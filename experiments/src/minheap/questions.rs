//! The questions of a command line: a workload under collectors, or a program under its runtime.

use std::process::ExitCode;

use gclab_core::config::HeapHint;
use gclab_flags::{ENVIRONMENT, Flags};
use gclab_sweep::minheap::{Found, SearchError, reference};
use gclab_sweep::registry::Registry;
use gclab_sweep::run::Combination;
use gclab_sweep::runner::preflight::preflight;
use gclab_sweep::runner::stop::Stop;
use gclab_sweep::runtime::gclab;
use gclab_sweep::tell;

use super::arguments::Arguments;
use crate::common::{self, ended_by, refuse};
use crate::given::{notes, with_defaults};
use crate::own_program;
use crate::settings::Settings;

/// An `-M` to check flags that need one. No machine has that much memory, so it conflicts with no
/// other flag.
const SOME_LIMIT: &str = "-M1t";

/// A question with its result.
pub(super) type Outcome = (Combination, Result<Found, SearchError>);

/// The questions of a workload: one for each collector.
///
/// # Errors
/// A message if a name, an argument or a flag is invalid.
pub(super) fn of_workload(
    name: &str,
    arguments: &Arguments,
    words: &[String],
    registry: &Registry,
    settings: &Settings,
) -> Result<Vec<Combination>, String> {
    let workload = common::workload(name, registry)?;
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
                "minheap chooses -M itself: leave out -M, and -H with a size, here and in {ENVIRONMENT} (--no-M and --no-H cancel them)"
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
            // The collector's own number of generations is not a flag.
            if !fitted.given.contains_key("G") {
                fitted.config.generations = flags.config.generations;
            }
            without_limit(fitted)?
        };
        let question = Combination::of_workload(workload.name, &arguments.args, collector.name, gclab::setting(&flags));
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
            "{word} has no use in a search: use it with `gclab exec` and the -M found"
        )),
    }
}

/// The question for the command after `--`. Its program must exist, and its runtime must accept a
/// limit.
///
/// # Errors
/// The exit status, after the message about the first fault.
pub(super) fn of_program(
    arguments: &Arguments,
    registry: &Registry,
    stop: &Stop,
) -> Result<Vec<Combination>, ExitCode> {
    let mut experiment = own_program::of_command(&arguments.command, arguments.runtime.as_deref(), registry)?;
    for entry in experiment.programs() {
        let runtime = entry.program.runtime;
        let sizes = runtime.flags().iter().filter_map(|flag| flag.read("1g"));
        let mut sizes = sizes.filter(|flag| runtime.is_size(flag));
        if let Some(word) = sizes.find_map(|flag| entry.program.overriding(&flag)) {
            return Err(refuse(format!(
                "minheap chooses the {} of the program itself: leave out {word}",
                runtime.limit()
            )));
        }
    }
    // Makes the runtime check the limit before the first run.
    experiment.heap = vec![1.0];
    let looked = preflight(&mut experiment, stop);
    if let Some(signal) = stop.signal() {
        return Err(ended_by(signal));
    }
    looked
        .map_err(refuse)?
        .iter()
        .for_each(|note| tell!("gclab: note: {note}"));
    Ok(reference::questions(&experiment))
}
