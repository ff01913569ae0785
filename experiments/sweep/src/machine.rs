//! Facts about the machine and about this build, from `/proc`, `/sys` and `git`. An unknown fact is
//! absent, never guessed, and no function here can fail a run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use gclab_results::{Build, Machine};

/// The current state of the machine.
pub fn machine() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut machine = Machine {
        host: text("/proc/sys/kernel/hostname"),
        cpu: cpu_field(&cpuinfo, "model name"),
        logical_cpus: std::thread::available_parallelism()
            .ok()
            .and_then(|n| u32::try_from(n.get()).ok()),
        cores: cores(&cpuinfo),
        caches: caches(),
        memory_bytes: memory(),
        kernel: kernel(),
        transparent_huge_pages: text("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|line| chosen(&line)),
        governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtualisation: virtualisation(&cpuinfo),
        mitigations: mitigations(),
        ..Machine::default()
    };
    machine.warnings = warnings(&machine);
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
    text("/proc/loadavg")?.split_whitespace().next()?.parse().ok()
}

/// The name of the machine.
pub(crate) fn host() -> Option<String> {
    text("/proc/sys/kernel/hostname")
}

/// The largest resident set of this process so far, in bytes: `VmHWM`, which begins anew when a
/// process becomes another program.
pub fn peak_resident() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM")
}

/// A field of a file of the kernel's that has kilobytes, in bytes.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let fields = file.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.into_iter().find(|(key, _)| *key == name)?;
    Some(value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The path by which this program starts itself for each run: the file that runs, even if another
/// file has its name meanwhile. A sweep over a build that is replaced stays a sweep of one build.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// The name of this program, as lists of processes show its runs.
pub(crate) fn name() -> OsString {
    std::env::args_os().next().unwrap_or_else(|| "gclab".into())
}

/// The hash of this executable. It distinguishes builds; a version number does not.
fn executable_hash() -> Option<String> {
    hash_of(Path::new(THIS_PROGRAM))
}

/// FNV-1a (64 bits) over the bytes of a file; `None` if it cannot be read.
pub(crate) fn hash_of(file: &Path) -> Option<String> {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes = fs::read(file).ok()?;
    let hash = bytes
        .iter()
        .fold(OFFSET_BASIS, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    Some(format!("{hash:016x}"))
}

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

fn text(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

fn cpu_field(cpuinfo: &str, name: &str) -> Option<String> {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

/// The number of pairs of package and core id; absent where the kernel does not tell them.
fn cores(cpuinfo: &str) -> Option<u32> {
    let of = |name: &str| {
        cpuinfo
            .lines()
            .filter_map(|line| line.split_once(':'))
            .filter(|(key, _)| key.trim() == name)
            .map(|(_, id)| id.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let pairs: BTreeSet<_> = of("physical id").into_iter().zip(of("core id")).collect();
    u32::try_from(pairs.len()).ok().filter(|&n| n > 0)
}

fn caches() -> Vec<String> {
    let describe = |index: u32| {
        let of = |file: &str| text(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{file}"));
        Some(format!(
            "L{} {} {}",
            of("level")?,
            of("type")?.to_lowercase(),
            of("size")?
        ))
    };
    (0..8).map_while(describe).collect()
}

fn memory() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")
}

fn kernel() -> Option<String> {
    Some(format!(
        "{} {}",
        text("/proc/sys/kernel/ostype")?,
        text("/proc/sys/kernel/osrelease")?
    ))
}

/// The word in brackets of a line such as `always [madvise] never`.
fn chosen(line: &str) -> Option<String> {
    Some(line.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// The name of the hypervisor if firmware or `/sys` tells it, else `yes`; `none` if the processor
/// reports no hypervisor.
fn virtualisation(cpuinfo: &str) -> Option<String> {
    let flags = cpu_field(cpuinfo, "flags")?;
    if !flags.split_whitespace().any(|flag| flag == "hypervisor") {
        return Some("none".into());
    }
    Some(
        text("/sys/hypervisor/type")
            .or_else(|| text("/sys/class/dmi/id/sys_vendor"))
            .unwrap_or_else(|| "yes".into()),
    )
}

fn mitigations() -> Vec<String> {
    let folder = fs::read_dir("/sys/devices/system/cpu/vulnerabilities")
        .into_iter()
        .flatten()
        .flatten();
    let mut found: Vec<String> = folder
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, text(entry.path().to_str()?)?)))
        .filter(|(_, state)| state.starts_with("Mitigation"))
        .map(|(name, state)| format!("{name}: {}", state.trim_start_matches("Mitigation: ")))
        .collect();
    found.sort();
    found
}

fn warnings(machine: &Machine) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(governor) = machine
        .governor
        .as_deref()
        .filter(|&governor| governor != "performance")
    {
        warnings.push(format!(
            "the frequency governor is {governor}, not performance: clock speed varies from run to run"
        ));
    }
    if machine.virtualisation.as_deref().is_some_and(|kind| kind != "none") {
        warnings.push(
            "a virtual machine: other guests can take processor time and cache, and no figure here shows it".into(),
        );
    }
    if let (Some(load), Some(cpus)) = (load_average(), machine.logical_cpus)
        && load > 0.5 * f64::from(cpus)
    {
        warnings.push(format!(
            "the load average was {load:.1} on {cpus} processors before the first run: other programs were running"
        ));
    }
    if cfg!(debug_assertions) {
        warnings.push("a debug build: its times say nothing about speed (use cargo run --release)".into());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_files_are_read() {
        let cpuinfo = "processor\t: 0\nmodel name\t: A CPU @ 2.0GHz\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\nphysical id\t: 0\ncore id\t\t: 0\n";
        assert_eq!(cpu_field(cpuinfo, "model name").as_deref(), Some("A CPU @ 2.0GHz"));
        assert_eq!(cores(cpuinfo), Some(1), "two threads of one core");
        assert_eq!(cores("processor : 0\n"), None);
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(virtualisation("flags : fpu sse2\n").as_deref(), Some("none"));
    }
}
