//! The cells of tables in HTML: the keys that they sort by, and the marks of failures.

use super::memory;
use super::synthetic::{self, fail, small, small_runs, write};
use crate::folder::kept;
use crate::html;
use crate::metric;
use crate::summary::Summary;
use gclab_results::{RunRecord, Status};
use tempfile::tempdir;

fn page(runs: &[RunRecord]) -> String {
    let parent = tempdir().expect("a folder");
    html(&[write(parent.path(), synthetic::manifest(&small()), runs)])
}

/// The rows of the table of all configurations.
fn rows(page: &str) -> Vec<&str> {
    let table = page
        .split("<table class=\"sortable\">")
        .find(|table| table.contains(", 95 %"));
    let body = table
        .expect("a table with means")
        .split("<tbody>")
        .nth(1)
        .expect("a body");
    let body = body.split("</tbody>").next().expect("an end");
    body.split("<tr>").skip(1).collect()
}

/// Sizes sort as numbers, and stand as they were written; other words have no key, so they sort as
/// text.
#[test]
fn cells_have_the_keys_that_they_sort_by() {
    let runs = small_runs();
    let page = page(&runs);
    let rows = rows(&page);
    assert_eq!(rows.len(), 12);
    let kept_runs = kept(&runs);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let groups: Vec<_> = summary.groups().filter(|group| group.failures().is_empty()).collect();
    assert!(groups.len() > 6);
    for group in groups {
        let configuration = &group.configuration;
        let area = configuration.flags["A"].as_str();
        let bytes = area.trim_end_matches('m').parse::<u64>().expect("a size") << 20;
        let mine: Vec<&&str> = rows
            .iter()
            .filter(|row| {
                let cells = [configuration.work(), configuration.collector.clone()];
                row.contains(&format!("<td data-sort=\"{bytes}\">{area}</td>"))
                    && cells.iter().all(|cell| row.contains(&format!("<td>{cell}</td>")))
            })
            .collect();
        let [row] = mine[..] else {
            panic!("{configuration}: {} rows of {rows:#?}", mine.len());
        };
        let total = group.spread(&metric::TOTAL_ELAPSED).expect("times");
        let unit = metric::TOTAL_ELAPSED.unit;
        // The median with its range, and the mean with its interval.
        let (ci, text) = (total.ci95.expect("three runs"), |value| unit.text(value));
        for (key, shown, low, high) in [
            (total.median, total.median, total.min, total.max),
            (total.mean, total.mean, ci.low, ci.high),
        ] {
            let cell = format!(
                "data-sort=\"{key}\">{}<small>({}–{})</small></td>",
                text(shown),
                text(low),
                text(high)
            );
            assert!(row.contains(&cell), "{cell}\n{row}");
        }
    }
}

/// A failure is told by markup, not by colour or words alone.
#[test]
fn failures_are_marked_in_their_cells() {
    let mut runs = small_runs();
    runs.retain(|run| run.outcome.is_ok());
    assert!(!page(&runs).contains("<td data-failed"));
    let crash = Status::Crash {
        exit_code: None,
        signal: Some(11),
    };
    let position = runs.iter().position(|run| run.collector == "copying").expect("a run");
    fail(&mut runs[position], crash, "");
    let page = page(&runs);
    let marked: Vec<&str> = rows(&page)
        .into_iter()
        .filter(|row| row.contains("<td data-failed"))
        .collect();
    assert_eq!(marked.len(), 1, "{marked:#?}");
    assert!(
        marked[0].contains("<td data-failed data-sort=\"2\">2/3<small>1 crash</small></td>"),
        "{}",
        marked[0]
    );
    assert!(page.contains("Configurations with a failed run take no part."));
}

/// The cells of the table: contenders that fail are marked, with the reason; the best, and those
/// that may be as good, are strong.
#[test]
fn a_budget_marks_its_failures_and_its_best() {
    let manifest = memory::manifest();
    let page = memory::html(manifest.clone(), &memory::runs(&manifest));
    let row = |multiple: &str| {
        let rows = page
            .split("<tr>")
            .filter(|row| row.contains(&format!("<strong>{multiple}</strong>")));
        rows.last()
            .expect("a row")
            .split("</tr>")
            .next()
            .expect("an end")
            .to_owned()
    };
    let least = row("1×");
    assert_eq!(
        least
            .matches(" data-failed>fails on all<small>heap exhausted</small></td>")
            .count(),
        2,
        "{least}"
    );
    let double = row("2×");
    assert_eq!(
        double.matches(" data-failed>fails on all<small>").count(),
        1,
        "{double}"
    );
    assert!(double.contains("thrashing"), "{double}");
    assert_eq!(
        double.matches("<strong>").count(),
        2,
        "the multiple and the best: {double}"
    );
    let sixfold = row("6×");
    assert!(!sixfold.contains("data-failed"));
    // There the lead of the best over one other may be noise.
    assert_eq!(sixfold.matches("<strong>").count(), 3, "{sixfold}");
}
