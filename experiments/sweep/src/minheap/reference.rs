//! The minima of all configurations of an experiment with `heap`; its plan needs them.

use gclab_results::{Configuration, Minimum};

use super::progress::Progress;
use super::{Found, SearchError, Tools, find, known};
use crate::experiment::Experiment;
use crate::plan;
use crate::run::Combination;
use crate::text::mebibytes;

/// The questions of an experiment: every combination, without `-M`.
pub fn questions(experiment: &Experiment) -> Vec<Combination> {
    plan::combinations(experiment)
}

/// The minima of an experiment. A configuration that never completes, or that crashes, has no
/// minimum but a note with the reason; its runs will show it.
///
/// # Errors
/// If a signal stops the search, or the system refuses a file or a process.
pub fn find_all(
    questions: &[Combination],
    tools: &Tools<'_>,
    progress: &mut Progress,
) -> Result<Vec<Minimum>, SearchError> {
    let mut minima = Vec::new();
    for question in questions {
        minima.push(match find(question, tools, progress) {
            Ok(Found { minimum, .. }) => minimum,
            Err(error @ SearchError::Failed(..)) => {
                tell!("gclab: {question}: no least heap: {error}");
                Minimum {
                    configuration: question.configuration().clone(),
                    note: Some(error.note()),
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
pub fn all_known(questions: &[Combination], tools: &Tools<'_>) -> Option<Vec<Minimum>> {
    questions.iter().map(|question| known(question, tools)).collect()
}

/// Checks that these minima allow a plan. Only experiments with `heap` need them.
///
/// # Errors
/// A message, if a workload has no minimum, or a multiple of it is smaller than any heap.
pub fn check(experiment: &Experiment, minima: &[Minimum]) -> Result<(), String> {
    if experiment.heap.is_empty() {
        return Ok(());
    }
    let questions = questions(experiment);
    for (workload, args) in experiment.works() {
        let is_mine = |of_workload: &str, of_args: &[String]| (of_workload, of_args) == (workload, args);
        let mine = || minima.iter().filter(|m| is_mine(&m.workload, &m.args));
        let work = Configuration {
            workload: workload.to_owned(),
            args: args.to_owned(),
            ..Configuration::default()
        }
        .work();
        let Some(least) = Minimum::least(mine()) else {
            return Err(format!(
                "`heap`: {work} completes under no collector of this experiment, so there is no least heap to multiply"
            ));
        };
        for multiple in &experiment.heap {
            let bytes = plan::heap_bytes(*multiple, least);
            let of_work = |question: &&Combination| {
                let asked = question.configuration();
                is_mine(&asked.workload, &asked.args)
            };
            for question in questions.iter().filter(of_work) {
                if bytes < question.program().runtime.least_limit() {
                    return Err(format!(
                        "`heap`: {multiple} x {} of {work} is less than the least -M, {}: leave {multiple} out, or make the program larger",
                        mebibytes(least),
                        mebibytes(question.program().runtime.least_limit())
                    ));
                }
                question
                    .with_heap(bytes)
                    .map_err(|error| format!("`heap`: {multiple} x {} of {work}: {error}", mebibytes(least)))?;
            }
        }
    }
    Ok(())
}
