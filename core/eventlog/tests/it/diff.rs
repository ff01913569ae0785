//! Two logs side by side.

use gclab_eventlog::{Amount, Interval, Reader, Row, Side, rows, settings};

use crate::made::small;
use crate::real::{log, logs};

fn side(log: &[u8], interval: Interval) -> Side {
    Side::of(&mut Reader::new(log, "log").unwrap(), interval).unwrap()
}

fn of(name: &str) -> Side {
    side(&log(name), Interval::default())
}

fn row<'a>(rows: &'a [Row], group: &str, name: &str) -> &'a Row {
    let found = rows.iter().find(|row| row.group == group && row.name == name);
    found.unwrap_or_else(|| panic!("{group}: {name}"))
}

#[test]
fn a_log_does_not_differ_from_itself() {
    for name in logs() {
        let (a, b) = (of(&name), of(&name));
        let rows = rows(&a, &b);
        assert!(rows.len() > 30 && !rows.iter().any(Row::differs), "{name}");
        assert!(
            settings(&a, &b).iter().all(|one| one.values[0] == one.values[1]),
            "{name}"
        );
    }
}

/// The manifest has the counts of an independent reader.
#[test]
fn events_are_counted_by_their_types() {
    for entry in crate::real::manifest() {
        let name = entry["log"].as_str().unwrap();
        let side = of(name);
        let rows = rows(&side, &side);
        let mut sum = 0;
        for (number, count) in entry["event_counts"].as_object().unwrap() {
            let kind = gclab_eventlog::kinds::numbered(number.parse().unwrap()).unwrap();
            let count = count.as_u64().unwrap();
            sum += count;
            let expected = [Some(Amount::Count(count)); 2];
            assert_eq!(row(&rows, "events", kind.name).amounts, expected, "{name}");
        }
        assert_eq!(
            row(&rows, "events", "all").amounts[0],
            Some(Amount::Count(sum)),
            "{name}"
        );
    }
}

#[test]
fn two_runs_differ_in_settings_and_figures() {
    let (a, b) = (of("phases-thr-n1-c.a.eventlog"), of("phases-thr-n2.a.eventlog"));
    let all = settings(&a, &b);
    let differ: Vec<&str> = all
        .iter()
        .filter(|one| one.values[0] != one.values[1])
        .map(|one| one.name)
        .collect();
    assert_eq!(differ, ["RTS flags", "capabilities"]);
    let flags = all.iter().find(|one| one.name == "RTS flags").unwrap();
    assert!(flags.values[0].as_ref().unwrap().contains("-c"), "{flags:?}");
    let rows = rows(&a, &b);
    let collections = row(&rows, "generation 0", "elapsed");
    assert!(collections.differs() && collections.ratio().is_some());
    // Only the run with two capabilities collects in parallel.
    let balance = row(&rows, "parallel collections", "work balance");
    assert!(balance.amounts[0].is_none() && balance.ratio().is_none());
    assert!(matches!(balance.amounts[1], Some(Amount::Share(share)) if (share - 0.1767).abs() < 1e-4));
    // An event that only the other log has counts 0 here.
    let migrations = row(&rows, "events", "MIGRATE_THREAD");
    assert_eq!(migrations.amounts, [Some(Amount::Count(0)), Some(Amount::Count(2))]);
    assert_eq!(migrations.ratio(), None);
    // Percentiles that only one run has are in the right order.
    let pauses = rows.iter().filter(|row| row.group == "pauses of capabilities");
    let names: Vec<&str> = pauses.map(|row| &row.name[..]).collect();
    assert_eq!(names, ["number", "sum", "p50", "p90", "p99", "longest"]);
    // Groups are contiguous, and every row appears once.
    let mut seen: Vec<&str> = rows.iter().map(|row| &row.group[..]).collect();
    seen.dedup();
    let distinct: std::collections::BTreeSet<&str> = seen.iter().copied().collect();
    assert_eq!(seen.len(), distinct.len());
}

