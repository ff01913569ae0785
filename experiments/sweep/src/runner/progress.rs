//! The progress of a sweep and the time that it will still take: a bar on a terminal, one line for
//! each run elsewhere (logs of batch jobs).
//!
//! For each run to come, the estimate takes the mean time of its configuration so far, or else of
//! its workload's runs, or else of all runs. Runs with a heap profile or an event log have separate
//! means; until one is done, they count as timed runs.

use std::collections::{BTreeMap, HashMap};
use std::io::IsTerminal;
use std::time::Duration;

use gclab_results::{PlannedRun, Purpose, RunRecord};
use indicatif::{ProgressBar, ProgressStyle};

pub use crate::run::describe;
use crate::text::duration;

/// Mean wall times, by configuration, by workload and over all.
#[derive(Debug, Default)]
pub struct Estimator {
    sums: HashMap<String, (f64, u32)>,
}

impl Estimator {
    /// Adds the time of a run that is done.
    pub fn learn(&mut self, run: &RunRecord) {
        let Some(seconds) = run.wall_seconds else {
            return;
        };
        let purpose = run.purpose();
        let keys = [
            of_cell(purpose, &run.cell),
            of_work(purpose, &run.workload, &run.args),
            of_all(purpose),
        ];
        for key in keys {
            let (sum, count) = self.sums.entry(key).or_default();
            *sum += seconds;
            *count += 1;
        }
    }

    /// Whether the time of no run is known.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// The mean time of a run of this configuration, in seconds, if any was done.
    pub fn seconds(&self, run: &PlannedRun) -> Option<f64> {
        self.mean(&of_cell(run.purpose(), &run.cell))
    }

    /// The time that the runs in `left` will take; `None` if no run was ever done.
    pub fn estimate(&self, left: &Left) -> Option<Duration> {
        let groups = left.0.values();
        let seconds = groups.map(|(run, count)| {
            Some(self.nearest(run.purpose(), &run.cell, &run.workload, &run.args)? * *count as f64)
        });
        seconds.sum::<Option<f64>>().map(Duration::from_secs_f64)
    }

    /// The mean time of the nearest runs that were done. If there are none of this purpose, timed
    /// runs are used instead.
    fn nearest(&self, purpose: Purpose<'_>, cell: &str, workload: &str, args: &[String]) -> Option<f64> {
        let of = |purpose| {
            let own = self.mean(&of_cell(purpose, cell));
            let of_work = || self.mean(&of_work(purpose, workload, args));
            own.or_else(of_work).or_else(|| self.mean(&of_all(purpose)))
        };
        of(purpose).or_else(|| of(Purpose::Times))
    }

    fn mean(&self, key: &str) -> Option<f64> {
        self.sums.get(key).map(|(sum, count)| sum / f64::from(*count))
    }
}

/// The runs that are still to be done, counted by configuration and purpose: an estimate, which is
/// made twice for each run, looks at each configuration, not at each run.
#[derive(Debug, Default)]
pub struct Left(BTreeMap<(String, String), (PlannedRun, usize)>);

impl Left {
    /// Counts the runs of a plan, or of a part of one.
    pub fn of<'r>(runs: impl IntoIterator<Item = &'r PlannedRun>) -> Left {
        let mut left = Left::default();
        for run in runs {
            let (_, count) = left.0.entry(group(run)).or_insert_with(|| (run.clone(), 0));
            *count += 1;
        }
        left
    }

    /// Takes out a run that is done.
    pub fn done(&mut self, run: &PlannedRun) {
        if let Some((_, count)) = self.0.get_mut(&group(run)) {
            *count = count.saturating_sub(1);
        }
    }
}

/// The key of a run in [`Left`].
fn group(run: &PlannedRun) -> (String, String) {
    (run.cell.clone(), run.purpose().to_string())
}

/// The key of a configuration in [`Estimator::sums`]. Untimed runs are slower and have separate
/// keys.
fn of_cell(purpose: Purpose<'_>, cell: &str) -> String {
    format!("{purpose} cell {cell}")
}

/// The key of a workload with its arguments.
fn of_work(purpose: Purpose<'_>, workload: &str, args: &[String]) -> String {
    format!("{purpose} work {workload} {}", args.join(" "))
}

/// The key of all runs.
fn of_all(purpose: Purpose<'_>) -> String {
    purpose.to_string()
}

/// Shows the progress of a sweep.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    done: usize,
    total: usize,
}

impl Progress {
    /// Begins with `done` of `total` runs.
    pub fn begin(done: usize, total: usize) -> Progress {
        Progress {
            bar: bar(done, total),
            done,
            total,
        }
    }

