//! The list of `-t --machine-readable`, and the line of `-t`.

use super::ghc::{GHC_MACHINE, as_ghc_machine, read_list};
use gclab_core::stats::RtsStats;
use gclab_core::stats::render::{machine_readable, one_line};

#[test]
fn the_machine_readable_list_has_ghcs_keys_and_values_in_its_order() {
    // We do not count locks, spinning or yielding.
    let spins = |key: &str| key.ends_with("_spin") || key.ends_with("_yield");
    let mut ghc = read_list(GHC_MACHINE);
    ghc.retain(|(key, _)| !spins(key));
    let mut ours = read_list(&machine_readable(&as_ghc_machine()));
    // Keys of the single-threaded runtime, and of GHC's guide.
    let other = [
        "gc_cpu_percent",
        "gc_wall_percent",
        "mutator_cpu_seconds",
        "mutator_wall_seconds",
    ];
    ours.retain(|(key, _)| !other.contains(&key.as_str()));
    // GHC rounds after dividing, so the last digits differ.
    for (key, value) in ours.iter_mut().filter(|(key, _)| key.starts_with("productivity")) {
        let theirs: f64 = ghc.iter().find(|(k, _)| k == key).unwrap().1.parse().unwrap();
        assert!(
            (value.parse::<f64>().unwrap() - theirs).abs() < 2e-5,
            "{key}: {value}, GHC {theirs}"
        );
        *value = format!("{theirs:.6}");
    }
    assert_eq!(ours, ghc);
}

/// GHC's guide lists these keys in this order, and scripts of that time read them.
#[test]
fn the_machine_readable_list_has_the_keys_of_ghcs_guide_in_its_order() {
    let guide = [
        "bytes allocated",
        "num_GCs",
        "average_bytes_used",
        "max_bytes_used",
        "num_byte_usage_samples",
        "peak_megabytes_allocated",
        "init_cpu_seconds",
        "init_wall_seconds",
        "mutator_cpu_seconds",
        "mutator_wall_seconds",
        "GC_cpu_seconds",
        "GC_wall_seconds",
    ];
    let list = read_list(&machine_readable(&as_ghc_machine()));
    let keys: Vec<&str> = list
        .iter()
        .map(|(key, _)| key.as_str())
        .filter(|key| guide.contains(key))
        .collect();
    assert_eq!(keys, guide);
    let value = |key: &str| &list.iter().find(|(k, _)| k == key).expect(key).1;
    assert_eq!(value("mutator_wall_seconds"), value("mut_wall_seconds"));
}

#[test]
fn what_is_printed_reads_back_as_the_same_numbers() {
    let stats = as_ghc_machine();
    let list = read_list(&machine_readable(&stats));
    let value = |key: &str| list.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str()).unwrap();
    let ns = |key: &str| (value(key).parse::<f64>().unwrap() * 1e9).round() as u64;
    assert_eq!(value("allocated_bytes").parse(), Ok(stats.allocated));
    assert_eq!(value("num_GCs").parse(), Ok(51));
    assert_eq!(value("average_bytes_used").parse(), Ok(8_892_992 / 6));
    assert_eq!(ns("GC_wall_seconds"), stats.gc.elapsed_ns);
    assert_eq!(ns("total_cpu_seconds"), stats.total.cpu_ns);
    assert_eq!(ns("gen_1_max_pause_seconds"), stats.generations[1].max_pause_ns);
    assert_eq!(value("sparks_dud "), "0");

    assert_eq!(
        one_line(&stats),
        "<<ghc: 51742360 bytes, 51 GCs, 1482165/2433392 avg/max bytes residency (6 samples), 10M in use, 0.001 INIT (0.003 elapsed), \
         0.031 MUT (0.086 elapsed), 0.047 GC (0.052 elapsed) :ghc>>\n"
    );
}

/// A program that reads its own statistics gets the numbers that the run prints.
#[test]
fn the_statistics_of_a_program_are_those_of_the_machine_readable_list() {
    let statistics = as_ghc_machine();
    let list = read_list(&machine_readable(&statistics));
    let value = |key: &str| {
        list.iter()
            .find(|(k, _)| k == key)
            .expect(key)
            .1
            .parse::<f64>()
            .expect(key)
    };
    let own = RtsStats::from(&statistics);
    for (key, figure) in [
        ("num_GCs", own.gcs),
        ("major_gcs", own.major_gcs),
        ("allocated_bytes", own.allocated_bytes),
        ("max_live_bytes", own.max_live_bytes),
        ("max_large_objects_bytes", own.max_large_objects_bytes),
        ("max_slop_bytes", own.max_slop_bytes),
        ("max_mem_in_use_bytes", own.max_mem_in_use_bytes),
        ("cumulative_live_bytes", own.cumulative_live_bytes),
        ("copied_bytes", own.copied_bytes),
        ("par_copied_bytes", own.par_copied_bytes),
        ("cumulative_par_max_copied_bytes", own.cumulative_par_max_copied_bytes),
        (
            "cumulative_par_balanced_copied_bytes",
            own.cumulative_par_balanced_copied_bytes,
        ),
    ] {
        assert_eq!(figure as f64, value(key), "{key}");
    }
    for (key, ns) in [
        ("init_cpu_seconds", own.init_cpu_ns),
        ("init_wall_seconds", own.init_elapsed_ns),
        ("mut_cpu_seconds", own.mutator_cpu_ns),
        ("mut_wall_seconds", own.mutator_elapsed_ns),
        ("GC_cpu_seconds", own.gc_cpu_ns),
        ("GC_wall_seconds", own.gc_elapsed_ns),
        ("total_cpu_seconds", own.cpu_ns),
        ("total_wall_seconds", own.elapsed_ns),
    ] {
        assert!((ns as f64 / 1e9 - value(key)).abs() < 1e-6, "{key}");
    }
}
