//! Programs other than gclab's own: `[[program]]` in experiment files, and `gclab run -- COMMAND`.

mod ghc;
mod inputs;
mod least;
mod mistakes;
mod peers;
mod prepare;
mod resident;
mod slips;
mod units;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use gclab_results::{ResultsDir, RunRecord, Status};

use crate::support::{Bench, is_gone, until};

/// A folder with a script `prog`.
fn with_script(script: &str) -> Bench {
    let bench = Bench::new();
    script_at(&bench, "prog", script);
    bench
}

fn script_at(bench: &Bench, name: &str, script: &str) {
    bench.script(name, script);
}

/// The folder of an experiment's newest runs.
fn results(bench: &Bench, name: &str) -> ResultsDir {
    let of_name = |path: &PathBuf| {
        let folder = path.file_name().unwrap().to_string_lossy().into_owned();
        folder.strip_prefix(name).is_some_and(|rest| rest.starts_with("-20"))
    };
    let newest = bench.folders().into_iter().filter(of_name).max();
    ResultsDir::open(newest.unwrap_or_else(|| panic!("no results of {name}"))).unwrap()
}

/// The newest runs of an experiment.
fn runs(bench: &Bench, name: &str) -> Vec<RunRecord> {
    results(bench, name).runs().to_vec()
}

