//! `-l`: the event log of a run, read back.

mod printed;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};

use gclab_eventlog::{Merged, check, kinds};
use serde_json::Value;

use crate::support::{Bench, until};

/// The number of events of each type in a log.
pub(crate) fn counts(bench: &Bench, name: &str) -> BTreeMap<&'static str, u64> {
    let mut log = Merged::open(&bench.path().join(name), false).unwrap();
    let mut counts = BTreeMap::new();
    while let Some(event) = log.next_event().unwrap() {
        *counts
            .entry(event.kind().expect("a type of the table").name)
            .or_insert(0) += 1;
    }
    counts
}

#[test]
fn classes_choose_the_events_and_the_file_is_named_after_the_workload() {
    let bench = Bench::new();
    let with = |classes: &str| {
        let run = ["exec", "word_index", "-", "50", "1000", "+RTS", "-A64k", classes];
        bench.gclab(&run).exits(0);
        counts(&bench, "word_index.eventlog")
    };
    let all = with("-l");
    for kind in [
        &kinds::RUN_THREAD,
        &kinds::STOP_THREAD,
        &kinds::TASK_CREATE,
        &kinds::TASK_DELETE,
        &kinds::GC_START,
        &kinds::GC_STATS_GHC,
        &kinds::HEAP_LIVE,
        &kinds::HEAP_INFO_GHC,
        &kinds::USER_MARKER,
        &kinds::CAP_DELETE,
        &kinds::PROGRAM_ARGS,
    ] {
        assert!(all.contains_key(kind.name), "{} is missing in {all:?}", kind.name);
    }
    assert_eq!(all["GC_START"], all["GC_END"]);
    assert_eq!(all["RUN_THREAD"], all["STOP_THREAD"]);
    let collections = with("-l-ag");
    assert!(collections.contains_key("GC_START") && !collections.contains_key("RUN_THREAD"));
    let threads = with("-l-g");
    assert!(threads.contains_key("RUN_THREAD") && !threads.contains_key("HEAP_SIZE"));
    let process: Vec<_> = with("-l-a").into_keys().collect();
    let described = [
        "BLOCK_MARKER",
        "OSPROCESS_PID",
        "OSPROCESS_PPID",
        "PROGRAM_ARGS",
        "RTS_IDENTIFIER",
        "WALL_CLOCK_TIME",
    ];
    assert_eq!(process, described);
}

#[test]
fn a_heap_profile_is_in_the_log_and_in_its_file() {
    let bench = Bench::new();
    for (flag, breakdown, sample) in [
        ("-hT", 7, &kinds::HEAP_PROF_SAMPLE_STRING),
        ("-hr", 5, &kinds::HEAP_PROF_SAMPLE_STRING),
        ("-ho", 5, &kinds::HEAP_PROF_SAMPLE_STRING),
        ("-hc", 1, &kinds::HEAP_PROF_SAMPLE_COST_CENTRE),
        ("-hb", 6, &kinds::HEAP_PROF_SAMPLE_STRING),
    ] {
        // The other workload does not name roots.
        let work: &[&str] = match flag {
            "-ho" => &["hsc_env"],
            _ => &["word_index", "-", "50", "1000"],
        };
        let run = [&["exec"], work, &["+RTS", "-l", "-A256k", "-i0", flag]].concat();
        bench.gclab(&run).exits(0);
        let path = bench.path().join(format!("{}.eventlog", work[0]));
        let (complaints, _) = check(&mut Merged::open(&path, false).unwrap()).unwrap();
        assert!(complaints.rules().is_empty(), "{flag}: {:?}", complaints.rules());
        let hp = fs::read(bench.path().join(format!("{}.hp", work[0]))).unwrap();
        let hp = gclab_eventlog::hp::Profile::read(&hp[..], "its profile").unwrap();
        // Like GHC's, the file has two more samples: an empty one at the start, and one at the end.
        let in_file = hp
            .samples
            .iter()
            .map(|sample| sample.values.iter().map(|(_, bytes)| *bytes).sum::<u64>());
        let in_file: Vec<u64> = in_file.filter(|bytes| *bytes > 0).collect();
        let (mut in_log, mut bands, mut begun) = (Vec::new(), 0, None);
        let mut log = Merged::open(&path, false).unwrap();
        while let Some(event) = log.next_event().unwrap() {
            let known = event.known();
            if known == kinds::HEAP_PROF_BEGIN.number {
                let [_, _, by] = event.numbers();
                begun = by;
            } else if known == kinds::HEAP_PROF_SAMPLE_BEGIN.number || known == kinds::HEAP_BIO_PROF_SAMPLE_BEGIN.number
            {
                in_log.push(0);
            } else if known == sample.number {
                let [_, bytes] = event.numbers();
                *in_log.last_mut().expect("a sample") += bytes.unwrap();
                bands += 1;
            }
        }
        in_log.retain(|bytes| *bytes > 0);
        assert_eq!((begun, in_log), (Some(breakdown), in_file), "{flag}");
        assert!(bands > 3, "{flag}: {bands}");
    }
}

