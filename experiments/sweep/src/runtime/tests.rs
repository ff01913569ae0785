//! How each adapter interprets flags, and the output of real runtimes.

use std::path::Path;

use gclab_results::Purpose;

use super::*;

fn setting(runtime: &str, flags: &[(&str, &str)]) -> Setting {
    let runtime = named(runtime).unwrap();
    let value = |(key, text): &(&str, &str)| {
        let value = runtime.read(key, text).unwrap_or_else(|bad| panic!("{}", bad.message));
        (value.key(), value)
    };
    flags.iter().map(value).collect()
}

fn files(statistics: &str) -> Files<'_> {
    Files {
        statistics: Path::new(statistics),
        eventlog: Path::new("/tmp/e"),
        profile: Path::new("/tmp/p"),
        pause_counters: false,
    }
}

/// The command line and environment of a command with these flags.
fn started(runtime: &str, command: &[&str], env: &[(&str, &str)], flags: &[(&str, &str)], measured: bool) -> Start {
    let words: Vec<String> = command.iter().map(|word| word.to_string()).collect();
    let env: Vec<_> = env
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let command = Command {
        words: &words,
        env: &env,
    };
    let task = Task {
        purpose: Purpose::Times,
        files: measured.then(|| files("/tmp/s")),
    };
    named(runtime).unwrap().start(command, &setting(runtime, flags), task)
}

fn line(start: &Start) -> String {
    start.words.join(" ")
}

fn ended<'e>(status: Option<i32>, stderr: &'e str, statistics: Option<&'e str>) -> Ended<'e> {
    Ended {
        status,
        stdout: "",
        stderr,
        statistics,
        limited: false,
    }
}

#[test]
fn ghc_flags_go_between_rts() {
    let with = |flags: &[(&str, &str)]| line(&started("ghc", &["./p", "a"], &[], flags, false));
    assert_eq!(with(&[]), "./p a");
    assert_eq!(
        with(&[("A", "1024k"), ("F", "1.50"), ("G", "3"), ("N", "2"), ("n", "256k")]),
        "./p a +RTS -A1m -F1.5 -G3 -N2 -n256k -RTS"
    );
    assert_eq!(
        with(&[("xn", "true"), ("qg", "false")]),
        "./p a +RTS -qg --nonmoving-gc -RTS"
    );
    assert_eq!(with(&[("qg", "1"), ("qb", "0")]), "./p a +RTS -qb0 -qg1 -RTS");
    assert_eq!(with(&[("c", "true")]), "./p a +RTS -c -RTS");
    assert_eq!(with(&[("c", "40")]), "./p a +RTS -c40 -RTS");
    assert_eq!(
        with(&[("c", "false"), ("xn", "false")]),
        "./p a",
        "the default has no word"
    );
    assert_eq!(
        line(&started("ghc", &["./p"], &[], &[("A", "1m")], true)),
        "./p +RTS -A1m -t/tmp/s --machine-readable -RTS"
    );
    // Every word after `--RTS` is the program's.
    assert_eq!(
        line(&started("ghc", &["./p", "--RTS", "+RTS"], &[], &[("A", "1m")], false)),
        "./p +RTS -A1m -RTS --RTS +RTS"
    );
    assert_eq!(
        line(&started(
            "ghc",
            &["./p", "-x", "--", "file", "--RTS"],
            &[],
            &[("A", "1m")],
            false
        )),
        "./p -x +RTS -A1m -RTS -- file --RTS"
    );
}

#[test]
fn ocaml_flags_go_in_its_variable_after_those_of_the_file() {
    let start = started(
        "ocaml",
        &["./p"],
        &[("OCAMLRUNPARAM", "b")],
        &[("s", "262144"), ("o", "120")],
        true,
    );
    assert_eq!(
        start.env,
        [("OCAMLRUNPARAM".to_owned(), "b,o=120,s=256k,v=0x400".to_owned())]
    );
    let with = |name: &str, own: &str| started("ocaml", &["./p"], &[(name, own)], &[("o", "90")], false).env;
    for own in ["", ",", "b,", ",b,,"] {
        let expected = if own.contains('b') { "b,o=90" } else { "o=90" };
        assert_eq!(
            with("OCAMLRUNPARAM", own),
            [("OCAMLRUNPARAM".to_owned(), expected.to_owned())]
        );
    }
    assert_eq!(
        with("CAMLRUNPARAM", "b"),
        [("OCAMLRUNPARAM".to_owned(), "b,o=90".to_owned())]
    );
    assert_eq!(started("ocaml", &["./p"], &[], &[], false).env, []);
    let limited = started("ocaml", &["./p"], &[], &[("address-space", "64m")], false);
    assert_eq!((limited.address_space, limited.env), (Some(64 << 20), vec![]));
    assert_eq!(started("ocaml", &["./p"], &[], &[("s", "2m")], false).env[0].1, "s=2M");
}

