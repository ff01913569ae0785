//! `gclab events`: the event logs of GHC programs.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::docs::root;
use crate::support::{Bench, Done};

/// A bench with an event log of GHC, `ghc.eventlog`, and the statistics of that run.
fn bench() -> (Bench, Value) {
    let bench = Bench::new();
    let fixtures = root().join("core/eventlog/tests/it/fixtures");
    let name = "phases-thr-n2.a.eventlog";
    let log = fs::read(fixtures.join(name)).unwrap();
    fs::write(bench.path().join("ghc.eventlog"), &log).unwrap();
    fs::write(bench.path().join("cut.eventlog"), &log[..20_000]).unwrap();
    let manifest = fs::read_to_string(fixtures.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let logs = manifest["logs"].as_array().unwrap();
    let entry = logs.iter().find(|entry| entry["log"] == name).unwrap();
    (bench, entry["must_equal"].clone())
}

#[test]
fn a_marker_is_a_moment() {
    let (bench, _) = bench();
    let summary = |from: &str, to: &str| {
        let args = ["events", "summary", "ghc.eventlog", "--from", from, "--to", to];
        bench.gclab(&args).exits(0).stdout
    };
    assert_eq!(
        summary("phase:churn", "phase:garbage"),
        summary("11378047ns", "69494220ns")
    );
    assert_ne!(
        summary("phase:churn", "phase:garbage"),
        summary("phase:fill", "phase:garbage")
    );
}

#[test]
fn a_summary_has_the_layout_of_ghc() {
    let (bench, _) = bench();
    let text = bench.gclab(&["events", "summary", "ghc.eventlog"]).exits(0).stdout;
    insta::assert_snapshot!(text);
    let args = ["events", "summary", "ghc.eventlog", "--from", "20ms", "--to", "0.06"];
    let part = bench.gclab(&args).exits(0).stdout;
    assert!(
        part.contains("  Total   time         ?  (  0.040s elapsed)\n"),
        "{part}"
    );
}

#[test]
fn a_summary_as_json_has_ghcs_figures_by_ghcs_names() {
    let (bench, figures) = bench();
    let text = bench
        .gclab(&["events", "summary", "ghc.eventlog", "--json"])
        .exits(0)
        .stdout;
    let found: Value = serde_json::from_str(&text).unwrap();
    let figures = figures.as_object().unwrap();
    assert!(figures.len() > 20);
    for (name, figure) in figures {
        // A decimal is a number with the digits that GHC prints.
        let digits = figure.as_str().map_or_else(|| figure.to_string(), str::to_owned);
        assert!(text.contains(&format!("\n  \"{name}\": {digits},\n")), "{name}: {text}");
        assert!(found[name].is_number(), "{name}");
    }
    let args = [
        "events",
        "summary",
        "ghc.eventlog",
        "--json",
        "--from",
        "20ms",
        "--to",
        "60ms",
    ];
    let part = bench.gclab(&args).exits(0).stdout;
    let part: Value = serde_json::from_str(&part).unwrap();
    assert_eq!(
        (&part["from_ns"], &part["to_ns"], &part["Total_elapsed_ns"]),
        (&20_000_000.into(), &60_000_000.into(), &40_000_000.into())
    );
    let collections = |object: &Value| object["num_GCs"].as_u64().unwrap();
    assert!(
        collections(&part) > 5 && collections(&part) < collections(&found) / 2,
        "{part}"
    );
    assert!(
        found
            .as_object()
            .unwrap()
            .values()
            .all(|value| !value.is_object() && !value.is_array())
    );
}

#[test]
fn events_are_shown_by_type_capability_and_time() {
    let (bench, _) = bench();
    let show = |more: &[&str]| {
        let words = [&["events", "show", "ghc.eventlog"], more].concat();
        bench.gclab(&words).exits(0).stdout
    };
    let all = show(&[]);
    let starts = show(&["--type", "gc_start", "--type", "EVENT_GC_END"]);
    let expected = |line: &&str| line.ends_with(": starting GC") || line.ends_with(": finished GC");
    assert_eq!(
        starts.lines().collect::<Vec<_>>(),
        all.lines().filter(expected).collect::<Vec<_>>()
    );
    assert_eq!(show(&["--type", "9", "--type", "10"]), starts);
    let markers = show(&["--cap", "0", "--json", "--type", "USER_MARKER", "--from", "50ms"]);
    for line in markers.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert!(
            event["time"].as_u64() >= Some(50_000_000) && event["cap"] == 0,
            "{line}"
        );
        assert!(event["marker"].as_str().unwrap().starts_with("phase:"), "{line}");
    }
    assert!(markers.lines().count() > 2);
    assert!(show(&["--cap", "global"]).contains("capset 0: RTS version \"GHC-9.0.2 rts_thr_l\""));
}

