//! Sentences agree with their tables.

use std::fmt::Write as _;

use gclab_house::book::Page;
use gclab_house::figures::{sources, unfounded};

/// The pages whose sentences have measured figures.
const MEASURED: [&str; 4] = ["performance.md", "memory.md", "sizing.md", "parallel.md"];

#[test]
fn figures_in_sentences_stand_in_tables() {
    let mut report = String::new();
    for name in MEASURED {
        let page = Page::named(&format!("docs/{name}"));
        assert!(!sources(&page).is_empty(), "docs/{name} has no table with figures");
        for (line, figure, text) in unfounded(&page) {
            let start: String = text.chars().take(120).collect();
            writeln!(report, "docs/{name}:{line}: {figure} in: {start}").unwrap();
        }
    }
    assert!(
        report.is_empty(),
        "no table of the page has these figures in a row or column that the paragraph names:\n{report}"
    );
}
