//! `docs/` is a book: every page is in its table of contents once, and every link leads somewhere.

use std::fmt::Write as _;

use gclab_house::book::{Page, broken, contents_faults, pages};
use gclab_house::{files_below, root};

/// The pages of the book, by their names in `docs/`.
fn chapters() -> Vec<String> {
    let mut names: Vec<String> = pages()
        .iter()
        .filter_map(|page| page.name.strip_prefix("docs/"))
        .map(str::to_owned)
        .collect();
    names.retain(|name| name != "SUMMARY.md");
    names
}

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let faults = contents_faults(&Page::named("docs/SUMMARY.md"), &chapters());
    assert!(faults.is_empty(), "docs/SUMMARY.md: {}", faults.join("; "));
}

#[test]
fn the_first_page_lists_every_page() {
    let index = Page::named("docs/README.md").links();
    for chapter in chapters() {
        let listed = index.iter().any(|link| link.target == chapter);
        assert!(
            listed || chapter == "README.md",
            "docs/README.md does not list {chapter}"
        );
    }
}

#[test]
fn links_lead_somewhere() {
    let (mut links, mut faults) = (0, String::new());
    for page in pages() {
        for link in page.links() {
            links += 1;
            if let Some(fault) = broken(&page, &link) {
                writeln!(faults, "{}:{}: {fault}", page.name, link.line).unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "links that lead nowhere:\n{faults}");
    assert!(links > 100, "only {links} links were found");
}

/// Without the sidebar of the book, a reader of one page finds the others by this link.
#[test]
fn every_page_links_up() {
    for chapter in chapters() {
        if chapter != "README.md" {
            let page = Page::named(&format!("docs/{chapter}"));
            let first = page.links().first().map(|link| link.target.clone());
            assert_eq!(
                first.as_deref(),
                Some("README.md"),
                "docs/{chapter}: the first link leads up"
            );
        }
    }
}

#[test]
fn documents_that_the_source_names_exist() {
    let mut named = 0;
    for file in files_below(&root(), ".rs") {
        let text = std::fs::read_to_string(&file).unwrap();
        for rest in text.split("docs/").skip(1) {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || "-_/.".contains(c)))
                .unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches('.');
            // The tests of this package have names of pages that do not exist.
            if name.ends_with(".md") && !file.starts_with(root().join(".ci/house")) {
                named += 1;
                let there = root().join("docs").join(name).exists();
                assert!(there, "{} names docs/{name}, which is not there", file.display());
            }
        }
    }
    assert!(named > 3, "only {named} documents are named");
}

/// The titles are those in `Topic::title` of the report's crate.
#[test]
fn every_part_of_a_report_is_explained() {
    let source = std::fs::read_to_string(root().join("results/report/src/document.rs")).unwrap();
    let titles: Vec<&str> = source
        .lines()
        .filter_map(|line| {
            line.trim()
                .strip_prefix("Topic::")?
                .split_once("=> \"")?
                .1
                .strip_suffix("\",")
        })
        .collect();
    assert!(titles.len() >= 15, "only {} titles were found", titles.len());
    let page = Page::named("docs/reading-a-report.md");
    for title in titles {
        let row = format!("| **{title}** |");
        assert!(
            page.text.contains(&row),
            "docs/reading-a-report.md has no row for the part {title:?}"
        );
    }
}

/// Text such as `<size>` outside of code is an element of HTML to a browser, which shows nothing.
#[test]
fn pages_have_no_elements_of_html() {
    for page in pages() {
        for (number, line) in page.prose().filter(|(_, line)| !line.starts_with("    ")) {
            let text: String = line.split('`').step_by(2).collect();
            for rest in text.split('<').skip(1) {
                let known = ["sub>", "/sub>", "!--"].iter().any(|start| rest.starts_with(start));
                let element = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
                assert!(known || !element, "{}:{number}: <{rest} outside of code", page.name);
            }
        }
    }
}
