//! The synthetic records of the results crate, and records that only the report tests need.

#[path = "../../../../tests/it/synthetic.rs"]
mod base;

pub(crate) use base::*;

use gclab_results::{Census, HeapProfile, Manifest, PlannedRun, RunRecord};
use std::collections::BTreeMap;

/// A large experiment, for reports that people look at: two axes, three workloads.
pub(crate) fn large() -> Experiment {
    Experiment {
        name: "nursery",
        question: "How large should the allocation area be, and does that depend on the collector?",
        collectors: vec!["copying", "two-space", "compacting"],
        workloads: vec![
            ("binary_trees", vec!["18"], 900.0, 30.0),
            ("hash_churn", vec!["262144", "1048576", "2000000"], 400.0, 60.0),
            ("heap_snapshot", vec!["fixtures/app.heapsnapshot.gz", "8"], 250.0, 45.0),
        ],
        sweep: vec![("A", vec!["256k", "1m", "4m", "16m", "64m"]), ("n", vec!["0", "1m"])],
        repeat: 10,
        seed: 1,
    }
}

/// `large` with too many runs for a page with an element for each point.
pub(crate) fn many() -> Experiment {
    Experiment {
        name: "many",
        repeat: 115,
        // Little allocation, since each collection has a record.
        workloads: vec![
            ("binary_trees", vec!["12"], 6.0, 1.0),
            ("hash_churn", vec!["2048", "8192"], 4.0, 2.0),
            ("long_list", vec!["20000"], 5.0, 1.5),
        ],
        ..large()
    }
}

/// `small` with two profiles of one of its configurations and one of another. They come last and
/// have one run each, as planned by `profiles`.
pub(crate) fn profiled() -> (Manifest, Vec<RunRecord>) {
    let (mut manifest, mut runs) = (manifest(&small()), small_runs());
    let all = configurations(&small());
    for (configuration, flags, profile) in [
        (0, "-hy -i0", by_type()),
        (0, "-hr -R0 -i0", by_retainers()),
        (8, "-hb", biography()),
    ] {
        let of_cell = manifest
            .plan
            .iter()
            .filter(|run| run.profile_flags.is_some() && run.cell == all[configuration].id());
        let (number, position) = (of_cell.count(), manifest.plan.len() as u32);
        let planned = PlannedRun::profiled(all[configuration].clone(), flags, number, position);
        let mut run = run(&small(), &planned);
        // A hundred times slower: counting it as a timed run would visibly change the statistics.
        let slower = |seconds: &mut Option<f64>| *seconds = seconds.map(|s| s * 100.0);
        slower(&mut run.wall_seconds);
        let stats = run.stats.as_mut().expect("a good run");
        slower(&mut stats.total_elapsed_seconds);
        slower(&mut stats.gc_elapsed_seconds);
        slower(&mut stats.mut_elapsed_seconds);
        run.command.extend(flags.split(' ').map(str::to_owned));
        run.profile = Some(profile);
        manifest.plan.push(planned);
        runs.push(run);
    }
    (manifest, runs)
}

fn census(seconds: f64, bands: &[(&str, u64)]) -> Census {
    Census {
        seconds,
        bands: bands.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect(),
        ..Census::default()
    }
}

/// More types than colours: a tree that grows, others that do not, and two markers.
fn by_type() -> HeapProfile {
    let mut censuses: Vec<Census> = (0..20u32)
        .map(|n| {
            let mut census = census(
                f64::from(n) * 0.25,
                &[("Tree<Node>", 40_000 * u64::from(n)), ("ByteArray", 300_000)],
            );
            census
                .bands
                .extend((0..14).map(|k| (format!("Small{k:02}"), 1000 * (20 - k))));
            census
        })
        .collect();
    censuses[8].marker = Some("half built".to_owned());
    censuses[15].marker = Some("built".to_owned());
    HeapProfile {
        breakdown: "type".to_owned(),
        censuses,
        census_seconds: 0.0125,
        retainer_sets: None,
    }
}

fn by_retainers() -> HeapProfile {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    HeapProfile {
        breakdown: "retainers".to_owned(),
        censuses: vec![census(0.002, &[("(1)SYSTEM", 80), ("(2)Entry,MUT_ARR_PTRS", 2048)])],
        census_seconds: 0.0001,
        retainer_sets: Some(BTreeMap::from([
            ("1".to_owned(), set(&["SYSTEM.SYSTEM"])),
            (
                "2".to_owned(),
                set(&["table.Entry", "core.MUT_ARR_PTRS", "a.B", "c.D", "e.F"]),
            ),
        ])),
    }
}

fn biography() -> HeapProfile {
    let life = |seconds, bytes: [u64; 5]| {
        let names = ["VOID", "LAG", "USE", "INHERENT_USE", "DRAG"];
        let bands: Vec<(&str, u64)> = names.into_iter().zip(bytes).filter(|(_, bytes)| *bytes > 0).collect();
        census(seconds, &bands)
    };
    HeapProfile {
        breakdown: "biography".to_owned(),
        censuses: vec![
            life(0.5, [10 << 10, 20 << 10, 5 << 10, 0, 90 << 10]),
            life(1.0, [10 << 10, 30 << 10, 6 << 10, 1 << 10, 120 << 10]),
        ],
        census_seconds: 0.25,
        retainer_sets: None,
    }
}
