//! `gclab events`: the event logs of GHC programs.

use std::fs;

use serde_json::Value;

use crate::docs::root;
use crate::support::{Bench, Done};

/// A bench with an event log of GHC under the name `ghc.eventlog`, and the statistics of that run.
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
        assert_eq!(&found[name], figure, "{name}");
    }
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
    assert!(show(&["--cap", "global"]).contains("capset 0: RTS version GHC-9.0.2 rts_thr_l"));
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
    // A collection of capability 0 loses its end.
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
            format!("{damage}; --salvage uses the events before this place\n")
        );
    }
    let done = bench.gclab(&["events", "show", "cut.eventlog", "--salvage"]).exits(0);
    assert!(count(&done) > 500 && count(&done) < count(&whole), "{}", count(&done));
    assert_eq!(
        done.stderr,
        format!("{damage}; the events before this place were printed\n")
    );
    let done = bench
        .gclab(&["events", "summary", "cut.eventlog", "--salvage"])
        .exits(0);
    assert!(done.stdout.contains("colls,"), "{}", done.all());
    assert_eq!(done.stderr, format!("{damage}; the summary ends there\n"));
}

#[test]
fn a_request_that_is_wrong_is_one_message() {
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
    assert!(refused(&["show", "ghc.eventlog", "--cap", "two"]).contains("expected the number of a capability"));
    assert!(refused(&["summary", "ghc.eventlog", "--to", "1h"]).contains("expected a time of the run: 1.5s"));
    assert!(refused(&["summary", "ghc.eventlog", "+RTS", "-s"]).contains("flags between +RTS and -RTS are for"));
}
