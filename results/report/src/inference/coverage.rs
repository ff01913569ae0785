//! How often does each interval contain the true value? Experiments with known answers, many times.
//!
//! The table of `docs/statistics.md` is made from these counts: `UPDATE_DOCS=1 cargo test -p
//! gclab-report`. They are seeded, so each run of the tests has the same counts.

use crate::inference::bootstrap::{
    RUNS_FOR_MEDIAN, between, ends, interval_of_median, interval_of_percentile, of_medians, percentiles,
    runs_for_percentile,
};
use crate::inference::noise::Noise;
use crate::inference::overhead::{Cost, Costs, RUNS_FOR_OVERHEAD, intervals};
use crate::inference::pages::assert_in_docs;
use crate::inference::ratio::{geometric_mean_by, ratio_of_means};
use crate::inference::sample::{Interval, Sample, Spread};
use std::fmt::Write;

/// The numbers of runs of the table.
const RUNS: [usize; 7] = [3, 4, 5, 7, 10, 20, 50];

/// Experiments for each share of an interval by a formula.
const TRIALS: usize = 2000;

/// Experiments for each share of an interval by resamples, which take longer.
const TRIALS_BY_RESAMPLES: usize = 1000;

/// Resamples of each interval. Reports have ten times as many, which changes the ends little.
const RESAMPLES: usize = 1000;

/// Pauses of each run.
const PAUSES: usize = 100;

/// A distribution of the time of a run; its mean and median are known.
#[derive(Clone, Copy)]
enum Times {
    /// Normal, with a deviation of 5 % of the mean.
    Even,
    /// Log-normal, with a deviation of 0.25 of the logarithm: a skewness of 0.78.
    Skewed,
}