/// The program never resumes the log.
#[test]
fn a_log_that_begins_paused_has_the_process_alone() {
    let bench = Bench::new();
    let run = [
        "exec",
        "word_index",
        "-",
        "50",
        "1000",
        "+RTS",
        "-A64k",
        "-l",
        "--eventlog-paused",
    ];
    bench.gclab(&run).exits(0);
    let counts = counts(&bench, "word_index.eventlog");
    assert!(counts.contains_key("HEAP_INFO_GHC"), "{counts:?}");
    for kind in ["GC_START", "RUN_THREAD", "USER_MARKER"] {
        assert!(!counts.contains_key(kind), "{counts:?}");
    }
}

#[test]
fn a_major_collection_says_what_memory_it_returned() {
    let bench = Bench::new();
    let run = [
        "exec",
        "gcbench",
        "16",
        "12",
        "100000",
        "+RTS",
        "-l",
        "-olrun.eventlog",
        "-A256k",
        "-F1",
    ];
    bench.gclab(&run).exits(0);
    let mut log = Merged::open(&bench.path().join("run.eventlog"), false).unwrap();
    let (mut kept, mut returned, mut majors, mut is_open) = (None, 0, 0, false);
    while let Some(event) = log.next_event().unwrap() {
        let known = event.known();
        if known == kinds::GC_START.number || known == kinds::GC_END.number {
            is_open = known == kinds::GC_START.number;
        } else if known == kinds::MEM_RETURN.number {
            let [Some(0), Some(current), Some(needed), Some(given)] = event.numbers() else {
                panic!("{event:?}");
            };
            assert!(is_open && kept.is_none(), "one in each major collection");
            assert!(given == 0 || current - given >= needed);
            kept = Some(current - given);
            returned += given;
        } else if known == kinds::HEAP_LIVE.number {
            majors += 1;
            assert!(kept.is_some(), "in each major collection");
        } else if known == kinds::HEAP_SIZE.number {
            let [_, Some(bytes)] = event.numbers() else {
                panic!("{event:?}")
            };
            assert_eq!(kept.take().unwrap_or(bytes >> 20), bytes >> 20);
        }
    }
    assert!(
        returned > 0 && majors > 2,
        "{returned} megablocks in {majors} collections"
    );
}

#[test]
fn text_is_printed_while_the_program_runs() {
    let bench = Bench::new();
    let run = ["exec", "server", "1", "1000000000", "200", "0", "+RTS", "-v", "-A64k"];
    let mut child = bench
        .command(&run)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let found = lines.find(|line| line.as_ref().is_ok_and(|line| line.ends_with("cap 0: finished GC")));
    let ended = child.try_wait().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(found.is_some() && ended.is_none(), "{found:?} {ended:?}");
}

