//! Checks of the source text of the workspace.
//!
//! [`imports`] reads the paths of a crate and finds circles between its files. [`names`] lists the
//! paths of a file outside its tests. [`prose`] reads the comments and the pages of `docs/` and
//! counts words that make them hard to read. [`book`] reads links and the table of contents,
//! [`glossary`] the terms, and [`figures`] the figures in sentences. The tests of this package
//! apply all of them to the workspace.

#![forbid(unsafe_code)]

pub mod book;
pub mod figures;
pub mod glossary;
pub mod imports;
pub mod names;
pub mod prose;

use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace is above this package")
}

/// A crate of the workspace, by its folder and the root file of its library.
#[derive(Debug, Clone)]
pub struct Crate {
    /// The folder, relative to the workspace.
    pub folder: String,
    /// The path of `src/lib.rs`.
    pub root: PathBuf,
}

/// All crates of the workspace that have a library: the folders with a `Cargo.toml` and a
/// `src/lib.rs`.
///
/// # Panics
/// If a folder of the workspace cannot be read.
pub fn crates() -> Vec<Crate> {
    let root = root();
    let mut all: Vec<Crate> = files_below(&root, "Cargo.toml")
        .into_iter()
        .filter_map(|manifest| {
            let folder = manifest.parent()?;
            let library = folder.join("src/lib.rs");
            library.exists().then(|| Crate {
                folder: folder
                    .strip_prefix(&root)
                    .expect("below the root")
                    .display()
                    .to_string(),
                root: library,
            })
        })
        .collect();
    all.sort_by(|a, b| a.folder.cmp(&b.folder));
    all
}

/// The files below `folder` whose name ends with `ending`, sorted. Folders named `target`,
/// the built book and folders of version control are left out.
///
/// # Panics
/// If a folder cannot be read.
pub fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("an entry of a folder").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if name != "target" && name != "book" && name != ".git" {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