#[test]
fn a_check_names_the_rules_that_are_broken() {
    let (bench, _) = bench();
    let done = bench.gclab(&["events", "check", "ghc.eventlog"]).exits(0);
    assert!(done.stdout.ends_with(" events keep every rule\n"), "{}", done.all());
    let done = bench.gclab(&["events", "check", "cut.eventlog", "--salvage"]).exits(1);
    assert!(
        done.stdout
            .starts_with("the log is whole: broken\n    cut.eventlog: byte 20000: "),
        "{}",
        done.all()
    );
    // A collection on capability 0 loses its end.
    let path = bench.path().join("ghc.eventlog");
    let mut log = fs::read(&path).unwrap();
    let data = log.windows(4).position(|bytes| bytes == b"datb").unwrap();
    let end = log[data..].windows(3).position(|bytes| bytes == [0, 10, 0]).unwrap();
    log[data + end + 1] = 20;
    fs::write(&path, log).unwrap();
    let done = bench.gclab(&["events", "check", "ghc.eventlog"]).exits(1);
    assert!(
        done.stdout
            .contains("every collection ends before the next one: broken once\n    byte "),
        "{}",
        done.all()
    );
}

#[test]
fn damage_is_one_message_or_the_end() {
    let (bench, _) = bench();
    let count = |done: &Done| done.stdout.lines().count();
    let whole = bench.gclab(&["events", "show", "ghc.eventlog"]).exits(0);
    let damage = "gclab: cut.eventlog: byte 20000: the file ends here, within an event: it was cut off";
    for command in ["summary", "show", "check"] {
        let done = bench.gclab(&["events", command, "cut.eventlog"]).exits(2);
        assert_eq!(
            done.stderr,
            format!("{damage}; --salvage skips the damage and resumes at the next sound block\n")
        );
    }
    let done = bench.gclab(&["events", "show", "cut.eventlog", "--salvage"]).exits(0);
    assert!(count(&done) > 500 && count(&done) < count(&whole), "{}", count(&done));
    assert_eq!(done.stderr, format!("{damage}; all other events were printed\n"));
    let done = bench
        .gclab(&["events", "summary", "cut.eventlog", "--salvage"])
        .exits(0);
    assert!(
        done.stdout.contains(" colls,") && done.stdout.contains(" >"),
        "{}",
        done.all()
    );
    let args = ["events", "summary", "cut.eventlog", "--salvage", "--json"];
    let cut: Value = serde_json::from_str(&bench.gclab(&args).exits(0).stdout).unwrap();
    assert_eq!(cut["lower_bounds"], true);
    assert_eq!(
        done.stderr,
        format!("{damage}; all other events were read, and their sums are lower bounds\n")
    );
}

