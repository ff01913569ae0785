//! Rounds under a limit of time: `--until`. What is left of a round begins only if it would end in
//! time, so a limit never leaves half of one. All runs that are not timed count as one more round.

use std::time::{Duration, Instant};

use gclab_results::PlannedRun;

use super::progress::{Estimator, Left};
use crate::run::Run;

/// The round of a run; none for a run that is not timed.
fn round(run: &PlannedRun) -> Option<u32> {
    run.purpose().is_timed().then_some(run.round)
}

/// The rounds of a sweep.
pub(super) struct Rounds<'r> {
    todo: &'r [&'r Run],
    until: Option<Instant>,
    /// The round that has begun.
    current: Option<Option<u32>>,
}

impl<'r> Rounds<'r> {
    /// The rounds of the runs `todo`, in their order.
    pub(super) fn new(todo: &'r [&'r Run], until: Option<Instant>) -> Rounds<'r> {
        Rounds {
            todo,
            until,
            current: None,
        }
    }

    /// Whether `run` may begin: its round has begun, or would end in time. Until a run was done,
    /// the time of a round is not known, and the first one begins.
    pub(super) fn may_begin(&mut self, run: &PlannedRun, estimator: &Estimator) -> bool {
        let Some(until) = self.until else {
            return true;
        };
        let of_run = round(run);
        if self.current == Some(of_run) {
            return true;
        }
        let all = self.todo.iter().map(|run| &run.planned);
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
        let combination = Combination::new("w", &[], "copying", Default::default());
        let mut logged = Run::logged(&combination, 6);
        logged.planned.position = 6;
        let runs: Vec<Run> = (0..6)
            .map(|n| Run::new(&combination, n / 3, n))
            .chain([logged])
            .collect();
        let todo: Vec<&Run> = runs.iter().collect();
        let mut estimator = Estimator::default();
        let begins = |seconds: u64, estimator: &Estimator| {
            let mut rounds = Rounds::new(&todo, Some(Instant::now() + Duration::from_secs(seconds)));
            let mut begun = 0;
            for run in &runs {
                if !rounds.may_begin(&run.planned, estimator) {
                    break;
                }
                begun += 1;
            }
            begun
        };
        // The figures leave minutes to a machine that stops between two lines.
        assert_eq!(begins(1000, &estimator), 7, "nothing is known yet");
        assert_eq!(begins(0, &estimator), 0, "no time is left");
        estimator.learn(&RunRecord {
            wall_seconds: Some(1000.0),
            ..RunRecord::planned(&runs[0].planned, 1)
        });
        assert_eq!(begins(2000, &estimator), 0, "a round takes 3000 s");
        assert_eq!(begins(4000, &estimator), 7);
        let mut rounds = Rounds::new(&todo, Some(Instant::now() + Duration::from_secs(3500)));
        assert!(rounds.may_begin(&runs[0].planned, &estimator));
        estimator.learn(&RunRecord {
            wall_seconds: Some(100_000.0),
            ..RunRecord::planned(&runs[0].planned, 1)
        });
        assert!(rounds.may_begin(&runs[2].planned, &estimator), "its round has begun");
        assert!(
            !rounds.may_begin(&runs[3].planned, &estimator),
            "the next one would be late"
        );
        assert!(
            !rounds.may_begin(&runs[6].planned, &estimator),
            "and so would the untimed runs"
        );
        let mut without = Rounds::new(&todo, None);
        assert!(without.may_begin(&runs[3].planned, &estimator));
    }
}
