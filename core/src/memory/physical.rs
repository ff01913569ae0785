//! The size of memory: the machine's, or the limit of the process's control groups if it is less.

#[cfg(miri)]
use crate::miri_libc as libc;
use crate::words::Bytes;
use std::path::{Path, PathBuf};

/// Where control groups are mounted, by convention.
const GROUPS: &str = "/sys/fs/cgroup";

/// Memory that this process can have before the system's out-of-memory killer considers it.
pub(crate) fn physical_memory() -> Bytes {
    // SAFETY: no preconditions; both calls return -1 for an unknown value.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let machine = usize::try_from(pages)
        .ok()
        .zip(usize::try_from(size).ok())
        .map(|(pages, size)| pages * size);
    // Miri warns of every file in /proc.
    let own = (!cfg!(miri)).then(|| std::fs::read_to_string("/proc/self/cgroup"));
    let own = own.and_then(Result::ok).unwrap_or_default();
    // A file without a number says `max`: no limit. Groups above a container's own are not all
    // visible from inside it.
    let groups = limit_files(&own)
        .into_iter()
        .filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok());
    Bytes(groups.chain(machine).min().unwrap_or(usize::MAX))
}

/// The files that may limit the memory of a process with this `/proc/self/cgroup`: those of its
/// groups and of all groups above them, in the unified hierarchy and in that of the memory
/// controller alone.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (mount, file) = if controllers.is_empty() {
            (PathBuf::from(GROUPS), "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (Path::new(GROUPS).join("memory"), "memory.limit_in_bytes")
        } else {
            continue;
        };
        let group = Path::new(group.trim_start_matches('/'));
        files.extend(group.ancestors().map(|group| mount.join(group).join(file)));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_above_limit_a_process_too() {
        let files = |text| {
            limit_files(text)
                .iter()
                .map(|file| file.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(files("0::/"), ["/sys/fs/cgroup/memory.max"]);
        assert_eq!(
            files("0::/user.slice/run.scope\n"),
            [
                "/sys/fs/cgroup/user.slice/run.scope/memory.max",
                "/sys/fs/cgroup/user.slice/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        assert_eq!(
            files("5:devices:/a\n4:memory:/a\nodd"),
            [
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes"
            ]
        );
    }

    #[test]
    fn there_is_some() {
        let memory = physical_memory();
        assert!(memory > Bytes::mib(1) && memory < Bytes::gib(1 << 20), "{memory}");
    }
}
