//! Plans of experiments with known runs.

mod axes;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use gclab_results::{Axis as Swept, Configuration};
use rand_pcg::Pcg64;

use super::cells::cells;
use super::order::shuffle;
use super::*;
use crate::axes::Exclude;
use crate::build::Build;
use crate::experiment::{Axis, Entry};
use crate::program::{Own, Program};
use crate::runtime::{GCLAB, Setting, Value};

/// The lists of an experiment file of workloads.
#[derive(Clone)]
pub(super) struct Lists {
    pub(super) collectors: Vec<String>,
    pub(super) workloads: Vec<Work>,
    pub(super) builds: Vec<Arc<Build>>,
    pub(super) flags: Setting,
    pub(super) sweeps: Vec<Vec<Axis>>,
    pub(super) excludes: Vec<Exclude>,
    pub(super) prepare: Vec<Vec<String>>,
    /// The rest of the experiment.
    pub(super) rest: Experiment,
}

#[derive(Clone, Default)]
pub(super) struct Work {
    pub(super) name: String,
    pub(super) args: Vec<String>,
    pub(super) full_args: Option<Vec<String>>,
    profiles: Vec<String>,
    eventlog: bool,
}

impl Work {
    pub(super) fn new(name: &str, args: &[String]) -> Work {
        Work {
            name: name.to_owned(),
            args: args.to_owned(),
            ..Work::default()
        }
    }
}

impl Lists {
    /// The experiment: workloads × collectors × builds.
    pub(super) fn experiment(&self) -> Experiment {
        let sweeps = Arc::new(self.sweeps.clone());
        let builds: Vec<_> = match &self.builds[..] {
            [] => vec![None],
            builds => builds.iter().cloned().map(Some).collect(),
        };
        let mut entries = Vec::new();
        for work in &self.workloads {
            for collector in &self.collectors {
                for build in &builds {
                    let own = Own {
                        build: build.clone(),
                        full_args: work.full_args.clone(),
                        pause_counters: self.rest.pause_counters,
                    };
                    let program = Program::of_workload(&work.name, &work.args, collector, self.prepare.clone(), own);
                    entries.push(Entry {
                        flags: self.flags.clone(),
                        sweeps: Arc::clone(&sweeps),
                        excludes: self.excludes.clone(),
                        profiles: work.profiles.clone(),
                        eventlog: work.eventlog,
                        ..Entry::new(program, &work.name, &work.args, collector)
                    });
                }
            }
        }
        Experiment {
            entries,
            builds: self.builds.clone(),
            ..self.rest.clone()
        }
    }

    /// All its runs.
    pub(super) fn runs(&self) -> Vec<Run> {
        plan(&self.experiment(), &[], Shard::default())
    }
}

pub(super) fn lists(repeat: u32, seed: u64) -> Lists {
    let values = |values: &[&str]| values.iter().map(|v| v.to_string()).collect();
    Lists {
        collectors: values(&["two-space", "copying"]),
        workloads: vec![
            Work::new("binary_trees", &["8".into()]),
            Work::new("binary_trees", &["9".into()]),
            Work::new("gcbench", &[]),
        ],
        builds: Vec::new(),
        flags: [("F", value("F", "2"))].into(),
        sweeps: vec![vec![axis("A", &["1m", "4m"]), axis("n", &["0", "256k", "512k"])]],
        excludes: Vec::new(),
        prepare: Vec::new(),
        rest: Experiment {
            repeat,
            seed,
            ..Experiment::default()
        },
    }
}

pub(super) fn value(flag: &str, text: &str) -> Value {
    GCLAB.read(flag, text).expect("a legal value")
}

pub(super) fn axis(flag: &'static str, values: &[&str]) -> Axis {
    Axis::of_flag(flag, values.iter().map(|text| value(flag, text)))
}