#[test]
fn jvm_flags_follow_java_or_go_in_a_variable() {
    let flags = [("Xmx", "64m"), ("gc", "Serial"), ("AlwaysPreTouch", "false")];
    let start = started("jvm", &["/usr/bin/java", "-cp", "x", "Main"], &[], &flags, false);
    assert_eq!(
        line(&start),
        "/usr/bin/java -XX:-AlwaysPreTouch -Xmx64m -XX:+UseSerialGC -cp x Main"
    );
    let script = started("jvm", &["./run.sh"], &[("JDK_JAVA_OPTIONS", "-ea")], &flags, false);
    assert_eq!(line(&script), "./run.sh");
    assert_eq!(
        script.env,
        [(
            "JDK_JAVA_OPTIONS".to_owned(),
            "-ea -XX:-AlwaysPreTouch -Xmx64m -XX:+UseSerialGC".to_owned()
        )]
    );
}

#[test]
fn a_path_with_a_blank_stays_one_word_of_the_variable() {
    let words = ["./run.sh".to_owned()];
    let command = Command {
        words: &words,
        env: &[],
    };
    let task = Task {
        purpose: Purpose::Times,
        files: Some(files("/tmp/my runs/s")),
    };
    let start = named("jvm").unwrap().start(command, &Setting::default(), task);
    assert_eq!(start.env[0].1, "\"-Xlog:gc*:file=/tmp/my runs/s.%p::filecount=0\"");
}

#[test]
fn values_that_a_flag_does_not_take_are_refused() {
    for (runtime, key, text) in [
        ("ghc", "A", "much"),
        ("ghc", "A", "-1m"),
        ("ghc", "A", "1.0000001k"),
        ("ghc", "G", "0"),
        ("ghc", "F", "-1"),
        ("ghc", "F", "nan"),
        ("ghc", "xn", "1"),
        ("ghc", "qg", "true"),
        ("ocaml", "a", "3"),
        ("jvm", "gc", "serial"),
        ("jvm", "Xmx", ""),
    ] {
        let all = named(runtime).unwrap().flags();
        let flag = all.iter().find(|flag| flag.key == key).unwrap();
        assert_eq!(flag.read(text), None, "{runtime} {key} = {text}");
        assert!(!flag.expected().is_empty());
    }
}

#[test]
fn keys_are_unique_and_limits_are_flags() {
    for runtime in all() {
        let mut keys: Vec<&str> = runtime.flags().iter().map(|flag| flag.key).collect();
        assert!(keys.contains(&runtime.limit()), "{}", runtime.name());
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), runtime.flags().len(), "{}", runtime.name());
    }
}

/// The start, the middle and the end of GHC 9.0.2's output.
const GHC: &str = r#"'./p' +RTS '-t/tmp/s' '--machine-readable' 
 [("bytes allocated", "32072752")
 ,("num_GCs", "31")
 ,("mut_cpu_seconds", "0.010000")
 ,("GC_cpu_seconds", "0.004000")
 ,("GC_wall_seconds", "0.005000")
 ,("total_wall_seconds", "0.020000")
 ,("major_gcs", "2")
 ,("allocated_bytes", "32072752")
 ,("max_live_bytes", "44328")
 ,("max_mem_in_use_bytes", "5242880")
 ,("par_copied_bytes", "1000")
 ,("cumulative_par_balanced_copied_bytes", "250")
 ,("sparks_dud ", "0")
 ,("n_capabilities", "2")
 ,("gen_0_collections", "29")
 ,("gen_0_par_collections", "29")
 ,("gen_0_max_pause_seconds", "0.000500")
 ,("gen_1_collections", "2")
 ,("gen_1_par_collections", "1")
 ,("gen_1_max_pause_seconds", "0.002500")
 ]
"#;

#[test]
fn what_ghc_writes_becomes_statistics() {
    let ghc = named("ghc").unwrap();
    let stats = ghc.figures(&ended(Some(0), "", Some(GHC))).stats.unwrap();
    assert_eq!(
        (stats.gcs, stats.major_gcs, stats.allocated_bytes),
        (Some(31), Some(2), Some(32_072_752))
    );
    assert_eq!(
        (stats.gc_elapsed_seconds, stats.gc_cpu_seconds),
        (Some(0.005), Some(0.004))
    );
    assert_eq!(
        (stats.peak_in_use_bytes, stats.work_balance),
        (Some(5 << 20), Some(0.25))
    );
    assert_eq!(stats.capabilities, Some(2));
    let pauses: Vec<_> = stats
        .generations
        .iter()
        .map(|own| (own.collections, own.max_pause_seconds))
        .collect();
    assert_eq!(pauses, [(29, Some(0.0005)), (2, Some(0.0025))]);
    // Absent, not zero.
    assert_eq!(
        (stats.copied_bytes, stats.sync_elapsed_seconds, stats.exit_cpu_seconds),
        (None, None, None)
    );
    let serial = GHC.replace("\"1000\"", "\"0\"");
    assert_eq!(
        ghc.figures(&ended(Some(0), "", Some(&serial)))
            .stats
            .unwrap()
            .work_balance,
        None
    );
    assert_eq!(ghc.figures(&ended(Some(0), "", Some("nothing"))).stats, None);
    assert_eq!(ghc.figures(&ended(Some(0), "", None)).stats, None);
}

