//! An invalid `[[program]]` is reported with its place, and with what would be right.

use super::with_script;

#[test]
fn a_wrong_program_is_shown_with_its_place() {
    let bench = with_script("true");
    let program = "[[program]]\nname = \"p\"\n";
    std::fs::create_dir(bench.path().join("folder")).unwrap();
    bench.write("plain", "");
    for (text, parts) in [
        ("command = []\n", &["a command is empty", "w.toml:3:11"][..]),
        (
            "command = \"./prog a\"\n",
            &["expected an array, not a string", "as an array: [\"./prog\", \"a\"]"],
        ),
        ("command = [\"echo a b\"]\n", &["a list of words, not a line"]),
        ("", &["the key `command` is missing"]),
        (
            "command = [\"./prog\"]\nruntime = \"gch\"\n",
            &["unknown runtime \"gch\"", "runtimes: ghc, ocaml, jvm, none"],
        ),
        (
            "command = [\"./prog\"]\ncommnd = 1\n",
            &["unknown key `commnd`", "did you mean `command`?"],
        ),
        (
            "command = [\"./prog\"]\nruntime = \"ocaml\"\nflags = { A = \"1m\" }\n",
            &["program p: the runtime ocaml has no flag `A`", "flags of ocaml: s,"],
        ),
        (
            "command = [\"env\", \"./prog\"]\nsweep = { A = [\"1m\"] }\n",
            &[
                "the runtime none has no flag `A`",
                "its runtime in the table of the program: `runtime = \"ghc\"`",
            ],
        ),
        (
            "command = [\"./nosuch\"]\nsweep = { A = [\"1m\"] }\n",
            &["program p: there is no ./nosuch, so its runtime is unknown: the runtime none has"],
        ),
        (
            "command = [\"./prog\"]\nruntime = \"ghc\"\nsweep = { A = [\"1x\"] }\n",
            &["`A`: 1x is not a size", "w.toml:5:16"],
        ),
        (
            "command = [\"./prog\"]\nruntime = \"ghc\"\nsweep = { A = [\"1m\", \"1024k\"] }\n",
            &["`A` has 1024k twice"],
        ),
        (
            "command = [\"./prog\"]\nexpect = { checksum = \"12\" }\n",
            &["`checksum` is not a SHA-256", "sha256sum"],
        ),
        (
            "command = [\"./prog\"]\n[[program]]\nname = \"a\\nb\"\ncommand = [\"./prog\"]\n",
            &["a name has no line breaks"],
        ),
        (
            "command = [\"./prog\"]\nstats = { \"a\\u001b[31m\" = '(a)' }\n",
            &["has neither `=` nor control characters"],
        ),
        (
            "command = [\"./prog\"]\nexpect = { pattern = '(' }\n",
            &["`pattern` is not a regular expression"],
        ),
        (
            "command = [\"./prog\"]\nstats = { n = 'a' }\n",
            &["`n` has 0 groups", "one group"],
        ),
        (
            "command = [\"./prog\"]\nstats = { n = 3 }\n",
            &["expected a string, or a table, not an integer `3`"],
        ),
        (
            "command = [\"./prog\"]\nstats = { n = { unit = \"ms\" } }\n",
            &["the key `pattern` is missing", "w.toml:4:15"],
        ),
        (
            "command = [\"./prog\"]\nstats = { n = { pattern = '(a)', unti = \"ms\" } }\n",
            &["unknown key `unti`", "known keys: pattern, unit"],
        ),
        (
            "command = [\"./prog\"]\nstats = { gc_cpu_seconds = { pattern = '(a)', unit = \"MiB\" } }\n",
            &["MiB is not a unit of it", "its units are s, ms"],
        ),
        (
            "command = [\"./prog\"]\nstats = { n = { pattern = '(a)', unit = \"ms\" } }\n\
             [[program]]\nname = \"q\"\ncommand = [\"./prog\"]\nstats = { n = '(a)' }\n",
            &["`n` has ms in program p, and no unit here"],
        ),
        (
            "command = [\"./prog\"]\neventlog = true\n",
            &["the runtime none writes no event log", "ghc"],
        ),
        (
            "command = [\"./prog\"]\n[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\n",
            &["two programs have the name \"p\""],
        ),
        (
            "command = [\"./nowhere\"]\n",
            &["program p: `command`: ./nowhere: no program of this name"],
        ),
        // It might have been made by `prepare`, but the runtime is asked about its flags first.
        (
            "command = [\"./nowhere\"]\nruntime = \"ghc\"\nprepare = [\"true\"]\n",
            &["program p: `command`: ./nowhere: no program of this name"],
        ),
        (
            "command = [\"./prog\"]\nprepare = [\"no-such-tool\", \"x\"]\n",
            &["`prepare`: no-such-tool: no program of this name on the PATH"],
        ),
        (
            "command = [\"no-such-program\"]\n",
            &["no program of this name on the PATH"],
        ),
        (
            "command = [\"./prog\"]\ndir = \"nowhere\"\n",
            &["`dir`: nowhere: no such folder"],
        ),
        ("command = [\"./prog\"]\nstdin = \"nowhere\"\n", &["`stdin`: nowhere"]),
        ("command = [\"./folder\"]\n", &["./folder: a folder, not a program"]),
        (
            "command = [\"./plain\"]\n",
            &["./plain: this file may not be executed; `chmod +x` allows it"],
        ),
        (
            "command = [\"./prog\"]\nenv = { 'A=B' = \"c\" }\n",
            &["`env`: not a legal name or value", "a name without ="],
        ),
        (
            "command = [\"./prog\"]\nstdin = ''\n",
            &["expected at least one character, and no NUL"],
        ),
    ] {
        bench.write("w.toml", &format!("{program}{text}"));
        let done = bench.gclab(&["run", "w.toml"]).exits(2);
        for part in parts {
            assert!(done.stderr.contains(part), "{part}\n{}", done.all());
        }
        assert!(bench.folders().is_empty());
    }
    bench.write("w.toml", "collectors = [\"copying\"]\nworkloads = [\"gcbench\"]\n[sweep]\nA = [\"1m\"]\n[[program]]\nname = \"p\"\nruntime = \"jvm\"\ncommand = [\"./prog\"]\n");
    let done = bench.gclab(&["run", "w.toml"]).exits(2);
    assert!(
        done.stderr.contains("program p: the runtime jvm has no flag `A`"),
        "{}",
        done.all()
    );
}

