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

use crate::inference::bootstrap::{MANY, RESAMPLES, Resampler, ends};
use crate::inference::ratio::Ratio;
use crate::inference::sample::Interval;

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

/// The costs of the runs of a configuration. Those of many runs are not kept one by one.
#[derive(Debug, Clone)]
pub struct Costs {
    runs: usize,
    /// The mean of the whole costs, and that without collections.
    means: (f64, f64),
    resamples: Resamples,
}

/// The means of resamples of runs.
#[derive(Debug, Clone)]
enum Resamples {
    /// They are those of drawn runs.
    Drawn(Vec<Cost>),
    /// They are drawn from their distribution, as there are [`MANY`] runs.
    Normal(Means),
}

impl Costs {
    /// The costs of these runs; `None` without a run.
    pub fn of(costs: Vec<Cost>) -> Option<Costs> {
        let runs = costs.len();
        (runs > 0).then(|| Costs {
            runs,
            means: means(&costs, 0..runs),
            resamples: match Means::of_many(&costs) {
                Some(means) => Resamples::Normal(means),
                None => Resamples::Drawn(costs),
            },
        })
    }

    /// The means of a resample.
    fn draw(&self, resampler: &mut Resampler, drawn: &mut Vec<usize>) -> (f64, f64) {
        match &self.resamples {
            Resamples::Normal(means) => means.draw(resampler),
            Resamples::Drawn(costs) => {
                drawn.resize(costs.len(), 0);
                resampler.draw(costs.len(), drawn);
                means(costs, drawn.iter().copied())
            }
        }
    }
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

/// The overheads of some configurations, each with the costs of its runs; `None` without any, or if
/// the baseline is not above 0.
pub fn lower_bound_overheads(configurations: &[Costs]) -> Option<Overheads> {
    let runs = configurations.iter().map(|costs| costs.runs).min()?;
    let all: Vec<(f64, f64)> = configurations.iter().map(|costs| costs.means).collect();
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
pub(crate) fn intervals(configurations: &[Costs], runs: usize, number: usize) -> Vec<Interval> {
    let resampled = resamples(configurations, number).into_iter();
    resampled
        .map(|figures| ends(figures, runs, (runs - 1) as f64))
        .collect()
}

/// The most figures of resamples of all configurations together: 64 MiB.
const MOST_FIGURES: usize = 1 << 23;

/// The least number of resamples. A workload with very many configurations has no more.
const LEAST_RESAMPLES: usize = 1000;

/// For each configuration, its overhead in each resample of all configurations.
fn resamples(configurations: &[Costs], resamples: usize) -> Vec<Vec<f64>> {
    let resamples = resamples.min((MOST_FIGURES / configurations.len()).max(LEAST_RESAMPLES));
    let mut resampler = Resampler::new();
    let mut figures = vec![Vec::with_capacity(resamples); configurations.len()];
    let mut drawn = Vec::new();
    let mut all = Vec::new();
    for _ in 0..resamples {
        all.clear();
        all.extend(
            configurations
                .iter()
                .map(|costs| costs.draw(&mut resampler, &mut drawn)),
        );
        let baseline = least(&all).map_or(f64::NAN, |(_, cost)| cost);
        for (of, (total, _)) in figures.iter_mut().zip(&all) {
            of.push(total / baseline);
        }
    }
    figures
}

/// The mean cost of some runs, and the mean without collections.
fn means(costs: &[Cost], runs: impl ExactSizeIterator<Item = usize>) -> (f64, f64) {
    let n = runs.len() as f64;
    let (mut total, mut rest) = (0.0, 0.0);
    for run in runs {
        total += costs[run].total;
        rest += costs[run].total - costs[run].collections;
    }
    (total / n, rest / n)
}

/// The distribution of both means of a resample of many runs: they are normal, and go together.
#[derive(Debug, Clone, Copy)]
struct Means {
    total: f64,
    rest: f64,
    /// The standard error of `total`.
    error: f64,
    /// The part of the error of `rest` that goes with that of `total`, and the other part.
    together: f64,
    alone: f64,
}

impl Means {
    /// The distribution, if there are [`MANY`] runs.
    fn of_many(costs: &[Cost]) -> Option<Means> {
        let n = costs.len();
        if n < MANY {
            return None;
        }
        let (total, rest) = means(costs, 0..n);
        let (mut square, mut square_rest, mut product) = (0.0, 0.0, 0.0);
        for cost in costs {
            let (of_total, of_rest) = (cost.total - total, cost.total - cost.collections - rest);
            square += of_total * of_total;
            square_rest += of_rest * of_rest;
            product += of_total * of_rest;
        }
        let [square, square_rest, product] = [square, square_rest, product].map(|sum| sum / n as f64 / (n - 1) as f64);
        let error = square.sqrt();
        let together = if error > 0.0 { product / error } else { 0.0 };
        Some(Means {
            total,
            rest,
            error,
            together,
            alone: (square_rest - together * together).max(0.0).sqrt(),
        })
    }

    /// The means of a resample.
    fn draw(&self, resampler: &mut Resampler) -> (f64, f64) {
        let (one, other) = (resampler.normal(), resampler.normal());
        let rest = self.rest + self.together * one + self.alone * other;
        (self.total + self.error * one, rest)
    }
}

/// The configuration with the least cost without collections, and that cost.
fn least(all: &[(f64, f64)]) -> Option<(usize, f64)> {
    let rests = all.iter().enumerate().map(|(index, (_, rest))| (index, *rest));
    rests.min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(runs: &[(f64, f64)]) -> Costs {
        let cost = |(total, collections): &(f64, f64)| Cost {
            total: *total,
            collections: *collections,
        };
        Costs::of(runs.iter().map(cost).collect()).expect("runs")
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

    /// Intervals of many runs are those of resamples of single runs, also where the cost and the
    /// cost without collections go together, as those of one configuration do.
    #[test]
    fn intervals_of_many_runs_are_those_of_resamples() {
        let mut noise = crate::inference::noise::Noise::new(5);
        let mut runs = |n: usize, mean: f64| -> Vec<Cost> {
            let mut cost = || {
                let collections = 0.3 + 0.1 * noise.normal();
                let total = mean + collections + 0.1 * noise.normal();
                Cost { total, collections }
            };
            (0..n).map(|_| cost()).collect()
        };
        let configurations = [runs(MANY, 1.0), runs(MANY, 1.1)];
        let single = |costs: &Vec<Cost>, resampler: &mut Resampler| {
            let mut drawn = vec![0; costs.len()];
            resampler.draw(costs.len(), &mut drawn);
            means(costs, drawn.into_iter())
        };
        let mut resampler = Resampler::new();
        let mut figures = [Vec::new(), Vec::new()];
        for _ in 0..RESAMPLES {
            let all: Vec<(f64, f64)> = configurations
                .iter()
                .map(|costs| single(costs, &mut resampler))
                .collect();
            let baseline = least(&all).expect("two").1;
            for (of, (total, _)) in figures.iter_mut().zip(&all) {
                of.push(total / baseline);
            }
        }
        let costs = configurations.map(|costs| Costs::of(costs).expect("runs"));
        let found = intervals(&costs, MANY, RESAMPLES);
        for (found, figures) in found.iter().zip(figures) {
            let wanted = ends(figures, MANY, (MANY - 1) as f64);
            // The ends of 10,000 resamples scatter by 1 % of the width.
            let most = 0.03 * (wanted.high - wanted.low);
            assert!((found.low - wanted.low).abs() < most, "{found:?} {wanted:?}");
            assert!((found.high - wanted.high).abs() < most, "{found:?} {wanted:?}");
        }
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
        assert!(Costs::of(Vec::new()).is_none());
        assert_eq!(lower_bound_overheads(&[]), None);
        assert_eq!(lower_bound_overheads(&[costs(&[(1.0, 1.0); 3])]), None);
    }
}