fn texts(flag: &'static str, values: &[&str]) -> Swept {
    Swept {
        flag: flag.to_owned(),
        values: values.iter().map(|text| text.to_string()).collect(),
    }
}

fn ids(runs: &[Run]) -> Vec<String> {
    runs.iter().map(|run| run.planned.id.clone()).collect()
}

#[test]
fn the_cross_product_has_each_cell_once() {
    let cells = combinations(&lists(1, 1).experiment());
    assert_eq!(cells.len(), 2 * 3 * 2 * 3);
    assert_eq!(
        cells
            .iter()
            .map(|cell| cell.configuration().id())
            .collect::<BTreeSet<_>>()
            .len(),
        cells.len()
    );
    assert!(cells.iter().all(|cell| {
        cell.configuration()
            .flags
            .keys()
            .map(String::as_str)
            .eq(["A", "F", "n"])
    }));
}

#[test]
fn several_sweeps_are_run_one_after_the_other_and_what_they_share_once() {
    let sweeps = vec![
        vec![axis("N", &["1"]), axis("A", &["1m", "4m"])],
        vec![axis("N", &["2"]), axis("qg", &["false", "0"])],
        vec![axis("qg", &["0", "1"]), axis("N", &["2"])],
        vec![],
    ];
    let experiment = Lists { sweeps, ..lists(1, 1) }.experiment();
    let settings: Vec<String> = experiment.entries[0]
        .points()
        .iter()
        .map(|point| point.words().map(|(flag, text)| format!("{flag}={text} ")).collect())
        .collect();
    assert_eq!(
        settings,
        [
            "A=1m F=2 N=1 ",
            "A=4m F=2 N=1 ",
            "F=2 N=2 qg=false ",
            "F=2 N=2 qg=0 ",
            "F=2 N=2 qg=1 ",
            "F=2 "
        ]
    );
    assert_eq!(
        experiment.axes(),
        [
            texts("N", &["1", "2"]),
            texts("A", &["1m", "4m"]),
            texts("qg", &["false", "0", "1"])
        ]
    );
    let runs = plan(&experiment, &[], Shard::default());
    assert_eq!(ids(&runs).iter().collect::<BTreeSet<_>>().len(), 2 * 3 * 6);
}

/// Two profiles of the first workload, none of the second, one of the third.
pub(super) fn profiled(mut lists: Lists) -> Lists {
    let profiles = [&["-hy", "-hr -i0"][..], &[], &["-hT"]];
    for (work, own) in lists.workloads.iter_mut().zip(profiles) {
        work.profiles = own.iter().map(|profile| profile.to_string()).collect();
    }
    lists
}

/// Event logs of the first and the second workload.
pub(super) fn logged(mut lists: Lists) -> Lists {
    lists.workloads[..2].iter_mut().for_each(|work| work.eventlog = true);
    lists
}

