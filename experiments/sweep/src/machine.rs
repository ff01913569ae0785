//! Facts about this machine and about this build, from `environment` and the build script. An
//! unknown fact is absent, never guessed, and no function here can fail a run.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use gclab_results::{Build, Fingerprint, Machine};

use crate::environment::{self, Finding, Root};

/// The current state of the machine, with its warnings.
pub fn machine() -> Machine {
    let root = Root::system();
    let mut machine = environment::machine(&root);
    machine.warnings = environment::findings(&root, &machine)
        .iter()
        .map(Finding::text)
        .collect();
    machine
}

/// The build of this program: the commit of its sources, its compiler, and the hash of the
/// executable. A build outside `git` has no commit, and neither has a test build.
pub fn build() -> Build {
    let commit = Some(env!("GCLAB_COMMIT").to_owned()).filter(|commit| !commit.is_empty());
    Build {
        git_dirty: commit.as_ref().map(|_| env!("GCLAB_DIRTY") == "true"),
        git_commit: commit,
        rustc: Some(env!("GCLAB_RUSTC").to_owned()).filter(|version| !version.is_empty()),
        profile: Some(env!("GCLAB_PROFILE").to_owned()).filter(|profile| !profile.is_empty()),
        executable: executable_hash(),
    }
}

/// The hash of this executable, or `unknown` if it cannot be read. It keeps the measurements of two
/// builds apart.
pub fn executable() -> String {
    executable_hash().unwrap_or_else(|| "unknown".to_owned())
}

/// The load average over one minute.
pub(crate) fn load_average() -> Option<f64> {
    Root::system()
        .text("proc/loadavg")?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// The name of the machine.
pub(crate) fn host() -> Option<String> {
    Root::system().text("proc/sys/kernel/hostname")
}

/// The largest resident set of this process so far, in bytes: `VmHWM`, which restarts when a
/// process becomes another program.
pub fn peak_resident() -> Option<u64> {
    Root::system().kilobytes("proc/self/status", "VmHWM")
}

/// The memory of this process that a child starts with, in bytes: a fork copies the pages that
/// belong to no file.
pub(crate) fn copied_resident() -> Option<u64> {
    Root::system().kilobytes("proc/self/status", "RssAnon")
}

/// The path by which this program starts itself for each run: the running file, even if another has
/// taken its name since. So a sweep stays a sweep of one build even if the build is replaced.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// The name of this program, as lists of processes show its runs.
pub(crate) fn name() -> OsString {
    std::env::args_os().next().unwrap_or_else(|| "gclab".into())
}

/// The hash of this executable. It distinguishes builds; a version number does not.
fn executable_hash() -> Option<String> {
    static HASH: OnceLock<Option<String>> = OnceLock::new();
    HASH.get_or_init(|| hash_of(Path::new(THIS_PROGRAM))).clone()
}

/// FNV-1a (64 bits) over the bytes of a file; `None` if it is not a regular file, or cannot be read.
pub(crate) fn hash_of(file: &Path) -> Option<String> {
    // A read of a pipe or of a terminal would wait for input, and a device may have no end.
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(file).ok()?;
    // The hash is of `gclab_results` because that crate is optimised: these are millions of bytes.
    let mut hash = Fingerprint::new();
    let mut part = vec![0; PART];
    loop {
        match file.read(&mut part) {
            Ok(0) => return Some(hash.text()),
            Ok(count) => hash.bytes(&part[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// The bytes that a hash takes at a time: an input may be larger than the memory.
const PART: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    fn run(folder: &Path, command: &mut Command) -> String {
        let output = command.current_dir(folder).output().expect("a command");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn git(folder: &Path, words: &[&str]) -> String {
        let mut git = Command::new("git");
        let identity = ["-c", "user.name=x", "-c", "user.email=x@y"];
        run(folder, git.args(identity).args(words)).trim().to_owned()
    }

    #[test]
    fn a_build_has_the_commit_of_its_sources() {
        assert_eq!(super::build().git_commit, None, "a test build has none");
        let parent = tempfile::tempdir().expect("a folder");
        let script = parent.path().join("script");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
        let mut rustc = Command::new("rustc");
        run(
            parent.path(),
            rustc.args(["--edition", "2024", "-o"]).arg(&script).arg(source),
        );
        let root = parent.path().join("tree");
        let package = root.join("experiments/sweep");
        fs::create_dir_all(package.join("src")).expect("a folder");
        fs::write(package.join("src/lib.rs"), "one").expect("a file");
        let built = |folder: &Path, profile: &str| {
            let said = run(folder, Command::new(&script).env("PROFILE", profile));
            let value = |name: &str| {
                let start = format!("cargo::rustc-env=GCLAB_{name}=");
                said.lines()
                    .find_map(|line| line.strip_prefix(&start))
                    .map(str::to_owned)
                    .expect("a value")
            };
            (value("COMMIT"), value("DIRTY"), said)
        };
        let none = (String::new(), "false".to_owned());
        let (commit, dirty, _) = built(&package, "release");
        assert_eq!((commit, dirty), none, "outside git");
        git(&root, &["init", "-q", "-b", "main"]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "one"]);
        let head = git(&root, &["rev-parse", "HEAD"]);
        let (commit, dirty, said) = built(&package, "release");
        assert_eq!((&commit, dirty.as_str()), (&head, "false"), "{said}");
        for file in ["/HEAD", "/refs/heads/main", "/experiments/sweep/src/lib.rs"] {
            let watched = |line: &str| line.starts_with("cargo::rerun-if-changed=") && line.ends_with(file);
            assert!(said.lines().any(watched), "{file}: {said}");
        }
        fs::write(root.join("notes"), "no source").expect("a file");
        assert_eq!(built(&package, "release").1, "false");
        fs::write(package.join("src/lib.rs"), "two").expect("a file");
        assert_eq!(built(&package, "release").1, "true");
        git(&root, &["worktree", "add", "-q", "../other"]);
        let (commit, dirty, said) = built(&parent.path().join("other/experiments/sweep"), "release");
        assert_eq!((&commit, dirty.as_str()), (&head, "false"), "{said}");
        assert!(
            said.contains("/worktrees/other/HEAD\n") && said.contains("/refs/heads/other\n"),
            "{said}"
        );
        let (commit, dirty, said) = built(&package, "debug");
        assert_eq!((commit, dirty), none, "{said}");
        assert_eq!(said.matches("rerun-if-changed").count(), 1, "{said}");
    }
}
