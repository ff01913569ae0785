//! Heap profiles of an experiment: their runs and their files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use gclab_results::{ResultsDir, RunRecord, Status};

use crate::support::Bench;

/// Two collectors and two settings, twice: 16 timed runs; two profiles of hash_churn and one of
/// hsc_env: 12 more.
const FILE: &str = r#"
question   = "What is in there?"
collectors = ["two-space", "copying"]
workloads  = [{ name = "hash_churn", args = [64, 256, 20000] }, { name = "hsc_env", profiles = ["-ho -i0"] }]
profiles   = ["-hy -i0", "-hr -R0 -i0"]
repeat     = 2
[sweep]
A = ["64k", "128k"]
"#;
const TIMED: usize = 16;
const PROFILED: usize = 12;

/// The same without profiles.
fn without() -> String {
    let lines = FILE.lines().filter(|line| !line.starts_with("profiles"));
    lines
        .collect::<Vec<_>>()
        .join("\n")
        .replace(r#", profiles = ["-ho -i0"]"#, "")
}

fn done(file: &str) -> (Bench, ResultsDir) {
    let bench = Bench::new();
    bench.write("x.toml", file);
    bench.gclab(&["run", "x.toml", "--out", "out"]).exits(0);
    let results = ResultsDir::open(bench.path().join("out")).unwrap();
    (bench, results)
}

#[test]
fn each_profile_is_one_run_of_each_configuration_and_in_no_statistic() {
    let (bench, results) = done(FILE);
    assert_eq!((results.runs().len(), results.profiled().len()), (TIMED, PROFILED));
    for run in results.runs() {
        assert!(
            run.profile.is_none() && run.profile_flags.is_none(),
            "{:?}",
            run.command
        );
    }
    for run in results.profiled() {
        let flags = run.profile_flags.as_deref().unwrap();
        assert_eq!(run.outcome, Status::Ok);
        assert!(run.command.join(" ").ends_with(flags), "{:?}", run.command);
        let profile = run.profile.as_ref().unwrap();
        let collections = run.stats.as_ref().unwrap().gcs.unwrap() as usize;
        assert_eq!(profile.censuses.len(), collections, "{flags}");
        let names: BTreeSet<&str> = profile
            .censuses
            .iter()
            .flat_map(|c| c.bands.keys())
            .map(String::as_str)
            .collect();
        let wanted = match flags {
            "-ho -i0" => "hsc-eps-fc",
            "-hy -i0" => "MutArray<Entry>",
            _ => "(",
        };
        assert!(names.iter().any(|name| name.starts_with(wanted)), "{names:?}");
        assert_eq!(
            run.flags.keys().collect::<Vec<_>>(),
            ["A"],
            "its configuration is that of the timed runs"
        );
    }
    let kept: BTreeSet<String> = fs::read_dir(bench.path().join("out/profiles"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected = results.profiled().iter().flat_map(|run| {
        let prof = run.profile.as_ref().unwrap().retainer_sets.is_some();
        let stem = run.file_stem();
        assert!(
            stem.starts_with(&run.workload) && stem.contains(&format!("-A{}-h", run.flags["A"])),
            "{stem}"
        );
        [Some(format!("{stem}.hp")), prof.then(|| format!("{stem}.prof"))]
    });
    assert_eq!(kept, expected.flatten().collect());
    let others: Vec<_> = fs::read_dir(bench.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name != "out" && name != "x.toml")
        .collect();
    assert!(others.is_empty(), "nothing in the working directory: {others:?}");

    // Statistics come only from timed runs.
    let mut repetitions: BTreeMap<&str, usize> = BTreeMap::new();
    for run in results.runs() {
        *repetitions.entry(&run.cell).or_default() += 1;
    }
    assert!(repetitions.values().all(|runs| *runs == 2), "{repetitions:?}");
    assert_eq!(repetitions.len(), TIMED / 2);
    let csv = bench.gclab(&["report", "out", "--format", "csv"]).exits(0).stdout;
    assert_eq!(csv.lines().count(), 1 + TIMED);
    let same = bench.gclab(&["compare", "out", "out"]).exits(0).stdout;
    assert!(!same.contains("-hy"), "{same}");
}

#[test]
fn timed_runs_are_planned_as_without_profiles() {
    let bench = Bench::new();
    bench.write("with.toml", FILE);
    bench.write("without.toml", &without());
    let with = bench.gclab(&["run", "with.toml", "--dry-run=commands"]).exits(0);
    let without = bench.gclab(&["run", "without.toml", "--dry-run=commands"]).exits(0);
    let profiled = with.stdout.strip_prefix(&without.stdout).expect("the same runs first");
    assert_eq!(profiled.lines().count(), PROFILED);
    assert!(profiled.lines().all(|line| line.ends_with("  # profile")), "{profiled}");
    assert!(
        with.stderr.starts_with("16 runs in 2 rounds (") && with.stderr.contains("), and 12 heap profiles: "),
        "{}",
        with.stderr
    );
    assert_eq!(without.stdout.lines().count(), TIMED);
}

/// Runs that are done are not repeated. A profile whose line is missing is made again, and its
/// files are complete.
#[test]
fn resumes_with_the_missing_profiles() {
    let (bench, results) = done(FILE);
    let file = results.runs_file();
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), TIMED + PROFILED);
    let (kept, lost) = lines.split_at(TIMED + 5);
    // The last line is torn, and the files of the lost runs are corrupt.
    fs::write(&file, format!("{}{}", kept.concat(), &lost[0][..lost[0].len() / 2])).unwrap();
    for line in lost {
        let run: RunRecord = serde_json::from_str(line).unwrap();
        fs::write(results.profile_file(&run.file_stem(), "hp"), "half").unwrap();
    }
    let again = bench.gclab(&["run", "x.toml", "--out", "out"]).exits(0);
    assert!(
        again.stderr.contains("continuing, 21 of 28 runs are done"),
        "{}",
        again.all()
    );
    let results = ResultsDir::open(bench.path().join("out")).unwrap();
    assert_eq!((results.runs().len(), results.profiled().len()), (TIMED, PROFILED));
    assert!(fs::read_to_string(&file).unwrap().starts_with(&kept.concat()));
    for run in results.profiled() {
        let hp = fs::read_to_string(results.profile_file(&run.file_stem(), "hp")).unwrap();
        assert!(hp.starts_with("JOB \"") && hp.ends_with('\n'), "{hp}");
    }
    assert!(!bench.path().join("out/.scratch").exists());
}

#[test]
fn another_list_of_profiles_is_another_plan() {
    let bench = Bench::new();
    bench.write("x.toml", FILE);
    bench.gclab(&["run", "x.toml"]).exits(0);
    bench.gclab(&["run", "x.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 1);
    bench.write("x.toml", &FILE.replace("-R0", "-R1"));
    bench.gclab(&["run", "x.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 2);
}

#[test]
fn shards_do_the_profiles_of_a_workload_together() {
    let bench = Bench::new();
    bench.write("x.toml", FILE);
    // The groups are four of rounds and workloads, then two of profiles.
    for part in 1..=6 {
        let (shard, out) = (format!("{part}/6"), format!("part{part}"));
        bench
            .gclab(&["run", "x.toml", "--shard", &shard, "--out", &out])
            .exits(0);
    }
    let fifth = ResultsDir::open(bench.path().join("part5")).unwrap();
    assert_eq!((fifth.runs().len(), fifth.profiled().len()), (0, 8));
    let words = ["report", "part1", "part2", "part3", "part4", "part5", "part6"];
    let all = bench.gclab(&words).exits(0);
    assert!(
        all.stdout.contains("16 runs · 8 configurations · 12 heap profiles")
            && !all.stdout.contains("planned runs are done"),
        "{}",
        all.all()
    );
    // A shard with only profiles also has a report.
    let alone = bench.gclab(&["report", "part5"]).exits(0);
    assert!(
        alone
            .stdout
            .contains("hash_churn 64 256 20000, two-space A=64k: at most "),
        "{}",
        alone.all()
    );
}

/// With the smallest heap and more live data than that, an exhausted run has a profile up to its
/// end.
#[test]
fn a_profile_of_a_heap_that_ran_out() {
    let file = r#"
        collectors = ["copying"]
        workloads  = [{ name = "long_list", args = [100000, 200000] }]
        profiles   = ["-hy -i0"]
        repeat     = 1
        [flags]
        M = "4m"
        A = "64k"
    "#;
    let (bench, results) = done(file);
    let run = &results.profiled()[0];
    assert_eq!(run.outcome, Status::HeapExhausted);
    assert!(run.profile.as_ref().unwrap().peak().unwrap().bytes() > 1 << 20);
    assert!(results.profile_file(&run.file_stem(), "hp").exists());
    let shown = bench.gclab(&["report", "out", "--format", "markdown"]).exits(0).stdout;
    assert!(shown.contains("the run ended as heap exhausted; "), "{shown}");
}

#[test]
fn hp2ps_draws_what_is_kept() {
    if Command::new("hp2ps").arg("-?").output().is_err() {
        eprintln!("no hp2ps here");
        return;
    }
    let (_bench, results) = done(FILE);
    for run in results.profiled() {
        let hp = results.profile_file(&run.file_stem(), "hp");
        let drawn = Command::new("hp2ps")
            .arg("-c")
            .arg(&hp)
            .current_dir(results.path())
            .output()
            .unwrap();
        assert!(
            drawn.status.success(),
            "{}: {}",
            hp.display(),
            String::from_utf8_lossy(&drawn.stderr)
        );
        let page = fs::read_to_string(results.path().join(format!("{}.ps", run.file_stem()))).unwrap();
        assert!(page.contains("showpage"), "{page}");
        if run.workload == "hsc_env" {
            assert!(page.contains("(hsc-eps-fc) show"), "{page}");
        }
    }
}

#[test]
fn bad_profiles_are_refused_at_their_place() {
    let bench = Bench::new();
    bench.write("x.toml", &FILE.replace("-hr -R0 -i0", "-hr -R0 -hz"));
    for words in [&["run", "x.toml"][..], &["run", "x.toml", "--dry-run=commands"]] {
        let refused = bench.gclab(words).exits(2);
        assert!(
            refused.stderr.contains("x.toml:5:") && refused.stderr.contains("`profiles`: -hz"),
            "{}",
            refused.all()
        );
    }
    assert!(bench.folders().is_empty());
}

#[test]
fn a_profile_goes_where_it_is_told() {
    let bench = Bench::new();
    let words = "exec hsc_env --profile here +RTS -hT -i0";
    let told = bench.gclab(&words.split(' ').collect::<Vec<_>>()).exits(0);
    assert!(
        told.stdout.starts_with("heap profile by closure type, here.hp: "),
        "{}",
        told.all()
    );
    assert!(bench.path().join("here.hp").exists() && !bench.path().join("hsc_env.hp").exists());
    let nothing = bench.gclab(&["exec", "hsc_env", "--profile", "here"]).exits(2);
    assert!(nothing.stderr.contains("no flag asks for one"), "{}", nothing.all());
}