#[test]
fn what_ocaml_prints_becomes_statistics() {
    let text = "my own line\nminor_words: 5\nallocated_words: 724871\nminor_words: 704870\npromoted_words: 242976\n\
                major_words: 262977\nminor_collections: 179\nmajor_collections: 14\nheap_words: 126976\n\
                top_heap_words: 126976\n";
    let ocaml = named("ocaml").unwrap();
    let stats = ocaml.figures(&ended(Some(0), text, None)).stats.unwrap();
    assert_eq!(stats.allocated_bytes, Some(724_871 * 8), "OCaml's own sum");
    assert_eq!((stats.gcs, stats.major_gcs), (Some(193), Some(14)));
    assert_eq!(
        (stats.copied_bytes, stats.peak_in_use_bytes),
        (Some(242_976 * 8), Some(126_976 * 8))
    );
    assert_eq!(stats.gc_elapsed_seconds, None, "it tells no times");
    assert_eq!(ocaml.figures(&ended(Some(0), "no figures", None)).stats, None);
    // A script may start several programs.
    let idle = text.replace("179", "0").replace(" 14", " 0");
    for both in [format!("{idle}{text}"), format!("{text}{idle}")] {
        assert_eq!(ocaml.figures(&ended(Some(0), &both, None)).stats.as_ref(), Some(&stats));
    }
    let two = ocaml.figures(&ended(Some(0), &text.repeat(2), None));
    assert_eq!(two.stats, None);
    assert!(
        two.notes[0].contains("the command starts 2 programs of OCaml that collect"),
        "{:?}",
        two.notes
    );
}

#[test]
fn what_the_jvm_logs_becomes_statistics() {
    let log = "[0.008s][info][gc] Using G1\n\
        [0.135s][info][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)\n\
        [0.137s][info][gc,phases   ] GC(0)   Evacuate Collection Set: 1.6ms\n\
        [0.137s][info][gc,metaspace] GC(0) Metaspace: 233K(448K)->233K(448K) NonClass: 224K(320K)->224K(320K)\n\
        [0.137s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(64M) 2.000ms\n\
        [0.200s][info][gc          ] GC(1) Concurrent Mark Cycle\n\
        [0.210s][info][gc          ] GC(1) Pause Remark 20M->20M(96M) 0.500ms\n\
        [0.210s][info][gc          ] GC(1) Concurrent Mark Cycle 10.500ms\n\
        [0.300s][info][gc          ] GC(2) Pause Full (System.gc()) 30M->5M(32M) 7.500ms\n";
    let jvm = named("jvm").unwrap();
    let stats = jvm.figures(&ended(Some(0), "", Some(log))).stats.unwrap();
    assert_eq!(
        stats.gc_elapsed_seconds,
        Some(0.01),
        "the pauses, not the concurrent cycle"
    );
    assert_eq!(
        (stats.gcs, stats.major_gcs),
        (Some(2), Some(1)),
        "marking and its pauses are no collection"
    );
    assert_eq!(
        (stats.peak_in_use_bytes, stats.max_live_bytes),
        (Some(96 << 20), Some(5 << 20))
    );
    let pauses = stats.pauses.unwrap();
    assert_eq!(
        (pauses.count, pauses.max_ns, pauses.p50_ns, pauses.p90_ns),
        (3, Some(7_500_000), Some(2_000_000), None)
    );
    // ZGC: several short pauses in a collection, and shares of the heap.
    let z = "[0.312s][info][gc,phases   ] GC(0) Pause Mark Start 0.016ms\n\
             [0.330s][info][gc,phases   ] GC(0) Pause Mark End 0.019ms\n\
             [0.341s][info][gc          ] GC(0) Garbage Collection (Warmup) 38M(59%)->18M(28%)\n";
    let stats = jvm.figures(&ended(Some(0), "", Some(z))).stats.unwrap();
    assert_eq!(
        (stats.gcs, stats.pauses.unwrap().count, stats.peak_in_use_bytes),
        (Some(1), 2, None)
    );
    let nothing = "[0.1s][info][gc] GC(0) Pause Full (System.gc()) 48M->0M(64M) 2.000ms\n";
    let stats = jvm.figures(&ended(Some(0), "", Some(nothing))).stats.unwrap();
    assert_eq!(stats.max_live_bytes, None, "less than 1M, and not 0");
}

