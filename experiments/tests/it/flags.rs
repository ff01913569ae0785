//! Flags end to end: the environment, words for the program, interruptions, and a program's own
//! settings.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use gclab_results::RunRecord;

use crate::own;
use crate::support::{Bench, Done, until};

/// Runs a command with environment variables.
fn with(bench: &Bench, variables: &[(&str, &str)], words: &[&str]) -> Done {
    Done::of(bench.command(words).envs(variables.iter().copied()))
}

/// The runs of a sweep have the flags in its file, and no others.
#[test]
fn a_sweep_takes_no_flags_of_the_environment() {
    let bench = Bench::new();
    bench.write(
        "one.toml",
        "question = 'q'\ncollectors = ['copying']\nworkloads = [{ name = 'binary_trees', args = [3] }]\nrepeat = 1",
    );
    let variables = [("GCLABRTS", "-Q"), ("GCLAB_OCAMLRUNPARAM", "q=1"), ("GHCRTS", "-Q")];
    let done = with(&bench, &variables, &["run", "one.toml"]).exits(0);
    for (variable, _) in &variables[..2] {
        let note = format!("note: {variable} is set, but the flags of a sweep come only from its file");
        assert!(done.stderr.contains(&note), "{}", done.all());
    }
}

/// With `v=0x20` a run prints its parameters.
#[test]
fn letters_of_ocamls_may_stand_beside_the_collector() {
    let bench = Bench::new();
    let exec = ["exec", "binary_trees", "6", "--collector", "ocaml"];
    let run = |more: &[&str]| bench.gclab(&[&exec, more].concat());
    for letters in [
        &["--ocaml", "s=8k,o=90,v=0x20"][..],
        &["--ocaml=s=8k,o=90", "--ocaml=v=0x20"],
    ] {
        let done = run(letters).exits(0);
        let said = |text: &str| assert!(done.stderr.contains(text), "{text}: {}", done.all());
        said("Initial minor heap size: 8k words");
        said("Initial space overhead: 90%");
    }
    // The ones after +RTS come later.
    let both = run(&["--ocaml", "o=90,v=0x20", "+RTS", "--ocaml=o=110"]).exits(0);
    assert!(both.stderr.contains("Initial space overhead: 110%"), "{}", both.all());
    for wrong in [&["--ocaml", "q=1"][..], &["--ocaml="], &["+RTS", "--ocaml", "s=64k"]] {
        let done = run(wrong).exits(2);
        assert!(done.stderr.contains("--ocaml=s=64k,o=80"), "{}", done.all());
    }
    let least = [
        "minheap",
        "binary_trees",
        "3",
        "--runs",
        "1",
        "--ocaml",
        "s=8k",
        "--collector",
    ];
    bench.gclab(&[&least[..], &["ocaml"]].concat()).exits(0);
    let other = bench.gclab(&[&least[..], &["copying"]].concat()).exits(2);
    assert!(
        other.stderr.contains("--ocaml=s=8k: the copying collector"),
        "{}",
        other.all()
    );
    bench
        .gclab(&[
            "inspect",
            "binary_trees",
            "9",
            "--collector",
            "ocaml",
            "--ocaml",
            "s=4k",
        ])
        .exits(0);
}

