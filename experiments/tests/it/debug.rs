//! `-D<x>`: debug messages.

use crate::log::counts;
use crate::support::Bench;

#[test]
fn debug_messages_go_to_the_log_or_else_to_standard_error() {
    let bench = Bench::new();
    let run = [
        "exec", "gcbench", "12", "10", "20000", "+RTS", "-A64k", "-N2", "-hT", "-i0",
    ];
    let with = |flags: &[&str]| bench.gclab(&[&run, flags].concat()).exits(0);
    let parts = [
        ("-Ds", "cap 0: thread 1 enters"),
        ("-Ds", "cap 0: thread 1 stops (heap overflow)"),
        ("-Ds", "cap 0: thread 1 runs"),
        ("-Ds", "cap 0: thread 1 leaves"),
        (
            "-Dg",
            "cap 0: GC of generation 0 starts; cause: allocation; all stopped after ",
        ),
        ("-Dg", "cap 0: GC phase roots: "),
        ("-Dg", "cap 0: GC of generation 1 ends, major, forced: "),
        ("-Db", " bytes in blocks, "),
        ("-Db", " megablocks committed, "),
        ("-Dp", "census begins"),
        ("-Dp", "census ends"),
    ];
    let all = with(&["-Dsg", "-Dbp"]);
    assert!(!all.stdout.contains("cap 0"), "{}", all.stdout);
    for (_, text) in parts {
        assert!(all.stderr.contains(text), "{text}: {}", all.stderr);
    }
    for (flag, text) in parts {
        let one = with(&[flag]).stderr;
        assert!(one.contains(text), "{flag}: {text}");
        let others = parts.iter().filter(|part| part.0 != flag);
        others.for_each(|(_, other)| assert!(!one.contains(other), "{flag}: {other}"));
    }
    let logged = with(&["-Dsgbp", "-l", "-olrun.eventlog"]);
    assert_eq!(logged.stderr, "");
    bench.gclab(&["events", "check", "run.eventlog"]).exits(0);
    let show = ["events", "show", "run.eventlog", "--type", "LOG_MSG", "--cap", "global"];
    let shown = bench.gclab(&show).exits(0).stdout;
    for (_, text) in parts {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    // There are many collections between the timer's censuses, but none of them is a look.
    with(&["-Dp", "-l", "-olrun.eventlog", "-i0.02"]);
    let told = bench.gclab(&show).exits(0).stdout;
    let events = counts(&bench, "run.eventlog");
    let of = |kind: &str| events.get(kind).copied().unwrap_or(0);
    let censuses = told.matches("census begins").count() as u64;
    assert_eq!((censuses, of("LOG_MSG")), (of("HEAP_PROF_SAMPLE_BEGIN"), 2 * censuses));
    assert!(of("GC_START") > censuses && of("LOOK_BEGIN") == censuses, "{events:?}");
    // Threads have messages even without their event class.
    with(&["-Ds", "-l-s", "-olrun.eventlog"]);
    let counts = counts(&bench, "run.eventlog");
    assert!(
        counts["LOG_MSG"] > 3 && !counts.contains_key("RUN_THREAD"),
        "{counts:?}"
    );
}

#[test]
fn the_life_of_a_closure_goes_to_standard_error() {
    let bench = Bench::new();
    let run = |closure| {
        let words = [
            "exec",
            "gcbench",
            "10",
            "8",
            "2000",
            "+RTS",
            "-A64k",
            "-xm4200000000",
            closure,
        ];
        bench.gclab(&words)
    };
    let told = run("-DT1001").exits(0);
    for text in [
        "closure: allocation 1001: Node, ",
        ": copied from 0x",
        ": died at 0x",
        ", whose block ",
    ] {
        assert!(told.stderr.contains(text), "{text}: {}", told.stderr);
    }
    assert!(!told.stdout.contains("closure:"), "{}", told.stdout);
    for wrong in ["-DT", "-DT0", "-DT0xyz", "-DTnode"] {
        let refused = run(wrong).exits(2).stderr;
        assert!(
            refused.contains("write the number of its allocation, or its address with 0x"),
            "{wrong}: {refused}"
        );
    }
}

/// Each count of references is told, with the slot.
#[test]
fn the_life_of_a_closure_has_its_references() {
    let bench = Bench::new();
    let run = "exec hash_churn 64 1024 20000 --collector lxr +RTS -A64k -DT1001";
    let told = bench.gclab(&run.split(' ').collect::<Vec<_>>()).exits(0).stderr;
    for text in [
        ": count 0, now 1: a reference in the slot at 0x",
        ": count 1, now 0: lost ",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
}

/// The second of two closures was followed, and the first one silently dropped.
#[test]
fn a_run_follows_one_closure() {
    let bench = Bench::new();
    let run = ["exec", "gcbench", "10", "8", "2000", "+RTS", "-DT1001"];
    let refused = bench.gclab(&[&run[..], &["-DT1002"]].concat()).exits(2).stderr;
    assert_eq!(
        refused,
        "gclab: -DT1002 is a second closure besides -DT1001: a run follows only one, so run once for each\n"
    );
    bench.gclab(&[&run[..], &["-DT1001"]].concat()).exits(0);
}

/// An address at which no heap can start was silently accepted, and the heap was elsewhere.
#[test]
fn a_heap_lies_where_it_is_wanted_or_the_run_is_refused() {
    let bench = Bench::new();
    for address in ["0", "1", "7fffffffffff"] {
        let flag = format!("-xm{address}");
        let done = bench
            .gclab(&["exec", "gcbench", "10", "8", "2000", "+RTS", &flag])
            .exits(2);
        assert_eq!(done.stdout, "");
        assert_eq!(
            done.stderr,
            format!(
                "gclab: {flag}: the system has no room for a heap there (-xr1t): write another address, as in -xm4200000000\n"
            )
        );
    }
    bench
        .gclab(&["exec", "gcbench", "10", "8", "2000", "+RTS", "-xm4200000001", "-xr1g"])
        .exits(0);
}
