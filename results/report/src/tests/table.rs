//! The terminal's tables.

use super::synthetic::{self, fail, fixture, small, small_runs, write};
use crate::render::terminal_within;
use crate::terminal;
use gclab_results::{Manifest, RunRecord, Status};
use tempfile::tempdir;

fn render(runs: &[RunRecord]) -> String {
    let parent = tempdir().expect("a temporary folder");
    terminal_within(&write(parent.path(), synthetic::manifest(&small()), runs), None)
}

#[test]
fn the_small_experiment() {
    insta::assert_snapshot!(terminal_within(&fixture(), None));
}

#[test]
fn a_narrow_terminal_gets_fewer_columns() {
    let text = terminal_within(&fixture(), Some(80));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_output_is_plain_text() {
    let text = terminal(&fixture());
    assert!(
        !text.contains('\x1b') && text.lines().all(|line| line == line.trim_end()),
        "{text:?}"
    );
}

#[test]
fn no_runs_one_run_and_only_failures() {
    let parent = tempdir().expect("a temporary folder");
    let empty = write(parent.path(), Manifest::new("empty"), &[]);
    insta::assert_snapshot!(terminal_within(&empty, None), @"empty: no runs yet (0 planned)");

    let one = small_runs()
        .into_iter()
        .find(|run| run.outcome.is_ok())
        .expect("a good run");
    let text = render(std::slice::from_ref(&one));
    assert!(
        !text.contains('±') && text.contains("1 of 36 planned runs are done"),
        "{text}"
    );

    let mut runs = small_runs();
    runs.iter_mut().for_each(|run| fail(run, Status::Timeout, "slow"));
    let text = render(&runs);
    assert!(text.contains("0/3: timeout") && !text.contains("GC"), "{text}");
}

#[test]
fn wrong_results_are_marked() {
    let mut runs = small_runs();
    runs[0].checksum = Some("666".to_owned());
    assert!(render(&runs).contains("WRONG RESULTS: checksum"));
}
