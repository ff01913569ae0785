//! The commands and experiment files in the docs.

use std::fs;

use super::{Block, files, pages, root};
use crate::support::Bench;

fn blocks(language: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = pages().iter().flat_map(super::Page::blocks).collect();
    blocks.retain(|block| block.language == language);
    assert!(!blocks.is_empty(), "no {language} anywhere");
    blocks
}

/// A bench with the experiment files and the fixtures that the words name.
fn bench(words: &[&str]) -> Bench {
    let bench = Bench::new();
    fs::create_dir_all(bench.path().join("experiments")).unwrap();
    for file in files(&root().join("experiments"), "toml") {
        fs::copy(&file, bench.path().join("experiments").join(file.file_name().unwrap())).unwrap();
    }
    for fixture in words
        .iter()
        .filter(|word| word.contains("/fixtures/") && root().join(word).is_file())
    {
        fs::create_dir_all(bench.path().join(fixture).parent().unwrap()).unwrap();
        fs::copy(root().join(fixture), bench.path().join(fixture)).unwrap();
    }
    bench
}

/// Runs a command from the docs, and returns its output. Sweeps are only planned, but leave the
/// folder that they would have made, with other results.
fn run(bench: &Bench, words: &[&str], place: &str) -> String {
    let sweep = words[0] == "run" && !words.iter().any(|word| word.starts_with("--dry-run"));
    // There is no shell, so the output does not go to the file that the page names.
    let command = words.split(|word| *word == ">").next();
    let mut words = command.expect("a split has a first part").to_vec();
    // A grid is measured, which takes long for large sweeps in a debug build.
    words.retain(|word| *word != "--dry-run");
    if words[0] == "run" && words.iter().all(|word| !word.starts_with("--dry-run")) {
        words.push("--dry-run=commands");
    }
    // The runs at the limit take longest. The tests of `minheap` repeat them.
    if words[0] == "minheap" && !words.contains(&"--runs") {
        words.splice(1..1, ["--runs", "1"]);
    }
    let done = bench.gclab(&words);
    assert_eq!(done.code, Some(0), "{place}: gclab {}\n{}", words.join(" "), done.all());
    if sweep {
        leave_results(bench, &words);
    }
    done.stdout
}

/// Makes a folder of results where `gclab run FILE [--out DIR]` would.
fn leave_results(bench: &Bench, words: &[&str]) {
    let out = words
        .iter()
        .position(|word| *word == "--out")
        .map(|at| words[at + 1].to_owned());
    let name = words[1].rsplit('/').next().unwrap().trim_end_matches(".toml");
    let folder = out.unwrap_or_else(|| format!("results/runs/{name}-2026-01-31-120005"));
    fs::create_dir_all(bench.path().join(&folder)).unwrap();
    for file in ["plan.json", "runs.jsonl"] {
        let fixture = root().join("results/tests/it/fixtures/small").join(file);
        fs::copy(fixture, bench.path().join(&folder).join(file)).unwrap();
    }
}

/// The commands of a page share a folder: each works as written, after those before it.
#[test]
#[ignore = "runs the commands of every page: .ci/docs"]
fn commands_print_what_is_shown() {
    for page in pages() {
        let mut blocks = page.blocks();
        blocks.retain(|block| block.language == "console");
        let text: String = blocks.iter().map(|block| block.text.as_str()).collect();
        let bench = bench(&text.split_whitespace().collect::<Vec<_>>());
        for block in blocks {
            let mut shown = block.text.split("$ gclab ").map(str::trim_end);
            assert_eq!(
                shown.next(),
                Some(""),
                "{}: a console begins with `$ gclab`",
                block.place
            );
            for command in shown {
                let (command, output) = command.split_once('\n').unwrap_or((command, ""));
                let words: Vec<&str> = command.split_whitespace().collect();
                let printed = run(&bench, &words, &block.place);
                if !output.is_empty() {
                    assert_eq!(printed.trim_end(), output, "{}: gclab {command}", block.place);
                }
            }
        }
    }
}

