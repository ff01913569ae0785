//! The figures that vary: the kernel's counts before and after a run, and checks of their
//! differences.

use std::fmt;
use std::time::Duration;

use gclab_results::Conditions;

use super::groups;
use super::root::Root;

/// The kernel counts processor time in hundredths of a second for programs, on all its platforms
/// (`USER_HZ`).
const TICK: f64 = 0.01;

/// The most processors whose clock frequency is read: each reading may take some microseconds.
const MOST_CPUS: usize = 64;

/// A share of the run's processor time that exceeds noise.
const STEAL_SHARE: f64 = 0.01;

/// A share of one processor that other programs may take.
const OTHERS_SHARE: f64 = 0.1;

/// A share of the time of the run.
const STALL_SHARE: f64 = 0.01;

/// Times below this are rounding: some ticks of the clock.
const LEAST_SECONDS: f64 = 0.03;

/// Involuntary context switches per second, and per run, beyond what the kernel itself causes.
const SWITCHES: (f64, u64) = (100.0, 20);

/// A check that failed during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// The hypervisor took processor time.
    Steal,
    /// Other processes took processor time.
    Others,
    /// Memory was short.
    Memory,
    /// The control group had used up its processor time.
    Quota,
    /// A processor was too hot.
    Heat,
    /// Pages were swapped.
    Swap,
    /// The process lost the processor often.
    Preemption,
}

impl Disturbance {
    /// All of them.
    pub const ALL: [Disturbance; 7] = [
        Disturbance::Steal,
        Disturbance::Others,
        Disturbance::Memory,
        Disturbance::Quota,
        Disturbance::Heat,
        Disturbance::Swap,
        Disturbance::Preemption,
    ];

    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Disturbance::Steal => "steal",
            Disturbance::Others => "other programs",
            Disturbance::Memory => "memory pressure",
            Disturbance::Quota => "processor quota",
            Disturbance::Heat => "heat",
            Disturbance::Swap => "swapping",
            Disturbance::Preemption => "preemption",
        }
    }

    /// The fact, why it matters, and the remedy.
    pub fn text(self) -> &'static str {
        match self {
            Disturbance::Steal => {
                "the hypervisor gave more than 1 % of the processor time to other guests, so these runs look slower than \
                 they are; measure on a machine of your own, or at another time"
            }
            Disturbance::Others => {
                "other programs took more than a tenth of a processor, and cache with it; stop them, or wait until they finish"
            }
            Disturbance::Memory => {
                "processes waited for memory for more than 1 % of the time, and these runs may be among them; end other \
                 programs, or measure smaller heaps"
            }
            Disturbance::Quota => {
                "the control group had used up its processor time, and the kernel stopped these runs; raise cpu.max of the \
                 control group, or ask for fewer threads"
            }
            Disturbance::Heat => {
                "processors slowed down because of heat; cool the machine, turn boost off, or pause between runs"
            }
            Disturbance::Swap => {
                "pages were swapped, which takes a thousand times as long as memory; end other programs, or measure smaller \
                 heaps"
            }
            Disturbance::Preemption => {
                "the runs lost their processor more than a hundred times a second; end other programs, or ask for fewer \
                 threads"
            }
        }
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The kernel's counts at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Processor time that the hypervisor gave to others, in seconds.
    steal: Option<f64>,
    /// Processor time of all processes, in seconds.
    busy: Option<f64>,
    /// Time in which a process waited for memory, in seconds.
    memory_stall: Option<f64>,
    /// Time for which the control group had used up its processor time, in seconds.
    quota_stall: Option<f64>,
    throttles: Option<u64>,
    swapped: Option<u64>,
}

/// A run's own resources, as the kernel counts them.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// The length of the run.
    pub wall: Duration,
    /// Its processor time.
    pub cpu: Duration,
    /// Its involuntary context switches.
    pub preempted: u64,
    /// The number of processors.
    pub cpus: u32,
}

impl Sample {
    /// The counts now.
    pub fn now(root: &Root) -> Sample {
        let (busy, steal) = processor_time(root).unzip();
        Sample {
            steal: steal.flatten(),
            busy,
            memory_stall: memory_stall(root),
            quota_stall: groups::throttled_seconds(root),
            throttles: throttles(root),
            swapped: swapped(root),
        }
    }

