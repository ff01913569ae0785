//! Tells the crate the platforms that it is built on and for, for `--info`.

fn main() {
    for platform in ["HOST", "TARGET"] {
        println!(
            "cargo::rustc-env=GCLAB_{platform}={}",
            std::env::var(platform).unwrap_or_default()
        );
    }
    println!("cargo::rerun-if-changed=build.rs");
}
