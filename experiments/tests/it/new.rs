//! `gclab new`: a crate with your own collector. `.ci/outside` builds it.

use crate::support::Bench;
use std::fs;

#[test]
fn a_crate_is_written_once() {
    let bench = Bench::new();
    let said = bench.gclab(&["new", "my-collector"]).exits(0).stdout;
    assert!(
        said.contains("cd my-collector") && said.contains("--collector my-collector"),
        "{said}"
    );
    let read = |file: &str| fs::read_to_string(bench.path().join("my-collector").join(file)).unwrap();
    let root = env!("CARGO_MANIFEST_DIR").strip_suffix("/experiments").unwrap();
    assert!(
        said.contains(&format!("gclab's source: {root} (--gclab names another)")),
        "{said}"
    );
    assert!(read("Cargo.toml").contains(&format!("gclab-core = {{ path = \"{root}/core\" }}")));
    assert!(read("src/my_collector.rs").contains("unsafe impl Collector for MyCollector {"));
    assert!(read("my-collector.toml").contains("collectors = [\"my-collector\", \"copying\"]"));
    assert_eq!(
        read("Cargo.lock"),
        fs::read_to_string(format!("{root}/Cargo.lock")).unwrap()
    );
    // A second time, nothing is written.
    fs::write(bench.path().join("my-collector/src/my_collector.rs"), "mine").unwrap();
    let done = bench.gclab(&["new", "my-collector", "--from", "mark-sweep"]).exits(2);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("my-collector exists already"), "{}", done.stderr);
    assert_eq!(read("src/my_collector.rs"), "mine");
}

#[test]
fn the_other_origins_are_collectors_that_move_nothing() {
    let bench = Bench::new();
    for origin in ["mark-sweep", "concurrent", "counting"] {
        let name = format!("my-{origin}");
        bench.gclab(&["new", &name, "--from", origin]).exits(0);
        let file = format!("{name}/src/{}.rs", name.replace('-', "_"));
        let text = fs::read_to_string(bench.path().join(file)).unwrap();
        assert!(
            text.contains(&format!("name: \"{name}\"")) && text.contains("moves: false"),
            "{text}"
        );
    }
}

#[test]
fn every_error_is_one_message() {
    let mut messages = String::new();
    for words in [
        &["new"][..],
        &["new", "My Collector"],
        &["new", "../elsewhere"],
        &["new", "match"],
        &["new", "build"],
        &["new", "gclab-core"],
        &["new", "copying"],
        &["new", "heap"],
        &["new", "mine", "--from", "nothing"],
        &["new", "mine", "--gclab", "."],
        &["new", "mine", "+RTS", "-A1m"],
    ] {
        let bench = Bench::new();
        let done = bench.gclab(words).exits(2);
        assert_eq!(done.stdout, "", "{words:?}");
        assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 0, "{words:?}");
        messages += &format!("gclab {}\n{}\n", words.join(" "), done.stderr.trim_end());
    }
    insta::assert_snapshot!(messages);
}