#[test]
fn a_wrong_request_is_one_message() {
    let (bench, _) = bench();
    bench.write("text.eventlog", "{}");
    for (words, message) in [
        (&["summary", "no.eventlog"][..], "gclab: no.eventlog: no such file\n"),
        (
            &["show", "text.eventlog"],
            "gclab: text.eventlog: byte 0: not a GHC event log: expected `hdrb`, found `{}`\n",
        ),
        (
            &["summary", "ghc.eventlog", "--from", "2s", "--to", "1s"],
            "gclab: --to is 1000000000 ns, expected more than --from, 2000000000 ns\n",
        ),
    ] {
        let done = bench.gclab(&[&["events"], words].concat()).exits(2);
        assert_eq!(done.stderr, message);
    }
    let refused = |words: &[&str]| bench.gclab(&[&["events"], words].concat()).exits(2).stderr;
    assert!(refused(&["show", "ghc.eventlog", "--type", "GC_STRAT"]).contains("did you mean `GC_START`?"));
    assert!(!refused(&["show", "ghc.eventlog", "--type", "GC_STRAT"]).contains("HEAP_LIVE"));
    assert!(refused(&["show", "ghc.eventlog", "--from", "-5ms"]).contains("expected a time of the run, 1.5s"));
    assert!(refused(&["show", "ghc.eventlog", "--cap", "two"]).contains("expected the number of a capability"));
    assert!(refused(&["summary", "ghc.eventlog", "--to", "1h"]).contains("neither a time of the run"));
    assert!(refused(&["summary", "ghc.eventlog", "+RTS", "-s"]).contains("flags between +RTS and -RTS are for"));
}

#[test]
fn a_choice_that_matches_nothing_is_reported() {
    let (bench, _) = bench();
    let said = |words: &[&str]| {
        let done = bench.gclab(&[&["events"], words].concat()).exits(0);
        assert_eq!(done.stdout, "", "{}", done.all());
        done.stderr
    };
    let none = "gclab: no event was chosen\n";
    assert_eq!(
        said(&["show", "ghc.eventlog", "--cap", "9"]),
        format!("gclab: the log has no events of capability 9, only of 0 to 1\n{none}")
    );
    assert_eq!(
        said(&["show", "ghc.eventlog", "--type", "9999"]),
        format!("gclab: the log declares no event type 9999\n{none}")
    );
    assert_eq!(
        said(&["show", "ghc.eventlog", "--type", "MEM_RETURN"]),
        format!("gclab: the log declares no event type 90 (MEM_RETURN)\n{none}")
    );
    assert_eq!(said(&["show", "ghc.eventlog", "--type", "LOG_MSG"]), none);
    let beyond = "gclab: --from is 5000000000 ns, and the last event of the log is at ";
    for (command, status) in [("show", 0), ("summary", 2)] {
        let done = bench.gclab(&["events", command, "ghc.eventlog", "--from", "5s"]);
        let done = done.exits(status);
        assert_eq!(done.stdout, "");
        let said = done.stderr;
        assert!(said.starts_with(beyond) && said.ends_with(" ns\n"), "{said}");
    }
}

#[test]
fn a_log_may_come_from_a_pipe() {
    let (bench, _) = bench();
    let log = fs::read(bench.path().join("ghc.eventlog")).unwrap();
    for command in ["show", "summary", "check"] {
        let expected = bench.gclab(&["events", command, "ghc.eventlog"]).exits(0);
        for name in ["-", "/dev/stdin"] {
            let mut child = bench
                .command(&["events", command, name])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut pipe = child.stdin.take().unwrap();
            let log = log.clone();
            let writer = std::thread::spawn(move || pipe.write_all(&log).unwrap());
            let output = child.wait_with_output().unwrap();
            writer.join().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let shown = if name == "-" { "standard input" } else { name };
            assert_eq!(text, expected.stdout.replace("ghc.eventlog", shown), "{command} {name}");
        }
    }
    let done = bench.gclab(&["events", "show", "-"]).exits(2);
    assert_eq!(
        done.stderr,
        "gclab: standard input: byte 0: not a GHC event log: expected `hdrb`, found nothing\n"
    );
}

