//! From the end of a child to the run's record. The outcomes (ok, heap exhausted, usage, crash,
//! timeout) are never confused: a run counts as ok only if its exit status and output are what
//! `expect` says, and what its runtime reports agrees with them.

use std::time::{Duration, SystemTime};

use gclab_results::{Collections, PlannedRun, RunRecord, Status, rfc3339, shell_line};

use super::child::{End, Finished};
use crate::program::{Output, Program};
use crate::run::Run;
use crate::runtime::{Ended, Failure, Start};
use crate::{command_line, machine};

/// The facts about a run from before its start.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The time of the start: UTC, RFC 3339.
    pub started: String,
    /// Load average over one minute.
    pub load_average: Option<f64>,
    /// The name of the machine.
    pub host: Option<String>,
    /// The runner's memory, which a child starts with, in bytes.
    pub copied: Option<u64>,
    /// Whether the run is to read its performance counters at each pause.
    pub pause_counters: bool,
    /// The command that repeats the run.
    pub command: Vec<String>,
    /// The seed of the plan.
    pub seed: u64,
}

impl Launch {
    /// The facts about `run` now.
    pub(crate) fn now(run: &Run, seed: u64) -> Launch {
        Launch {
            started: rfc3339(SystemTime::now()),
            load_average: machine::load_average(),
            host: machine::host(),
            copied: machine::copied_resident(),
            pause_counters: run.program.own.as_ref().is_some_and(|own| own.pause_counters),
            command: command_line::shown(run),
            seed,
        }
    }

    /// The largest resident set of a run. A child starts as a copy of the runner, and the kernel
    /// counts that copy's memory until exec. So its figure is the run's own only if it exceeds the
    /// copy's.
    fn resident(&self, finished: &Finished) -> Option<u64> {
        let bytes = finished.used.max_rss;
        self.copied.filter(|copied| bytes > copied + TOUCHED).map(|_| bytes)
    }
}

/// About twice what a child touches of its code and stack before exec.
const TOUCHED: u64 = 3 << 19;

/// What is known of a run once it has ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assessed {
    outcome: Status,
    /// Why the run is not ok despite the right exit status.
    reason: Option<String>,
    /// The figures; only those keys that this run can have are set.
    figures: RunRecord,
}

impl Assessed {
    /// The outcome of the run.
    pub(super) fn outcome(&self) -> &Status {
        &self.outcome
    }

    /// The end of `run`, which `start` describes. `statistics` is the text of the file that its
    /// runtime wrote, if any.
    pub(crate) fn new(
        run: &Run,
        start: &Start,
        finished: &Finished,
        statistics: Option<&str>,
        launch: &Launch,
    ) -> Assessed {
        let program = &run.program;
        let sha256 = finished.stdout_hash.as_ref().map(|hash| hexadecimal(hash));
        let status = match finished.end {
            End::Exit(status) => Some(status),
            _ => None,
        };
        let ended = Ended {
            status,
            stdout: &finished.stdout,
            stderr: &finished.stderr,
            statistics,
            limited: start.address_space.is_some(),
        };
        let output = Output {
            stdout: &finished.stdout,
            stderr: &finished.stderr,
            sha256: sha256.as_deref().unwrap_or_default(),
        };
        let figures = program.figures(&ended, &output);
        let (outcome, reason, checksum) = if status == Some(program.description.expect.status) {
            match (
                program.runtime.agrees(&run.planned, &ended, &figures),
                program.answer(&output),
            ) {
                (Err(difference), _) => (crash(status, None), Some(difference), None),
                (Ok(()), Err(difference)) => (Status::WrongAnswer, Some(difference), None),
                (Ok(()), Ok(checksum)) => (Status::Ok, None, checksum.or(figures.checksum)),
            }
        } else {
            (failure(finished.end, program, &ended), None, None)
        };
        Assessed {
            figures: RunRecord {
                checksum,
                max_rss_bytes: figures.max_rss_bytes.or(launch.resident(finished)),
                output_bytes: sha256.is_some().then_some(finished.stdout_bytes),
                output_sha256: sha256,
                profile: figures.profile.filter(|_| run.planned.profile_flags.is_some()),
                collections: figures.collections.map(|collections| Collections {
                    id: run.planned.id.clone(),
                    ..collections
                }),
                ..figures
            },
            outcome,
            reason,
        }
    }

