//! Tells the crate which compiler and profile it is built with, for the record of each experiment.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .filter(|output| output.status.success());
    let version = version
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default();
    println!("cargo::rustc-env=GCLAB_RUSTC={version}");
    println!(
        "cargo::rustc-env=GCLAB_PROFILE={}",
        std::env::var("PROFILE").unwrap_or_default()
    );
    println!("cargo::rerun-if-changed=build.rs");
}
