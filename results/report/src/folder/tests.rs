use super::*;
use crate::tests::synthetic::{manifest, run, small, small_runs, write};
use gclab_results::{Configuration, ResultsDir};
use std::fs;
use tempfile::{TempDir, tempdir};

/// The synthetic experiment in a folder, with changed lines.
fn folder(change: impl FnOnce(&mut Vec<String>)) -> (TempDir, PathBuf) {
    let parent = tempdir().expect("a temporary folder");
    let path = write(parent.path(), manifest(&small()), &small_runs())
        .path()
        .to_owned();
    let text = fs::read_to_string(path.join("runs.jsonl")).expect("its runs");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    fs::write(path.join("runs.jsonl"), lines.join("\n") + "\n").expect("written");
    (parent, path)
}

#[test]
fn a_line_that_was_copied_counts_once() {
    let (_parent, path) = folder(|lines| {
        // With its keys in another order, as another program writes them.
        let copy: serde_json::Value = serde_json::from_str(&lines[5]).expect("JSON");
        lines.push(copy.to_string());
        lines.push(lines[7].clone());
    });
    let results = Results::open(path).expect("it reads");
    assert_eq!((results.timed(), results.done(), results.planned()), (36, 36, 36));
}

#[test]
fn a_run_with_two_sets_of_figures_is_an_error_that_names_both_lines() {
    let (_parent, path) = folder(|lines| {
        lines.push(lines[4].replacen("\"load_average\":0.25", "\"load_average\":0.5", 1));
        assert_ne!(lines[4], lines[36], "a change");
    });
    let error = Results::open(path).expect_err("two sets of figures").to_string();
    assert!(
        error.contains("runs.jsonl:37: ") && error.contains(" is already on line 5, with other figures"),
        "{error}"
    );
}

#[test]
fn runs_that_the_plan_does_not_have_are_strays() {
    let (_parent, path) = folder(|lines| lines[3] = lines[3].replacen("-0\"", "-77\"", 1));
    let results = Results::open(path).expect("it reads");
    assert_eq!((results.timed(), results.done()), (36, 35));
    let strays = results.strays().expect("its record").expect("a stray");
    assert!(strays.count == 1 && strays.first.ends_with("-77"), "{strays:?}");
}

#[test]
fn a_torn_last_line_is_no_run() {
    let (_parent, path) = folder(|lines| lines.truncate(10));
    let text = fs::read_to_string(path.join("runs.jsonl")).expect("its runs");
    fs::write(path.join("runs.jsonl"), &text[..text.len() - 100]).expect("written");
    let results = Results::open(path).expect("it reads");
    assert_eq!((results.timed(), results.torn().map(|torn| torn.line)), (9, Some(10)));
}

#[test]
fn a_plan_that_is_broken_or_newer_is_an_error_with_its_line() {
    let (_parent, path) = folder(|_| {});
    let plan = path.join("plan.json");
    let text = fs::read_to_string(&plan).expect("a plan");
    for (from, to, wanted) in [
        (
            "\"round\": 2",
            "\"round\": \"two\"",
            "not what gclab writes: invalid type",
        ),
        (
            "\"seed\": 7",
            "\"sod\": 7",
            "not what gclab writes: missing field `seed`",
        ),
        ("\"schema\": 1", "\"schema\": 99", "schema 99 was written by gclab"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&plan, text.replacen(from, to, 1)).expect("written");
        let (error, whole) = (Results::open(&path), ResultsDir::open(&path));
        let error = error.expect_err(wanted).to_string();
        assert!(error.contains("plan.json:") && error.contains(wanted), "{error}");
        assert_eq!(error, whole.expect_err(wanted).to_string());
    }
}

/// A record that is read again is that of its run.
#[test]
fn the_record_of_a_run_can_be_read_again() {
    let (_parent, path) = folder(|_| {});
    let results = Results::open(&path).expect("it reads");
    let records = ResultsDir::open(&path).expect("it reads").runs().to_vec();
    for (run, record) in results.runs().iter().zip(&records) {
        assert_eq!(run.record().expect("a record"), *record);
    }
    fs::write(path.join("runs.jsonl"), "").expect("written");
    let error = results.runs()[3].record().expect_err("it is gone").to_string();
    assert!(error.contains("the file has changed"), "{error}");
}

/// All figures of a run in memory are those of its record.
#[test]
fn a_run_has_the_figures_of_its_record() {
    let records = small_runs();
    for (run, record) in kept(&records).iter().zip(&records) {
        for metric in crate::metric::all() {
            assert_eq!(metric.of(run), metric.read(record), "{}", metric.key);
        }
        assert_eq!(*run.cell, record.cell);
        assert_eq!(run.configuration, record.configuration());
    }
}

/// Runs of a configuration share its facts, unless they differ.
#[test]
fn facts_of_a_configuration_are_held_once() {
    let mut records = small_runs();
    let runs = kept(&records);
    let places = |runs: &[Run]| {
        runs.iter()
            .map(|run| Arc::as_ptr(&run.facts.shared))
            .collect::<BTreeSet<_>>()
            .len()
    };
    assert_eq!((runs.len(), places(&runs)), (36, 12));
    records[0].command.push("--else".to_owned());
    let runs = kept(&records);
    assert_eq!(places(&runs), 13);
    assert_eq!(runs[0].command, records[0].command);
}

