//! The memory that a process takes from the machine, and how a run ends that is refused memory.

use std::fs;

use gclab_results::{RunRecord, Status};

use crate::support::Bench;

/// How much memory a process may use on top of its heap: code, libraries, stacks, half a huge page.
const BESIDE: u64 = 24 << 20;

#[test]
fn a_process_stays_near_the_limit_of_its_heap() {
    let bench = Bench::new();
    bench.write(
        "tight.toml",
        r#"
            question = "Is a limit kept?"
            collectors = ["two-space", "copying", "compacting"]
            workloads = [
                { name = "binary_trees", args = [15] },
                { name = "hash_churn", args = [4096, 65536, 200000] },
                { name = "long_list", args = [300000, 100000] },
                { name = "mut_array", args = [100000, 300000] },
            ]
            repeat = 1

            [flags]
            A = "1m"

            [sweep]
            M = ["12m", "24m", "48m"]
            huge_pages = [true, false]
        "#,
    );
    bench.gclab(&["run", "tight.toml"]).exits(0);
    let (mut fine, mut seen) = (0, 0);
    for run in bench.results().runs() {
        let limit = match run.flags["M"].as_str() {
            "12m" => 12 << 20,
            "24m" => 24 << 20,
            _ => 48u64 << 20,
        };
        let name = run.command.join(" ");
        assert!(
            matches!(run.outcome, Status::Ok | Status::HeapExhausted),
            "{name}: {:?}",
            run.outcome
        );
        let resident = run.max_rss_bytes.expect("the system says");
        assert!(resident <= limit + BESIDE, "{name}: {resident} bytes are resident");
        let stats = run.stats.as_ref().expect("figures");
        let taken = stats.peak_taken_bytes.expect("the heap says");
        assert!(taken <= limit, "{name}: {taken} bytes count");
        fine += u32::from(run.outcome == Status::Ok);
        seen += 1;
    }
    assert!(seen == 72 && fine > 24, "{fine} of {seen} runs came to their end");
}

/// With each request refused in turn, the run ends with 251 and its statistics, or with the right
/// checksum.
#[test]
fn a_refused_request_ends_a_run_cleanly() {
    let bench = Bench::new();
    let expected = bench.gclab(&["exec", "binary_trees", "12"]).exits(0).stdout;
    let mut exhausted = 0;
    for n in 1..40 {
        let refused = format!("-DF{n}");
        let words = [
            "exec",
            "binary_trees",
            "12",
            "--record",
            "r.json",
            "+RTS",
            "-A256k",
            "-DS",
            "-s",
            &refused,
        ];
        let done = bench.gclab(&words);
        let record: RunRecord =
            serde_json::from_str(&fs::read_to_string(bench.path().join("r.json")).unwrap()).unwrap();
        assert!(
            done.stderr.contains("bytes allocated in the heap"),
            "{n}: {}",
            done.all()
        );
        assert!(record.stats.is_some(), "{n}");
        if record.outcome == Status::HeapExhausted {
            let done = done.exits(251);
            assert!(done.stderr.contains("refused on purpose"), "{n}: {}", done.all());
            exhausted += 1;
        } else {
            assert_eq!(done.exits(0).stdout, expected, "{n}");
        }
    }
    // A minor collection that cannot start becomes a major one, so few refusals exhaust the heap.
    assert!(exhausted > 2, "{exhausted}");
}