/// The logs of concurrent collectors, and of locales with a decimal comma.
#[test]
fn every_collector_of_the_jvm_has_its_collections_and_pauses() {
    let jvm = named("jvm").unwrap();
    let of = |log: &str| {
        let stats = jvm.figures(&ended(Some(0), "", Some(log))).stats.expect("understood");
        let pauses = stats.pauses.unwrap();
        (
            (stats.gcs.unwrap(), stats.major_gcs.unwrap()),
            (pauses.count, pauses.total_ns, pauses.max_ns.unwrap()),
            stats.peak_in_use_bytes.map(|bytes| bytes >> 20),
        )
    };
    let generational = "[0.089s][info][gc,start    ] GC(0) Minor Collection (Allocation Rate)\n\
        [0.090s][info][gc,phases   ] GC(0) y: Pause Mark Start 0.010ms\n\
        [0.095s][info][gc,phases   ] GC(0) y: Pause Mark End 0.050ms\n\
        [0.095s][info][gc,heap     ] GC(0) y: Max Capacity: 128M(100%)\n\
        [0.095s][info][gc,heap     ] GC(0) y:  Capacity:       64M (100%)        96M (100%)        64M (100%)   \n\
        [0.100s][info][gc          ] GC(0) Minor Collection (Allocation Rate) 38M(59%)->18M(28%) 0.025s\n\
        [0.200s][info][gc,phases   ] GC(1) Y: Pause Mark Start 0.020ms\n\
        [0.210s][info][gc,phases   ] GC(1) O: Pause Mark End 0.030ms\n\
        [0.220s][info][gc          ] GC(1) Major Collection (Warmup) 40M(62%)->20M(31%) 0.030s\n";
    assert_eq!(of(generational), ((2, 1), (4, 110_000, 50_000), Some(96)));
    let z = "[0.187s][info][gc,phases   ] GC(0) Pause Mark Start 0.010ms\n\
        [0.187s][info][gc,heap     ] GC(0) Soft Max Capacity: 96M(100%)\n\
        [0.187s][info][gc,heap     ] GC(0)  Capacity:       64M (67%)          64M (67%)          66M (69%)   \n\
        [0.187s][info][gc          ] GC(0) Garbage Collection (Warmup) 10M(10%)->8M(8%)\n";
    assert_eq!(of(z), ((1, 1), (1, 10_000, 10_000), Some(66)));
    let shenandoah = "[0.089s][info][gc,start    ] GC(0) Pause Init Mark (unload classes)\n\
        [0.089s][info][gc          ] GC(0) Pause Init Mark (unload classes) 0.040ms\n\
        [0.099s][info][gc          ] GC(0) Pause Final Mark (unload classes) 0.130ms\n\
        [0.099s][info][gc          ] GC(0) Concurrent cleanup 41M->40M(64M) 0.010ms\n\
        [0.104s][info][gc          ] GC(0) Concurrent cleanup 40M->12M(64M) 0.100ms\n\
        [0.200s][info][gc          ] GC(1) Pause Init Mark 0.010ms\n";
    assert_eq!(
        of(shenandoah),
        ((1, 1), (3, 180_000, 130_000), Some(64)),
        "the second did not end"
    );
    // A cancelled cycle counts, and so does one that works while the program is stopped.
    let cancelled = "[0.1s][info][gc          ] GC(0) Concurrent reset 0.052ms\n\
        [0.1s][info][gc          ] GC(0) Pause Init Mark (unload classes) 0.030ms\n\
        [0.2s][info][gc,start    ] GC(1) Pause Degenerated GC (Outside of Cycle)\n\
        [0.2s][info][gc          ] GC(1) Pause Degenerated GC (Outside of Cycle) 91M->25M(96M) 10.000ms\n";
    assert_eq!(of(cancelled), ((2, 2), (2, 10_030_000, 10_000_000), Some(96)));
    let young = cancelled
        .replace("reset", "reset (Young)")
        .replace("GC (Out", "GC (Young) (Out");
    assert_eq!(of(&young).0, (2, 0), "generational");
    let comma = "[0,135s][info][gc] GC(0) Pause Young (Allocation Failure) 6M->1M(64M) 2,170ms\n\
        [0,300s][info][gc] GC(1) Pause Full (System.gc()) 30M->5M(32M) 7,500ms\n";
    assert_eq!(of(comma), ((2, 1), (2, 9_670_000, 7_500_000), Some(64)));
    for (separator, digit) in [("\u{66b}", "2"), ("\u{66b}", "۲"), ("\u{66b}", "٢"), (".", "2")] {
        let arabic = comma
            .replace(',', separator)
            .replace("2,", &format!("{digit}{separator}"));
        assert_eq!(of(&arabic), of(comma), "{arabic}");
    }
    let odd = "[0.1s][info][gc] GC(1) Stop everything 6M->1M(64M) 2.170ms\n";
    let known = "[0.1s][info][gc] GC(0) Pause Young (Normal) 6M->1M(64M) 2.000ms\n";
    for (log, part) in [
        (
            odd,
            "1 of 1 collections in the log of the JVM; one begins with `Stop everything",
        ),
        (&format!("{known}{odd}"), "1 of 2 collections"),
        (
            "[0.1s][info][gc] GC(0) Pause Young (Normal) 6M->1M(64M) 2 milliseconds\n",
            "1 of 1",
        ),
        (
            "[0.1s][info][gc] GC(0) Pause Mark Start 0·010ms\n[0.1s][info][gc] GC(0) Pause Mark End 0.010ms\n\
             [0.1s][info][gc] GC(0) Garbage Collection (Warmup) 10M(10%)->8M(8%)\n",
            "1 of 1 collections",
        ),
        (
            "0.135: [GC (Allocation Failure)  6144K->1M(64M), 0.0021 secs]\n",
            "begins with `0.135: [GC",
        ),
        ("", "-Xlog"),
    ] {
        let figures = jvm.figures(&ended(Some(0), "", Some(log)));
        assert_eq!(figures.stats, None, "no figure in place of 0: {log}");
        let note = &figures.notes[0];
        assert!(
            note.starts_with("no figures of collections: ") && note.contains(part),
            "{note}"
        );
    }
    let none = jvm.figures(&ended(Some(0), "", Some("[0.008s][info][gc] Using G1\n")));
    assert_eq!(none.stats.unwrap().gcs, Some(0), "a program that allocates little");
}