impl Times {
    const ALL: [(Times, &'static str); 2] = [(Times::Even, "normal"), (Times::Skewed, "skewed")];

    fn time(self, noise: &mut Noise) -> f64 {
        match self {
            Times::Even => 1.0 + 0.05 * noise.normal(),
            Times::Skewed => (0.25 * noise.normal()).exp(),
        }
    }

    fn mean(self) -> f64 {
        match self {
            Times::Even => 1.0,
            Times::Skewed => (0.25f64 * 0.25 / 2.0).exp(),
        }
    }

    fn sample(self, n: usize, scale: f64, noise: &mut Noise) -> Sample {
        let times: Vec<f64> = (0..n).map(|_| scale * self.time(noise)).collect();
        Sample::of(times).expect("runs")
    }
}

/// The share of trials whose interval contains the true value.
fn share(n: usize, trials: usize, mut covers: impl FnMut(&mut Noise) -> bool) -> f64 {
    let mut noise = Noise::new(n as u128 + 1);
    let covered = (0..trials).filter(|_| covers(&mut noise)).count();
    covered as f64 / trials as f64
}

fn mean(times: Times, n: usize) -> f64 {
    share(n, TRIALS, |noise| {
        let spread: Spread = times.sample(n, 1.0, noise).spread;
        spread.ci95.expect("three runs").contains(times.mean())
    })
}

fn ratio(times: Times, n: usize) -> f64 {
    share(n, TRIALS, |noise| {
        let (base, new) = (times.sample(n, 1.0, noise), times.sample(n, 1.03, noise));
        let ratio = ratio_of_means(&base.spread, &new.spread).expect("a ratio");
        // A base that cannot be told from 0 has no interval; here it has not happened.
        ratio.ci95.is_some_and(|ci| ci.contains(1.03))
    })
}

/// Three workloads whose true ratios are 0.9, 1 and 1.2.
fn geometric_mean(times: Times, n: usize) -> f64 {
    let ratios: [f64; 3] = [0.9, 1.0, 1.2];
    let truth = ratios.iter().product::<f64>().cbrt();
    share(n, TRIALS_BY_RESAMPLES, |noise| {
        let samples = ratios.map(|ratio| (times.sample(n, 1.0, noise), times.sample(n, ratio, noise)));
        let pairs: Vec<(&Sample, &Sample)> = samples.iter().map(|(base, new)| (base, new)).collect();
        let found = geometric_mean_by(&pairs, RESAMPLES).expect("pairs");
        found.ci95.expect("three runs").contains(truth)
    })
}

/// Both distributions have the median 1.
fn median(times: Times, n: usize) -> f64 {
    share(n, TRIALS_BY_RESAMPLES, |noise| {
        let sample = times.sample(n, 1.0, noise);
        of_medians(&sample.values, RESAMPLES).contains(1.0)
    })
}

/// The percentile of the pauses of `n` runs. Pauses of one run share a part of their length.
fn percentile(percent: f64, interval: fn(Vec<f64>, usize) -> Interval, n: usize) -> f64 {
    // The logarithm of a pause is the sum of a part of the run and a part of its own.
    let (of_run, of_pause) = (0.1, 0.5);
    let deviation = f64::hypot(of_run, of_pause);
    let z = if percent == 50.0 { 0.0 } else { 2.326_347_874_040_841 };
    let truth = 1e6 * (deviation * z).exp();
    share(n, TRIALS_BY_RESAMPLES, |noise| {
        let run = |noise: &mut Noise| {
            let shared = of_run * noise.normal();
            let pause = |_| (1e6 * (shared + of_pause * noise.normal()).exp()) as u64;
            let mut pauses: Vec<u64> = (0..PAUSES).map(pause).collect();
            pauses.sort_unstable();
            pauses
        };
        let runs: Vec<Vec<u64>> = (0..n).map(|_| run(noise)).collect();
        let figures = percentiles(&runs, &[percent], RESAMPLES).remove(0);
        interval(figures, n).contains(truth)
    })
}

fn plain(figures: Vec<f64>, _: usize) -> Interval {
    between(figures, 0.025)
}

fn expanded(figures: Vec<f64>, n: usize) -> Interval {
    ends(figures, n, (n - 1) as f64)
}

/// Three configurations; the second has the least cost without collections.
fn overhead(times: Times, n: usize) -> f64 {
    let parts = [(1.0, 0.3), (0.8, 0.05), (1.2, 0.1)];
    share(n, TRIALS_BY_RESAMPLES, |noise| {
        let configurations = parts.map(|(program, collections)| {
            let costs = (0..n).map(|_| {
                let collections = collections * times.time(noise);
                Cost {
                    total: program * times.time(noise) + collections,
                    collections,
                }
            });
            Costs::of(costs.collect()).expect("runs")
        });
        intervals(&configurations, n, RESAMPLES)[0].contains(1.3 / 0.8)
    })
}

/// A row of the table: the figure, its coverage by the number of runs, and the number from which on
/// reports have the interval; absent for an interval that others are compared with.
struct Row {
    figure: String,
    from: Option<usize>,
    shares: Vec<f64>,
}

/// The share of experiments that an interval covers, by the number of runs.
type Share = Box<dyn Fn(usize) -> f64 + Send>;

fn rows() -> Vec<Row> {
    let mut measured: Vec<(String, Option<usize>, Share)> = Vec::new();
    let mut add = |figure: String, from: usize, share: Share| {
        measured.push((figure, Some(from).filter(|from| *from > 0), share));
    };
    for (times, name) in Times::ALL {
        add(format!("mean, {name}"), 3, Box::new(move |n| mean(times, n)));
        add(format!("ratio of means, {name}"), 3, Box::new(move |n| ratio(times, n)));
        add(
            format!("geometric mean of three ratios, {name}"),
            3,
            Box::new(move |n| geometric_mean(times, n)),
        );
        add(
            format!("lower-bound overhead, {name}"),
            RUNS_FOR_OVERHEAD,
            Box::new(move |n| overhead(times, n)),
        );
        add(
            format!("median of runs, {name}"),
            RUNS_FOR_MEDIAN,
            Box::new(move |n| median(times, n)),
        );
    }
    for percent in [50.0, 99.0] {
        let figure = format!("{percent} % of pooled pauses");
        let from = runs_for_percentile(percent);
        add(
            figure.clone(),
            from,
            Box::new(move |n| percentile(percent, expanded, n)),
        );
        add(
            format!("{figure}, plain quantiles of resamples"),
            0,
            Box::new(move |n| percentile(percent, plain, n)),
        );
    }
    // Each share has a source of random numbers of its own, so the order does not matter.
    std::thread::scope(|scope| {
        let threads = measured.into_iter().map(|(figure, from, share)| {
            scope.spawn(move || Row {
                figure,
                from,
                shares: RUNS.map(share).to_vec(),
            })
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a row"))
            .collect()
    })
}

fn table(rows: &[Row]) -> String {
    let mut text = "| interval of a | in reports |".to_owned();
    RUNS.iter().for_each(|n| write!(text, " {n} runs |").expect("a string"));
    text.push_str("\n|:--|:--|");
    text.push_str(&"--:|".repeat(RUNS.len()));
    for row in rows {
        let from = row
            .from
            .map_or("never".to_owned(), |from| format!("from {from} runs on"));
        write!(text, "\n| {} | {from} |", row.figure).expect("a string");
        for share in &row.shares {
            write!(text, " {:.1} |", share * 100.0).expect("a string");
        }
    }
    text
}

/// Intervals of means, ratios and geometric means contain the true value as often as promised from
/// ten runs on; no interval of a report contains it in fewer than nine of ten cases.
#[test]
fn intervals_cover_as_often_as_promised() {
    let rows = rows();
    let mut faults = Vec::new();
    for row in &rows {
        let Some(from) = row.from else { continue };
        for (n, share) in RUNS.into_iter().zip(&row.shares) {
            let by_formula = row.figure.contains("mean");
            let promised = if by_formula && n >= 10 { 0.93..=0.97 } else { 0.9..=1.0 };
            if n >= from && !promised.contains(share) {
                faults.push(format!("{}, {n} runs: {share}", row.figure));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}\n{}", table(&rows));
    assert_in_docs("coverage", table(&rows).trim_end());
}

/// With one run less than reports ask for, fewer than nine of ten intervals would cover: the limits
/// are no larger than they have to be, and no interval is shown below them.
#[test]
fn figures_are_refused_where_they_would_not_cover() {
    let few = RUNS_FOR_MEDIAN - 1;
    assert!(median(Times::Even, few) < 0.9 && interval_of_median(&vec![1.0; few]).is_none());
    let few = RUNS_FOR_OVERHEAD - 1;
    assert!(overhead(Times::Even, few) < 0.9);
    for percent in [50.0, 99.0] {
        let few = runs_for_percentile(percent) - 1;
        let share = percentile(percent, expanded, few);
        assert!(share < 0.9, "{percent} % with {few} runs: {share}");
        assert_eq!(interval_of_percentile(&vec![vec![1]; few], &[percent]), [None]);
    }
}
