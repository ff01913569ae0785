//! Measures that follow from several figures of a record. `docs/measures.md` has their formulas,
//! their units, and what they do not see.
//!
//! Those of single collections are absent if a run had too many collections for its record, and in
//! records without a list of them. A measure of a phase is that of the measured one; in a record
//! without phases, of an older gclab, it is that of the whole run.

use gclab_core::stats::Utilisation;
use gclab_results::schema::Total;
use gclab_results::{CollectionRecord, Counters, MeteredLatency, RunPhase, RunRecord, RunStats};

/// The figures of the heap.
pub(crate) fn stats(run: &RunRecord) -> Option<&RunStats> {
    run.stats.as_ref()
}

/// A figure of the measured phase; of the whole run in a record without phases.
pub(crate) fn measured<T>(
    run: &RunRecord,
    phase: fn(&RunPhase) -> Option<T>,
    whole: fn(&RunStats) -> Option<T>,
) -> Option<T> {
    let stats = stats(run)?;
    match &stats.phases {
        Some(phases) => phase(&phases.measured),
        None => whole(stats),
    }
}

/// A percentile of the metered latency with a window of this many milliseconds; 0 is the whole run.
pub(crate) fn metered(run: &RunRecord, window_ms: u64, of: fn(&MeteredLatency) -> Option<u64>) -> Option<f64> {
    let window = (window_ms > 0).then_some(window_ms * 1_000_000);
    let nanoseconds = of(run.latency.as_ref()?.metered_in(window)?)?;
    Some(nanoseconds as f64 * 1e-9)
}

/// The collections of the measured phase, if the record has all of them.
fn collections(run: &RunRecord) -> Option<&[CollectionRecord]> {
    let stats = stats(run).filter(|stats| stats.collections_absent.is_none())?;
    Some(stats.measured_collections()).filter(|collections| !collections.is_empty())
}

/// The total of a figure of all collections; `None` if one of them lacks it.
pub(crate) fn total(run: &RunRecord, total: Total, of: fn(&CollectionRecord) -> Option<f64>) -> Option<f64> {
    let mut figures = collections(run)?.iter().map(of);
    match total {
        Total::Sum => figures.sum(),
        Total::Most => figures.try_fold(f64::NEG_INFINITY, |most, figure| Some(most.max(figure?))),
    }
}

fn allocated(run: &RunRecord) -> Option<f64> {
    measured(run, |phase| phase.allocated_bytes, |stats| stats.allocated_bytes).map(|bytes| bytes as f64)
}

fn mutator_cpu(run: &RunRecord) -> Option<f64> {
    measured(run, |phase| phase.mut_cpu_seconds, |stats| stats.mut_cpu_seconds).filter(|seconds| *seconds > 0.0)
}

/// Bytes allocated in a second of the mutator's CPU time (GHC's allocation rate).
pub(crate) fn allocation_rate(run: &RunRecord) -> Option<f64> {
    Some(allocated(run)? / mutator_cpu(run)?)
}

/// Bytes copied for each byte allocated (mark/cons ratio).
pub(crate) fn mark_cons(run: &RunRecord) -> Option<f64> {
    let copied = measured(run, |phase| phase.copied_bytes, |stats| stats.copied_bytes)?;
    Some(copied as f64 / allocated(run).filter(|bytes| *bytes > 0.0)?)
}

/// Bytes that minor collections copied for each byte that was allocated before them. `None` if all
/// collections were major.
pub(crate) fn survival_rate(run: &RunRecord) -> Option<f64> {
    let minor = || {
        collections(run)
            .into_iter()
            .flatten()
            .filter(|collection| !collection.major)
    };
    let sum = |of: fn(&CollectionRecord) -> Option<u64>| minor().map(of).sum::<Option<u64>>();
    let (copied, allocated) = (sum(|minor| minor.copied_bytes)?, sum(|minor| minor.allocated_bytes)?);
    (allocated > 0).then(|| copied as f64 / allocated as f64)
}

/// Bytes promoted into an older generation in a second of the mutator's CPU time.
pub(crate) fn promotion_rate(run: &RunRecord) -> Option<f64> {
    let promoted = total(run, Total::Sum, |collection| {
        collection.promoted_bytes.map(|bytes| bytes as f64)
    });
    Some(promoted? / mutator_cpu(run)?)
}

/// The mean of the live bytes after each major collection of the run.
pub(crate) fn mean_residency(run: &RunRecord) -> Option<f64> {
    let majors = stats(run)?.major_gcs.filter(|majors| *majors > 0)?;
    Some(stats(run)?.cumulative_live_bytes? as f64 / majors as f64)
}

