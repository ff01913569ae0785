//! The environment of runs: what varied, what was disturbed, and what a report says of it.

use super::synthetic::{self, small, small_runs, write};
use crate::folder::Results;
use crate::measures::mutator_share;
use crate::{csv, html, markdown};
use gclab_results::{Conditions, Counters, RunRecord};
use std::collections::BTreeMap;
use tempfile::tempdir;

fn reported(change: impl Fn(usize, &mut RunRecord), check: impl Fn(&Results)) {
    let folder = tempdir().expect("a folder");
    let mut runs = small_runs();
    runs.iter_mut().enumerate().for_each(|(at, run)| change(at, run));
    check(&write(folder.path(), synthetic::manifest(&small()), &runs));
}

#[test]
fn disturbed_runs_are_listed_and_counted() {
    let disturb = |at: usize, run: &mut RunRecord| {
        let names = match at {
            3 => vec!["steal".to_owned()],
            5 => vec!["steal".to_owned(), "preemption".to_owned()],
            _ => Vec::new(),
        };
        run.conditions = Some(Conditions {
            steal_seconds: Some(0.25 * at as f64),
            others_cpu_seconds: Some(0.0),
            disturbances: Some(names).filter(|names| !names.is_empty()),
            ..Conditions::default()
        });
    };
    reported(disturb, |dir| {
        let all = dir.runs().len();
        let text = markdown(std::slice::from_ref(dir));
        let caution = format!("- 2 of {all} runs were disturbed: preemption in 1 and steal in 2.");
        assert!(text.contains(&caution), "{text}");
        assert!(text.contains("| steal, preemption |"), "{text}");
        let page = html(std::slice::from_ref(dir));
        assert!(page.contains("Environment") && page.contains("disturbed by"));
        let (_, varied) = page.split_once("Differences from run to run").expect("what varied");
        assert!(
            varied.contains("steal s") && !varied.contains("other programs s"),
            "0 in all runs is left out"
        );
    });
}

#[test]
fn runs_of_another_kernel_are_told_apart() {
    let change = |at: usize, run: &mut RunRecord| {
        if at >= 30 {
            run.conditions = Some(Conditions {
                machine_changes: Some(BTreeMap::from([("kernel".to_owned(), "Linux 7".to_owned())])),
                ..Conditions::default()
            });
        }
    };
    reported(change, |dir| {
        let count = dir.runs().len() - 30;
        let text = markdown(std::slice::from_ref(dir));
        let line = format!(
            "{count} runs, from number 30 on, ran on another machine or under another state of it: kernel Linux 7."
        );
        assert!(text.contains(&line), "{text}");
    });
}

/// A share needs the count of the mutator and that of collections.
#[test]
fn the_mutators_share_is_absent_without_one_of_its_counts() {
    let counters = |misses| Counters {
        llc_misses: misses,
        ..Counters::default()
    };
    let run = |mutator: Option<Counters>, collections: Option<Counters>| RunRecord {
        mut_counters: mutator,
        gc_counters: collections,
        ..RunRecord::default()
    };
    let share = |run: &RunRecord| mutator_share(run, |counters| counters.llc_misses);
    let both = run(Some(counters(Some(30))), Some(counters(Some(10))));
    assert_eq!(share(&both), Some(0.75));
    assert_eq!(mutator_share(&both, |counters| counters.dtlb_misses), None);
    assert_eq!(share(&run(Some(counters(Some(30))), None)), None);
    assert_eq!(share(&run(Some(counters(None)), Some(counters(Some(10))))), None);
    let none = run(Some(counters(Some(0))), Some(counters(Some(0))));
    assert_eq!(share(&none), None, "no miss has no owner");
}

/// The cells of each line of the table below the heading of the shares in Markdown.
fn table_of_shares(text: &str) -> Vec<Vec<&str>> {
    let (_, below) = text
        .split_once("### Misses of the mutator and of collections")
        .expect("the heading");
    let lines = below.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|'));
    lines
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// Every run has three quarters of its page faults in the mutator, and no other counter.
#[test]
fn reports_have_a_table_of_the_mutators_shares() {
    let counters = |faults| {
        Some(Counters {
            page_faults: Some(faults),
            ..Counters::default()
        })
    };
    let count = |_: usize, run: &mut RunRecord| (run.mut_counters, run.gc_counters) = (counters(300), counters(100));
    reported(count, |dir| {
        let text = markdown(std::slice::from_ref(dir));
        let table = table_of_shares(&text);
        let place = table[0]
            .iter()
            .position(|cell| *cell == "mutator's share of page faults %");
        let place = place.expect("a column");
        assert!(!text.contains("mutator's share of LLC misses"), "{text}");
        let shown: Vec<&str> = table[2..].iter().map(|row| row[place]).collect();
        assert!(shown.iter().all(|share| ["75.0", "–"].contains(share)), "{text}");
        assert!(shown.contains(&"75.0"), "{text}");
        let page = html(std::slice::from_ref(dir));
        assert_eq!(page.matches("share of page faults %").count(), 1);
        assert!(page.contains("Misses of the mutator and of collections"));
    });
    reported(
        |_, _| (),
        |dir| {
            assert!(!markdown(std::slice::from_ref(dir)).contains("Misses of the mutator"));
        },
    );
}

/// Counters that share registers count for a part of the time, which the table shows then.
#[test]
fn shares_of_scaled_counts_have_the_part_of_the_time_that_was_counted() {
    let column = |mutator: Option<f64>, collections: Option<f64>| {
        let counters = |least_share| {
            Some(Counters {
                cycles: Some(100),
                least_share,
                ..Counters::default()
            })
        };
        let folder = tempdir().expect("a folder");
        let mut runs = small_runs();
        for run in &mut runs {
            (run.mut_counters, run.gc_counters) = (counters(mutator), counters(collections));
        }
        let dir = write(folder.path(), synthetic::manifest(&small()), &runs);
        let text = markdown(&[dir]);
        let table = table_of_shares(&text);
        let place = table[0]
            .iter()
            .position(|cell| *cell == "least part of the time counted %");
        place.map(|place| table[2][place].to_owned())
    };
    assert_eq!(column(None, None), None);
    assert_eq!(column(Some(0.5), None).as_deref(), Some("50.0"));
    assert_eq!(column(Some(0.5), Some(0.25)).as_deref(), Some("25.0"));
}

#[test]
fn counters_are_columns_of_csv_files_and_absent_where_there_are_none() {
    let count = |at: usize, run: &mut RunRecord| {
        run.counters = (at == 0).then(|| Counters {
            instructions: Some(123_456_789),
            task_clock_ns: Some(1_500_000_000),
            ..Counters::default()
        });
    };
    reported(count, |dir| {
        let text = csv(std::slice::from_ref(dir));
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
        let place = |name: &str| head.iter().position(|column| *column == name).expect("a column");
        let cell = |line: &str, name: &str| line.split(',').nth(place(name)).expect("a cell").to_owned();
        let lines: Vec<&str> = lines.collect();
        let counted = lines
            .iter()
            .find(|line| cell(line, "instructions") == "123456789")
            .expect("the first run");
        assert_eq!(cell(counted, "cycles"), "");
        assert!(cell(counted, "task_clock_seconds").starts_with("1.5"));
        assert_eq!(
            lines
                .iter()
                .filter(|line| cell(line, "instructions").is_empty())
                .count(),
            lines.len() - 1
        );
    });
}
