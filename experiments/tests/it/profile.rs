//! Heap profiles of single runs.

use crate::support::{Bench, until};

/// The numbers in the root profile of the example follow by arithmetic, for every collector.
#[test]
fn the_roots_of_hsc_env() {
    for collector in ["two-space", "copying", "parallel", "compacting"] {
        let bench = Bench::new();
        let done = bench.gclab(&["exec", "hsc_env", "--collector", collector, "+RTS", "-ho", "-i0"]);
        let rows: Vec<Vec<&str>> = done
            .stdout
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let expected = [
            ["hsc", "80"],
            ["eps", "0"],
            ["fc", "0"],
            ["hsc-eps", "48"],
            ["hsc-fc", "72"],
            ["eps-fc", "0"],
            ["hsc-eps-fc", "32"],
            ["sum", "232"],
        ];
        assert_eq!(rows[1..9], expected, "{}", done.all());
        assert_eq!(rows[9], ["hsc_env", "checksum=3723705408"]);
        let hp = std::fs::read_to_string(bench.path().join("hsc_env.hp")).unwrap();
        assert_eq!(hp.matches("\nhsc-eps-fc\t32\n").count(), 4, "{hp}");
        assert!(
            !hp.contains("eps\t0") && hp.contains("JOB \"hsc_env --collector"),
            "{hp}"
        );
    }
}

#[test]
fn a_profile_is_in_the_record_and_its_sets_in_a_file() {
    let bench = Bench::new();
    let words = "exec hash_churn 1024 4096 20000 --record run.json +RTS -hr -i0 -A64k";
    let done = bench.gclab(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, Some(0), "{}", done.all());
    let line = std::fs::read_to_string(bench.path().join("run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&line).unwrap();
    let profile = &record["profile"];
    assert_eq!(profile["breakdown"], "retainers");
    let censuses = profile["censuses"].as_array().unwrap();
    assert_eq!(
        censuses.len(),
        record["collections"]["start_ns"].as_array().unwrap().len()
    );
    assert!(
        censuses
            .iter()
            .any(|census| census["bands"].as_object().unwrap().len() > 1)
    );
    let prof = std::fs::read_to_string(bench.path().join("hash_churn.prof")).unwrap();
    assert_eq!(prof.matches("Retainer Profiling: ").count(), censuses.len());
    for (number, names) in profile["retainer_sets"].as_object().unwrap() {
        let first = names[0].as_str().unwrap();
        assert!(prof.contains(&format!("SET {number} = {{<{first}>")), "{prof}");
    }
}

#[test]
fn impossible_requests_are_reported_before_anything_runs() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("hsc_env.hp")).unwrap();
    let done = bench.gclab(&["exec", "hsc_env", "+RTS", "-hT"]).exits(2);
    assert!(done.stderr.contains("heap profile hsc_env.hp: "), "{}", done.stderr);
    let done = bench.gclab(&["exec", "hsc_env", "+RTS", "-hT", "-hy"]).exits(2);
    assert!(
        done.stderr.contains("-hy is one heap profile too many"),
        "{}",
        done.stderr
    );
}

