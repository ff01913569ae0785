//! Pages for people to look at, and for the browser check.

use super::synthetic::{self, runs, small, small_runs, write};
use crate::{html, report, terminal};
use gclab_results::Manifest;
use tempfile::tempdir;

/// Writes reports for people: `LOOK=folder cargo test -p gclab-report -- --ignored look`.
#[test]
#[ignore = "writes files for people to look at"]
fn look() {
    let out = std::path::PathBuf::from(std::env::var("LOOK").expect("LOOK names a folder"));
    let parent = tempdir().expect("a folder");
    let page = |name: &str, manifest: Manifest, runs: &[gclab_results::RunRecord]| {
        let folder = parent.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        let document = report(&write(&folder, manifest, runs));
        println!("{}", terminal(&document, false));
        std::fs::write(out.join(format!("{name}.html")), html(&[document])).expect("a page");
    };
    page("small", synthetic::manifest(&small()), &small_runs());
    page(
        "large",
        synthetic::manifest(&synthetic::large()),
        &runs(&synthetic::large()),
    );
    page(
        "many",
        synthetic::manifest(&synthetic::many()),
        &runs(&synthetic::many()),
    );
    let mut bools = synthetic::large();
    bools.name = "bools";
    bools.sweep = vec![("qg", vec!["false", "0", "1"]), ("N", vec!["2"])];
    page("more", synthetic::manifest(&bools), &runs(&bools));
    let (manifest, profiled) = synthetic::profiled();
    page("profiles", manifest, &profiled);
}