/// `GC_GLOBAL_SYNC` means that all have stopped: no capability starts the collection after it. Each
/// starts when its thread stops, so a capability may wait longer than the program.
#[test]
fn all_capabilities_begin_a_collection_before_its_sync() {
    let bench = Bench::new();
    // On a busy machine one thread may finish before the other starts.
    let met = (0..20).any(|_| {
        let run = ["exec", "par_trees", "2", "11", "+RTS", "-N2", "-A64k", "-l"];
        bench.gclab(&run).exits(0);
        let mut log = Merged::open(&bench.path().join("par_trees.eventlog"), false).unwrap();
        let (mut synced, mut parallel) = (None, 0);
        while let Some(event) = log.next_event().unwrap() {
            match event.kind().unwrap().name {
                "GC_GLOBAL_SYNC" => synced = event.cap(),
                "GC_START" => {
                    assert_eq!(synced, None, "at {} ns", event.time());
                    parallel += 1;
                }
                "GC_END" if event.cap() == synced => (synced, parallel) = (None, parallel - 1),
                _ => {}
            }
        }
        parallel > 0
    });
    assert!(met, "no collection had two capabilities");
}

#[test]
fn text_comes_before_the_checksum() {
    let bench = Bench::new();
    let done = bench
        .gclab(&["exec", "binary_trees", "10", "+RTS", "-A64k", "-vt"])
        .exits(0);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.last(), Some(&"binary_trees checksum=135854"));
    for sentence in ["cap 0: running thread 1", "cap 0: finished GC", "deleted cap 0"] {
        assert!(
            lines.iter().any(|line| line.ends_with(sentence)),
            "{sentence}: {}",
            done.all()
        );
    }
    let last = |end: &str| lines.iter().rposition(|line| line.contains(end)).unwrap();
    assert!(last("cap 0: allocated") < last("deleted cap 0"), "{}", done.all());
    assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 0, "no file is left");
}

/// The run used to end with status 1 and a message.
#[test]
fn a_reader_of_the_text_may_leave() {
    let bench = Bench::new();
    for (args, lines) in [(["12", "10", "20000"], 1), (["4", "4", "100"], 0)] {
        let run = [&["exec", "gcbench"], &args[..], &["+RTS", "-v", "-A16k"]].concat();
        let mut child = bench
            .command(&run)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let read = BufReader::new(child.stdout.take().unwrap()).lines().take(lines).count();
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!((read, done.status.code(), &said[..]), (lines, Some(0), ""), "{run:?}");
    }
}

/// `GCLABRTS` used to be rejected together with the command line.
#[test]
fn the_file_of_the_environment_is_for_runs_with_a_log() {
    let bench = Bench::new();
    for (environment, flags, file) in [
        ("-l -olenv.eventlog", &["-v"][..], false),
        ("-olenv.eventlog", &[], false),
        ("-olenv.eventlog", &["-l"], true),
        ("-l -olother.eventlog", &["-olenv.eventlog"], true),
    ] {
        let run = [&["exec", "binary_trees", "6", "+RTS"], flags].concat();
        let done = bench.command(&run).env("GCLABRTS", environment).output().unwrap();
        let case = format!("{environment} {flags:?} {}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(done.status.code(), Some(0), "{case}");
        let there = fs::remove_file(bench.path().join("env.eventlog")).is_ok();
        assert_eq!(
            (there, fs::read_dir(bench.path()).unwrap().count()),
            (file, 0),
            "{case}"
        );
    }
}

/// The log of `ocaml` used to say 4 MiB whatever `s` was.
#[test]
fn the_allocation_area_in_a_log_is_that_of_the_heap() {
    let bench = Bench::new();
    for (flags, bytes) in [
        (&["--collector", "ocaml", "--ocaml", "s=32k", "+RTS"][..], 262_144),
        // 256k words, and a block for the end of each of two runs.
        (&["--collector", "ocaml", "+RTS"], 2_097_152 + 2 * 4096),
        (&["+RTS", "-A64k", "-N2"], 65_536),
    ] {
        bench
            .gclab(&[&["exec", "binary_trees", "6"], flags, &["-l"]].concat())
            .exits(0);
        let shown = ["events", "show", "binary_trees.eventlog", "--type", "HEAP_INFO_GHC"];
        let text = bench.gclab(&shown).exits(0).stdout;
        assert!(
            text.contains(&format!(" {bytes} bytes alloc area size")),
            "{flags:?}: {text}"
        );
    }
}

/// The target of the link used to remain as an empty file.
#[test]
fn a_refused_run_leaves_no_file_behind_a_link() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("target.eventlog", bench.path().join("link.eventlog")).unwrap();
    let run = ["exec", "binary_trees", "6", "+RTS", "-l", "-ollink.eventlog"];
    let refused = bench.gclab(&[&run[..], &["-s/no/such/folder/x"]].concat()).exits(2);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.all());
    let left = |name: &str| fs::symlink_metadata(bench.path().join(name)).is_ok();
    assert!(left("link.eventlog") && !left("target.eventlog"));
    bench.gclab(&run).exits(0);
    bench.gclab(&["events", "check", "target.eventlog"]).exits(0);
    assert!(
        fs::symlink_metadata(bench.path().join("link.eventlog"))
            .unwrap()
            .is_symlink()
    );
    // A run that is refused does not touch an earlier run's output.
    bench.gclab(&[&run[..], &["-s/no/such/folder/x"]].concat()).exits(2);
    bench.gclab(&["events", "check", "target.eventlog"]).exits(0);
}

