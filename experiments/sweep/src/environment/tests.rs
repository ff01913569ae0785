//! Made-up machines: their files, the facts, the findings, and the counts that vary.

use std::fs;
use std::time::Duration;

use gclab_results::Machine;
use tempfile::TempDir;

use super::{Disturbance, Finding, Root, Sample, Used, changes, findings, findings_on_threads, machine};

/// A machine with these files.
fn made_up(files: &[(&str, &str)]) -> (TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, files);
    let root = Root::at(folder.path());
    (folder, root)
}

fn put(folder: &TempDir, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

const CPUINFO: &str = "processor\t: 0\nmodel name\t: A CPU @ 2.0GHz\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: fpu sse2\n\nprocessor\t: 1\nphysical id\t: 0\ncore id\t\t: 0\n";

/// A machine fit for measuring.
const GOOD: [(&str, &str); 18] = [
    ("proc/cpuinfo", CPUINFO),
    ("proc/sys/kernel/hostname", "quiet\n"),
    ("proc/sys/kernel/ostype", "Linux\n"),
    ("proc/sys/kernel/osrelease", "6.6.6\n"),
    ("proc/sys/kernel/randomize_va_space", "2\n"),
    ("proc/sys/kernel/perf_event_paranoid", "-1\n"),
    (
        "proc/meminfo",
        "MemTotal:  16000000 kB\nMemAvailable: 15000000 kB\nSwapTotal: 1024 kB\n",
    ),
    ("proc/loadavg", "0.00 0.01 0.05 1/200 4242\n"),
    ("proc/self/cgroup", "0::/user.slice/mine\n"),
    ("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    (
        "sys/kernel/mm/transparent_hugepage/defrag",
        "always defer defer+madvise [madvise] never\n",
    ),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    ("sys/devices/system/cpu/smt/control", "off\n"),
    ("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n"),
    ("sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n"),
];

/// Facts that are read from files; if one differs, the machines differ.
#[test]
fn the_kernel_s_files_are_read() {
    let (folder, root) = made_up(&GOOD);
    let facts = machine(&root);
    let expected = Machine {
        host: Some("quiet".into()),
        cpu: Some("A CPU @ 2.0GHz".into()),
        logical_cpus: facts.logical_cpus,
        cores: Some(1),
        memory_bytes: Some(16_000_000 << 10),
        kernel: Some("Linux 6.6.6".into()),
        transparent_huge_pages: Some("madvise".into()),
        huge_page_defrag: Some("madvise".into()),
        governor: Some("performance".into()),
        virtualisation: Some("none".into()),
        mitigations: vec!["meltdown: PTI".into()],
        boost: Some(false),
        smt: Some("off".into()),
        address_randomisation: Some("full".into()),
        swap_bytes: Some(1 << 20),
        perf_event_paranoid: Some(-1),
        ..Machine::default()
    };
    assert_eq!(facts, expected);
    assert!(changes(&facts, &facts).is_empty());
    put(
        &folder,
        &[
            ("proc/sys/kernel/osrelease", "6.6.7\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
        ],
    );
    let later = machine(&root);
    let differences: Vec<(String, String)> = changes(&facts, &later).into_iter().collect();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(differences, [pair("boost", "true"), pair("kernel", "Linux 6.6.7")]);
    let old = Machine {
        kernel: None,
        boost: None,
        ..facts
    };
    assert!(changes(&old, &later).is_empty(), "an older gclab did not write them");
    let (_empty, nothing) = made_up(&[]);
    let unknown = Machine {
        logical_cpus: later.logical_cpus,
        ..Machine::default()
    };
    assert_eq!(machine(&nothing), unknown, "nothing is guessed");
}

/// The facts behind the findings that a strict sweep refuses.
fn strict(root: &Root) -> Vec<String> {
    let found = findings(root, &machine(root));
    for Finding { fact, why, remedy, .. } in &found {
        assert!(!fact.is_empty() && !why.is_empty() && !remedy.is_empty(), "{fact}");
    }
    found.into_iter().filter(|one| one.strict).map(|one| one.fact).collect()
}

#[test]
fn each_fault_of_a_machine_is_found() {
    let (_folder, good) = made_up(&GOOD);
    assert_eq!(strict(&good), Vec::<String>::new());
    for (files, fact) in [
        (
            &[("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n")][..],
            "the frequency governor is powersave, not performance",
        ),
        (
            &[("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")],
            "processors may boost their clock",
        ),
        (
            &[
                ("sys/class/power_supply/AC/online", "0\n"),
                ("sys/class/power_supply/BAT0/status", "Discharging\n"),
            ],
            "the machine runs on battery",
        ),
        (
            &[("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")],
            "transparent huge pages are set to always",
        ),
        (
            &[("proc/loadavg", "900.5 1.0 1.0 1/200 4242\n")],
            "the load average was 900.5 on",
        ),
        (
            &[("proc/meminfo", "MemTotal:  16000000 kB\nMemAvailable: 102400 kB\n")],
            "only 100 MiB of memory are left",
        ),
        (
            &[
                ("sys/fs/cgroup/user.slice/memory.max", "1073741824\n"),
                ("sys/fs/cgroup/user.slice/memory.current", "1063256064\n"),
                (
                    "sys/fs/cgroup/user.slice/memory.stat",
                    "anon 1\ninactive_file 10485760\n",
                ),
            ],
            "only 20 MiB of memory are left",
        ),
    ] {
        let (folder, root) = made_up(&GOOD);
        put(&folder, files);
        let found = strict(&root);
        assert!(
            found.len() == 1 && found[0].starts_with(fact),
            "{found:?} is not {fact}"
        );
    }
}

#[test]
fn a_virtual_machine_is_reported_but_not_refused() {
    let (folder, root) = made_up(&GOOD);
    put(
        &folder,
        &[
            ("proc/cpuinfo", &CPUINFO.replace("sse2", "sse2 hypervisor")),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ],
    );
    assert!(strict(&root).is_empty());
    let found = findings(&root, &machine(&root));
    assert!(
        found.iter().any(|one| one.fact == "a virtual machine (QEMU)"),
        "{found:?}"
    );
}

/// The lowest limit of all groups around the process counts, in both versions.
#[test]
fn limits_of_control_groups() {
    let v1 = [
        (
            "proc/self/cgroup",
            "5:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n",
        ),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "150000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "536870912\n"),
    ];
    let (_folder, root) = made_up(&v1);
    let facts = machine(&root);
    assert_eq!(
        (facts.cpu_limit, facts.memory_limit_bytes),
        (Some(1.5), Some(512 << 20))
    );
    let v2 = [
        ("proc/self/cgroup", "0::/user.slice/mine\n"),
        ("sys/fs/cgroup/user.slice/cpu.max", "200000 100000\n"),
        ("sys/fs/cgroup/user.slice/mine/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/user.slice/mine/memory.max", "1048576\n"),
        ("sys/fs/cgroup/user.slice/memory.max", "max\n"),
    ];
    let (_folder, root) = made_up(&v2);
    let facts = machine(&root);
    assert_eq!((facts.cpu_limit, facts.memory_limit_bytes), (Some(2.0), Some(1 << 20)));
    let (_folder, good) = made_up(&GOOD);
    assert_eq!(machine(&good).cpu_limit, None);
}

#[test]
fn more_threads_than_processors_are_found() {
    let facts = |cpu_limit| Machine {
        logical_cpus: Some(4),
        cpu_limit,
        ..Machine::default()
    };
    let found = |limit, threads| -> Vec<String> {
        let found = findings_on_threads(&facts(limit), threads);
        found.into_iter().map(|one| one.fact).collect()
    };
    assert_eq!(found(None, 4), Vec::<String>::new());
    assert_eq!(
        found(Some(1.5), 2),
        ["the control group may use 1.5 processors at a time, and runs have 2 threads"]
    );
    assert_eq!(
        found(None, 8),
        ["the file asks for 8 threads, and the process may use 4 processors"]
    );
}

/// The counts at the start of a run of two seconds on two processors, which uses one second.
const BEFORE: [(&str, &str); 6] = [
    ("proc/stat", "cpu  1000 0 500 9000 10 0 0 50 0 0\ncpu0 1 2 3\n"),
    (
        "proc/pressure/memory",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=5000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
    ),
    ("proc/vmstat", "nr_free_pages 7\npswpin 10\npswpout 20\n"),
    ("proc/self/cgroup", "0::/mine\n"),
    ("sys/fs/cgroup/mine/cpu.stat", "usage_usec 5\nthrottled_usec 1000000\n"),
    (
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
        "3\n",
    ),
];

const USED: Used = Used {
    wall: Duration::from_secs(2),
    cpu: Duration::from_secs(1),
    preempted: 5,
    cpus: 2,
};

#[test]
fn a_quiet_run_is_not_disturbed() {
    let (folder, root) = made_up(&BEFORE);
    let before = Sample::now(&root);
    // One tick of steal, five of others.
    put(&folder, &[("proc/stat", "cpu  1090 0 515 9090 10 0 0 51 0 0\n")]);
    let during = before.until(&Sample::now(&root), &USED, &root);
    assert_eq!(
        (during.steal_seconds, during.others_cpu_seconds),
        (Some(0.01), Some(0.05))
    );
    assert_eq!(
        (during.memory_stall_seconds, during.quota_stall_seconds),
        (Some(0.0), Some(0.0))
    );
    assert_eq!((during.thermal_throttles, during.swapped_pages), (Some(0), Some(0)));
    assert_eq!((during.disturbances, during.frequency_mhz), (None, None));
}

#[test]
fn each_disturbance_of_a_run_is_found() {
    let preempted = Used { preempted: 500, ..USED };
    let full = "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
    let stalled = format!("some avg10=0.00 avg60=0.00 avg300=0.00 total=5300000\n{full}");
    let quiet = "cpu  1090 0 510 9090 10 0 0 50 0 0\n";
    for (files, used, disturbance) in [
        (
            &[("proc/stat", "cpu  1090 0 510 9090 10 0 0 56 0 0\n")][..],
            USED,
            Disturbance::Steal,
        ),
        (
            &[("proc/stat", "cpu  1190 0 510 9090 10 0 0 50 0 0\n")],
            USED,
            Disturbance::Others,
        ),
        (&[("proc/pressure/memory", &stalled)], USED, Disturbance::Memory),
        (
            &[("sys/fs/cgroup/mine/cpu.stat", "usage_usec 5\nthrottled_usec 1100000\n")],
            USED,
            Disturbance::Quota,
        ),
        (
            &[(
                "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
                "4\n",
            )],
            USED,
            Disturbance::Heat,
        ),
        (&[("proc/vmstat", "pswpin 10\npswpout 21\n")], USED, Disturbance::Swap),
        (&[], preempted, Disturbance::Preemption),
    ] {
        let (folder, root) = made_up(&BEFORE);
        let before = Sample::now(&root);
        put(&folder, &[("proc/stat", quiet)]);
        put(&folder, files);
        let during = before.until(&Sample::now(&root), &used, &root);
        assert_eq!(
            during.disturbances.clone(),
            Some(vec![disturbance.name().to_owned()]),
            "{during:?}"
        );
        assert!(disturbance.text().contains("; "), "a remedy follows the reason");
    }
}

#[test]
fn a_kernel_without_figures_reports_no_disturbance() {
    let (_folder, root) = made_up(&[]);
    let before = Sample::now(&root);
    assert_eq!(before, Sample::default());
    let during = before.until(&Sample::now(&root), &USED, &root);
    assert_eq!(during, gclab_results::Conditions::default());
}