/// The integral of the memory in use over the time of the whole run, in byte seconds. Between the
/// ends of two collections memory is taken to grow evenly; before the first and after the last it
/// is taken to stay.
pub(crate) fn space_time(run: &RunRecord) -> Option<f64> {
    let stats = stats(run).filter(|stats| stats.collections_absent.is_none())?;
    let end = stats.total_elapsed_seconds?;
    let after = |collection: &CollectionRecord| {
        let seconds = (collection.start_ns + collection.elapsed_ns) as f64 / 1e9;
        Some((seconds.min(end), collection.in_use_bytes? as f64))
    };
    let points: Vec<(f64, f64)> = stats.collections.iter().map(after).collect::<Option<_>>()?;
    let (first, last) = (points.first()?, points.last()?);
    let between = points
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].0) * f64::midpoint(pair[0].1, pair[1].1));
    Some(first.0 * first.1 + between.sum::<f64>() + (end - last.0) * last.1)
}

/// The mean of the memory in use over the time of the whole run.
pub(crate) fn mean_in_use(run: &RunRecord) -> Option<f64> {
    let end = stats(run)?.total_elapsed_seconds.filter(|seconds| *seconds > 0.0)?;
    Some(space_time(run)? / end)
}

/// The share of the elapsed time of program and collections that is spent in collections.
pub(crate) fn collection_share(run: &RunRecord) -> Option<f64> {
    let gc = measured(run, |phase| phase.gc_elapsed_seconds, |stats| stats.gc_elapsed_seconds)?;
    let mutator = measured(
        run,
        |phase| phase.mut_elapsed_seconds,
        |stats| stats.mut_elapsed_seconds,
    )?;
    (gc + mutator > 0.0).then(|| gc / (gc + mutator))
}

/// The number of collections with several threads.
pub(crate) fn par_gcs(run: &RunRecord) -> Option<f64> {
    let counts: Option<Vec<u64>> = stats(run)?.generations.iter().map(|g| g.par_collections).collect();
    counts.filter(|c| !c.is_empty()).map(|c| c.iter().sum::<u64>() as f64)
}

/// The share of the pauses of parallel collections in which one thread worked alone.
pub(crate) fn sequential_share(run: &RunRecord) -> Option<f64> {
    let elapsed = stats(run)?.par_elapsed_seconds.filter(|seconds| *seconds > 0.0)?;
    Some(1.0 - stats(run)?.par_shared_seconds? / elapsed)
}

/// The minimum mutator utilisation for a window that the record names.
pub(crate) fn least_utilisation(run: &RunRecord, window: &str) -> Option<f64> {
    let by_window = stats(run)?.pauses.as_ref()?.least_utilisation.as_ref()?;
    by_window.get(window).copied()
}

/// The mutator's share of what a counter counted in the mutator and in collections.
pub(crate) fn mutator_share(run: &RunRecord, of: fn(&Counters) -> Option<u64>) -> Option<f64> {
    let mutator = of(run.mut_counters.as_ref()?)? as f64;
    let collections = of(run.gc_counters.as_ref()?)? as f64;
    (mutator + collections > 0.0).then(|| mutator / (mutator + collections))
}

/// The least share of the time of the mutator, or of collections, for which a counter at pauses
/// counted. `None` without such counters; 1 if all counted all the time.
pub(crate) fn counted_at_pauses(run: &RunRecord) -> Option<f64> {
    let share = |counters: &Counters| counters.least_share.unwrap_or(1.0);
    let mutator = share(run.mut_counters.as_ref()?);
    Some(
        run.gc_counters
            .as_ref()
            .map_or(mutator, |collections| share(collections).min(mutator)),
    )
}

