//! Shards are a plan, divided; and each trouble with the folders of shards has its message.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gclab_flags::FlagValue;
use gclab_results::{Configuration, Manifest, PlannedRun, Program, ResultsDir, RunRecord};
use proptest::prelude::*;
use tempfile::TempDir;

use super::merge::{MergeError, Merged, merge};
use super::script::{Job, sha256};
use crate::experiment::{Axis, Experiment};
use crate::plan::{Shard, plan};
use crate::runner::lock::lock;

fn experiment(works: usize, collectors: usize, repeat: u32, profiles: usize, logged: bool) -> Experiment {
    let all = ["two-space", "copying", "compacting"];
    let flags = ["-hy".to_owned(), "-hT".to_owned()];
    Experiment {
        collectors: all[..collectors].iter().map(|name| name.to_string()).collect(),
        workloads: (0..works)
            .map(|work| ("binary_trees".to_owned(), vec![work.to_string()]))
            .collect(),
        repeat,
        seed: 3,
        profiles: vec![flags[..profiles].to_vec(); works],
        eventlogs: vec![logged; works],
        sweeps: vec![vec![Axis::of_flag(
            "A",
            ["1m", "4m"].map(|text| FlagValue::read("A", text).expect("legal")),
        )]],
        ..Experiment::default()
    }
}

proptest! {
    #[test]
    fn shards_are_the_plan_in_whole_groups_and_balanced(
        works in 1..6_usize, collectors in 1..4_usize, repeat in 1..6_u32,
        profiles in 0..3_usize, logged: bool, count in 1..9_u32,
    ) {
        let experiment = experiment(works, collectors, repeat, profiles, logged);
        let whole = plan(&experiment, &[], Shard::default());
        let shards: Vec<_> = Shard::all(count).map(|shard| plan(&experiment, &[], shard)).collect();
        // Nothing twice, nothing lost, and each shard in the order of the plan.
        let mut together: Vec<_> = shards.iter().flatten().cloned().collect();
        prop_assert_eq!(together.len(), whole.len());
        together.sort_by_key(|run| run.planned.position);
        prop_assert_eq!(&together, &whole);
        prop_assert!(shards.iter().all(|shard| shard.is_sorted_by_key(|run| run.planned.position)));
        // A group is in one shard, and no shard has two groups more than another one.
        let mut of_group: BTreeMap<_, usize> = BTreeMap::new();
        for (number, shard) in shards.iter().enumerate() {
            for run in shard.iter().map(|run| &run.planned) {
                let round = run.purpose().is_timed().then_some(run.round);
                let there = *of_group.entry((round, run.args.clone())).or_insert(number);
                prop_assert_eq!(there, number, "the group of {} is divided", run.id);
            }
        }
        let mut groups = vec![0; count as usize];
        of_group.values().for_each(|&shard| groups[shard] += 1);
        prop_assert!(groups.iter().max().unwrap() - groups.iter().min().unwrap() <= 1, "{:?}", groups);
    }
}

/// Shards in folders of their own. Each has two runs.
struct Shards(TempDir);