#[test]
fn figures_of_ghc_are_read_under_every_locale_and_its_warnings_are_kept() {
    let ghc = named("ghc").unwrap();
    let comma = GHC.replace("0.010000", "0,010000");
    let warning = "p: WARNING: compact/sweep is incompatible with -G1; disabled";
    let figures = ghc.figures(&ended(Some(0), &format!("other words\n{warning}\n"), Some(&comma)));
    assert_eq!(figures.stats.unwrap().mut_cpu_seconds, Some(0.01));
    assert_eq!(figures.notes, [warning]);
    let of = |value: &str| ghc.figures(&ended(Some(0), "", Some(&GHC.replace("0.010000", value))));
    assert_eq!(of("0\u{66b}010000").stats.unwrap().mut_cpu_seconds, Some(0.01));
    let odd = of("0·010000");
    assert_eq!(odd.stats.unwrap().mut_cpu_seconds, None);
    assert!(
        odd.notes[0].ends_with("one is mut_cpu_seconds, `0·010000`"),
        "absent, and said: {:?}",
        odd.notes
    );
}

#[test]
fn each_runtime_says_in_its_way_that_memory_ran_out() {
    let of = |runtime: &str, status, stderr| named(runtime).unwrap().failure(&ended(status, stderr, None));
    let exhausted = Some(Failure::Exhausted);
    assert_eq!(of("ghc", Some(251), "p: Heap exhausted;"), exhausted);
    assert_eq!(of("ghc", Some(2), "an error of the program"), None);
    assert_eq!(of("ghc", None, ""), None);
    assert_eq!(of("ocaml", Some(2), "Fatal error: exception Out_of_memory"), exhausted);
    assert_eq!(of("ocaml", None, "Fatal error: out of memory"), exhausted);
    assert_eq!(of("ocaml", Some(2), "Fatal error: exception Not_found"), None);
    let heap_space = "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space";
    assert_eq!(of("jvm", Some(1), heap_space), exhausted);
    let at_start = "Error occurred during initialization of VM\nGC triggered before VM initialization completed. \
                    Try increasing NewSize, current value 1331K.";
    assert_eq!(of("jvm", Some(1), at_start), exhausted);
    assert_eq!(of("jvm", Some(1), "Exception in thread \"main\" java.lang.Error"), None);
    let refused = Some(Failure::Refused);
    assert_eq!(of("ghc", Some(1), "p: Most RTS options are disabled."), refused);
    let vm = "Unrecognized VM option 'UseFoo'\nError: Could not create the Java Virtual Machine.";
    assert_eq!(of("jvm", Some(1), vm), refused);
    // Without a limit, the output means nothing to gclab.
    assert_eq!(of("none", Some(1), "out of memory"), None);
    let limited = Ended {
        limited: true,
        ..ended(
            Some(127),
            "error while loading shared libraries: failed to map segment",
            None,
        )
    };
    assert_eq!(named("none").unwrap().failure(&limited), exhausted);
    let killed = Ended {
        stderr: "",
        status: None,
        ..limited
    };
    for runtime in ["none", "ocaml"] {
        assert_eq!(named(runtime).unwrap().failure(&killed), exhausted, "{runtime}");
        assert_eq!(of(runtime, None, ""), None, "{runtime}: a signal without a limit");
    }
    let no_start = Ended {
        stderr: "Fatal error: cannot initialize domain state",
        status: None,
        ..limited
    };
    assert_eq!(named("ocaml").unwrap().failure(&no_start), exhausted);
}

