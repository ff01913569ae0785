//! Checks the builds of an experiment before its first run: whether each is a gclab with the file's
//! collectors, workloads and counters.

use std::process::Command;
use std::time::Duration;

use gclab_flags::{ENVIRONMENT, GHC_ENVIRONMENT, OCAML_ENVIRONMENT};

use super::child::{self, End, Limits};
use super::stop::Stop;
use crate::build::Build;
use crate::experiment::Experiment;
use crate::runtime::gclab::PAUSE_COUNTERS;
use crate::suggest::suggest;
use gclab_results::path_name;

/// A gclab that prints its lists needs no more time than this.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Looks at each build of `experiment`.
///
/// # Errors
/// A message about the first build that is not gclab, or lacks a collector, a workload, or the
/// counters at pauses that the file asks for.
pub fn look_at_builds(experiment: &Experiment, stop: &Stop) -> Result<(), String> {
    for build in &experiment.builds {
        let version = output(build, &["--version"], stop)?;
        if !version.starts_with("gclab ") {
            return Err(format!(
                "`builds`: {} is not gclab: to --version it answers {:?}",
                path_name(&build.file),
                first_line(&version)
            ));
        }
        has_all(build, "collectors", experiment.own().map(|own| &own.collector), stop)?;
        has_all(build, "workloads", experiment.own().map(|own| &own.workload), stop)?;
        if experiment.pause_counters {
            reads_counters(build, stop)?;
        }
    }
    Ok(())
}

/// Checks that the runs of a build can read counters at pauses: an older gclab refuses the option.
fn reads_counters(build: &Build, stop: &Stop) -> Result<(), String> {
    let help = output(build, &["exec", "--help"], stop)?;
    if help.split_whitespace().any(|word| word == PAUSE_COUNTERS) {
        return Ok(());
    }
    Err(format!(
        "`builds`: {} cannot read counters at pauses: its `gclab exec` has no {PAUSE_COUNTERS}; \
         take `pause_counters` out of the file, or name a newer build",
        path_name(&build.file)
    ))
}

fn has_all<'n>(build: &Build, kind: &str, names: impl Iterator<Item = &'n String>, stop: &Stop) -> Result<(), String> {
    let text = output(build, &["list", kind, "--json"], stop)?;
    let list: Vec<serde_json::Value> = serde_json::from_str(&text)
        .map_err(|error| format!("`builds`: the list of {kind} of {}: {error}", path_name(&build.file)))?;
    let there: Vec<&str> = list.iter().filter_map(|item| item.get("name")?.as_str()).collect();
    for name in names {
        if !there.contains(&name.as_str()) {
            return Err(format!(
                "`builds`: {} has none of the {kind} called {name}; {}",
                path_name(&build.file),
                suggest(name, kind, &there)
            ));
        }
    }
    Ok(())
}

/// The standard output of a build with these words.
fn output(build: &Build, words: &[&str], stop: &Stop) -> Result<String, String> {
    let mut command = Command::new(&build.file);
    command.args(words);
    command
        .env_remove(ENVIRONMENT)
        .env_remove(OCAML_ENVIRONMENT)
        .env_remove(GHC_ENVIRONMENT);
    let limits = Limits {
        timeout: TIMEOUT,
        ..Limits::default()
    };
    let failed = |reason: String| {
        let file = path_name(&build.file);
        format!("`builds`: {file} is not gclab: {file} {} {reason}", words.join(" "))
    };
    let finished =
        child::run(command, None, limits, stop).map_err(|error| failed(format!("does not start: {error}")))?;
    match finished.end {
        End::Exit(0) => Ok(finished.stdout),
        End::Exit(status) => Err(failed(format!(
            "ends with exit status {status}: {}",
            first_line(&finished.stderr_tail())
        ))),
        End::Signal(signal) => Err(failed(format!("is ended by signal {signal}"))),
        End::Timeout | End::Interrupted => Err(failed("does not end".to_owned())),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
