//! `gclab::bench`: whole runs, from an empty heap to the checksum, as benchmarks of criterion.

use std::cell::Cell;
use std::process::{self, ExitCode};
use std::time::{Duration, Instant};

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion};
use gclab_core::clock::Clock;
use gclab_core::collector::{CollectorList, Description};
use gclab_core::heap::EXIT_HEAP_EXHAUSTED;
use gclab_flags::{ENVIRONMENT, Flags, Given};
use gclab_programs::{Ended, Executor, Lists};
use gclab_sweep::environment::{Root, Sample, Used};
use gclab_sweep::registry::Registry;
use gclab_sweep::tell;
use gclab_workloads::WorkloadList;

use crate::common::{EXIT_PANIC, EXIT_USAGE, arguments, refuse, workload};
use crate::exec::Checked;
use crate::given::{notes, with_defaults};
use crate::settings::Settings;

/// Benchmarks these collectors with these workloads by criterion, for the `main` of a bench with
/// `harness = false`. It reads criterion's command line.
///
/// `sets` are sets of flags, such as `["-A256k", "-A1m -n64k"]`; with none, the defaults apply.
/// Flags in `GCLABRTS` override those of each set, and a flag that a collector does not honour
/// gives way. `programs` are workloads with their arguments, such as `["binary_trees 15",
/// "gcbench"]`; a bare name takes [its bench
/// arguments](gclab_workloads::WorkloadDescription::bench), and an empty list means every workload
/// with its bench arguments.
///
/// A benchmark is called `gcbench/copying`; with several sets of flags, `gcbench/copying/-A1m`. If
/// a workload is listed twice, its arguments are part of the name. What is measured is CPU time of
/// all threads.
///
/// Exit status 2 and a message if a flag, a workload or an argument is wrong. A run that fails ends
/// the process with a message, and with 251 if its heap is exhausted.
pub fn bench<Collectors: CollectorList, Workloads: WorkloadList>(sets: &[&str], programs: &[&str]) -> ExitCode {
    let executor = Lists::<Collectors, Workloads>::NEW;
    let registry = Registry::new(executor.collectors(), executor.workloads());
    if std::env::args().any(|word| word == "+RTS") {
        return refuse(format!(
            "bench: this command line is criterion's: write flags before it, as in {ENVIRONMENT}=-A1m"
        ));
    }
    match planned(&registry, sets, programs) {
        Ok(programs) => {
            measure(&executor, &programs);
            ExitCode::SUCCESS
        }
        Err(message) => refuse(format!("bench: {message}")),
    }
}

/// The benchmarks of a workload with some arguments: a group of criterion's.
struct Program {
    name: String,
    runs: Vec<Run>,
}

/// A benchmark.
struct Run {
    /// Its set of flags, if there are several.
    set: Option<String>,
    checked: Checked,
}

/// The benchmarks. Everything is checked before the first one runs.
fn planned(registry: &Registry, sets: &[&str], programs: &[&str]) -> Result<Vec<Program>, String> {
    let mut read: Vec<(&str, Given)> = Vec::new();
    for set in if sets.is_empty() { &[""] } else { sets } {
        let given = with_defaults(set, &[], &Settings::default())?;
        if writes(given.flags()) {
            return Err(format!(
                "flags that print something or write a file are for `gclab exec`: leave them out of {set:?} and {ENVIRONMENT}"
            ));
        }
        // The environment may have made two sets the same.
        if read.iter().all(|(_, other)| other.flags() != given.flags()) {
            read.push((set, given));
        }
    }
    let mut fitted = Vec::new();
    for collector in &registry.collectors {
        for (set, given) in &read {
            let (flags, gave_way) = given
                .fit(collector, &registry.collectors)
                .map_err(|error| error.to_string())?;
            let gave_way = gave_way.iter().map(|note| format!("{}: {note}", collector.name));
            notes(&gave_way.collect::<Vec<_>>());
            fitted.push((*collector, (read.len() > 1).then(|| (*set).to_owned()), flags));
        }
    }
    let all = registry.workload_names();
    let programs = if programs.is_empty() { &all } else { programs };
    let name_of = |program: &str| program.split_whitespace().next().unwrap_or_default().to_owned();
    let planned = programs.iter().map(|program| {
        let name = name_of(program);
        let workload = workload(&name, registry)?;
        let words: Vec<&str> = program.split_whitespace().skip(1).collect();
        let args = arguments(workload, if words.is_empty() { workload.bench } else { &words })?;
        let is_alone = programs.iter().filter(|other| name_of(other) == name).count() == 1;
        let run = |(collector, set, flags): &(&'static Description, Option<String>, Flags)| Run {
            set: set.clone(),
            checked: Checked {
                workload,
                args: args.clone(),
                collector,
                flags: flags.clone(),
            },
        };
        Ok(Program {
            name: if is_alone { name } else { (*program).to_owned() },
            runs: fitted.iter().map(run).collect(),
        })
    });
    planned.collect()
}

