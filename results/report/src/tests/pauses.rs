//! Percentiles of pauses with their intervals.

use super::answers::sweep;
use super::synthetic::{runs, small_runs};
use crate::analysis::pauses::{PERCENTILES, pause_rows};
use crate::folder::kept;

use crate::summary::Summary;

/// Ten runs are enough for the interval of each percentile that there are enough pauses for; three
/// runs are not.
#[test]
fn percentiles_of_pauses_have_intervals_from_enough_runs_on() {
    let ten = runs(&sweep(&["copying"]));
    let kept_runs = kept(&ten);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let rows = pause_rows(&summary.works[0]);
    let mut known = 0;
    for row in &rows {
        for (percentile, interval) in row.percentiles.iter().zip(row.intervals()) {
            assert_eq!(percentile.is_some(), interval.is_some(), "{row:?}");
            if let Some((percentile, interval)) = percentile.zip(interval) {
                assert!(interval.contains(percentile as f64), "{percentile} {interval:?}");
                known += 1;
            }
        }
    }
    assert!(
        known > rows.len() && rows[0].intervals().len() == PERCENTILES.len(),
        "{known}"
    );
    let three = small_runs();
    let kept_runs = kept(&three);
    let summary = Summary::of_runs(&kept_runs, &[]);
    for row in pause_rows(&summary.works[0]) {
        assert_eq!(row.intervals(), [None; 4], "three runs");
    }
}

/// With histograms alone, the interval is that of the median of the runs' percentiles.
#[test]
fn percentiles_of_histograms_have_the_interval_of_a_median() {
    let mut ten = runs(&sweep(&["copying"]));
    for (at, run) in ten.iter_mut().enumerate() {
        let stats = run.stats.as_mut().expect("a good run");
        stats.collections.clear();
        stats.collections_absent = Some("too many".to_owned());
        stats.pauses = Some(gclab_results::Pauses {
            count: 1000,
            p50_ns: Some(1000 + at as u64),
            ..gclab_results::Pauses::default()
        });
    }
    let kept_runs = kept(&ten);
    let summary = Summary::of_runs(&kept_runs, &[]);
    let row = &pause_rows(&summary.works[0])[0];
    let interval = row.intervals()[0].expect("ten runs");
    let median = row.percentiles[0].expect("a percentile") as f64;
    assert!(
        interval.low < median && median < interval.high && row.intervals()[1].is_none(),
        "{row:?}"
    );
}
