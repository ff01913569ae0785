//! The minima that an experiment with `heap` needs before it can be planned: of every configuration, by workload.

use gclab_core::config::LEAST_MAX_HEAP;
use gclab_results::probe::reference;
use gclab_results::{Configuration, Minimum};

use super::progress::Progress;
use super::{Found, Halt, Tools, find, known, size};
use crate::experiment::Spec;
use crate::plan;

/// What is to be searched: every configuration of the experiment, without `-M`.
pub fn questions(spec: &Spec) -> Vec<Configuration> {
    plan::configurations(spec)
}

/// The minima of an experiment. A configuration that never completes, or crashes, has none, and a note that says so: its runs will show it.
///
/// # Errors
/// When a stop was asked for, or a file or process could not be had.
pub fn find_all(questions: &[Configuration], tools: &Tools<'_>, progress: &mut Progress) -> Result<Vec<Minimum>, Halt> {
    let mut minima = Vec::new();
    for question in questions {
        minima.push(match find(question, tools, progress) {
            Ok(Found { minimum, .. }) => minimum,
            Err(halt @ Halt::Failed(..)) => {
                tell!("gclab: {question}: no least heap: {halt}");
                Minimum {
                    collector: question.collector.clone(),
                    workload: question.workload.clone(),
                    args: question.args.clone(),
                    flags: question.flags.clone(),
                    note: Some(halt.note()),
                    ..Minimum::default()
                }
            }
            Err(other) => return Err(other),
        });
        progress.found();
    }
    Ok(minima)
}

/// The minima, if all are on disk.
pub fn all_known(questions: &[Configuration], tools: &Tools<'_>) -> Option<Vec<Minimum>> {
    questions.iter().map(|question| known(question, tools)).collect()
}

/// Whether a plan can be made of these minima. They matter to experiments with `heap` only.
///
/// # Errors
/// In words, when a workload has none, or a multiple of it is less than any heap.
pub fn check(spec: &Spec, minima: &[Minimum]) -> Result<(), String> {
    for (workload, args) in spec.workloads.iter().filter(|_| !spec.heap.is_empty()) {
        let mine = || minima.iter().filter(|m| (&m.workload, &m.args) == (workload, args));
        let work = Configuration {
            workload: workload.clone(),
            args: args.clone(),
            ..Configuration::default()
        }
        .work();
        let Some(least) = reference(mine()) else {
            return Err(format!(
                "`heap`: {work} completes under no collector of this experiment, so there is no least heap to multiply"
            ));
        };
        for multiple in &spec.heap {
            let bytes = plan::heap_bytes(*multiple, least);
            if bytes < LEAST_MAX_HEAP.0 as u64 {
                return Err(format!(
                    "`heap`: {multiple} x {} of {work} is less than the least -M, {}: leave {multiple} out, or make the program larger",
                    size(least),
                    size(LEAST_MAX_HEAP.0 as u64)
                ));
            }
        }
    }
    Ok(())
}
