//! The checks of `gclab run`: whether the machine is fit to measure on, before the first run and
//! during each. They warn; with `--strict` they refuse.

use std::process::ExitCode;

use gclab_results::{Machine, Manifest, ResultsDir, path_name};
use gclab_sweep::environment::{self, Disturbance, Finding, Root};
use gclab_sweep::experiment::Experiment;
use gclab_sweep::folder::Folder;
use gclab_sweep::runner::Environment;
use gclab_sweep::tell;

use crate::common::refuse;
use crate::run_arguments::Arguments;

/// The findings before the first run of `experiment` on the machine whose files lie below `root`.
pub(crate) fn before(experiment: &Experiment, root: &Root) -> Vec<Finding> {
    let machine = environment::machine(root);
    let mut found = environment::findings_on_threads(&machine, threads(experiment));
    found.extend(environment::findings(root, &machine));
    found
}

/// The largest number of threads in a run of the experiment.
fn threads(experiment: &Experiment) -> u32 {
    let fixed = experiment.own().filter_map(|entry| entry.flags.get("N"));
    let fixed = fixed.map(|value| value.text().to_owned());
    let swept = experiment.axes().into_iter().filter(|axis| axis.flag == "N");
    let all = fixed.chain(swept.flat_map(|axis| axis.values));
    all.filter_map(|text| text.parse().ok()).max().unwrap_or(1)
}

/// Prints the findings that a user can do something about.
///
/// # Errors
/// The exit status, after the findings, if there is one and the sweep is strict.
pub(crate) fn tell(found: &[Finding], arguments: &Arguments) -> Result<(), ExitCode> {
    let serious: Vec<String> = found.iter().filter(|one| one.strict).map(Finding::text).collect();
    if arguments.strict && !serious.is_empty() {
        return Err(refuse(format!(
            "--strict: this machine is not fit to measure on now:\n  {}",
            serious.join("\n  ")
        )));
    }
    serious.iter().for_each(|text| tell!("gclab: note: {text}"));
    Ok(())
}

/// Writes the findings that the manifest does not have to its warnings.
pub(crate) fn warn(manifest: &mut Manifest, found: &[Finding]) {
    let warnings = &mut manifest.machine.warnings;
    let new: Vec<String> = found
        .iter()
        .map(Finding::text)
        .filter(|text| !warnings.contains(text))
        .collect();
    warnings.extend(new);
}

/// The environment of a sweep in `folder` on the machine `here`, with a note on what has changed
/// since the folder was started.
///
/// # Errors
/// The exit status, after a message, if anything has changed, the sweep is strict, and runs are
/// missing.
pub(crate) fn changes(
    folder: &Folder,
    here: &Machine,
    arguments: &Arguments,
    root: &Root,
) -> Result<Environment, ExitCode> {
    let changes = environment::changes(&folder.results.manifest().machine, here);
    let complete = folder.results.done() >= folder.runs.len();
    if !changes.is_empty() && !complete {
        let list: Vec<String> = changes
            .iter()
            .map(|(key, value)| format!("{key} is now {value}"))
            .collect();
        let text = format!(
            "{}: it was started on another machine, or this one has changed: {}",
            path_name(folder.results.path()),
            list.join(", ")
        );
        if arguments.strict {
            return Err(refuse(format!("--strict: {text}\n  --fresh begins a new folder")));
        }
        tell!("gclab: note: {text}; the report shows which runs these are, and --fresh begins a new folder");
    }
    Ok(Environment {
        root: root.clone(),
        changes,
        ..Environment::default()
    })
}

/// One message for each check that failed during a run.
pub(crate) fn disturbed(results: &ResultsDir) -> Vec<String> {
    let disturbed_by = |disturbance: &Disturbance| {
        let conditions = results.runs().iter().filter_map(|run| run.conditions.as_ref());
        let checks = conditions.flat_map(|conditions| conditions.disturbances.iter().flatten());
        checks.filter(|name| *name == disturbance.name()).count()
    };
    let during = |disturbance: &Disturbance| {
        let count = disturbed_by(disturbance);
        (count > 0).then(|| {
            let were = if count == 1 { "was" } else { "were" };
            format!(
                "{count} of {} runs {were} disturbed ({disturbance}): {}",
                results.runs().len(),
                disturbance.text()
            )
        })
    };
    Disturbance::ALL.iter().filter_map(during).collect()
}
