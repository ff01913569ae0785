//! Plans with axes beyond flags: fingerprints, ranges, builds, adopted plans, plans as text.

use std::collections::BTreeSet;
use std::sync::Arc;

use gclab_results::{Manifest, PlannedRun};

use super::super::*;
use super::{Lists, Work, axis, lists, logged, profiled, value};
use crate::axes::Exclude;
use crate::build::Build;
use crate::experiment::{Axis, Point};
use crate::runtime::Setting;

/// The runs in words, without collector and workload.
fn settings_of(runs: &[Run]) -> Vec<String> {
    let flags = |run: &Run| {
        let all = run.planned.flags.iter().chain(&run.planned.settings);
        let words: Vec<String> = all.map(|(name, value)| format!("{name}={value}")).collect();
        words.join(" ")
    };
    runs.iter().map(flags).collect()
}

fn one_work(sweeps: Vec<Vec<Axis>>) -> Lists {
    Lists {
        collectors: vec!["copying".into()],
        workloads: vec![Work::new("binary_trees", &["8".into()])],
        flags: Setting::new(),
        sweeps,
        ..lists(2, 1)
    }
}

#[test]
fn the_first_round_takes_ends_and_middle_of_each_range_first() {
    let sizes = ["1m", "2m", "4m", "8m", "16m", "32m", "64m"];
    let mut experiment = one_work(vec![vec![axis("A", &sizes), axis("F", &["2", "3", "4", "5"])]]);
    let runs = experiment.runs();
    let first = |count: usize| -> BTreeSet<String> { settings_of(&runs[..count]).into_iter().collect() };
    let product = |sizes: &[&str], factors: &[&str]| -> BTreeSet<String> {
        let of = |size: &&str| {
            factors
                .iter()
                .map(|factor| format!("A={size} F={factor}"))
                .collect::<Vec<_>>()
        };
        sizes.iter().flat_map(of).collect()
    };
    assert_eq!(first(9), product(&["1m", "8m", "64m"], &["2", "3", "5"]));
    assert_eq!(
        first(20),
        product(&["1m", "2m", "8m", "16m", "64m"], &["2", "3", "4", "5"])
    );
    let round = |round: usize| settings_of(&runs[round * 28..][..28]);
    assert_ne!(round(0), round(1));
    let in_order = order(28, 1, 1);
    experiment.rest.repeat = 1;
    let cells = settings_of(&experiment.runs());
    assert_eq!(cells.len(), 28);
    // The second round is the seed's random order, without ranks.
    let points: Vec<String> = experiment.experiment().entries[0]
        .points()
        .iter()
        .map(|point| {
            point
                .words()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    let expected: Vec<String> = in_order.iter().map(|index| points[*index as usize].clone()).collect();
    assert_eq!(round(1), expected);
}

#[test]
fn a_fingerprint_is_of_what_affects_the_result_and_of_nothing_else() {
    let id = |lists: &Lists| {
        let runs = lists.runs();
        let first: BTreeSet<String> = runs.iter().map(|run| run.planned.id.clone()).collect();
        first.into_iter().next().expect("a run")
    };
    let base = one_work(vec![vec![axis("A", &["1m"])]]);
    let of = |change: fn(&mut Lists)| {
        let mut other = base.clone();
        change(&mut other);
        id(&other)
    };
    let same: [fn(&mut Lists); 8] = [
        |e| e.sweeps[0][0] = axis("A", &["1024k"]),
        |e| e.rest.name = "other".into(),
        |e| e.rest.question = "Why?".into(),
        |e| e.rest.text = "# other".into(),
        |e| e.rest.repeat = 7,
        |e| e.rest.seed = 9,
        |e| e.rest.timeout = std::time::Duration::from_secs(1),
        |e| e.flags = std::mem::take(&mut e.sweeps).remove(0).remove(0).points.remove(0).flags,
    ];
    for change in same {
        assert_eq!(of(change), id(&base));
    }
    let build = |hash: &str| Build {
        name: "name".into(),
        executable: hash.into(),
        ..Build::default()
    };
    let (old, new) = (build("1"), build("2"));
    let with_build = |build: &Build| {
        id(&Lists {
            builds: vec![Arc::new(build.clone())],
            ..base.clone()
        })
    };
    let renamed = Build {
        name: "other".into(),
        ..old.clone()
    };
    assert_eq!(
        with_build(&old),
        with_build(&renamed),
        "a build's name is not part of it"
    );
    let others: [fn(&mut Lists); 8] = [
        |e| e.sweeps[0][0] = axis("A", &["2m"]),
        |e| e.sweeps[0][0] = axis("O", &["1m"]),
        |e| e.collectors[0] = "two-space".into(),
        |e| e.workloads[0].name = "gcbench".into(),
        |e| e.workloads[0].args[0] = "9".into(),
        |e| e.rest.executable = Some("3".into()),
        |e| e.rest.pause_counters = true,
        |e| {
            e.sweeps[0][0].points[0].env.insert("LANG".into(), "C".into());
        },
    ];
    let mut ids: Vec<String> = others.map(of).to_vec();
    ids.extend([id(&base), with_build(&old), with_build(&new)]);
    let distinct: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    let full = |args: &[&str]| {
        let mut full = base.clone();
        full.workloads[0].full_args = Some(args.iter().map(|arg| arg.to_string()).collect());
        full
    };
    let mut default = full(&["8"]);
    default.workloads[0].args = vec![];
    assert_eq!(id(&full(&["8"])), id(&default), "defaults are filled in");
}

#[test]
fn points_are_for_their_names_and_builds_are_a_dimension() {
    let only = |choice: &'static str, name: &str, size: &str| Point {
        only: [(choice, name.to_owned())].into(),
        ..Point::of([("A", value("A", size))].into())
    };
    let points = vec![only("collector", "copying", "1m"), only("workload", "gcbench", "4m")];
    let build = |name: &str| {
        Arc::new(Build {
            name: name.into(),
            executable: name.into(),
            ..Build::default()
        })
    };
    let experiment = Lists {
        workloads: vec![Work::new("binary_trees", &["8".into()]), Work::new("gcbench", &[])],
        builds: vec![build("old"), build("new")],
        sweeps: vec![vec![Axis { points }]],
        flags: Setting::new(),
        ..lists(1, 1)
    };
    let described = |lists: &Lists| {
        let runs = lists.runs();
        let line = |run: &Run| describe(&run.planned);
        runs.iter().map(line).collect::<BTreeSet<_>>()
    };
    let expected = [
        "copying binary_trees 8 A=1m build=new",
        "copying binary_trees 8 A=1m build=old",
        "copying gcbench A=1m build=new",
        "copying gcbench A=1m build=old",
        "copying gcbench A=4m build=new",
        "copying gcbench A=4m build=old",
        "two-space gcbench A=4m build=new",
        "two-space gcbench A=4m build=old",
    ];
    let all = described(&experiment);
    assert_eq!(all.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    let exclude = Exclude {
        only: [("build", "new".to_owned()), ("collector", "copying".to_owned())].into(),
        flags: [("A", ["4m".to_owned()].into())].into(),
        ..Exclude::default()
    };
    let fewer = described(&Lists {
        excludes: vec![exclude],
        ..experiment
    });
    let gone: Vec<&String> = all.difference(&fewer).collect();
    assert_eq!(gone, ["copying gcbench A=4m build=new"]);
}

#[test]
fn a_plan_in_another_order_keeps_its_ids_and_its_order() {
    let mut experiment = profiled(lists(2, 5));
    let runs = experiment.runs();
    let old: Vec<PlannedRun> = runs.iter().rev().map(|run| run.planned.clone()).collect();
    let adopted = adopt(&runs, &made_by("", &old)).expect("the same runs");
    let planned: Vec<PlannedRun> = adopted.iter().map(|run| run.planned.clone()).collect();
    assert_eq!(planned, old);
    for run in &adopted {
        let mine = runs.iter().find(|mine| mine.planned.position == run.planned.position);
        assert_eq!(mine.map(|mine| &mine.setting), Some(&run.setting));
    }
    let (fewer, mut other) = (old[1..].to_vec(), old);
    assert_eq!(adopt(&runs, &made_by("", &fewer)), None, "one is missing");
    other[0].round = 17;
    other[0].id = "another-17".to_owned();
    assert_eq!(adopt(&runs, &made_by("", &other)), None, "one is another");
    // Values that mean the same are equal.
    let found: Vec<PlannedRun> = runs.iter().map(|run| run.planned.clone()).collect();
    let renamed = Lists {
        sweeps: vec![vec![
            axis("n", &["512k", "262144", "0"]),
            axis("A", &["4096k", "1024k"]),
        ]],
        ..experiment.clone()
    };
    let again = renamed.runs();
    assert_ne!(again, runs);
    experiment.rest.executable = Some("another build".into());
    let of_another_build = adopt(&experiment.runs(), &made_by("", &found));
    assert!(of_another_build.is_some(), "so that it can be refused in words");
    let adopted = adopt(&again, &made_by("", &found)).expect("the same runs");
    assert!(adopted.iter().zip(&found).all(|(run, found)| run.planned == *found));
}

/// The plan of a folder made by a gclab with this hash.
fn made_by(executable: &str, plan: &[PlannedRun]) -> Manifest {
    let mut manifest = Manifest::new("x");
    manifest.build.executable = Some(executable.to_owned());
    manifest.plan = plan.to_owned();
    manifest
}

/// Keys that affect results without being in a configuration keep runs apart, whichever build and
/// whichever gclab made the plan.
#[test]
fn runs_with_another_preparation_or_other_counters_are_others() {
    let of = |executable: &str, prepare: &[&str], pause_counters: bool| {
        let mut lists = lists(2, 5);
        lists.prepare = prepare.iter().map(|word| vec![word.to_string()]).collect();
        lists.rest.executable = Some(executable.to_owned());
        lists.rest.pause_counters = pause_counters;
        lists.runs()
    };
    let by = |executable: &str| {
        let prepared = [&[][..], &["one"], &["other"]].map(|prepare| of(executable, prepare, false));
        prepared
            .into_iter()
            .chain([of(executable, &[], true)])
            .collect::<Vec<_>>()
    };
    let (all, of_other) = (by("this"), by("other"));
    let planned = |runs: &[Run]| -> Vec<PlannedRun> { runs.iter().map(|run| run.planned.clone()).collect() };
    for (one, runs) in all.iter().enumerate() {
        for (other, (found, of_other)) in all.iter().zip(&of_other).enumerate() {
            for found in [made_by("this", &planned(found)), made_by("other", &planned(of_other))] {
                assert_eq!(adopt(runs, &found).is_some(), one == other, "{one} {other}");
                let why = why_other(runs, &found).unwrap_or_default();
                let expected = match (one, other) {
                    _ if one == other => "",
                    (0, 3) => "without them",
                    (3, 0) => "no counters at pauses",
                    _ => "`prepare`",
                };
                assert!(why.contains(expected) && why.is_empty() == expected.is_empty(), "{why}");
            }
        }
    }
}

#[test]
fn a_plan_as_lines_has_one_for_each_run() {
    let experiment = logged(profiled(lists(2, 5))).experiment();
    let plan = Plan::new(&experiment, &[], Shard::default());
    let text = plan.lines(&experiment);
    let (head, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
    assert!(head[0].contains("seed 5") && head[0].contains("2 rounds"), "{head:?}");
    let runs = &plan.runs;
    assert_eq!(lines.len(), runs.len());
    for (line, run) in lines.iter().zip(runs) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let round = if run.planned.purpose().is_timed() {
            run.planned.round.to_string()
        } else {
            "-".to_owned()
        };
        assert_eq!(words[..2], [run.planned.id.as_str(), &round]);
        assert!(line.ends_with(&describe(&run.planned)), "{line}");
    }
    let json: serde_json::Value = serde_json::from_str(&plan.json(&experiment)).unwrap();
    let planned: Vec<PlannedRun> = serde_json::from_value(json["runs"].clone()).unwrap();
    assert_eq!((json["seed"].as_u64(), json["rounds"].as_u64()), (Some(5), Some(2)));
    assert!(planned.iter().eq(runs.iter().map(|run| &run.planned)));
    assert_eq!(plan.counts().iter().sum::<usize>(), runs.len());
    let firsts = plan.firsts();
    assert!(firsts.len() < runs.len() && firsts.iter().all(|run| run.planned.round == 0));
}