#[test]
fn each_runtime_tells_its_version_where_it_can() {
    let of = |runtime: &str, stdout: &str, stderr: &str| {
        let ended = Ended {
            stdout,
            ..ended(Some(0), stderr, None)
        };
        named(runtime).unwrap().version(Some(&ended), None)
    };
    let info = " [(\"GHC RTS\", \"YES\")\n ,(\"GHC version\", \"9.0.2\")\n ,(\"RTS way\", \"rts_thr\")\n";
    assert_eq!(of("ghc", info, ""), Some("GHC 9.0.2 rts_thr".to_owned()));
    assert_eq!(of("ghc", "the program's own output", ""), None);
    let java = "Picked up JAVA_TOOL_OPTIONS: -ea\nopenjdk version \"17.0.15\" 2025-04-15\n\
        OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)\n\
        OpenJDK 64-Bit Server VM (build 17.0.15+6-Debian-1deb12u1, mixed mode, sharing)\n";
    let version = "OpenJDK 64-Bit Server VM (build 17.0.15+6-Debian-1deb12u1, mixed mode, sharing)";
    assert_eq!(of("jvm", "", java), Some(version.to_owned()));
    assert_eq!(of("none", "1.0", "1.0"), None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prog");
    let in_file = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        named("ocaml").unwrap().version(None, Some(&file))
    };
    assert_eq!(
        in_file(b"\x7fELF\x00x\x004.13.1\x00y 4.14.0\x00"),
        Some("OCaml 4.13.1".to_owned())
    );
    assert_eq!(in_file(b"\x004.13.1\x005.0.1\x00"), None, "a library's version, too");
    assert_eq!(in_file(b"\x006.0.1\x004.13\x004.13.1.2\x004..1\x00"), None);
}

/// GHC accepts each of these flags alone, and its `--info` accepts both.
#[test]
fn ghc_refuses_or_ignores_some_pairs_of_flags() {
    let ghc = named("ghc").unwrap();
    let clash_in = |words: &[&str], flags: &[(&str, &str)]| -> Option<Vec<&str>> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let command = Command {
            words: &words,
            env: &[],
        };
        let clash = ghc.clash(command, &setting("ghc", flags))?;
        Some(clash.flags.iter().map(Value::key).collect())
    };
    let clash = |flags: &[(&str, &str)]| clash_in(&["./p"], flags);
    let both = |one, other| Some(vec![one, other]);
    assert_eq!(clash(&[("c", "true"), ("xn", "true")]), both("c", "xn"));
    assert_eq!(
        clash(&[("c", "true"), ("nonmoving-gc", "true"), ("A", "1m")]),
        both("c", "nonmoving-gc")
    );
    assert_eq!(clash(&[("G", "1"), ("xn", "true")]), both("G", "xn"));
    assert_eq!(clash(&[("G", "1"), ("c", "true")]), both("G", "c"), "GHC ignores -c");
    assert_eq!(clash(&[("G", "1"), ("w", "true")]), both("G", "w"), "GHC ignores -w");
    let ignored = [("M", "100m"), ("c", "30")];
    assert_eq!(clash(&[&ignored[..], &[("G", "1")]].concat()), both("G", "c"));
    assert_eq!(clash(&[&ignored[..], &[("xn", "true")]].concat()), both("c", "xn"));
    assert_eq!(clash(&[("qg", "false"), ("qb", "0")]), both("qg", "qb"));
    assert_eq!(clash(&[("I", "0"), ("Iw", "1")]), both("I", "Iw"));
    for ignored in ["qg", "qb", "qn", "qi"] {
        assert_eq!(clash(&[("N", "1"), (ignored, "1")]), both("N", ignored));
    }
    assert_eq!(clash(&[("N", "1"), ("qg", "false")]), both("N", "qg"));
    assert_eq!(clash(&[("N", "2"), ("qg", "false")]), None);
    assert_eq!(clash(&[("G", "1"), ("O", "4m")]), both("G", "O"));
    assert_eq!(clash(&[("c", "30")]), Some(vec!["c"]), "a percentage of -M");
    assert_eq!(clash(&[("m", "5")]), Some(vec!["m"]), "a percentage of -M");
    assert_eq!(clash_in(&["./p", "+RTS", "-M1g"], &[("c", "30")]), None);
    for right in [
        &ignored[..],
        &[("c", "false"), ("xn", "true")],
        &[("c", "true"), ("xn", "false")],
        &[("G", "2"), ("xn", "true")],
        &[("w", "true"), ("xn", "true")],
        &[("qg", "0"), ("qb", "0")],
    ] {
        assert_eq!(clash(right), None, "{right:?}");
    }
    let together = "p: The non-moving collector cannot be used in conjunction with\nthe compacting collector.\n";
    assert_eq!(ghc.failure(&ended(Some(1), together, None)), Some(Failure::Refused));
    let aborted = "internal error: The non-moving collector doesn't support -G1\n";
    assert_eq!(ghc.failure(&ended(None, aborted, None)), Some(Failure::Refused));
    assert_eq!(ghc.failure(&ended(None, "internal error: evacuate", None)), None);
}

