//! Conclusions from samples of runs: intervals, ratios, changes, the number of runs that are
//! needed, drift and outliers.
//!
//! This module knows nothing about records, collectors or formats: it takes numbers and returns
//! numbers. Reports, `gclab compare` and sweeps share it.
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
//! - `sample`: a figure over the runs of a configuration;
//! - `effect`: the effect size of reports, comparisons and tuning, and its interval;
//! - `bootstrap`: intervals of percentiles, by resamples of runs;
//! - `several`: which findings remain when several are judged together;
//! - `runs`: how many runs it takes;
//! - `outliers` and `drift`: outlying runs, and figures that depend on the time of the run;
//! - `history`: where a figure changes in a series of folders, and by how much.
//!
//! The tests measure how often each interval contains the true value;
//! `results/reference/coverage.md` has the table.

mod bootstrap;
mod distributions;
mod drift;
mod effect;
mod history;
mod noise;
mod order;
mod outliers;
mod runs;
mod sample;
mod several;
#[cfg(test)]
mod tests;

pub use bootstrap::{interval_of_percentile, runs_for_percentile};
pub use drift::{Drift, Trend};
pub use effect::{Advice, Effect, Order, Rounds};
pub use history::{Levels, POINTS_FOR_CHANGES, Point, changes, large, last_change, levels, scatter};
pub use order::nearest_rank;
pub use outliers::{RUNS_FOR_OUTLIERS, outliers};
pub use runs::runs_needed;
pub use sample::{Interval, RUNS_FOR_INTERVAL, Spread};
pub use several::findings;