#[test]
fn a_program_stands_where_a_workload_stands() {
    let bench = with_script("cat; echo \"$1 $WORD $(basename $PWD)\"; echo 'took 1,250.0 steps' >&2");
    fs::create_dir(bench.path().join("else")).unwrap();
    fs::rename(bench.path().join("prog"), bench.path().join("else/prog")).unwrap();
    bench.write("else/input", "from a file\n");
    bench.write(
        "own.toml",
        r#"
        question = "Does it run?"
        repeat = 2
        [[program]]
        name    = "mine"
        command = ["./prog", 7]
        dir     = "else"
        env     = { WORD = "a word" }
        stdin   = "input"
        prepare = [["sh", "-c", "echo prepared >> log"], ["touch", "touched"]]
        expect  = { status = 0, pattern = '([0-9]) a word else' }
        stats   = { steps = 'took ([0-9,.]+) steps' }
        "#,
    );
    let done = bench.gclab(&["run", "own.toml"]).exits(0);
    let results = bench.results();
    assert_eq!(results.manifest().programs[0].command, ["./prog", "7"]);
    assert_eq!(results.runs().len(), 2, "{}", done.all());
    for run in results.runs() {
        assert_eq!((&run.outcome, run.workload.as_str()), (&Status::Ok, "mine"));
        assert_eq!((run.collector.as_str(), run.runtime.as_deref()), ("none", Some("none")));
        assert_eq!(run.program.as_ref(), Some(&results.manifest().programs[0].id));
        assert_eq!(run.checksum.as_deref(), Some("7"), "the group of the pattern");
        assert_eq!(run.figures.as_ref().unwrap()["steps"], 1250.0);
        assert_eq!(run.stats, None, "absent, not zero");
        assert!(run.wall_seconds > Some(0.0) && run.user_seconds.is_some() && run.system_seconds.is_some());
        assert_eq!(run.output_bytes, Some("from a file\n7 a word else\n".len() as u64));
        let again = Command::new(&run.command[0])
            .args(&run.command[1..])
            .current_dir(bench.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&again.stdout), "from a file\n7 a word else\n");
    }
    assert_eq!(
        fs::read_to_string(bench.path().join("else/log")).unwrap(),
        "prepared\nprepared\n"
    );
    assert!(bench.path().join("else/touched").exists());
    assert!(
        done.stdout.contains("mine") && done.stdout.contains("steps"),
        "{}",
        done.all()
    );
    let csv = bench.gclab(&["report", "own", "--format", "csv"]).exits(0).stdout;
    assert!(
        csv.lines().next().unwrap().ends_with(",figure_steps") && csv.contains(",1250\n"),
        "{csv}"
    );
    // With the same file there is nothing left to do; another program with the same name is another
    // plan.
    bench.gclab(&["run", "own.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 1);
    script_at(
        &bench,
        "else/prog",
        "cat; echo \"$1 $WORD $(basename $PWD)\"; echo 'took 9 steps' >&2; true",
    );
    bench.gclab(&["run", "own.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 2, "results of two builds are never mixed");
}

#[test]
fn a_program_stands_beside_the_collectors_of_a_workload() {
    let bench = with_script("echo binary_trees checksum=$SUM");
    let file = |sum: &str| {
        format!(
            r#"
            collectors = ["copying"]
            workloads  = [{{ name = "binary_trees", args = [6] }}]
            repeat     = 2
            [sweep]
            A = ["64k", "1m"]
            [[program]]
            name     = "script"
            workload = {{ name = "binary_trees", args = [6] }}
            command  = ["./prog"]
            env      = {{ SUM = "{sum}" }}
            expect   = {{ pattern = 'checksum=([0-9]+)' }}
            sweep    = {{}}
            "#
        )
    };
    bench.write("beside.toml", &file("1"));
    let done = bench.gclab(&["run", "beside.toml"]).exits(1);
    assert!(
        done.stderr.contains("WRONG RESULTS") && done.stderr.contains("checksum 1 under script"),
        "{}",
        done.all()
    );
    let all = runs(&bench, "beside");
    let right = all
        .iter()
        .find(|run| run.collector == "copying")
        .unwrap()
        .checksum
        .clone()
        .unwrap();
    assert_eq!(all.iter().filter(|run| run.collector == "script").count(), 2);
    assert_eq!(all.len(), 6);
    bench.write("right.toml", &file(&right));
    let done = bench.gclab(&["run", "right.toml"]).exits(0);
    assert!(done.stdout.contains("script"), "{}", done.all());
}

/// Each way in which a program can end, with its outcome.
#[test]
fn each_way_to_end_is_told_apart() {
    let script = r#"
        case $1 in
          good) echo yes;;
          three) exit 3;;
          answer) echo no;;
          flood) i=0; while [ $i -lt 40000 ]; do echo "a line of a flood, number $i"; i=$((i+1)); done; echo yes;;
          endless) exec yes;;
          stubborn) trap '' TERM INT HUP; while :; do sleep 1; done;;
          fork) sleep 1000 & echo $! > child; sleep 1000;;
          leave) sleep 1000 & echo $! > left; echo yes;;
          signal) kill -SEGV $$;;
          prepare) echo yes;;
        esac"#;
    let names = [
        "good", "three", "answer", "flood", "endless", "stubborn", "fork", "leave", "signal", "prepare",
    ];
    let mut file = "repeat = 1\n".to_owned();
    for name in names {
        let prepare = if name == "prepare" {
            "prepare = [\"sh\", \"-c\", \"echo no disk >&2; exit 9\"]\n"
        } else {
            ""
        };
        file += &format!(
            "[[program]]\nname = \"{name}\"\ncommand = [\"./prog\", \"{name}\"]\nexpect = {{ pattern = 'yes' }}\n{prepare}"
        );
    }
    // If the machine is so busy that other runs also reach the limit, the next limit is longer.
    let endless = ["endless", "stubborn", "fork"];
    let ended = ["3s", "30s", "120s"].into_iter().find_map(|limit| {
        let bench = with_script(script);
        bench.write("ends.toml", &format!("timeout = \"{limit}\"\n{file}"));
        let done = bench.gclab(&["run", "ends.toml"]).exits(1);
        let all = runs(&bench, "ends");
        let is_late = |run: &RunRecord| run.outcome == Status::Timeout && !endless.contains(&run.workload.as_str());
        (!all.iter().any(is_late)).then_some((bench, done, all))
    });
    let (bench, done, all) = ended.expect("a limit that is long enough");
    let crash = |exit_code, signal| Status::Crash { exit_code, signal };
    assert_eq!(all.len(), names.len(), "nothing is lost");
    for run in &all {
        let expected = match run.workload.as_str() {
            "good" | "flood" | "leave" => Status::Ok,
            "three" => crash(Some(3), None),
            "answer" => Status::WrongAnswer,
            name if endless.contains(&name) => Status::Timeout,
            "signal" => crash(None, Some(11)),
            "prepare" => Status::Unprepared,
            other => panic!("{other}"),
        };
        assert_eq!(run.outcome, expected, "{}", run.workload);
        let tail = run.stderr_tail.as_deref().unwrap_or_default();
        match run.workload.as_str() {
            "flood" => assert!(run.output_bytes > Some(1 << 20), "{run:?}"),
            "answer" => assert!(tail.contains("does not match yes"), "{tail}"),
            "prepare" => {
                assert!(tail.contains("no disk") && tail.contains("exit status 9"), "{tail}");
                assert_eq!((run.wall_seconds, run.user_seconds), (None, None));
            }
            _ => {}
        }
    }
    for file in ["child", "left"] {
        let number = fs::read_to_string(bench.path().join(file)).unwrap();
        until(file, || is_gone(&number));
    }
    for kind in [
        "crash: 2 of 10",
        "timeout: 3 of 10",
        "wrong answer: 1 of 10",
        "unprepared: 1 of 10",
    ] {
        assert!(done.stderr.contains(kind), "{kind}\n{}", done.all());
    }
    let page = fs::read_to_string(bench.results().path().join("report.html")).unwrap();
    for kind in ["wrong answer", "unprepared", "timeout", "signal 11", "exit status 3"] {
        assert!(page.contains(kind), "{kind} is not in the report");
    }
}