#[test]
fn a_probe_of_ghc_tells_refusals_from_programs_that_run() {
    let ghc = named("ghc").unwrap();
    let info = Ended {
        stdout: " [(\"GHC RTS\", \"YES\")\n",
        ..ended(Some(0), "", None)
    };
    assert_eq!(ghc.probed(&Setting::new(), &info), Ok(()));
    // Only the threaded runtime collects in idle time.
    let idle = setting("ghc", &[("I", "0.3")]);
    for (way, is_right) in [("rts_thr", true), ("rts_v", false)] {
        let stdout = format!(" [(\"GHC RTS\", \"YES\")\n ,(\"RTS way\", \"{way}\")\n");
        let info = Ended {
            stdout: &stdout,
            ..info
        };
        assert_eq!(ghc.probed(&idle, &info).is_ok(), is_right, "{way}");
    }
    let refused = ended(
        Some(1),
        "shellcheck: Most RTS options are disabled. Link with -rtsopts\n",
        None,
    );
    assert!(
        ghc.probed(&Setting::new(), &refused)
            .unwrap_err()
            .starts_with("shellcheck: Most RTS options")
    );
    let threads = "p: the flag -N2 requires the program to be built with -threaded\np: \n";
    let complained = Ended {
        stderr: threads,
        ..info
    };
    assert_eq!(
        ghc.probed(&Setting::new(), &complained).unwrap_err(),
        threads.lines().next().unwrap()
    );
    let other = ended(
        Some(1),
        "p: the flag -x is of no use\np: Usage: <prog> <args> [+RTS <rtsopts> | -RTS <args>]\n",
        None,
    );
    assert!(ghc.probed(&Setting::new(), &other).unwrap_err().contains("of no use"));
    // The program itself refuses the words that its runtime passes on.
    for status in [1, 3] {
        let usage = ended(Some(status), "usage: p N\n", None);
        let reason = ghc.probed(&Setting::new(), &usage).unwrap_err();
        assert!(reason.contains("-rtsopts=ignoreAll"), "{reason}");
    }
    let ignored = Ended {
        stdout: "the program's own output",
        ..ended(Some(0), "", None)
    };
    assert!(
        ghc.probed(&Setting::new(), &ignored)
            .unwrap_err()
            .contains("-rtsopts=ignoreAll")
    );
}

/// The JVM's own words come after the adapter's, and the last of several counts.
#[test]
fn flags_of_a_command_that_override_a_sweep_are_found() {
    let found = |runtime: &str, line: &str, flag: (&str, &str), env: &[(&str, &str)]| {
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        let env: Vec<_> = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let command = Command {
            words: &words,
            env: &env,
        };
        let runtime = named(runtime).unwrap();
        runtime.overriding(command, &runtime.read(flag.0, flag.1).unwrap())
    };
    let heap = ("Xmx", "64m");
    for (line, flag, word) in [
        ("java|-cp|.|-Xmx32m|A", heap, Some("-Xmx32m")),
        ("java|-XX:MaxHeapSize=9m|-jar|a.jar", heap, Some("-XX:MaxHeapSize=9m")),
        ("java|A|-Xmx32m", heap, None),
        ("java|-jar|-Xmx32m", heap, None),
        ("./run.sh|-Xmx32m", heap, Some("-Xmx32m")),
        ("sh|-c|java -Xmx32m A", heap, Some("-Xmx32m")),
        ("java|-XX:+UseSerialGC|A", ("gc", "G1"), Some("-XX:+UseSerialGC")),
        (
            "java|-XX:-AlwaysPreTouch|A",
            ("AlwaysPreTouch", "true"),
            Some("-XX:-AlwaysPreTouch"),
        ),
        ("java|-XX:+UseSerialGC|A", heap, None),
    ] {
        assert_eq!(found("jvm", line, flag, &[]).as_deref(), word, "{line}");
    }
    let last = [("_JAVA_OPTIONS", "-ea -Xmx1g")];
    assert_eq!(found("jvm", "java|A", heap, &last).as_deref(), Some("-Xmx1g"));
    let first = [("JAVA_TOOL_OPTIONS", "-Xmx1g")];
    assert_eq!(found("jvm", "java|A", heap, &first), None);
    // GHC's own words come first, but a flag that is off has no word.
    let words = "./p|+RTS|-A1m|-c|-RTS";
    assert_eq!(found("ghc", words, ("c", "false"), &[]).as_deref(), Some("-c"));
    assert_eq!(found("ghc", words, ("c", "true"), &[]), None);
    assert_eq!(found("ghc", words, ("A", "4m"), &[]), None);
}

