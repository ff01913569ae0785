//! From the figures of a heap ([`Statistics`], integers in nanoseconds and bytes) to those of a run
//! record ([`RunStats`], totals in seconds).

use gclab_core::config::Breakdown;
use gclab_heap_traverse::profile::{self, Profile};
use gclab_results::record::{GcThread, Generation, Pause, RunStats};
use gclab_results::{Census, HeapProfile, Latency};
use gclab_stats::{self as stats, Collection, GenerationStats, Sharing, Sharings, Statistics};

/// All figures of a run.
pub fn run_stats(stats: &Statistics) -> RunStats {
    // Without a parallel collection there is no work to balance.
    let parallel = !stats.sharings.threads.is_empty();
    // Most runs have no checker and no profiler.
    let profiled = stats.prof.elapsed_ns > 0;
    RunStats {
        allocated_bytes: Some(stats.allocated),
        copied_bytes: Some(stats.copied),
        max_live_bytes: Some(stats.max_live),
        cumulative_live_bytes: Some(stats.cumulative_live),
        max_large_objects_bytes: Some(stats.max_large),
        max_slop_bytes: Some(stats.max_slop),
        peak_in_use_bytes: Some(stats.peak_in_use),
        fragmentation_bytes: Some(stats.peak_fragmentation),
        reserved_bytes: Some(stats.reserved),
        returned_bytes: Some(stats.returned),
        peak_taken_bytes: Some(stats.peak_taken),
        max_resident_bytes: stats.max_resident,
        init_cpu_seconds: seconds(stats.init.cpu_ns),
        init_elapsed_seconds: seconds(stats.init.elapsed_ns),
        mut_cpu_seconds: seconds(stats.mutator.cpu_ns),
        mut_elapsed_seconds: seconds(stats.mutator.elapsed_ns),
        gc_cpu_seconds: seconds(stats.gc.cpu_ns),
        gc_elapsed_seconds: seconds(stats.gc.elapsed_ns),
        prof_cpu_seconds: seconds(stats.prof.cpu_ns).filter(|_| profiled),
        prof_elapsed_seconds: seconds(stats.prof.elapsed_ns).filter(|_| profiled),
        exit_cpu_seconds: seconds(stats.exit.cpu_ns),
        exit_elapsed_seconds: seconds(stats.exit.elapsed_ns),
        total_cpu_seconds: seconds(stats.total.cpu_ns),
        total_elapsed_seconds: seconds(stats.total.elapsed_ns),
        gcs: Some(stats.generations.iter().map(|generation| generation.collections).sum()),
        major_gcs: Some(stats.major_gcs),
        par_copied_bytes: Some(stats.par_copied),
        cumulative_par_max_copied_bytes: parallel.then_some(stats.cumulative_par_max),
        cumulative_par_balanced_copied_bytes: parallel.then_some(stats.cumulative_par_balanced),
        // Collections that copied nothing have no balance.
        work_balance: (stats.par_copied > 0).then(|| stats.work_balance()),
        old_work_balance: (stats.par_copied > 0).then(|| stats.old_work_balance()),
        par_elapsed_seconds: seconds(stats.sharings.elapsed_ns).filter(|_| parallel),
        par_shared_seconds: seconds(stats.sharings.parallel_ns).filter(|_| parallel),
        sync_elapsed_seconds: seconds(stats.sync_ns),
        max_sync_seconds: seconds(stats.max_sync_ns),
        gc_threads: parallel.then(|| stats.sharings.threads.iter().map(gc_thread).collect()),
        capabilities: Some(stats.capabilities),
        generations: stats
            .generations
            .iter()
            .enumerate()
            .map(|(number, generation)| self::generation(generation, number, &stats.sharings))
            .collect(),
        collections: stats.collections.iter().map(pause).collect(),
        metadata: [("side_tables_bytes".to_owned(), stats.metadata.to_string())].into(),
    }
}

/// The latency of answered requests.
pub fn latency(measured: &gclab_workloads::Latency) -> Latency {
    let some = measured.requests() > 0;
    Latency {
        requests: measured.requests(),
        rate_per_second: measured.rate(),
        mean_ns: some.then(|| measured.mean_ns()),
        p50_ns: measured.exceeded_by_one_in(2),
        p90_ns: measured.exceeded_by_one_in(10),
        p99_ns: measured.exceeded_by_one_in(100),
        p99_9_ns: measured.exceeded_by_one_in(1000),
        p99_99_ns: measured.exceeded_by_one_in(10_000),
        max_ns: some.then(|| measured.max_ns()),
    }
}

/// The censuses of a run.
pub fn heap_profile(profile: &Profile) -> HeapProfile {
    let census = |census: &profile::Census| Census {
        seconds: census.seconds,
        marker: census.marker.clone(),
        bands: census.bands.iter().cloned().collect(),
    };
    let set = |set: &profile::RetainerSet| {
        let names = set.retainers.iter().map(|retainer| retainer.full_name.clone());
        (set.id.to_string(), names.collect())
    };
    let by_retainers = profile.breakdown == Breakdown::Retainer;
    HeapProfile {
        breakdown: profile.breakdown.name().to_owned(),
        censuses: profile.censuses.iter().map(census).collect(),
        census_seconds: profile.census_seconds,
        retainer_sets: by_retainers.then(|| profile.sets.iter().map(set).collect()),
    }
}

fn seconds(nanoseconds: u64) -> Option<f64> {
    Some(nanoseconds as f64 / 1e9)
}

fn gc_thread(thread: &stats::GcThread) -> GcThread {
    GcThread {
        copied_bytes: thread.copied,
        start_ns: thread.start_ns,
        work_ns: thread.work_ns,
        idle_ns: thread.idle_ns,
        termination_ns: thread.termination_ns,
        cpu_ns: thread.cpu_ns,
        any_work: thread.search.any_work,
        no_work: thread.search.no_work,
        scav_find_work: thread.search.scav_find_work,
    }
}

