//! The files of a new crate: the tutorials' examples, renamed, so their tests cover what is
//! written.

use clap::ValueEnum;

use super::name::Name;

const MANIFEST: &str = include_str!("../../../docs/examples/mark_sweep/Cargo.toml");
const MAIN: &str = include_str!("../../../docs/examples/mark_sweep/src/main.rs");
const BENCH: &str = include_str!("../../../docs/examples/mark_sweep/benches/collectors.rs");

/// The names of that example: module, type, collector.
const NAMES: [&str; 3] = ["mark_sweep", "MarkSweep", "plain-mark-sweep"];

/// The path from an example to gclab's source.
const TO_SOURCE: &str = "../../..";

/// The collector that a new one begins as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Origin {
    /// Generational copying; every eighth collection is a major one
    Copying,
    /// Closures are marked and stay where they are
    MarkSweep,
    /// Old closures are marked while the program runs, and stay where they are
    Concurrent,
    /// References to old closures are counted, and closures without any die
    Counting,
}

impl Origin {
    /// The example's collector, and its name as a module, a type and a collector.
    fn example(self) -> (&'static str, [&'static str; 3]) {
        match self {
            Origin::Copying => (
                include_str!("../../../docs/examples/clockwork/src/clockwork.rs"),
                ["clockwork", "Clockwork", "clockwork"],
            ),
            Origin::MarkSweep => (
                include_str!("../../../docs/examples/mark_sweep/src/mark_sweep.rs"),
                NAMES,
            ),
            Origin::Concurrent => (
                include_str!("../../../docs/examples/plain_concurrent.rs"),
                ["plain_concurrent", "PlainConcurrent", "plain-concurrent"],
            ),
            Origin::Counting => (
                include_str!("../../../docs/examples/plain_counting.rs"),
                ["plain_counting", "PlainCounting", "plain-counting"],
            ),
        }
    }
}

/// The files by their paths. `source` is the folder of gclab's source.
pub(super) fn files(name: &Name, from: Origin, source: &str) -> Vec<(String, String)> {
    let (collector, old) = from.example();
    let renamed = |text: &str, [module, of_type, collector]: [&str; 3]| {
        // The collector and the module may have the same name; then quotation marks tell them
        // apart. The new name comes last, since the module's may be part of it.
        text.replace(&format!("\"{collector}\""), "\"\0\"")
            .replace(&format!("`{collector}`"), "`\0`")
            .replace(module, &name.snake())
            .replace(of_type, &name.camel())
            .replace('\0', name.kebab())
    };
    let manifest = MANIFEST
        .lines()
        .filter(|line| !line.starts_with("# A collector"))
        .map(|line| line.replace(TO_SOURCE, source) + "\n")
        .collect::<String>()
        .replace("\"mark_sweep\"", &format!("\"{}\"", name.kebab()));
    vec![
        ("Cargo.toml".to_owned(), manifest),
        ("src/main.rs".to_owned(), renamed(MAIN, NAMES)),
        ("benches/collectors.rs".to_owned(), renamed(BENCH, NAMES)),
        (format!("src/{}.rs", name.snake()), renamed(collector, old)),
        (format!("{}.toml", name.kebab()), experiment(name)),
        (".gitignore".to_owned(), "/target\n/results\n".to_owned()),
    ]
}

fn experiment(name: &Name) -> String {
    format!(
        "question   = \"Is {0} better than copying?\"\n\
         collectors = [\"{0}\", \"copying\"]\n\
         workloads  = [\n    \
             {{ name = \"binary_trees\", args = [16] }},\n    \
             {{ name = \"gcbench\", args = [18, 16, 500_000] }},\n\
         ]\n\
         repeat     = 8\n\
         \n\
         [sweep]\n\
         A = [\"256k\", \"1m\"]\n",
        name.kebab()
    )
}

/// A name that would clash: the new module or type, if the example already uses that word for
/// something else.
pub(super) fn used_already(name: &Name, from: Origin) -> Option<String> {
    let (collector, own) = from.example();
    let has_word = |text: &str, word: &str| {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.any(|other| other == word)
    };
    let (module, of_type) = (name.snake(), name.camel());
    if !own.contains(&&*of_type) && has_word(collector, &of_type) {
        return Some(of_type);
    }
    (module != "mark_sweep" && has_word(MAIN, &module)).then_some(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples are written as they are, but for their names.
    #[test]
    fn the_files_are_the_examples_under_another_name() {
        let name = Name::new("other-one").unwrap();
        for &from in Origin::value_variants() {
            let (collector, [module, of_type, kebab]) = from.example();
            let files = files(&name, from, "/gclab");
            let text = |path: &str| &files.iter().find(|(file, _)| file == path).expect(path).1;
            let written = text("src/other_one.rs");
            assert!(
                written.contains("struct OtherOne ") && written.contains("name: \"other-one\""),
                "{written}"
            );
            for old in [module, of_type, kebab] {
                let code = written
                    .lines()
                    .filter(|line| !line.starts_with("//!"))
                    .collect::<String>();
                assert!(!code.contains(old), "{old} is left: {written}");
            }
            assert_eq!(written.lines().count(), collector.lines().count());
            assert!(text("src/main.rs").contains("gclab::main::<(other_one::OtherOne, gclab_collectors::All)"));
            assert!(text("benches/collectors.rs").contains("#[path = \"../src/other_one.rs\"]\nmod other_one;"));
            let manifest = text("Cargo.toml");
            assert!(
                manifest.starts_with("[workspace]") && manifest.contains("name = \"other-one\""),
                "{manifest}"
            );
            assert!(
                manifest.contains("\"/gclab/core\"") && !manifest.contains(TO_SOURCE),
                "{manifest}"
            );
        }
    }

    /// The name was put into itself: `my-my_clockwork`.
    #[test]
    fn a_name_may_contain_that_of_the_example() {
        let name = Name::new("my-clockwork").unwrap();
        let files = files(&name, Origin::Copying, "/gclab");
        let (_, written) = files.iter().find(|(file, _)| file == "src/my_clockwork.rs").unwrap();
        assert!(
            written.contains("name: \"my-clockwork\"") && written.starts_with("//! `my-clockwork`:"),
            "{written}"
        );
        assert!(!written.contains("my_my") && !written.contains("my-my"), "{written}");
    }

    #[test]
    fn names_that_the_code_has_already_are_found() {
        let used = |name: &str, from| used_already(&Name::new(name).unwrap(), from);
        assert_eq!(used("heap", Origin::Copying).as_deref(), Some("Heap"));
        assert_eq!(used("cell-space", Origin::MarkSweep).as_deref(), Some("CellSpace"));
        assert_eq!(used("process", Origin::Copying).as_deref(), Some("process"));
        assert_eq!(used("cell-space", Origin::Copying), None);
        assert_eq!(used("clockwork", Origin::Copying), None);
    }
}
