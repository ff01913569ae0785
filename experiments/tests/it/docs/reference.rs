//! Tables in `docs/` with data from `results/reference`: they must equal those in that folder's
//! report.
//!
//! A table's place on its page is between `<!-- results/reference/NAME, TITLE: begin -->` and the
//! same with `end`. While a folder does not exist yet, its places stay as they are.

use std::fs;

use gclab_results::ResultsDir;

use super::generated::part_holds;
use super::{pages, root};
use crate::support::Bench;

/// The first table below the heading `title` in a Markdown report, without columns of settings at
/// its left: they are in the experiment's file.
fn table(report: &str, title: &str) -> String {
    let is_title = |line: &&str| line.starts_with('#') && line.trim_start_matches('#').trim() == title;
    let titles: Vec<&str> = report.lines().filter(|line| line.starts_with('#')).collect();
    assert!(
        report.lines().any(|line| is_title(&line)),
        "no {title:?} among {titles:?}"
    );
    let below = report.lines().skip_while(|line| !is_title(line)).skip(1);
    let rows = below
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'));
    let rows: Vec<&str> = rows.collect();
    let names = |row: &&str| row.split('|').position(|cell| cell.trim() == "collector");
    let settings = rows.first().filter(|row| !row.starts_with("| workload"));
    let first = settings.and_then(names).unwrap_or(1);
    let short = |row: &&str| format!("|{}", row.split('|').skip(first).collect::<Vec<_>>().join("|"));
    rows.iter().map(short).collect::<Vec<_>>().join("\n")
}

/// A folder's date, machine and build, as a line for a page. `plan.json` has the rest.
pub(super) fn provenance(dir: &ResultsDir) -> String {
    let manifest = dir.manifest();
    let (machine, build) = (&manifest.machine, &manifest.build);
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let commit: String = known(&build.git_commit).chars().take(7).collect();
    format!(
        "{}, {} x {}; gclab {commit}; {} runs of each configuration.",
        manifest.started.split('T').next().unwrap_or_default(),
        machine.cores.unwrap_or_default(),
        known(&machine.cpu),
        manifest.repeat
    )
}

#[test]
fn tables_of_the_reference_data_are_those_of_their_reports() {
    let mut places = 0;
    for page in pages() {
        let marks = page.text.lines().filter_map(|line| {
            line.strip_prefix("<!-- results/reference/")?
                .strip_suffix(": begin -->")
        });
        for mark in marks {
            places += 1;
            let (name, title) = mark.split_once(", ").expect("a folder and a title");
            let folder = root().join("results/reference").join(name);
            assert!(folder.exists(), "{mark}: results/reference/measure makes that folder");
            let bench = Bench::new();
            let copy = bench.path().join(name);
            fs::create_dir(&copy).unwrap();
            for file in ["plan.json", "runs.jsonl"] {
                fs::copy(folder.join(file), copy.join(file)).unwrap();
            }
            let report = bench.gclab(&["report", name, "--format", "markdown"]).exits(0).stdout;
            let dir = ResultsDir::open(&folder).unwrap();
            let text = format!("{}\n\n{}", table(&report, title), provenance(&dir));
            part_holds(&page.name(), &format!("results/reference/{mark}"), &text);
        }
    }
    assert!(places >= 3, "only {places} tables were found");
}

/// Each runtime's flags, as its adapter lists them.
#[test]
fn the_flags_of_runtimes_are_those_of_their_adapters() {
    let mut text = String::new();
    for runtime in gclab_sweep::runtime::all() {
        text.push_str(&format!("`{}`:\n\n", runtime.name()));
        for flag in runtime.flags() {
            let expected = flag.expected();
            let expected = expected.split(", such as").next().unwrap_or_default();
            text.push_str(&format!("* `{}`: {} ({expected})\n", flag.key, flag.meaning));
        }
        text.push('\n');
    }
    part_holds("docs/programs.md", "flags of runtimes", &text);
}
