//! A run that is refused leaves all files as they were.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::docs::root;
use crate::support::{Bench, Done, tiny};

#[test]
fn a_refused_run_leaves_all_files_as_they_were() {
    let bench = Bench::new();
    let old = ["x.hp", "x.prof", "x.stats"];
    for flags in [
        &["-l", "-ol/no/such/folder/x"][..],
        &["-olx"],
        &["-l", "-olx.stats"],
        &["-l", "-olx.hp"],
        &["-l", "-ol./x.prof"],
    ] {
        for file in old {
            fs::write(bench.path().join(file), file).unwrap();
        }
        let run = ["exec", "binary_trees", "6", "+RTS", "-p", "-hT", "-pox", "-sx.stats"];
        let done = bench.gclab(&[&run, flags].concat()).exits(2);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.all());
        for file in old {
            assert_eq!(fs::read_to_string(bench.path().join(file)).unwrap(), file, "{flags:?}");
        }
        assert_eq!(fs::read_dir(bench.path()).unwrap().count(), old.len(), "{flags:?}");
    }
}

#[test]
fn no_command_writes_over_its_input() {
    let bench = Bench::new();
    let place = bench.path();
    let from = |file: &str| fs::read(root().join(file)).unwrap();
    let log = from("core/eventlog/tests/it/fixtures/phases-thr-n2.a.eventlog");
    let profile = from("core/eventlog/tests/it/fixtures/ghc-retainers.hp");
    let dump = from("core/snapshot/tests/it/fixtures/cells.hprof.gz");
    fs::write(place.join("old"), &dump).unwrap();
    for (input, command, option) in [
        (&log, &["events", "timeline"][..], "-o"),
        (&log, &["events", "export"], "-o"),
        (&profile, &["profile", "show"], "-o"),
        (&dump, &["heap", "analyse"], "--html"),
        (&dump, &["heap", "diff", "old"], "--html"),
    ] {
        let path = place.join("in");
        for name in ["hard", "soft"] {
            let _ = fs::remove_file(place.join(name));
        }
        fs::write(&path, input).unwrap();
        fs::hard_link(&path, place.join("hard")).unwrap();
        std::os::unix::fs::symlink("in", place.join("soft")).unwrap();
        for (file, output) in [
            ("in", "./in"),
            ("in", "hard"),
            ("soft", "hard"),
            ("in", "soft"),
            ("-", "in"),
        ] {
            let words = [command, &[file, option, output]].concat();
            let mut command = bench.command(&words);
            command.stdin(fs::File::open(&path).unwrap());
            let done = Done::of(&mut command).exits(2);
            let expected =
                format!("gclab: {output}: this is the input, expected another file to write: {option} FILE\n");
            assert_eq!(done.stderr, expected, "{words:?}");
            assert!(fs::read(&path).unwrap() == *input, "{words:?}");
        }
    }
}

/// Such a run used to empty its files before it was refused.
#[test]
fn a_run_that_the_system_refuses_leaves_all_files_as_they_were() {
    let bench = Bench::new();
    let old = ["x.hp", "x.prof", "x.stats", "x.eventlog", "x.json"];
    let run = [
        "exec",
        "binary_trees",
        "6",
        "--record",
        "x.json",
        "+RTS",
        "-p",
        "-hr",
        "-pox",
        "-sx.stats",
        "-l",
        "-olx.eventlog",
    ];
    // No system has that much memory for the stack of the timer's thread.
    let timer = bench
        .command(&run)
        .env("RUST_MIN_STACK", (1_u64 << 50).to_string())
        .output();
    let heap = || {
        Command::new("sh")
            .args(["-c", "ulimit -v 60000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_gclab")])
            .args(run)
            .current_dir(bench.path())
            .output()
    };
    for (output, message) in [(timer, "cannot be started"), (heap(), "the heap could not be made")] {
        let done = output.unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(stderr.contains(message) && stderr.lines().count() == 1, "{stderr}");
        assert_eq!(done.status.code(), Some(2), "{stderr}");
        assert_eq!(
            fs::read_dir(bench.path()).unwrap().count(),
            0,
            "files that were made are gone"
        );
    }
    for file in old {
        fs::write(bench.path().join(file), file).unwrap();
    }
    heap().unwrap();
    bench
        .command(&run)
        .env("RUST_MIN_STACK", (1_u64 << 50).to_string())
        .output()
        .unwrap();
    for file in old {
        assert_eq!(fs::read_to_string(bench.path().join(file)).unwrap(), file);
    }
    bench.gclab(&run).exits(0);
    for file in old {
        let text = fs::read(bench.path().join(file)).unwrap();
        assert!(text.len() > 100 && !text.starts_with(b"x."), "{file} is new");
    }
}

