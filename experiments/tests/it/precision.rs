//! The runs that a requested precision needs, as reported by `gclab status` and at the end of a
//! sweep.

use serde_json::Value;

use crate::support::Bench;

/// Six runs of each of two configurations, and a precision that no clock reaches.
const FILE: &str = r#"
    collectors = ["copying", "two-space"]
    workloads  = [{ name = "binary_trees", args = [6] }]
    repeat     = 6
    precision  = "0.0001%"
"#;

#[test]
fn a_missed_precision_is_reported_with_the_runs_it_needs() {
    let bench = Bench::new();
    bench.write("wide.toml", FILE);
    let done = bench.gclab(&["run", "wide.toml"]).exits(0);
    for part in [
        "all runs are done, and 2 of 2 configurations have not reached a precision of 0.0001% yet",
        "copying binary_trees 6: 6 of about ",
        "two-space binary_trees 6: 6 of about ",
        "`repeat` would have to be ",
    ] {
        assert!(done.stderr.contains(part), "{part}\n{}", done.all());
    }
    // With --strict it is an error, unless this machine is refused first.
    let strict = bench.gclab(&["run", "wide.toml", "--strict"]);
    let is_refused = strict.stderr.contains("this machine is not fit");
    assert_eq!(strict.code, Some(if is_refused { 2 } else { 1 }), "{}", strict.all());
    let state = bench.gclab(&["status", "wide"]).exits(0).stdout;
    assert!(state.contains("have not reached a precision of 0.0001% yet"), "{state}");
}

#[test]
fn status_says_how_many_runs_a_requested_precision_needs() {
    let bench = Bench::new();
    bench.write("pilot.toml", &FILE.replace("precision", "# precision"));
    let done = bench.gclab(&["run", "pilot.toml"]).exits(0);
    assert!(!done.stderr.contains("precision"), "{}", done.all());
    let needs = |precision: &str| -> Vec<u64> {
        let words = ["status", "pilot", "--json", "--precision", precision];
        let text = bench.gclab(&words).exits(0).stdout;
        let state: Value = serde_json::from_str(&text).unwrap();
        let all = state["needs"]["configurations"].as_array().unwrap().clone();
        all.iter().map(|need| need["needed"].as_u64().unwrap()).collect()
    };
    let (wide, narrow) = (needs("99%"), needs("0.01%"));
    assert_eq!((wide.len(), narrow.len()), (2, 2));
    assert!(
        wide.iter().all(|runs| *runs >= 6),
        "at least those that are done: {wide:?}"
    );
    assert!(narrow[0] > wide[0] && narrow[0] >= narrow[1], "{wide:?} {narrow:?}");
    let text = bench
        .gclab(&["status", "pilot", "--precision", "0.01%"])
        .exits(0)
        .stdout;
    assert!(
        text.contains("precise  2 of 2 configurations have not reached"),
        "{text}"
    );
    let text = bench.gclab(&["status", "pilot"]).exits(0).stdout;
    assert!(!text.contains("precision"), "{text}");
    let wrong = bench.gclab(&["status", "pilot", "--precision", "2"]).exits(2);
    assert!(wrong.stderr.contains("such as 2%"), "{}", wrong.all());
}
