//! x
use crate::synthetic::*;
use gclab_results::*;
/// Writes reports of synthetic experiments for looking at: `LOOK=folder cargo test -p gclab-results -- --ignored look`.
#[test]
#[ignore = "writes files for people to look at"]
fn look() {
    let out = std::path::PathBuf::from(std::env::var("LOOK").expect("LOOK names a folder"));
    let parent = tempfile::tempdir().unwrap();
    let small = write(parent.path(), manifest(&small()), &small_runs());
    let large = write(parent.path(), manifest(&large()), &runs(&large()));
    println!("{}", table::render(&small));
    println!("{}", table::render(&large));
    println!("{}", report::markdown(std::slice::from_ref(&small)));
    std::fs::write(out.join("small.html"), report::html(&[small])).unwrap();
    std::fs::write(out.join("large.html"), report::html(&[large])).unwrap();
}