#[test]
fn the_checksum_of_the_output_can_be_asked_for() {
    let bench = with_script("echo hello");
    let hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    let file = |sum: &str| {
        format!("repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\nexpect = {{ checksum = \"{sum}\" }}\n")
    };
    bench.write("sum.toml", &file(hello));
    bench.gclab(&["run", "sum.toml"]).exits(0);
    let run = runs(&bench, "sum").remove(0);
    assert_eq!(
        (run.checksum.as_deref(), run.output_sha256.as_deref()),
        (Some(hello), Some(hello))
    );
    bench.write("other.toml", &file(&hello.replace('5', "6")));
    let done = bench.gclab(&["run", "other.toml"]).exits(1);
    assert!(
        done.stderr.contains("the SHA-256 of its output is 5891b5"),
        "{}",
        done.all()
    );
}

#[test]
fn flags_from_outside_of_the_plan_do_not_reach_a_program() {
    let bench = with_script("echo \"[$GHCRTS$OCAMLRUNPARAM$JAVA_TOOL_OPTIONS$GCLABRTS]\"");
    bench.write(
        "p.toml",
        "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\nexpect = { pattern = '\\[\\]' }\n",
    );
    let mut command = bench.command(&["run", "p.toml"]);
    for variable in ["GHCRTS", "OCAMLRUNPARAM", "JAVA_TOOL_OPTIONS"] {
        command.env(variable, "x");
    }
    assert!(command.output().unwrap().status.success());
    assert_eq!(runs(&bench, "p")[0].outcome, Status::Ok);
}

/// As hyperfine compares them, without a file.
#[test]
fn commands_without_a_file_are_compared() {
    let bench = with_script("sleep 0.0$1");
    fs::copy(bench.path().join("prog"), bench.path().join("other")).unwrap();
    // The first two are options of the program, and the third starts another program.
    let words = [
        "run", "--repeat", "3", "--", "./prog", "1", "--", "-x", "--", "./other", "5",
    ];
    let done = bench.gclab(&words).exits(0);
    let names: Vec<String> = runs(&bench, "prog-other")
        .into_iter()
        .map(|run| run.workload.clone())
        .collect();
    assert_eq!(names.iter().filter(|name| *name == "other").count(), 3, "{names:?}");
    assert!(done.stdout.contains("other and prog"), "{}", done.all());
    // A program against itself: the machine's noise.
    let itself = bench
        .gclab(&["run", "--repeat", "3", "--", "./other", "5", "--", "./other", "5"])
        .exits(0);
    assert!(itself.stdout.contains("other and other-2"), "{}", itself.all());
    // The same program twice, under different names.
    let words = [
        "run", "--out", "named", "--", "./other", "1", "x", "--", "./other", "5", "x",
    ];
    bench.gclab(&words).exits(0);
    let named = ResultsDir::open(bench.path().join("named")).unwrap();
    for name in ["other 1", "other 5"] {
        assert!(named.runs().iter().any(|run| run.workload == name), "{name}");
    }
    let second = |word: &str| bench.gclab(&["run", "--repeat", "1", "--", "./prog", "1", "--", word]);
    let mistyped = second("./othre").exits(2);
    let message = "gclab: ./othre: no such program; behind -- begins the next command.";
    assert!(mistyped.stderr.starts_with(message), "{}", mistyped.all());
    bench.write("input", "");
    let input = second("./input").exits(0);
    let note = "note: ./input is not a program, so it is an argument of the command before it";
    assert!(input.stderr.contains(note), "{}", input.all());
    let twice = bench.gclab(&["tune", "--", "./prog", "--", "./other"]).exits(2);
    assert!(twice.stderr.contains("2 commands, separated by --"), "{}", twice.all());
}