/// Whether each run would print something or write a file.
fn writes(flags: &Flags) -> bool {
    flags.keeps_figures() || flags.debug.any() || flags.bell || flags.help || flags.info
}

/// Long enough, and with a threshold, so that criterion seldom reports a change where there is none.
fn measure(executor: &dyn Executor, programs: &[Program]) {
    let mut criterion = Criterion::default()
        .with_measurement(CpuTime)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(4))
        .sample_size(20)
        .nresamples(10_000)
        // On a shared machine, runs of one binary some minutes apart often differ by this much.
        .noise_threshold(0.15)
        .configure_from_args();
    for program in programs {
        let mut group = criterion.benchmark_group(&program.name);
        let checksum = Cell::new(None);
        for run in &program.runs {
            let collector = run.checked.collector.name;
            let id = match &run.set {
                Some(set) => BenchmarkId::new(collector, set),
                None => BenchmarkId::from_parameter(collector),
            };
            let disturbances = disturbances(|| {
                group.bench_function(id, |bencher| {
                    bencher.iter(|| {
                        whole_run(executor, &run.checked, &checksum)
                            .unwrap_or_else(|status| process::exit(status.into()))
                    })
                });
            });
            if let Some(names) = disturbances {
                tell!("gclab: caution: disturbed by {names}: a change may be the machine's, so measure again");
            }
        }
        group.finish();
    }
    criterion.final_summary();
}

/// What disturbed the machine meanwhile.
fn disturbances(benchmark: impl FnOnce()) -> Option<String> {
    let root = Root::system();
    let (before, start, cpu) = (Sample::now(&root), Instant::now(), Clock::process_cpu_ns());
    benchmark();
    let used = Used {
        wall: start.elapsed(),
        cpu: Duration::from_nanos(Clock::process_cpu_ns() - cpu),
        preempted: 0,
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
    };
    let conditions = before.until(&Sample::now(&root), &used, &root);
    Some(conditions.disturbances?.join(", "))
}

/// One run. The error is the exit status if it failed or its checksum differs from the program's
/// earlier runs; the message has been printed.
fn whole_run(executor: &dyn Executor, checked: &Checked, checksum: &Cell<Option<u64>>) -> Result<(), u8> {
    let damaged = |problem: &str| {
        checked.tell_damaged(problem);
        Err(EXIT_PANIC)
    };
    match executor.execute(&checked.request(&[], &[]), Vec::new()).ended {
        Ended::Checksum(found, _) => match checksum.replace(Some(found)) {
            Some(before) if before != found => damaged(&format!("checksum {found}, but {before} in earlier runs")),
            _ => Ok(()),
        },
        Ended::Exhausted(error) => {
            checked.tell_exhausted(&error, &Settings::default());
            Err(EXIT_HEAP_EXHAUSTED as u8)
        }
        Ended::Refused(problem) => {
            refuse(problem);
            Err(EXIT_USAGE)
        }
        Ended::Broken(problem) => damaged(&problem),
        Ended::Panicked | Ended::Interrupted(_) => Err(EXIT_PANIC),
    }
}

