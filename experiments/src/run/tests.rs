//! Strict sweeps on made-up machines. An unsuitable machine is refused before the first run, and a
//! disturbance during a run fails the sweep.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use gclab_programs::{Executor, Lists};
use gclab_results::{Conditions, ResultsDir};
use gclab_sweep::environment::Root;
use gclab_sweep::registry::Registry;
use tempfile::TempDir;

use super::{Arguments, Settings, run};
use crate::common::EXIT_USAGE;

/// The files of a machine, by path below its root.
type Files<'f> = &'f [(&'f str, &'f str)];

/// Examining programs uses a folder named after the process, so one sweep runs at a time.
static ONE: Mutex<()> = Mutex::new(());

fn put(folder: &Path, files: Files<'_>) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A made-up machine, with a folder for results.
struct Planted(TempDir);

impl Planted {
    /// A machine with these files; the first run of a sweep replaces them with `later`.
    fn new(files: Files<'_>, later: Files<'_>) -> Planted {
        let folder = tempfile::tempdir().unwrap();
        for name in ["root", "later"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        put(&folder.path().join("root"), files);
        put(&folder.path().join("later"), later);
        Planted(folder)
    }

    /// The exit status of a sweep of one run, and the run's conditions if it was done.
    fn sweep(&self, strict: bool) -> (ExitCode, Option<Conditions>) {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.0.path();
        let out = folder.join(if strict { "strict" } else { "lenient" });
        let words = ["cp", "-r", "later/.", "root"].map(|word| match word.contains('/') || word == "root" {
            true => folder.join(word).display().to_string(),
            false => word.to_owned(),
        });
        let arguments = Arguments {
            command: words.to_vec(),
            out: Some(out.clone()),
            repeat: Some(1),
            strict,
            ..Arguments::default()
        };
        let lists = Lists::<gclab_collectors::All, gclab_workloads::All>::NEW;
        let registry = Registry::new(lists.collectors(), lists.workloads());
        let root = Root::at(folder.join("root"));
        let code = run(&arguments, &registry, &Settings::default(), &root);
        let results = ResultsDir::open(&out).ok();
        let done = results.and_then(|results| results.runs().first()?.conditions.clone());
        (code, done)
    }
}

/// Asserts that a strict sweep is refused before its first run, and that an ordinary one is not.
#[track_caller]
fn is_refused(files: Files<'_>) {
    let planted = Planted::new(files, &[]);
    assert_eq!(planted.sweep(true), (ExitCode::from(EXIT_USAGE), None), "{files:?}");
    assert!(!planted.0.path().join("strict").exists(), "{files:?}");
    let (code, done) = planted.sweep(false);
    assert_eq!(code, ExitCode::SUCCESS, "{files:?}");
    assert!(done.is_some(), "{files:?}");
}

#[test]
fn a_strict_sweep_refuses_each_fault_of_the_machine_before_its_first_run() {
    const CPU: &str = "sys/devices/system/cpu";
    is_refused(&[("proc/loadavg", "900.5 1.0 1.0 1/200 4242\n")]);
    is_refused(&[(&format!("{CPU}/cpu0/cpufreq/scaling_governor"), "powersave\n")]);
    is_refused(&[(&format!("{CPU}/intel_pstate/no_turbo"), "0\n")]);
    is_refused(&[
        ("sys/class/power_supply/AC/online", "0\n"),
        ("sys/class/power_supply/BAT0/status", "Discharging\n"),
    ]);
    is_refused(&[("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")]);
    is_refused(&[("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 102400 kB\n")]);
    is_refused(&[
        ("proc/self/cgroup", "0::/mine\n"),
        ("sys/fs/cgroup/mine/memory.max", "1073741824\n"),
        ("sys/fs/cgroup/mine/memory.current", "1063256064\n"),
    ]);
    is_refused(&[
        ("proc/self/cgroup", "0::/mine\n"),
        ("sys/fs/cgroup/mine/cpu.max", "50000 100000\n"),
    ]);
}

#[test]
fn a_strict_sweep_refuses_no_machine_without_a_fault() {
    let fit = [
        ("proc/loadavg", "0.00 0.01 0.05 1/200 4242\n"),
        ("proc/self/cgroup", "0::/mine\n"),
        ("sys/fs/cgroup/mine/cpu.max", "max 100000\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ];
    let (code, done) = Planted::new(&fit, &[]).sweep(true);
    assert_eq!(code, ExitCode::SUCCESS);
    assert!(done.is_some());
}

/// The throttle count of the first processor.
const HEAT: &str = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";

/// The kernel's counts before a run.
const BEFORE: [(&str, &str); 6] = [
    ("proc/stat", "cpu  1000 0 500 9000 10 0 0 50 0 0\n"),
    ("proc/pressure/memory", "some avg10=0.00 total=5000000\n"),
    ("proc/vmstat", "pswpin 10\npswpout 20\n"),
    ("proc/self/cgroup", "0::/mine\n"),
    ("sys/fs/cgroup/mine/cpu.stat", "usage_usec 5\nthrottled_usec 1000000\n"),
    (HEAT, "3\n"),
];

/// The counts grow by an hour each, so that the length of the run cannot hide them.
#[test]
fn a_strict_sweep_fails_after_each_disturbance_of_a_run() {
    for (later, name) in [
        (("proc/stat", "cpu  1000 0 500 9000 10 0 0 360050 0 0\n"), "steal"),
        (
            ("proc/stat", "cpu  361000 0 500 9000 10 0 0 50 0 0\n"),
            "other programs",
        ),
        (
            ("proc/pressure/memory", "some avg10=0.00 total=3605000000\n"),
            "memory pressure",
        ),
        (
            (
                "sys/fs/cgroup/mine/cpu.stat",
                "usage_usec 5\nthrottled_usec 3601000000\n",
            ),
            "processor quota",
        ),
        ((HEAT, "4\n"), "heat"),
        (("proc/vmstat", "pswpin 10\npswpout 21\n"), "swapping"),
    ] {
        for (strict, expected) in [(true, ExitCode::FAILURE), (false, ExitCode::SUCCESS)] {
            let planted = Planted::new(&BEFORE, &[later]);
            let (code, done) = planted.sweep(strict);
            assert_eq!(code, expected, "{name}");
            let disturbances = done.and_then(|conditions| conditions.disturbances);
            assert!(disturbances.unwrap_or_default().contains(&name.to_owned()), "{name}");
        }
    }
}
