//! Checks before the first run. Each finding names the fact, why it matters, and the remedy.

use gclab_results::Machine;

use super::groups;
use super::root::Root;

/// With less memory than this, the kernel takes it from programs that run.
const LITTLE_MEMORY: u64 = 512 << 20;

/// Something about the machine that degrades measurements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The fact that was found.
    pub fact: String,
    /// Why it matters.
    pub why: &'static str,
    /// A better state, with the command if there is one.
    pub remedy: &'static str,
    /// Whether a strict sweep refuses it. It does not refuse what no user can change, such as a
    /// virtual machine.
    pub strict: bool,
}

impl Finding {
    /// `the fact: why; remedy`.
    pub fn text(&self) -> String {
        format!("{}: {}; {}", self.fact, self.why, self.remedy)
    }
}

/// The findings about `machine`, whose files lie below `root`.
pub fn findings(root: &Root, machine: &Machine) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |fact: String, why, remedy, strict| {
        findings.push(Finding {
            fact,
            why,
            remedy,
            strict,
        });
    };
    if let Some(governor) = machine
        .governor
        .as_deref()
        .filter(|governor| *governor != "performance")
    {
        add(
            format!("the frequency governor is {governor}, not performance"),
            "clock speed varies from run to run",
            "`cpupower frequency-set -g performance` sets it",
            true,
        );
    }
    if machine.boost == Some(true) {
        add(
            "processors may boost their clock".to_owned(),
            "how far depends on their temperature and on other cores",
            "write 1 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to /sys/devices/system/cpu/cpufreq/boost",
            true,
        );
    }
    if machine.power.as_deref() == Some("battery") {
        add(
            "the machine runs on battery".to_owned(),
            "it saves power, and clock speed falls with the charge",
            "connect it to the mains",
            true,
        );
    }
    if machine.transparent_huge_pages.as_deref() == Some("always") {
        add(
            "transparent huge pages are set to always".to_owned(),
            "heaps get huge pages as far as memory happens to have some, so times depend on what ran before",
            "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled` leaves them to programs that ask",
            true,
        );
    }
    if let Some(kind) = machine.virtualisation.as_deref().filter(|kind| *kind != "none") {
        let name = if kind == "yes" {
            String::new()
        } else {
            format!(" ({kind})")
        };
        add(
            format!("a virtual machine{name}"),
            "other guests can take processor time and cache, and only the first of these shows, as steal",
            "measure on a machine of your own if differences are small",
            false,
        );
    }
    let cpus = machine.logical_cpus.unwrap_or(1);
    if let Some(load) = load(root).filter(|load| *load > 0.5 * f64::from(cpus)) {
        add(
            format!("the load average was {load:.1} on {cpus} processors before the first run"),
            "other programs were running, and take processor time, cache and memory",
            "stop them, or wait until they finish",
            true,
        );
    }
    let available = root.kilobytes("proc/meminfo", "MemAvailable");
    let left = groups::memory_left(root);
    if let Some(bytes) = [available, left]
        .into_iter()
        .flatten()
        .min()
        .filter(|bytes| *bytes < LITTLE_MEMORY)
    {
        add(
            format!("only {} MiB of memory are left", bytes >> 20),
            "the kernel takes pages from programs that run, and swaps",
            "end other programs, or raise the limit of the control group",
            true,
        );
    }
    if cfg!(debug_assertions) {
        add(
            "a debug build".to_owned(),
            "its times say nothing about speed",
            "use cargo run --release",
            false,
        );
    }
    findings
}

/// The findings about runs with `threads` threads, the most that an experiment asks for.
pub fn findings_on_threads(machine: &Machine, threads: u32) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(limit) = machine.cpu_limit.filter(|limit| *limit < f64::from(threads)) {
        findings.push(Finding {
            fact: format!(
                "the control group may use {limit} processors at a time, and runs have {threads} thread{}",
                if threads == 1 { "" } else { "s" }
            ),
            why: "the kernel stops all of them for the rest of each period once they have used up their share",
            remedy: "raise cpu.max of the control group, or give the container whole processors",
            strict: true,
        });
    }
    if let Some(cpus) = machine.logical_cpus.filter(|cpus| *cpus < threads) {
        findings.push(Finding {
            fact: format!("the file asks for {threads} threads, and the process may use {cpus} processors"),
            why: "threads wait for each other's processor time, and a collection waits for all of them",
            remedy: "ask for at most as many with `N`, or measure on a larger machine",
            strict: true,
        });
    }
    findings
}

/// The load average over one minute.
fn load(root: &Root) -> Option<f64> {
    root.text("proc/loadavg")?.split_whitespace().next()?.parse().ok()
}