fn generation(stats: &GenerationStats, number: usize, sharings: &Sharings) -> Generation {
    let taken = Sharing::ALL
        .into_iter()
        .map(|sharing| (sharing.name().to_owned(), sharings.count(number, sharing)));
    Generation {
        collections: stats.collections,
        par_collections: Some(stats.par_collections),
        cpu_seconds: seconds(stats.cpu_ns),
        elapsed_seconds: seconds(stats.elapsed_ns),
        max_pause_seconds: seconds(stats.max_pause_ns),
        sharing: Some(taken.filter(|(_, count)| *count > 0).collect()),
    }
}

fn pause(collection: &Collection) -> Pause {
    let shared = &collection.shared;
    let parallel = shared.threads.len() > 1;
    Pause {
        generation: collection.generation,
        major: collection.major,
        start_ns: collection.start_ns,
        sync_ns: Some(collection.sync_ns),
        elapsed_ns: collection.elapsed_ns,
        cpu_ns: Some(collection.cpu_ns),
        threads: Some(collection.threads),
        sharing: Some(shared.sharing.name().to_owned()),
        parallel_ns: parallel.then_some(shared.parallel_ns),
        par_max_copied_bytes: parallel.then_some(collection.par_max),
        par_balanced_copied_bytes: parallel.then_some(collection.par_balanced),
        gc_threads: parallel.then(|| shared.threads.iter().map(gc_thread).collect()),
        allocated_bytes: Some(collection.allocated),
        copied_bytes: Some(collection.copied),
        promoted_bytes: Some(collection.promoted),
        live_bytes: Some(collection.live),
        large_objects_bytes: Some(collection.large),
        slop_bytes: Some(collection.slop),
        in_use_bytes: Some(collection.in_use),
        fragmentation_bytes: Some(collection.fragmentation),
        taken_bytes: Some(collection.taken),
        returned_bytes: Some(collection.returned),
        resident_bytes: collection.resident,
        remembered: Some(collection.remembered),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gclab_stats::{Shared, WorkSearch};

    use super::*;

    fn thread(copied: u64) -> stats::GcThread {
        stats::GcThread {
            copied,
            start_ns: 1,
            work_ns: 2,
            idle_ns: 3,
            termination_ns: 4,
            cpu_ns: 5,
            search: WorkSearch {
                any_work: 6,
                no_work: 7,
                scav_find_work: 8,
            },
        }
    }

    #[test]
    fn a_parallel_collection_is_recorded_whole() {
        let shared = Shared {
            sharing: Sharing::Balanced,
            threads: vec![thread(120), thread(80)],
            parallel_ns: 900,
        };
        let pause = pause(&Collection {
            threads: 2,
            elapsed_ns: 1000,
            par_max: 120,
            par_balanced: 160,
            shared,
            ..Collection::default()
        });
        assert_eq!(
            (pause.sharing.as_deref(), pause.parallel_ns),
            (Some("balanced"), Some(900))
        );
        assert_eq!(
            (pause.par_max_copied_bytes, pause.par_balanced_copied_bytes),
            (Some(120), Some(160))
        );
        let expected = |copied_bytes| GcThread {
            copied_bytes,
            start_ns: 1,
            work_ns: 2,
            idle_ns: 3,
            termination_ns: 4,
            cpu_ns: 5,
            any_work: 6,
            no_work: 7,
            scav_find_work: 8,
        };
        assert_eq!(pause.gc_threads, Some(vec![expected(120), expected(80)]));
        let alone = super::pause(&Collection::default());
        assert_eq!(alone.sharing.as_deref(), Some("alone"));
        assert_eq!(
            (alone.parallel_ns, alone.par_max_copied_bytes, alone.gc_threads),
            (None, None, None)
        );
    }

    #[test]
    fn a_run_has_the_work_of_its_threads_and_the_count_of_each_way_to_share() {
        let statistics = Statistics {
            copied: 300,
            par_copied: 200,
            cumulative_par_max: 120,
            cumulative_par_balanced: 160,
            sync_ns: 30_000_000,
            max_sync_ns: 20_000_000,
            sharings: Sharings {
                taken: vec![[0, 9, 2, 0, 0, 0], [0, 0, 0, 0, 0, 1]],
                threads: vec![thread(120), thread(80)],
                elapsed_ns: 2_000_000_000,
                parallel_ns: 1_500_000_000,
            },
            generations: vec![GenerationStats::default(); 2],
            ..Statistics::default()
        };
        let run = run_stats(&statistics);
        assert_eq!(
            (run.work_balance, run.par_elapsed_seconds, run.par_shared_seconds),
            (Some(0.8), Some(2.0), Some(1.5))
        );
        assert!((run.old_work_balance.unwrap() - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(
            (run.sync_elapsed_seconds, run.max_sync_seconds),
            (Some(0.03), Some(0.02))
        );
        assert_eq!(run.gc_threads.unwrap().len(), 2);
        let sharing =
            |of: &[(&str, u64)]| Some(BTreeMap::from_iter(of.iter().map(|(name, n)| ((*name).to_owned(), *n))));
        assert_eq!(
            run.generations[0].sharing,
            sharing(&[("too little", 2), ("younger", 9)])
        );
        assert_eq!(run.generations[1].sharing, sharing(&[("balanced", 1)]));

        let alone = run_stats(&Statistics::default());
        assert_eq!(
            (alone.work_balance, alone.old_work_balance, alone.gc_threads),
            (None, None, None)
        );
        assert_eq!((alone.par_elapsed_seconds, alone.par_shared_seconds), (None, None));
    }
}
