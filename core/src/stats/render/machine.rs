//! `-t --machine-readable`: a list of keys and values that Haskell's `read` takes, with the keys of
//! GHC 9.0.2's threaded runtime in its order.
//!
//! Where GHC changed a key, the older one is listed too: `mutator_cpu_seconds`, as in GHC's guide,
//! beside `mut_cpu_seconds`, as GHC 9.0.2 prints it. The times of censuses (`rp_` for retainer
//! profiles, `hc_` for others) are listed if there were any, as in GHC's profiled runtime; the
//! share of time in collections (`gc_cpu_percent`) as in GHC's single-threaded runtime; cycles of
//! concurrent marking (`nonmoving_`) for any collector that has them. The counters of spins and yields
//! are left out (there are no such locks here). Sparks and compact regions do not exist here; their
//! figures are zero. `sparks_dud ` ends in a blank because GHC's does.
//!
//! gclab's own keys come last: the slices (`slices`, `sliced_cycles`, `max_slice_seconds`), if
//! there were any; the figures by name; the time of the checker (`check_`) and of other looks at
//! the stopped heap (`inspect_`), if there were any; and the figures of the measured phase, if the
//! program said where it begins.

use super::super::{Statistics, Times};
use super::number::{mib, seconds};

/// The list of `-t --machine-readable`.
pub fn machine_readable(stats: &Statistics) -> String {
    list(&pairs(stats))
}

/// Pairs as a list, one per line, as GHC writes it.
pub(super) fn list<K: AsRef<str>>(pairs: &[(K, String)]) -> String {
    let lines: Vec<String> = pairs
        .iter()
        .map(|(key, value)| format!("(\"{}\", \"{}\")", escape(key.as_ref()), escape(value)))
        .collect();
    format!(" [{}\n ]\n", lines.join("\n ,"))
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Seconds or shares with six decimals, as C's `%f`.
fn six(number: f64) -> String {
    format!("{number:.6}")
}

fn pairs(stats: &Statistics) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut put = |key: &str, value: String| pairs.push((key.to_owned(), value));
    put("bytes allocated", stats.allocated.to_string());
    put("num_GCs", stats.collections_count().to_string());
    put("average_bytes_used", stats.average_live().to_string());
    put("max_bytes_used", stats.max_live.to_string());
    put("num_byte_usage_samples", stats.major_gcs.to_string());
    put("peak_megabytes_allocated", mib(stats.peak_in_use).to_string());
    let looks = &stats.looks;
    let mut put_times = |name: &str, Times { cpu_ns, elapsed_ns }: Times| {
        put(&format!("{name}_cpu_seconds"), six(seconds(cpu_ns)));
        put(&format!("{name}_wall_seconds"), six(seconds(elapsed_ns)));
    };
    put_times("init", stats.init);
    put_times("mut", stats.mutator);
    put_times("mutator", stats.mutator);
    put_times("GC", stats.gc);
    put_times("exit", stats.exit);
    if (looks.retainers + looks.census).elapsed_ns > 0 {
        put_times("rp", looks.retainers);
        put_times("hc", looks.census);
    }
    put_times("total", stats.total);
    for (key, value) in whole_numbers(stats) {
        put(key, value.to_string());
    }
    put("gc_cpu_percent", six(stats.gc_cpu()));
    put("gc_wall_percent", six(stats.gc_elapsed()));
    put("fragmentation_bytes", stats.peak_fragmentation.to_string());
    put("alloc_rate", stats.alloc_rate().to_string());
    put("productivity_cpu_percent", six(stats.productivity_cpu()));
    put("productivity_wall_percent", six(stats.productivity_elapsed()));
    put("bound_task_count", stats.tasks.bound.to_string());
    for key in [
        "sparks_count",
        "sparks_converted",
        "sparks_overflowed",
        "sparks_dud ",
        "sparks_gcd",
        "sparks_fizzled",
    ] {
        put(key, 0.to_string());
    }
    put("work_balance", six(stats.work_balance()));
    put("n_capabilities", stats.capabilities.to_string());
    put("task_count", stats.tasks.total.to_string());
    put("peak_worker_count", stats.tasks.peak_workers.to_string());
    put("worker_count", stats.tasks.workers.to_string());
    put("any_work", stats.search.any_work.to_string());
    put("no_work", stats.search.no_work.to_string());
    put("scav_find_work", stats.search.scav_find_work.to_string());
    for (number, generation) in stats.generations.iter().enumerate() {
        put(&format!("gen_{number}_collections"), generation.collections.to_string());
        put(
            &format!("gen_{number}_par_collections"),
            generation.par_collections.to_string(),
        );
        put(&format!("gen_{number}_cpu_seconds"), six(seconds(generation.cpu_ns)));
        put(
            &format!("gen_{number}_wall_seconds"),
            six(seconds(generation.elapsed_ns)),
        );
        put(
            &format!("gen_{number}_max_pause_seconds"),
            six(seconds(generation.max_pause_ns)),
        );
        put(
            &format!("gen_{number}_avg_pause_seconds"),
            six(seconds(generation.avg_pause_ns())),
        );
    }
    put_cycles(stats, &mut pairs);
    put_own(stats, &mut pairs);
    pairs
}

