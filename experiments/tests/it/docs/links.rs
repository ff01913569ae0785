//! Links have targets, every page is listed once, and the glossary has one entry for each term.

use super::{Page, files, pages, root};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The lines outside code blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        (!fence && !in_code).then_some((at + 1, line))
    })
}

/// The targets of all links and pictures, with their lines.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(number, line)| {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.map(move |target| (number, target))
    })
}

/// The anchor that GitHub and mdBook give to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Why a relative link is broken; `None` if it works.
fn broken(page: &Page, target: &str) -> Option<String> {
    let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
    let goal = match file {
        "" => page.path.clone(),
        file => page.path.parent()?.join(file),
    };
    if !goal
        .canonicalize()
        .is_ok_and(|goal| goal.starts_with(root().canonicalize().unwrap()))
    {
        return Some(format!("{target} does not exist"));
    }
    if fragment.is_empty() {
        return None;
    }
    let text = std::fs::read_to_string(&goal).unwrap();
    let mut headings = prose(&text).filter(|(_, line)| line.starts_with('#'));
    let found = headings.any(|(_, line)| anchor(line.trim_start_matches('#').trim()) == fragment);
    (!found).then(|| format!("{file} has no heading for #{fragment}"))
}

#[test]
fn links_lead_somewhere() {
    let (mut count, mut faults) = (0, String::new());
    for page in pages() {
        for (line, target) in links(&page.text).filter(|(_, target)| !target.starts_with("https://")) {
            count += 1;
            if let Some(fault) = broken(&page, target) {
                writeln!(faults, "{}:{line}: {fault}", page.path.display()).unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "links that lead nowhere:\n{faults}");
    assert!(count > 50, "only {count} links were found");
}

#[test]
fn each_page_is_listed_once_in_the_contents() {
    let contents = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for path in files(&root().join("docs"), "md") {
        let name = path.file_name().unwrap().to_string_lossy();
        let times = links(&contents).filter(|(_, target)| *target == name).count();
        let expected = usize::from(name != "SUMMARY.md");
        assert_eq!(times, expected, "docs/SUMMARY.md lists {name} {times} times");
    }
}

#[test]
fn documents_that_the_source_names_exist() {
    for file in files(&root(), "rs") {
        let text = std::fs::read_to_string(&file).unwrap();
        for rest in text.split("docs/").skip(1) {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "-_/.".contains(c);
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches('.');
            let is_there = !name.ends_with(".md") || root().join("docs").join(name).exists();
            assert!(is_there, "{} names docs/{name}, which does not exist", file.display());
        }
    }
}

#[test]
fn the_glossary_has_one_entry_for_each_term() {
    let text = std::fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let mut seen = BTreeMap::new();
    for (line, entry) in prose(&text) {
        let Some((terms, _)) = entry.strip_prefix("* **").and_then(|rest| rest.split_once("**")) else {
            continue;
        };
        for term in terms.to_lowercase().split(", ").map(str::to_owned) {
            if let Some(before) = seen.insert(term.clone(), line) {
                panic!("docs/glossary.md: {term:?} is in line {before} and in line {line}");
            }
        }
    }
    assert!(seen.len() > 50, "only {} terms were found", seen.len());
}

/// Browsers take text such as `<size>` for an element and show nothing.
#[test]
fn pages_contain_no_elements_of_html() {
    for page in pages() {
        for (number, line) in prose(&page.text).filter(|(_, line)| !line.starts_with("    ")) {
            let text: String = line.split('`').step_by(2).collect();
            for rest in text.split('<').skip(1) {
                let known = ["sub>", "/sub>", "!--"].iter().any(|start| rest.starts_with(start));
                let element = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
                assert!(
                    known || !element,
                    "{}:{number}: <{rest} outside of code",
                    page.path.display()
                );
            }
        }
    }
}

#[test]
fn anchors_are_those_of_github() {
    let page = Page {
        path: root().join("README.md"),
        text: "# How it is: `-A4m`\n[a](#how-it-is--a4m)\n```\n[c](d.md)\n```\n[e](no-such-page.md)\n".into(),
    };
    assert_eq!(anchor("How it is: `-A4m`"), "how-it-is--a4m");
    assert_eq!(
        links(&page.text).collect::<Vec<_>>(),
        [(2, "#how-it-is--a4m"), (6, "no-such-page.md")]
    );
    assert!(broken(&page, "no-such-page.md").is_some());
    assert!(broken(&page, "../outside.md").is_some());
    assert!(broken(&page, "docs/README.md").is_none());
}
