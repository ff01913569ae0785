//! One word for one thing.

use gclab_house::book::{Page, pages};
use gclab_house::glossary::{entries, faults, words_to_avoid};

#[test]
fn each_term_has_one_entry_in_its_place() {
    let entries = entries(&Page::named("docs/glossary.md"));
    assert!(entries.len() > 100, "only {} entries were found", entries.len());
    let faults = faults(&entries);
    assert!(faults.is_empty(), "docs/glossary.md: {}", faults.join("; "));
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
