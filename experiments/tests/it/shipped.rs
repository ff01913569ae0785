//! The experiment files that come with gclab: each is valid, has a question, and is as large as its
//! name promises.

use std::path::{Path, PathBuf};

use crate::support::Bench;

fn shipped() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut files: Vec<_> = folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "toml"))
        .collect();
    files.retain(|path| path.file_name().is_some_and(|name| name != "Cargo.toml"));
    files.sort();
    files
}

#[test]
fn all_are_there() {
    let files = shipped();
    let names: Vec<_> = files.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    for name in [
        "collectors",
        "factor",
        "memory",
        "nursery",
        "parallel",
        "profiles",
        "quick",
        "real-heap",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

#[test]
fn each_can_be_planned_and_asks_something() {
    let bench = Bench::new();
    for file in shipped() {
        let done = bench
            .gclab(&["run", file.to_str().unwrap(), "--dry-run=commands"])
            .exits(0);
        assert!(
            done.stdout.lines().all(|line| line.starts_with("gclab exec ")),
            "{}",
            done.all()
        );
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("question") && text.contains('?'), "{}", file.display());
    }
}

/// Four breakdowns and a restriction, with each profile once, on top of three rounds of every
/// workload.
#[test]
fn profiles_shows_what_there_is() {
    let bench = Bench::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles.toml");
    let plan = bench
        .gclab(&["run", file.to_str().unwrap(), "--dry-run=commands"])
        .exits(0);
    let (profiled, timed): (Vec<&str>, Vec<&str>) = plan.stdout.lines().partition(|line| line.ends_with("  # profile"));
    assert_eq!(timed.len() % 3, 0);
    let distinct: std::collections::BTreeSet<_> = profiled.iter().collect();
    assert_eq!(distinct.len(), profiled.len());
    for flag in [" -hT", " -hy", " -hr", " -ho", " -hyByteArray", " -R0"] {
        assert!(profiled.iter().any(|line| line.contains(flag)), "{flag}");
        assert!(timed.iter().all(|line| !line.contains(flag)), "{flag}");
    }
}

#[test]
fn quick_has_two_collectors_three_workloads_one_of_them_a_real_heap_and_ten_rounds() {
    let bench = Bench::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("quick.toml");
    let plan = bench
        .gclab(&["run", file.to_str().unwrap(), "--dry-run=commands"])
        .exits(0);
    assert!(plan.stderr.contains(" in 10 rounds "), "{}", plan.all());
    let words: Vec<Vec<&str>> = plan.stdout.lines().map(|line| line.split(' ').collect()).collect();
    let distinct = |at: fn(&[&str]) -> String| {
        words
            .iter()
            .map(|line| at(line))
            .collect::<std::collections::BTreeSet<_>>()
    };
    let workloads = distinct(|line| line[2].to_owned());
    assert!(
        workloads.len() == 3 && workloads.contains("heap_snapshot"),
        "{workloads:?}"
    );
    let collectors = distinct(|line| line[line.iter().position(|word| *word == "--collector").unwrap() + 1].to_owned());
    assert_eq!(collectors.into_iter().collect::<Vec<_>>(), ["copying", "two-space"]);
}

/// Parallel collection off, and from each generation, with and without load balancing and chunks; a
/// single capability only once for each size of the area.
#[test]
fn parallel_switches_it_where_there_is_something_to_switch() {
    let bench = Bench::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("parallel.toml");
    let plan = bench
        .gclab(&["run", file.to_str().unwrap(), "--dry-run=commands"])
        .exits(0);
    let settings: std::collections::BTreeSet<&str> = plan
        .stdout
        .lines()
        .filter(|line| line.starts_with("gclab exec par_trees "))
        .map(|line| line.split_once(" --collector parallel").unwrap().1)
        .collect();
    assert_eq!(settings.len(), 13, "{settings:?}");
    let one: Vec<_> = settings.iter().filter(|setting| !setting.contains("-N2")).collect();
    assert_eq!(one, [&"", &" +RTS -A1m"]);
    for setting in ["-N2 -qg", "-N2 -qg1", "-N2 -qb", "-N2 -qb0", "-n256k -N2 -qg"] {
        let found = settings.iter().any(|line| line.ends_with(&format!(" {setting}")));
        assert!(found, "{setting} in {settings:?}");
    }
}

#[test]
fn the_file_in_the_documentation_is_right() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/experiments.md")).unwrap();
    let file = page
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let bench = Bench::new();
    bench.write("documented.toml", file);
    let plan = bench.gclab(&["run", "documented.toml", "--dry-run=commands"]).exits(0);
    // `repeat` and `seed` have their defaults.
    let shorter: String = file
        .lines()
        .filter(|line| !["repeat", "seed", "timeout"].iter().any(|key| line.starts_with(key)))
        .map(|line| format!("{line}\n"))
        .collect();
    bench.write("documented.toml", &shorter);
    assert_eq!(
        bench
            .gclab(&["run", "documented.toml", "--dry-run=commands"])
            .exits(0)
            .all(),
        plan.all()
    );
}
