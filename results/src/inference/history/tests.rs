//! Known changes, changes found by another program, and how often noise passes for a change.

use super::partition::{Sums, partitions};
use super::statistic::{extra, strongest};
use super::{Point, chance, changes, large, last_change, levels};
use crate::inference::noise::Noise;

/// The annual flow of the Nile at Aswan from 1871 to 1970 (Cobb, 1978), which drops with the dam of
/// 1898.
const NILE: [f64; 100] = [
    1120.0, 1160.0, 963.0, 1210.0, 1160.0, 1160.0, 813.0, 1230.0, 1370.0, 1140.0, 995.0, 935.0, 1110.0, 994.0, 1020.0,
    960.0, 1180.0, 799.0, 958.0, 1140.0, 1100.0, 1210.0, 1150.0, 1250.0, 1260.0, 1220.0, 1030.0, 1100.0, 774.0, 840.0,
    874.0, 694.0, 940.0, 833.0, 701.0, 916.0, 692.0, 1020.0, 1050.0, 969.0, 831.0, 726.0, 456.0, 824.0, 702.0, 1120.0,
    1100.0, 832.0, 764.0, 821.0, 768.0, 845.0, 864.0, 862.0, 698.0, 845.0, 744.0, 796.0, 1040.0, 759.0, 781.0, 865.0,
    845.0, 944.0, 984.0, 897.0, 822.0, 1010.0, 771.0, 676.0, 649.0, 846.0, 812.0, 742.0, 801.0, 1040.0, 860.0, 874.0,
    848.0, 890.0, 744.0, 749.0, 838.0, 1050.0, 918.0, 986.0, 797.0, 923.0, 975.0, 815.0, 1020.0, 906.0, 901.0, 1170.0,
    912.0, 746.0, 919.0, 718.0, 714.0, 740.0,
];

/// A folder's point with one run.
fn single(value: f64) -> Point {
    Point::of(&[value]).expect("a value")
}

fn of(values: &[f64]) -> Vec<Point> {
    values.iter().map(|value| single(*value)).collect()
}

/// The partitions that R's strucchange prints for `breakpoints(Nile ~ 1)`, with at least 15 points
/// in each level: positions, and sums of squares.
#[test]
fn partitions_are_those_of_strucchange() {
    let found = partitions(&Sums::of(&NILE), 4, 15);
    let known: [(&[usize], f64); 5] = [
        (&[], 2_835_157.0),
        (&[28], 1_597_457.0),
        (&[28, 83], 1_552_924.0),
        (&[28, 68, 83], 1_538_097.0),
        (&[28, 45, 68, 83], 1_507_888.0),
    ];
    for (found, (starts, squares)) in found.iter().zip(known) {
        assert_eq!((&found.starts[..], found.squares.round()), (starts, squares));
    }
    assert_eq!(found.len(), 5);
    assert_eq!(
        partitions(&Sums::of(&NILE[..20]), 4, 15).len(),
        1,
        "too short for a change"
    );
}

/// One change, in 1899, as in strucchange and Cobb's paper; means are of logarithms.
#[test]
fn the_nile_changes_once() {
    let points = of(&NILE);
    let found = levels(&points).expect("a hundred years");
    assert_eq!(found.starts, [28]);
    assert!(found.chance <= 0.001, "{}", found.chance);
    let (at, change) = changes(&points, &found.starts)[0];
    let geometric = |years: &[f64]| (years.iter().map(|flow| flow.ln()).sum::<f64>() / years.len() as f64).exp();
    assert!((change.base / geometric(&NILE[..28]) - 1.0).abs() < 1e-12 && at == 28);
    assert!((change.new / geometric(&NILE[28..]) - 1.0).abs() < 1e-12);
    // Student's interval for two samples with equal variance: t(0.975, 98) = 1.984467454.
    let ci = change.interval(0.95).expect("a hundred points");
    assert!(
        (ci.low - 0.723700509).abs() < 1e-6 && (ci.high - 0.822994711).abs() < 1e-6,
        "{ci:?}"
    );
}

/// A regression that was fixed: both changes show, although one alone fits no better than noise.
#[test]
fn a_change_that_was_undone_shows() {
    let noise = [0.1, -0.2, 0.15, -0.05, 0.2, -0.1, 0.05, -0.15, 0.12, -0.08, 0.02, -0.04];
    let level = |at: usize| if (4..8).contains(&at) { 3.0f64 } else { 0.0 };
    let values: Vec<f64> = (0..12).map(|at| ((level(at) + noise[at]) * 0.01).exp()).collect();
    let points = of(&values);
    let found = levels(&points).expect("twelve points");
    assert_eq!(found.starts, [4, 8]);
    assert!(found.chance < 0.001, "{}", found.chance);
    let sizes: Vec<f64> = changes(&points, &found.starts)
        .iter()
        .map(|(_, change)| change.ratio())
        .collect();
    assert!(
        (sizes[0] - 1.03).abs() < 0.002 && (sizes[1] - 0.97).abs() < 0.002,
        "{sizes:?}"
    );
    assert_eq!(large(&points, &found.starts, 0.02), [4, 8]);
    assert_eq!(large(&points, &found.starts, 0.05), Vec::<usize>::new());
}

