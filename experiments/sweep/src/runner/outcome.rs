//! From the end of a child to the run's record. The outcomes (ok, heap exhausted, usage, crash,
//! timeout) are never confused: a run counts as ok only if its exit status, its own record and its
//! checksum agree.

use gclab_core::heap::EXIT_HEAP_EXHAUSTED;
use gclab_results::{PlannedRun, RunRecord, Status};

use super::child::{End, Finished};

/// Exit status of a run that was refused.
pub(crate) const EXIT_USAGE: i32 = 2;

/// The facts about a run from before its start.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The time of the start: UTC, RFC 3339.
    pub started: String,
    /// Load average over one minute.
    pub load_average: Option<f64>,
    /// The name of the machine.
    pub host: Option<String>,
    /// The largest resident set of the runner, in bytes.
    pub own_resident: Option<u64>,
    /// The command that repeats the run.
    pub command: Vec<String>,
    /// The seed of the plan.
    pub seed: u64,
}

/// The record of `run`. `line` is the text that the child wrote to its record file, if any.
pub(crate) fn record(run: &PlannedRun, launch: Launch, finished: Finished, line: Option<&str>) -> RunRecord {
    let own = line.and_then(|line| serde_json::from_str::<RunRecord>(line).ok());
    let (outcome, reason) = classify(run, &finished, own.as_ref());
    let mut stderr = finished.stderr_tail.trim_end().to_owned();
    if let Some(reason) = reason {
        stderr = format!("{stderr}\n(gclab run: {reason})").trim_start().to_owned();
    }
    let (minor, major) = finished.used.faults;
    let (voluntary, involuntary) = finished.used.switches;
    let ok = outcome.is_ok();
    let own = own.unwrap_or_default();
    // A child begins as a copy of the runner, and the kernel counts the memory of that copy. So its
    // figure is the run's own only if it is more than the runner ever had.
    let resident = Some(finished.used.max_rss).filter(|&bytes| launch.own_resident.is_some_and(|own| bytes > own));
    RunRecord {
        command: launch.command,
        started: Some(launch.started),
        host: launch.host,
        load_average: launch.load_average,
        voluntary_context_switches: Some(voluntary),
        involuntary_context_switches: Some(involuntary),
        minor_page_faults: Some(minor),
        major_page_faults: Some(major),
        checksum: own.checksum.filter(|_| ok),
        stderr_tail: (!ok && !stderr.is_empty()).then_some(stderr),
        outcome,
        wall_seconds: Some(finished.wall.as_secs_f64()),
        user_seconds: Some(finished.used.user.as_secs_f64()),
        system_seconds: Some(finished.used.system.as_secs_f64()),
        max_rss_bytes: own.max_rss_bytes.or(resident),
        latency: own.latency,
        profile: own.profile.filter(|_| run.profile_flags.is_some()),
        stats: own.stats,
        ..RunRecord::planned(run, launch.seed)
    }
}

/// The outcome. If a child's exit status is 0 but its run is not ok, also the reason.
fn classify(run: &PlannedRun, finished: &Finished, own: Option<&RunRecord>) -> (Status, Option<String>) {
    let crash = |exit_code| Status::Crash {
        exit_code: Some(exit_code),
        signal: None,
    };
    match finished.end {
        End::Timeout | End::Interrupted => (Status::Timeout, None),
        End::Signal(signal) => (
            Status::Crash {
                exit_code: None,
                signal: Some(signal),
            },
            None,
        ),
        End::Exit(0) => match agrees(run, finished, own) {
            Ok(()) => (Status::Ok, None),
            Err(reason) => (crash(0), Some(reason)),
        },
        End::Exit(EXIT_USAGE) => (Status::Usage, None),
        // Even without a record: if the system refuses memory in the middle of a collection, the
        // run cannot return to write one.
        End::Exit(EXIT_HEAP_EXHAUSTED) => (Status::HeapExhausted, None),
        End::Exit(code) => (crash(code), None),
    }
}

