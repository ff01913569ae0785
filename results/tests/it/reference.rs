//! The runs kept for reference can be read by this gclab, and are complete.

use gclab_results::{ResultsDir, Status};
use std::fs;
use std::path::Path;

#[test]
fn reference_runs_are_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference");
    let mut builds = Vec::new();
    for entry in fs::read_dir(&folder).expect("results/reference is there") {
        let path = entry.expect("and can be listed").path();
        if !path.is_dir() {
            continue;
        }
        let results = ResultsDir::open(&path).expect("a reference run can be read");
        let manifest = results.manifest();
        assert_eq!(results.all_runs().count(), manifest.plan.len(), "{}", path.display());
        assert!(
            results.runs().iter().all(|run| match run.outcome {
                Status::Ok => true,
                // Sweeps over multiples of the least heap look for heaps that are too small.
                Status::HeapExhausted | Status::Timeout => run.heap_multiple.is_some(),
                _ => false,
            }),
            "{}",
            path.display()
        );
        builds.push((manifest.build.clone(), path));
    }
    // A sweep that follows another one finds its results in the source tree, and records
    // uncommitted changes. Its executable must be the one of a sweep that found none.
    let of_sources: Vec<_> = builds
        .iter()
        .filter(|(build, _)| build.git_dirty == Some(false))
        .map(|(build, _)| (&build.git_commit, &build.executable))
        .collect();
    for (build, path) in &builds {
        assert!(
            build.git_commit.is_some() && build.executable.is_some(),
            "{}",
            path.display()
        );
        assert!(
            of_sources.contains(&(&build.git_commit, &build.executable)),
            "{}: it is of a build that no commit has",
            path.display()
        );
    }
    assert!(!builds.is_empty(), "there is no reference run");
}