/// Each folder is slightly slower, and no single step reaches the threshold, but the steps together
/// do.
#[test]
fn a_slow_creep_becomes_changes_that_count() {
    let values: Vec<f64> = (0..12).map(|at| 1.015f64.powi(at)).collect();
    let points = of(&values);
    let starts = large(&points, &(1..12).collect::<Vec<_>>(), 0.03);
    let found = changes(&points, &starts);
    assert!(found.len() >= 2, "{starts:?}");
    assert!(found.iter().all(|(_, change)| change.ratio() >= 1.03), "{found:?}");
}

/// The last of five folders with three runs each. It is alone in its level, so it is compared with
/// the level before. With a difference of logarithms of 0.1, and runs that deviate by 0.01 from
/// each mean, the variance of a mean is 0.0001 / 3, with 10 degrees of freedom.
#[test]
fn the_last_folder_by_hand() {
    let folder = |log: f64| Point::of(&[-0.01f64, 0.0, 0.01].map(|by| (log + by).exp())).expect("runs");
    let points: Vec<Point> = [0.5, 0.0, 0.0, 0.0, 0.1].map(folder).to_vec();
    let last = last_change(&points, &[1]).expect("points");
    assert!((last.ratio().ln() - 0.1).abs() < 1e-12);
    // Two degrees of freedom of the folders are too few, so the scatter of the runs counts twice.
    let half = 2.0 * 2.228_138_851_964_939 * (0.0001 / 3.0 * (1.0 + 1.0 / 3.0f64)).sqrt();
    let ci = last.interval(0.95).expect("runs");
    assert!((ci.high.ln() - 0.1 - half).abs() < 1e-9, "{ci:?} {half}");
    assert_eq!(
        last_change(&points, &[1, 4]),
        Some(last),
        "a level of its own changes nothing"
    );
    assert_eq!(last_change(&points[..1], &[]), None);
    assert_eq!(
        last_change(&of(&[1.0, 1.1]), &[]).and_then(|change| change.interval(0.95)),
        None,
        "one run each"
    );
}

/// Folders scatter more than their runs: their own scatter counts from three degrees of freedom.
#[test]
fn the_scatter_of_folders_widens_intervals() {
    let folder = |log: f64| Point::of(&[-0.001f64, 0.0, 0.001].map(|by| (log + by).exp())).expect("runs");
    let steady: Vec<Point> = [0.0; 7].map(folder).to_vec();
    let restless: Vec<Point> = [0.0, 0.03, -0.03, 0.02, -0.02, 0.03, -0.03].map(folder).to_vec();
    let width = |points: &[Point]| {
        let ci = last_change(points, &[])
            .and_then(|change| change.interval(0.95))
            .expect("runs");
        ci.high / ci.low - 1.0
    };
    assert!(width(&steady) < 0.01 && width(&restless) > 0.1);
    assert!(width(&restless[..4]) < 0.01, "too few folders to know");
}

#[test]
fn short_and_equal_series_have_no_levels() {
    assert_eq!(levels(&of(&[1.0, 2.0, 2.0])), None);
    assert_eq!(levels(&of(&[2.0; 30])), None);
    assert_eq!((Point::of(&[]), Point::of(&[1.0, 0.0])), (None, None));
    // Exact steps, as in counts: no scatter remains, and the chance is as small as it gets.
    let found = levels(&of(&[19.0, 19.0, 19.0, 19.0, 20.0, 20.0, 20.0])).expect("a step");
    assert_eq!(found.starts, [4]);
    assert!(found.chance <= 0.001, "{}", found.chance);
}

/// With one change, the statistic is the largest t² over all positions. Alexandersson's homogeneity
/// test uses it in the form (n - 1) t² / (n - 2 + t²). The printed quantiles at 95 % are 6.95 for
/// 20 points, 8.45 for 50 and 9.15 for 100 (Alexandersson and Moberg, 1997); they were simulated,
/// too.
#[test]
fn chances_are_those_of_printed_tables() {
    for (points, printed) in [(20, 6.95), (50, 8.45), (100, 9.15)] {
        let mut noise = Noise::new(3);
        let mut drawn: Vec<f64> = (0..10_000)
            .map(|_| {
                let values: Vec<f64> = (0..points).map(|_| noise.normal()).collect();
                let statistic = extra(&Sums::of(&values), &[0, points]).expect("noise");
                (points - 1) as f64 * statistic / ((points - 2) as f64 + statistic)
            })
            .collect();
        drawn.sort_by(f64::total_cmp);
        let quantile = drawn[9_500];
        println!("the 95 % quantile of Alexandersson's statistic for {points} points: {quantile:.3}");
        assert!((quantile - printed).abs() < 0.25, "{quantile} is not {printed}");
    }
}

