//! Facts about this machine and about this build, from `environment` and `git`. An unknown fact is
//! absent, never guessed, and no function here can fail a run.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::Command;
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

/// The build of this program: the state of its source tree, its compiler, and the hash of the
/// executable.
pub fn build() -> Build {
    Build {
        git_commit: git(&["rev-parse", "HEAD"]),
        git_dirty: git(&["status", "--porcelain"]).map(|changes| !changes.is_empty()),
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

/// Runs `git` in the source tree of this program, or in the current folder if that tree is gone.
fn git(arguments: &[&str]) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(if source.is_dir() { source } else { Path::new(".") });
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
