//! `gclab events timeline`: the page of an event log.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::docs::root;
use crate::support::Bench;

/// A log of GHC with two capabilities.
fn ghc() -> Vec<u8> {
    let name = "core/eventlog/tests/it/fixtures/phases-thr-n2.a.eventlog";
    fs::read(root().join(name)).unwrap()
}

fn bench(log: &[u8]) -> Bench {
    let bench = Bench::new();
    fs::write(bench.path().join("ghc.eventlog"), log).unwrap();
    bench
}

fn page(bench: &Bench, name: &str) -> String {
    fs::read_to_string(bench.path().join(name)).unwrap()
}

/// The data in a page.
fn data(page: &str) -> Value {
    let begin = "<script type=\"application/json\" id=\"timeline\">";
    let from = page.find(begin).unwrap() + begin.len();
    let to = from + page[from..].find("</script>").unwrap();
    serde_json::from_str(&page[from..to]).unwrap()
}

fn numbers(list: &Value) -> Vec<u64> {
    let list = list.as_array().unwrap().iter();
    list.map(|number| number.as_u64().unwrap()).collect()
}

#[test]
fn a_timeline_is_one_page_with_the_data_of_the_log() {
    let bench = bench(&ghc());
    let done = bench.gclab(&["events", "timeline", "ghc.eventlog"]).exits(0);
    assert_eq!(
        done.stdout,
        "The capabilities ran the program for 12 % and 0 % and waited for 66 % and 78 %.\n\
         GC 22.0 %, mutator 69.8 % of 0.131 s: 51 pauses, the longest 5.051 ms.\n\
         Stopping the capabilities for them takes 31.4 %, which counts as mutator time.\n\
         ghc.eventlog.html: 0.131 s, 2 capabilities, 1259 events, 51 collections\n"
    );
    let long = format!("{}.html", "x".repeat(40));
    let wrapped = bench
        .gclab(&["events", "timeline", "ghc.eventlog", "-o", &long])
        .exits(0);
    assert!(wrapped.stdout.lines().all(|line| line.len() <= 80), "{}", wrapped.all());
    let page = page(&bench, "ghc.eventlog.html");
    for from_outside in ["src=", "href=", "@import", "url(", "fetch(", "http"] {
        assert!(!page.contains(from_outside), "{from_outside}");
    }
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<title>ghc.eventlog: timeline</title>"));
    assert!(page.len() < 100_000, "{}", page.len());

    let data = data(&page);
    let json = bench.gclab(&["events", "summary", "ghc.eventlog", "--json"]).exits(0);
    let figures: Value = serde_json::from_str(&json.stdout).unwrap();
    // Nothing is merged: each pause has four numbers, and each piece its state and length.
    assert_eq!((&data["step"], &data["caps"]), (&1.into(), &vec![0, 1].into()));
    assert_eq!(data["end"], figures["Total_elapsed_ns"]);
    let pauses = numbers(&data["pauses"]);
    let (pauses, rest) = pauses.as_chunks::<4>();
    assert!(rest.is_empty() && pauses.len() == 51);
    assert_eq!(
        figures["GC_elapsed_ns"],
        pauses.iter().map(|pause| pause[1]).sum::<u64>()
    );
    assert_eq!(
        figures["copied_bytes"],
        pauses.iter().map(|pause| pause[3]).sum::<u64>()
    );
    let old = pauses.iter().filter(|pause| pause[2] == 1).count();
    assert_eq!(figures["gen_1.collections"], old);
    for (lane, cap) in data["lanes"].as_array().unwrap().iter().zip(0..) {
        let lane = numbers(lane);
        let (pieces, rest) = lane.as_chunks::<2>();
        assert!(rest.is_empty());
        let sum = |states: &[u64]| {
            let some = pieces.iter().filter(|[state, _]| states.contains(state));
            some.map(|[_, time]| time).sum::<u64>()
        };
        assert_eq!(data["length"], sum(&[0, 1, 2, 3, 4, 5, 6, 7, 8]));
        // GC threads work, are idle or wait while their capability is in a collection. A capability
        // waits longer: from its request.
        let in_collections = figures[&format!("cap_{cap}.gc_ns")].as_u64().unwrap();
        assert!(
            sum(&[3, 4, 5, 8]) <= in_collections && in_collections <= sum(&[2, 3, 4, 5, 8]),
            "cap {cap}"
        );
        assert!(sum(&[1]) > 0 && sum(&[6, 7]) == 0, "cap {cap}");
    }
    let marks: Vec<&str> = data["marks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mark| mark[3].as_str().unwrap())
        .collect();
    assert!(
        marks.contains(&"phase:churn") && marks.contains(&"phase:refill"),
        "{marks:?}"
    );
}

#[test]
fn text_of_the_log_cannot_become_markup() {
    let mut log = ghc();
    let place = log.windows(11).position(|bytes| bytes == b"phase:churn").unwrap();
    log[place..place + 11].copy_from_slice(b"</script>&x");
    let place = log.windows(10).position(|bytes| bytes == b"phases.thr").unwrap();
    log[place..place + 10].copy_from_slice(b"<b>ases&hr");
    let bench = bench(&log);
    bench
        .gclab(&["events", "timeline", "ghc.eventlog", "-o", "it.html"])
        .exits(0);
    let page = page(&bench, "it.html");
    assert!(page.contains("&lt;b&gt;ases&amp;hr") && !page.contains("<b>ases"));
    assert!(data(&page)["marks"].to_string().contains("</script>&x"));
}

#[test]
fn a_log_that_cannot_be_drawn_is_one_message() {
    let log = ghc();
    let bench = bench(&log);
    fs::write(bench.path().join("empty.eventlog"), b"").unwrap();
    fs::write(bench.path().join("text.eventlog"), b"hello, world").unwrap();
    fs::write(bench.path().join("cut.eventlog"), &log[..20_000]).unwrap();
    let begin = log.windows(4).position(|bytes| bytes == b"datb").unwrap() + 4;
    fs::write(
        bench.path().join("bare.eventlog"),
        [&log[..begin], &[0xff, 0xff]].concat(),
    )
    .unwrap();
    let refused = |words: &[&str], expected: &str| {
        let done = bench.gclab(&[&["events", "timeline"], words].concat()).exits(2);
        assert!(done.stderr.starts_with(expected), "{}", done.stderr);
        assert_eq!(
            (done.stderr.lines().count(), done.stdout.as_str()),
            (1, ""),
            "{}",
            done.stderr
        );
    };
    refused(&["no.eventlog"], "gclab: no.eventlog: no such file");
    refused(&["empty.eventlog"], "gclab: empty.eventlog: ");
    refused(&["text.eventlog"], "gclab: text.eventlog: byte 0: not a GHC event log");
    refused(
        &["bare.eventlog"],
        "gclab: bare.eventlog: the log has no events of capabilities",
    );
    let damage = "gclab: cut.eventlog: byte 20000: the file ends here, within an event: it was cut off";
    refused(
        &["cut.eventlog"],
        &format!("{damage}; --salvage skips the damage and resumes at the next sound block"),
    );
    assert!(!bench.path().join("cut.eventlog.html").exists());
    refused(
        &["ghc.eventlog", "-o", "no/such/page.html"],
        "gclab: no/such/page.html: cannot write the page: ",
    );
    refused(
        &["ghc.eventlog", "-o", "./ghc.eventlog"],
        "gclab: ./ghc.eventlog: this is the input, expected another file to write",
    );
    assert_eq!(fs::read(bench.path().join("ghc.eventlog")).unwrap(), log);

    let done = bench
        .gclab(&["events", "timeline", "cut.eventlog", "--salvage"])
        .exits(0);
    assert_eq!(done.stderr, format!("{damage}; all other events are on the page\n"));
    let page = page(&bench, "cut.eventlog.html");
    assert!(page.contains("The log is damaged: cut.eventlog: byte 20000: "));
    assert!(page.contains("lack what is damaged"));
    let cut = data(&page);
    assert_eq!((&cut["path"], &cut["salvage"]), (&"cut.eventlog".into(), &true.into()));
    assert!(numbers(&data(&page)["pauses"]).len() > 40);
}

/// Lanes used to continue past the damage of another capability, but the numbers did not.
#[test]
fn lanes_and_figures_of_a_damaged_log_are_of_the_same_events() {
    let mut log = ghc();
    let begin = log.windows(4).position(|bytes| bytes == b"datb").unwrap() + 4;
    // In the middle of the first block, which is capability 0's, an event has an unknown type.
    let size = u32::from_be_bytes(log[begin + 10..begin + 14].try_into().unwrap()) as usize;
    let mut at = begin + 24;
    while at < begin + size / 2 {
        // Of these, RUN_THREAD and others have four bytes, GC_START and others none.
        let kind = u16::from_be_bytes([log[at], log[at + 1]]);
        at += 10 + declared(&log, kind, at);
    }
    log[at..at + 2].copy_from_slice(&[0x7f, 0x7f]);
    let bench = bench(&log);
    bench
        .gclab(&["events", "timeline", "ghc.eventlog", "--salvage"])
        .exits(0);
    let data = data(&page(&bench, "ghc.eventlog.html"));
    let summary = ["events", "summary", "ghc.eventlog", "--salvage", "--json"];
    let figures: Value = serde_json::from_str(&bench.gclab(&summary).exits(0).stdout).unwrap();
    let pauses: u64 = numbers(&data["pauses"])
        .as_chunks::<4>()
        .0
        .iter()
        .map(|pause| pause[1])
        .sum();
    assert_eq!(figures["GC_elapsed_ns"], pauses);
    assert_eq!(figures["Total_elapsed_ns"], data["end"]);
    // Events after the run are not part of it.
    assert!(data["length"].as_u64().unwrap() > data["end"].as_u64().unwrap() + 1);
    // Capability 1 comes after the damage in the file.
    assert!(figures["cap_1.collections"].as_u64().unwrap() > 40, "{figures}");
    assert!(figures["cap_0.collections"].as_u64().unwrap() < 40, "{figures}");
}

/// The number of bytes after the header of an event at this position.
fn declared(log: &[u8], kind: u16, at: usize) -> usize {
    let entry = [&b"etb\0"[..], &kind.to_be_bytes()].concat();
    let place = log.windows(6).position(|bytes| bytes == entry).unwrap();
    match u16::from_be_bytes([log[place + 6], log[place + 7]]) {
        0xffff => 2 + usize::from(u16::from_be_bytes([log[at + 10], log[at + 11]])),
        size => usize::from(size),
    }
}

#[test]
fn a_log_may_come_through_a_pipe() {
    let log = ghc();
    let bench = bench(&log);
    bench.gclab(&["events", "timeline", "ghc.eventlog"]).exits(0);
    let mut command = bench.command(&["events", "timeline", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&log).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success() && String::from_utf8_lossy(&done.stdout).contains("\ntimeline.html: 0.131 s"));
    let [piped, whole] = ["timeline.html", "ghc.eventlog.html"].map(|name| data(&page(&bench, name)));
    assert_eq!((&piped["path"], &whole["path"]), (&Value::Null, &"ghc.eventlog".into()));
    assert_eq!((&piped["lanes"], &piped["pauses"]), (&whole["lanes"], &whole["pauses"]));
}