/// Adds the keys of GHC's nonmoving collector, if cycles were marked concurrently.
fn put_cycles(stats: &Statistics, pairs: &mut Vec<(String, String)>) {
    let (cycles, concurrent) = (&stats.concurrent_cycles, stats.concurrent);
    if cycles.count == 0 {
        return;
    }
    for (key, ns) in [
        ("sync_wall", cycles.sync_ns),
        ("sync_max_pause", cycles.max_sync_ns),
        ("sync_avg_pause", cycles.sync_ns / cycles.count),
        ("concurrent_cpu", concurrent.cpu_ns),
        ("concurrent_wall", concurrent.elapsed_ns),
        ("concurrent_max_pause", cycles.max_elapsed_ns),
        ("concurrent_avg_pause", concurrent.elapsed_ns / cycles.count),
    ] {
        pairs.push((format!("nonmoving_{key}_seconds"), six(seconds(ns))));
    }
}

/// Adds the keys that GHC does not have.
fn put_own(stats: &Statistics, pairs: &mut Vec<(String, String)>) {
    let mut put = |key: String, value: String| pairs.push((key, value));
    for (name, times) in [("check", stats.looks.check), ("inspect", stats.looks.inspect)] {
        if times.elapsed_ns > 0 {
            put(format!("{name}_cpu_seconds"), six(seconds(times.cpu_ns)));
            put(format!("{name}_wall_seconds"), six(seconds(times.elapsed_ns)));
        }
    }
    if stats.slices.count > 0 {
        put("slices".to_owned(), stats.slices.count.to_string());
        put("sliced_cycles".to_owned(), stats.slices.cycles.to_string());
        put("max_slice_seconds".to_owned(), six(seconds(stats.slices.max_pause_ns)));
    }
    for figure in &stats.figures {
        put(figure.name.to_owned(), figure.value.to_string());
    }
    if !stats.phases.marked {
        return;
    }
    let phases = &stats.phases;
    for (name, phase) in [("setup", &phases.setup), ("measured", &phases.measured)] {
        for (part, times) in [("", phase.total()), ("mut_", phase.mutator), ("GC_", phase.gc)] {
            put(format!("{name}_{part}cpu_seconds"), six(seconds(times.cpu_ns)));
            put(format!("{name}_{part}wall_seconds"), six(seconds(times.elapsed_ns)));
        }
        put(format!("{name}_allocated_bytes"), phase.allocated.to_string());
        put(format!("{name}_num_GCs"), phase.collections.to_string());
        put(format!("{name}_max_pause_seconds"), six(seconds(phase.max_pause_ns)));
    }
}

fn whole_numbers(stats: &Statistics) -> [(&'static str, u64); 12] {
    [
        ("major_gcs", stats.major_gcs),
        ("allocated_bytes", stats.allocated),
        ("max_live_bytes", stats.max_live),
        ("max_large_objects_bytes", stats.max_large),
        ("max_compact_bytes", 0),
        ("max_slop_bytes", stats.max_slop),
        ("max_mem_in_use_bytes", stats.peak_in_use),
        ("cumulative_live_bytes", stats.cumulative_live),
        ("copied_bytes", stats.copied),
        ("par_copied_bytes", stats.par_copied),
        ("cumulative_par_max_copied_bytes", stats.cumulative_par_max),
        ("cumulative_par_balanced_copied_bytes", stats.cumulative_par_balanced),
    ]
}