/// Checks that a child with exit status 0 printed a checksum and recorded the same one, for the
/// planned run.
fn agrees(run: &PlannedRun, finished: &Finished, own: Option<&RunRecord>) -> Result<(), String> {
    let own = own.ok_or("exit status 0, but no record was written")?;
    let recorded = own
        .checksum
        .as_deref()
        .ok_or("exit status 0, but the record has no checksum")?;
    let expected = format!("{} checksum={recorded}", run.workload);
    if !finished.stdout.lines().any(|line| line == expected) {
        return Err(format!("exit status 0, but standard output has no line `{expected}`"));
    }
    if !own.outcome.is_ok() {
        return Err(format!("exit status 0, but the record says {}", own.outcome));
    }
    if (&own.collector, &own.workload, &own.args) != (&run.collector, &run.workload, &run.args) {
        return Err(format!(
            "the record is of {} under {}, not of {} under {}",
            own.workload, own.collector, run.workload, run.collector
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gclab_results::Configuration;

    use super::*;
    use crate::runner::system::Reaped;

    fn planned() -> PlannedRun {
        PlannedRun::new(
            Configuration {
                workload: "gcbench".into(),
                collector: "copying".into(),
                ..Configuration::default()
            },
            0,
            0,
        )
    }

    fn outcome(end: End, stdout: &str, own: Option<RunRecord>) -> RunRecord {
        outcome_with(end, stdout, own, 1)
    }

    fn outcome_with(end: End, stdout: &str, own: Option<RunRecord>, max_rss: u64) -> RunRecord {
        let finished = Finished {
            end,
            wall: Duration::from_millis(1500),
            used: Reaped {
                status: Ok(0),
                user: Duration::ZERO,
                system: Duration::ZERO,
                max_rss,
                faults: (0, 0),
                switches: (0, 0),
            },
            stdout: stdout.into(),
            stderr_tail: "last words\n".into(),
        };
        let launch = Launch {
            started: String::new(),
            load_average: None,
            host: None,
            own_resident: Some(100 << 20),
            command: vec![],
            seed: 1,
        };
        let line = own.map(|own| serde_json::to_string(&own).unwrap());
        record(&planned(), launch, finished, line.as_deref())
    }

    fn own(status: Status) -> RunRecord {
        RunRecord {
            outcome: status,
            checksum: Some("42".into()),
            ..RunRecord::planned(&planned(), 1)
        }
    }

    #[test]
    fn ok_needs_status_record_and_checksum() {
        let good = outcome(End::Exit(0), "gcbench checksum=42\n", Some(own(Status::Ok)));
        assert_eq!(
            (good.outcome, good.checksum.as_deref(), good.stderr_tail),
            (Status::Ok, Some("42"), None)
        );
        let crash = Status::Crash {
            exit_code: Some(0),
            signal: None,
        };
        let other_collector = RunRecord {
            collector: "two-space".into(),
            ..own(Status::Ok)
        };
        let silent = RunRecord {
            checksum: None,
            ..own(Status::Ok)
        };
        for (stdout, own) in [
            ("gcbench checksum=42\n", None),
            ("gcbench checksum=43\n", Some(own(Status::Ok))),
            ("", Some(own(Status::Ok))),
            ("gcbench checksum=42\n", Some(silent)),
            ("gcbench checksum=42\n", Some(own(Status::HeapExhausted))),
            ("gcbench checksum=42\n", Some(other_collector)),
        ] {
            let bad = outcome(End::Exit(0), stdout, own.clone());
            assert_eq!((&bad.outcome, &bad.checksum), (&crash, &None), "{stdout:?} {own:?}");
            assert!(bad.stderr_tail.unwrap().contains("gclab run: "));
        }
    }

    #[test]
    fn the_runner_s_memory_is_not_the_run_s() {
        let with = |recorded, measured| {
            let own = RunRecord {
                max_rss_bytes: recorded,
                ..own(Status::Ok)
            };
            outcome_with(End::Exit(0), "gcbench checksum=42\n", Some(own), measured).max_rss_bytes
        };
        assert_eq!(with(Some(7 << 20), 120 << 20), Some(7 << 20), "its own figure");
        assert_eq!(with(None, 100 << 20), None, "the runner has as much");
        assert_eq!(with(None, 120 << 20), Some(120 << 20), "more than the runner ever had");
    }

    #[test]
    fn failures_are_told_apart() {
        let crash = |exit_code, signal| Status::Crash { exit_code, signal };
        for (end, own_status, expected) in [
            (End::Exit(251), Some(Status::HeapExhausted), Status::HeapExhausted),
            (End::Exit(251), None, Status::HeapExhausted),
            (End::Exit(2), None, Status::Usage),
            (End::Exit(101), None, crash(Some(101), None)),
            (End::Signal(11), None, crash(None, Some(11))),
            (End::Signal(9), Some(Status::Ok), crash(None, Some(9))),
            (End::Timeout, None, Status::Timeout),
        ] {
            let record = outcome(end, "", own_status.map(own));
            assert_eq!(record.outcome, expected, "{end:?}");
            assert!(record.stderr_tail.unwrap().starts_with("last words"));
            assert_eq!(record.wall_seconds, Some(1.5));
        }
    }
}
