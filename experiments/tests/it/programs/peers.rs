//! The experiment files of `workloads/peers` are valid, and plan the intended runs.

use crate::support::Bench;

/// Each file, its number of runs, and some of its commands.
const FILES: &[(&str, &str, &[&str])] = &[
    (
        "ghc",
        "620 runs in 5 rounds",
        &[
            "env PAGES=warm target/peers/ghc/peers mut_array 1000000 20000000 +RTS -A64m",
            "target/peers/ghc/peers binary_trees 18 +RTS -A4200k",
            "--collector two-space +RTS -G1",
            "--collector compacting +RTS -c",
        ],
    ),
    (
        "ghc_large",
        "40 runs in 5 rounds",
        &["target/peers/ghc/peers long_list 64000000 10000000 +RTS -A16m"],
    ),
    (
        "ghc_threads",
        "80 runs in 5 rounds",
        &[
            "gclab exec gcbench 18 16 500000 --collector parallel +RTS",
            "peers par_trees 2 17 +RTS -qg1 -RTS +RTS -A4m -N2",
            "peers gcbench 18 16 500000 +RTS -qg -RTS +RTS",
        ],
    ),
    (
        "heap",
        "20 runs in 5 rounds",
        &["heap diff target/peers/heap/a.heapsnapshot"],
    ),
    (
        "languages",
        "180 runs in 5 rounds",
        &["target/peers/ocaml/peers hash_churn", "Peers message_window", "-Xmx71m"],
    ),
    (
        "mmtk",
        "720 runs in 5 rounds",
        &[
            "MMTK_PLAN=StickyImmix",
            "mmtk-peer binary_trees 18",
            "gclab exec binary_trees 18 --collector copying +RTS -M73727k",
        ],
    ),
    (
        "ocaml",
        "216 runs in 1 round",
        &[
            "OCAMLRUNPARAM=a=1,o=80,s=32k env MALLOC_MMAP_THRESHOLD_=131072 target/peers/ocaml/peers ocaml_gc 16384 100000",
            "gclab exec long_list 1000000 2000000 62 --collector ocaml +RTS",
        ],
    ),
    (
        "ocaml_speed",
        "90 runs in 5 rounds",
        &[
            "ocaml_events.py target/peers/ocaml/peers-events binary_trees 18",
            "gclab exec ocaml_gc 65536 500000 --collector ocaml +RTS --ocaml=s=262144 --ocaml=o=80 --ocaml=a=2",
        ],
    ),
    (
        "quick",
        "48 runs in 2 rounds",
        &["target/peers/ghc/peers binary_trees 10 +RTS -A1m"],
    ),
    (
        "server_latency",
        "120 runs in 5 rounds",
        &[
            "peers server 2 300000 1000000 110000 +RTS -A4m -F1.2 -M2998m -N2 -qg --nonmoving-gc -RTS",
            "-XX:+UseShenandoahGC -cp target/peers/java Peers server 2 300000 1000000 110000",
            "MMTK_PLAN=ConcurrentImmix",
            "gclab exec server 2 750000 1000000 300000 --collector concurrent +RTS -F1.2 -M2998m",
        ],
    ),
    (
        "weak",
        "60 runs in 5 rounds",
        &["target/peers/ocaml/peers ephemeron_chain 32000 5"],
    ),
];

#[test]
fn the_files_of_the_peers_are_right() {
    let folder = crate::docs::root().join("workloads/peers");
    let files: Vec<String> = crate::docs::files(&folder, "toml")
        .iter()
        .filter(|file| file.parent() == Some(&folder))
        .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(files, FILES.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
    for (name, runs, commands) in FILES {
        let file = folder.join(name).with_extension("toml");
        let bench = Bench::new();
        let planned = bench
            .gclab(&["run", &file.display().to_string(), "--dry-run=commands"])
            .exits(0);
        assert!(planned.stderr.contains(runs), "{name}\n{}", planned.stderr);
        for command in *commands {
            assert!(
                planned.stdout.contains(command),
                "{name}: {command}\n{}",
                planned.stdout
            );
        }
    }
}
