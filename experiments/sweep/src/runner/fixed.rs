//! The runs of a plan, in order.
//!
//! If the plan asks for a precision, each round starts by checking whether it is reached; if so,
//! the remaining timed runs are left out. With a time limit (`--until`), the rest of a round starts
//! only if it would end in time, so a limit never leaves half a round. All untimed runs count as
//! one more round. After the first round, a new sweep ends if a program failed at once in each run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gclab_results::{PlannedRun, ResultsDir, RunRecord, Status};

use super::progress::{Estimator, Left, Progress};
use super::{RunnerError, Strategy, Sweep, go, precision};
use crate::run::Run;

/// A program that fails within these seconds lacks an argument or a file, and will fail again.
const AT_ONCE: f64 = 1.0;

/// How a sweep ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepEnd {
    /// Every run of the plan is done.
    Complete,
    /// The times have the precision that the plan asks for, so the other timed runs are left out.
    Precise,
    /// The next round would not finish within the given time.
    OutOfTime,
    /// The program of this name failed at once in all runs of the first round, so no other round was
    /// done.
    FailedAtOnce(String),
    /// This signal stopped it.
    Stopped(i32),
}

/// Does every missing run of the folder's plan. `plan` has the same runs as that plan, with typed
/// flags. No round begins that would not end before `until`.
///
/// # Errors
/// As [`go`].
pub fn sweep(
    dir: &mut ResultsDir,
    plan: &[Run],
    sweep: &Sweep<'_>,
    until: Option<Instant>,
) -> Result<SweepEnd, RunnerError> {
    let mut strategy = Fixed::new(dir, plan, until);
    let signal = go(dir, &mut strategy, sweep)?;
    strategy.progress.end();
    let complete = dir.done() == plan.len();
    Ok(match (signal, strategy.failed_at_once) {
        (Some(signal), _) if !complete => SweepEnd::Stopped(signal),
        (None, Some(program)) => SweepEnd::FailedAtOnce(program),
        (None, _) if strategy.is_out_of_time => SweepEnd::OutOfTime,
        (None, _) if strategy.is_precise => SweepEnd::Precise,
        _ => SweepEnd::Complete,
    })
}

/// A plan and its progress.
struct Fixed<'p> {
    /// The runs that were not done at the beginning.
    todo: Vec<&'p Run>,
    /// The next of these.
    at: usize,
    rounds: Rounds,
    left: Left,
    estimator: Estimator,
    progress: Progress,
    /// The round whose precision was checked.
    checked: Option<u32>,
    is_precise: bool,
    is_out_of_time: bool,
    /// Whether nothing was done before, and the first round has not ended.
    is_first: bool,
    /// A program all of whose runs of the first round failed at once.
    failed_at_once: Option<String>,
}

impl<'p> Fixed<'p> {
    fn new(dir: &ResultsDir, plan: &'p [Run], until: Option<Instant>) -> Fixed<'p> {
        let todo: Vec<&Run> = plan.iter().filter(|run| !dir.is_done(&run.planned.id)).collect();
        let mut estimator = Estimator::default();
        dir.all_runs().for_each(|run| estimator.learn(run));
        Fixed {
            at: 0,
            rounds: Rounds { until, current: None },
            left: Left::of(todo.iter().map(|run| &run.planned)),
            estimator,
            progress: Progress::begin(plan.len() - todo.len(), plan.len()),
            todo,
            checked: None,
            is_precise: false,
            is_out_of_time: false,
            is_first: dir.done() == 0,
            failed_at_once: None,
        }
    }
}

impl Strategy for Fixed<'_> {
    fn next(&mut self, done: &ResultsDir) -> Option<Run> {
        loop {
            let run = *self.todo.get(self.at)?;
            let planned = &run.planned;
            if self.is_first && round(planned) != round(&self.todo[0].planned) {
                self.is_first = false;
                self.failed_at_once = failed_at_once(done);
                if self.failed_at_once.is_some() {
                    return None;
                }
            }
            let is_timed = planned.purpose().is_timed();
            // Whole rounds only: each configuration has the same number of runs.
            if is_timed && self.checked != Some(planned.round) {
                self.checked = Some(planned.round);
                self.is_precise = precision::is_reached(done);
            }
            if is_timed && self.is_precise {
                self.at += 1;
                continue;
            }
            if !self.rounds.may_begin(planned, &self.todo, &self.estimator) {
                self.is_out_of_time = true;
                return None;
            }
            self.at += 1;
            return Some(run.clone());
        }
    }

    fn begins(&mut self, run: &PlannedRun) {
        self.progress.start(run, self.estimator.estimate(&self.left));
    }