#[test]
fn a_program_that_fails_at_once_is_not_run_again() {
    let bench = with_script("echo 'usage: prog FILE' >&2; exit 64");
    let done = bench.gclab(&["run", "--", "./prog"]).exits(1);
    for part in [
        "usage: prog FILE",
        "prog failed at once in the first round, so no other was started",
        "--out",
    ] {
        assert!(done.stderr.contains(part), "{part}\n{}", done.all());
    }
    assert_eq!(runs(&bench, "prog").len(), 1);
    // A runtime that is not there refuses no flag.
    let file =
        "[[program]]\nname = \"p\"\nruntime = \"ghc\"\ncommand = [\"./prog\"]\nsweep = { A = [\"1m\", \"2m\"] }\n";
    bench.write("sweep.toml", file);
    for status in ["64", "1"] {
        bench.script("prog", &format!("echo 'usage: prog FILE' >&2; exit {status}"));
        let done = bench.gclab(&["run", "--fresh", "sweep.toml"]).exits(1);
        let is_own = done.stderr.contains("usage: prog FILE") && !done.stderr.contains("refuses");
        assert!(is_own, "{}", done.all());
    }
    // Whatever its position, and whatever the other program does.
    bench.script("good", "echo fine");
    for (out, words) in [
        ("last", ["./good", "--", "./prog"]),
        ("first", ["./prog", "--", "./good"]),
    ] {
        let done = bench.gclab(&[&["run", "--out", out, "--"][..], &words].concat());
        let done = done.exits(1);
        assert!(done.stderr.contains("prog failed at once"), "{}", done.all());
        let results = ResultsDir::open(bench.path().join(out)).unwrap();
        assert_eq!(results.runs().len(), 2, "{}", done.all());
    }
}

#[test]
fn a_command_needs_two_dashes_before_it() {
    let bench = with_script("true");
    for (words, right) in [
        (&["run", "./prog", "1"][..], "gclab run -- ./prog 1"),
        (&["tune", "prog", "1"], "gclab tune -- ./prog 1"),
        (
            &["tune", "--goal", "pause", "./prog"],
            "gclab tune --goal pause -- ./prog",
        ),
    ] {
        let done = bench.gclab(words).exits(2);
        assert_eq!(done.stderr, format!("gclab: put -- before a command: {right}\n"));
    }
}