/// A census counts bytes, so the tables on the page about profiles are the same on every machine.
/// Times differ, and so may the numbers of retainer sets.
#[test]
#[ignore = "runs the commands of every page: .ci/docs"]
fn tables_of_profiles_are_those_of_their_commands() {
    let masked = |table: &str| {
        let mut text = table.split(" after ").next().unwrap_or_default().to_owned();
        for line in table.lines().skip(1).take_while(|line| line.starts_with("  ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            text.push('\n');
            text.push_str(
                words
                    .join(" ")
                    .trim_start_matches(|c: char| "()".contains(c) || c.is_ascii_digit()),
            );
        }
        text
    };
    let page = pages()
        .into_iter()
        .find(|page| page.name() == "docs/profiles.md")
        .unwrap();
    let (mut command, mut seen) = (String::new(), 0);
    for block in page.blocks() {
        if block.language == "console" {
            command = block.text.lines().last().unwrap_or_default().to_owned();
        } else if block.text.starts_with("heap profile by ") {
            let words: Vec<&str> = command.strip_prefix("$ gclab ").unwrap().split(' ').collect();
            let printed = Bench::new().gclab(&words).exits(0).stdout;
            assert_eq!(masked(&block.text), masked(&printed), "{}: {command}", block.place);
            seen += 1;
        }
    }
    assert!(seen > 3, "{seen} tables");
}

/// `.ci/quick` and `.ci/test` run the README's two commands themselves.
#[test]
fn the_two_commands_are_for_what_is_there() {
    let mut shell = blocks("sh");
    shell.retain(|block| block.place.starts_with("README.md"));
    let mut lines: Vec<&str> = shell.iter().flat_map(|block| block.text.lines()).collect();
    lines.retain(|line| *line != "cargo test --workspace");
    for line in &lines {
        let file = line
            .strip_prefix("cargo run --release -- run ")
            .expect("the README runs a sweep");
        assert!(root().join(file).is_file(), "{line}");
    }
    assert_eq!((shell.len(), lines.len()), (2, 1));
}

/// Every page that names a version of Rust names the one in the manifest.
#[test]
fn the_version_of_rust_is_that_of_the_manifest() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let manifest = read("Cargo.toml");
    let version = manifest.split("rust-version = \"").nth(1).unwrap();
    let version = version.split('"').next().unwrap();
    let mut seen = 0;
    for file in ["README.md", "CONTRIBUTING.md", "docs/troubles.md"] {
        for rest in read(file).split("Rust 1.").skip(1) {
            let named = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap();
            assert_eq!(format!("1.{named}"), version, "{file}");
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen} places");
}

#[test]
#[ignore = "runs the commands of every page: .ci/docs"]
fn experiment_files_are_right() {
    let examples: Vec<String> = files(&root().join("docs/examples"), "toml")
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let mut base = String::new();
    for block in blocks("toml") {
        // The files of an example name its own collectors (the example's check runs them), or are
        // its manifest.
        if !examples.iter().any(|example| example.contains(&block.text)) {
            let bench = Bench::new();
            bench.write("shown.toml", &block.text);
            // This file builds on the previous block.
            bench.write("base.toml", &base);
            if block.text.contains("old/gclab") {
                bench.build("old");
                bench.build("new");
            }
            base.clone_from(&block.text);
            let done = bench.gclab(&["run", "shown.toml", "--dry-run=commands"]);
            assert_eq!(done.code, Some(0), "{}\n{}", block.place, done.all());
        }
    }
}

#[test]
fn every_key_of_experiment_files_is_explained() {
    let bench = Bench::new();
    bench.write("wrong.toml", "wrong = 1\n");
    let message = bench.gclab(&["run", "wrong.toml"]).exits(2).stderr;
    let (_, keys) = message.split_once("known keys: ").expect("a list of keys");
    let page = fs::read_to_string(root().join("docs/experiments.md")).unwrap();
    let keys: Vec<&str> = keys.split([',', '\n', ' ']).filter(|key| !key.is_empty()).collect();
    assert!(keys.len() >= 8, "{message}");
    for key in keys {
        let explained = page.contains(&format!("| `{key}` |")) || page.contains(&format!("| `[{key}]` |"));
        assert!(explained, "docs/experiments.md does not explain `{key}`");
    }
}

#[test]
fn every_experiment_file_is_listed() {
    let page = fs::read_to_string(root().join("docs/experiments.md")).unwrap();
    for file in files(&root().join("experiments"), "toml") {
        let name = file.file_name().unwrap().to_string_lossy();
        let listed = page.contains(&format!("(../experiments/{name})"));
        assert!(
            listed || name == "Cargo.toml",
            "docs/experiments.md does not list {name}"
        );
    }
}
