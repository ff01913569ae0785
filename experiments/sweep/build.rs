//! Tells the crate its compiler, its profile, and the commit of its sources, for the record of each
//! experiment.
//!
//! Only a release build has a commit: it is what experiments are measured with, and a test build
//! would compile this crate and its users again after each commit.

use std::env;
use std::path::Path;
use std::process::Command;

/// What a build is made of, for `git`.
const SOURCES: [&str; 4] = [
    ":(top,glob)**/src/**",
    ":(top,glob)**/build.rs",
    ":(top,glob)**/Cargo.toml",
    ":(top)Cargo.lock",
];

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let profile = env::var("PROFILE").unwrap_or_default();
    println!("cargo::rerun-if-changed=build.rs");
    println!(
        "cargo::rustc-env=GCLAB_RUSTC={}",
        output(&rustc, &["--version"]).unwrap_or_default()
    );
    println!("cargo::rustc-env=GCLAB_PROFILE={profile}");
    let (commit, is_dirty) = (profile == "release").then(commit).flatten().unwrap_or_default();
    println!("cargo::rustc-env=GCLAB_COMMIT={commit}");
    println!("cargo::rustc-env=GCLAB_DIRTY={is_dirty}");
}

/// The commit of the workspace, and whether its sources differ from it; `None` outside `git`. The
/// script runs again when either may have changed.
fn commit() -> Option<(String, bool)> {
    let root = output("git", &["rev-parse", "--show-toplevel"])?;
    // In another project's repository, that project's commit says nothing.
    let workspace = Path::new("../..").canonicalize().ok()?;
    if Path::new(&root).canonicalize().ok()? != workspace {
        return None;
    }
    let commit = output("git", &["rev-parse", "HEAD"])?;
    let mut state = vec!["HEAD".to_owned(), "packed-refs".to_owned()];
    state.extend(output("git", &["symbolic-ref", "-q", "HEAD"]));
    let state = state
        .iter()
        .filter_map(|name| output("git", &["rev-parse", "--git-path", name]));
    let tracked = output("git", &[&["ls-files", "--full-name", "--"][..], &SOURCES].concat())?;
    let tracked = tracked.lines().map(|file| format!("{root}/{file}"));
    // A file that does not exist would count as changed.
    for file in state.chain(tracked).filter(|file| Path::new(file).exists()) {
        println!("cargo::rerun-if-changed={file}");
    }
    let status = [
        "--no-optional-locks",
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
    ];
    let changes = output("git", &[&status[..], &SOURCES].concat())?;
    Some((commit, !changes.is_empty()))
}

/// What a command prints; `None` if it fails.
fn output(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
