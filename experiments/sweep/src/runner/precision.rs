//! Has an experiment reached its requested precision? Then its remaining timed runs are left out.
//!
//! The figure is the time of the measured phase, or wall-clock time if a run has none. The 95 %
//! interval of its mean must lie within plus or minus the requested share, for each configuration
//! whose runs all succeeded. A configuration with a failed run would never get there, so it does
//! not count. The first check comes after [`PILOT`] rounds: fewer runs can agree by chance.

use std::collections::BTreeMap;

use gclab_results::inference::runs_needed;
use gclab_results::{ResultsDir, RunRecord};

use crate::run::describe_configuration;
use crate::spec::MAX_REPEAT;
use crate::text::counted;

/// The rounds before the first check.
pub const PILOT: usize = 5;

/// The confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Whether the timed runs of a folder have the precision that its plan asks for.
pub(crate) fn is_reached(dir: &ResultsDir) -> bool {
    dir.manifest()
        .precision
        .is_some_and(|precision| is_precise(dir.runs(), precision))
}

fn is_precise(runs: &[RunRecord], precision: f64) -> bool {
    let needs = needs_of(runs, precision);
    !needs.is_empty() && needs.iter().all(Need::is_met)
}

/// The runs that the mean time of one configuration needs for a precision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The configuration in one line.
    pub configuration: String,
    /// The runs that are done.
    pub done: usize,
    /// The approximate number of runs, including those done; `None` before there are [`PILOT`]
    /// runs.
    pub needed: Option<usize>,
}

impl Need {
    /// Whether the runs that are done are enough.
    pub fn is_met(&self) -> bool {
        self.needed.is_some_and(|needed| needed <= self.done)
    }
}

/// The runs that each configuration of a folder needs for `precision`, those that need the most
/// first. Configurations with a failed run are left out.
pub fn needs(dir: &ResultsDir, precision: f64) -> Vec<Need> {
    let mut needs = needs_of(dir.runs(), precision);
    needs.sort_by_key(|need| std::cmp::Reverse(need.needed.unwrap_or(usize::MAX)));
    needs
}

fn needs_of(runs: &[RunRecord], precision: f64) -> Vec<Need> {
    let mut configurations: BTreeMap<&str, (&RunRecord, Vec<Option<f64>>)> = BTreeMap::new();
    for run in runs {
        let (_, times) = configurations.entry(&run.cell).or_insert((run, Vec::new()));
        times.push(time(run));
    }
    let need = |(run, times): (&RunRecord, Vec<Option<f64>>)| {
        let times: Vec<f64> = times.into_iter().collect::<Option<_>>()?;
        let needed = || runs_needed(&times, precision, CONFIDENCE);
        Some(Need {
            configuration: describe_configuration(&run.configuration, run.heap_multiple),
            done: times.len(),
            needed: (times.len() >= PILOT).then(needed).flatten(),
        })
    };
    configurations.into_values().filter_map(need).collect()
}

/// The `repeat` that would be about enough for all of `needs`, in words; `None` if none is known.
pub fn remedy(needs: &[Need]) -> Option<String> {
    let most = needs.iter().filter_map(|need| need.needed).max()?;
    Some(if most as u64 <= MAX_REPEAT {
        format!("`repeat = {most}` would be about enough")
    } else {
        format!("`repeat` would have to be {most}, and it is at most {MAX_REPEAT}: ask for less")
    })
}

/// A share as people write it, without the excess digits of a division.
pub fn percent(share: f64) -> String {
    format!("{}%", (share * 1e8).round() / 1e6)
}

/// The most configurations that [`told`] names.
const MOST_TOLD: usize = 5;

/// Lines for people about the configurations that need more runs; none if none does.
pub fn told(needs: &[Need], precision: f64) -> Vec<String> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !need.is_met()).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let line = |need: &&Need| match need.needed {
        Some(needed) => format!("  {}: {} of about {needed} runs", need.configuration, need.done),
        None => format!("  {}: {} of the {PILOT} runs of a pilot", need.configuration, need.done),
    };
    let mut lines = vec![format!(
        "{} of {} have not reached a precision of {} yet",
        missing.len(),
        counted(needs.len(), "configuration"),
        percent(precision)
    )];
    lines.extend(missing.iter().take(MOST_TOLD).map(line));
    let others = missing.len().saturating_sub(MOST_TOLD);
    lines.extend((others > 0).then(|| format!("  and {} that need fewer runs", counted(others, "configuration"))));
    lines
}