#[test]
fn the_jvms_collectors_ignore_some_flags() {
    let clash = |line: &str, flags: &[(&str, &str)]| -> Option<String> {
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        let command = Command {
            words: &words,
            env: &[],
        };
        let clash = named("jvm").unwrap().clash(command, &setting("jvm", flags))?;
        Some(clash.flags.iter().map(Value::text).collect::<Vec<_>>().join(" "))
    };
    let pause = ("MaxGCPauseMillis", "10");
    assert_eq!(
        clash("java|A", &[pause, ("gc", "Serial")]).as_deref(),
        Some("10 Serial")
    );
    assert_eq!(clash("java|-XX:+UseZGC|A", &[pause]).as_deref(), Some("10 Z"));
    assert_eq!(clash("java|A", &[pause, ("gc", "G1")]), None);
    assert_eq!(clash("java|A", &[pause]), None, "the default collector is not known");
    assert_eq!(clash("java|A", &[("UseCompressedOops", "false"), ("gc", "Z")]), None);
}

/// A script may ask for the version first.
#[test]
fn the_logs_of_two_jvms_are_not_added() {
    let jvm = named("jvm").unwrap();
    let start = "[0.008s][info][gc] Using G1\n";
    let pause = "[0.135s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(64M) 2.000ms\n";
    let figures = |log: &str| jvm.figures(&ended(Some(0), "", Some(log)));
    let one = figures(&format!("{start}{start}{pause}"));
    assert_eq!(one.stats.unwrap().gcs, Some(1));
    let two = figures(&format!("{start}{pause}{start}{pause}"));
    assert_eq!(two.stats, None);
    assert!(
        two.notes[0].contains("the command starts 2 JVMs that collect"),
        "{:?}",
        two.notes
    );
}

#[test]
fn a_script_with_a_heap_of_its_own_does_not_agree() {
    let agrees = |asked: &str, log: &str| {
        let mut run = gclab_results::PlannedRun::default();
        run.configuration.flags.insert("Xmx".to_owned(), asked.to_owned());
        named("jvm").unwrap().agrees(
            &run,
            &ended(Some(0), "", Some(log)),
            &gclab_results::RunRecord::default(),
        )
    };
    let log = "[0.006s][info][gc,init] Heap Max Capacity: 34M\n";
    assert_eq!(agrees("33m", log), Ok(()), "it rounds");
    assert!(
        agrees("64m", log)
            .unwrap_err()
            .contains("at most 34 MiB, not Xmx = 64m")
    );
    assert_eq!(agrees("64m", ""), Ok(()));
}

#[test]
fn a_flag_that_the_jvm_says_it_ignores_is_refused_and_its_warnings_are_kept() {
    let jvm = named("jvm").unwrap();
    let line = "[0.001s][warning][stringdedup] String Deduplication disabled: not supported by selected GC\n";
    let warned = Ended {
        stdout: line,
        ..ended(Some(0), "", None)
    };
    let setting = setting("jvm", &[("gc", "Serial"), ("UseStringDeduplication", "true")]);
    assert!(
        jvm.probed(&setting, &warned)
            .unwrap_err()
            .contains("not supported by selected GC")
    );
    assert_eq!(
        jvm.probed(&Setting::new(), &warned),
        Ok(()),
        "no flag of the experiment"
    );
    let note = "[warning][stringdedup] String Deduplication disabled: not supported by selected GC";
    assert_eq!(jvm.figures(&warned).notes, [note]);
    // What a program prints is not a warning from its runtime.
    let own = Ended {
        stdout: "[main][warning][x] disabled\n12 s][warning][\n",
        ..warned
    };
    assert!(jvm.figures(&own).notes.is_empty() && jvm.probed(&setting, &own).is_ok());
}

#[test]
fn the_size_of_the_young_generation_overrides_its_ratio() {
    let jvm = named("jvm").unwrap();
    let clash = |words: &[&str], flags: &[(&str, &str)]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let command = Command {
            words: &words,
            env: &[],
        };
        jvm.clash(command, &setting("jvm", flags)).is_some()
    };
    assert!(clash(&["java", "A"], &[("Xmn", "10m"), ("NewRatio", "4")]));
    assert!(clash(&["java", "-Xmn10m", "A"], &[("NewRatio", "4")]));
    assert!(!clash(&["java", "A"], &[("NewRatio", "4")]) && !clash(&["java", "A"], &[("Xmn", "10m")]));
}
