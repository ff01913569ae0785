//! The lower bound of the cost of garbage collection (lower-bound overhead, LBO).
//!
//! A run has a cost C (elapsed time, CPU time), of which G is known to be spent in collections. The
//! rest, C - G, is at least the cost of the program alone: barriers, allocation and disturbed
//! caches are still in it. The least rest of any configuration is the *baseline* B. A configuration
//! costs C / B, and the collector causes at least the excess over 1. A configuration more can only
//! lower the baseline, so figures with different sets of configurations cannot be compared.
//!
//! Source: Cai, Blackburn, Bond and Maas, "Distilling the Real Cost of Production Garbage
//! Collectors" (ISPASS 2022). The interval is that of resamples of the runs of all configurations:
//! numerators and baseline together. The least of several means is itself a little too low by
//! chance, and the figure as much too high; more runs make it less.

use crate::bootstrap::{RESAMPLES, Resampler, ends};
use crate::ratio::Ratio;
use crate::sample::Interval;

/// With fewer runs of a configuration, less than 90 of 100 intervals would contain the overhead.
pub const RUNS_FOR_OVERHEAD: usize = 4;

/// The cost of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// The whole cost.
    pub total: f64,
    /// The part that is known to be spent in collections.
    pub collections: f64,
}

/// The costs of several configurations of one workload over their common baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Overheads {
    /// The index of the configuration that has the least cost without collections.
    pub baseline: usize,
    /// That cost: the mean over its runs.
    pub cost: f64,
    /// The cost of each configuration over the baseline. The interval is absent with fewer than
    /// [`RUNS_FOR_OVERHEAD`] runs of any configuration.
    pub overheads: Vec<Ratio>,
}

/// The overheads of some configurations, each with the costs of its runs; `None` if one has no run,
/// or if the baseline is not above 0.
pub fn lower_bound_overheads(configurations: &[Vec<Cost>]) -> Option<Overheads> {
    let runs = configurations.iter().map(Vec::len).min().filter(|runs| *runs > 0)?;
    let every_run = |costs: &Vec<Cost>| means(costs, &(0..costs.len()).collect::<Vec<_>>());
    let all: Vec<(f64, f64)> = configurations.iter().map(every_run).collect();
    let (baseline, cost) = least(&all)?;
    if !(cost > 0.0 && cost.is_finite()) {
        return None;
    }
    let intervals = (runs >= RUNS_FOR_OVERHEAD).then(|| intervals(configurations, runs, RESAMPLES));
    let mut intervals = intervals.into_iter().flatten();
    let overhead = |(total, _): &(f64, f64)| Ratio {
        estimate: total / cost,
        ci95: intervals.next(),
        runs,
        chance: None,
    };
    Some(Overheads {
        baseline,
        cost,
        overheads: all.iter().map(overhead).collect(),
    })
}

/// The interval of each configuration's overhead, from a number of resamples; `runs` is the least
/// number of runs of a configuration.
pub(crate) fn intervals(configurations: &[Vec<Cost>], runs: usize, number: usize) -> Vec<Interval> {
    let resampled = resamples(configurations, number).into_iter();
    resampled
        .map(|figures| ends(figures, runs, (runs - 1) as f64))
        .collect()
}

/// For each configuration, its overhead in each resample of all configurations.
fn resamples(configurations: &[Vec<Cost>], resamples: usize) -> Vec<Vec<f64>> {
    let mut resampler = Resampler::new();
    let mut figures = vec![Vec::with_capacity(resamples); configurations.len()];
    let mut drawn = Vec::new();
    let mut all = Vec::new();
    for _ in 0..resamples {
        all.clear();
        for costs in configurations {
            drawn.resize(costs.len(), 0);
            resampler.draw(costs.len(), &mut drawn);
            all.push(means(costs, &drawn));
        }
        let baseline = least(&all).map_or(f64::NAN, |(_, cost)| cost);
        for (of, (total, _)) in figures.iter_mut().zip(&all) {
            of.push(total / baseline);
        }
    }
    figures
}

/// The mean cost of some runs, and the mean without collections.
fn means(costs: &[Cost], runs: &[usize]) -> (f64, f64) {
    let (mut total, mut rest) = (0.0, 0.0);
    for &run in runs {
        total += costs[run].total;
        rest += costs[run].total - costs[run].collections;
    }
    (total / runs.len() as f64, rest / runs.len() as f64)
}

/// The configuration with the least cost without collections, and that cost.
fn least(all: &[(f64, f64)]) -> Option<(usize, f64)> {
    let rests = all.iter().enumerate().map(|(index, (_, rest))| (index, *rest));
    rests.min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(runs: &[(f64, f64)]) -> Vec<Cost> {
        let cost = |(total, collections): &(f64, f64)| Cost {
            total: *total,
            collections: *collections,
        };
        runs.iter().map(cost).collect()
    }

    /// Two configurations: 10 of which 2 in collections, and 9 of which 0.5. The baseline is 8.
    #[test]
    fn overheads_by_hand() {
        let found = lower_bound_overheads(&[costs(&[(10.0, 2.0); 4]), costs(&[(9.0, 0.5); 4])]).expect("runs");
        assert_eq!((found.baseline, found.cost), (0, 8.0));
        let estimates: Vec<f64> = found.overheads.iter().map(|ratio| ratio.estimate).collect();
        assert_eq!(estimates, [1.25, 1.125]);
        let ci = found.overheads[1].ci95.expect("four runs");
        assert_eq!((ci.low, ci.high), (1.125, 1.125), "equal runs");
    }

    /// A configuration with an expensive barrier lowers no baseline, whatever its collections cost.
    #[test]
    fn another_configuration_can_only_raise_overheads() {
        let one = costs(&[(10.0, 2.0), (10.2, 2.1), (9.8, 1.9)]);
        let alone = lower_bound_overheads(std::slice::from_ref(&one)).expect("runs");
        let slow = costs(&[(20.0, 1.0), (20.0, 1.0), (20.0, 1.0)]);
        let quick = costs(&[(8.0, 1.0), (8.0, 1.0), (8.0, 1.0)]);
        let with_slow = lower_bound_overheads(&[one.clone(), slow]).expect("runs");
        let with_quick = lower_bound_overheads(&[one, quick]).expect("runs");
        assert_eq!(with_slow.overheads[0].estimate, alone.overheads[0].estimate);
        assert!(with_quick.overheads[0].estimate > alone.overheads[0].estimate);
    }

    #[test]
    fn too_few_runs_have_no_interval_and_no_cost_has_no_overhead() {
        let three = lower_bound_overheads(&[costs(&[(1.0, 0.1), (1.1, 0.1), (1.2, 0.1)])]).expect("runs");
        assert_eq!(three.overheads[0].ci95, None);
        assert_eq!(lower_bound_overheads(&[Vec::new()]), None);
        assert_eq!(lower_bound_overheads(&[]), None);
        assert_eq!(lower_bound_overheads(&[costs(&[(1.0, 1.0); 3])]), None);
    }
}
