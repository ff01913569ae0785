//! GHC programs, if a compiler is installed.

use std::process::Command;

use gclab_results::Status;

use super::{results, runs};
use crate::support::Bench;

/// Compiles the program, if GHC is installed.
fn haskell(bench: &Bench, options: &[&str]) -> bool {
    if Command::new("ghc").arg("--version").output().is_err() {
        eprintln!("there is no ghc here: programs of GHC are not tested");
        return false;
    }
    bench.write(
        "Main.hs",
        "import qualified Data.Map.Strict as M\nimport System.Environment\n\
         main = do\n  [n] <- map read . filter (/= \"--\") <$> getArgs\n  \
         let m = foldr (\\k -> M.insert k (show k)) M.empty [1 .. n :: Int]\n  \
         putStrLn (\"checksum=\" ++ show (sum (map length (M.elems m))))\n",
    );
    let built = Command::new("ghc")
        .args(["-v0", "-O0", "-package", "containers", "-o", "prog", "Main.hs"])
        .args(options)
        .current_dir(bench.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    true
}

const HASKELL: &str = "repeat = 2\n[[program]]\nname = \"p\"\nruntime = \"ghc\"\ncommand = [\"./prog\", \"20000\"]\nexpect = { pattern = 'checksum=([0-9]+)' }\n";

#[test]
fn a_program_of_ghc_is_swept_over_its_flags() {
    let bench = Bench::new();
    if !haskell(&bench, &["-rtsopts"]) {
        return;
    }
    let sweep = "sweep = { A = [\"256k\", \"4m\"], xn = [false, true] }\n";
    bench.write("ghc.toml", &format!("{HASKELL}{sweep}"));
    bench.gclab(&["run", "ghc.toml"]).exits(0);
    let all = runs(&bench, "ghc");
    assert_eq!(all.len(), 8);
    for run in &all {
        let stats = run.stats.as_ref().expect("statistics");
        assert!(
            run.outcome.is_ok() && stats.gcs > Some(0) && stats.allocated_bytes > Some(1 << 20),
            "{run:?}"
        );
        assert!(stats.peak_in_use_bytes > Some(1 << 20) && stats.generations.len() == 2);
        assert_eq!(
            run.command.contains(&"--nonmoving-gc".to_owned()),
            run.flags["xn"] == "true"
        );
    }
    let gcs = |size: &str| {
        all.iter()
            .find(|run| run.flags["A"] == size)
            .unwrap()
            .stats
            .as_ref()
            .unwrap()
            .gcs
    };
    assert!(gcs("256k") > gcs("4m"), "the flag reaches the program");
    let said = Command::new("ghc").arg("--numeric-version").output().unwrap();
    let version = format!("GHC {}", String::from_utf8_lossy(&said.stdout).trim());
    let recorded = results(&bench, "ghc").manifest().programs[0].runtime_version.clone();
    assert!(
        recorded.as_ref().is_some_and(|found| found.starts_with(&version)),
        "{recorded:?}"
    );
    // The least heap in terms of -M; an exhausted one is a result.
    bench.write("heap.toml", &format!("heap = [0.5, 2]\n{HASKELL}"));
    bench.gclab(&["run", "heap.toml"]).exits(0);
    for run in runs(&bench, "heap") {
        let expected = if run.heap_multiple == Some(2.0) {
            Status::Ok
        } else {
            Status::HeapExhausted
        };
        assert_eq!(run.outcome, expected);
        assert!(run.flags.contains_key("M"));
    }
    // A flag that its runtime does not have gives one message before the first run.
    bench.write("n.toml", &format!("{HASKELL}flags = {{ N = 2 }}\n"));
    let threads = bench.gclab(&["run", "n.toml"]).exits(2);
    assert!(
        threads.stderr.contains("refuses N = 2") && threads.stderr.contains("-threaded"),
        "{}",
        threads.all()
    );
}

/// The runtime's message says what the program lacks, and the advice fits.
#[test]
fn a_program_without_an_event_log_is_told_so() {
    let bench = Bench::new();
    if !haskell(&bench, &["-rtsopts"]) {
        return;
    }
    bench.write("log.toml", &format!("{HASKELL}eventlog = true\n"));
    let done = bench.gclab(&["run", "log.toml"]);
    // GHC 9.4 and later can always write one.
    if done.code == Some(0) {
        return;
    }
    assert_eq!(done.code, Some(2), "{}", done.all());
    for part in ["refuses `eventlog = true`", "-eventlog", "link it so"] {
        assert!(done.stderr.contains(part), "{part}\n{}", done.all());
    }
    assert!(!done.stderr.contains("-rtsopts"), "{}", done.all());
}

/// GHC does not read flags after `--`.
#[test]
fn a_command_with_two_dashes_gets_its_flags_before_them() {
    let bench = Bench::new();
    if !haskell(&bench, &["-rtsopts"]) {
        return;
    }
    let file = HASKELL.replace("\"./prog\", \"20000\"", "\"./prog\", \"--\", \"20000\"");
    bench.write("dd.toml", &format!("{file}sweep = {{ A = [\"256k\", \"4m\"] }}\n"));
    let done = bench.gclab(&["run", "dd.toml"]).exits(0);
    let all = runs(&bench, "dd");
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|run| run.stats.is_some()), "{}", done.all());
}

