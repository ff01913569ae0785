//! Conclusions from samples of runs: intervals, ratios, changes, the number of runs that are
//! needed, drift and outliers.
//!
//! This module knows no records, no collectors and no formats: it takes numbers and returns numbers.
//! Reports, `gclab compare` and sweeps share it.
//!
//! Terms: a *figure* is one number of one run. A *run* is one process, and the unit of all
//! statistics: the events inside a run are not independent. A *sample* is a figure over the runs
//! of one configuration. A *resample* is a sample of the same size, drawn from a sample with
//! replacement.
//!
//! From the ground up:
//!
//! - `distributions`: Student's t and the normal distribution;
//! - `order`: quantiles and percentiles of sorted values;
//! - `sample`: a figure over the runs of a configuration, and the interval of its mean;
//! - `bootstrap`: intervals of medians and percentiles, by resamples of runs;
//! - `ratio`: ratios of means (Fieller), and their geometric mean over several workloads;
//! - `change`: the change of a figure between two samples, in pairs where both have the same
//!   rounds;
//! - `pooled`: ratios of configurations with few runs each, by a spread that all share;
//! - `cholesky` and `surface`: the figures of settings of a grid with few runs each, by what their
//!   flags have in common;
//! - `several`: which of several findings remain when they are judged together;
//! - `runs`: how many runs it takes;
//! - `outliers` and `drift`: runs that stand apart, and figures that depend on the time of the run;
//! - `history`: where a figure changes in a series of folders, and by how much;
//! - `overhead`: the lower bound of the cost of garbage collection.
//!
//! `coverage.rs` measures how often each interval contains the true value;
//! `docs/statistics.md` has the table, the formulas and the sources.

mod bootstrap;
mod change;
mod cholesky;
#[cfg(test)]
mod coverage;
mod distributions;
mod drift;
pub mod effect;
#[cfg(test)]
mod formulas;
mod history;
mod noise;
mod order;
mod outliers;
mod overhead;
#[cfg(test)]
mod pages;
mod pooled;
mod ratio;
mod runs;
mod sample;
mod several;
mod surface;

pub use bootstrap::{RUNS_FOR_MEDIAN, interval_of_median, interval_of_percentile, runs_for_percentile};
pub use change::{Change, Rounds};
pub use drift::{Drift, Trend};
pub use history::{Levels, POINTS_FOR_CHANGES, Point, changes, large, last_change, levels};
pub use order::{nearest_rank, quantile};
pub use outliers::{RUNS_FOR_OUTLIERS, outliers};
pub use overhead::{Cost, Costs, Overheads, RUNS_FOR_OVERHEAD, lower_bound_overheads};
pub use pooled::Pooled;
pub use ratio::{RUNS_FOR_BOOTSTRAP, Ratio, geometric_mean_of_ratios, ratio_of_means};
pub use runs::{LEAST_DIFFERENCE, MOST_RUNS, difference_of, log_variance, runs_for, runs_needed};
pub use sample::{Interval, RUNS_FOR_INTERVAL, Sample, Spread};
pub use several::{FALSE_SHARE, findings};
pub use surface::{Estimate, Runs, estimates, without_disturbances};
