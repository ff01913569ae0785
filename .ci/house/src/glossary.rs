//! The glossary: one entry for each term, in alphabetical order, and the words that no page has.

use std::collections::{BTreeMap, BTreeSet};

use crate::book::Page;

/// An entry: a bullet that begins with bold terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The line, from 1.
    pub line: usize,
    /// The heading above the entry.
    pub part: String,
    /// The terms in lower case, the first one for the order.
    pub terms: Vec<String>,
    /// The names of types in the parentheses after the terms.
    pub names: Vec<String>,
}

/// The entries of the glossary, in their order.
pub fn entries(page: &Page) -> Vec<Entry> {
    let mut part = String::new();
    let mut found = Vec::new();
    for (line, text) in page.prose() {
        if text.starts_with('#') {
            text.trim_start_matches('#').trim().clone_into(&mut part);
        }
        let Some((terms, rest)) = text.strip_prefix("* **").and_then(|rest| rest.split_once("**")) else {
            continue;
        };
        let names = rest.strip_prefix(" (").and_then(|rest| rest.split(')').next());
        let names = names.unwrap_or_default().split('`').skip(1).step_by(2);
        found.push(Entry {
            line,
            part: part.clone(),
            terms: terms.to_lowercase().split(", ").map(str::to_owned).collect(),
            names: names
                .filter(|name| name.starts_with(char::is_uppercase) && !name.contains("::"))
                .map(str::to_owned)
                .collect(),
        });
    }
    found
}

/// Terms and names of the source with two entries, and entries out of order.
pub fn faults(entries: &[Entry]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        for word in entry.terms.iter().chain(&entry.names) {
            if let Some(before) = seen.insert(word, entry.line) {
                faults.push(format!("line {}: {word} has an entry in line {before}", entry.line));
            }
        }
    }
    for pair in entries.windows(2) {
        if pair[0].part == pair[1].part && pair[0].terms[0] > pair[1].terms[0] {
            let [before, after] = [&pair[0].terms[0], &pair[1].terms[0]];
            faults.push(format!("line {}: {after} stands after {before}", pair[1].line));
        }
    }
    faults
}

/// All words that a page has in code font, outside of code blocks.
pub fn words_in_code(page: &Page) -> BTreeSet<String> {
    let spans = page.prose().flat_map(|(_, line)| line.split('`').skip(1).step_by(2));
    let words = spans.flat_map(|span| span.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.map(str::to_owned).collect()
}

/// The names of the public types and traits of a source.
///
/// # Panics
/// If the text is not Rust.
pub fn public_types(source: &str) -> Vec<String> {
    let parsed = syn::parse_file(source).unwrap_or_else(|error| panic!("no Rust: {error}"));
    let public = parsed.items.iter().filter_map(|item| match item {
        syn::Item::Enum(item) => Some((&item.vis, &item.ident)),
        syn::Item::Struct(item) => Some((&item.vis, &item.ident)),
        syn::Item::Trait(item) => Some((&item.vis, &item.ident)),
        syn::Item::Type(item) => Some((&item.vis, &item.ident)),
        _ => None,
    });
    public
        .filter(|(visibility, _)| matches!(visibility, syn::Visibility::Public(_)))
        .map(|(_, name)| name.to_string())
        .collect()
}

/// The table of words to avoid: each with the word to use.
pub fn words_to_avoid(page: &Page) -> Vec<(String, String)> {
    let rows = page
        .prose()
        .skip_while(|(_, line)| !line.starts_with("| not | but |"))
        .skip(2);
    let cells = rows.map_while(|(_, line)| {
        let mut cells = line.strip_prefix('|')?.split('|').map(|cell| cell.trim().to_owned());
        Some((cells.next()?, cells.next()?))
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page {
            name: "docs/glossary.md".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn two_entries_for_a_term_or_a_type_are_faults() {
        let page = page("## A\n* **b, c** (`Run`): x\n* **d** (`Other`, `Run`): x\n## B\n* **c**: y\n");
        let expected = ["line 3: Run has an entry in line 2", "line 5: c has an entry in line 2"];
        assert_eq!(faults(&entries(&page)), expected);
    }

    #[test]
    fn the_order_holds_within_a_part() {
        let page = page("## A\n* **b**: x\n* **a**: x\n## B\n* **Aa**: y\n");
        assert_eq!(faults(&entries(&page)), ["line 3: a stands after b"]);
    }

    #[test]
    fn words_to_avoid_are_a_table() {
        let page = page("| not | but |\n|---|---|\n| its stay | its session |\n\n| x | y |\n");
        assert_eq!(
            words_to_avoid(&page),
            [("its stay".to_owned(), "its session".to_owned())]
        );
    }
}
