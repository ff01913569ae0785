//! Each formula against values from other sources: SciPy's t quantiles, and calculation by hand.

use crate::inference::order::{nearest_rank, quantile};
use crate::inference::ratio::{Welch, geometric_mean_of_ratios, ratio_of_means};
use crate::inference::sample::{Interval, Sample, Spread};

fn spread(values: &[f64]) -> Spread {
    Spread::of(values.iter().copied()).expect("values")
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn four_values_by_hand() {
    let s = spread(&[4.0, 1.0, 3.0, 2.0]);
    assert_eq!(
        (s.n, s.mean, s.median, s.min, s.max, s.q1, s.q3),
        (4, 2.5, 2.5, 1.0, 4.0, 1.75, 3.25)
    );
    close(s.deviation.expect("four values"), (5.0f64 / 3.0).sqrt());
    // t(0.975, 3) = 3.182446305284263; the relative standard error of the mean is s / (2.5 · 2).
    let half = 3.182_446_305_284_263 * (5.0f64 / 3.0).sqrt() / 2.0 / 2.5;
    let ci = s.ci95.expect("four values");
    close(ci.low, 2.5 * (-half).exp());
    close(ci.high, 2.5 * half.exp());
}

#[test]
fn few_values_claim_little() {
    let one = spread(&[7.0]);
    assert_eq!(
        (one.deviation, one.ci95, one.median, one.q1, one.q3),
        (None, None, 7.0, 7.0, 7.0)
    );
    let two = spread(&[1.0, 2.0]);
    assert!(two.deviation.is_some() && two.ci95.is_none());
    assert!(spread(&[1.0, 1.0, 1.0]).ci95 == Some(Interval { low: 1.0, high: 1.0 }));
}

#[test]
fn values_that_are_no_numbers_do_not_count() {
    assert_eq!(Spread::of([f64::NAN, f64::INFINITY]), None);
    assert_eq!(Spread::of([]), None);
    assert_eq!(spread(&[f64::NAN, 1.0, 3.0]).median, 2.0);
}

/// Times are not negative, however they scatter: the first sample's interval by plain t would begin
/// at -0.32 s.
#[test]
fn no_mean_has_a_negative_end() {
    for values in [
        &[0.05, 0.06, 0.41][..],
        &[0.001, 0.0012, 0.12],
        &[0.0, 0.0, 3.0],
        &[5e-324, 1.0, 2.0],
    ] {
        let s = spread(values);
        let ci = s.ci95.expect("three values");
        assert!(ci.low >= 0.0 && ci.contains(s.mean), "{values:?}: {ci:?}");
    }
    assert_eq!(spread(&[0.0; 3]).ci95, Some(Interval { low: 0.0, high: 0.0 }));
    let ratio = ratio_of_means(&spread(&[1.0, 1.1, 0.9]), &spread(&[0.05, 0.06, 0.41])).expect("a ratio");
    assert!(ratio.ci95.expect("an interval").low >= 0.0, "{ratio:?}");
}

#[test]
fn quantiles_interpolate() {
    let sorted = [10.0, 20.0, 40.0];
    assert_eq!(
        [0.0, 0.25, 0.5, 0.75, 1.0].map(|p| quantile(&sorted, p)),
        [10.0, 15.0, 20.0, 30.0, 40.0]
    );
}

#[test]
fn percentiles_are_observed_values() {
    let thousand: Vec<u64> = (1..=1000).collect();
    let at = |p| nearest_rank(&thousand, p);
    assert_eq!(
        [50.0, 90.0, 99.0, 99.9, 100.0].map(at),
        [Some(500), Some(900), Some(990), Some(999), Some(1000)]
    );
    assert_eq!(nearest_rank(&[3, 5, 8, 9, 11], 50.0), Some(8));
    assert_eq!(nearest_rank(&[3, 5, 8, 9, 11], 90.0), None, "it would be the greatest");
    assert_eq!(nearest_rank(&[3, 5, 8, 9], 50.0), Some(5));
    assert_eq!(nearest_rank(&[3], 0.0), Some(3));
    assert_eq!(nearest_rank::<u64>(&[], 50.0), None);
    assert_eq!(
        nearest_rank(&thousand[..999], 99.9),
        None,
        "99.9 % needs a thousand values"
    );
    for (p, needed) in [(90.0, 10), (99.0, 100), (99.99, 10_000)] {
        let values: Vec<u64> = (0..needed).collect();
        assert!(nearest_rank(&values, p).is_some(), "{p} of {needed}");
        assert_eq!(nearest_rank(&values[1..], p), None, "{p} of {}", needed - 1);
    }
    assert_eq!(nearest_rank(&[3], 50.0), Some(3), "a median needs one value");
}

#[test]
fn fieller_by_hand() {
    // Means 11 and 15, both s = 1, n = 3; t(0.975, 2) = 0.95 / √0.04875 = 4.302652729749464.
    let ratio = ratio_of_means(&spread(&[10.0, 11.0, 12.0]), &spread(&[14.0, 15.0, 16.0])).expect("a ratio");
    close(ratio.estimate, 15.0 / 11.0);
    let ci = ratio.ci95.expect("an interval");
    close(ci.low, 1.038119445736328);
    close(ci.high, 1.8357175471925888);
    // Unequal samples: 6 and 4 runs, 3 degrees of freedom.
    let base = spread(&[1.02, 0.98, 1.01, 0.99, 1.00, 1.03]);
    let ratio = ratio_of_means(&base, &spread(&[1.10, 1.13, 1.08, 1.12])).expect("a ratio");
    let ci = ratio.ci95.expect("an interval");
    close(ci.low, 1.0585393740994118);
    close(ci.high, 1.1467306627503941);
}

/// The ends of the interval satisfy its definition, (Y' - rY)² = h'² + r² h², too.
#[test]
fn fieller_ends_solve_their_equation() {
    let (base, new) = (spread(&[4.0, 5.0, 4.5, 4.4]), spread(&[6.0, 6.5, 5.8, 6.3]));
    let ci = ratio_of_means(&base, &new).and_then(|r| r.ci95).expect("an interval");
    let t2 = 3.182_446_305_284_263_f64.powi(2);
    let h2 = |s: &Spread| t2 * s.deviation.expect("runs").powi(2) / s.n as f64;
    for end in [ci.low, ci.high] {
        close((new.mean - end * base.mean).powi(2), h2(&new) + end * end * h2(&base));
    }
}

#[test]
fn no_ratio_without_a_base_and_no_interval_without_runs() {
    let runs = [1.0, 1.1, 0.9];
    assert_eq!(ratio_of_means(&spread(&[0.0, 0.0, 0.0]), &spread(&runs)), None);
    assert_eq!(
        ratio_of_means(&spread(&runs[..2]), &spread(&runs))
            .expect("a ratio")
            .ci95,
        None
    );
    // A base that cannot be told from 0: the interval would be unbounded.
    assert_eq!(
        ratio_of_means(&spread(&[0.1, 3.0, 0.2]), &spread(&runs))
            .expect("a ratio")
            .ci95,
        None
    );
    let equal = ratio_of_means(&spread(&[2.0; 3]), &spread(&[3.0; 3])).expect("a ratio");
    assert_eq!(equal.ci95, Some(Interval { low: 1.5, high: 1.5 }));
}

/// A sample with this number of runs, mean and deviation; its other fields do not matter.
fn sample(n: usize, mean: f64, deviation: f64) -> Spread {
    Spread {
        n,
        mean,
        deviation: Some(deviation),
        ..spread(&[mean])
    }
}

#[test]
fn the_mean_of_several_ratios_is_geometric_and_its_interval_welchs() {
    let pairs = [
        (sample(5, 1.0, 0.02), sample(5, 0.8, 0.03)),
        (sample(4, 2.0, 0.1), sample(6, 1.9, 0.05)),
    ];
    let welch = Welch::of(&pairs).expect("pairs");
    let ci = welch.interval().expect("enough runs");
    close((ci.low * ci.high).sqrt(), (0.8f64 * 0.95).sqrt());
    // 7.868344505555269 degrees of freedom: t = 2.312737625073326, by Simpson's rule over the
    // density.
    assert!((ci.low - 0.838_953_546_5).abs() < 1e-7, "{ci:?}");
    assert!((ci.high - 0.905_890_443_1).abs() < 1e-7, "{ci:?}");

    let steady = [(sample(3, 2.0, 0.0), sample(3, 1.0, 0.0))];
    let ci = Welch::of(&steady)
        .and_then(|welch| welch.interval())
        .expect("three runs");
    assert_eq!((ci.low, ci.high), (0.5, 0.5));
    let few = [pairs[0], (sample(2, 1.0, 0.1), sample(9, 1.0, 0.1))];
    assert_eq!(Welch::of(&few).expect("pairs").interval(), None);
    assert!(Welch::of(&[]).is_none());
    assert!(Welch::of(&[(sample(3, 0.0, 0.0), sample(3, 1.0, 0.1))]).is_none());
}

/// From ten runs on, the interval of a geometric mean is that of resamples: it lies close to
/// Welch's, and shows the skew of its samples.
#[test]
fn the_interval_of_a_geometric_mean_is_that_of_resamples() {
    let base: Vec<f64> = (0..12).map(|run| 1.0 + 0.02 * f64::from(run % 4)).collect();
    let mut new = base.clone();
    new[3] = 2.0;
    let (base, new) = (Sample::of(base).expect("runs"), Sample::of(new).expect("runs"));
    let ratio = geometric_mean_of_ratios(&[(&base, &new), (&base, &base)]).expect("pairs");
    let welch = Welch::of(&[(base.spread, new.spread), (base.spread, base.spread)]).expect("pairs");
    let (ci, even) = (ratio.ci95.expect("runs"), welch.interval().expect("runs"));
    assert!(
        ci != even && (ci.low - even.low).abs() < 0.04 && (ci.high - even.high).abs() < 0.04,
        "{ci:?} {even:?}"
    );
    assert!(
        ci.high / ratio.estimate > ratio.estimate / ci.low,
        "the sample is skewed to the right: {ci:?}"
    );
    let few = Sample::of([1.0, 1.1, 1.2]).expect("runs");
    let pair = [(&few, &few)];
    let of_few = geometric_mean_of_ratios(&pair).expect("a pair");
    assert_eq!(
        of_few.ci95,
        Welch::of(&[(few.spread, few.spread)]).expect("a pair").interval()
    );
}

/// The means of many runs are normal, so the interval of their resamples is Welch's.
#[test]
fn the_interval_of_a_geometric_mean_of_many_runs_is_welchs() {
    let many = |mean: f64| Sample::of((0..1500).map(|run| mean * (1.0 + 0.1 * f64::from(run % 7)))).expect("runs");
    let pairs = [(many(1.0), many(0.9)), (many(3.0), many(3.1))];
    let ratio = geometric_mean_of_ratios(&pairs.each_ref().map(|(base, new)| (base, new))).expect("pairs");
    let welch = Welch::of(&pairs.map(|(base, new)| (base.spread, new.spread))).expect("pairs");
    let (ci, even) = (ratio.ci95.expect("runs"), welch.interval().expect("runs"));
    // The ends of 10,000 resamples scatter by 1 % of the width.
    let most = 0.03 * (even.high - even.low);
    assert!((ci.low - even.low).abs() < most, "{ci:?} {even:?}");
    assert!((ci.high - even.high).abs() < most, "{ci:?} {even:?}");
}

/// The chance of a ratio is 5 % where an end of its interval is 1: both sides of that limit agree
/// with the interval.
#[test]
fn the_chance_of_a_ratio_agrees_with_its_interval() {
    let base = spread(&[10.0, 11.0, 12.0, 11.5]);
    for shift in [0.0, 0.5, 1.0, 1.5, 1.6, 1.7, 1.8, 2.0, 3.0] {
        let new = spread(&[10.2 + shift, 11.0 + shift, 12.1 + shift, 11.2 + shift]);
        let ratio = ratio_of_means(&base, &new).expect("a ratio");
        assert_eq!(ratio.differs(), ratio.chance.map(|chance| chance < 0.05), "{ratio:?}");
    }
    assert_eq!(
        ratio_of_means(&spread(&[1.0; 2]), &spread(&[2.0; 2]))
            .expect("a ratio")
            .chance,
        None
    );
}
