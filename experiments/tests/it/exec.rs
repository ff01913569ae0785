//! `gclab exec`: a run, its output, its record, and what it refuses.

use std::fs;

use gclab_results::{RunRecord, Status};

use crate::support::Bench;

/// The checksum of `binary_trees 10` in every language and under every collector.
const TREES_10: &str = "binary_trees checksum=135854\n";

#[test]
fn prints_the_checksum_and_nothing_else() {
    let bench = Bench::new();
    for collector in ["two-space", "copying"] {
        let done = bench
            .gclab(&["exec", "binary_trees", "10", "--collector", collector])
            .exits(0);
        assert_eq!((done.stdout.as_str(), done.stderr.as_str()), (TREES_10, ""));
    }
}

#[test]
fn options_stand_before_or_after_and_flags_anywhere() {
    let bench = Bench::new();
    for words in [
        "exec --collector copying binary_trees 10",
        "exec binary_trees --collector=copying 10",
        "exec binary_trees 10 --collector copying +RTS -A64k",
        "exec +RTS -A64k -RTS binary_trees 10",
        "+RTS -A64k -RTS exec binary_trees 10 +RTS -F3 -RTS",
        "exec -- binary_trees 10",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        assert_eq!(bench.gclab(&words).exits(0).stdout, TREES_10, "{words:?}");
    }
}

#[test]
fn flags_choose_the_collector_unless_one_is_named() {
    let bench = Bench::new();
    let collector = |words: &[&str]| {
        let words = [&["exec", "binary_trees", "6", "--record", "r.json"], words].concat();
        bench.gclab(&words).exits(0);
        let record: RunRecord =
            serde_json::from_str(&fs::read_to_string(bench.path().join("r.json")).unwrap()).unwrap();
        record.collector.clone()
    };
    assert_eq!(collector(&[]), "copying");
    assert_eq!(collector(&["+RTS", "-G1"]), "two-space");
    assert_eq!(collector(&["+RTS", "-G3"]), "copying");
    assert_eq!(collector(&["--collector", "two-space"]), "two-space");
}

#[test]
fn statistics_go_where_the_flags_say() {
    let bench = Bench::new();
    let done = bench.gclab(&["exec", "binary_trees", "10", "+RTS", "-s"]).exits(0);
    assert!(
        done.stdout == TREES_10 && done.stderr.contains("bytes allocated in the heap"),
        "{}",
        done.all()
    );
    let done = bench
        .gclab(&["exec", "binary_trees", "10", "+RTS", "-t", "--machine-readable"])
        .exits(0);
    assert!(done.stderr.starts_with(" [(\"bytes allocated\", \""), "{}", done.all());
    let done = bench
        .gclab(&["exec", "binary_trees", "10", "+RTS", "-S", "-A64k"])
        .exits(0);
    assert!(
        done.stderr.lines().filter(|line| line.ends_with("(Gen:  0)")).count() > 10,
        "{}",
        done.all()
    );
    let done = bench
        .gclab(&["exec", "binary_trees", "10", "+RTS", "-sout.txt"])
        .exits(0);
    let text = fs::read_to_string(bench.path().join("out.txt")).unwrap();
    assert!(
        done.stderr.is_empty() && text.starts_with("'gclab' 'exec' 'binary_trees' '10' "),
        "{text}"
    );
    let output = bench
        .command(&["exec", "binary_trees", "10", "+RTS", "-xr1m"])
        .env("GCLABRTS", "-s")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("MUT     time") && text.contains("2 MiB of addresses"),
        "{text}"
    );
    // As in GHC, a file also names the flags of the environment.
    let words = [
        "exec",
        "binary_trees",
        "10",
        "--collector",
        "copying",
        "+RTS",
        "-sout.txt",
    ];
    bench.command(&words).env("GCLABRTS", "-A64k").output().unwrap();
    let text = fs::read_to_string(bench.path().join("out.txt")).unwrap();
    assert!(text.contains("'copying' +RTS '-A64k' '-sout.txt' \n"), "{text}");
}

