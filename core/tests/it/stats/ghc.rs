//! GHC's own output, and the statistics that must print the same.

use gclab_core::stats::{Before, Collection, GenerationStats, Statistics, Tasks, Times, Timing, Work, WorkSearch};
use gclab_core::words::Bytes;

pub(crate) const GHC_SUMMARY: &str = include_str!("fixtures/ghc-9.0.2-n1.s.txt");
pub(crate) const GHC_ROWS: &str = include_str!("fixtures/ghc-9.0.2-n2.S.txt");
pub(crate) const GHC_MACHINE: &str = include_str!("fixtures/ghc-9.0.2-n2.mr.txt");

pub(crate) fn times(cpu_us: u64, elapsed_us: u64) -> Times {
    Times {
        cpu_ns: cpu_us * 1000,
        elapsed_ns: elapsed_us * 1000,
    }
}

fn generation(collections: u64, par: u64, cpu_us: u64, elapsed_us: u64, max_us: u64) -> GenerationStats {
    GenerationStats {
        collections,
        par_collections: par,
        cpu_ns: cpu_us * 1000,
        elapsed_ns: elapsed_us * 1000,
        max_pause_ns: max_us * 1000,
    }
}

/// GHC's summary without parallel collections. Times are chosen so that they round to the printed
/// ones.
pub(crate) fn as_ghc_n1() -> Statistics {
    Statistics {
        allocated: 110_363_680,
        copied: 366_480,
        major_gcs: 2,
        max_live: 56_816,
        max_slop: 29_200,
        peak_in_use: 2 << 20,
        capabilities: 1,
        tasks: Tasks {
            total: 4,
            bound: 1,
            workers: 3,
            peak_workers: 3,
        },
        generations: vec![generation(105, 0, 440, 450, 40), generation(2, 0, 200, 200, 110)],
        init: times(800, 1100),
        // Chosen so that the rate, which GHC truncates as we do, is GHC's.
        mutator: Times {
            cpu_ns: 10_003_359,
            elapsed_ns: 15_300_000,
        },
        gc: times(640, 650),
        exit: times(43, 3850),
        total: Times {
            cpu_ns: 11_486_359,
            elapsed_ns: 20_900_000,
        },
        ..Statistics::default()
    }
}

/// GHC's summary with parallel collections.
pub(crate) fn as_ghc_n2() -> Statistics {
    Statistics {
        allocated: 51_742_360,
        allocated_after_last: 144,
        copied: 27_551_640,
        par_copied: 10_000,
        cumulative_par_balanced: 1_767,
        major_gcs: 6,
        max_live: 2_433_392,
        max_slop: 53_000,
        peak_in_use: 10 << 20,
        capabilities: 2,
        tasks: Tasks {
            total: 6,
            bound: 1,
            workers: 5,
            peak_workers: 5,
        },
        generations: vec![
            generation(45, 45, 33_000, 20_000, 4_700),
            generation(6, 5, 12_000, 8_600, 5_100),
        ],
        init: times(700, 900),
        mutator: Times {
            cpu_ns: 54_644_773,
            elapsed_ns: 91_400_000,
        },
        gc: times(44_700, 28_600),
        exit: times(200, 10_000),
        total: times(100_245, 130_900),
        ..Statistics::default()
    }
}

/// GHC's list. Its total is slightly more than the sum of its parts.
pub(crate) fn as_ghc_machine() -> Statistics {
    Statistics {
        allocated: 51_742_360,
        copied: 27_551_528,
        par_copied: 27_525_104,
        cumulative_par_max: 25_215_904,
        cumulative_par_balanced: 4_512_736,
        major_gcs: 6,
        max_live: 2_433_392,
        max_large: 41_080,
        max_slop: 61_232,
        cumulative_live: 8_892_992,
        peak_in_use: 10 << 20,
        init: times(1_159, 3_313),
        mutator: Times {
            cpu_ns: 31_485_110,
            elapsed_ns: 85_708_000,
        },
        gc: times(46_848, 52_041),
        exit: times(599, 9_356),
        total: times(80_098, 150_425),
        capabilities: 2,
        tasks: Tasks {
            total: 6,
            bound: 1,
            workers: 5,
            peak_workers: 5,
        },
        search: WorkSearch {
            any_work: 26_811,
            no_work: 26_807,
            scav_find_work: 239,
        },
        generations: vec![
            generation(45, 45, 35_985, 40_162, 10_677),
            generation(6, 5, 10_863, 11_878, 6_586),
        ],
        ..Statistics::default()
    }
}

/// Parses a row of `-S`.
pub(crate) fn read_row(line: &str) -> Collection {
    let line = line.replace("(Gen:", "").replace(')', "");
    let fields: Vec<&str> = line.split_whitespace().collect();
    let number = |i: usize| fields[i].parse::<u64>().unwrap();
    let bytes = |i: usize| Bytes(number(i) as usize);
    let ns = |i: usize| (fields[i].parse::<f64>().unwrap() * 1e9).round() as u64;
    Collection {
        work: Work {
            copied: bytes(1),
            live: bytes(2),
            generation: fields[9].parse().unwrap(),
            ..Work::default()
        },
        before: Before {
            allocated: bytes(0),
            faults: number(8),
            ..Before::default()
        },
        time: Timing {
            cpu_ns: ns(3),
            elapsed_ns: ns(4),
            total_cpu_ns: ns(5),
            start_ns: ns(6) - ns(4),
            faults: number(7),
            ..Timing::default()
        },
        ..Collection::default()
    }
}

/// The key-value pairs of a machine-readable list.
pub(crate) fn read_list(text: &str) -> Vec<(String, String)> {
    let inner = text
        .strip_prefix(" [")
        .and_then(|t| t.strip_suffix("\n ]\n"))
        .expect("a list");
    let pair = |line: &str| {
        let (key, value) = line.strip_prefix("(\"")?.strip_suffix("\")")?.split_once("\", \"")?;
        Some((key.to_owned(), value.to_owned()))
    };
    inner.split("\n ,").map(|line| pair(line).expect("a pair")).collect()
}

/// A summary without the collections' share of the time. GHC's single-threaded runtime prints it
/// between Total and the rate, always as 0; the threaded one does not.
pub(crate) fn as_threaded(text: &str) -> String {
    let shares = |paragraph: &&str| paragraph.starts_with("  %GC     time     ");
    let (own, ghcs): (Vec<_>, Vec<_>) = text.split("\n\n").partition(shares);
    assert_eq!(own.len(), 1, "{text}");
    ghcs.join("\n\n")
}
