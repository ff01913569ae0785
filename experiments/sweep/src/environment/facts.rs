//! The facts about a machine that stay the same during an experiment.

use std::collections::{BTreeMap, BTreeSet};

use gclab_results::Machine;

use super::groups;
use super::root::Root;

/// Where the kernel describes processors.
const CPU: &str = "sys/devices/system/cpu";

/// The machine whose files lie below `root`, without its warnings and counters.
pub fn machine(root: &Root) -> Machine {
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    Machine {
        host: root.text("proc/sys/kernel/hostname"),
        cpu: cpu_field(&cpuinfo, "model name"),
        logical_cpus: std::thread::available_parallelism()
            .ok()
            .and_then(|n| u32::try_from(n.get()).ok()),
        cores: cores(&cpuinfo),
        caches: caches(root),
        memory_bytes: root.kilobytes("proc/meminfo", "MemTotal"),
        kernel: kernel(root),
        transparent_huge_pages: chosen(root, "sys/kernel/mm/transparent_hugepage/enabled"),
        governor: root.text(&format!("{CPU}/cpu0/cpufreq/scaling_governor")),
        virtualisation: virtualisation(root, &cpuinfo),
        mitigations: mitigations(root),
        boost: boost(root),
        smt: root.text(&format!("{CPU}/smt/control")),
        address_randomisation: root.text("proc/sys/kernel/randomize_va_space").and_then(|level| {
            let name = match level.as_str() {
                "0" => "off",
                "1" => "partial",
                "2" => "full",
                _ => return None,
            };
            Some(name.to_owned())
        }),
        huge_page_defrag: chosen(root, "sys/kernel/mm/transparent_hugepage/defrag"),
        swap_bytes: root.kilobytes("proc/meminfo", "SwapTotal"),
        cpu_limit: groups::cpu_limit(root),
        memory_limit_bytes: groups::memory_limit(root),
        power: power(root),
        perf_event_paranoid: root.number("proc/sys/kernel/perf_event_paranoid"),
        ..Machine::default()
    }
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

fn caches(root: &Root) -> Vec<String> {
    let describe = |index: u32| {
        let of = |file: &str| root.text(&format!("{CPU}/cpu0/cache/index{index}/{file}"));
        Some(format!(
            "L{} {} {}",
            of("level")?,
            of("type")?.to_lowercase(),
            of("size")?
        ))
    };
    (0..8).map_while(describe).collect()
}

fn kernel(root: &Root) -> Option<String> {
    let (name, release) = ("proc/sys/kernel/ostype", "proc/sys/kernel/osrelease");
    Some(format!("{} {}", root.text(name)?, root.text(release)?))
}

/// The word in brackets of a file with a line such as `always [madvise] never`.
fn chosen(root: &Root, path: &str) -> Option<String> {
    let line = root.text(path)?;
    Some(line.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// The name of the hypervisor if firmware or `/sys` names it, else `yes`; `none` if the processor
/// reports no hypervisor.
fn virtualisation(root: &Root, cpuinfo: &str) -> Option<String> {
    let flags = cpu_field(cpuinfo, "flags")?;
    if !flags.split_whitespace().any(|flag| flag == "hypervisor") {
        return Some("none".into());
    }
    Some(
        root.text("sys/hypervisor/type")
            .or_else(|| root.text("sys/class/dmi/id/sys_vendor"))
            .unwrap_or_else(|| "yes".into()),
    )
}

fn mitigations(root: &Root) -> Vec<String> {
    let folder = format!("{CPU}/vulnerabilities");
    let state = |name: String| {
        let state = root.text(&format!("{folder}/{name}"))?;
        let how = state.strip_prefix("Mitigation")?.trim_start_matches(": ");
        Some(format!("{name}: {how}"))
    };
    root.names(&folder).into_iter().filter_map(state).collect()
}

/// Intel's driver has a switch that turns turbo off, all others one that turns boost on.
fn boost(root: &Root) -> Option<bool> {
    let off = root.text(&format!("{CPU}/intel_pstate/no_turbo")).map(|off| off == "0");
    off.or_else(|| root.text(&format!("{CPU}/cpufreq/boost")).map(|on| on == "1"))
}

/// `mains` if a supply is connected; else `battery` if a battery is being used.
fn power(root: &Root) -> Option<String> {
    const SUPPLIES: &str = "sys/class/power_supply";
    let supplies = root.names(SUPPLIES);
    let has = |file: &str, value: &str| {
        let read = |name: &String| root.text(&format!("{SUPPLIES}/{name}/{file}"));
        supplies.iter().any(|name| read(name).as_deref() == Some(value))
    };
    if has("online", "1") {
        Some("mains".to_owned())
    } else if has("status", "Discharging") {
        Some("battery".to_owned())
    } else {
        None
    }
}

/// The facts of `now` that differ from `before`, by their keys in `plan.json`: the processor
/// and everything that changes how fast it runs. A fact that only one of the two knows differs,
/// too, except that records of an older gclab lack some.
pub fn changes(before: &Machine, now: &Machine) -> BTreeMap<String, String> {
    let text = |value: &Option<String>| value.clone();
    let number = |value: Option<f64>| value.map(|number| number.to_string());
    type Read<'r> = &'r dyn Fn(&Machine) -> Option<String>;
    let facts: [(&str, Read<'_>); 14] = [
        ("host", &|m| text(&m.host)),
        ("cpu", &|m| text(&m.cpu)),
        ("logical_cpus", &|m| m.logical_cpus.map(|n| n.to_string())),
        ("memory_bytes", &|m| m.memory_bytes.map(|n| n.to_string())),
        ("kernel", &|m| text(&m.kernel)),
        ("transparent_huge_pages", &|m| text(&m.transparent_huge_pages)),
        ("governor", &|m| text(&m.governor)),
        ("virtualisation", &|m| text(&m.virtualisation)),
        ("mitigations", &|m| {
            Some(m.mitigations.join("; ")).filter(|all| !all.is_empty())
        }),
        ("boost", &|m| m.boost.map(|on| on.to_string())),
        ("smt", &|m| text(&m.smt)),
        ("address_randomisation", &|m| text(&m.address_randomisation)),
        ("cpu_limit", &|m| number(m.cpu_limit)),
        ("power", &|m| text(&m.power)),
    ];
    let differs = |(key, of): &(&str, Read<'_>)| {
        let (was, is) = (of(before), of(now));
        // A limit is absent where there is none.
        let is_limit = *key == "cpu_limit";
        if was == is || was.is_none() && !is_limit {
            return None;
        }
        Some(((*key).to_owned(), is.unwrap_or_else(|| "unknown".to_owned())))
    };
    facts.iter().filter_map(differs).collect()
}
