//! Parts of one plan (`gclab run --shard I/N`), each in a folder of its own, joined for a report.
//!
//! Only parts that can be compared are joined: those of the same experiment, done by the same
//! executable on the same kind of processor. Other folders remain separate. A run that is in two
//! parts (one folder copied into another) counts once.

use crate::folder::ResultsDir;
use crate::manifest::Manifest;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Joins the folders with parts of one plan, at the place of the first of them. Other folders are
/// returned as they are.
///
/// The result of several folders is for reading only: its path is made of theirs (`a + b`).
pub fn put_together(folders: Vec<ResultsDir>) -> Vec<ResultsDir> {
    let mut groups: Vec<Vec<ResultsDir>> = Vec::new();
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
        .map(|mut group| if group.len() == 1 { group.remove(0) } else { one(&group) })
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

fn one(parts: &[ResultsDir]) -> ResultsDir {
    let names: Vec<String> = parts.iter().map(|part| part.path().display().to_string()).collect();
    let mut manifest = parts[0].manifest().clone();
    let shards: BTreeSet<&str> = parts
        .iter()
        .filter_map(|part| part.manifest().shard.as_deref())
        .collect();
    manifest.shard = Some(shards.into_iter().collect::<Vec<_>>().join(" and "));
    manifest.started = parts
        .iter()
        .map(|part| part.manifest().started.clone())
        .min()
        .unwrap_or_default();
    manifest.plan = parts.iter().flat_map(|part| part.manifest().plan.clone()).collect();
    manifest.plan.sort_by_key(|run| run.position);
    manifest.plan.dedup();
    let mut runs = Vec::new();
    let mut seen = BTreeSet::new();
    for run in parts.iter().flat_map(ResultsDir::all_runs) {
        if seen.insert(&run.id) {
            runs.push(run.clone());
        }
    }
    runs.sort_by_key(|run| run.position);
    let folders = parts.iter().flat_map(|part| part.folders().to_vec()).collect();
    ResultsDir::assembled(PathBuf::from(names.join(" + ")), folders, manifest, runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Configuration, PlannedRun, RunRecord};

    fn part(shard: &str, rounds: &[u32], cpu: &str) -> ResultsDir {
        let mut manifest = Manifest::new("x");
        manifest.shard = Some(shard.to_owned());
        manifest.machine.cpu = Some(cpu.to_owned());
        manifest.plan = rounds
            .iter()
            .map(|&round| PlannedRun::new(Configuration::default(), round, round))
            .collect();
        let runs = manifest.plan.iter().map(|run| RunRecord::planned(run, 1)).collect();
        let path = PathBuf::from(shard.replace('/', "of"));
        ResultsDir::assembled(path.clone(), vec![path], manifest, runs)
    }

    fn shape(folders: &[ResultsDir]) -> Vec<(String, Vec<u32>, usize)> {
        let rounds = |folder: &ResultsDir| folder.runs().iter().map(|run| run.round).collect();
        folders
            .iter()
            .map(|f| (f.path().display().to_string(), rounds(f), f.manifest().plan.len()))
            .collect()
    }

    #[test]
    fn parts_of_one_plan_are_joined_in_the_order_of_the_plan() {
        let together = put_together(vec![part("2/2", &[1, 3], "a"), part("1/2", &[0, 2], "a")]);
        assert_eq!(shape(&together), [("2of2 + 1of2".to_owned(), vec![0, 1, 2, 3], 4)]);
        assert_eq!(together[0].manifest().shard.as_deref(), Some("1/2 and 2/2"));
    }

    #[test]
    fn a_part_that_occurs_twice_counts_once() {
        let together = put_together(vec![part("1/2", &[0, 2], "a"), part("1/2", &[0, 2], "a")]);
        assert_eq!(shape(&together), [("1of2 + 1of2".to_owned(), vec![0, 2], 2)]);
    }

    #[test]
    fn an_event_log_is_in_the_part_that_has_it() {
        let parent = tempfile::tempdir().expect("a folder");
        let parts: Vec<ResultsDir> = ["1/2", "2/2"]
            .map(|shard| {
                let made = part(shard, &[], "a");
                let path = parent.path().join(made.path());
                ResultsDir::assembled(path.clone(), vec![path], made.manifest().clone(), Vec::new())
            })
            .into();
        let second = parts[1].event_log("x");
        std::fs::create_dir_all(second.parent().expect("a folder")).expect("made");
        std::fs::write(&second, "").expect("written");
        let together = put_together(parts);
        assert_eq!((together.len(), together[0].event_log("x")), (1, second));
        assert!(together[0].event_log("y").starts_with(parent.path().join("1of2")));
    }

    #[test]
    fn other_processors_and_whole_plans_remain_separate() {
        let mut whole = part("1/1", &[0], "a");
        let mut manifest = whole.manifest().clone();
        manifest.shard = None;
        let path = PathBuf::from("whole");
        whole = ResultsDir::assembled(path.clone(), vec![path], manifest, whole.runs().to_vec());
        let apart = put_together(vec![part("1/2", &[0], "a"), part("2/2", &[1], "b"), whole]);
        assert_eq!(apart.len(), 3);
    }
}
