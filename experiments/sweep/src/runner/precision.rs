//! Is the precision reached that an experiment asks for? Then the rest of its timed runs is left
//! out.
//!
//! The figure is the time of the measured phase, or the wall clock where a run has none. The 95 %
//! interval of its mean must reach at most the asked share to either side, for each configuration
//! whose runs all ended well. A configuration with a failed run never gets precise, so it does not
//! count. The first look comes after [`PILOT`] rounds: fewer runs can agree by chance.

use std::collections::BTreeMap;

use gclab_inference::runs_needed;
use gclab_results::{ResultsDir, RunRecord};

/// The rounds before the first look.
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
    let mut configurations: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    for run in runs {
        configurations.entry(&run.cell).or_default().push(time(run));
    }
    let times = configurations
        .into_values()
        .filter_map(|times| times.into_iter().collect());
    let times: Vec<Vec<f64>> = times.collect();
    let enough = |times: &Vec<f64>| {
        times.len() >= PILOT && runs_needed(times, precision, CONFIDENCE).is_some_and(|needed| needed <= times.len())
    };
    !times.is_empty() && times.iter().all(enough)
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
    use gclab_results::Status;

    use super::*;

    fn runs(cell: &str, seconds: &[f64]) -> Vec<RunRecord> {
        let run = |seconds: &f64| RunRecord {
            cell: cell.to_owned(),
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

    /// A configuration that fails would keep an experiment from its end.
    #[test]
    fn a_configuration_that_fails_does_not_count() {
        let mut failing = runs("failing", &[1.0; 5]);
        failing[2].outcome = Status::HeapExhausted;
        assert!(is_precise(&[runs("steady", &STEADY), failing.clone()].concat(), 0.02));
        assert!(!is_precise(&failing, 0.02), "nothing has a time");
    }
}
