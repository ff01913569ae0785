//! Finds results by the path of their folder, or by the name of their experiment.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gclab_results::{ResultsDir, path_name};

use crate::folder::{RUNS, folders, is_results};

/// Limit on the names that a message lists.
const MOST_NAMES: usize = 10;

/// The length of the date in a folder's name: `2026-01-31-120005`.
const DATE: usize = 17;

/// The results at a path or with a name: those that [`find`] finds, or all shards of a sweep in the
/// subfolders of a folder, such as `results/shards/quick`.
///
/// # Errors
/// A message with the existing folders, or with the reason why the results cannot be read.
pub fn open(name: &Path) -> Result<ResultsDir, String> {
    let open = |path: PathBuf| ResultsDir::open(path).map_err(|error| error.to_string());
    if !is_results(name) {
        let opened = folders(name).filter(|path| is_results(path)).map(open);
        let mut joined = ResultsDir::join(opened.collect::<Result<_, _>>()?);
        if let [sweep] = &joined[..]
            && sweep.manifest().shard.is_some()
        {
            return Ok(joined.swap_remove(0));
        }
    }
    open(find(name)?)
}

/// The results folder at this path; or of this name below `results/runs`; or the newest one there
/// of the experiment with this name: `quick` finds `results/runs/quick-2026-01-31-120005`.
///
/// # Errors
/// A message with the folders that there are.
pub fn find(name: &Path) -> Result<PathBuf, String> {
    find_in(Path::new(RUNS), name)
}

fn find_in(root: &Path, name: &Path) -> Result<PathBuf, String> {
    if is_results(name) {
        return Ok(name.to_owned());
    }
    // `results/runs/quick` and `quick` mean the same.
    let wanted = name.strip_prefix(root).unwrap_or(name);
    if is_results(&root.join(wanted)) {
        return Ok(root.join(wanted));
    }
    let mut there: Vec<String> = folders(root)
        .filter(|path| is_results(path))
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    // The newest first: a date sorts as text.
    there.sort_by(|one, other| date(other).cmp(date(one)).then_with(|| one.cmp(other)));
    let of_name = |folder: &&String| {
        let rest = wanted.to_str().and_then(|wanted| folder.strip_prefix(wanted));
        rest.and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(begins_with_date)
    };
    if let Some(folder) = there.iter().find(of_name) {
        return Ok(root.join(folder));
    }
    let problem = problem(name);
    let more = there.len().saturating_sub(MOST_NAMES);
    there.truncate(MOST_NAMES);
    let known = match (there.is_empty(), more) {
        (true, _) => format!("there are none in {} yet; `gclab run` makes one", path_name(root)),
        (false, 0) => format!("in {} there are: {}", path_name(root), there.join(", ")),
        (false, more) => format!(
            "in {} there are: {}, and {more} older ones",
            path_name(root),
            there.join(", ")
        ),
    };
    Err(format!("{}: {problem}; {known}", path_name(name)))
}

/// The reason why a path is not a results folder.
fn problem(name: &Path) -> String {
    let plan = name.join("plan.json");
    let refused = |error: &io::Error| !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    match (fs::metadata(name), fs::metadata(&plan)) {
        (Err(error), _) if refused(&error) => error.to_string(),
        (Err(_), _) => "no such folder".to_owned(),
        (Ok(found), _) if !found.is_dir() => "is a file, not a results folder".to_owned(),
        (Ok(_), Err(error)) if refused(&error) => format!("its plan.json cannot be read: {error}"),
        (Ok(_), _) => "is not a results folder: it has no plan.json".to_owned(),
    }
}

/// Whether a text begins with a date as in a folder's name.
fn begins_with_date(text: &str) -> bool {
    let form = "0000-00-00-000000";
    let fits = |(wanted, found): (char, char)| wanted == '0' && found.is_ascii_digit() || wanted == found;
    text.len() >= DATE && form.chars().zip(text.chars()).all(fits)
}

/// The date in a folder's name, or nothing.
fn date(folder: &str) -> &str {
    let mut dashes = folder.match_indices('-').map(|(at, _)| &folder[at + 1..]);
    dashes
        .find(|rest| begins_with_date(rest))
        .map_or("", |rest| &rest[..DATE])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_finds_the_newest_folder() {
        let parent = tempfile::tempdir().unwrap();
        let root = parent.path().join("runs");
        let none = find_in(&root, Path::new("quick")).unwrap_err();
        assert!(none.starts_with("quick: no such folder; there are none in "), "{none}");
        for name in [
            "quick-2026-01-02-000000",
            "quick-2026-01-03-000000-2",
            "quick-2025-12-31-235959",
            "quick-more-2026-06-01-000000",
            "after",
        ] {
            fs::create_dir_all(root.join(name)).unwrap();
            fs::write(root.join(name).join("plan.json"), "{}").unwrap();
        }
        fs::create_dir_all(root.join("no-results")).unwrap();
        let found =
            |name: &str| find_in(&root, &root.join(name)).map(|path| path.strip_prefix(&root).unwrap().to_owned());
        assert_eq!(found("quick").unwrap(), Path::new("quick-2026-01-03-000000-2"));
        assert_eq!(found("quick-more").unwrap(), Path::new("quick-more-2026-06-01-000000"));
        assert_eq!(found("after").unwrap(), Path::new("after"));
        assert_eq!(find_in(&root, Path::new("after")).unwrap(), root.join("after"));
        assert_eq!(
            found("quick-2026-01-02-000000").unwrap(),
            Path::new("quick-2026-01-02-000000")
        );
        let error = found("quic").unwrap_err().replace(&root.display().to_string(), "ROOT");
        assert_eq!(
            error,
            "ROOT/quic: no such folder; in ROOT there are: quick-more-2026-06-01-000000, quick-2026-01-03-000000-2, quick-2026-01-02-000000, quick-2025-12-31-235959, after"
        );
        let error = found("no-results").unwrap_err();
        assert!(
            error.contains("is not a results folder: it has no plan.json; in "),
            "{error}"
        );
        // The system's reason for not letting gclab look: here, a loop of links.
        std::os::unix::fs::symlink("loop", parent.path().join("loop")).unwrap();
        let error = find_in(&root, &parent.path().join("loop")).unwrap_err();
        assert!(error.contains("symbolic links"), "{error}");
        let folder = parent.path().join("folder");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink("plan.json", folder.join("plan.json")).unwrap();
        let error = find_in(&root, &folder).unwrap_err();
        assert!(error.contains("its plan.json cannot be read: "), "{error}");
    }
}
