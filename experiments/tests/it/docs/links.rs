//! The targets of links exist, and so do the documents that the source refers to.

use std::fs;

use super::{files, pages, root};

/// The name that a heading has in links.
fn anchor(heading: &str) -> String {
    let kept = heading
        .trim_start_matches('#')
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for page in pages() {
        let targets = page
            .prose()
            .flat_map(|line| line.split("](").skip(1))
            .filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("https://")) {
            links += 1;
            let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() {
                page.path.clone()
            } else {
                page.path.parent().unwrap().join(file)
            };
            assert!(path.exists(), "{}: {target} is not there", page.name());
            if !fragment.is_empty() {
                let text = fs::read_to_string(&path).unwrap();
                let found = text
                    .lines()
                    .any(|line| line.starts_with('#') && anchor(line) == fragment);
                assert!(
                    found,
                    "{}: {} has no heading for #{fragment}",
                    page.name(),
                    path.display()
                );
            }
        }
    }
    assert!(links > 20, "only {links} links were found");
}

#[test]
fn documents_that_the_source_names_exist() {
    let mut named = 0;
    for file in files(&root(), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        for rest in text.split("docs/").skip(1) {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || "-_/.".contains(c)))
                .unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches('.');
            if name.ends_with(".md") {
                named += 1;
                let there = root().join("docs").join(name).exists();
                assert!(there, "{} names docs/{name}, which is not there", file.display());
            }
        }
    }
    assert!(named > 3, "only {named} documents are named");
}

#[test]
fn every_document_is_in_the_index() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    for path in files(&root().join("docs"), "md") {
        let name = path.strip_prefix(root().join("docs")).unwrap().display().to_string();
        let listed = index.contains(&format!("({name})"));
        assert!(listed || name == "README.md", "docs/README.md does not list {name}");
    }
}