#[test]
fn two_outputs_are_not_one_file() {
    let bench = Bench::new();
    for (flags, message) in [
        (
            &["-l", "-olx", "-sx"][..],
            "event log x: the statistics file x is the same file",
        ),
        (
            &["-l", "-olx.hp", "-pox", "-hT"],
            "event log x.hp: the heap profile x.hp is the same file",
        ),
        (
            &["-l", "-ol./x.prof", "-pox", "-p"],
            "event log ./x.prof: the time profile x.prof is the same file",
        ),
    ] {
        let done = bench
            .gclab(&[&["exec", "binary_trees", "6", "+RTS"], flags].concat())
            .exits(2);
        assert!(done.stderr.contains(message), "{}", done.all());
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.all());
        assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 0, "{flags:?}");
    }
    // A time profile and retainer sets may still share a file.
    bench
        .gclab(&["exec", "binary_trees", "6", "+RTS", "-p", "-hr", "-l", "-s/dev/null"])
        .exits(0);
}

/// A workload may read a file.
#[test]
fn no_output_is_the_input_of_the_workload() {
    let bench = Bench::new();
    let input = r#"{"snapshot":{}}"#;
    fs::write(bench.path().join("in"), input).unwrap();
    let run = ["heap_snapshot", "in", "1"];
    for (words, flags) in [
        (&["exec"][..], &["--record", "in"][..]),
        (&["exec"], &["+RTS", "-l", "-olin"]),
        (&["heap", "dump"], &["-o", "./in"]),
        (&["inspect"], &["--html", "in"]),
    ] {
        let done = bench.gclab(&[words, &run, flags].concat()).exits(2);
        let says = ["is the same file", "this is the input"];
        assert!(says.iter().any(|text| done.stderr.contains(text)), "{}", done.all());
        assert_eq!(fs::read_to_string(bench.path().join("in")).unwrap(), input, "{words:?}");
    }
}

/// The record used to be written over the log or the statistics, with status 0.
#[test]
fn a_record_is_not_another_output() {
    let bench = Bench::new();
    for (flags, message) in [
        (
            &["-l", "-olrec"][..],
            "event log rec: the record rec is the same file; each needs its own name",
        ),
        (
            &["-srec"],
            "statistics file rec: the record rec is the same file; each needs its own name",
        ),
    ] {
        let run = ["exec", "binary_trees", "6", "--record", "rec", "+RTS"];
        let run = [&run, flags].concat();
        let done = bench.gclab(&run).exits(2);
        assert!(done.stderr.contains(message), "{}", done.all());
        assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 0, "{flags:?}");
        fs::write(bench.path().join("rec"), "old").unwrap();
        bench.gclab(&run).exits(2);
        assert_eq!(fs::read_to_string(bench.path().join("rec")).unwrap(), "old");
        fs::remove_file(bench.path().join("rec")).unwrap();
    }
}