#[test]
fn figures_of_threads_of_a_small_log() {
    let one = side(&small(), Interval::default());
    let part = side(
        &small(),
        Interval {
            from: 500,
            to: Some(2000),
        },
    );
    let rows = rows(&one, &part);
    let amounts = |name: &str| row(&rows, "threads", name).amounts;
    assert_eq!(amounts("runs"), [Some(Amount::Count(3)), Some(Amount::Count(1))]);
    assert_eq!(
        amounts("stops: heap overflow"),
        [Some(Amount::Count(2)), Some(Amount::Count(1))]
    );
    // From 110 to 980 and from 1500 to 2980; the last run does not end.
    assert_eq!(
        amounts("time of runs"),
        [Some(Amount::Ns(870 + 1480)), Some(Amount::Ns(480 + 500))]
    );
    assert_eq!(row(&rows, "threads", "time of runs").ratio(), Some(980.0 / 2350.0));
}

/// If a part of a run has no collections or threads, their numbers are 0. `None` is for logs that
/// do not record them.
#[test]
fn a_part_without_events_has_known_zeros() {
    let whole = side(&small(), Interval::default());
    let none = Interval { from: 0, to: Some(1) };
    let rows = rows(&whole, &side(&small(), none));
    for (group, name) in [
        ("pauses of the program", "number"),
        ("pauses of the program", "sum"),
        ("pauses of capabilities", "number"),
        ("threads", "runs"),
        ("threads", "time of runs"),
        ("threads", "stops: heap overflow"),
    ] {
        let amounts = row(&rows, group, name).amounts.map(|amount| amount.map(Amount::number));
        assert!(
            amounts[0] > Some(0.0) && amounts[1] == Some(0.0),
            "{group}: {name}: {amounts:?}"
        );
    }
    // Without pauses there is no longest pause.
    assert_eq!(row(&rows, "pauses of the program", "longest").amounts[1], None);
}

/// An empty argument, and a word that is also an RTS flag, keep their places.
#[test]
fn the_programs_arguments_are_whole() {
    use gclab_eventlog::{Buffer, Value, Writer, kinds};
    let mut log = Writer::new(Vec::new(), kinds::current()).unwrap();
    let mut buffer = Buffer::new(None);
    let args = ["prog", "", "two words", "+RTS", "-s", "-RTS", "-s"].map(str::as_bytes);
    buffer
        .event(
            &kinds::PROGRAM_ARGS,
            1,
            &[Value::Number(0), Value::List(&args.join(&0))],
        )
        .unwrap();
    log.block(&mut buffer, 1).unwrap();
    let side = side(&log.finish().unwrap(), Interval::default());
    let all = settings(&side, &side);
    let value = |name: &str| all.iter().find(|one| one.name == name).unwrap().values[0].as_deref();
    assert_eq!(value("program and arguments"), Some("prog '' 'two words' -s"));
    assert_eq!(value("RTS flags"), Some("-s"));
}

/// A comparison used to read a damaged log up to its first damage, but a summary reads each
/// capability up to its own.
#[test]
fn a_side_of_a_damaged_log_has_the_figures_of_its_summary() {
    use gclab_eventlog::{Merged, Summary};
    let log = crate::damage::damaged();
    let merged = || Merged::new(std::io::Cursor::new(&log[..]), "log", true).unwrap();
    let side = Side::of_merged(&mut merged(), Interval::default()).unwrap();
    let summary = Summary::of_merged(&mut merged(), Interval::default()).unwrap();
    assert_eq!(side.summary().figures(), summary.figures());
    let rows = rows(&side, &of("phases-thr-n2.a.eventlog"));
    let mark = |group: &str, name: &str| row(&rows, group, name).mark_if_damaged();
    assert_eq!(mark("memory", "copied"), ">");
    assert_eq!(mark("memory", "mean residency"), "~");
    assert_eq!(mark("pauses of the program", "p90"), "~");
    assert_eq!(mark("parallel collections", "idle share"), "~");
}
