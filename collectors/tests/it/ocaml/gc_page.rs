//! The page on the module `Gc`: its example runs, and it lists each function.

use super::gc_module::with_module;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::{Control, GcModule};
use gclab_core::collector::KindOf;
use gclab_core::mutator::Mutator;
use std::collections::BTreeSet;
use std::error::Error;

const PAGE: &str = include_str!("../../../../docs/gc-module.md");
const SOURCE: &str = include_str!("gc_page.rs");
const MODULE: &str = include_str!("../../../src/ocaml/gc/mod.rs");

/// The functions of OCaml 4.14's module, those of `Memprof`, and one of ours.
const FUNCTIONS: [&str; 27] = [
    "stat",
    "quick_stat",
    "counters",
    "minor_words",
    "get",
    "set",
    "minor",
    "major_slice",
    "major",
    "full_major",
    "compact",
    "print_stat",
    "allocated_bytes",
    "get_minor_free",
    "get_bucket",
    "get_credit",
    "huge_fallback_count",
    "finalise",
    "finalise_last",
    "finalise_release",
    "create_alarm",
    "delete_alarm",
    "eventlog_pause",
    "eventlog_resume",
    "memprof_start",
    "memprof_stop",
    "print_messages_to",
];

#[rustfmt::skip]
fn example(m: &mut Mutator<'_, KindOf<Ocaml>>) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut out = Vec::new();
    // The example begins.
    let mut gc = m.gc()?;
    let control = gc.get();
    gc.set(Control { space_overhead: 80, ..control })?;
    let alarm = gc.create_alarm(|m| m.message("a cycle has ended"));
    gc.full_major();
    gc.delete_alarm(alarm);
    let stat = gc.stat();
    assert_eq!(stat.live_words + stat.free_words + stat.fragments, stat.heap_words);
    gc.print_stat(&mut out)?;
    // The example ends.
    Ok(out)
}

#[test]
fn the_pages_example_runs() {
    let (_, rest) = SOURCE.split_once("    // The example begins.\n").expect("it begins");
    let (lines, _) = rest.split_once("    // The example ends.\n").expect("it ends");
    let example_of_page = lines.replace("\n    ", "\n");
    let block = format!("```text\n{}```\n", example_of_page.trim_start());
    assert!(PAGE.contains(&block), "the page has another example than\n{block}");
    let text = with_module(|m| example(m).expect("legal"));
    assert!(text.starts_with(b"minor_collections: "));
}

#[test]
fn the_page_documents_each_function() {
    let (_, module) = MODULE.split_once("> Module<'_, '_, M> {").expect("its functions");
    let (module, _) = module.split_once("\n}\n").expect("their end");
    let names = module.split("pub fn ").skip(1);
    let names: BTreeSet<&str> = names.filter_map(|text| text.split(['(', '<']).next()).collect();
    assert_eq!(names, BTreeSet::from(FUNCTIONS));
    for name in FUNCTIONS {
        assert!(PAGE.contains(&format!("`{name}`")), "{name}");
    }
}