    /// Shows that `run` begins; `left` is the estimate for it and all after it.
    pub fn start(&self, run: &PlannedRun, left: Option<Duration>) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}{}", about(left), describe(run)));
        }
    }

    /// Shows that `run` has ended; `left` is the estimate for all after it.
    pub fn finish(&mut self, run: &PlannedRun, record: &RunRecord, left: Option<Duration>) {
        self.done += 1;
        let seconds = record.wall_seconds.unwrap_or(0.0);
        let line = format!(
            "[{}/{}] {}: {} {seconds:.2} s",
            self.done,
            self.total,
            describe(run),
            record.outcome
        );
        match &self.bar {
            None => tell!("{line}{}", about(left).trim_end_matches(": ")),
            Some(bar) => {
                bar.inc(1);
                if !record.outcome.is_ok() {
                    bar.println(line);
                }
            }
        }
    }

    /// Removes the bar; the lines stay.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The clock on the bar moves once a second: often enough to show that the program runs, too
/// seldom to disturb a measurement.
const TICK: Duration = Duration::from_secs(1);

/// A bar with a clock, if standard error is a terminal.
pub(crate) fn bar(done: usize, total: usize) -> Option<ProgressBar> {
    std::io::stderr().is_terminal().then(|| {
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}").expect("a template of known keys");
        let bar = ProgressBar::new(total as u64)
            .with_position(done as u64)
            .with_style(style);
        bar.enable_steady_tick(TICK);
        bar
    })
}

fn about(left: Option<Duration>) -> String {
    left.filter(|left| !left.is_zero())
        .map_or_else(|| ": ".into(), |left| format!(", about {} left: ", duration(left)))
}

#[cfg(test)]
mod tests {
    use gclab_results::Configuration;

    use super::*;

    fn run(workload: &str, collector: &str) -> PlannedRun {
        PlannedRun::new(
            Configuration {
                workload: workload.into(),
                collector: collector.into(),
                ..Configuration::default()
            },
            0,
            0,
        )
    }

    #[test]
    fn the_nearest_mean_counts() {
        let mut estimator = Estimator::default();
        assert_eq!(
            estimator.estimate(&Left::of([&run("a", "x")])),
            None,
            "no run is done yet"
        );
        assert_eq!(estimator.estimate(&Left::default()), Some(Duration::ZERO));
        for (workload, collector, seconds) in [("a", "x", 1.0), ("a", "y", 3.0), ("b", "x", 11.0)] {
            estimator.learn(&RunRecord {
                wall_seconds: Some(seconds),
                ..RunRecord::planned(&run(workload, collector), 1)
            });
        }
        let estimate = |workload, collector| {
            estimator
                .estimate(&Left::of([&run(workload, collector)]))
                .unwrap()
                .as_secs_f64()
        };
        assert_eq!(estimate("a", "x"), 1.0, "the configuration's own");
        assert_eq!(estimate("a", "z"), 2.0, "the workload's");
        assert_eq!(estimate("c", "z"), 5.0, "all");
    }

    /// Before and after each run, the remaining runs used to be added up one by one.
    #[test]
    fn an_estimate_of_many_runs_takes_as_long_as_one_of_few() {
        let mut estimator = Estimator::default();
        for (workload, seconds) in [("a", 1.0), ("b", 2.0)] {
            estimator.learn(&RunRecord {
                wall_seconds: Some(seconds),
                ..RunRecord::planned(&run(workload, "x"), 1)
            });
        }
        const ROUNDS: usize = 20_000;
        let plan: Vec<PlannedRun> = (0..ROUNDS).flat_map(|_| [run("a", "x"), run("b", "x")]).collect();
        let mut left = Left::of(&plan);
        assert_eq!(left.0.len(), 2);
        for (index, run) in plan.iter().enumerate() {
            let rounds = (ROUNDS - index / 2) as u64;
            let halfway = index as u64 % 2;
            assert_eq!(
                estimator.estimate(&left),
                Some(Duration::from_secs(3 * rounds - halfway))
            );
            left.done(run);
        }
        assert_eq!(estimator.estimate(&left), Some(Duration::ZERO));
    }

    #[test]
    fn an_untimed_run_says_nothing_about_timed_ones() {
        let profiled = PlannedRun {
            profile_flags: Some("-hy".into()),
            ..run("a", "x")
        };
        untimed(&profiled);
        let logged = PlannedRun {
            eventlog: Some(true),
            ..run("a", "x")
        };
        assert_eq!(
            (describe(&run("a", "x")), describe(&logged)),
            ("x a".into(), "x a event log".into())
        );
        untimed(&logged);
    }

    fn untimed(untimed: &PlannedRun) {
        let mut estimator = Estimator::default();
        let learned = |planned: &PlannedRun, seconds| RunRecord {
            wall_seconds: Some(seconds),
            ..RunRecord::planned(planned, 1)
        };
        estimator.learn(&learned(&run("a", "x"), 1.0));
        assert_eq!(
            estimator.estimate(&Left::of([untimed])),
            Some(Duration::from_secs(1)),
            "no such run is done yet"
        );
        estimator.learn(&learned(untimed, 9.0));
        assert_eq!(estimator.estimate(&Left::of([untimed])), Some(Duration::from_secs(9)));
        assert_eq!(
            estimator.estimate(&Left::of([&run("a", "x")])),
            Some(Duration::from_secs(1))
        );
    }
}
