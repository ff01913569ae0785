//! The coverage of the intervals in reports. The random numbers are seeded, so every run of the
//! tests counts the same.

use super::assert_in_reference;
use crate::inference::bootstrap::{ends, percentiles, runs_for_percentile};
use crate::inference::effect::{Effect, Order};
use crate::inference::noise::Noise;
use std::fmt::Write;

/// The table's numbers of runs.
const RUNS: [usize; 7] = [3, 4, 5, 7, 10, 20, 50];

/// Resamples for each interval. Reports use ten times as many, which changes the ends little.
const RESAMPLES: usize = 1000;

/// Pauses in each run.
const PAUSES: usize = 100;

/// A distribution of the noise of a run's time.
#[derive(Debug, Clone, Copy)]
enum Times {
    /// Normal, with a deviation of 5 % of the mean.
    Normal,
    /// Log-normal, with a deviation of 0.25 in the logarithm: a skewness of 0.78.
    Skewed,
    /// One run in ten is disturbed: longer by 0.3 times a Pareto variable with exponent 2.5.
    HeavyTail,
    /// 15 % of the runs take 20 % longer.
    TwoModes,
}

impl Times {
    const ALL: [(Times, &'static str); 4] = [
        (Times::Normal, "normal"),
        (Times::Skewed, "skewed"),
        (Times::HeavyTail, "heavy tail"),
        (Times::TwoModes, "two modes"),
    ];

    fn time(self, noise: &mut Noise) -> f64 {
        let even = 1.0 + 0.02 * noise.normal();
        match self {
            Times::Normal => 1.0 + 0.05 * noise.normal(),
            Times::Skewed => (0.25 * noise.normal()).exp(),
            Times::HeavyTail if noise.uniform() < 0.1 => even * (1.0 + 0.3 * (1.0 - noise.uniform()).powf(-0.4)),
            Times::TwoModes if noise.uniform() < 0.15 => even * 1.2,
            Times::HeavyTail | Times::TwoModes => even,
        }
    }

    fn sample(self, n: usize, scale: f64, noise: &mut Noise) -> Vec<(u32, f64)> {
        (0..n as u32).map(|round| (round, scale * self.time(noise))).collect()
    }

    fn effect(self, n: usize, ratio: f64, order: Order, noise: &mut Noise) -> Effect {
        let (base, new) = (self.sample(n, 1.0, noise), self.sample(n, ratio, noise));
        Effect::of(&base, &new, order).expect("an effect")
    }
}

/// The share of trials whose interval contains the true value.
fn share(n: usize, trials: usize, mut covers: impl FnMut(&mut Noise) -> bool) -> f64 {
    let mut noise = Noise::new(n as u128 + 1);
    let covered = (0..trials).filter(|_| covers(&mut noise)).count();
    covered as f64 / trials as f64
}

fn covers(effect: &Effect, truth: f64) -> bool {
    effect.ci95().is_some_and(|ci| ci.contains(truth))
}

fn effect(times: Times, order: Order, n: usize, trials: usize) -> f64 {
    share(n, trials, |noise| covers(&times.effect(n, 1.03, order, noise), 1.03))
}

/// Three workloads with true ratios of 0.9, 1 and 1.2.
fn mean(times: Times, n: usize, trials: usize) -> f64 {
    let ratios = [0.9f64, 1.0, 1.2];
    share(n, trials, |noise| {
        let effects = ratios.map(|ratio| times.effect(n, ratio, Order::Interleaved, noise));
        covers(
            &Effect::mean(&effects).expect("effects"),
            ratios.iter().product::<f64>().cbrt(),
        )
    })
}

/// The percentile of the pauses of `n` runs. Part of a pause's length is common to all pauses of
/// its run.
fn percentile(percent: f64, n: usize, trials: usize) -> f64 {
    // The logarithm of a pause is the sum of a part for the run and one for the pause.
    let (of_run, of_pause) = (0.1, 0.5);
    let z = if percent == 50.0 { 0.0 } else { 2.326_347_874_040_841 };
    let truth = 1e6 * (f64::hypot(of_run, of_pause) * z).exp();
    share(n, trials, |noise| {
        let run = |noise: &mut Noise| {
            let shared = of_run * noise.normal();
            let pause = |_| (1e6 * (shared + of_pause * noise.normal()).exp()) as u64;
            let mut pauses: Vec<u64> = (0..PAUSES).map(pause).collect();
            pauses.sort_unstable();
            pauses
        };
        let runs: Vec<Vec<u64>> = (0..n).map(|_| run(noise)).collect();
        ends(percentiles(&runs, &[percent], RESAMPLES).remove(0), n).contains(truth)
    })
}

/// A row of the table: the interval, the number of runs that reports require, and the coverage by
/// number of runs.
type Row = (String, usize, Vec<f64>);

fn rows(trials: usize, trials_by_resamples: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (times, name) in Times::ALL {
        let row = |what: &str, share: &dyn Fn(usize) -> f64| (format!("{what}, {name}"), 3, RUNS.map(share).to_vec());
        rows.push(row("effect in pairs", &|n| {
            effect(times, Order::Interleaved, n, trials)
        }));
        rows.push(row("effect without pairs", &|n| {
            effect(times, Order::Sequential, n, trials)
        }));
        rows.push(row("mean of three effects", &|n| mean(times, n, trials)));
    }
    for percent in [50.0, 99.0] {
        let share = |n| percentile(percent, n, trials_by_resamples);
        rows.push((
            format!("{percent} % of pooled pauses"),
            runs_for_percentile(percent),
            RUNS.map(share).to_vec(),
        ));
    }
    rows
}

fn table(rows: &[Row]) -> String {
    let mut text = "Percent of experiments whose 95 % interval contains the true value: \
                    `UPDATE_DOCS=1 cargo test --release -p gclab-report -- --ignored`.\n\n| interval of | from |"
        .to_owned();
    RUNS.iter().for_each(|n| write!(text, " {n} runs |").expect("a string"));
    text.push_str(&format!("\n|:--|--:|{}\n", "--:|".repeat(RUNS.len())));
    for (name, from, shares) in rows {
        write!(text, "| {name} | {from} |").expect("a string");
        shares
            .iter()
            .for_each(|share| write!(text, " {:.1} |", share * 100.0).expect("a string"));
        text.push('\n');
    }
    text
}

/// The shares below `least` for which reports would show the interval.
fn faults(rows: &[Row], least: f64) -> Vec<String> {
    let shown = |(name, from, shares): &Row| {
        let low = RUNS
            .into_iter()
            .zip(shares)
            .filter(|(n, share)| n >= from && **share < least);
        low.map(|(n, share)| format!("{name}, {n} runs: {share}"))
            .collect::<Vec<_>>()
    };
    rows.iter().flat_map(shown).collect()
}

/// Every interval in a report contains the true value in at least nine of ten cases, whatever the
/// noise.
#[test]
#[ignore = "simulates thousands of experiments"]
fn intervals_cover_as_often_as_promised() {
    let rows = rows(4000, 1000);
    assert_eq!(faults(&rows, 0.9), Vec::<String>::new(), "{}", table(&rows));
    assert_in_reference("coverage.md", &table(&rows));
}

/// The same with few experiments, enough to reveal a mistake in a formula.
#[test]
fn intervals_cover() {
    let rows = rows(300, 40);
    assert_eq!(faults(&rows, 0.82), Vec::<String>::new(), "{}", table(&rows));
}

/// With fewer runs than reports require, coverage would be below nine in ten.
#[test]
fn percentiles_of_few_runs_are_refused() {
    for percent in [50.0, 99.0] {
        let few = runs_for_percentile(percent) - 2;
        assert!(percentile(percent, few, 100) < 0.9, "{percent} % with {few} runs");
    }
}
