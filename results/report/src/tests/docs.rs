//! `docs/measures.md` agrees with the measures.

use crate::metric;

#[test]
fn every_column_of_csv_files_is_on_the_page_of_measures() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/measures.md");
    let page = std::fs::read_to_string(path).expect("docs/measures.md");
    let keys = metric::ALL.iter().map(|metric| metric.key);
    let missing: Vec<&str> = keys.filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "docs/measures.md has no row for {missing:?}");
}