/// Values for the whole file: each message says what would be right.
#[test]
fn a_wrong_value_is_shown_with_a_right_one() {
    let bench = with_script("true");
    let program = "[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\n";
    for (text, parts) in [
        ("timeout = 0\n", &["`0` is not a valid time", "\"2.5s\""][..]),
        ("precision = 2\n", &["`2` is not a valid share", "less than 100%"]),
        (
            "eventlog = true\n",
            &[
                "`eventlog` of the file is for workloads",
                "the table of each [[program]]",
            ],
        ),
        (
            "profiles = [\"-hT\"]\n",
            &["`profiles` of the file is for workloads", "gclab profile show"],
        ),
        (
            "exclude = [{ program = \"p\" }]\n",
            &["w.toml: the plan has no runs: `exclude`"],
        ),
    ] {
        bench.write("w.toml", &format!("{text}{program}"));
        let done = bench.gclab(&["run", "w.toml"]).exits(2);
        for part in parts {
            assert!(done.stderr.contains(part), "{part}\n{}", done.all());
        }
        assert!(!done.stderr.contains("shard"), "{}", done.all());
    }
    bench.write("w.toml", &format!("repeat = 3\n{program}"));
    let done = bench.gclab(&["run", "w.toml", "--shard", "1/1000"]).exits(2);
    let most = "--shard 1/1000: the plan has only 3 groups of round and workload, and a shard takes whole groups: at most 3 shards";
    assert!(done.stderr.contains(most), "{}", done.all());
    bench.gclab(&["run", "w.toml", "--shard", "1/3"]).exits(0);
}

/// There is a file where the probes' folder should be.
#[test]
fn a_search_without_a_folder_for_its_probes_is_refused() {
    let bench = with_script("true");
    bench.write("results", "");
    let done = bench.gclab(&["minheap", "--", "./prog"]).exits(2);
    assert!(done.stderr.contains("results/minheap"), "{}", done.all());
}
