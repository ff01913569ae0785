//! The pages of the project as Markdown: their headings, links and prose, and the table of contents
//! of the book that `docs/` is.

use std::path::{Component, Path, PathBuf};

use crate::{files_below, root};

/// A page of Markdown.
#[derive(Debug, Clone)]
pub struct Page {
    /// The path from the root of the workspace, with `/`.
    pub name: String,
    /// The text of the page.
    pub text: String,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The line, from 1.
    pub line: usize,
    /// The target as it is written.
    pub target: String,
}

/// The pages that the project shows to its readers: those in the root and in `docs/`, sorted.
///
/// # Panics
/// If a page cannot be read.
pub fn pages() -> Vec<Page> {
    let root = root();
    let at_top = std::fs::read_dir(&root).expect("the root can be read");
    let mut paths: Vec<PathBuf> = at_top
        .map(|entry| entry.expect("an entry of the root").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.extend(files_below(&root.join("docs"), ".md"));
    let mut pages: Vec<Page> = paths.iter().map(|path| Page::read(path)).collect();
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    pages
}

impl Page {
    fn read(path: &Path) -> Page {
        let name = path.strip_prefix(root()).expect("below the root").display().to_string();
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        Page { name, text }
    }

    /// The page with this path from the root.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn named(name: &str) -> Page {
        Page::read(&root().join(name))
    }

    /// The lines outside of code blocks, with their numbers from 1.
    pub fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut inside = false;
        self.text.lines().enumerate().filter_map(move |(at, line)| {
            let fence = line.trim_start().starts_with("```");
            inside ^= fence;
            (!fence && !inside).then_some((at + 1, line))
        })
    }

    /// The headings, without their `#`.
    pub fn headings(&self) -> impl Iterator<Item = &str> {
        self.prose().filter_map(|(_, line)| {
            let text = line.trim_start_matches('#');
            (text.len() < line.len()).then(|| text.trim())
        })
    }

    /// All links and pictures, in order.
    pub fn links(&self) -> Vec<Link> {
        let links = self.prose().flat_map(|(number, line)| {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            targets.map(move |target| Link {
                line: number,
                target: target.to_owned(),
            })
        });
        links.collect()
    }

    /// The path from the root that a relative link leads to: `None` if it leaves the workspace.
    pub fn resolve(&self, file: &str) -> Option<PathBuf> {
        if file.is_empty() {
            return Some(PathBuf::from(&self.name));
        }
        let mut path = Path::new(&self.name).parent()?.to_path_buf();
        for part in Path::new(file).components() {
            match part {
                Component::Normal(name) => path.push(name),
                Component::ParentDir => {
                    if !path.pop() {
                        return None;
                    }
                }
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(path)
    }
}

/// The name that a heading has in links, on GitHub and in mdBook.
pub fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The reason why a link leads nowhere, or `None` if it is good. Links to other hosts are not
/// followed.
pub fn broken(page: &Page, link: &Link) -> Option<String> {
    let target = &link.target;
    if target.starts_with("https://") {
        return None;
    }
    let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = page.resolve(file) else {
        return Some(format!("{target} leaves the workspace"));
    };
    if !root().join(&path).exists() {
        return Some(format!("{} is not there", path.display()));
    }
    if fragment.is_empty() {
        return None;
    }
    let goal = Page::named(&path.display().to_string());
    let found = goal.headings().any(|heading| anchor(heading) == fragment);
    (!found).then(|| format!("{} has no heading for #{fragment}", path.display()))
}

/// The faults of a table of contents: pages that are listed twice or not at all, and entries
/// without a page. `pages` are the names of the pages relative to the table.
pub fn contents_faults(table: &Page, pages: &[String]) -> Vec<String> {
    let listed: Vec<String> = table.links().into_iter().map(|link| link.target).collect();
    let mut faults = Vec::new();
    for page in pages {
        match listed.iter().filter(|entry| *entry == page).count() {
            1 => {}
            times => faults.push(format!("{page} is listed {times} times")),
        }
    }
    for entry in &listed {
        if !pages.contains(entry) {
            faults.push(format!("{entry} is listed and is no page"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page {
            name: "docs/page.md".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn links_in_code_are_none() {
        let page = page("[a](b.md)\n```\n[c](d.md)\n```\n![e](f.svg) and [g](#h)\n");
        let links: Vec<(usize, String)> = page.links().into_iter().map(|link| (link.line, link.target)).collect();
        let expected = [(1, "b.md"), (5, "f.svg"), (5, "#h")].map(|(line, target)| (line, target.to_owned()));
        assert_eq!(links, expected);
    }

    #[test]
    fn a_link_resolves_from_its_page() {
        let page = page("");
        assert_eq!(page.resolve("other.md"), Some(PathBuf::from("docs/other.md")));
        assert_eq!(page.resolve("../core/src"), Some(PathBuf::from("core/src")));
        assert_eq!(page.resolve("../../elsewhere"), None);
    }

    #[test]
    fn headings_in_code_have_no_anchor() {
        let page = page("# How it is: `-A4m`\n```sh\n# a comment\n```\n");
        assert_eq!(page.headings().map(anchor).collect::<Vec<_>>(), ["how-it-is--a4m"]);
    }

    #[test]
    fn a_page_is_listed_once() {
        let table = page("# Contents\n- [A](a.md)\n- [B](b.md)\n- [A](a.md)\n- [D](d.md)\n");
        let pages = ["a.md", "b.md", "c.md"].map(str::to_owned);
        let faults = [
            "a.md is listed 2 times",
            "c.md is listed 0 times",
            "d.md is listed and is no page",
        ];
        assert_eq!(contents_faults(&table, &pages), faults);
    }
}