    /// A run whose preparation failed by the end of the command `words`.
    pub(crate) fn unprepared(words: &[String], finished: &Finished) -> Assessed {
        let how = match finished.end {
            End::Exit(status) => format!("ended with exit status {status}"),
            End::Signal(signal) => format!("was ended by signal {signal}"),
            End::Timeout | End::Interrupted => "took too long".to_owned(),
        };
        Assessed {
            outcome: Status::Unprepared,
            reason: Some(format!("`prepare`: {} {how}", shell_line(words))),
            figures: RunRecord::default(),
        }
    }
}

fn crash(exit_code: Option<i32>, signal: Option<i32>) -> Status {
    Status::Crash { exit_code, signal }
}

/// The outcome of a program that did not end as it should.
fn failure(end: End, program: &Program, ended: &Ended<'_>) -> Status {
    match (end, program.runtime.failure(ended)) {
        (End::Timeout | End::Interrupted, _) => Status::Timeout,
        (_, Some(Failure::Exhausted)) => Status::HeapExhausted,
        (_, Some(Failure::Refused)) => Status::Usage,
        (End::Signal(signal), None) => crash(None, Some(signal)),
        (End::Exit(status), None) => crash(Some(status), None),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The record of `run`.
pub(crate) fn record(run: &PlannedRun, launch: Launch, finished: Finished, judged: Assessed) -> RunRecord {
    let Assessed {
        outcome,
        reason,
        figures,
    } = judged;
    let mut stderr = finished.stderr_tail().trim_end().to_owned();
    if let Some(reason) = reason {
        stderr = format!("{stderr}\n(gclab run: {reason})").trim_start().to_owned();
    }
    let (minor, major) = finished.used.faults;
    let (voluntary, involuntary) = finished.used.switches;
    // A program that did not start took no time.
    let ran = outcome != Status::Unprepared;
    let seconds = |time: Duration| Some(time.as_secs_f64()).filter(|_| ran);
    let plan = RunRecord::planned(run, launch.seed);
    RunRecord {
        gclab: plan.gclab,
        run: plan.run,
        seed: plan.seed,
        command: launch.command,
        started: Some(launch.started),
        host: launch.host,
        load_average: launch.load_average,
        voluntary_context_switches: Some(voluntary).filter(|_| ran),
        involuntary_context_switches: Some(involuntary).filter(|_| ran),
        minor_page_faults: Some(minor).filter(|_| ran),
        major_page_faults: Some(major).filter(|_| ran),
        counters: finished.counters.filter(|_| ran),
        pause_counters: launch.pause_counters.then_some(true),
        stderr_tail: (!outcome.is_ok() && !stderr.is_empty()).then_some(stderr),
        outcome,
        wall_seconds: seconds(finished.wall),
        user_seconds: seconds(finished.used.user),
        system_seconds: seconds(finished.used.system),
        ..figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Combination;
    use crate::runner::system::Reaped;
    use crate::runtime::Setting;

    fn run() -> Run {
        Run::new(
            &Combination::of_workload("gcbench", &[], "copying", Setting::new()),
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
            stdout_bytes: stdout.len() as u64,
            stdout_hash: None,
            stderr: "last words\n".into(),
            counters: None,
        };
        let launch = Launch {
            started: String::new(),
            load_average: None,
            host: None,
            copied: Some(100 << 20),
            pause_counters: true,
            command: vec![],
            seed: 1,
        };
        let line = own.map(|own| serde_json::to_string(&own).unwrap());
        let judged = Assessed::new(&run(), &Start::default(), &finished, line.as_deref(), &launch);
        record(&run().planned, launch, finished, judged)
    }

    #[test]
    fn a_run_without_a_record_of_its_own_says_what_it_was_to_count() {
        let killed = outcome(End::Signal(9), "", None);
        assert_eq!((killed.stats.is_some(), killed.pause_counters), (false, Some(true)));
    }

    fn own(status: Status) -> RunRecord {
        RunRecord {
            outcome: status,
            checksum: Some("42".into()),
            ..RunRecord::planned(&run().planned, 1)
        }
    }

    #[test]
    fn ok_needs_status_record_and_checksum() {
        let good = outcome(End::Exit(0), "gcbench checksum=42\n", Some(own(Status::Ok)));
        assert_eq!(
            (good.outcome, good.checksum.as_deref(), good.stderr_tail),
            (Status::Ok, Some("42"), None)
        );
        let crash = crash(Some(0), None);
        let mut other_collector = own(Status::Ok);
        other_collector.run.configuration.collector = "two-space".into();
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
        assert_eq!(with(None, 101 << 20), None, "the copy of the runner may have as much");
        assert_eq!(with(None, 120 << 20), Some(120 << 20), "more than the copy had");
    }

    #[test]
    fn failures_are_told_apart() {
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
