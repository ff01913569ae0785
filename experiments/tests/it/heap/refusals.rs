//! Words and files that `gclab heap` rejects.

use super::postcss;
use crate::support::Bench;

/// The message, without the parts that differ between machines.
fn refused(words: &[&str]) -> String {
    let bench = Bench::new();
    bench.write("empty", "");
    bench.write("cut.heapsnapshot", "{\"snapshot\":{\"meta\":{");
    bench.write("other.hprof", "JAVA PROFILE 9\0");
    let done = bench.gclab(words).exits(2);
    assert_eq!(done.stdout, "");
    assert!(!bench.path().join("out.heapsnapshot").exists() && !bench.path().join("out.heapsnapshot.part").exists());
    done.stderr
}

#[test]
fn every_error_is_one_message() {
    let messages = [
        &["heap", "analyse", "no.heapsnapshot"][..],
        &["heap", "analyse", "empty"],
        &["heap", "analyse", "cut.heapsnapshot"],
        &["heap", "analyse", "other.hprof"],
        &["heap", "analyse", "other.hprof", "+RTS", "-A1m"],
        &["heap", "dump", "binary_tree", "6", "-o", "out.heapsnapshot"],
        &["heap", "dump", "binary_trees", "1000", "-o", "out.heapsnapshot"],
        &[
            "heap",
            "dump",
            "binary_trees",
            "6",
            "--collector",
            "copyng",
            "-o",
            "out.heapsnapshot",
        ],
        &["heap", "dump", "binary_trees", "6", "-o", "no/such/folder"],
        &["heap", "dump", "binary_trees", "6", "-o", "."],
        &[
            "heap",
            "dump",
            "binary_trees",
            "6",
            "-o",
            "out.heapsnapshot",
            "+RTS",
            "-A64m",
        ],
        &[
            "heap",
            "dump",
            "binary_trees",
            "10",
            "--at-gc",
            "1000",
            "-o",
            "out.heapsnapshot",
            "+RTS",
            "-A1m",
        ],
        &[
            "heap",
            "dump",
            "binary_trees",
            "6",
            "-o",
            "out.heapsnapshot",
            "+RTS",
            "-Ax",
        ],
    ]
    .map(|words| {
        // The names do not matter here.
        let message = refused(words);
        let cut = |line: &str| match line
            .split_once("s: ")
            .filter(|(before, _)| before.ends_with("workload") || before.ends_with("collector"))
        {
            Some((before, _)) => format!("{before}s: ...\n"),
            None => format!("{line}\n"),
        };
        format!(
            "$ gclab {}\n{}",
            words.join(" "),
            message.lines().map(cut).collect::<String>()
        )
    });
    insta::assert_snapshot!(messages.join("\n"));
    let unknown = refused(&["heap", "analyse", &postcss(), "--path-to", "2"]);
    assert!(
        unknown.ends_with("postcss.heapsnapshot.gz: no object has the id 2; `--top` lists some that exist\n"),
        "{unknown}"
    );
    assert!(refused(&["heap", "analyse", "empty", "--path-to", "x"]).contains("expected the id of an object"));
    assert!(
        refused(&[
            "heap",
            "dump",
            "binary_trees",
            "6",
            "-o",
            "out.heapsnapshot",
            "--at-gc",
            "0"
        ])
        .contains("--at-gc")
    );
}