    /// The conditions of a run that began at this moment and ended at `end`.
    pub fn until(&self, end: &Sample, used: &Used, root: &Root) -> Conditions {
        let seconds = |before: Option<f64>, after: Option<f64>| Some((after? - before?).max(0.0));
        let count = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
        let busy = seconds(self.busy, end.busy);
        let conditions = Conditions {
            steal_seconds: seconds(self.steal, end.steal).map(rounded),
            others_cpu_seconds: busy.map(|busy| rounded((busy - used.cpu.as_secs_f64()).max(0.0))),
            memory_stall_seconds: seconds(self.memory_stall, end.memory_stall).map(rounded),
            quota_stall_seconds: seconds(self.quota_stall, end.quota_stall).map(rounded),
            thermal_throttles: count(self.throttles, end.throttles),
            swapped_pages: count(self.swapped, end.swapped),
            frequency_mhz: frequency(root),
            ..Conditions::default()
        };
        let names: Vec<String> = failed(&conditions, used)
            .into_iter()
            .map(|disturbance| disturbance.name().to_owned())
            .collect();
        Conditions {
            disturbances: Some(names).filter(|names| !names.is_empty()),
            ..conditions
        }
    }
}

/// A time in whole microseconds.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// The checks that failed.
fn failed(conditions: &Conditions, used: &Used) -> Vec<Disturbance> {
    let wall = used.wall.as_secs_f64();
    let longer = |seconds: Option<f64>, limit: f64| seconds.is_some_and(|seconds| seconds > limit.max(LEAST_SECONDS));
    let any = |count: Option<u64>| count.is_some_and(|count| count > 0);
    let holds = |disturbance: &Disturbance| match disturbance {
        Disturbance::Steal => longer(conditions.steal_seconds, STEAL_SHARE * wall * f64::from(used.cpus)),
        Disturbance::Others => longer(conditions.others_cpu_seconds, OTHERS_SHARE * wall),
        Disturbance::Memory => longer(conditions.memory_stall_seconds, STALL_SHARE * wall),
        Disturbance::Quota => conditions
            .quota_stall_seconds
            .is_some_and(|seconds| seconds > STALL_SHARE * wall),
        Disturbance::Heat => any(conditions.thermal_throttles),
        Disturbance::Swap => any(conditions.swapped_pages),
        Disturbance::Preemption => used.preempted >= SWITCHES.1 && used.preempted as f64 > SWITCHES.0 * wall,
    };
    Disturbance::ALL.into_iter().filter(holds).collect()
}

/// The busy time and the stolen time of all processors, in seconds. An old kernel has no steal.
fn processor_time(root: &Root) -> Option<(f64, Option<f64>)> {
    let text = root.beginning("proc/stat")?;
    let fields: Vec<f64> = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal guest guest_nice; guests are part of user.
    let busy: f64 = [0, 1, 2, 5, 6]
        .into_iter()
        .map(|at| fields.get(at).copied())
        .sum::<Option<f64>>()?;
    Some((busy * TICK, fields.get(7).map(|steal| steal * TICK)))
}

/// The total of the line `some` of the kernel's pressure stall information.
fn memory_stall(root: &Root) -> Option<f64> {
    let text = root.text("proc/pressure/memory")?;
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let total: f64 = some.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some(total / 1e6)
}

/// How often processors were slowed down by heat, over all of them.
fn throttles(root: &Root) -> Option<u64> {
    let count = |name: &String| {
        root.number::<u64>(&format!(
            "sys/devices/system/cpu/{name}/thermal_throttle/core_throttle_count"
        ))
    };
    let counts: Vec<u64> = cpus(root).iter().filter_map(count).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

fn swapped(root: &Root) -> Option<u64> {
    let text = root.text("proc/vmstat")?;
    let field = |name: &str| -> Option<u64> {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.parse().ok()
    };
    Some(field("pswpin")? + field("pswpout")?)
}

/// The mean clock frequency of the first processors, in MHz.
fn frequency(root: &Root) -> Option<f64> {
    let kilohertz =
        |name: &String| root.number::<f64>(&format!("sys/devices/system/cpu/{name}/cpufreq/scaling_cur_freq"));
    let found: Vec<f64> = cpus(root).iter().map_while(kilohertz).collect();
    (!found.is_empty()).then(|| (found.iter().sum::<f64>() / found.len() as f64 / 1000.0).round())
}

/// The folders of the first processors, if the kernel has any that these figures are in.
fn cpus(root: &Root) -> Vec<String> {
    const FIRST: &str = "sys/devices/system/cpu/cpu0";
    if !root.has(&format!("{FIRST}/cpufreq")) && !root.has(&format!("{FIRST}/thermal_throttle")) {
        return Vec::new();
    }
    let is_cpu = |name: &String| {
        let number = name.strip_prefix("cpu").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let names = root.names("sys/devices/system/cpu").into_iter().filter(is_cpu);
    names.take(MOST_CPUS).collect()
}
