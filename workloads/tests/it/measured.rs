//! What each workload measures: its definition determines the bytes allocated in set-up, in the
//! measured phase and afterwards.

use gclab_core::stats::RunPhases;

use crate::run::Run;

fn phases(workload: &str, args: &[&str]) -> RunPhases {
    let run = Run::new(workload, args).area(64 << 10);
    run.under("copying").expect("a small run").1.phases
}

/// The bytes allocated in each phase of a run with a measured phase.
fn allocated(workload: &str, args: &[&str]) -> [u64; 3] {
    let phases = phases(workload, args);
    assert!(phases.marked, "{workload}");
    let all = [&phases.setup, &phases.measured, &phases.exit];
    all.map(|phase| phase.allocated)
}

#[test]
fn data_that_live_on_are_set_up() {
    // A list of 24-byte cells, and short lists of ten.
    assert_eq!(allocated("long_list", &["2000", "300"]), [2000 * 24, 300 * 240, 0]);
    // An array and its first boxes; a box for each store.
    assert_eq!(
        allocated("mut_array", &["1000", "5000"]),
        [16 + 8 * 1000 + 16 * 1000, 16 * 5000, 0]
    );
    // Six words, three records and the environment.
    assert_eq!(allocated("hsc_env", &["5"]), [232, 0, 0]);
    assert_eq!(phases("hsc_env", &["5"]).measured.major_gcs, 5);
    // The cache: an array, entries of 24 bytes and values of 1016.
    let [set_up, measured, exit] = allocated("server", &["2", "300", "100", "0"]);
    assert_eq!((set_up, exit), (16 + 8 * 100 + 100 * (24 + 1016), 0));
    assert!(measured >= 300 * 500 * 24);
    // The array of chains.
    let [set_up, _, exit] = allocated("par_shared", &["3", "128", "512", "3000"]);
    assert_eq!((set_up, exit), (16 + 8 * 128, 0));
    // The graph of the snapshot; renewal allocates an array for the records of a region.
    let [set_up, measured, exit] = allocated("heap_snapshot", &["-", "1"]);
    assert!(set_up > 100_000 && measured > set_up / 32 && exit == 0);
    // All work on a text that was read.
    let [set_up, measured, exit] = allocated("word_index", &["-", "1", "100"]);
    assert!(set_up == 0 && measured > 100_000 && exit == 0);
}

/// A window and a table are filled before the measured phase.
#[test]
fn a_steady_state_is_reached_in_set_up() {
    let per_message = |of: u64, messages: u64| of as f64 / messages as f64;
    let [set_up, measured, _] = allocated("message_window", &["1000", "3000", "16"]);
    // Inserting and deleting copies two paths, inserting alone only one.
    assert!(per_message(measured, 2000) > 1.2 * per_message(set_up, 1000));
    assert_eq!(allocated("message_window", &["1000", "600", "16"])[1], 0);

    // Half of the updates to a full table remove an entry, which allocates nothing.
    let [set_up, measured, _] = allocated("hash_churn", &["256", "1000", "10000"]);
    let per_entry = 32.0 + 16.0 + 40.0;
    let share = measured as f64 / 8000.0 / per_entry;
    assert!((share - 0.5).abs() < 0.1, "{share}");
    assert!(set_up as f64 / 2000.0 > 1.1 * measured as f64 / 8000.0);
    // At most half.
    let [set_up, measured, _] = allocated("hash_churn", &["256", "100000", "1000"]);
    assert!(set_up > 0 && measured > 0);
}

#[test]
fn programs_without_set_up_are_measured_as_a_whole() {
    for (workload, args) in [
        ("binary_trees", vec!["6"]),
        ("gcbench", vec!["8", "6", "1000"]),
        ("par_trees", vec!["2", "6"]),
        ("par_skewed", vec!["2", "10", "5"]),
    ] {
        let phases = phases(workload, &args);
        assert!(!phases.marked && phases.measured.allocated > 0, "{workload}");
        assert_eq!((phases.setup.allocated, phases.exit.allocated), (0, 0), "{workload}");
    }
}
