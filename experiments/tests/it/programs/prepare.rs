//! `prepare` for a whole file: the commands run before each run of a workload or a program.

use std::fs;

use gclab_results::Status;

use super::{results, runs, with_script};

const WORKLOAD: &str =
    "collectors = [\"copying\"]\nworkloads = [{ name = \"binary_trees\", args = [6] }]\nrepeat = 2\n";

#[test]
fn every_run_is_prepared_in_its_own_environment() {
    let bench = with_script("true");
    let file = |word: &str| {
        format!(
            "{WORKLOAD}prepare = [\"sh\", \"-c\", \"echo {word} $STATE >> log\"]\n\
             [sweep]\nenv.STATE = [\"cold\", \"warm\"]\n\
             [[program]]\nname = \"p\"\ncommand = [\"./prog\"]\n\
             [[program]]\nname = \"own\"\ncommand = [\"./prog\"]\nprepare = [\"sh\", \"-c\", \"echo own >> log\"]\n"
        )
    };
    bench.write("w.toml", &file("file"));
    bench.gclab(&["run", "w.toml"]).exits(0);
    let mut log: Vec<String> = fs::read_to_string(bench.path().join("log"))
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    log.sort();
    // Two rounds of the workload, and of the program that has no `prepare`.
    let twice = |line: &str| vec![line.to_owned(); 4];
    assert_eq!(log, [twice("file cold"), twice("file warm"), twice("own")].concat());
    let first = results(&bench, "w");
    let of_programs = &first.manifest().programs;
    assert!(of_programs.iter().all(|program| program.prepare.len() == 1));
    // What prepares a run affects its result, so another preparation is another plan.
    bench.write("w.toml", &file("other"));
    bench.gclab(&["run", "w.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 2);
    let ids = |index: usize| -> Vec<String> {
        let dir = gclab_results::ResultsDir::open(bench.folders()[index].clone()).unwrap();
        let workloads = dir.runs().iter().filter(|run| run.runtime.is_none());
        workloads.map(|run| run.id.clone()).collect()
    };
    let (one, other) = (ids(0), ids(1));
    assert_eq!(one.len(), 4);
    assert!(one.iter().all(|id| !other.contains(id)), "{one:?} {other:?}");
}

#[test]
fn a_workload_whose_preparation_fails_does_not_start() {
    let bench = with_script("true");
    bench.write(
        "w.toml",
        &format!("{WORKLOAD}prepare = [[\"true\"], [\"sh\", \"-c\", \"exit 3\"]]\n"),
    );
    let done = bench.gclab(&["run", "w.toml"]).exits(1);
    for run in runs(&bench, "w") {
        assert_eq!(run.outcome, Status::Unprepared);
        assert_eq!((run.wall_seconds, run.stats.is_none()), (None, true));
        let why = run.stderr_tail.unwrap_or_default();
        assert!(
            why.contains("`prepare`: sh -c 'exit 3' ended with exit status 3"),
            "{why}"
        );
    }
    assert!(done.all().contains("unprepared"), "{}", done.all());
}

#[test]
fn a_preparation_that_is_not_there_is_refused_before_the_first_run() {
    let bench = with_script("true");
    for (prepare, message) in [
        ("[\"./nowhere\"]", "`prepare`: ./nowhere: no program of this name\n"),
        (
            "[\"no-such-tool\"]",
            "`prepare`: no-such-tool: no program of this name on the PATH",
        ),
        (
            "[[\"true\"], [\"no-such-tool\"]]",
            "`prepare`: no-such-tool: no program",
        ),
    ] {
        bench.write("w.toml", &format!("{WORKLOAD}prepare = {prepare}\n"));
        let done = bench.gclab(&["run", "w.toml"]).exits(2);
        assert!(done.stderr.contains(message), "{message}\n{}", done.all());
        assert!(bench.folders().is_empty());
    }
    // A later command, and the program, may be a file made by an earlier command.
    bench.write(
        "made.toml",
        "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"./made\"]\nprepare = [[\"cp\", \"prog\", \"made\"], [\"./made\"]]\n",
    );
    bench.gclab(&["run", "made.toml"]).exits(0);
    bench.write(
        "first.toml",
        "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\nprepare = [\"./nowhere\"]\n",
    );
    let done = bench.gclab(&["run", "first.toml"]).exits(2);
    assert!(
        done.stderr
            .contains("program p: `prepare`: ./nowhere: no program of this name"),
        "{}",
        done.all()
    );
}