/// CPU time of all threads of this process, in nanoseconds: other programs disturb it less than
/// elapsed time.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        Clock::process_cpu_ns()
    }

    fn end(&self, start: u64) -> u64 {
        Clock::process_cpu_ns() - start
    }

    fn add(&self, one: &u64, other: &u64) -> u64 {
        one + other
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, nanoseconds: &u64) -> f64 {
        *nanoseconds as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

#[cfg(test)]
mod tests {
    use gclab_workloads::Args;

    use super::*;

    type All = Lists<gclab_collectors::All, gclab_workloads::All>;

    fn plan(sets: &[&str], programs: &[&str]) -> Result<Vec<Program>, String> {
        planned(
            &Registry::new(All::NEW.collectors(), All::NEW.workloads()),
            sets,
            programs,
        )
    }

    #[test]
    fn programs_and_sets_have_names_of_their_own_where_there_are_several() {
        let programs = plan(&["-A64k", "-A1m"], &["gcbench 10 8 500", "mut_array", "gcbench"]).unwrap();
        let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["gcbench 10 8 500", "mut_array", "gcbench"]);
        let bench = programs[2].runs[0].checked.workload.bench;
        assert_eq!(
            programs[2].runs[0].checked.args,
            Args::parse(programs[2].runs[0].checked.workload, bench).unwrap()
        );
        let areas = |program: &Program| -> Vec<_> {
            let first = program
                .runs
                .iter()
                .filter(|run| run.checked.collector.name == "copying");
            first
                .map(|run| (run.set.clone(), run.checked.flags.config.allocation_area.0))
                .collect()
        };
        let set = |text: &str| Some(text.to_owned());
        assert_eq!(areas(&programs[0]), [(set("-A64k"), 64 << 10), (set("-A1m"), 1 << 20)]);
        // The same set twice is one.
        let all = plan(&["-A1m", "-A1m"], &[]).unwrap();
        assert_eq!(areas(&all[0]), [(None, 1 << 20)]);
        assert_eq!(all.len(), All::NEW.workloads().len());
        assert_eq!(all[0].runs.len(), All::NEW.collectors().len());
    }

    #[test]
    fn every_error_is_one_message() {
        let wrong = [
            (&["-A1x"][..], &[][..], "the program's own flags: -A: 1x is not a size"),
            (&["-A1m", "-s"], &[], "leave them out of \"-s\" and GCLABRTS"),
            (
                &[],
                &["gcbenhc 1"],
                "unknown workload `gcbenhc`; did you mean `gcbench`?",
            ),
            (&[], &["gcbench x"], "STRETCH"),
            (&[], &[""], "unknown workload ``"),
        ];
        for (sets, programs, wanted) in wrong {
            let message = plan(sets, programs).map(|programs| programs.len()).unwrap_err();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn a_run_that_fails_ends_the_process() {
        let status = |set: &str, before: Option<u64>| {
            let programs = plan(&[set], &["binary_trees 14"]).unwrap();
            whole_run(&All::NEW, &programs[0].runs[0].checked, &Cell::new(before))
        };
        assert_eq!(status("", None), Ok(()));
        assert_eq!(status("", Some(1)), Err(101));
        assert_eq!(status("-M2m -A1m", None), Err(251));
    }

    #[test]
    fn another_program_is_a_disturbance() {
        let names = disturbances(|| {
            // In this process group: another test's run kills children outside it as orphans.
            let busy = ["--foreground", "0.5", "sh", "-c", "while :; do :; done"];
            process::Command::new("timeout").args(busy).status().unwrap();
        });
        assert!(names.is_some_and(|names| names.contains("other programs")));
    }

    #[test]
    fn cpu_time_is_measured_and_shown_as_time() {
        let start = CpuTime.start();
        while Clock::process_cpu_ns() < start + 3_000_000 {}
        let sum = CpuTime.add(&CpuTime.zero(), &CpuTime.end(start));
        assert!(CpuTime.to_f64(&sum) >= 3e6);
        assert_eq!(CpuTime.formatter().format_value(2.5e6), "2.5000 ms");
    }
}