/// A history of `folders` folders with ten runs each. Runs scatter by 2 %, folders by `scatter`,
/// and from `at` the value is larger by `by`.
fn history(noise: &mut Noise, folders: usize, scatter: f64, at: usize, by: f64) -> Vec<Point> {
    (0..folders)
        .map(|folder| {
            let level = if folder >= at { by.ln_1p() } else { 0.0 };
            let mean = level + scatter * noise.normal();
            let runs: Vec<f64> = (0..10).map(|_| (mean + 0.02 * noise.normal()).exp()).collect();
            Point::of(&runs).expect("runs")
        })
        .collect()
}

/// The share of histories in which `found` holds, in percent.
fn share(
    trials: usize,
    seed: u128,
    folders: usize,
    scatter: f64,
    at: usize,
    by: f64,
    found: impl Fn(&[Point]) -> bool,
) -> f64 {
    let mut noise = Noise::new(seed);
    let hits = (0..trials).filter(|_| found(&history(&mut noise, folders, scatter, at, by)));
    100.0 * hits.count() as f64 / trials as f64
}

/// Whether a history alone shows a change.
fn is_found(points: &[Point]) -> bool {
    levels(points).is_some_and(|found| found.chance <= 0.05)
}

/// How often noise passes for a change, and how often a change is found: in its place, with its
/// size in the interval, and without any other. `results/reference/history.md` has the table.
#[test]
#[ignore = "simulates thousands of histories"]
fn false_changes_and_power() {
    let table = measured(2000, 3.5..=6.5);
    crate::inference::tests::assert_in_reference("history.md", &table);
}

/// The same with few histories, enough to reveal a mistake.
#[test]
fn few_false_changes() {
    measured(150, 0.5..=12.0);
}

fn measured(trials: usize, false_changes: std::ops::RangeInclusive<f64>) -> String {
    let mut table = String::from(
        "| folders | scatter | a change is found, though there is none | the change is found | at its place | and no other | its size lies in the interval | last folder worse, though it is not | last folder worse |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let starts = |points: &[Point]| {
        levels(points)
            .filter(|found| found.chance <= 0.05)
            .map(|found| found.starts)
    };
    for (folders, scatter) in [(5, 0.0), (5, 0.01), (10, 0.0), (10, 0.01), (20, 0.01), (50, 0.01)] {
        let at = folders / 2;
        let none = share(trials, 1, folders, scatter, folders, 0.0, is_found);
        let found = share(trials, 2, folders, scatter, at, 0.05, is_found);
        let placed = share(trials, 2, folders, scatter, at, 0.05, |points| {
            starts(points).is_some_and(|starts| starts.contains(&at))
        });
        let covered = share(trials, 2, folders, scatter, at, 0.05, |points| {
            let size = changes(points, &[at])[0].1.interval(0.95).expect("runs");
            size.contains(1.05)
        });
        let alone = share(trials, 2, folders, scatter, at, 0.05, |points| {
            starts(points).is_some_and(|starts| starts.len() == 1)
        });
        let last = |by: f64| {
            share(trials, 4, folders, scatter, folders - 1, by, |points| {
                let change = last_change(points, &starts(points).unwrap_or_default()).expect("points");
                change.interval(0.95).is_some_and(|ci| ci.low > 1.0)
            })
        };
        let (last_none, last_worse) = (last(0.0), last(0.05));
        table.push_str(&format!(
            "| {folders} | {} % | {none:.1} | {found:.1} | {placed:.1} | {alone:.1} | {covered:.1} | {last_none:.1} | {last_worse:.1} |\n",
            scatter * 100.0
        ));
        // Half of the chance is on the side of a worsening.
        assert!(
            false_changes.contains(&none),
            "{folders} {scatter}: {none} % of histories without a change have one"
        );
    }
    table
}

/// The chances are themselves distributed as they should: for noise, one history in twenty is below
/// 5 %.
#[test]
fn chances_are_uniform_without_a_change() {
    for folders in [4, 7, 25] {
        let mut noise = Noise::new(9);
        let chances: Vec<f64> = (0..500)
            .filter_map(|_| {
                let values: Vec<f64> = (0..folders).map(|_| noise.normal()).collect();
                let (statistic, _) = strongest(&Sums::of(&values))?;
                Some(chance::of_any_change(statistic, folders))
            })
            .collect();
        for limit in [0.01, 0.05, 0.5] {
            let below = chances.iter().filter(|chance| **chance <= limit).count() as f64 / chances.len() as f64;
            let margin = 4.0 * (limit * (1.0 - limit) / 500.0_f64).sqrt();
            assert!((below - limit).abs() < margin, "{folders}: {below} below {limit}");
        }
    }
}
