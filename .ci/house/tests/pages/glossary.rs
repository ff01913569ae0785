//! One word for one thing.

use gclab_house::book::{Page, pages};
use gclab_house::glossary::{entries, faults, public_types, words_in_code, words_to_avoid};
use gclab_house::{files_below, root};

#[test]
fn each_term_has_one_entry_in_its_place() {
    let entries = entries(&Page::named("docs/glossary.md"));
    assert!(entries.len() > 100, "only {} entries were found", entries.len());
    let faults = faults(&entries);
    assert!(faults.is_empty(), "docs/glossary.md: {}", faults.join("; "));
}

#[test]
fn every_public_type_of_core_is_in_the_glossary() {
    let known = words_in_code(&Page::named("docs/glossary.md"));
    let files = files_below(&root().join("core/src"), ".rs");
    let sources = files
        .iter()
        .map(|file| std::fs::read_to_string(file).expect("a source of core"));
    let types: Vec<String> = sources.flat_map(|source| public_types(&source)).collect();
    assert!(types.len() > 100, "only {} types were found", types.len());
    let missing: Vec<&String> = types.iter().filter(|name| !known.contains(*name)).collect();
    assert!(missing.is_empty(), "docs/glossary.md has no entry for {missing:?}");
}

#[test]
fn pages_use_the_words_of_the_glossary() {
    let avoided = words_to_avoid(&Page::named("docs/glossary.md"));
    assert!(avoided.len() >= 5, "only {} words to avoid were found", avoided.len());
    for page in pages() {
        for (number, line) in page.prose() {
            for (word, better) in &avoided {
                let is_table = line.starts_with(&format!("| {word} |"));
                assert!(
                    is_table || !line.to_lowercase().contains(word),
                    "{}:{number}: {word:?}, where the glossary has {better:?}",
                    page.name
                );
            }
        }
    }
}
