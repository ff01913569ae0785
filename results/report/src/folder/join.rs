//! Parts of one plan (`gclab run --shard I/N`), each in a folder of its own, joined for a report.
//!
//! Only parts that can be compared are joined: those of the same experiment, done by the same
//! executable on the same kind of processor. Other folders remain separate. A run that is in two
//! parts (one folder copied into another) counts once.

use super::{MOST_LISTED, Results};
use crate::run::Run;
use gclab_results::Manifest;
use gclab_results::order::Arrange;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Joins the folders with parts of one plan, at the place of the first of them. Other folders are
/// returned as they are.
///
/// The path of several folders is made of theirs (`a + b`).
pub fn put_together(folders: Vec<Results>) -> Vec<Results> {
    let mut groups: Vec<Vec<Results>> = Vec::new();
    for folder in folders {
        match groups
            .iter_mut()
            .find(|group| same_whole(group[0].manifest(), folder.manifest()))
        {
            Some(group) => group.push(folder),
            None => groups.push(vec![folder]),
        }
    }
    groups
        .into_iter()
        .map(|mut group| if group.len() == 1 { group.remove(0) } else { one(group) })
        .collect()
}

/// Whether two folders hold parts of one plan, done by the same program on the same kind of
/// machine.
fn same_whole(a: &Manifest, b: &Manifest) -> bool {
    let key = |m: &Manifest| {
        (
            m.name.clone(),
            m.experiment.clone(),
            m.seed,
            m.order.clone(),
            m.build.executable.clone(),
            m.machine.cpu.clone(),
        )
    };
    // Multiples of different minima are different heaps.
    a.shard.is_some() && b.shard.is_some() && key(a) == key(b) && a.minima == b.minima
}

fn one(parts: Vec<Results>) -> Results {
    let names: Vec<String> = parts.iter().map(|part| part.path.display().to_string()).collect();
    let mut manifest = parts[0].manifest.clone();
    let shards: BTreeSet<&str> = parts.iter().filter_map(|part| part.manifest.shard.as_deref()).collect();
    manifest.shard = Some(shards.into_iter().collect::<Vec<_>>().join(" and "));
    manifest.started = parts
        .iter()
        .map(|part| part.manifest.started.clone())
        .min()
        .unwrap_or_default();
    let mut joined = Results {
        path: PathBuf::from(names.join(" + ")),
        folders: Vec::new(),
        manifest,
        first_planned: Vec::new(),
        planned: Vec::new(),
        runs: Vec::new(),
        profiled: Vec::new(),
        logged: Vec::new(),
        torn: None,
    };
    for part in parts {
        joined.folders.extend(part.folders);
        joined.first_planned.extend(part.first_planned);
        joined.planned.extend(part.planned);
        joined.runs.extend(part.runs);
        joined.profiled.extend(part.profiled);
        joined.logged.extend(part.logged);
    }
    joined.first_planned.arrange_by_key(|run| run.position);
    joined.first_planned.dedup();
    joined.first_planned.truncate(MOST_LISTED);
    joined.planned.sort_unstable();
    joined.planned.dedup();
    each_once(&mut joined.runs, |run| run);
    each_once(&mut joined.profiled, |one| &one.run);
    each_once(&mut joined.logged, |one| &one.run);
    joined
}

/// Leaves one of equal runs, in the order of the plan.
fn each_once<T>(all: &mut Vec<T>, run: fn(&T) -> &Run) {
    let key = |one: &T| (run(one).position, run(one).hash);
    // A stable sort would take half as much memory again. Equal runs are copies.
    all.sort_unstable_by_key(key);
    all.dedup_by_key(|one| key(one));
}

#[cfg(test)]
mod tests {
    use super::*;
    use gclab_results::{Configuration, PlannedRun, ResultsDir, RunRecord};
    use std::path::Path;

    fn part(parent: &Path, shard: Option<&str>, rounds: &[u32], cpu: &str) -> Results {
        let mut manifest = Manifest::new("x");
        manifest.shard = shard.map(str::to_owned);
        manifest.machine.cpu = Some(cpu.to_owned());
        manifest.plan = rounds
            .iter()
            .map(|&round| PlannedRun::new(Configuration::default(), round, round))
            .collect();
        let runs: Vec<RunRecord> = manifest.plan.iter().map(|run| RunRecord::planned(run, 1)).collect();
        let name = format!("{}-{rounds:?}-{cpu}", shard.unwrap_or("all").replace('/', "of"));
        let path = parent.join(name);
        if !path.exists() {
            let mut dir = ResultsDir::create(&path, manifest).expect("a new folder");
            runs.iter().for_each(|run| dir.append_run(run).expect("a line"));
        }
        Results::open(path).expect("a folder of results")
    }

    fn shape(folders: &[Results]) -> Vec<(usize, Vec<u32>, usize, usize)> {
        let rounds = |folder: &Results| folder.runs().iter().map(|run| run.round).collect();
        folders
            .iter()
            .map(|f| {
                let parts = f.path().display().to_string().split(" + ").count();
                (parts, rounds(f), f.planned(), f.done())
            })
            .collect()
    }

    #[test]
    fn parts_of_one_plan_are_joined_in_the_order_of_the_plan() {
        let parent = tempfile::tempdir().expect("a folder");
        let part = |shard, rounds: &[u32]| part(parent.path(), Some(shard), rounds, "a");
        let together = put_together(vec![part("2/2", &[1, 3]), part("1/2", &[0, 2])]);
        assert_eq!(shape(&together), [(2, vec![0, 1, 2, 3], 4, 4)]);
        assert_eq!(together[0].manifest().shard.as_deref(), Some("1/2 and 2/2"));
        let planned: Vec<u32> = together[0].first_planned().iter().map(|run| run.round).collect();
        assert_eq!(planned, [0, 1, 2, 3]);
    }

    #[test]
    fn a_part_that_occurs_twice_counts_once() {
        let parent = tempfile::tempdir().expect("a folder");
        let part = || part(parent.path(), Some("1/2"), &[0, 2], "a");
        let together = put_together(vec![part(), part()]);
        assert_eq!(shape(&together), [(2, vec![0, 2], 2, 2)]);
    }

    #[test]
    fn an_event_log_is_in_the_part_that_has_it() {
        let parent = tempfile::tempdir().expect("a folder");
        let parts = ["1/2", "2/2"].map(|shard| part(parent.path(), Some(shard), &[], "a"));
        let second = parts[1].event_log("x");
        let first = parts[0].path().to_owned();
        std::fs::create_dir_all(second.parent().expect("a folder")).expect("made");
        std::fs::write(&second, "").expect("written");
        let together = put_together(parts.into());
        assert_eq!((together.len(), together[0].event_log("x")), (1, second));
        assert!(together[0].event_log("y").starts_with(first));
    }

    #[test]
    fn other_processors_and_whole_plans_remain_separate() {
        let parent = tempfile::tempdir().expect("a folder");
        let part = |shard, rounds: &[u32], cpu| part(parent.path(), shard, rounds, cpu);
        let whole = part(None, &[0], "a");
        let apart = put_together(vec![part(Some("1/2"), &[0], "a"), part(Some("2/2"), &[1], "b"), whole]);
        assert_eq!(apart.len(), 3);
    }
}
