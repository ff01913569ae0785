//! The example of the module `Gc` runs, and its page shows the output.

use super::generated::part_holds;

#[allow(dead_code, reason = "its main is for cargo run")]
#[path = "../../../examples/gc_module.rs"]
mod example;

#[test]
fn the_page_of_the_module_gc_has_the_output_of_its_example() {
    let mut out = Vec::new();
    example::run(&mut out).expect("room enough");
    let text = String::from_utf8(out).expect("UTF-8");
    assert!(text.starts_with("4800 of 5000 pictures were closed\n"), "{text}");
    part_holds("docs/gc-module.md", "gc_module", &format!("```text\n{text}```"));
}
