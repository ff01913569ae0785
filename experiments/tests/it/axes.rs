//! Axes of a sweep besides flags, `gclab plan`, `gclab status` and `--until`, end to end.

use std::collections::BTreeSet;
use std::fs;

use gclab_results::PlannedRun;

use crate::support::{Bench, gated, tiny, until};

/// The lines of a plan that describe runs.
fn planned(bench: &Bench, words: &[&str]) -> Vec<String> {
    let text = bench.gclab(&[&["plan"], words].concat()).exits(0).stdout;
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

fn ids(lines: &[String]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line.split_whitespace().next().unwrap_or_default())
        .collect()
}

#[test]
fn a_plan_has_the_ids_and_the_order_of_the_runs() {
    let bench = Bench::new();
    bench.write("tiny.toml", &tiny(2));
    let text = bench.gclab(&["plan", "tiny.toml"]).exits(0).stdout;
    assert!(
        text.starts_with("# tiny: 16 runs of 8 configurations in 2 rounds; seed 7: "),
        "{text}"
    );
    let lines = planned(&bench, &["tiny.toml"]);
    bench.gclab(&["run", "tiny.toml"]).exits(0);
    let results = bench.results();
    let recorded: Vec<&str> = results.runs().iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids(&lines), recorded);
    let json: serde_json::Value =
        serde_json::from_str(&bench.gclab(&["plan", "tiny.toml", "--json"]).exits(0).stdout).unwrap();
    let runs: Vec<PlannedRun> = serde_json::from_value(json["runs"].clone()).unwrap();
    assert_eq!(runs, results.manifest().plan);
    // Another name, question, order and spelling, but the same runs.
    let other = tiny(2)
        .replace("Does it work?", "Why?")
        .replace(r#"["64k", "1m"]"#, r#"["1024k", "65536"]"#);
    bench.write("other.toml", &other);
    let others = planned(&bench, &["other.toml"]);
    let sorted = |lines: &[String]| -> BTreeSet<String> { ids(lines).iter().map(|id| (*id).to_owned()).collect() };
    assert_eq!(sorted(&others), sorted(&lines));
    // So both files continue the same folder.
    bench.write("tiny.toml", &other);
    let done = bench.gclab(&["run", "tiny.toml"]).exits(0);
    assert!(done.stderr.contains("all 16 runs are done"), "{}", done.all());
    let part = planned(&bench, &["tiny.toml", "--shard", "1/4", "--repeat", "1"]);
    assert!(!part.is_empty() && part.len() < 8, "{part:?}");
    bench.gclab(&["plan", "no.toml"]).exits(2);
}