/// A dangling link was removed, and so was a record that could not be read.
#[test]
fn a_refused_run_leaves_a_link_to_nothing_and_a_record_that_cannot_be_read() {
    let bench = Bench::new();
    let run = ["exec", "binary_trees", "6", "--record", "rec", "+RTS", "-l", "-olrec"];
    let record = bench.path().join("rec");
    std::os::unix::fs::symlink("nothing", &record).unwrap();
    bench.gclab(&run).exits(2);
    assert_eq!(fs::read_link(&record).unwrap().to_str(), Some("nothing"));
    assert!(!bench.path().join("nothing").exists());
    fs::remove_file(&record).unwrap();
    fs::write(&record, "old").unwrap();
    fs::set_permissions(&record, fs::Permissions::from_mode(0o200)).unwrap();
    bench.gclab(&run).exits(2);
    fs::set_permissions(&record, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(fs::read_to_string(&record).unwrap(), "old");
}

/// The message used to ask for `-l`, which was given.
#[test]
fn a_file_for_a_log_as_text_is_refused_with_the_flag_that_overrides_the_log() {
    let bench = Bench::new();
    let run = |flags: &[&str]| {
        let run = ["exec", "binary_trees", "6", "+RTS", "-olx"];
        bench.gclab(&[&run, flags].concat()).exits(2).stderr
    };
    let overridden = run(&["-l", "-v"]);
    assert!(overridden.contains("the last of -l and -v wins"), "{overridden}");
    assert!(!overridden.contains("-l asks for one"), "{overridden}");
    assert!(run(&[]).contains("-l asks for one"));
}

#[test]
fn a_file_in_the_place_of_a_subcommand_gets_the_command_that_reads_it() {
    let bench = Bench::new();
    bench.write("x.hp", "JOB \"x\"\nDATE \"now\"\n");
    for verb in ["events", "heap", "profile"] {
        let done = bench.gclab(&[verb, "x.hp"]).exits(2);
        assert_eq!(
            done.stderr,
            "gclab: x.hp: this is a heap profile: gclab profile show x.hp\n"
        );
    }
    bench.write("tiny.toml", &tiny(1));
    bench.gclab(&["run", "tiny.toml", "--out", "base"]).exits(0);
    bench.script("prog", "true");
    bench.write("core.1", "\u{7f}ELF\u{2}\u{1}\u{1}\0\0\0\0\0\0\0\0\0\u{4}\0");
    let log = "this is a heap profile: gclab profile show x.hp";
    let file = "this is an experiment file: gclab run tiny.toml";
    let record = "this is a file of a folder of results: gclab report base";
    let folder = "base: this is a folder of results: gclab report base\n";
    let two = "this is a program: gclab run -- ./prog -- ./prog\n";
    let two_with_arguments = "this is a program: gclab run -- ./prog 1 -- ./prog 2\n";
    for (words, message) in [
        (&["run", "x.hp"][..], log),
        (&["plan", "x.hp"], log),
        (&["inspect", "x.hp"], log),
        (&["report", "--wide", "x.hp"], log),
        (&["inspect", "tiny.toml"], file),
        (&["report", "tiny.toml"], file),
        (&["heap", "analyse", "tiny.toml"], file),
        (&["heap", "analyse", "base/runs.jsonl"], record),
        (&["events", "timeline", "tiny.toml"], file),
        (&["run", "base/runs.jsonl"], record),
        (&["report", "base/runs.jsonl"], record),
        (&["tune", "x.hp"], log),
        (&["exec", "x.hp", "3"], log),
        (&["plan", "./prog"], "this is a program: gclab run -- ./prog\n"),
        (&["exec", "./prog", "3"], "this is a program: gclab run -- ./prog 3\n"),
        (&["exec", "prog"], "this is a program: gclab run -- ./prog\n"),
        (&["compare", "./prog", "prog"], two),
        (&["compare", "./prog", "1", "prog", "2"], two_with_arguments),
        (&["compare", "./prog", "1", "--", "./prog", "2"], two_with_arguments),
        (
            &["compare", "--", "./prog", "1", "--", "./prog", "2"],
            two_with_arguments,
        ),
        (&["compare", "./prog 1", "prog 2"], two_with_arguments),
        (
            &["compare", "--", "true", "--", "./none"],
            "gclab run -- true -- ./none",
        ),
        (
            &["compare", "sleep", "1", "--", "sleep", "2"],
            "gclab run -- sleep 1 -- sleep 2",
        ),
        (&["run", "base"], folder),
        (&["plan", "base"], folder),
        (&["exec", "base"], folder),
        (&["./prog", "1"], "./prog: this is a program: gclab run -- ./prog 1\n"),
        (
            &["tiny.toml"],
            "tiny.toml: this is an experiment file: gclab run tiny.toml\n",
        ),
        (&["x.hp"], "x.hp: this is a heap profile: gclab profile show x.hp\n"),
        (&["heap", "analyse", "./prog"], "this is a program: gclab run -- ./prog"),
        (
            &["report", "core.1"],
            "this is a core file: gclab heap analyse --exe PROGRAM core.1",
        ),
    ] {
        let done = bench.gclab(words).exits(2);
        assert!(done.stderr.contains(message), "{}", done.all());
    }
    // The file is an argument of the workload.
    bench.write("none.heapsnapshot", "{\"snapshot\":");
    let inside = bench.gclab(&["inspect", "heap_snapshot", "none.heapsnapshot"]);
    assert!(!inside.stderr.contains("this is a heap snapshot"), "{}", inside.all());
    bench.gclab(&["report", "base"]).exits(0);
    let alone = bench.gclab(&["compare", "base"]).exits(2);
    let how = "gclab: base: name a second folder, or compare within it: --collector two-space --against copying\n";
    assert_eq!(alone.stderr, how);
    // Programs of these names are not what the options mean.
    for name in ["copying", "two-space"] {
        bench.script(name, "true");
    }
    let within = bench.gclab(&["compare", "base", "--collector", "two-space", "--against", "copying"]);
    assert!(within.stdout.contains("two-space over copying"), "{}", within.all());
}

/// A name reaches the terminal without its control characters.
#[test]
fn the_name_of_a_faulty_experiment_file_cannot_drive_the_terminal() {
    let bench = Bench::new();
    bench.write("e\u{1b}[31m.toml", "repeat = []\n");
    let done = bench.gclab(&["plan", "e\u{1b}[31m.toml"]).exits(2);
    assert!(
        done.stderr.contains("[31m.toml") && !done.stderr.contains('\u{1b}'),
        "{:?}",
        done.stderr
    );
}

/// Such a name could forge a line of the output.
#[test]
fn a_line_break_in_a_name_ends_no_line() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(1));
    let log = root().join("core/eventlog/tests/it/fixtures/phases-thr-n2.a.eventlog");
    let log = log.to_str().unwrap();
    let name = "a\nFORGED";
    let record = format!("no{name}/x.json");
    let missing = format!("no{name}/x");
    for words in [
        &["run", "tiny.toml", "--out", name][..],
        &["run", "tiny.toml", "--out", name],
        &["status", name],
        &["report", name],
        &["report", &missing],
        &["compare", name],
        &["events", "export", log, "-o", &missing],
        &["exec", "binary_trees", "6", "--record", &record],
        &["exec", "binary_trees", "6", "+RTS", "-l", &format!("-ol{missing}")],
        &["exec", "binary_trees", "6", "+RTS", "-hT", &format!("-po{missing}")],
        &["exec", "binary_trees", "6", "+RTS", &format!("-s{missing}")],
        &["profile", "show", &missing],
        &["heap", "analyse", &missing],
    ] {
        let done = bench.gclab(words);
        let all = done.all();
        assert!(all.contains("FORGED"), "{words:?}: {all}");
        assert!(!all.lines().any(|line| line.starts_with("FORGED")), "{words:?}: {all}");
    }
}
