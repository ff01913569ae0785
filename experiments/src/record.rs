//! From the heap's figures ([`Statistics`], integers in nanoseconds and bytes) to those of a run record ([`RunStats`], totals in seconds).

use gclab_core::stats::{Collection, GenerationStats, Statistics};
use gclab_results::record::{Generation, Pause, RunStats};

/// All figures of a run.
pub fn run_stats(stats: &Statistics) -> RunStats {
    let parallel = stats.par_copied > 0;
    RunStats {
        allocated_bytes: Some(stats.allocated),
        copied_bytes: Some(stats.copied),
        max_live_bytes: Some(stats.max_live),
        cumulative_live_bytes: Some(stats.cumulative_live),
        max_large_objects_bytes: Some(stats.max_large),
        max_slop_bytes: Some(stats.max_slop),
        peak_in_use_bytes: Some(stats.peak_in_use),
        fragmentation_bytes: Some(stats.peak_fragmentation),
        init_cpu_seconds: seconds(stats.init.cpu_ns),
        init_elapsed_seconds: seconds(stats.init.elapsed_ns),
        mut_cpu_seconds: seconds(stats.mutator.cpu_ns),
        mut_elapsed_seconds: seconds(stats.mutator.elapsed_ns),
        gc_cpu_seconds: seconds(stats.gc.cpu_ns),
        gc_elapsed_seconds: seconds(stats.gc.elapsed_ns),
        exit_cpu_seconds: seconds(stats.exit.cpu_ns),
        exit_elapsed_seconds: seconds(stats.exit.elapsed_ns),
        total_cpu_seconds: seconds(stats.total.cpu_ns),
        total_elapsed_seconds: seconds(stats.total.elapsed_ns),
        gcs: Some(stats.generations.iter().map(|generation| generation.collections).sum()),
        major_gcs: Some(stats.major_gcs),
        par_copied_bytes: Some(stats.par_copied),
        // Without a parallel collection there is nothing to be balanced.
        work_balance: parallel.then(|| stats.work_balance()),
        capabilities: Some(stats.capabilities),
        generations: stats.generations.iter().map(generation).collect(),
        collections: stats.collections.iter().map(pause).collect(),
        metadata: [("side_tables_bytes".to_owned(), stats.metadata.to_string())].into(),
    }
}

fn seconds(nanoseconds: u64) -> Option<f64> {
    Some(nanoseconds as f64 / 1e9)
}

fn generation(stats: &GenerationStats) -> Generation {
    Generation {
        collections: stats.collections,
        par_collections: Some(stats.par_collections),
        cpu_seconds: seconds(stats.cpu_ns),
        elapsed_seconds: seconds(stats.elapsed_ns),
        max_pause_seconds: seconds(stats.max_pause_ns),
    }
}

fn pause(collection: &Collection) -> Pause {
    Pause {
        generation: collection.generation,
        major: collection.major,
        start_ns: collection.start_ns,
        sync_ns: Some(collection.sync_ns),
        elapsed_ns: collection.elapsed_ns,
        cpu_ns: Some(collection.cpu_ns),
        threads: Some(collection.threads),
        allocated_bytes: Some(collection.allocated),
        copied_bytes: Some(collection.copied),
        promoted_bytes: Some(collection.promoted),
        live_bytes: Some(collection.live),
        large_objects_bytes: Some(collection.large),
        slop_bytes: Some(collection.slop),
        in_use_bytes: Some(collection.in_use),
        fragmentation_bytes: Some(collection.fragmentation),
        remembered: Some(collection.remembered),
    }
}
