//! Text and pictures in the docs that are generated from the source. `UPDATE_DOCS=1` renews them.

use std::fs;

use super::root;

/// Whether to renew the docs.
pub(super) fn renews() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Checks a file of the workspace against the generated text, or renews it.
#[track_caller]
pub(super) fn holds(name: &str, text: &str) {
    let path = root().join(name);
    if renews() {
        fs::create_dir_all(path.parent().expect("a file in a folder")).unwrap();
        fs::write(&path, text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "{name} is out of date: UPDATE_DOCS=1 cargo test -p gclab --test it docs"
    );
}

/// Checks the part of a page between `<!-- MARK: begin -->` and `<!-- MARK: end -->`, or renews it.
#[track_caller]
pub(super) fn part_holds(name: &str, mark: &str, text: &str) {
    let (begin, end) = (format!("<!-- {mark}: begin -->"), format!("<!-- {mark}: end -->"));
    let page = fs::read_to_string(root().join(name)).unwrap();
    let (before, rest) = page
        .split_once(&begin)
        .unwrap_or_else(|| panic!("{name} has no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{name} has no {end}"));
    holds(name, &format!("{before}{begin}\n\n{text}\n{end}{after}"));
}