/// GHC's name for the stream does not make a file.
#[test]
fn stderr_is_not_a_file() {
    let bench = Bench::new();
    for (flag, shown) in [
        ("-tstderr", "<<ghc: "),
        ("-sstderr", "  GC      time"),
        ("-Sstderr", "    Alloc    Copied"),
    ] {
        let done = bench.gclab(&["exec", "binary_trees", "6", "+RTS", flag]).exits(0);
        assert!(done.stderr.contains(shown), "{}", done.all());
        assert!(!bench.path().join("stderr").exists(), "{flag}");
    }
}

#[test]
fn the_record_has_what_was_asked_and_what_was_counted() {
    let bench = Bench::new();
    bench
        .gclab(&[
            "exec",
            "binary_trees",
            "10",
            "--record",
            "r.json",
            "+RTS",
            "-A64k",
            "-AL1m",
            "-G3",
        ])
        .exits(0);
    let text = fs::read_to_string(bench.path().join("r.json")).unwrap();
    assert_eq!(text.lines().count(), 1);
    let record: RunRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (
            record.workload.as_str(),
            record.args.join(" "),
            record.collector.as_str()
        ),
        ("binary_trees", "10".into(), "copying")
    );
    assert_eq!(
        record.flags,
        [("A", "64k"), ("AL", "1m"), ("G", "3")]
            .map(|(name, value)| (name.into(), value.into()))
            .into()
    );
    assert_eq!(
        (record.outcome, record.checksum.as_deref()),
        (Status::Ok, Some("135854"))
    );
    let stats = record.stats.unwrap();
    // 135,854 nodes of 24 bytes.
    assert_eq!(stats.allocated_bytes, Some(135_854 * 24));
    assert_eq!(stats.generations.len(), 3);
    let collections = record.collections.unwrap();
    assert_eq!(stats.gcs, Some(collections.len() as u64));
    assert_eq!(stats.copied_bytes, Some(collections.copied_bytes.iter().sum()));
    let elapsed: u64 = collections.elapsed_ns.iter().sum();
    assert!(elapsed as f64 <= stats.gc_elapsed_seconds.unwrap() * 1e9 * 1.01 + 1e3);
}

#[test]
fn latency_goes_into_the_record_and_nowhere_else() {
    let bench = Bench::new();
    for (rate, expected) in [("0", None), ("50000", Some(50_000))] {
        let words = [
            "exec", "server", "2", "1000", "100", rate, "--record", "r.json", "+RTS", "-N2",
        ];
        let done = bench.gclab(&words).exits(0);
        let text = fs::read_to_string(bench.path().join("r.json")).unwrap();
        let record: RunRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(done.stdout, format!("server checksum={}\n", record.checksum.unwrap()));
        let latency = record.latency.expect("it answers requests");
        assert_eq!((latency.requests, latency.rate_per_second), (Some(1000), expected));
        let rising = [
            latency.p50_ns,
            latency.p90_ns,
            latency.p99_ns,
            latency.p99_9_ns,
            latency.max_ns,
        ]
        .map(Option::unwrap);
        assert!(rising[0] > 0 && rising.is_sorted(), "{latency:?}");
        // A closed loop also has made-up start times, which are never later than the real ones.
        let windows = latency.metered.as_deref().unwrap_or_default();
        let lengths: Vec<Option<u64>> = windows.iter().map(|one| one.window_ns).collect();
        let all = [Some(1_000_000), Some(10_000_000), Some(100_000_000), None];
        assert_eq!(lengths, if expected.is_none() { &all[..] } else { &[] });
        for metered in windows {
            assert!(
                metered.p50_ns >= latency.p50_ns && metered.max_ns >= latency.max_ns,
                "{latency:?}"
            );
        }
        // There is no one-in-ten-thousand among a thousand requests.
        assert_eq!(latency.p99_99_ns, None);
        assert!(latency.mean_ns.unwrap() <= rising[4] as f64);
    }
    bench
        .gclab(&["exec", "binary_trees", "6", "--record", "r.json"])
        .exits(0);
    let text = fs::read_to_string(bench.path().join("r.json")).unwrap();
    assert!(!text.contains("latency"), "{text}");
}