#[test]
fn two_builds_stand_side_by_side() {
    let bench = Bench::new();
    bench.build("old");
    bench.build("new");
    let text = r#"
        collectors = ["copying"]
        workloads  = [{ name = "binary_trees", args = [6] }]
        builds     = ["old/gclab", { name = "new", file = "new/gclab" }]
        repeat     = 2
        [sweep]
        A = ["64k", "1m"]
        env.MALLOC_ARENA_MAX = [1]
        "#;
    bench.write("two.toml", text);
    bench.gclab(&["run", "two.toml"]).exits(0);
    let results = bench.results();
    assert_eq!(results.runs().len(), 8);
    for run in results.runs() {
        let settings = run.settings.clone();
        assert_eq!(settings["env.MALLOC_ARENA_MAX"], "1");
        let file = if settings["build"] == "new" {
            "new/gclab"
        } else {
            "old/gclab"
        };
        assert_eq!(run.command[..2], ["env", "MALLOC_ARENA_MAX=1"]);
        assert!(run.command[2].ends_with(file), "{:?}", run.command);
        assert!(run.outcome.is_ok());
    }
    let manifest = results.manifest();
    assert_eq!(manifest.builds.len(), 2);
    assert_ne!(manifest.builds[0].executable, manifest.builds[1].executable);
    let table = bench.gclab(&["report", "two"]).exits(0).stdout;
    assert!(table.contains("build") && table.contains("old/gclab"), "{table}");
    let markdown = bench.gclab(&["report", "two", "--format", "markdown"]).exits(0).stdout;
    assert!(markdown.contains("old/gclab"), "{markdown}");
    let csv = bench.gclab(&["report", "two", "--format", "csv"]).exits(0).stdout;
    let head = csv.lines().next().unwrap();
    assert!(head.contains(",setting_build,setting_env.MALLOC_ARENA_MAX,"), "{head}");
    let json = bench
        .gclab(&["compare", "two", "two", "--format", "json"])
        .exits(0)
        .stdout;
    assert!(json.contains("\"build\": \"new\""), "{json}");
    // The two builds do the same, so neither is certain to be worse, but they are compared.
    let words = [
        "compare",
        "two",
        "--build",
        "new",
        "--against",
        "old/gclab",
        "--threshold",
        "900%",
    ];
    let compared = bench.gclab(&words).exits(0).stdout;
    assert!(
        compared.contains("new over old/gclab") && compared.contains("2 configurations"),
        "{compared}"
    );
    for (wrong, message) in [
        (
            &["--build", "newx", "--against", "new"][..],
            "did you mean `new`? builds: new, old/gclab",
        ),
        (&["--build", "new", "--against", "new"], "both sides are new"),
        (&["two", "--against", "new"], "--against needs --collector, or --build"),
    ] {
        let refused = bench.gclab(&[&["compare", "two"], wrong].concat()).exits(2);
        assert!(refused.stderr.contains(message), "{}", refused.all());
    }
    // Another file with the same name is another plan.
    let before = planned(&bench, &["two.toml"]);
    bench.build("other");
    fs::rename(bench.path().join("other/gclab"), bench.path().join("old/gclab")).unwrap();
    assert_ne!(ids(&planned(&bench, &["two.toml"])), ids(&before));
    bench.gclab(&["run", "two.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 2);
}

#[test]
fn a_build_is_a_gclab_that_has_what_the_file_names() {
    let bench = Bench::new();
    let refused = |build: &str| {
        bench.script("build", build);
        bench.write("x.toml", &format!("builds = [\"build\"]\n{}", tiny(1)));
        let done = bench.gclab(&["run", "x.toml"]).exits(2);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.all());
        assert_eq!(bench.gclab(&["plan", "x.toml"]).exits(2).stderr, done.stderr);
        done.stderr
    };
    assert!(refused("echo prog 1.2").contains(r#"is not gclab: to --version it answers "prog 1.2""#));
    assert!(refused("echo wrong option >&2; exit 3").contains("--version ends with exit status 3: wrong option"));
    let lists = r#"if [ "$1" = list ]; then echo '[{"name": "two-space"}]'; else echo gclab 1; fi"#;
    assert!(refused(lists).contains("has none of the collectors called copying; collectors: two-space"));
    // A build that refuses each run, as an older gclab would.
    let gclab = env!("CARGO_BIN_EXE_gclab");
    let older = format!("{gclab} \"$@\" | grep -v -e --pause-counters");
    bench.script("build", &older);
    bench.write(
        "x.toml",
        &format!("builds = [\"build\"]\npause_counters = true\n{}", tiny(1)),
    );
    let done = bench.gclab(&["run", "x.toml"]).exits(2);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.all());
    assert!(
        done.stderr
            .contains("build cannot read counters at pauses: its `gclab exec` has no --pause-counters")
    );
    bench.script("build", &format!("exec {gclab} \"$@\""));
    bench.gclab(&["plan", "x.toml"]).exits(0);
    assert!(bench.folders().is_empty());
    // The plan's environment reaches the run, and a build may be a script.
    bench.script("build", &format!("echo \"$MARK\" >> marks\nexec {gclab} \"$@\""));
    let text = tiny(1).replace("[sweep]", "[sweep]\nenv.MARK = [\"one\", \"two words\"]");
    bench.write("x.toml", &format!("builds = [\"build\"]\n{text}"));
    bench.gclab(&["run", "x.toml"]).exits(0);
    let marks = fs::read_to_string(bench.path().join("marks")).unwrap();
    let count = |mark: &str| marks.lines().filter(|line| *line == mark).count();
    assert_eq!((count("one"), count("two words")), (8, 8));
}

#[test]
fn arguments_of_a_program_are_settings() {
    let bench = Bench::new();
    bench.script("prog", "echo \"answer=$1 threads=$2\"");
    let text = r#"
        repeat = 2
        [[program]]
        name    = "prog"
        command = ["./prog", "{size}", "{threads}"]
        expect  = { pattern = 'answer=([0-9]+)' }
        [sweep]
        args.size    = [10, 20]
        args.threads = [1, 2]
        "#;
    bench.write("own.toml", text);
    // Results differ by size, which is not an error.
    let done = bench.gclab(&["run", "own.toml"]).exits(0);
    assert!(
        done.stdout.contains("args.size") && done.stdout.contains("args.threads"),
        "{}",
        done.all()
    );
    let results = bench.results();
    for run in results.runs() {
        let settings = run.settings.clone();
        assert_eq!(
            run.command,
            ["./prog", &settings["args.size"], &settings["args.threads"]]
        );
        assert_eq!(run.checksum.as_ref(), Some(&settings["args.size"]));
        let program = results
            .manifest()
            .programs
            .iter()
            .find(|known| Some(&known.id) == run.program.as_ref());
        assert_eq!(program.map(|program| &program.command), Some(&run.command));
    }
    bench.write(
        "own.toml",
        &text
            .replace("answer=([0-9]+)", "threads=([0-9]+)")
            .replace("\"{threads}\"", "\"$$\""),
    );
    let done = bench.gclab(&["run", "own.toml"]);
    assert_eq!(done.code, Some(2), "no place for the threads: {}", done.all());
    bench.script("prog", "echo \"answer=$$\"");
    bench.write("own.toml", text);
    let done = bench.gclab(&["run", "own.toml"]).exits(1);
    assert!(
        done.stderr.contains("WRONG RESULTS"),
        "the same arguments, another answer: {}",
        done.all()
    );
}

/// Sweeps with a time limit. Returns how many runs were done by then, of two in a round; 0 if the
/// machine is so busy that the limit had passed before the first one.
fn runs_within(limit: &str, repeat: usize) -> usize {
    let bench = Bench::new();
    let text = format!(
        "repeat = {repeat}\n[[program]]\nname = \"sleep\"\ncommand = [\"sleep\", \"{{n}}\"]\n[sweep]\nargs.n = [0.5, 0.51]\n"
    );
    bench.write("slow.toml", &text);
    let all = 2 * repeat;
    let none = bench.gclab(&["run", "slow.toml", "--until", "1ms"]).exits(0);
    assert!(
        none.stderr.contains(&format!(
            "the next round would not finish in time; 0 of {all} runs are done and kept"
        )),
        "{}",
        none.all()
    );
    let some = bench.gclab(&["run", "slow.toml", "--until", limit]).exits(0);
    let done = bench.results().runs().len();
    assert!(done.is_multiple_of(2) && done < all, "{done} of {all}: {}", some.all());
    assert!(
        some.stderr.contains("To continue:\n  gclab run slow.toml"),
        "{}",
        some.all()
    );
    bench.gclab(&["run", "slow.toml", "--until", "30min"]).exits(0);
    assert_eq!(bench.results().runs().len(), all);
    let wrong = bench.gclab(&["run", "slow.toml", "--until", "soon"]).exits(2);
    assert!(wrong.stderr.contains("such as 30min"), "{}", wrong.all());
    done
}

/// A round takes a second or more, and all rounds together take longer than the limit.
#[test]
fn a_limit_of_time_leaves_whole_rounds() {
    assert!(runs_within("6s", 8) > 0 || runs_within("60s", 80) > 0);
}

/// Half of the runs fail. The fifth one waits until it has been seen.
#[test]
fn the_state_of_a_sweep_is_seen_while_it_runs_and_after_it_was_killed() {
    let bench = Bench::new();
    let text = gated(4, 5, "test {n} != 3") + "[sweep]\nargs.n = [1, 3]\n";
    bench.write("slow.toml", &text);
    let mut runner = bench.start(&["run", "slow.toml"]);
    let state = || -> serde_json::Value {
        serde_json::from_str(&bench.gclab(&["status", "slow", "--json"]).exits(0).stdout).unwrap()
    };
    let started = || fs::read_to_string(bench.path().join("started")).unwrap_or_default();
    until("the fifth run", || started().lines().count() == 5);
    let text = bench.gclab(&["status", "slow"]).exits(0).stdout;
    let process = format!("by process {}", runner.id());
    assert!(
        text.contains("running  gated args.n=") && text.contains(&process),
        "{text}"
    );
    assert!(
        text.contains("end      in about ") && text.contains("failed   "),
        "{text}"
    );
    let running = state();
    assert_eq!(running["planned"], 10);
    assert!(
        running["failed"]["crash"].as_u64().is_some_and(|count| count > 0),
        "{running}"
    );
    let left = running["remaining_seconds"].as_f64().unwrap();
    let seconds = bench
        .results()
        .runs()
        .iter()
        .filter_map(|run| run.wall_seconds)
        .fold(0.0, f64::max);
    // Six runs remain.
    assert!(
        left > 0.0 && left < 7.0 * seconds + 1.0 && running["end"].is_string(),
        "{running}"
    );
    runner.kill().unwrap();
    runner.wait().unwrap();
    let killed = state();
    assert!(
        killed["runner"].is_null() && killed["running"].is_null() && killed["end"].is_null(),
        "{killed}"
    );
    let text = bench.gclab(&["status", "slow"]).exits(0).stdout;
    let go_on = text
        .lines()
        .find_map(|line| line.strip_prefix("go on    gclab "))
        .unwrap();
    assert!(text.contains("running  no"), "{text}");
    // The command that it suggests does the rest. (One in two runs fails.)
    bench.open_gate();
    bench.gclab(&go_on.split(' ').collect::<Vec<_>>()).exits(1);
    let text = bench.gclab(&["status", "slow"]).exits(0).stdout;
    assert!(
        text.contains("done     10 of 10 runs; 5 of 5 rounds whole")
            && text.contains("failed   5 crash")
            && text.contains("left     0 runs")
            && text.contains("end      it is over"),
        "{text}"
    );
    assert_eq!(state()["left"], 0);
    bench.gclab(&["status", "nothing"]).exits(2);
}

#[test]
fn a_large_grid_is_neither_measured_nor_printed_in_full() {
    let bench = Bench::new();
    let sizes: Vec<String> = (1..=50).map(|n| format!("\"{n}m\"")).collect();
    let sizes = sizes.join(", ");
    let text = format!(
        "repeat = 6\nprecision = \"2%\"\ncollectors = [\"copying\"]\nworkloads = [{{ name = \"binary_trees\", args = [6] }}]\n[sweep]\nA = [{sizes}]\nO = [{sizes}]\n"
    );
    bench.write("large.toml", &text);
    let done = bench.gclab(&["run", "large.toml", "--dry-run"]).exits(0);
    assert!(done.stdout.lines().count() < 1010, "{}", done.stdout.lines().count());
    assert!(done.stdout.contains("… and 1500 more rows; `gclab plan` shows all"));
    assert!(
        done.stderr.contains("15000 runs in 6 rounds") && done.stderr.contains("no earlier runs to estimate by"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr
            .contains("fewer rounds, 5 or more, if the 95 % interval of each mean time reaches at most 2 %"),
        "{}",
        done.stderr
    );
    assert_eq!(planned(&bench, &["large.toml"]).len(), 15_000);
}
