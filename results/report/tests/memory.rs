//! The memory of reports and comparisons for each run, by counting what is allocated. A test that
//! counts must be alone in its process.

use gclab_report::{Reader, Results};
use gclab_results::{Configuration, Manifest, PlannedRun, ResultsDir, RunRecord, RunStats};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which counts the bytes that are allocated.
struct Counting;

/// The bytes that are allocated now, and the most of them at any time since the last look.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work; counting does not touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of this function, which are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the memory is of `alloc`, which has it from the system.
        unsafe { System.dealloc(memory, layout) }
    }

    // The system grows large memory without a copy, so there is no time with both.
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let now = NOW.fetch_add(size, Ordering::Relaxed) + size - layout.size();
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as for `alloc` and `dealloc`.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that were allocated at the same time while this ran, beyond those before.
fn peak(run: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    run();
    MOST.load(Ordering::Relaxed) - before
}

/// Writes a folder of this many runs of a program under sixteen flags, each with some twenty
/// figures.
fn folder(parent: &Path, count: u32) -> PathBuf {
    let mut manifest = Manifest::new("many");
    let mut lines = String::new();
    for position in 0..count {
        let configuration = Configuration {
            collector: "ghc".to_owned(),
            workload: "program".to_owned(),
            flags: [("A".to_owned(), format!("{}m", 1 + position % 16))].into(),
            program: Some("0123456789abcdef".to_owned()),
            ..Configuration::default()
        };
        let mut planned = PlannedRun::new(configuration, position / 16, position);
        planned.runtime = Some("ghc".to_owned());
        let run = run(&planned);
        writeln!(lines, "{}", serde_json::to_string(&run).expect("JSON")).expect("text");
        manifest.plan.push(planned);
    }
    let path = parent.join(count.to_string());
    ResultsDir::create(&path, manifest).expect("a folder");
    fs::write(path.join("runs.jsonl"), lines).expect("written");
    path
}

fn run(planned: &PlannedRun) -> RunRecord {
    let seconds = 1.0 + f64::from(planned.position * 7919 % 101) / 2000.0;
    let some = Some(u64::from(planned.position % 50));
    let stats = RunStats {
        total_elapsed_seconds: Some(seconds),
        mut_elapsed_seconds: Some(seconds * 0.9),
        gc_elapsed_seconds: Some(seconds * 0.1),
        gc_cpu_seconds: Some(seconds * 0.1),
        mut_cpu_seconds: Some(seconds * 0.9),
        peak_in_use_bytes: Some(20 << 20),
        gcs: Some(40),
        allocated_bytes: some,
        copied_bytes: some,
        max_live_bytes: some,
        ..RunStats::default()
    };
    RunRecord {
        checksum: Some("42".to_owned()),
        command: ["program", "+RTS"].map(str::to_owned).to_vec(),
        started: Some("2026-01-31T12:00:00Z".to_owned()),
        wall_seconds: Some(seconds),
        user_seconds: Some(seconds * 0.9),
        system_seconds: Some(seconds * 0.1),
        max_rss_bytes: Some(30 << 20),
        minor_page_faults: some,
        involuntary_context_switches: some,
        stats: Some(stats),
        ..RunRecord::planned(planned, 1)
    }
}

/// The most bytes for each run beyond the figures that there is room for.
const OF_RUN: usize = 100;

/// Pages and their tables list the first twenty thousand runs. Further ones take little memory.
#[test]
fn further_runs_take_less_than_a_hundred_bytes() {
    // The chart of single runs has as many dots of both.
    const FEW: u32 = 30_000;
    const MORE: u32 = 45_000;
    /// Less than the figures of these runs, also the few that are compared.
    const ROOM: usize = 50_000;
    let parent = tempfile::tempdir().expect("a temporary folder");
    let (few, more) = (folder(parent.path(), FEW), folder(parent.path(), MORE));
    let grows = |what: &str, reader: Reader, folders: u32, write: fn(&[Results])| {
        let reader = reader.with_room(ROOM);
        let of = |path: &PathBuf| {
            let read = |_| reader.read(path).expect("it reads");
            peak(|| write(&(0..folders).map(read).collect::<Vec<_>>()))
        };
        let (few, more) = (of(&few), of(&more));
        let bytes = more.saturating_sub(few) / (folders * (MORE - FEW)) as usize;
        println!("{what}: {few} and {more} bytes, {bytes} a run");
        assert!(bytes < OF_RUN, "{what}: {bytes} bytes a run");
    };
    grows("html", Reader::for_reports(), 1, |results| {
        assert!(gclab_report::html(results).contains("many"));
    });
    grows("markdown", Reader::for_reports(), 1, |results| {
        assert!(gclab_report::markdown(results).contains("many"));
    });
    grows("compare", Reader::for_comparisons(), 2, |results| {
        assert!(!gclab_report::compare(&results[0], &results[1], 0.03, None).is_empty());
    });
}