/// A comparison used to read a damaged log up to its first damage, but the summary reads each
/// capability up to its own.
#[test]
fn a_comparison_reads_a_damaged_log_as_its_summary_does() {
    let (bench, _) = bench();
    let path = bench.path().join("ghc.eventlog");
    let mut log = fs::read(&path).unwrap();
    log[10_699..10_701].copy_from_slice(&[0x7f, 0xff]);
    fs::write(bench.path().join("broken.eventlog"), log).unwrap();
    let summary = ["events", "summary", "broken.eventlog", "--salvage", "--json"];
    let summary: Value = serde_json::from_str(&bench.gclab(&summary).exits(0).stdout).unwrap();
    let diff = ["events", "diff", "broken.eventlog", "ghc.eventlog", "--salvage"];
    let text = bench.gclab(&diff).exits(0).stdout;
    let figures: Value =
        serde_json::from_str(&bench.gclab(&[&diff[..], &["--json"]].concat()).exits(0).stdout).unwrap();
    let figures = figures["figures"].as_array().unwrap();
    let figure = |group: &str, name: &str| {
        let found = figures.iter().find(|row| row["group"] == group && row["name"] == name);
        found.unwrap()["a"].clone()
    };
    assert_eq!(figure("pauses of capabilities", "number"), summary["cap_pause.count"]);
    assert_eq!(figure("memory", "copied"), summary["copied_bytes"]);
    assert_eq!(figure("time", "mutator (MUT)"), Value::Null);
    let copied = text.lines().find(|line| line.starts_with("  copied ")).unwrap();
    let sides: Vec<&str> = copied.split_whitespace().collect();
    assert!(sides[1].starts_with('>') && !sides[3].starts_with('>'), "{copied}");
}

