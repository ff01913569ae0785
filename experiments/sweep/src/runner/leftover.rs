//! The processes that a run leaves behind when its runner is killed.
//!
//! The kernel kills a run's first process with the runner (`PR_SET_PDEATHSIG`), but not the
//! processes that it has started: they would compete with the next runner's runs. So a runner notes
//! the process group of each run in the scratch folder, and the next runner in that folder kills
//! what is left of it. The group's number may have been reused meanwhile, so it counts only since
//! the same boot, in the same session, and if its leader, the run's first process, has ended. A
//! process that left its group is not found.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::system;

/// The file with the group of the current run, in the scratch folder.
const GROUP: &str = "group";

/// The file that this process notes groups in: in its newest scratch folder.
static NOTES: Mutex<Option<File>> = Mutex::new(None);

/// Kills the processes that an earlier runner's last run left in `scratch`, and begins the file for
/// those of this runner. Returns the number of killed processes.
///
/// # Errors
/// If the file cannot be made.
pub(super) fn begin(scratch: &Path) -> io::Result<usize> {
    let path = scratch.join(GROUP);
    let left = fs::read_to_string(&path).ok().and_then(|text| left(&text));
    let killed = left.map_or(0, |left| left.kill());
    let file = File::create(path)?;
    *NOTES.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    Ok(killed)
}

/// Instead of a group: no run is in progress.
pub(super) const NOTHING: u32 = 0;

/// Notes that the process `group` leads the current run's group. One write of a few bytes, since it
/// happens during the run.
pub(super) fn note(group: u32) {
    let line = format!("{group:>10} {} {}\n", system::session(), boot().unwrap_or_default());
    if let Some(file) = &*NOTES.lock().unwrap_or_else(PoisonError::into_inner) {
        // Without the note a killed runner may leave processes.
        let _ = file.write_all_at(line.as_bytes(), 0);
    }
}

/// A group of processes that no runner waits for.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    group: i32,
    session: i32,
}

/// The group of a note, if it was written since the machine started.
fn left(text: &str) -> Option<Left> {
    let mut words = text.split_whitespace();
    let left = Left {
        group: words.next()?.parse().ok().filter(|group| *group > 1)?,
        session: words.next()?.parse().ok()?,
    };
    (words.next().map(str::to_owned) == boot()).then_some(left)
}

impl Left {
    /// Kills the group if a run has left it. Returns the number of its processes.
    fn kill(&self) -> usize {
        let members: Vec<_> = system::processes()
            .into_iter()
            .filter(|process| process.group == self.group && process.session == self.session && !process.is_dead)
            .collect();
        let has_leader = members.iter().any(|process| process.number as i32 == self.group);
        if members.is_empty() || has_leader || !system::kill_group_of(self.group) {
            return 0;
        }
        members.len()
    }
}

/// The id of this start of the machine.
fn boot() -> Option<String> {
    static BOOT: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let read = || {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(id.trim().to_owned())
    };
    BOOT.get_or_init(read).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_counts_since_this_boot_only() {
        let boot = boot().expect("Linux has an id of its boot");
        let expected = Left {
            group: 1234,
            session: 77,
        };
        assert_eq!(left(&format!("      1234 77 {boot}\n")), Some(expected));
        for other in [
            String::new(),
            "1234 77\n".to_owned(),
            "1234 77 another-boot\n".to_owned(),
            // Group 1 belongs to the machine's first process, and 0 to the caller.
            format!("1 77 {boot}\n"),
            format!("0 77 {boot}\n"),
            format!("-1 77 {boot}\n"),
        ] {
            assert_eq!(left(&other), None, "{other:?}");
        }
    }
}
