//! The runs that are kept for reference can be read by this gclab, and are whole.

use gclab_results::{ResultsDir, Status};
use std::fs;
use std::path::Path;

#[test]
fn reference_runs_are_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference");
    let mut seen = 0;
    for entry in fs::read_dir(&folder).expect("results/reference is there") {
        let path = entry.expect("and can be listed").path();
        if !path.is_dir() {
            continue;
        }
        let results = ResultsDir::open(&path).expect("a reference run can be read");
        let manifest = results.manifest();
        assert_eq!(results.runs().len(), manifest.plan.len(), "{}", path.display());
        assert!(
            results.runs().iter().all(|run| run.outcome == Status::Ok),
            "{}",
            path.display()
        );
        assert_eq!(manifest.build.git_dirty, Some(false), "{}", path.display());
        assert!(manifest.build.git_commit.is_some(), "{}", path.display());
        seen += 1;
    }
    assert!(seen > 0, "there is no reference run");
}
