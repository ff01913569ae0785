//! Summaries of logs that were cut off or damaged.

use super::*;

fn salvaged(log: &[u8]) -> Summary {
    let mut merged = gclab_eventlog::Merged::new(std::io::Cursor::new(log), "log", true).unwrap();
    Summary::of_merged(&mut merged, Interval::default()).unwrap()
}

/// If the log ended within a collection, its idle time counted but its length did not.
#[test]
fn idle_time_is_a_part_of_the_time_in_collections() {
    let log = log("phases-thr-n2.a.eventlog");
    for end in (4000..log.len()).step_by(97) {
        if gclab_eventlog::Merged::new(std::io::Cursor::new(&log[..end]), "log", true).is_err() {
            continue;
        }
        for times in salvaged(&log[..end]).caps {
            assert!(times.idle_ns + times.done_ns <= times.gc_ns, "cut at {end}: {times:?}");
        }
    }
}

/// The total of a log that lost only its end included the time that the runtime took to shut down
/// its capabilities.
#[test]
fn the_total_of_a_salvaged_log_is_a_lower_bound() {
    for name in logs() {
        let log = log(&name);
        let whole = summary(&log, Interval::default()).total_ns.unwrap();
        let mut compared = 0;
        for end in (log.len().saturating_sub(400)..log.len()).chain((4000..log.len()).step_by(log.len() / 40)) {
            if gclab_eventlog::Merged::new(std::io::Cursor::new(&log[..end]), "log", true).is_err() {
                continue;
            }
            let cut = salvaged(&log[..end]);
            assert!(cut.damaged);
            let total = cut.total_ns.unwrap_or(0);
            // Here one capability reports its allocation after the other, and that is the end.
            assert!(
                total <= whole + 2_000,
                "{name} cut at {end}: {total}, expected {whole} at most"
            );
            compared += 1;
        }
        assert!(compared > 100, "{name}: {compared}");
    }
}

/// The mutator's time extended to the end of one capability, allocation to the end of the other.
#[test]
fn figures_of_parts_that_end_at_different_places_are_unknown() {
    let summary = salvaged(&crate::damage::damaged());
    assert_eq!((summary.mutator_ns, summary.exit_ns), (None, None));
    assert_eq!((summary.productivity(), summary.allocation_rate()), (None, None));
    assert!(summary.utilisation.is_empty() && summary.collections > Some(0));
    let text = summary.text();
    for unknown in [
        "MUT     time         ?  (       ? elapsed)",
        "(? per elapsed MUT second)",
        "?% of total elapsed",
    ] {
        assert!(text.contains(unknown), "{unknown}: {text}");
    }
}
