//! The table of flags, its help text and its page.

use gclab_flags::{FLAGS, FlagSpec, Scope, help, markdown};
use std::collections::BTreeSet;

#[test]
fn the_table_is_consistent() {
    let names: BTreeSet<_> = FLAGS.iter().map(|s| s.name).collect();
    let keys: BTreeSet<_> = FLAGS.iter().filter_map(|s| s.toml).collect();
    assert_eq!(names.len(), FLAGS.len());
    assert_eq!(keys.len(), FLAGS.iter().filter(|s| s.toml.is_some()).count());
    // Every flag that affects the heap can be swept; profiling flags are for separate runs.
    let mut others = FLAGS.iter().filter(|s| s.scope != Scope::Profile);
    let decides = |s: &FlagSpec| s.scope != Scope::Program && s.name != "-ocaml=v";
    assert!(others.all(|s| s.toml.is_some() == decides(s)));
}

#[test]
fn help_text() {
    insta::assert_snapshot!(help());
}

/// `docs/flags.md` is generated from the table. `GCLAB_WRITE_DOCS=1 cargo test -p gclab-flags`
/// rewrites it.
#[test]
fn the_page_of_flags_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/flags.md");
    if std::env::var_os("GCLAB_WRITE_DOCS").is_some() {
        std::fs::write(path, markdown()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == markdown(),
        "docs/flags.md is not what the table says: GCLAB_WRITE_DOCS=1 cargo test -p gclab-flags"
    );
}
