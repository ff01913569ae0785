//! The figures that only some collectors have, by name.

use super::synthetic::{self, small, small_runs, write};
use crate::{csv, html, markdown};
use gclab_results::RunRecord;
use std::collections::BTreeMap;
use tempfile::tempdir;

const COLLECTOR: &str = "copying";

/// The runs of the small experiment, where one collector has figures of its own. A run of each
/// configuration has another value.
fn runs() -> Vec<RunRecord> {
    let mut runs = small_runs();
    for run in runs.iter_mut().filter(|run| run.collector == COLLECTOR) {
        let stats = run.stats.iter_mut();
        let figures = [("top_heap_words", 1_005_056 + u64::from(run.round)), ("compactions", 3)];
        let figures = figures.map(|(name, value)| (name.to_owned(), value));
        stats.for_each(|stats| stats.figures = Some(BTreeMap::from(figures.clone())));
    }
    runs
}

/// The cells of the lines of a table in Markdown, below a heading.
fn table_below<'t>(text: &'t str, heading: &str) -> Vec<Vec<&'t str>> {
    let (_, below) = text.split_once(heading).expect("the heading");
    let lines = below.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|'));
    lines
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

#[test]
fn reports_show_the_own_figures_of_each_collector() {
    let parent = tempdir().expect("a temporary folder");
    let dir = write(parent.path(), synthetic::manifest(&small()), &runs());
    let text = markdown(std::slice::from_ref(&dir));
    let rows = table_below(&text, "### Figures of single collectors");
    let place = |name| rows[0].iter().position(|cell| *cell == name).expect("a column");
    let (collector, top, compactions) = (place("collector"), place("top_heap_words"), place("compactions"));
    assert!(rows.len() > 3, "{text}");
    for row in &rows[2..] {
        assert_eq!((row[collector], row[compactions]), (COLLECTOR, "3"), "{text}");
    }
    // The median of three rounds, where all ended well.
    assert!(rows[2..].iter().any(|row| row[top] == "1005057"), "{text}");
    assert_eq!(text.matches("top_heap_words").count(), 1, "{text}");
    let page = html(&[dir]);
    assert!(page.contains("Figures of single collectors") && page.contains("top_heap_words"));
}

#[test]
fn a_report_without_own_figures_has_no_section_for_them() {
    let parent = tempdir().expect("a temporary folder");
    let dir = write(parent.path(), synthetic::manifest(&small()), &small_runs());
    assert!(!html(&[dir]).contains("Figures of single collectors"));
}

#[test]
fn the_table_of_all_runs_has_own_figures() {
    let parent = tempdir().expect("a temporary folder");
    let runs = runs();
    let dir = write(parent.path(), synthetic::manifest(&small()), &runs);
    let text = csv(&[dir]);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let place = |name| head.iter().position(|cell| *cell == name).expect("a column");
    let (id, top) = (place("id"), place("figure_top_heap_words"));
    let mut with = 0;
    for row in lines {
        let run = runs.iter().find(|run| run.id == row[id]).expect("one of the runs");
        let figures = run.stats.as_ref().and_then(|stats| stats.figures.as_ref());
        let expected = figures.map(|figures| figures["top_heap_words"].to_string());
        assert_eq!(row[top], expected.unwrap_or_default(), "{}", run.id);
        with += usize::from(!row[top].is_empty());
    }
    assert!(with > 3, "{text}");
}