#[test]
fn an_exhausted_heap_is_a_clean_end() {
    let bench = Bench::new();
    let done = bench
        .gclab(&[
            "exec",
            "long_list",
            "1000000",
            "0",
            "--collector",
            "copying",
            "--record",
            "r.json",
            "+RTS",
            "-M8m",
            "-A1m",
            "-s",
        ])
        .exits(251);
    assert_eq!(done.stdout, "");
    for line in [
        "gclab: Heap exhausted;",
        "gclab: Current maximum heap size is 8388608 bytes (8 MB).",
        "gclab: Use `+RTS -M<size>' to increase it.",
        "`--collector compacting` would go on for longer",
        "bytes maximum residency",
    ] {
        assert!(done.stderr.contains(line), "{line}\n{}", done.all());
    }
    let record: RunRecord = serde_json::from_str(&fs::read_to_string(bench.path().join("r.json")).unwrap()).unwrap();
    assert_eq!((record.outcome, record.checksum), (Status::HeapExhausted, None));
    assert!(record.stats.unwrap().gcs.unwrap() > 0);
}

/// A run that would take minutes ends after a second of collections that each free 1 % of the
/// limit.
#[test]
fn a_run_that_thrashes_ends_and_says_why() {
    let bench = Bench::new();
    let words = "exec long_list 800000 2000000000 --collector two-space --record r.json";
    let flags = "+RTS -M40m --gc-overhead-limit=50 -s";
    let words: Vec<&str> = words.split(' ').chain(flags.split(' ')).collect();
    let done = bench.gclab(&words).exits(251);
    for line in [
        "gclab: Heap almost exhausted;",
        " major collections that freed ",
        "gclab: Use `+RTS -M<size>' to allow more memory, or `--gc-overhead-limit=0' to go on regardless.",
        "  Thrashing: ",
    ] {
        assert!(done.stderr.contains(line), "{line}\n{}", done.all());
    }
    let record: RunRecord = serde_json::from_str(&fs::read_to_string(bench.path().join("r.json")).unwrap()).unwrap();
    assert_eq!(record.outcome, Status::HeapExhausted);
    assert!(record.stats.unwrap().thrashing_seconds.unwrap() >= 1.0);
}

#[test]
fn a_reservation_that_is_too_small_is_found_out_as_a_limit_is() {
    let bench = Bench::new();
    let done = bench
        .gclab(&["exec", "binary_trees", "16", "+RTS", "-xr8m", "-s"])
        .exits(251);
    for line in [
        "gclab: The address space reserved for the heap is used up: 8388608 bytes (8 MB).",
        "gclab: Use `+RTS -xr<size>' to reserve more.",
        "bytes maximum residency",
    ] {
        assert!(done.stderr.contains(line), "{line}\n{}", done.all());
    }
}

#[test]
fn the_largest_reservation_can_be_asked_for() {
    let bench = Bench::new();
    bench.gclab(&["exec", "binary_trees", "10", "+RTS", "-xr1t"]).exits(0);
    let done = bench
        .gclab(&["exec", "binary_trees", "10", "+RTS", "-xr1025g"])
        .exits(2);
    assert!(done.stderr.contains("-xr: 1025g is out of range"), "{}", done.all());
}

