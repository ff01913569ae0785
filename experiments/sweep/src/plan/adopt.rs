//! The runs of an experiment in the plan of a folder, which may have a different order and come
//! from another gclab.
//!
//! A run is found by its id, that is, by everything that affects its result. Another build has
//! other ids for the same runs. They are recomputed as that build would have, so that only the
//! build may differ.

use std::collections::HashMap;
use std::sync::Arc;

use gclab_results::{Manifest, PlannedRun};

use super::fingerprint::Fingerprints;
use crate::program::Program;
use crate::run::Run;

/// The text of the hash of a gclab whose file could not be read.
const UNKNOWN: &str = "unknown";

/// The runs by the plan of a folder. `None` if it is not a plan of these runs.
pub fn adopt(runs: &[Run], found: &Manifest) -> Option<Vec<Run>> {
    if runs.len() != found.plan.len() {
        return None;
    }
    paired(runs, &found.plan, by_id)
        .or_else(|| paired(&as_by(runs, found.build.executable.as_deref()), &found.plan, by_id))
}

/// Why the runs of a folder with the same configurations differ. `None` if they are the same, or if
/// the configurations differ.
pub(crate) fn why_other(runs: &[Run], found: &Manifest) -> Option<&'static str> {
    if runs.len() != found.plan.len() || adopt(runs, found).is_some() {
        return None;
    }
    paired(runs, &found.plan, by_cell)?;
    if adopt(&with_other_counters(runs), found).is_none() {
        return Some("something else that affects results differs, such as `prepare` or the file of a program");
    }
    Some(
        if runs
            .iter()
            .any(|run| run.program.own.as_ref().is_some_and(|own| own.pause_counters))
        {
            "its runs have no counters at pauses, and with `pause_counters = true` they are other runs, which take longer"
        } else {
            "its runs read counters at pauses (`pause_counters = true`), and without them they are other runs"
        },
    )
}

/// The runs of workloads with counters at pauses if these have none, and the other way round.
fn with_other_counters(runs: &[Run]) -> Vec<Run> {
    let other = |run: &Run| {
        let mut program = Program::clone(&run.program);
        if let Some(own) = &mut program.own {
            own.pause_counters = !own.pause_counters;
        }
        Run {
            program: Arc::new(program),
            ..run.clone()
        }
    };
    runs.iter().map(other).collect()
}

/// The runs as `found` has them, if each has a partner of the same identity.
fn paired(runs: &[Run], found: &[PlannedRun], identity: fn(&PlannedRun) -> String) -> Option<Vec<Run>> {
    let mut mine: HashMap<String, &Run> = runs.iter().map(|run| (identity(&run.planned), run)).collect();
    let adopted = found.iter().map(|planned| {
        let run = mine.remove(&identity(planned))?;
        Some(Run {
            planned: planned.clone(),
            ..run.clone()
        })
    });
    adopted.collect()
}

/// The runs with the ids that the gclab with this hash would give them.
fn as_by(runs: &[Run], executable: Option<&str>) -> Vec<Run> {
    let fingerprints = Fingerprints::of_executable(executable.unwrap_or(UNKNOWN));
    let mut known: HashMap<&str, String> = HashMap::new();
    let renamed = runs.iter().map(|run| {
        let mine = run.planned.id.rsplit_once('-').map_or("", |(mine, _)| mine);
        // A size of the heap is known once there is a folder.
        let theirs = known
            .entry(mine)
            .or_insert_with(|| fingerprints.of(&run.combination(), None));
        Run {
            planned: run.planned.clone().with_fingerprint(theirs),
            ..run.clone()
        }
    });
    renamed.collect()
}

/// The identity of a planned run among those of one build.
fn by_id(run: &PlannedRun) -> String {
    labelled(&run.id, run)
}

/// The identity of a planned run among those of all builds.
fn by_cell(run: &PlannedRun) -> String {
    let number = run.id.rsplit_once('-').map_or("", |(_, number)| number);
    labelled(&format!("{}-{number}", run.cell), run)
}

fn labelled(id: &str, run: &PlannedRun) -> String {
    let heap = run.heap_multiple.map(|multiple| multiple.to_string());
    let heap = heap.unwrap_or_default();
    format!("{id} {heap} {}", run.profile_flags.as_deref().unwrap_or_default())
}
