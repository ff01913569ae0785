//! README and `docs/` agree with the project: commands run, experiment files are legal, paths and
//! names exist, links work, and the tutorials' code compiles and runs.

mod command_line;
mod commands;
mod gc_module;
mod generated;
mod links;
mod names;
mod outside;
mod pictures;
mod ratios;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

/// A page of the docs.
pub(crate) struct Page {
    pub path: PathBuf,
    pub text: String,
}

/// A code block: the text between two fences.
pub(crate) struct Block {
    pub language: String,
    pub text: String,
    /// Page and line, for messages.
    pub place: String,
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace")
        .to_owned()
}

/// All files below `folder` with this extension, except in build folders and the built book.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && name != "book" && !name.starts_with('.') {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// README and all pages in `docs/`.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths = files(&root().join("docs"), "md");
    paths.push(root().join("README.md"));
    let page = |path: PathBuf| Page {
        text: fs::read_to_string(&path).unwrap(),
        path,
    };
    paths.into_iter().map(page).collect()
}

impl Page {
    /// The page's path from the root.
    pub(crate) fn name(&self) -> String {
        let path = self.path.strip_prefix(root()).unwrap_or(&self.path);
        path.display().to_string()
    }

    /// The page's code blocks.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut inside = false;
        for (number, line) in self.text.lines().enumerate() {
            if let Some(language) = line.strip_prefix("```") {
                inside = !inside;
                if inside {
                    blocks.push(Block {
                        language: language.to_owned(),
                        text: String::new(),
                        place: format!("{}:{}", self.name(), number + 1),
                    });
                }
            } else if inside {
                let block = blocks.last_mut().expect("a fence opened a block");
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
        assert!(!inside, "{}: a fence is not closed", self.name());
        blocks
    }

    /// The lines outside fences.
    pub(crate) fn prose(&self) -> impl Iterator<Item = &str> {
        let mut inside = false;
        self.text.lines().filter(move |line| {
            let fence = line.starts_with("```");
            inside ^= fence;
            !fence && !inside
        })
    }

    /// The texts in backticks outside fences.
    pub(crate) fn code(&self) -> Vec<&str> {
        self.prose()
            .flat_map(|line| line.split('`').skip(1).step_by(2))
            .collect()
    }
}
