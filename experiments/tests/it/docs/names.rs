//! Names in the docs exist in the project.

use std::collections::BTreeSet;
use std::fs;

use gclab_flags::FLAGS;

use super::{files, pages, root};

/// The folders of the workspace: a text that starts with one of them is a path.
const FOLDERS: [&str; 8] = [
    "core/",
    "collectors/",
    "heap-traverse/",
    "workloads/",
    "results/",
    "experiments/",
    "docs/",
    ".ci/",
];

#[test]
fn paths_exist() {
    let mut paths = 0;
    for page in pages() {
        for code in page.code() {
            let is_path = FOLDERS.iter().any(|folder| code.starts_with(folder)) && !code.contains([' ', '*', '<']);
            // Runs and probes are made by users.
            if is_path
                && !["results/runs/", "results/minheap/"]
                    .iter()
                    .any(|made| code.starts_with(made))
            {
                paths += 1;
                assert!(root().join(code).exists(), "{}: {code} is not there", page.name());
            }
        }
    }
    assert!(paths > 20, "only {paths} paths were found");
}

/// Words in the source that start with a capital letter or follow `fn`.
fn words_of_the_source() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for file in files(&root(), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        words.extend(
            text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .map(str::to_owned),
        );
    }
    words
}

#[test]
fn identifiers_exist() {
    let known = words_of_the_source();
    let mut names = 0;
    for page in pages() {
        for code in page.code() {
            let camel = code.starts_with(|c: char| c.is_ascii_uppercase()) && code.contains(char::is_lowercase);
            let plain = code.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
            if camel && plain {
                names += 1;
                for part in code.split("::") {
                    assert!(
                        known.contains(part),
                        "{}: no {part} in the source ({code})",
                        page.name()
                    );
                }
            }
        }
    }
    assert!(names > 60, "only {names} names were found");
}

#[test]
fn flags_exist() {
    let known: Vec<&str> = FLAGS.iter().map(|flag| flag.name).collect();
    // A test in the flags crate checks the page on flags itself. The page for users of GHC, and the
    // one on programs of other runtimes, name flags that gclab does not have.
    let apart = ["docs/flags.md", "docs/coming-from-ghc.md", "docs/programs.md"];
    for page in pages().iter().filter(|page| !apart.contains(&page.name().as_str())) {
        for code in page.code().into_iter().filter(|code| *code != "-RTS") {
            let Some(flag) = code.strip_prefix('-').filter(|flag| !flag.starts_with('-')) else {
                continue;
            };
            // A single flag: `-A`, `-F1.5`, `-DZ<n>`.
            if flag.starts_with(|c: char| c.is_alphabetic()) && !flag.contains(' ') {
                let found = known.iter().any(|name| {
                    flag.strip_prefix(name)
                        .is_some_and(|value| !value.starts_with(|c: char| c.is_ascii_alphabetic()))
                });
                assert!(found, "{}: there is no flag {code}", page.name());
            }
        }
    }
}
