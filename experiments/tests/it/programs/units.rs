//! Metrics with a unit, read from a program's output.

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

/// A senseless value is left out, and the record says why.
#[test]
fn figures_without_sense_are_left_out_with_the_reason() {
    let bench =
        with_script("echo v: nan; echo w: -5; echo h: 1e400; echo d: 5e-324; echo ok: 7; echo l: 1e300; echo m: 1e30");
    let stats = ["v", "h", "ok", "l", "d"]
        .map(|name| format!("{name} = '{name}: (\\S+)'\n"))
        .concat();
    let text = format!(
        "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\n[program.stats]\n{stats}\
         gc_cpu_seconds = 'w: (\\S+)'\npeak_in_use_bytes = 'd: (\\S+)'\n\
         max_live_bytes = 'm: (\\S+)'\n"
    );
    bench.write("n.toml", &text);
    let done = bench.gclab(&["run", "n.toml"]).exits(0);
    let results = results(&bench, "n");
    let run = &results.runs()[0];
    let figures = run.figures.as_ref().unwrap();
    assert_eq!((figures.len(), figures["ok"]), (1, 7.0), "{figures:?}");
    assert_eq!(run.stats, None, "neither a negative time nor a heap of 0 bytes");
    for (name, why) in [
        ("v", "\"nan\", which is not a finite number"),
        ("h", "\"1e400\", which is not a finite number"),
        ("gc_cpu_seconds", "\"-5\", which is negative"),
        ("peak_in_use_bytes", "\"5e-324\", which is beyond the figures"),
        ("d", "\"5e-324\", which is beyond the figures"),
        ("l", "\"1e300\", which is beyond the figures"),
        ("max_live_bytes", "\"1e30\", which is more than its record can hold"),
    ] {
        let note = format!("`{name}` of `stats` is {why}");
        assert!(
            run.notes.iter().any(|known| known.starts_with(&note)),
            "{note}: {:?}",
            run.notes
        );
    }
    assert!(!done.stderr.contains("matches in the output of none"), "{}", done.all());
    assert!(
        done.stdout.contains("not a finite number"),
        "the report says so\n{}",
        done.all()
    );
}

/// Lower is better, unless the file says otherwise.
#[test]
fn compare_judges_the_figures_of_a_program() {
    let bench = with_script("read a < v; echo \"v: $a steps, $((a * 2)) requests\"");
    bench.write(
        "own.toml",
        r#"
        repeat = 5
        [[program]]
        name    = "p"
        command = ["./prog"]
        [program.stats]
        v        = { pattern = 'v: ([0-9]+)', unit = "steps" }
        requests = { pattern = '([0-9]+) requests', better = "more" }
        "#,
    );
    for (value, folder) in [("10\n", "old"), ("11\n", "new")] {
        bench.write("v", value);
        bench.gclab(&["run", "own.toml", "--out", folder]).exits(0);
    }
    let done = bench.gclab(&["compare", "old", "new", "--format", "json"]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let figures = json["configurations"][0]["figures"].as_array().unwrap();
    let verdict = |name: &str| {
        let figure = figures.iter().find(|figure| figure["figure"] == name).expect(name);
        figure["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (verdict("v"), verdict("requests")),
        ("worse".to_owned(), "better".to_owned())
    );
    bench.write(
        "wrong.toml",
        "[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\nstats = { v = { pattern = '(a)', better = \"mor\" } }\n",
    );
    let wrong = bench.gclab(&["run", "wrong.toml"]).exits(2);
    assert!(
        wrong.stderr.contains("less") && wrong.stderr.contains("more"),
        "{}",
        wrong.all()
    );
}