#[test]
fn an_event_log_is_one_run_of_each_cell_after_its_profiles() {
    for repeat in [1, 4] {
        let profiles = profiled(lists(repeat, 7)).runs();
        let all = logged(profiled(lists(repeat, 7))).runs();
        let timed = |runs: &[Run]| runs.iter().filter(|run| run.planned.purpose().is_timed()).count();
        assert_eq!(
            all[..timed(&all)],
            profiles[..timed(&profiles)],
            "timed runs are as they were"
        );
        let logs: Vec<&Run> = all.iter().filter(|run| run.planned.eventlog == Some(true)).collect();
        // Two collectors and six settings of each workload.
        assert_eq!((logs.len(), all.len()), (12 * 2, profiles.len() + 12 * 2));
        let cells: BTreeSet<_> = logs.iter().map(|run| &run.planned.cell).collect();
        assert_eq!(cells.len(), logs.len(), "each once");
        assert!(
            logs.iter()
                .all(|run| run.planned.profile_flags.is_none() && !run.planned.args.is_empty())
        );
        let first = all
            .iter()
            .position(|run| run.planned.id == logs[0].planned.id)
            .expect("there");
        let before = all[first - 2..first]
            .iter()
            .map(|run| run.planned.profile_flags.as_deref());
        assert_eq!(before.collect::<Vec<_>>(), [Some("-hy"), Some("-hr -i0")]);
        let places = all.iter().map(|run| run.planned.position as usize);
        assert!(places.enumerate().all(|(place, position)| place == position));
        assert_eq!(ids(&all).iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}

#[test]
fn a_profile_is_one_run_of_each_cell_whatever_the_rounds() {
    for repeat in [1, 4] {
        let (timed, all) = (lists(repeat, 7).runs(), profiled(lists(repeat, 7)).runs());
        let (as_before, more) = all.split_at(timed.len());
        assert_eq!(as_before, timed, "timed runs are as they were");
        // Two collectors and six settings of each workload.
        assert_eq!(more.len(), 12 * (2 + 1));
        let keys: BTreeSet<_> = more
            .iter()
            .map(|run| (&run.planned.cell, &run.planned.profile_flags))
            .collect();
        assert_eq!(keys.len(), more.len(), "each once");
        assert!(timed.iter().all(|run| run.planned.profile_flags.is_none()));
        assert!(
            more.iter()
                .all(|run| run.planned.profile_flags.is_some() && run.planned.args != ["9"])
        );
        assert!(
            all.iter()
                .enumerate()
                .all(|(place, run)| run.planned.position as usize == place)
        );
        assert_eq!(ids(&all).iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}

#[test]
fn shards_share_profiles_and_event_logs_too() {
    let experiment = logged(profiled(lists(2, 3))).experiment();
    let whole = plan(&experiment, &[], Shard::default());
    for count in [2, 3, 8, 20] {
        let parts = (1..=count).map(|index| plan(&experiment, &[], Shard { index, count }));
        let mut together: Vec<Run> = parts.flatten().collect();
        together.sort_by_key(|run| run.planned.position);
        assert_eq!(together, whole, "nothing lost, nothing twice");
    }
}

#[test]
fn a_heap_is_the_same_bytes_for_all_collectors() {
    let minimum = |collector: &str, workload: &str, args: &[&str], bytes: Option<u64>| Minimum {
        configuration: Configuration {
            collector: collector.into(),
            workload: workload.into(),
            args: args.iter().map(|arg| arg.to_string()).collect(),
            ..Configuration::default()
        },
        minimum_bytes: bytes,
        ..Minimum::default()
    };
    let minima = [
        minimum("copying", "binary_trees", &["8"], Some(10 << 20)),
        minimum("two-space", "binary_trees", &["8"], Some(8 << 20)),
        minimum("copying", "binary_trees", &["9"], None),
        minimum("two-space", "binary_trees", &["9"], Some(3 << 20)),
        minimum("copying", "gcbench", &[], Some(4_000_001)),
    ];
    let mut lists = lists(1, 1);
    lists.sweeps.clear();
    lists.rest.heap = vec![1.0, 1.5];
    let experiment = lists.experiment();
    let cells = cells(&experiment, &minima);
    assert_eq!(cells.len(), 3 * 2 * 2);
    for cell in &cells {
        let least = match cell.configuration().work().as_str() {
            "binary_trees 8" => 8 << 20,
            "binary_trees 9" => 3 << 20,
            _ => 4_000_001,
        };
        let bytes = if cell.heap == Some(1.0) {
            least
        } else {
            (least * 3 + 1) / 2
        };
        assert_eq!(cell.configuration().flags["M"], bytes.to_string(), "{cell:?}");
    }
    let runs = plan(&experiment, &minima, Shard::default());
    assert!(runs.iter().all(|run| run.planned.heap_multiple.is_some()));
    assert_eq!(ids(&runs).iter().collect::<BTreeSet<_>>().len(), cells.len());
    // Profiles use the same heaps: two of the first workload, one of the third, each at two sizes
    // under two collectors.
    let all = plan(&profiled(lists).experiment(), &minima, Shard::default());
    let more = &all[runs.len()..];
    assert_eq!(more.len(), (2 + 1) * 2 * 2);
    assert!(
        more.iter()
            .all(|run| run.planned.heap_multiple.is_some() && run.planned.flags.contains_key("M"))
    );
}

#[test]
fn each_round_is_one_pass_over_all_cells() {
    let runs = lists(4, 1).runs();
    for (number, round) in runs.chunks(36).enumerate() {
        assert!(round.iter().all(|run| run.planned.round as usize == number));
        assert_eq!(
            round.iter().map(|run| &run.planned.cell).collect::<BTreeSet<_>>().len(),
            36
        );
    }
    assert!(
        runs.iter()
            .enumerate()
            .all(|(place, run)| run.planned.position as usize == place)
    );
    let cells = |round: usize| {
        runs[round * 36..][..36]
            .iter()
            .map(|run| run.planned.cell.clone())
            .collect::<Vec<_>>()
    };
    assert_ne!(cells(0), cells(1), "each round has an order of its own");
}

#[test]
fn the_order_is_a_function_of_the_seed() {
    assert_eq!(lists(3, 7).runs(), lists(3, 7).runs());
    assert_ne!(ids(&lists(3, 7).runs()), ids(&lists(3, 8).runs()));
    // Each round has its own random stream, so more rounds do not change earlier ones.
    assert_eq!(lists(5, 7).runs()[..36 * 3], lists(3, 7).runs()[..]);
}

#[test]
fn a_seed_always_gives_this_order() {
    let order = |seed, round| order(10, seed, round);
    // Computed independently, in Python, from the definition of PCG XSL RR 128/64.
    assert_eq!(order(1, 0), [4, 2, 5, 8, 3, 0, 6, 1, 7, 9]);
    assert_eq!(order(1, 1), [0, 2, 9, 5, 4, 6, 7, 1, 3, 8]);
    assert_eq!(order(2, 0), [7, 2, 8, 4, 0, 6, 1, 5, 3, 9]);
}

#[test]
fn every_place_of_a_shuffle_is_equally_likely() {
    let mut counts: HashMap<(usize, usize), u32> = HashMap::new();
    let mut random = Pcg64::new(1, 1);
    for _ in 0..6000 {
        let mut order: Vec<usize> = (0..6).collect();
        shuffle(&mut order, &mut random);
        for (place, item) in order.into_iter().enumerate() {
            *counts.entry((place, item)).or_default() += 1;
        }
    }
    // Each of 36 counts is binomial with mean 1000 and standard deviation 29; five deviations are
    // 145.
    assert!(
        counts.len() == 36 && counts.values().all(|n| n.abs_diff(1000) < 145),
        "{counts:?}"
    );
}

#[test]
fn shards_share_the_plan_by_whole_groups() {
    let experiment = lists(5, 3).experiment();
    let whole = plan(&experiment, &[], Shard::default());
    for count in [2, 3, 4, 7] {
        let parts: Vec<_> = (1..=count)
            .map(|index| plan(&experiment, &[], Shard { index, count }))
            .collect();
        let mut together = parts.concat();
        together.sort_by_key(|run| run.planned.position);
        assert_eq!(together, whole, "nothing lost, nothing twice");
        let mut owner = HashMap::new();
        for (part, runs) in parts.iter().enumerate() {
            for run in runs {
                let group = (
                    run.planned.round,
                    run.planned.workload.clone(),
                    run.planned.args.clone(),
                );
                assert_eq!(*owner.entry(group).or_insert(part), part, "a group is not split");
            }
        }
    }
}

#[test]
fn a_shard_is_from_one_to_n() {
    assert_eq!("2/3".parse(), Ok(Shard { index: 2, count: 3 }));
    for wrong in ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2", ""] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}