    fn ended(&mut self, record: &RunRecord) {
        self.estimator.learn(record);
        self.left.done(record);
        self.progress
            .finish(record, record, self.estimator.estimate(&self.left));
    }
}

/// The name of a program all of whose runs so far failed at once.
fn failed_at_once(done: &ResultsDir) -> Option<String> {
    let mut programs = BTreeMap::new();
    for run in done.all_runs() {
        let Some(runtime) = &run.runtime else { continue };
        let is_failure = matches!(run.outcome, Status::Crash { .. } | Status::Usage);
        let at_once = run.wall_seconds.is_some_and(|seconds| seconds < AT_ONCE);
        // It may compete with the collectors, under its own name.
        let named = [&run.workload, &run.collector];
        let name = named[usize::from(*named[1] != *runtime)];
        *programs.entry((name, named)).or_insert(true) &= is_failure && at_once;
    }
    let failed = programs.into_iter().find(|(_, all_failed)| *all_failed);
    failed.map(|((name, _), _)| name.clone())
}

/// The round of a run; none for a run that is not timed.
fn round(run: &PlannedRun) -> Option<u32> {
    run.purpose().is_timed().then_some(run.round)
}

/// The rounds of a sweep under a time limit.
struct Rounds {
    until: Option<Instant>,
    /// The round that has begun.
    current: Option<Option<u32>>,
}

impl Rounds {
    /// Whether `run` of `todo` may begin: its round has begun, or would end in time. Until a run
    /// was done, the time of a round is not known, and the first one begins.
    fn may_begin(&mut self, run: &PlannedRun, todo: &[&Run], estimator: &Estimator) -> bool {
        let Some(until) = self.until else {
            return true;
        };
        let of_run = round(run);
        if self.current == Some(of_run) {
            return true;
        }
        let all = todo.iter().map(|run| &run.planned);
        let left = Left::of(all.filter(|other| round(other) == of_run));
        let takes = estimator.estimate(&left).unwrap_or(Duration::ZERO);
        let in_time = Instant::now() + takes <= until;
        if in_time {
            self.current = Some(of_run);
        }
        in_time
    }
}

#[cfg(test)]
mod tests {
    use gclab_results::RunRecord;

    use super::*;
    use crate::run::Combination;

    #[test]
    fn a_round_begins_if_it_would_end_in_time_and_then_goes_on() {
        let combination = Combination::of_workload("w", &[], "copying", Default::default());
        let mut logged = Run::logged(&combination, 6);
        logged.planned.position = 6;
        let runs: Vec<Run> = (0..6)
            .map(|n| Run::new(&combination, n / 3, n))
            .chain([logged])
            .collect();
        let todo: Vec<&Run> = runs.iter().collect();
        let mut estimator = Estimator::default();
        let begins = |seconds: u64, estimator: &Estimator| {
            let mut rounds = Rounds {
                until: Some(Instant::now() + Duration::from_secs(seconds)),
                current: None,
            };
            let mut begun = 0;
            for run in &runs {
                if !rounds.may_begin(&run.planned, &todo, estimator) {
                    break;
                }
                begun += 1;
            }
            begun
        };
        // The figures leave minutes of slack for a machine that stalls between two lines.
        assert_eq!(begins(1000, &estimator), 7, "nothing is known yet");
        assert_eq!(begins(0, &estimator), 0, "no time is left");
        estimator.learn(&RunRecord {
            wall_seconds: Some(1000.0),
            ..RunRecord::planned(&runs[0].planned, 1)
        });
        assert_eq!(begins(2000, &estimator), 0, "a round takes 3000 s");
        assert_eq!(begins(4000, &estimator), 7);
        let mut rounds = Rounds {
            until: Some(Instant::now() + Duration::from_secs(3500)),
            current: None,
        };
        assert!(rounds.may_begin(&runs[0].planned, &todo, &estimator));
        estimator.learn(&RunRecord {
            wall_seconds: Some(100_000.0),
            ..RunRecord::planned(&runs[0].planned, 1)
        });
        assert!(
            rounds.may_begin(&runs[2].planned, &todo, &estimator),
            "its round has begun"
        );
        assert!(
            !rounds.may_begin(&runs[3].planned, &todo, &estimator),
            "the next one would be late"
        );
        assert!(
            !rounds.may_begin(&runs[6].planned, &todo, &estimator),
            "and so would the untimed runs"
        );
        let mut without = Rounds {
            until: None,
            current: None,
        };
        assert!(without.may_begin(&runs[3].planned, &todo, &estimator));
    }
}