#[test]
fn a_command_without_a_file_is_run_a_few_times() {
    let bench = with_script("echo \"$#: $*\"; echo $(($$ % 1000)) steps");
    let words = ["run", "--", "./prog", "a b", "+RTS", "-s", "--", "--out"];
    let done = bench.gclab(&words).exits(0);
    let all = runs(&bench, "prog");
    assert_eq!(all.len(), 5, "{}", done.all());
    assert!(all.iter().all(|run| run.outcome.is_ok() && run.workload == "prog"));
    assert_eq!(all[0].command, words[2..]);
    assert!(
        done.stdout.contains("prog") && done.stdout.contains("total"),
        "{}",
        done.all()
    );
    // It is measured anew each time, and its plan is a file that does the same.
    bench.gclab(&["run", "--repeat", "2", "--", "./prog"]).exits(0);
    assert_eq!(bench.folders().len(), 2);
    let text = results(&bench, "prog").manifest().experiment.clone();
    bench.write("again.toml", &text);
    bench.gclab(&["run", "again.toml", "--dry-run=commands"]).exits(0);
    let failed = bench.gclab(&["run", "--repeat", "1", "--", "false"]).exits(1);
    assert!(
        failed
            .stderr
            .contains("crash: 1 of 1 runs; the first, crash (exit status 1): false"),
        "{}",
        failed.all()
    );
    let missing = bench.gclab(&["run", "--", "./no-such"]).exits(2);
    assert!(missing.stderr.contains("no program of this name"), "{}", missing.all());
    bench.gclab(&["run"]).exits(2);
    let wrong = bench.gclab(&["run", "--runtime", "x", "--", "./prog"]).exits(2);
    assert!(
        wrong.stderr.contains("--runtime: unknown runtime `x`"),
        "{}",
        wrong.all()
    );
}

#[test]
fn a_dry_run_shows_programs() {
    let bench = with_script("true");
    bench.write(
        "dry.toml",
        "repeat = 2\n[[program]]\nname = \"p\"\nruntime = \"ocaml\"\ncommand = [\"./prog\", \"a b\"]\nsweep = { s = [\"32k\", \"256k\"] }\n",
    );
    let grid = bench.gclab(&["run", "dry.toml", "--dry-run"]).exits(0);
    assert!(
        grid.stdout.contains("s=256k") && grid.stdout.contains("ocaml"),
        "{}",
        grid.all()
    );
    assert!(grid.stderr.contains("4 runs in 2 rounds"), "{}", grid.all());
    let commands = bench.gclab(&["run", "dry.toml", "--dry-run=commands"]).exits(0).stdout;
    assert!(
        commands.contains("env OCAMLRUNPARAM=s=32k ./prog 'a b'\n"),
        "{commands}"
    );
    assert!(bench.folders().is_empty());
}

/// Stands in for a program that needs 64 MiB of address space: it says so, and fails as OCaml's do.
#[test]
fn least_heaps_and_their_multiples_are_found_by_the_limit_of_the_runtime() {
    let script = "limit=$(ulimit -v)\n[ \"$limit\" != unlimited ] && [ $limit -lt 65536 ] && { echo 'Fatal error: exception Out_of_memory' >&2; exit 2; }\necho fine";
    let bench = with_script(script);
    bench.write(
        "heap.toml",
        "repeat = 2\nheap = [0.9, 1, 2]\n[[program]]\nname = \"p\"\nruntime = \"ocaml\"\ncommand = [\"./prog\"]\n\
         [[program]]\nname = \"q\"\ncommand = [\"./prog\"]\n",
    );
    let done = bench.gclab(&["run", "heap.toml"]).exits(0);
    // They do different work, so no least heap completes them all.
    assert!(!done.stdout.contains("completes all workloads"), "{}", done.all());
    let results = results(&bench, "heap");
    let minima: Vec<_> = results
        .manifest()
        .minima
        .iter()
        .map(|least| least.minimum_bytes)
        .collect();
    assert_eq!(minima, [Some(64 << 20); 2]);
    for run in results.runs() {
        let multiple = run.heap_multiple.unwrap();
        let bytes = (multiple * f64::from(64 << 20)).round();
        assert_eq!(run.flags["address-space"], bytes.to_string());
        let expected = if multiple < 1.0 {
            Status::HeapExhausted
        } else {
            Status::Ok
        };
        assert_eq!(run.outcome, expected, "{multiple}");
    }
    bench.write(
        "both.toml",
        "heap = [2]\n[[program]]\nname = \"p\"\nruntime = \"ghc\"\ncommand = [\"./prog\"]\nflags = { M = \"1g\" }\n",
    );
    let both = bench.gclab(&["run", "both.toml"]).exits(2);
    assert!(
        both.stderr
            .contains("`M` is given, but `heap` says how large heaps are"),
        "{}",
        both.all()
    );
}
