//! The summary of `-s`, and the rows of `-S` above it.

use super::ghc::{GHC_ROWS, GHC_SUMMARY, as_ghc_n1, as_ghc_n2, as_threaded, read_list, read_row, times};
use gclab_core::stats::render::{closing_row, header, machine_readable, one_line, row, summary};
use gclab_core::stats::{
    ConcurrentCycles, GcThread, GenerationStats, Looks, Refills, RunPhase, RunPhases, Sharings, Statistics, Times,
};

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

/// Retainer censuses used to be counted under PROF, and so did the checker.
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

    // The checker alone is not a heap profile.
    stats.looks.retainers = Times::default();
    assert!(!summary(&stats).contains("PROF") && !machine_readable(&stats).contains("hc_cpu"));
    stats.looks = Looks::default();
    assert_eq!(summary(&stats), without);
}

/// The lines are those of a program of GHC 9.0.2 with `-xn -s`.
#[test]
fn concurrent_cycles_have_ghcs_lines() {
    let mut stats = as_ghc_n1();
    let without = summary(&stats);
    stats.concurrent = times(300, 150);
    stats.gc.cpu_ns += stats.concurrent.cpu_ns;
    stats.concurrent_cycles = ConcurrentCycles {
        count: 2,
        sync_ns: 1_400_000,
        max_sync_ns: 1_390_000,
        max_elapsed_ns: 100_000,
        since_ns: 0,
    };
    let text = summary(&stats);
    let ghcs = [
        "  Gen  1         2 syncs,                       0.001s     0.0007s    0.0014s\n",
        "  Gen  1      concurrent,              0.000s   0.000s     0.0001s    0.0001s\n",
        "  CONC GC time    0.000s  (  0.000s elapsed)\n",
    ];
    let rest = ghcs.iter().fold(text, |text, line| {
        assert!(text.contains(line), "{text}");
        text.replace(line, "")
    });
    let before_share = |text: &str| text.split("%GC").next().map(str::to_owned);
    assert_eq!(before_share(&rest), before_share(&without));
    let list = machine_readable(&stats);
    let keys = list.lines().filter_map(|line| line.strip_prefix(" ,(\"nonmoving_"));
    let keys: Vec<_> = keys.collect();
    let expected = [
        r#"sync_wall_seconds", "0.001400")"#,
        r#"sync_max_pause_seconds", "0.001390")"#,
        r#"sync_avg_pause_seconds", "0.000700")"#,
        r#"concurrent_cpu_seconds", "0.000300")"#,
        r#"concurrent_wall_seconds", "0.000150")"#,
        r#"concurrent_max_pause_seconds", "0.000100")"#,
        r#"concurrent_avg_pause_seconds", "0.000075")"#,
    ];
    assert_eq!(keys, expected);
}

#[test]
fn refills_have_their_own_paragraph() {
    let mut stats = as_ghc_n1();
    let without = summary(&stats);
    stats.mutator = times(50_000, 50_000);
    let before = summary(&stats);
    assert!(!before.contains("Refills") && !without.contains("Refills"));
    stats.refills = Refills {
        count: 12_345,
        elapsed_ns: 20_000_000,
    };
    let line = "  Refills: 12,345 of allocators, 0.020s of MUT elapsed (40.0%)\n\n";
    let text = summary(&stats);
    assert!(text.contains(line), "{text}");
    assert_eq!(text.replace(line, ""), before);
}

#[test]
fn the_measured_phase_has_its_own_paragraph() {
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

/// GHC's lines stay as they are; ours are separate.
#[test]
fn how_work_was_shared_and_how_long_stopping_took_have_their_own_paragraphs() {
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