/// Beyond a limit the percentiles of each run take the place of single pauses: also of those that
/// were read before.
#[test]
fn too_many_single_pauses_are_not_kept() {
    let (_parent, path) = folder(|_| {});
    let read = |most| {
        let keeper = Keeper::new(Wanted::for_report(), Room::of(ROOM)).with_most_pauses(most);
        Results::read(path.clone(), keeper).expect("it reads")
    };
    let (all, few) = (read(usize::MAX), read(100));
    let single = |results: &Results| {
        results
            .runs()
            .iter()
            .map(|run| run.single_pauses().len())
            .sum::<usize>()
    };
    assert!(single(&all) > 100 && single(&few) == 0, "{}", single(&all));
    for (one, other) in all.runs().iter().zip(few.runs()) {
        let Some(told) = other.told_pauses() else {
            assert_eq!(one.kind().has_phases, None, "no statistics");
            continue;
        };
        let sorted = one.single_pauses();
        assert_eq!((told.count, told.max_ns), (sorted.len() as u64, sorted.last().copied()));
    }
    assert!(crate::markdown(&[few]).contains("max pause"));
}

/// A page lists some thousands of runs and says so; statistics have all.
#[test]
fn a_page_lists_no_more_runs_than_a_browser_can_hold() {
    let mut plan = manifest(&small());
    plan.plan.clear();
    let configuration = Configuration {
        collector: "copying".to_owned(),
        workload: "binary_trees".to_owned(),
        ..Configuration::default()
    };
    let count = MOST_LISTED as u32 + 5;
    let planned = |position| PlannedRun::new(configuration.clone(), position, position);
    plan.plan = (0..count).map(planned).collect();
    let one = run(&small(), &plan.plan[0]);
    let lines = plan.plan.iter().map(|planned| {
        let run = RunRecord {
            wall_seconds: one.wall_seconds,
            ..RunRecord::planned(planned, 7)
        };
        serde_json::to_string(&run).expect("JSON") + "\n"
    });
    let lines: String = lines.collect();
    let parent = tempdir().expect("a temporary folder");
    let path = write(parent.path(), plan, &[]).path().to_owned();
    fs::write(path.join("runs.jsonl"), lines).expect("written");
    let results = Results::open(path).expect("it reads");
    let page = crate::html(&[results]);
    assert!(page.contains("20005 runs · 1 configuration"), "the head");
    for wanted in [
        "The first 20000 of 20005 runs; gclab report --format csv prints all.",
        "The first 20000 of 20005 planned runs; gclab plan prints all.",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

/// Pages and comparisons are the same whether figures are in memory or in the temporary file.
#[test]
fn figures_in_the_temporary_file_are_those_in_memory() {
    let (_parent, path) = folder(|_| {});
    let texts = |wanted: &Wanted, room: usize| {
        let room = Room::of(room);
        let read = || Results::read(path.clone(), Keeper::new(wanted.clone(), Arc::clone(&room))).expect("it reads");
        let (one, other) = (read(), read());
        assert_eq!(room.is_beyond(0.0), room.is_beyond(1e-9), "{room:?}");
        let compared = crate::comparison(&crate::compare(&one, &other, 0.03, None));
        let both = [one, other];
        (room.is_beyond(0.0), crate::html(&both), crate::csv(&both), compared)
    };
    for wanted in [Wanted::for_report(), Wanted::for_table(), Wanted::for_comparison()] {
        let (in_memory, page, table, compared) = texts(&wanted, ROOM);
        assert!(in_memory);
        // A row has more figures than there is room for: each one goes to the file by itself.
        let (in_memory, of_file, table_of_file, compared_of_file) = texts(&wanted, 0);
        assert!(!in_memory);
        assert!(page == of_file && table == table_of_file && compared == compared_of_file);
    }
}

/// A run takes little more than half of a cache line, whatever the report asks for.
#[test]
fn a_run_takes_48_bytes() {
    assert_eq!(size_of::<Run>(), 48);
}

/// Comparisons keep a few figures of each run, tables all of them.
#[test]
fn comparisons_keep_the_figures_that_they_judge() {
    let (_parent, path) = folder(|_| {});
    let compared = Reader::for_comparisons().read(&path).expect("it reads");
    let table = Reader::for_tables().read(&path).expect("it reads");
    for (compared, table) in compared.runs().iter().zip(table.runs()) {
        let count = |run: &Run| crate::metric::all().filter(|metric| metric.of(run).is_some()).count();
        assert!(count(compared) <= 9 && count(compared) <= count(table) && compared.single.is_none());
        assert_eq!(compared.id().expect("a name"), table.id().expect("a name"));
        assert_eq!(compared.started().expect("absent"), None);
    }
    assert!(compared.first_planned().is_empty() && compared.planned() == 36);
}

/// The name and the start of a run are those of its record, the unusual ones, too.
#[test]
fn names_and_starts_are_those_of_records() {
    let (_parent, path) = folder(|lines| {
        for (line, start) in lines
            .iter_mut()
            .zip(["2026-01-31T12:00:00Z", "yesterday", "", "2026-02-31T12:00:00Z"])
        {
            let mut run: RunRecord = serde_json::from_str(line).expect("a record");
            run.started = Some(start.to_owned());
            if start.is_empty() {
                run.id = "a name without a round".to_owned();
            }
            *line = serde_json::to_string(&run).expect("JSON");
        }
    });
    let records = ResultsDir::open(&path).expect("it reads").runs().to_vec();
    let results = Reader::for_tables().read(&path).expect("it reads");
    for (run, record) in results.runs().iter().zip(&records) {
        assert_eq!(run.id().expect("a name"), record.id);
        assert_eq!(run.started().expect("a start"), record.started);
    }
    let odd = results.runs().iter().filter(|run| run.kind().odd_start).count();
    let named = results.runs().iter().filter(|run| run.kind().stem.is_none()).count();
    assert_eq!((odd, named), (3, 1));
}