#[test]
fn errors_are_reported_before_anything_runs() {
    let bench = Bench::new();
    let mut text = String::new();
    for words in [
        "exec binary_tree 10",
        "exec binary_trees ten",
        "exec binary_trees 99",
        "exec binary_trees 10 11",
        "exec binary_trees 10 --collector coppying",
        "exec binary_trees 10 --colector copying",
        "exec binary_trees 10 --record",
        "exec binary_trees 10 --record no/such/folder/r.json",
        "exec binary_trees 10 +RTS -A",
        "exec binary_trees 10 +RTS -A1",
        "exec binary_trees 10 +RTS -A1q",
        "exec binary_trees 10 +RTS --machine-readible",
        "exec binary_trees 10 --collector two-space +RTS -O2m",
        "exec binary_trees 10 --collector two-space +RTS -G2",
        "exec binary_trees 10 --collector copying +RTS -G1",
        "exec heap_snapshot no-such-file.heapsnapshot",
        "run",
        "run x.toml --shard 3/2",
        "run x.toml +RTS -A1m",
        "rum x.toml",
        "compare a b --threshold wide",
        "list colectors",
        "",
    ] {
        let words_list: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
        let done = bench.gclab(&words_list).exits(2);
        assert_eq!(done.stdout, "", "{words}");
        text.push_str(&format!("$ gclab {words}\n{}\n", shortened(&done.stderr)));
    }
    insta::assert_snapshot!(text);
}

/// A message without clap's help and without lists of names, which grow with every collector,
/// workload and flag.
fn shortened(text: &str) -> String {
    let cut = |line: &str| {
        let ends = ["workloads: ", "collectors: ", "Usage: "]
            .into_iter()
            .filter_map(|word| Some(line.find(word)? + word.len() - 1));
        ends.min()
            .map_or_else(|| line.to_owned(), |end| format!("{} ...", &line[..end]))
    };
    text.lines()
        .take(6)
        .map(cut)
        .collect::<Vec<_>>()
        .join("\n")
        .trim_end()
        .to_owned()
}

#[test]
fn help_and_info_need_no_workload() {
    let bench = Bench::new();
    for words in [&["exec", "+RTS", "-?"][..], &["+RTS", "-?"]] {
        assert!(bench.gclab(words).exits(0).stdout.contains("-A<size>"));
    }
    let info = bench.gclab(&["exec", "+RTS", "--info"]).exits(0).stdout;
    assert!(
        info.starts_with(" [(\"GHC RTS\", \"NO\")\n") && info.contains("copying"),
        "{info}"
    );
    for words in [&["--help"][..], &["exec", "--help"], &["run", "--help"], &["--version"]] {
        assert!(!bench.gclab(words).exits(0).stdout.is_empty());
    }
}

/// The addresses allowed by `-xr` have no room for the area. `-M` cuts it without a warning, as
/// requested.
#[test]
fn an_area_cut_to_memory_is_reported() {
    let bench = Bench::new();
    let exec = |limit: &str| {
        bench
            .gclab(&["exec", "binary_trees", "6", "+RTS", "-A1g", limit])
            .exits(0)
            .stderr
    };
    let cut = exec("-xr64m");
    assert!(
        cut.starts_with("gclab: note: -A1g does not fit into memory: each allocation area has ")
            && cut.lines().count() == 1,
        "{cut}"
    );
    assert_eq!(exec("-M16m"), "");
    let hint = |words: &[&str]| {
        let words = [&["exec", "binary_trees", "6", "+RTS"], words].concat();
        bench.gclab(&words).exits(0).stderr
    };
    let cut = hint(&["-H8t", "-xr64m"]);
    assert!(
        cut.starts_with("gclab: note: -H8t does not fit into memory: each allocation area has "),
        "{cut}"
    );
    assert_eq!(hint(&["-H16m"]), "");
    assert_eq!(hint(&["-H16m", "-N2"]), "");
    // It uses OCaml's minor heap instead of -A.
    let ocaml = bench
        .gclab(&["exec", "binary_trees", "6", "--collector", "ocaml"])
        .exits(0);
    assert_eq!(ocaml.stderr, "");
}