/// A disk that is full at the end costs the run nothing: its checksum, its record and the profile
/// in it are complete.
#[test]
fn a_file_that_cannot_be_finished_loses_nothing_else() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("/dev/full", bench.path().join("hash_churn.prof")).unwrap();
    let words = "exec hash_churn 1024 4096 20000 --record run.json +RTS -hr -i0 -A64k";
    let done = bench.gclab(&words.split(' ').collect::<Vec<_>>()).exits(1);
    assert!(done.stdout.contains("hash_churn checksum="), "{}", done.all());
    let problem = "gclab: heap profile hash_churn.prof: No space left on device";
    assert!(done.stderr.contains(problem), "{}", done.all());
    let line = std::fs::read_to_string(bench.path().join("run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(record["checksum"].is_string(), "{line}");
    assert!(!record["profile"]["censuses"].as_array().unwrap().is_empty());
}

/// A program without named roots gets a message saying so. Any interval works, however short for a
/// clock.
#[test]
fn profiles_of_nothing_say_why() {
    let bench = Bench::new();
    let done = bench.gclab(&["exec", "binary_trees", "6", "+RTS", "-ho", "-i0", "-A64k"]);
    assert!(
        done.stdout.contains("the program names no heap roots"),
        "{}",
        done.all()
    );
    let done = bench.gclab(&["exec", "binary_trees", "6", "+RTS", "-hyNobody", "-i0", "-A64k"]);
    assert!(done.stdout.contains("no closure has the names"), "{}", done.all());
    // The census thread may start late.
    until("a census", || {
        let words = ["exec", "binary_trees", "14", "+RTS", "-hy", "-i0.0000000001"];
        !bench.gclab(&words).exits(0).stdout.contains("no census")
    });
}

/// The result of starting the census thread used to be ignored: the run ended in a panic.
#[test]
fn a_profile_whose_thread_cannot_be_started_is_refused() {
    let bench = Bench::new();
    let words = ["exec", "binary_trees", "6", "+RTS", "-hT", "-i0.001"];
    // No system has that much memory for a thread's stack.
    let output = bench
        .command(&words)
        .env("RUST_MIN_STACK", (1_u64 << 50).to_string())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("profiles") && stderr.contains("cannot be started"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert_eq!(output.stdout, b"", "a run that was refused has no checksum");
}

/// The report looks like GHC's, and allocation is counted, so it is the same in every run.
#[test]
fn a_time_profile_has_the_cost_centres_of_the_program() {
    let bench = Bench::new();
    let words = [
        "exec", "gcbench", "12", "10", "1000", "--record", "r.json", "+RTS", "-P", "-poout", "-V0.001",
    ];
    bench.gclab(&words).exits(0);
    let report = std::fs::read_to_string(bench.path().join("out.prof")).unwrap();
    assert!(
        report.contains("Time and Allocation Profiling Report  (Final)"),
        "{report}"
    );
    assert!(report.contains("\n\t   gcbench 12 10 1000"), "{report}");
    assert!(report.contains(" ticks @ 1000 us, 1 processor)"), "{report}");
    let tree: Vec<Vec<&str>> = report
        .lines()
        .skip_while(|line| !line.contains("individual"))
        .skip(3)
        .map(|line| line.split_whitespace().collect())
        .collect();
    let labels: Vec<&str> = tree.iter().map(|row| row[0]).collect();
    assert_eq!(
        labels,
        ["MAIN", "bottom_up", "kept", "numbers", "stretch", "top_down"],
        "{report}"
    );
    for row in &tree[1..] {
        assert!(row[2].starts_with("workloads/src/gcbench.rs:"), "{report}");
        assert!(row[4].parse::<u64>().unwrap() >= 1, "entries: {report}");
    }
    // The last column accounts for all bytes that the run allocated.
    let bytes: u64 = tree.iter().map(|row| row.last().unwrap().parse::<u64>().unwrap()).sum();
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(bench.path().join("r.json")).unwrap()).unwrap();
    assert_eq!(Some(bytes), record["stats"]["allocated_bytes"].as_u64(), "{report}");
}

#[test]
fn a_time_profile_shares_its_file_with_sets_of_retainers() {
    let bench = Bench::new();
    bench
        .gclab(&[
            "exec",
            "hash_churn",
            "1024",
            "4096",
            "20000",
            "+RTS",
            "-p",
            "-hr",
            "-i0",
            "-A64k",
        ])
        .exits(0);
    let text = std::fs::read_to_string(bench.path().join("hash_churn.prof")).unwrap();
    let places = ["Time and Allocation", "Retainer Profiling: 0", "SET "].map(|part| text.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    std::fs::create_dir(bench.path().join("binary_trees.prof")).unwrap();
    let done = bench.gclab(&["exec", "binary_trees", "3", "+RTS", "-p"]).exits(2);
    assert!(
        done.stderr.contains("time profile binary_trees.prof: "),
        "{}",
        done.all()
    );
}

#[test]
fn the_bell_sounds_at_each_collection() {
    let bench = Bench::new();
    let words = [
        "exec",
        "binary_trees",
        "10",
        "--record",
        "r.json",
        "+RTS",
        "-B",
        "-A64k",
    ];
    let done = bench.gclab(&words).exits(0);
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(bench.path().join("r.json")).unwrap()).unwrap();
    assert_eq!(
        Some(done.stderr.matches('\u{7}').count() as u64),
        record["stats"]["gcs"].as_u64(),
        "{}",
        done.all()
    );
}
