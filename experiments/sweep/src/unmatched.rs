//! Patterns of `stats` that no run matches: a slip that would only show as a missing column.

use gclab_results::{Program, ResultsDir, RunRecord};

/// A note for each figure of `stats` that no run of its program has, if the program has runs that
/// ended well.
pub fn unmatched(dir: &ResultsDir) -> Vec<String> {
    let programs = dir.manifest().programs.iter();
    let notes = programs.flat_map(|program| {
        let runs = dir.runs().iter();
        let runs: Vec<&RunRecord> = runs
            .filter(|run| run.program.as_ref() == Some(&program.id) && run.outcome.is_ok())
            .collect();
        let missing = program
            .stats
            .keys()
            .filter(|name| !runs.is_empty() && !runs.iter().any(|run| has(run, name)));
        missing.map(|name| note(program, name)).collect::<Vec<_>>()
    });
    let mut notes: Vec<String> = notes.collect();
    // The variants of a program have one name.
    notes.dedup();
    notes
}

/// Whether a run has a figure, or says why it has not.
fn has(run: &RunRecord, name: &str) -> bool {
    let said = format!("`{name}` of `stats` is ");
    if run.notes.iter().any(|note| note.starts_with(&said)) {
        return true;
    }
    let apart = run.figures.as_ref().is_some_and(|figures| figures.contains_key(name));
    apart || run.stats.as_ref().is_some_and(|stats| has_figure(stats, name))
}

/// Whether statistics have the number of this name.
fn has_figure(stats: &gclab_results::RunStats, name: &str) -> bool {
    serde_json::to_value(stats).is_ok_and(|all| !all[name].is_null())
}

fn note(program: &Program, name: &str) -> String {
    format!(
        "program {}: `{name}` of `stats` matches in the output of none of its runs: {}",
        program.name, program.stats[name]
    )
}
