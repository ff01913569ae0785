//! The control groups of this process: how much memory and processor time it may use. A group's
//! limit applies to all groups within it, so the smallest one counts.

use super::root::Root;

/// Version 1 writes this many bytes or more for "no limit".
const NO_LIMIT: u64 = 1 << 60;

/// The folders of this process's group for a controller, from the inner one to the outermost, with
/// the version of control groups. In a container, the path of the group may lie outside of what the
/// container sees; its outermost folder is then its own group.
fn folders(root: &Root, controller: &str) -> Vec<(u8, String)> {
    let text = root.text("proc/self/cgroup").unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let mounts: Vec<(u8, String)> = if controllers.is_empty() {
            // Version 2 may have its own folder next to version 1.
            ["sys/fs/cgroup", "sys/fs/cgroup/unified"]
                .map(|at| (2, at.to_owned()))
                .into()
        } else if controllers.split(',').any(|name| name == controller) {
            [controllers, controller]
                .map(|name| (1, format!("sys/fs/cgroup/{name}")))
                .into()
        } else {
            continue;
        };
        for (version, mount) in mounts {
            let mut path = path.trim_end_matches('/');
            loop {
                found.push((version, format!("{mount}{path}")));
                let Some((outer, _)) = path.rsplit_once('/') else {
                    break;
                };
                path = outer;
            }
        }
    }
    found
}

/// The processors that the group may use at a time; `None` without a limit.
pub(super) fn cpu_limit(root: &Root) -> Option<f64> {
    let limit = |(version, folder): &(u8, String)| {
        let (quota, period) = match version {
            1 => (
                root.number(&format!("{folder}/cpu.cfs_quota_us"))?,
                root.number(&format!("{folder}/cpu.cfs_period_us"))?,
            ),
            _ => {
                let line = root.text(&format!("{folder}/cpu.max"))?;
                let (quota, period) = line.split_once(' ')?;
                (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
            }
        };
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    };
    folders(root, "cpu").iter().filter_map(limit).reduce(f64::min)
}

/// The bytes of memory that the group may use; `None` without a limit.
pub(super) fn memory_limit(root: &Root) -> Option<u64> {
    let limit = |(version, folder): &(u8, String)| {
        let file = if *version == 1 {
            "memory.limit_in_bytes"
        } else {
            "memory.max"
        };
        let bytes: u64 = root.number(&format!("{folder}/{file}"))?;
        (bytes < NO_LIMIT).then_some(bytes)
    };
    folders(root, "memory").iter().filter_map(limit).min()
}

/// The bytes that the innermost group with a limit still may take; `None` without a limit.
pub(super) fn memory_left(root: &Root) -> Option<u64> {
    let left = |(version, folder): &(u8, String)| {
        let [most, used] = if *version == 1 {
            ["memory.limit_in_bytes", "memory.usage_in_bytes"]
        } else {
            ["memory.max", "memory.current"]
        };
        let most: u64 = root.number(&format!("{folder}/{most}"))?;
        let used: u64 = root.number(&format!("{folder}/{used}"))?;
        // Droppable file pages count as used, although they can be reclaimed.
        let files = root
            .field(&format!("{folder}/memory.stat"), "inactive_file")
            .unwrap_or(0);
        (most < NO_LIMIT).then(|| most.saturating_sub(used.saturating_sub(files)))
    };
    folders(root, "memory").iter().filter_map(left).min()
}

/// The seconds for which the group had used up its processor time; `None` if the kernel does not
/// count them.
pub(super) fn throttled_seconds(root: &Root) -> Option<f64> {
    let throttled = |(version, folder): &(u8, String)| {
        let file = format!("{folder}/cpu.stat");
        Some(match version {
            1 => root.field(&file, "throttled_time")? as f64 / 1e9,
            _ => root.field(&file, "throttled_usec")? as f64 / 1e6,
        })
    };
    folders(root, "cpu").iter().filter_map(throttled).reduce(f64::max)
}
