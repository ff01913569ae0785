//! Figures of a program's output that have a unit.

use super::{results, with_script};

#[test]
fn figures_are_recorded_in_the_unit_of_the_record_and_shown_in_their_own() {
    let bench = with_script("echo 'collections: 250 ms, peak 3 MiB'; echo 'p99: 1.5 ms, 40 requests'");
    bench.write(
        "unit.toml",
        r#"
        repeat = 2
        [[program]]
        name    = "p"
        command = ["./prog"]
        [program.stats]
        gc_cpu_seconds    = { pattern = 'collections: ([0-9]+) ms', unit = "ms" }
        peak_in_use_bytes = { pattern = 'peak ([0-9]+)', unit = "MiB" }
        p99               = { pattern = 'p99: ([0-9.]+)', unit = "ms" }
        requests          = '([0-9]+) requests'
        "#,
    );
    let done = bench.gclab(&["run", "unit.toml"]).exits(0);
    let results = results(&bench, "unit");
    assert_eq!(results.manifest().programs[0].unit("p99"), Some("ms"));
    for run in results.runs() {
        let stats = run.stats.as_ref().unwrap();
        assert_eq!(
            (stats.gc_cpu_seconds, stats.peak_in_use_bytes),
            (Some(0.25), Some(3 << 20))
        );
        let figures = run.figures.as_ref().unwrap();
        assert_eq!((figures["p99"], figures["requests"]), (1.5, 40.0));
    }
    let headings = done.stdout.lines().find(|line| line.contains("p99")).unwrap();
    assert!(headings.ends_with("peak MiB  p99 ms  requests"), "{}", done.all());
}