#[test]
fn the_command_line_overrides_the_environment() {
    let bench = Bench::new();
    let trees = ["exec", "binary_trees", "6", "--record", "r.json"];
    let words = |more: &[&'static str]| [&trees[..], more].concat();
    let record = || -> RunRecord {
        serde_json::from_str(&std::fs::read_to_string(bench.path().join("r.json")).unwrap()).unwrap()
    };
    let done = with(&bench, &[("GCLABRTS", "-c -A1m")], &words(&["--collector", "copying"])).exits(0);
    assert!(
        done.stderr.contains("note: -c of GCLABRTS is overridden"),
        "{}",
        done.all()
    );
    assert_eq!(
        record().flags.clone().into_iter().collect::<Vec<_>>(),
        [("A".into(), "1m".into())]
    );
    with(&bench, &[("GCLABRTS", "-c -A1m")], &words(&["+RTS", "--no-c"])).exits(0);
    assert_eq!(record().collector, "copying");
    with(&bench, &[("GCLABRTS", "-hT")], &words(&["+RTS", "-hy"])).exits(0);
    assert_eq!(record().profile.unwrap().breakdown, "type");
    // What the user types must be correct by itself.
    with(&bench, &[], &words(&["--collector", "copying", "+RTS", "-c"])).exits(2);
}

#[test]
fn an_environment_that_cannot_be_read_is_refused_and_that_of_ghc_is_mentioned() {
    let bench = Bench::new();
    let strange = std::ffi::OsStr::from_bytes(b"\xff-A1m");
    let mut command = bench.command(&["exec", "binary_trees", "3"]);
    let done = Done::of(command.env("GCLABRTS", strange)).exits(2);
    assert!(
        done.stderr.contains("GCLABRTS: ") && done.stderr.contains("is not UTF-8"),
        "{}",
        done.all()
    );
    for words in [
        &["exec", "binary_trees", "3"][..],
        &["minheap", "hsc_env", "1", "--runs", "1"],
    ] {
        for (theirs, flags, ours) in [
            ("GHCRTS", "-s", "GCLABRTS"),
            ("OCAMLRUNPARAM", "v=0x400", "GCLAB_OCAMLRUNPARAM"),
        ] {
            let done = with(&bench, &[(theirs, flags)], words).exits(0);
            let note = format!("{theirs} is set, but gclab reads {ours}");
            assert!(done.stderr.contains(&note), "{}", done.all());
        }
        let done = with(&bench, &[("GHCRTS", "")], words).exits(0);
        assert!(!done.stderr.contains("GHCRTS"), "it holds no flag: {}", done.all());
    }
}

#[test]
fn minheap_takes_the_flags_of_the_environment() {
    let bench = Bench::new();
    let words = [
        "minheap",
        "hsc_env",
        "1",
        "--runs",
        "1",
        "--collector",
        "copying",
        "--json",
    ];
    let done = with(&bench, &[("GCLABRTS", "-A64k")], &words).exits(0);
    let folders = std::fs::read_dir(bench.path().join("results/minheap")).unwrap();
    let folder = folders.map(|entry| entry.unwrap().path()).next().unwrap();
    let probes = std::fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    assert!(
        probes.contains("\"A\":\"64k\"") && probes.contains("max_rss_bytes"),
        "{}\n{probes}",
        done.all()
    );
    let wrong = with(&bench, &[("GCLABRTS", "-Q")], &words).exits(2);
    assert!(wrong.stderr.contains("GCLABRTS: -Q: no such flag"), "{}", wrong.all());
    let limit = with(&bench, &[("GCLABRTS", "-M64m")], &words).exits(2);
    assert!(limit.stderr.contains("minheap chooses -M itself"), "{}", limit.all());
    let back = [&words[..], &["+RTS", "--no-M"]].concat();
    with(&bench, &[("GCLABRTS", "-M64m")], &back).exits(0);
}

#[test]
fn words_after_rts_with_two_dashes_are_the_program_s() {
    let bench = Bench::new();
    for words in [&["--RTS", "--collector", "nosuch"][..], &["--RTS", "+RTS", "-A1m"]] {
        let done = bench.gclab(&[&["exec", "binary_trees", "6"], words].concat()).exits(2);
        // They are arguments of the workload, which takes one.
        assert!(
            done.stderr.contains("is one too many), expected at most 1"),
            "{}",
            done.all()
        );
    }
    bench.gclab(&["exec", "binary_trees", "--RTS", "6"]).exits(0);
}

#[test]
fn flags_in_the_wrong_place_are_shown_in_the_right_one() {
    let bench = Bench::new();
    let message = |words: &[&str]| bench.gclab(words).exits(2).stderr;
    assert_eq!(
        message(&["exec", "binary_trees", "6", "-A1m", "-s"]),
        "gclab: flags go after +RTS: gclab exec binary_trees 6 +RTS -A1m -s\n"
    );
    assert_eq!(
        message(&["minheap", "-A1m", "hsc_env", "+RTS", "-F3"]),
        "gclab: flags go after +RTS: gclab minheap hsc_env +RTS -A1m -F3\n"
    );
    assert!(message(&["run", "x.toml", "-A1m"]).contains("in an experiment file flags go under [flags]"));
    assert!(message(&["exec", "binary_trees", "--wombat"]).contains("unexpected argument '--wombat'"));
    // The wrong word is not a flag; words after -RTS are the program's.
    let wrong = message(&["exec", "binary_trees", "6", "-f", "+RTS", "-S", "-RTS", "-h"]);
    assert!(wrong.contains("unexpected argument '-f'"), "{wrong}");
    let wrong = with(&bench, &[("GCLABRTS", "-A1m -RTS")], &["exec", "hsc_env"]).exits(2);
    assert_eq!(
        wrong.stderr,
        "gclab: GCLABRTS: -RTS is not needed here: every word is a flag\n"
    );
    for (flag, says) in [
        ("-pa", "GHC has -pa"),
        ("-xt", "no such flag"),
        ("-pox", "-pox says where a profile goes, but no flag asks for one"),
    ] {
        let wrong = message(&["exec", "hsc_env", "+RTS", flag]);
        assert!(wrong.contains(says), "{wrong}");
    }
    assert!(message(&["exec", "hsc_env", "+RTS", "-hx"]).contains("-hT (closure type)"));
}

/// Starts a run of an hour that prints rows of `-S` to a file, and sends it a signal once there are
/// some. Returns the file's text, and the signal that ended the process.
fn interrupted(bench: &Bench, signal: &str, flags: &[&str]) -> (String, Option<i32>) {
    let out = bench.path().join("out.txt");
    let rows = format!("-S{}", out.display());
    let words = ["exec", "server", "1", "1000000000", "200", "0", "+RTS", &rows, "-A64k"];
    let mut child = bench.start(&[&words, flags].concat());
    // It is running once the first row is there.
    until("a collection", || {
        std::fs::read_to_string(&out).unwrap_or_default().lines().count() >= 5
    });
    let kill = Command::new("kill")
        .args(["-s", signal, &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let status = child.wait().unwrap();
    let text = std::fs::read_to_string(&out).unwrap();
    (text, std::os::unix::process::ExitStatusExt::signal(&status))
}

#[test]
fn a_run_that_is_interrupted_has_its_statistics_and_its_profile_whole() {
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        let bench = Bench::new();
        let (text, by) = interrupted(&bench, signal, &["-hT", "-i0"]);
        assert!(
            text.contains("bytes allocated in the heap") && text.contains("Productivity"),
            "{text}"
        );
        assert_eq!(by, Some(number));
        let profile = std::fs::read_to_string(bench.path().join("server.hp")).unwrap();
        let last: Vec<&str> = profile.lines().rev().take(2).collect();
        // The file ends with an empty sample that has the time of the end.
        let time = last[0].strip_prefix("END_SAMPLE ").expect("a whole file");
        assert_eq!(last[1], format!("BEGIN_SAMPLE {time}"));
    }
}

/// The number of threads of a process, if all of them are asleep.
fn sleeping(process: u32) -> Option<usize> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let sleeps = |thread: std::io::Result<std::fs::DirEntry>| {
        let stat = std::fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        stat.contains(") S ").then_some(1)
    };
    threads.map(sleeps).sum()
}

/// The first signal waits for the next safepoint of each thread. The last thread of this server
/// sleeps for half a minute, having taken the request that is due then.
#[test]
fn a_second_signal_ends_the_run_at_once() {
    let bench = Bench::new();
    let out = bench.path().join("out.txt");
    let rows = format!("-S{}", out.display());
    let words = [
        "exec", "server", "30", "1000", "10", "1", "+RTS", &rows, "-N30", "-A64k",
    ];
    let mut child = bench.start(&words);
    // Each thread waits for its request.
    let mut times = 0;
    until("all threads sleep", || {
        times = if sleeping(child.id()).is_some_and(|threads| threads >= 30) {
            times + 1
        } else {
            0
        };
        times == 50
    });
    let mut send = |signal: &str, most: Duration| {
        let kill = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let sent = Instant::now();
        while sent.elapsed() < most {
            if let Some(status) = child.try_wait().unwrap() {
                return Some(std::os::unix::process::ExitStatusExt::signal(&status));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    };
    let first = send("TERM", Duration::from_millis(1500));
    let second = send("INT", Duration::from_secs(120));
    let _ = child.kill();
    child.wait().unwrap();
    assert_eq!(
        (first, second),
        (None, Some(Some(2))),
        "the first signal waits, the second does not"
    );
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(!text.contains("bytes allocated in the heap"), "{text}");
}

#[test]
fn without_signal_handlers_a_signal_ends_the_run_at_once() {
    let bench = Bench::new();
    // (A shell may make its background processes ignore SIGINT.)
    let (text, by) = interrupted(&bench, "TERM", &["--install-signal-handlers=no"]);
    assert!(!text.contains("bytes allocated in the heap"), "{text}");
    assert_eq!(by, Some(15));
    let wrong = bench
        .gclab(&["exec", "server", "+RTS", "--install-signal-handlers=maybe"])
        .exits(2);
    assert!(wrong.stderr.contains("yes or no"), "{}", wrong.all());
}

/// The requests of a server that sleeps some tenths of a second between two of them.
#[test]
fn a_program_that_sleeps_is_collected_meanwhile_if_a_flag_asks_for_it() {
    let collections = |flags: &[&str]| {
        let bench = Bench::new();
        let words = ["exec", "server", "1", "6", "200", "4", "--record", "r.json", "+RTS"];
        bench.gclab(&[&words, flags].concat()).exits(0);
        let record = std::fs::read_to_string(bench.path().join("r.json")).unwrap();
        let record: RunRecord = serde_json::from_str(&record).unwrap();
        record.collections.map_or(0, |collections| collections.len())
    };
    // By default a single capability is not collected while idle, as in GHC's single-threaded
    // runtime.
    let without = collections(&[]);
    until("a collection while it sleeps", || collections(&["-I0.01"]) > without);
    assert_eq!(collections(&["-I0.01", "-V0"]), without);
}

#[test]
fn an_empty_profile_of_roots_says_why() {
    let bench = Bench::new();
    let done = bench
        .gclab(&["exec", "hsc_env", "1", "+RTS", "-ho", "-hdNone", "-i0"])
        .exits(0);
    assert!(
        done.stdout.contains("no closure has the names of the restriction"),
        "{}",
        done.all()
    );
}

/// The example with its own settings.
fn settled() -> PathBuf {
    own::program("own_settings")
}

#[test]
fn a_program_sets_its_own_flags_and_forbids_others() {
    let bench = Bench::new();
    let run = |words: &[&str]| {
        Done::of(
            Command::new(settled())
                .args(words)
                .current_dir(bench.path())
                .env_remove("GCLABRTS"),
        )
    };
    run(&["exec", "rings", "1000", "--record", "r.json"]).exits(0);
    let record = std::fs::read_to_string(bench.path().join("r.json")).unwrap();
    let record: RunRecord = serde_json::from_str(&record).unwrap();
    let flags: Vec<_> = record.flags.clone().into_iter().collect();
    assert_eq!(
        flags,
        [("A".to_owned(), "64k".to_owned()), ("M".to_owned(), "4m".to_owned())]
    );
    let info = run(&["exec", "+RTS", "--info"]).exits(0).stdout;
    assert!(info.contains(r#"("Flag -with-rtsopts", "-A64k -M4m")"#), "{info}");
    let refused = run(&["exec", "rings", "6", "+RTS", "-A1m"]).exits(2);
    assert!(
        refused.stderr.contains("-A1m: this program takes -? and --info only"),
        "{}",
        refused.all()
    );
    run(&["minheap", "rings", "6"]).exits(2);
    bench.write(
        "flags.toml",
        "collectors = [\"copying\"]\nworkloads = [{ name = \"rings\", args = [6] }]\n[flags]\nA = \"1m\"\n",
    );
    run(&["run", "flags.toml"]).exits(2);
    let exhausted = run(&["exec", "rings", "1000000"]).exits(251);
    assert_eq!(exhausted.stderr, "settled: out of memory, of 4 MiB\n");
}
