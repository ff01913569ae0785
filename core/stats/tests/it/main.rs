//! Statistics as they are printed: against GHC's own texts, read back, and as files.

use std::path::PathBuf;

use gclab_stats::render::{Printer, closing_row, command_line, header, info, machine_readable, one_line, row, summary};
use gclab_stats::{
    Before, Collection, GcThread, GenerationStats, Looks, RunPhase, RunPhases, Sharings, Sink, Statistics, StatsLevel,
    StatsOption, Tasks, Times, Timing, Work, WorkSearch,
};
use gclab_words::Bytes;

const GHC_SUMMARY: &str = include_str!("fixtures/ghc-9.0.2-n1.s.txt");
const GHC_ROWS: &str = include_str!("fixtures/ghc-9.0.2-n2.S.txt");
const GHC_MACHINE: &str = include_str!("fixtures/ghc-9.0.2-n2.mr.txt");

fn times(cpu_us: u64, elapsed_us: u64) -> Times {
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

/// GHC's summary without parallel collections, with times that round to the printed ones.
fn as_ghc_n1() -> Statistics {
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
        // Bytes over GHC's rate: it truncates, as we do.
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
fn as_ghc_n2() -> Statistics {
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

/// GHC's list. Its total is a little more than the sum of the parts.
fn as_ghc_machine() -> Statistics {
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

/// A row of `-S`, read.
fn read_row(line: &str) -> Collection {
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

/// Pairs of a machine-readable list.
fn read_list(text: &str) -> Vec<(String, String)> {
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

/// A summary without the share of collections, which GHC's threaded runtime does not print. That of
/// one thread prints it between Total and the rate, always as 0.
fn as_threaded(text: &str) -> String {
    let shares = |paragraph: &&str| paragraph.starts_with("  %GC     time     ");
    let (own, ghcs): (Vec<_>, Vec<_>) = text.split("\n\n").partition(shares);
    assert_eq!(own.len(), 1, "{text}");
    ghcs.join("\n\n")
}

#[test]
fn the_summary_is_ghcs_to_the_byte() {
    assert_eq!(as_threaded(&summary(&as_ghc_n1())), GHC_SUMMARY);
}

#[test]
fn the_share_of_collections_stands_as_in_ghcs_runtime_of_one_thread() {
    let text = summary(&as_ghc_n1());
    let expected =
        "  Total   time    0.011s  (  0.021s elapsed)\n\n  %GC     time       5.6%  (3.1% elapsed)\n\n  Alloc rate ";
    assert!(text.contains(expected), "{text}");
}

/// Censuses by retainers stood under PROF, and so did the checker.
#[test]
fn retainers_censuses_and_the_checker_have_a_line_each() {
    let mut stats = as_ghc_n1();
    let without = summary(&stats);
    (stats.looks.retainers, stats.looks.check) = (times(2000, 3000), times(4000, 5000));
    let text = summary(&stats);
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("  INIT"))
        .filter(|line| line.contains(" time "))
        .map(|line| &line[2..9])
        .collect();
    assert_eq!(
        lines,
        [
            "INIT   ", "MUT    ", "GC     ", "RP     ", "PROF   ", "CHECK  ", "EXIT   ", "Total  ", "%GC    "
        ]
    );
    assert!(
        text.contains("  RP      time    0.002s  (  0.003s elapsed)\n  PROF    time    0.000s  (  0.000s elapsed)\n")
    );
    let list = read_list(&machine_readable(&stats));
    let value = |key: &str| list.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
    assert_eq!(
        (value("rp_cpu_seconds"), value("hc_cpu_seconds")),
        (Some("0.002000"), Some("0.000000"))
    );
    assert_eq!(
        (value("check_wall_seconds"), value("inspect_wall_seconds")),
        (Some("0.005000"), None)
    );

    // The checker alone is no heap profile.
    stats.looks.retainers = Times::default();
    assert!(!summary(&stats).contains("PROF") && !machine_readable(&stats).contains("hc_cpu"));
    stats.looks = Looks::default();
    assert_eq!(summary(&stats), without);
}

#[test]
fn the_measured_phase_is_a_paragraph_of_its_own() {
    let mut stats = as_ghc_n1();
    let without = summary(&stats);
    let phase = |mutator: u64, gc: u64| RunPhase {
        mutator: times(mutator, mutator),
        gc: times(gc, gc),
        max_pause_ns: 110_000,
        collections: 7,
        ..RunPhase::default()
    };
    stats.phases = RunPhases {
        marked: true,
        setup: phase(2000, 100),
        measured: phase(12_800, 800),
        exit: phase(4200, 0),
    };
    let line = "  Measured phase: 0.014s elapsed (MUT 0.013s, GC 0.001s in 7 colls, longest pause 0.0001s); before it 0.003s, after it 0.004s\n\n";
    let text = summary(&stats);
    assert!(text.contains(line), "{text}");
    assert_eq!(text.replace(line, ""), without);
    let list = machine_readable(&stats);
    assert!(
        list.contains("(\"measured_wall_seconds\", \"0.013600\")")
            && list.contains("\"setup_GC_cpu_seconds\", \"0.000100\"")
    );
}

#[test]
fn rows_and_the_summary_under_them_are_ghcs_to_the_byte() {
    let stats = as_ghc_n2();
    let rows: String = GHC_ROWS
        .lines()
        .filter(|line| line.contains("(Gen:"))
        .map(|line| row(&read_row(line)))
        .collect();
    assert_eq!(rows.lines().count(), 51);
    assert_eq!(
        format!(
            "{}{rows}{}{}",
            header(),
            closing_row(&stats),
            as_threaded(&summary(&stats))
        ),
        GHC_ROWS
    );
}

#[test]
fn the_machine_readable_list_has_ghcs_keys_and_values_in_its_order() {
    // No locks, no spinning, no yielding here.
    let spins = |key: &str| key.ends_with("_spin") || key.ends_with("_yield");
    let mut ghc = read_list(GHC_MACHINE);
    ghc.retain(|(key, _)| !spins(key));
    let mut ours = read_list(&machine_readable(&as_ghc_machine()));
    // Of the runtime of one thread, and of GHC's guide.
    let other = [
        "gc_cpu_percent",
        "gc_wall_percent",
        "mutator_cpu_seconds",
        "mutator_wall_seconds",
    ];
    ours.retain(|(key, _)| !other.contains(&key.as_str()));
    // The last digits of what GHC divides before it rounds.
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

/// GHC's guide has a list with these keys, in this order, and scripts of that time read it.
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

/// GHC's lines stay as they are, and ours stand by themselves.
#[test]
fn how_work_was_shared_and_how_long_stopping_took_are_paragraphs_of_their_own() {
    let ghc = summary(&as_ghc_n2());
    let ours = Statistics {
        sync_ns: 5_100_000,
        max_sync_ns: 2_345_678,
        sharings: Sharings {
            taken: vec![[0, 0, 33, 0, 0, 12], [1, 0, 0, 0, 0, 5]],
            threads: vec![GcThread::default(); 2],
            elapsed_ns: 20_000_000,
            parallel_ns: 17_900_000,
        },
        ..as_ghc_n2()
    };
    let text = summary(&ours);
    let (mut theirs, mut new) = (ghc.split("\n\n"), Vec::new());
    let mut expected = theirs.next();
    for paragraph in text.split("\n\n") {
        if Some(paragraph) == expected {
            expected = theirs.next();
        } else {
            new.push(paragraph);
        }
    }
    assert_eq!(expected, None, "{text}");
    assert_eq!(
        new,
        [
            "  GC sharing: gen 0: 33 too little, 12 balanced; gen 1: 1 alone, 5 balanced (10.5% of parallel pauses sequential)",
            "  GC sync: 0.005s in all, 0.0001s mean, 0.0023s longest"
        ]
    );
    let one = Statistics {
        capabilities: 1,
        sharings: Sharings {
            taken: vec![[45, 0, 0, 0, 0, 0]],
            ..Sharings::default()
        },
        ..ours
    };
    assert_eq!(summary(&one), ghc.replace("-N2", "-N1"));
}

#[test]
fn without_a_major_collection_there_is_no_residency_and_no_division_by_zero() {
    let nothing = Statistics {
        capabilities: 1,
        generations: vec![GenerationStats::default(); 2],
        ..Statistics::default()
    };
    insta::assert_snapshot!(format!(
        "{}{}{}",
        summary(&nothing),
        one_line(&nothing),
        machine_readable(&nothing)
    ));
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

fn option(level: StatsLevel) -> StatsOption {
    StatsOption {
        level,
        ..StatsOption::default()
    }
}

fn to_file(level: StatsLevel, file: impl Into<PathBuf>) -> StatsOption {
    StatsOption {
        file: Some(file.into()),
        ..option(level)
    }
}

#[test]
fn each_flag_prints_what_it_prints_in_ghc() {
    let (stats, collection) = (
        as_ghc_n2(),
        Collection {
            before: Before {
                allocated: Bytes(77),
                ..Before::default()
            },
            ..Collection::default()
        },
    );
    let printed_by = |option: &StatsOption| {
        let sink = Sink::buffer();
        let printer = Printer::to(option, sink.clone());
        printer.collection(&collection);
        printer.finish(&stats);
        sink.buffered()
    };
    let printed = |level| printed_by(&option(level));
    let machine = |level| {
        printed_by(&StatsOption {
            machine_readable: true,
            ..option(level)
        })
    };
    assert_eq!(printed(StatsLevel::Collect), "");
    assert_eq!(printed(StatsLevel::None), "");
    assert_eq!(printed(StatsLevel::OneLine), one_line(&stats));
    assert_eq!(machine(StatsLevel::OneLine), machine_readable(&stats));
    assert_eq!(machine(StatsLevel::Summary), summary(&stats));
    assert_eq!(
        printed(StatsLevel::Each),
        format!(
            "{}{}{}{}",
            header(),
            row(&collection),
            closing_row(&stats),
            summary(&stats)
        )
    );
}

#[test]
fn a_file_begins_with_the_command_line() {
    let path = std::env::temp_dir().join(format!("gclab-stats-{}.txt", std::process::id()));
    let word = format!("-s{}", path.display());
    let printer = Printer::open(
        &to_file(StatsLevel::Summary, &path),
        &["gclab", "exec"],
        &["-A1m", &word],
    )
    .unwrap();
    printer.finish(&as_ghc_n1());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let body = summary(&as_ghc_n1());
    assert_eq!(text, format!("'gclab' 'exec' +RTS '-A1m' '{word}' \n{body}"));
    assert_eq!(
        command_line(&["../bin/p"], &["-N2", "-l", "-sx.txt"]),
        "'../bin/p' +RTS '-N2' '-l' '-sx.txt' \n"
    );
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_before_the_run() {
    let error = Printer::open(&to_file(StatsLevel::Summary, "/no/such/folder/x"), &["gclab"], &[]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// `/dev/full` takes nothing; the run goes on.
#[test]
fn a_file_that_cannot_be_written_does_not_end_the_run() {
    let printer = Printer::open(&to_file(StatsLevel::Each, "/dev/full"), &["gclab"], &["-S/dev/full"]).unwrap();
    printer.collection(&Collection::default());
    printer.finish(&as_ghc_n1());
}

#[test]
fn info_says_what_this_program_is() {
    let text = info(&[("Collectors", "two-space, \"quoted\"".to_owned())]);
    let arch = std::env::consts::ARCH;
    let text = text.replace("\"NO\")\n ,(\"Coll", "\"YES\")\n ,(\"Coll");
    insta::assert_snapshot!(text.replace(arch, "ARCH").replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    // GHC's keys, in its order.
    let fixture = include_str!("fixtures/ghc-9.0.2.info.txt");
    let keys = |text: &str| read_list(text).into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    let ghcs = keys(fixture);
    assert_eq!(keys(&text)[..ghcs.len()], ghcs);
}