impl Shards {
    /// `count` shards, all done.
    fn new(count: u32) -> Shards {
        let shards = Shards(tempfile::tempdir().unwrap());
        for index in 1..=count {
            shards.add(&index.to_string(), index, count, |_| ());
        }
        shards
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A shard in the folder `name`, with a change of its plan.
    fn add(&self, name: &str, index: u32, count: u32, change: impl Fn(&mut Manifest)) -> ResultsDir {
        let mut manifest = Manifest::new("x");
        manifest.experiment = "repeat = 2\nseed = 1\n".to_owned();
        manifest.shard = (count > 1).then(|| format!("{index}/{count}"));
        manifest.started = format!("2026-01-31T12:00:0{index}Z");
        manifest.command = ["gclab", "run", "x.toml", "--out", "d", "--shard", "1/2", "--fresh"]
            .map(str::to_owned)
            .into();
        (manifest.build.executable, manifest.machine.cpu) = (Some("e1".into()), Some("c1".into()));
        manifest.machine.host = Some(format!("n{index}"));
        manifest.plan = [index - 1, index - 1 + count]
            .map(|position| PlannedRun::new(Configuration::default(), position, position))
            .into();
        change(&mut manifest);
        let mut results = ResultsDir::create(self.path(name), manifest).unwrap();
        for run in results.manifest().plan.clone() {
            let mut record = RunRecord::planned(&run, 1);
            record.wall_seconds = Some(f64::from(run.round));
            results.append_run(&record).unwrap();
        }
        results
    }

    fn merge_of(&self, names: &[&str], mixed: bool) -> Result<Merged, String> {
        let folders: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        let merged = merge(&folders, &self.path("all"), mixed);
        // Messages name the folders; this one has another name each time.
        merged.map_err(|error: MergeError| error.to_string().replace(&format!("{}/", self.0.path().display()), ""))
    }

    #[track_caller]
    fn refuses(&self, names: &[&str], expected: &str) {
        let message = self.merge_of(names, false).expect_err("trouble");
        assert!(message.contains(expected), "{message}\nshould contain: {expected}");
        assert!(!self.path("all").exists(), "nothing half");
        let hidden = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with(".begun");
        assert!(!fs::read_dir(self.0.path()).unwrap().flatten().any(hidden));
    }

    fn runs_file(&self, name: &str) -> PathBuf {
        self.path(name).join("runs.jsonl")
    }

    /// Changes the text of the records of a shard.
    fn edit(&self, name: &str, change: impl Fn(&str) -> String) {
        let file = self.runs_file(name);
        fs::write(&file, change(&fs::read_to_string(&file).unwrap())).unwrap();
    }
}

/// The files below a folder with their contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => all.extend(contents(&path)),
            path => {
                all.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    all
}

#[test]
fn joined_shards_are_the_whole_plan_in_its_order() {
    let shards = Shards::new(3);
    // A key of a newer gclab, and a file of a profile.
    shards.edit("2", |text| text.replace("\"round\":1,", "\"round\":1,\"newer\":7,"));
    fs::create_dir(shards.path("3/profiles")).unwrap();
    fs::write(shards.path("3/profiles/x.hp"), "JOB").unwrap();
    let before = contents(shards.0.path());
    let merged = shards.merge_of(&["3", "1", "2"], false).unwrap();
    assert_eq!((merged.runs, merged.notes), (6, vec![]));
    let results = ResultsDir::open(shards.path("all")).unwrap();
    let manifest = results.manifest();
    let rounds: Vec<u32> = results.runs().iter().map(|run| run.round).collect();
    assert_eq!(rounds, [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        manifest.plan.iter().map(|run| run.position).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5]
    );
    assert_eq!(
        (manifest.shard.as_deref(), &*manifest.started),
        (None, "2026-01-31T12:00:01Z")
    );
    assert_eq!(manifest.command, ["gclab", "run", "x.toml", "--fresh"]);
    assert_eq!(manifest.machine.host.as_deref(), Some("n1 and n2 and n3"));
    assert!(
        fs::read_to_string(results.runs_file())
            .unwrap()
            .contains("\"newer\":7,")
    );
    assert_eq!(fs::read(shards.path("all/profiles/x.hp")).unwrap(), b"JOB");
    fs::remove_dir_all(shards.path("all")).unwrap();
    assert_eq!(contents(shards.0.path()), before, "the parts are untouched");
}

#[test]
fn what_is_missing_is_named() {
    let shards = Shards::new(4);
    shards.refuses(&["1", "3"], "no folder holds shards 2/4, 4/4");
    shards.refuses(&["1", "2", "3"], "no folder holds shard 4/4");
    let id = RunRecord::planned(&PlannedRun::new(Configuration::default(), 5, 5), 1).id;
    shards.edit("2", |text| text[..text.len() - 30].to_owned());
    shards.refuses(
        &["1", "2", "3", "4"],
        &format!("2: 1 of 2 runs missing (its last line was cut short): {id} ("),
    );
    shards.edit("2", |_| String::new());
    shards.refuses(&["1", "2", "3", "4"], "2: 2 of 2 runs missing: ");
    shards.refuses(&["1", "nowhere"], "nowhere: not a results folder");
}

#[test]
fn a_run_in_two_folders_counts_once_if_it_is_the_same() {
    let shards = Shards::new(2);
    shards.add("copy", 2, 2, |_| ());
    let merged = shards.merge_of(&["1", "2", "copy"], false).unwrap();
    assert_eq!(merged.runs, 4);
    assert_eq!(
        merged.notes,
        ["2 runs are in several folders, with the same figures: each counts once"]
    );
    fs::remove_dir_all(shards.path("all")).unwrap();
    shards.edit("copy", |text| {
        text.replace("\"wall_seconds\":3.0", "\"wall_seconds\":3.5")
    });
    let id = RunRecord::planned(&PlannedRun::new(Configuration::default(), 3, 3), 1).id;
    shards.refuses(
        &["1", "2", "copy"],
        &format!("2 and copy both have 1 run, with other figures: {id}; keep one of the two folders"),
    );
}

#[test]
fn another_plan_is_refused_with_what_differs() {
    let shards = Shards::new(2);
    type Change = fn(&mut Manifest);
    let changes: [(Change, &str); 7] = [
        (|m| m.name = "y".into(), "its experiment is y, not x"),
        (
            |m| {
                m.experiment = "repeat = 2\npause_counters = true\n".into();
                m.pause_counters = Some(true);
            },
            "line 2 of the experiment file is `pause_counters = true`, not `seed = 1`",
        ),
        (
            |m| m.experiment = "repeat = 2\nseed = 9\n".into(),
            "line 2 of the experiment file is `seed = 9`, not `seed = 1`",
        ),
        (|m| m.repeat = 7, "`repeat` is 7, not 0"),
        (|m| m.seed = 9, "the order of its runs is made in another way"),
        (
            |m| m.shard = Some("2/3".into()),
            "it holds a shard of 3, not a shard of 2",
        ),
        (|m| m.shard = None, "it holds the whole plan, not a shard of 2"),
    ];
    for (number, (change, expected)) in changes.into_iter().enumerate() {
        let name = format!("other{number}");
        shards.add(&name, 2, 2, change);
        shards.refuses(&["1", &name], &format!("{name}: another plan than 1: {expected}"));
    }
}

#[test]
fn another_program_is_refused_with_what_differs() {
    let shards = Shards::new(0);
    let with = |change: fn(&mut Program)| {
        move |manifest: &mut Manifest| {
            let mut program = Program {
                name: "p".into(),
                runtime_version: Some("GHC 9.0.2".into()),
                ..Program::default()
            };
            change(&mut program);
            manifest.programs = vec![program];
        }
    };
    shards.add("1", 1, 2, with(|_| ()));
    type Change = fn(&mut Program);
    let changes: [(Change, &str); 4] = [
        (|p| p.executable = Some("b".into()), "executable file"),
        (|p| p.input = Some("b".into()), "content of its standard input"),
        (
            |p| p.runtime_version = None,
            "version of its runtime: (unknown), not GHC 9.0.2",
        ),
        (|p| p.command = vec!["b".into()], "command, or other keys"),
    ];
    for (number, (change, expected)) in changes.into_iter().enumerate() {
        let name = format!("other{number}");
        shards.add(&name, 2, 2, with(change));
        shards.refuses(&["1", &name], &format!("the program `p` has another {expected}"));
    }
}

#[test]
fn another_build_is_refused_and_processors_are_mixed_only_on_demand() {
    let shards = Shards::new(2);
    shards.add("build", 2, 2, |m| {
        m.build.executable = Some("e2".into());
        m.build.git_commit = Some("0123456789".into());
    });
    shards.refuses(
        &["1", "build"],
        "build: made by the unknown build e2 (commit 01234567), but 1 by the unknown build e1: results of the two cannot be compared",
    );
    shards.add("cpu", 2, 2, |m| m.machine.cpu = Some("c2".into()));
    shards.refuses(
        &["1", "cpu"],
        "cpu: on the processor c2, but 1 on c1: run all shards on one kind",
    );
    assert_eq!(shards.merge_of(&["1", "cpu"], true).unwrap().runs, 4);
    let machine = ResultsDir::open(shards.path("all")).unwrap().manifest().machine.clone();
    assert_eq!(machine.cpu.as_deref(), Some("c1 and c2"));
    assert!(machine.warnings[0].contains("several kinds of processor"));
}

#[test]
fn lines_of_no_planned_run_and_two_records_of_one_are_refused() {
    let shards = Shards::new(2);
    let stray = fs::read_to_string(shards.runs_file("1")).unwrap();
    shards.edit("2", |text| format!("{text}{stray}"));
    shards.refuses(&["1", "2"], "2: runs.jsonl has 2 lines of no run of its plan: ");
    let shards = Shards::new(2);
    shards.edit("2", |text| {
        format!("{text}{}", text.replace("_seconds\":1.0", "_seconds\":1.5"))
    });
    shards.refuses(&["1", "2"], "runs.jsonl:3: run ");
}

#[test]
fn plans_that_are_not_one_whole_are_refused() {
    let shards = Shards::new(1);
    shards.add("1of2", 1, 2, |_| ());
    shards.add("2of2", 2, 2, |m| m.plan.iter_mut().for_each(|run| run.position += 1));
    shards.refuses(&["1of2", "2of2"], "the plans of these folders are not one whole");
}

#[test]
fn a_folder_in_use_and_a_place_that_is_taken_are_refused() {
    let shards = Shards::new(2);
    let held = lock(&shards.path("2")).unwrap().unwrap();
    shards.refuses(&["1", "2"], "is writing to this folder: wait for its end");
    drop(held);
    fs::create_dir(shards.path("all")).unwrap();
    assert_eq!(
        shards.merge_of(&["1", "2"], false).unwrap().runs,
        4,
        "an empty folder is free"
    );
    let message = shards.merge_of(&["1", "2"], false).unwrap_err();
    assert_eq!(message, "all: is already there: --into names a new folder");
}

#[test]
fn a_merge_that_was_killed_leaves_nothing_that_the_next_one_keeps() {
    let shards = Shards::new(2);
    // The state after a kill: a locked draft whose process is gone.
    fs::create_dir(shards.path(".begun-1")).unwrap();
    fs::write(shards.path(".begun-1/plan.json"), "{").unwrap();
    assert_eq!(shards.merge_of(&["1", "2"], false).unwrap().runs, 4);
    assert!(!shards.path(".begun-1").exists());
}

/// A job whose paths need quotes.
fn job() -> Job {
    Job {
        name: "it's".to_owned(),
        directory: "/data/a b".into(),
        program: "/opt/gclab".into(),
        sha256: "12ab".to_owned(),
        words: ["it's.toml", "--repeat", "3"].map(str::to_owned).into(),
        folder: "results/shards/it's".into(),
        shards: 2,
        runs: 24,
        groups: 6,
        made_by: ["gclab", "emit", "slurm", "it's.toml"].map(str::to_owned).into(),
    }
}

#[test]
fn scripts_quote_what_a_shell_would_split() {
    insta::assert_snapshot!("slurm", job().slurm());
    insta::assert_snapshot!("gnu-parallel", job().gnu_parallel());
}

/// The value of FIPS 180-4 for `abc`.
#[test]
fn the_hash_is_that_of_sha256sum() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("abc");
    fs::write(&file, "abc").unwrap();
    assert_eq!(
        sha256(&file).unwrap(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}