#[test]
fn the_log_of_a_killed_run_is_readable() {
    let bench = Bench::new();
    // It serves until it is killed.
    let run = [
        "exec",
        "server",
        "1",
        "1000000000",
        "200",
        "0",
        "+RTS",
        "-l",
        "-olcut.eventlog",
        "-A64k",
    ];
    let mut child = bench.start(&run);
    let path = bench.path().join("cut.eventlog");
    until("a long log", || {
        assert!(child.try_wait().unwrap().is_none(), "the run has ended");
        fs::metadata(&path).map_or(0, |file| file.len()) > 200_000
    });
    child.kill().unwrap();
    child.wait().unwrap();
    bench.gclab(&["events", "summary", "cut.eventlog"]).exits(2);
    let summary = ["events", "summary", "cut.eventlog", "--salvage", "--json"];
    let summary: Value = serde_json::from_str(&bench.gclab(&summary).exits(0).stdout).unwrap();
    assert!(summary["num_GCs"].as_u64().unwrap() > 100, "{summary}");
    assert!(summary["args"].as_str().unwrap().contains("server"), "{summary}");
    let complaints = bench
        .gclab(&["events", "check", "cut.eventlog", "--salvage"])
        .exits(1)
        .stdout;
    assert!(complaints.starts_with("the log is whole: broken\n"), "{complaints}");
}

#[test]
fn an_exhausted_run_has_a_whole_log() {
    let bench = Bench::new();
    let run = ["exec", "long_list", "+RTS", "-M8m", "-l", "-olfull.eventlog"];
    bench.gclab(&run).exits(251);
    bench.gclab(&["events", "check", "full.eventlog"]).exits(0);
}

#[test]
fn a_run_without_a_heap_has_a_log_with_its_process() {
    let bench = Bench::new();
    let run = ["exec", "long_list", "+RTS", "-l", "-olempty.eventlog", "-N2", "-DF1"];
    bench.gclab(&run).exits(251);
    bench.gclab(&["events", "check", "empty.eventlog"]).exits(0);
    let counts = counts(&bench, "empty.eventlog");
    assert_eq!((counts["PROGRAM_ARGS"], counts["CAP_CREATE"]), (1, 2), "{counts:?}");
}

#[test]
fn a_log_that_cannot_be_written_or_chosen_is_one_message() {
    let bench = Bench::new();
    for (flags, message) in [
        (&["-l", "-ol/no/such/folder/x"][..], "event log /no/such/folder/x: "),
        (&["-lx"], "-l: x is not a list of classes of events"),
        (&["-olx"], "-olx is for the file of an event log: -l asks for one"),
        (&["-l", "-ol"], "-ol: a value is missing"),
        (&["-l", "-olx", "-v"], "-olx is for the file of an event log"),
        (&["-l", "-ol/dev/full"], "event log /dev/full: "),
    ] {
        let words = [&["exec", "binary_trees", "6", "+RTS"], flags].concat();
        let done = bench.gclab(&words).exits(2);
        assert!(
            done.stdout.is_empty() && done.stderr.contains(message),
            "{}",
            done.all()
        );
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.all());
    }
}
