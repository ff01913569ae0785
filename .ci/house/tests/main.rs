//! The rules of [`gclab_house`], applied to the workspace.

mod pages;

use gclab_house::imports::Imports;
use gclab_house::names;
use gclab_house::prose::{self, Count};
use gclab_house::{crates, files_below, root};
use std::fmt::Write as _;
use std::path::Path;

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    let mut report = String::new();
    for package in crates() {
        let imports = Imports::of(&package.root);
        for circle in imports.circles() {
            writeln!(report, "{}: a circle of {} files", package.folder, circle.len()).unwrap();
            for arrow in imports.arrows() {
                if circle.contains(&arrow.from) && circle.contains(&arrow.to) {
                    let (from, to) = (relative(&arrow.from), relative(&arrow.to));
                    writeln!(report, "    {from} -> {to}: {}", arrow.name).unwrap();
                }
            }
        }
        for circle in imports.circles_of_top_modules() {
            writeln!(report, "{}: a circle of modules: {}", package.folder, circle.join(", ")).unwrap();
        }
    }
    assert!(report.is_empty(), "files import each other in circles:\n{report}");
}

/// The folders whose prose is counted together: each package, and `docs/` with the pages above it.
/// A file belongs to the innermost package around it.
fn folders() -> Vec<(String, Vec<(String, Count)>)> {
    let mut packages: Vec<String> = crates().into_iter().map(|package| package.folder).collect();
    packages.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    let mut folders: Vec<(String, Vec<(String, Count)>)> =
        packages.iter().map(|folder| (folder.clone(), Vec::new())).collect();
    let mut docs = Vec::new();
    let mut scripts = Vec::new();
    for file in files_below(&root(), "") {
        let name = relative(&file);
        if !prose::is_counted(&file) || name.starts_with("results/runs") {
            continue;
        }
        if name.ends_with(".rs") {
            let home = packages
                .iter()
                .position(|folder| name.starts_with(&format!("{folder}/")));
            let count = prose::count_rust(&read(&file));
            match home {
                Some(home) => folders[home].1.push((name, count)),
                None => docs.push((name, count)),
            }
        } else if name.ends_with(".md") {
            docs.push((name, prose::count_markdown(&read(&file))));
        } else if name.starts_with(".ci/") && !name.contains(".toml") {
            scripts.push((name, prose::count_script(&read(&file))));
        }
    }
    folders.push(("docs".into(), docs));
    folders.push((".ci".into(), scripts));
    folders
}

#[test]
fn prose_names_its_subjects() {
    let mut report = String::new();
    for (folder, files) in folders() {
        let mut total = Count::default();
        for (name, count) in &files {
            total.add(count);
            if count.words > prose::LONG && count.per_thousand() > prose::MOST_IN_A_FILE {
                let rate = count.per_thousand();
                writeln!(
                    report,
                    "{name}: {rate:.1} in 1000 words, at most {}",
                    prose::MOST_IN_A_FILE
                )
                .unwrap();
            }
        }
        let rate = total.per_thousand();
        println!("{folder:24} {rate:5.1} in 1000 of {} words", total.words);
        if rate > prose::MOST_IN_A_FOLDER {
            writeln!(
                report,
                "{folder}: {rate:.1} in 1000 words, at most {}",
                prose::MOST_IN_A_FOLDER
            )
            .unwrap();
            for (name, count) in &files {
                for (line, text) in &count.lines {
                    writeln!(report, "    {name}:{line}: {text}").unwrap();
                }
            }
        }
    }
    let pronouns = prose::PRONOUNS.join(", ");
    assert!(
        report.is_empty(),
        "sentences without a noun for their subject ({pronouns}):\n{report}"
    );
}

#[test]
fn comments_fit_and_say_something() {
    let mut report = String::new();
    for file in files_below(&root(), ".rs") {
        if prose::is_counted(&file) {
            for fault in prose::faults(&read(&file)) {
                writeln!(report, "{}:{}: {}", relative(&file), fault.line, fault.rule).unwrap();
            }
        }
    }
    assert!(report.is_empty(), "comments to mend:\n{report}");
}

#[test]
fn core_takes_atomics_and_locks_from_its_sync_module() {
    let mut report = String::new();
    let sync = root().join("core/src/sync");
    // Mapped memory under Miri, and the choice of a fault: no model checker runs with either.
    let apart = ["core/src/miri_libc.rs", "core/src/mutants.rs"];
    for file in files_below(&root().join("core/src"), ".rs") {
        if file.starts_with(&sync) || apart.contains(&relative(&file).as_str()) {
            continue;
        }
        for name in names::outside_tests(&read(&file)) {
            if ["std::sync", "core::sync", "std::thread", "parking_lot::", "crossbeam_"]
                .iter()
                .any(|apart| name.starts_with(apart))
            {
                writeln!(report, "{} names {name}", relative(&file)).unwrap();
            }
        }
    }
    assert!(report.is_empty(), "loom and shuttle cannot see these:\n{report}");
}

/// The dependencies of a package, tests and benches aside: keys of `[dependencies]`.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest
        .split("\n[")
        .find(|section| section.starts_with("dependencies]"));
    let lines = section.into_iter().flat_map(|section| section.lines().skip(1));
    lines
        .filter_map(|line| Some(line.split_once(" = ")?.0.to_owned()))
        .collect()
}

/// So a changed collector does not compile the workloads again.
#[test]
fn no_crate_with_programs_depends_on_the_collectors() {
    let users: Vec<String> = crates()
        .into_iter()
        .filter(|package| {
            let manifest = read(&root().join(&package.folder).join("Cargo.toml"));
            dependencies(&manifest).iter().any(|name| name == "gclab-collectors")
        })
        .map(|package| package.folder)
        .collect();
    assert_eq!(users, ["experiments/shipped"]);
}

/// A manifest turns the unit tests or the documentation's tests of a library off to save their
/// builds. It may do so only if there are none.
#[test]
fn no_test_is_turned_off() {
    let unit = ["#[cfg(test)]", "#[cfg(all(test", "#[test]"];
    let documentation = ["/// ```", "//! ```"];
    let mut report = String::new();
    for package in crates() {
        let folder = root().join(&package.folder);
        let manifest = read(&folder.join("Cargo.toml"));
        let library = manifest.split("\n[").find(|section| section.starts_with("lib]"));
        let sources = files_below(&folder.join("src"), ".rs");
        for (switch, signs) in [("test = false", &unit[..]), ("doctest = false", &documentation)] {
            let is_off = library.is_some_and(|section| section.lines().any(|line| line == switch));
            for file in sources.iter().filter(|_| is_off) {
                if read(file)
                    .lines()
                    .any(|line| signs.iter().any(|sign| line.trim_start().starts_with(sign)))
                {
                    writeln!(report, "{}: {switch}, but {} has some", package.folder, relative(file)).unwrap();
                }
            }
        }
    }
    assert!(report.is_empty(), "tests that do not run:\n{report}");
}