/// The bounded mutator utilisation (BMU): the least share of a window of this length or longer in
/// which the mutators could run, within the measured phase.
pub(crate) fn bounded_utilisation(run: &RunRecord, window_ns: u64) -> Option<f64> {
    let pauses = collections(run)?.iter().map(|pause| {
        let begin = pause.start_ns.saturating_sub(pause.sync_ns.unwrap_or(0));
        (begin, pause.start_ns + pause.elapsed_ns)
    });
    let measured = &stats(run)?.phases.as_ref()?.measured;
    let nanoseconds = |seconds: f64| (seconds * 1e9).round().max(0.0) as u64;
    let from = nanoseconds(measured.start_seconds);
    let to = from + nanoseconds(measured.total_elapsed_seconds?);
    Utilisation::of(pauses, (from, to))?.bound(window_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gclab_results::RunPhases;

    fn collection(start_ms: u64, major: bool, in_use: u64) -> CollectionRecord {
        CollectionRecord {
            major,
            start_ns: start_ms * 1_000_000,
            elapsed_ns: 10_000_000,
            copied_bytes: Some(100),
            promoted_bytes: Some(40),
            allocated_bytes: Some(1000),
            in_use_bytes: Some(in_use),
            ..CollectionRecord::default()
        }
    }

    /// A run of 1 s: 0.1 s of set-up with a collection, a measured phase of 0.8 s with two minor
    /// collections and a major one.
    fn run() -> RunRecord {
        let measured = RunPhase {
            start_seconds: 0.1,
            total_elapsed_seconds: Some(0.8),
            mut_elapsed_seconds: Some(0.77),
            gc_elapsed_seconds: Some(0.03),
            mut_cpu_seconds: Some(0.5),
            allocated_bytes: Some(4000),
            copied_bytes: Some(300),
            ..RunPhase::default()
        };
        let exit = RunPhase {
            start_seconds: 0.9,
            ..RunPhase::default()
        };
        let stats = RunStats {
            total_elapsed_seconds: Some(1.0),
            major_gcs: Some(2),
            cumulative_live_bytes: Some(700),
            phases: Some(RunPhases {
                marked: true,
                measured,
                exit,
                ..RunPhases::default()
            }),
            collections: vec![
                collection(40, true, 1000),
                collection(190, false, 2000),
                collection(290, false, 4000),
                collection(490, true, 2000),
            ],
            ..RunStats::default()
        };
        RunRecord {
            stats: Some(stats),
            ..RunRecord::default()
        }
    }

    #[track_caller]
    fn is(measure: Option<f64>, wanted: f64) {
        let measure = measure.expect("the record has it");
        assert!(
            (measure - wanted).abs() <= 1e-9 * wanted.abs().max(1.0),
            "{measure} is not {wanted}"
        );
    }

    /// The ends of collections: 0.05, 0.2, 0.3 and 0.5 s. The integral: 0.05 · 1000, 0.15 · 1500,
    /// 0.1 · 3000, 0.2 · 3000 and 0.5 · 2000.
    #[test]
    fn measures_by_hand() {
        let run = run();
        is(allocation_rate(&run), 8000.0);
        is(mark_cons(&run), 0.075);
        // Two minor collections in the measured phase: 200 of 2000 bytes.
        is(survival_rate(&run), 0.1);
        is(promotion_rate(&run), 240.0);
        is(mean_residency(&run), 350.0);
        is(space_time(&run), 50.0 + 225.0 + 300.0 + 600.0 + 1000.0);
        is(mean_in_use(&run), 2175.0);
        is(collection_share(&run), 0.0375);
    }

    /// The pauses begin at 0.19, 0.29 and 0.49 s. A window of 10 ms may be filled by one; two lie
    /// within 110 ms; no longer window has a smaller share than that of 0.11 s with two.
    #[test]
    fn the_bounded_utilisation_is_never_above_that_of_longer_windows() {
        let run = run();
        is(bounded_utilisation(&run, 10_000_000), 0.0);
        is(bounded_utilisation(&run, 20_000_000), 0.5);
        // A window of 105 ms has one pause and a half, and that of 110 ms two of them.
        is(bounded_utilisation(&run, 105_000_000), 1.0 - 20.0 / 110.0);
        is(bounded_utilisation(&run, 800_000_000), 1.0 - 30.0 / 800.0);
        assert_eq!(bounded_utilisation(&run, 801_000_000), None);
    }

    /// The value of the column with this name.
    fn column(run: &RunRecord, key: &str) -> Option<f64> {
        let metric = crate::metric::all().find(|metric| metric.key == key);
        metric.expect("a column").read(run)
    }

    #[test]
    fn a_figure_of_collections_is_a_column_with_its_total_of_the_measured_phase() {
        let mut run = run();
        let stats = run.stats.as_mut().expect("statistics");
        for (collection, remembered) in stats.collections.iter_mut().zip([100, 3, 5, 4]) {
            collection.remembered = Some(remembered);
            collection.mark_passes = Some(remembered);
        }
        is(column(&run, "remembered"), 12.0);
        is(column(&run, "mark_passes"), 5.0);
        let stats = run.stats.as_mut().expect("statistics");
        stats.collections[2].remembered = None;
        stats.collections[2].mark_passes = None;
        assert_eq!(column(&run, "remembered"), None);
        assert_eq!(column(&run, "mark_passes"), None);
    }

    #[test]
    fn a_record_without_its_collections_has_no_measure_of_them() {
        let mut run = run();
        let stats = run.stats.as_mut().expect("statistics");
        stats.collections.clear();
        stats.collections_absent = Some("too many".to_owned());
        assert_eq!(
            [
                survival_rate(&run),
                promotion_rate(&run),
                space_time(&run),
                bounded_utilisation(&run, 1)
            ],
            [None; 4]
        );
        is(mark_cons(&run), 0.075);
        assert_eq!(allocation_rate(&RunRecord::default()), None);
    }
}