#[test]
fn a_program_of_ghc_that_refuses_flags_is_told_in_one_message() {
    let bench = Bench::new();
    if !haskell(&bench, &[]) {
        return;
    }
    bench.write("some.toml", &format!("{HASKELL}sweep = {{ A = [\"1m\", \"2m\"] }}\n"));
    let done = bench.gclab(&["run", "some.toml"]).exits(2);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.all());
    assert!(
        done.stderr.contains("RTS options are disabled") && done.stderr.contains("-rtsopts"),
        "{}",
        done.all()
    );
    assert!(bench.folders().is_empty());
    // Without flags it runs, without statistics.
    bench.write("none.toml", HASKELL);
    let done = bench.gclab(&["run", "none.toml"]).exits(0);
    assert!(
        done.stderr.contains("have no statistics of the ghc runtime"),
        "{}",
        done.all()
    );
    assert!(
        runs(&bench, "none")
            .iter()
            .all(|run| run.outcome.is_ok() && run.stats.is_none())
    );
}

/// One of the runs that are the same may stay.
#[test]
fn runs_that_differ_only_in_an_ignored_flag_are_refused() {
    let bench = super::with_script("true");
    let file = "[[program]]\nname = \"p\"\nruntime = \"ghc\"\ncommand = [\"./prog\"]\n\
        sweep = { N = [1, 2], qg = [0, 1, false] }\n";
    bench.write("same.toml", file);
    let done = bench.gclab(&["plan", "same.toml"]).exits(2);
    let exclude = "exclude = [{ N = 1, qg = 1 }, { N = 1, qg = false }]";
    for part in ["ignores qg = 1 with N = 1: ", exclude] {
        assert!(done.stderr.contains(part), "{part}\n{}", done.all());
    }
    bench.write("same.toml", &format!("{exclude}\n{file}"));
    bench.gclab(&["plan", "same.toml"]).exits(0);
}

/// Each of two flags is legal, but not both.
#[test]
fn a_pair_of_flags_that_ghc_refuses_is_told_before_the_first_run() {
    let bench = Bench::new();
    if !haskell(&bench, &["-rtsopts"]) {
        return;
    }
    let sweep = "sweep = { c = [false, true], xn = [false, true] }\n";
    bench.write("pair.toml", &format!("{HASKELL}{sweep}"));
    let done = bench.gclab(&["run", "pair.toml"]).exits(2);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.all());
    for part in [
        "does not take c = true with xn = true",
        "compacting",
        "exclude = [{ c = true, xn = true }]",
    ] {
        assert!(done.stderr.contains(part), "{part}\n{}", done.all());
    }
    assert!(bench.folders().is_empty());
    assert_eq!(bench.gclab(&["plan", "pair.toml"]).exits(2).stderr, done.stderr);
    // The advice works.
    bench.write(
        "left.toml",
        &format!("exclude = [{{ c = true, xn = true }}]\n{HASKELL}{sweep}"),
    );
    bench.gclab(&["run", "left.toml"]).exits(0);
    assert_eq!(runs(&bench, "left").len(), 6);
    // gclab does not read the flags in a command. Such a run is a usage error, with a reason.
    let own = HASKELL.replace("\"20000\"", "\"20000\", \"+RTS\", \"-c\", \"-RTS\"");
    bench.write("own.toml", &format!("{own}flags = {{ xn = true }}\n"));
    bench.gclab(&["run", "own.toml"]).exits(1);
    for run in runs(&bench, "own") {
        assert_eq!(run.outcome, Status::Usage);
        let tail = run.stderr_tail.unwrap();
        assert!(tail.contains("The non-moving collector cannot be used"), "{tail}");
    }
}