/// The time of a run that ended well.
fn time(run: &RunRecord) -> Option<f64> {
    let stats = run.stats.as_ref().filter(|_| run.outcome.is_ok());
    let phases = stats.and_then(|stats| stats.phases.as_ref());
    let measured = phases.and_then(|phases| phases.measured.total_elapsed_seconds);
    measured.or(run.wall_seconds).filter(|_| run.outcome.is_ok())
}

#[cfg(test)]
mod tests {
    use gclab_results::{PlannedRun, Status};

    use super::*;

    fn runs(cell: &str, seconds: &[f64]) -> Vec<RunRecord> {
        let run = |seconds: &f64| RunRecord {
            run: PlannedRun {
                cell: cell.to_owned(),
                ..PlannedRun::default()
            },
            wall_seconds: Some(*seconds),
            ..RunRecord::default()
        };
        seconds.iter().map(run).collect()
    }

    /// A deviation of 1 % in five runs: t = 2.776, so the interval reaches 1.24 %.
    const STEADY: [f64; 5] = [1.0, 1.0, 1.0, 1.01291, 0.98709];

    #[test]
    fn every_configuration_must_be_precise() {
        let steady = runs("steady", &STEADY);
        assert!(is_precise(&steady, 0.02) && !is_precise(&steady, 0.005));
        let noisy = runs("noisy", &[1.0, 1.2, 0.9, 1.1, 0.8]);
        assert!(!is_precise(&[steady.clone(), noisy].concat(), 0.02));
        assert!(!is_precise(&steady[..4], 0.5), "fewer than the pilot");
        assert!(!is_precise(&[], 0.5));
    }

    /// By the formula: a deviation of 0.913 % and t = 2.776 need 25.8 runs for 0.5 %.
    #[test]
    fn a_configuration_tells_the_runs_that_it_needs() {
        let steady = runs("steady", &STEADY);
        let needed = |precision| needs_of(&steady, precision)[0].needed;
        assert_eq!((needed(0.02), needed(0.005)), (Some(5), Some(26)));
        let noisy = runs("noisy", &[1.0, 1.2, 0.9, 1.1, 0.8]);
        let few = runs("few", &[1.0; 4]);
        let needs = needs_of(&[steady.clone(), noisy, few].concat(), 0.02);
        assert_eq!(needs.iter().filter(|need| need.is_met()).count(), 1);
        let lines = told(&needs, 0.02);
        assert_eq!(lines[0], "2 of 3 configurations have not reached a precision of 2% yet");
        assert!(
            lines[1..]
                .iter()
                .any(|line| line.ends_with("4 of the 5 runs of a pilot")),
            "{lines:?}"
        );
        assert!(lines[1..].iter().any(|line| line.contains("5 of about ")), "{lines:?}");
        assert_eq!(told(&needs_of(&steady, 0.02), 0.02), [""; 0]);
        let of = |precision| remedy(&needs_of(&steady, precision));
        assert_eq!(of(0.005), Some("`repeat = 26` would be about enough".to_owned()));
        assert!(
            of(1e-9).is_some_and(|text| text.ends_with("ask for less")),
            "{:?}",
            of(1e-9)
        );
        assert_eq!(remedy(&[]), None);
        assert_eq!(
            (percent(0.02), percent(0.000_001)),
            ("2%".to_owned(), "0.0001%".to_owned())
        );
    }

    /// A configuration that fails would keep an experiment from its end.
    #[test]
    fn a_configuration_that_fails_does_not_count() {
        let mut failing = runs("failing", &[1.0; 5]);
        failing[2].outcome = Status::HeapExhausted;
        assert!(is_precise(&[runs("steady", &STEADY), failing.clone()].concat(), 0.02));
        assert!(!is_precise(&failing, 0.02), "nothing has a time");
    }
}