#[test]
fn two_logs_are_compared() {
    let (bench, _) = bench();
    let done = bench
        .gclab(&["events", "diff", "ghc.eventlog", "cut.eventlog", "--salvage"])
        .exits(0);
    assert!(
        done.stdout
            .contains("\n\nA  ghc.eventlog\nB  cut.eventlog (damaged: > is at least, ~ is near)\n")
    );
    let begin = |a: &str, b: &str| {
        let all = bench.gclab(&["events", "diff", a, b, "--salvage"]).exits(0).stdout;
        all.lines().next().unwrap().to_owned()
    };
    assert!(begin("ghc.eventlog", "cut.eventlog").starts_with("A log is damaged"));
    assert_eq!(begin("ghc.eventlog", "ghc.eventlog"), "B equals A in every figure.");
    let whole = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../core/eventlog/tests/it/fixtures/phases-thr-n2.b.eventlog.gz");
    fs::copy(whole, bench.path().join("b.eventlog.gz")).unwrap();
    let answer = begin("ghc.eventlog", "b.eventlog.gz");
    assert_eq!(answer, "B takes 15.0 % longer than A: 150.426 ms, not 130.752 ms.");
    assert!(
        done.stderr.ends_with("were read, and their sums are lower bounds\n"),
        "{}",
        done.all()
    );
    let line = |name: &str| {
        let found = done.stdout.lines().find(|line| line.trim_start().starts_with(name));
        let words = found
            .unwrap_or_else(|| panic!("{name}: {}", done.all()))
            .split_whitespace();
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    // The whole log has this many of the events that the cut one lost.
    let starts = line("GC_START");
    let number = |word: &str| word.replace([',', '>'], "").parse::<i64>().unwrap();
    assert!(number(&starts[2]) < number(&starts[1]), "{starts:?}");
    assert!(starts[3].starts_with('-') && starts[4] == "%", "{starts:?}");

    let json = |words: &[&str]| -> Value {
        let words = [&["events", "diff"], words, &["--json"]].concat();
        serde_json::from_str(&bench.gclab(&words).exits(0).stdout).unwrap()
    };
    let same = json(&["ghc.eventlog", "ghc.eventlog"]);
    for figure in same["figures"].as_array().unwrap() {
        assert_eq!(figure["a"], figure["b"], "{figure}");
        assert!(["count", "bytes", "ns", "share"].contains(&figure["unit"].as_str().unwrap()));
    }
    let half = json(&["ghc.eventlog", "ghc.eventlog", "--to", "60ms"]);
    let total = |object: &Value| {
        let figures = object["figures"].as_array().unwrap();
        let total = figures.iter().find(|figure| figure["name"] == "total elapsed").unwrap();
        total["a"].as_u64().unwrap()
    };
    assert!(total(&half) == 60_000_000 && total(&same) > 100_000_000);
    assert!(
        same["settings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["name"] == "RTS flags")
    );

    let done = bench.gclab(&["events", "diff", "-", "-"]).exits(2);
    assert!(
        done.stderr.contains("expected a file for one of them"),
        "{}",
        done.all()
    );
    bench
        .gclab(&["events", "diff", "ghc.eventlog", "cut.eventlog"])
        .exits(2);
}

#[test]
fn a_log_is_exported_as_trace_events() {
    let (bench, _) = bench();
    let export = ["events", "export", "ghc.eventlog", "--format", "chrome"];
    let printed = bench.gclab(&export).exits(0).stdout;
    let trace: Value = serde_json::from_str(&printed).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let majors = events
        .iter()
        .filter(|event| event["name"] == "GC gen 1" && event["ph"] == "X");
    // Five of six major collections are parallel, on two capabilities.
    assert_eq!(majors.count(), 11);
    let done = bench.gclab(&[&export[..], &["-o", "trace.json"]].concat()).exits(0);
    assert_eq!((&done.stdout[..], &done.stderr[..]), ("", ""));
    assert_eq!(fs::read_to_string(bench.path().join("trace.json")).unwrap(), printed);

    let refused = |words: &[&str]| bench.gclab(&[&["events", "export"], words].concat()).exits(2).stderr;
    assert!(refused(&["ghc.eventlog", "--format", "chrome", "-o", "/dev/full"]).contains("/dev/full: cannot write: "));
    let done = bench.gclab(&[&export[..], &["--from", "10s", "-o", "none.json"]].concat());
    let said = done.exits(0).stderr;
    assert!(
        said.starts_with("gclab: --from is 10000000000 ns, and the last event of the log is at "),
        "{said}"
    );
    assert!(refused(&["ghc.eventlog", "--format", "chrome", "-o", "no/trace.json"]).contains("cannot write"));
    assert!(refused(&["ghc.eventlog", "--format", "pdf"]).contains("possible values: chrome"));
    let before = fs::read(bench.path().join("ghc.eventlog")).unwrap();
    assert!(before.starts_with(b"hdrb"));
    let cut = ["events", "export", "cut.eventlog", "--format", "chrome", "--salvage"];
    let done = bench.gclab(&cut).exits(0);
    let trace: Value = serde_json::from_str(&done.stdout).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 100);
    assert!(
        done.stderr.ends_with("; all other events were written\n"),
        "{}",
        done.all()
    );
}

/// The lengths of each state are those of the timeline, and the collections those of the summary.
#[test]
fn a_log_is_exported_for_speedscope() {
    let (bench, _) = bench();
    let read = |words: &[&str]| -> Value {
        let words = [&["events"], words].concat();
        serde_json::from_str(&bench.gclab(&words).exits(0).stdout).unwrap()
    };
    let part = ["--from", "20ms", "--to", "60ms"];
    for interval in [&[][..], &part] {
        let export = ["export", "ghc.eventlog", "--format", "speedscope"];
        let file = read(&[&export[..], interval].concat());
        let figures = read(&[&["summary", "ghc.eventlog", "--json"], interval].concat());
        let frame = |name: &str| {
            let frames = file["shared"]["frames"].as_array().unwrap();
            frames.iter().position(|frame| frame["name"] == name).unwrap() as u64
        };
        let profiles = file["profiles"].as_array().unwrap();
        assert_eq!(profiles.len(), 2);
        for (cap, profile) in profiles.iter().enumerate() {
            assert_eq!(
                (&profile["type"], &profile["unit"]),
                (&"sampled".into(), &"nanoseconds".into())
            );
            let (stacks, weights) = (
                profile["samples"].as_array().unwrap(),
                profile["weights"].as_array().unwrap(),
            );
            assert_eq!(stacks.len(), weights.len());
            let all = |frame: u64| {
                let pairs = stacks.iter().zip(weights).filter(|(stack, _)| stack[0] == frame);
                pairs.map(|(_, weight)| weight.as_u64().unwrap()).sum::<u64>()
            };
            assert_eq!(all(frame("mutator")), figures[&format!("cap_{cap}.ran_ns")]);
            assert!(all(frame("GC")) >= figures["GC_elapsed_ns"].as_u64().unwrap() / 2);
            let sum: u64 = weights.iter().map(|weight| weight.as_u64().unwrap()).sum();
            assert_eq!(profile["endValue"], sum);
            assert!(interval.is_empty() || sum == 40_000_000, "{sum}");
        }
    }
}
