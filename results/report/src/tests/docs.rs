//! `docs/measures.md` agrees with the measures, and `docs/results.md` with the columns of CSV
//! files.
//! `UPDATE_DOCS=1` rewrites the table of the figures that are fields of records.

use crate::metric;
use gclab_results::schema::{Documented, Field, Total};
use gclab_results::{CollectionRecord, RunRecord, RunStats, Unit};
use std::collections::BTreeSet;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/measures.md");
const BEGIN: &str = "<!-- figures of records -->\n";
const END: &str = "<!-- end -->\n";

fn page() -> String {
    std::fs::read_to_string(PATH).expect("docs/measures.md")
}

/// The page with its table of the figures of records as it should be.
fn made(page: &str) -> String {
    let (before, rest) = page.split_once(BEGIN).expect("the beginning of the table");
    let (_, after) = rest.split_once(END).expect("the end of the table");
    [before, BEGIN, &table(), END, after].concat()
}

#[test]
fn every_column_of_csv_files_is_on_the_page_of_measures() {
    let page = made(&page());
    let missing: Vec<&str> = metric::all()
        .map(|metric| metric.key)
        .filter(|key| !page.contains(&format!("`{key}`")))
        .collect();
    assert!(missing.is_empty(), "docs/measures.md has no row for {missing:?}");
}

#[test]
fn every_other_column_is_on_the_page_of_results() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results.md");
    let page = std::fs::read_to_string(path).expect("docs/results.md");
    let (_, table) = page.split_once("## The table of all runs").expect("the section");
    let csv = crate::csv(&[super::synthetic::fixture()]);
    let columns = csv.lines().next().expect("a header").split(',');
    let missing: Vec<&str> = columns
        .filter(|column| metric::all().all(|metric| metric.key != *column))
        .filter(|column| !table.contains(&format!("`{column}`")))
        .collect();
    assert!(missing.is_empty(), "docs/results.md has no row for {missing:?}");
}

#[test]
fn the_page_of_measures_has_the_figures_of_records() {
    let page = page();
    let made = made(&page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PATH, made).expect("docs/measures.md can be written");
    } else {
        assert!(
            page == made,
            "docs/measures.md is out of date: UPDATE_DOCS=1 cargo test -p gclab-report docs"
        );
    }
}

/// The figures that have no row elsewhere on the page.
fn table() -> String {
    let mut text = "| measure | meaning | part of the run | unit |\n|---|---|---|---|\n".to_owned();
    for metric in metric::unnamed() {
        let of_run = match metric.total() {
            None => "all of it",
            Some(Total::Sum) => "its measured phase: the sum over all collections",
            Some(Total::Most) => "its measured phase: the largest of all collections",
        };
        let unit = match metric.unit {
            Unit::Seconds | Unit::Milliseconds => "s",
            Unit::Mebibytes => "bytes",
            Unit::MebibytesPerSecond => "bytes/s",
            Unit::MebibyteSeconds => "byte seconds",
            Unit::Count => "count",
            Unit::Percent => "share",
        };
        let (title, key, meaning) = (metric.title, metric.key, meaning(metric.key));
        text.push_str(&format!("| {title} `{key}` | {meaning} | {of_run} | {unit} |\n"));
    }
    text
}

fn meaning(key: &str) -> &'static str {
    let records: [&[Field]; 3] = [RunRecord::FIELDS, RunStats::FIELDS, CollectionRecord::FIELDS];
    let mut fields = records.into_iter().flatten();
    let field = fields.find(|field| field.name == key);
    field.expect("a figure without a name is a field").meaning.trim()
}

#[test]
fn a_column_has_a_name_of_its_own() {
    let mut keys = BTreeSet::new();
    let twice: Vec<&str> = metric::all()
        .map(|metric| metric.key)
        .filter(|key| !keys.insert(*key))
        .collect();
    assert!(twice.is_empty(), "two columns have the name {twice:?}");
}
