//! `gclab exec`: one run in this process.
//!
//! Everything is checked before a heap exists: flags, workload, arguments, collector, and that the record can be written. Then the run's checksum
//! goes to standard output and statistics go where the flags say. Exit status: 0; 2 when something was refused; 251 when the heap was
//! exhausted; a panic (101) or a signal is a crash.

use gclab_sweep::tell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_core::collector::Description;
use gclab_core::config::{Compact, Config, FromGeneration};
use gclab_core::heap::EXIT_HEAP_EXHAUSTED;
use gclab_flags::{ENVIRONMENT, FLAGS, Flags, help};
use gclab_programs::{Done, Ended, Executor, Request};
use gclab_results::{Configuration, PlannedRun, RunRecord, Status};
use gclab_stats::render;
use gclab_workloads::{Args, WorkloadDescription};

use super::exhausted::exhausted;
use super::usage as refuse;
use gclab_sweep::record::{heap_profile, latency, run_stats};
use gclab_sweep::registry::{Registry, usage};
use gclab_sweep::suggest::suggest;

/// Run one workload under one collector, in this process
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Flags stand between +RTS and -RTS: `gclab exec +RTS -?` explains them, `+RTS --info` says what this program is."
)]
pub struct Arguments {
    #[command(flatten)]
    work: Work,
    /// Write the run's record, one line of JSON, to this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write the heap profile to STEM.hp, and its sets of retainers to STEM.prof [default: the workload's name, here]
    #[arg(long, value_name = "STEM")]
    profile: Option<PathBuf>,
}

/// What is to run.
#[derive(Debug, ClapArgs)]
pub(super) struct Work {
    /// The workload; `gclab list workloads` shows them
    pub(super) workload: Option<String>,
    /// Its arguments; `-`, or leaving out the last ones, takes the default
    #[arg(allow_hyphen_values = false)]
    pub(super) args: Vec<String>,
    /// The collector; without it the flags decide, as with GHC
    #[arg(long, value_name = "NAME")]
    pub(super) collector: Option<String>,
}

pub fn exec(arguments: Arguments, words: &[String], registry: &Registry, executor: &dyn Executor) -> ExitCode {
    let flags = match Flags::parse(std::env::var(ENVIRONMENT).ok().as_deref(), words) {
        Ok(flags) => flags,
        Err(error) => return refuse(error),
    };
    if flags.help {
        return super::print(&help());
    }
    if flags.info {
        let more = [
            ("Collectors", registry.collector_names().join(" ")),
            ("Workloads", registry.workload_names().join(" ")),
        ];
        return super::print(&render::info(&more));
    }
    match checked(&arguments.work, &flags, registry) {
        Ok(checked) => run(&arguments, &checked, words, &given(&flags), executor),
        Err(message) => refuse(message),
    }
}

/// A command that can be done.
pub(super) struct Checked {
    pub(super) workload: &'static WorkloadDescription,
    pub(super) args: Args,
    pub(super) collector: &'static Description,
    /// As they hold for this collector.
    pub(super) flags: Flags,
}

impl Checked {
    /// The command line's words without flags, the collector always named.
    pub(super) fn program(&self, command: &str, work: &Work) -> Vec<String> {
        let mut program: Vec<String> = ["gclab", command, self.workload.name].map(str::to_owned).to_vec();
        program.extend(work.args.iter().cloned());
        program.extend(["--collector".to_owned(), self.collector.name.to_owned()]);
        program
    }

    pub(super) fn request<'r>(&'r self, program: &'r [String], words: &'r [String]) -> Request<'r> {
        Request {
            workload: self.workload.name,
            args: &self.args,
            collector: self.collector.name,
            flags: &self.flags,
            program,
            words,
            profile: None,
        }
    }
}

pub(super) fn checked(work: &Work, flags: &Flags, registry: &Registry) -> Result<Checked, String> {
    let names = registry.workload_names();
    let name = work
        .workload
        .as_deref()
        .ok_or_else(|| format!("exec: which workload? {}", suggest("", "workloads", &names)))?;
    let workload = registry
        .workload(name)
        .ok_or_else(|| format!("unknown workload `{name}`; {}", suggest(name, "workloads", &names)))?;
    let args = Args::parse(workload, &work.args).map_err(|error| format!("{error}\n\n{}", usage(workload)))?;
    let collector = collector(work.collector.as_deref(), flags, registry)?;
    let flags = registry.fit(collector, flags).map_err(|error| error.to_string())?;
    Ok(Checked {
        workload,
        args,
        collector,
        flags,
    })
}

/// The name of the collector that a configuration asks for, whether or not this program has it. `-G1` asks for two-space (`-M` with it too),
/// `-c` (with `-G1` too, where GHC ignores it) and `-M` for compacting, `-N2` and more for parallel unless bare `-qg` turns that
/// off, everything else for copying.
fn wanted_collector(config: &Config) -> &'static str {
    if config.compact != Compact::Never {
        "compacting"
    } else if config.generations == 1 {
        "two-space"
    } else if config.max_heap.is_some() {
        "compacting"
    } else if config.capabilities > 1 && config.parallel_gc != FromGeneration::Off {
        "parallel"
    } else {
        "copying"
    }
}

/// The collector that is named, or else the one that the flags ask for. `-M` alone asks for compacting, and is content with copying where that is
/// not to be had: both keep within the limit.
fn collector(named: Option<&str>, flags: &Flags, registry: &Registry) -> Result<&'static Description, String> {
    let names = registry.collector_names();
    if let Some(name) = named {
        return registry
            .collector(name)
            .ok_or_else(|| format!("unknown collector `{name}`; {}", suggest(name, "collectors", &names)));
    }
    let wanted = wanted_collector(&flags.config);
    let content = if wanted == "compacting" && !flags.given.contains("c") {
        registry.collector("copying")
    } else {
        None
    };
    registry.collector(wanted).or(content).ok_or_else(|| {
        format!(
            "these flags ask for the {wanted} collector, which this gclab does not have; --collector names another: {}",
            names.join(", ")
        )
    })
}

fn run(
    arguments: &Arguments,
    checked: &Checked,
    words: &[String],
    given: &BTreeMap<String, String>,
    executor: &dyn Executor,
) -> ExitCode {
    // Made before the run: what cannot be recorded need not be run.
    let record = match arguments.record.as_deref().map(File::create).transpose() {
        Ok(record) => record,
        Err(error) => return refuse(format!("--record {}: {error}", shown(arguments.record.as_deref()))),
    };
    if arguments.profile.is_some() && checked.flags.config.profile.breakdown.is_none() {
        return refuse(
            "--profile says where a heap profile goes, but no flag asks for one: -hT -hy -hr and others (`gclab exec +RTS -?`)",
        );
    }
    let name = checked.workload.name;
    let program = checked.program("exec", &arguments.work);
    let request = Request {
        profile: arguments.profile.as_deref(),
        ..checked.request(&program, words)
    };
    let Done {
        ended,
        statistics,
        profile,
    } = executor.execute(&request, Vec::new());
    if let Some(profile) = &profile {
        super::print(&profile.table);
    }
    let (code, outcome, checksum, measured) = match ended {
        Ended::Checksum(checksum, measured) => (0, Status::Ok, Some(checksum.to_string()), measured),
        Ended::Exhausted(error) => {
            tell!("{}", exhausted(&error, &checked.flags, checked.collector));
            (EXIT_HEAP_EXHAUSTED, Status::HeapExhausted, None, None)
        }
        Ended::Refused(problem) => return refuse(problem),
        Ended::Broken(problem) => {
            tell!("gclab: {name} under {}: {problem}", checked.collector.name);
            return ExitCode::from(EXIT_PANIC);
        }
    };
    if let Some(checksum) = &checksum
        && super::print(&format!("{name} checksum={checksum}\n")) != ExitCode::SUCCESS
    {
        return ExitCode::FAILURE;
    }
    if let Some(file) = record {
        let configuration = Configuration {
            workload: name.to_owned(),
            args: arguments.work.args.clone(),
            collector: checked.collector.name.to_owned(),
            flags: given.clone(),
        };
        let stats = statistics.as_ref().map(run_stats);
        let rts = if words.is_empty() {
            None
        } else {
            Some("+RTS".to_owned())
        };
        let command = program.into_iter().chain(rts).chain(words.iter().cloned()).collect();
        let line = RunRecord {
            outcome,
            checksum,
            latency: measured.as_ref().map(latency),
            stats,
            profile: profile.as_ref().map(|profile| heap_profile(&profile.profile)),
            command,
            ..RunRecord::planned(&PlannedRun::new(configuration, 0, 0), 0)
        };
        if let Err(error) = write_line(file, &line) {
            tell!("gclab: --record {}: {error}", shown(arguments.record.as_deref()));
            return ExitCode::FAILURE;
        }
    }
    if let Some(problem) = profile.and_then(|profile| profile.unwritten) {
        // The run is what it was; that its profile is not whole is told at the end.
        tell!("gclab: {problem}");
        if code == 0 {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

fn shown(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}

/// As a panic: a collector that damages the heap is a crash, whoever notices.
pub(super) const EXIT_PANIC: u8 = 101;

/// The flags that are not as by default, by their names in experiment files, with their values as words have them.
pub(super) fn given(flags: &Flags) -> BTreeMap<String, String> {
    let entry = |word: String| {
        let word = word.strip_prefix('-')?;
        // The longest name, since -AL4m begins with -A too.
        let spec = FLAGS
            .iter()
            .filter(|spec| word.starts_with(spec.name))
            .max_by_key(|spec| spec.name.len())?;
        let value = word[spec.name.len()..].trim_start_matches('=');
        Some((
            spec.toml?.to_owned(),
            if value.is_empty() { "true" } else { value }.to_owned(),
        ))
    };
    flags.to_words().into_iter().filter_map(entry).collect()
}

fn write_line(mut file: File, line: &RunRecord) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    file.write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collector_that_the_flags_ask_for() {
        let cases = [
            ("", "copying"),
            ("-A1m -G3", "copying"),
            ("-G1", "two-space"),
            ("-G1 -M1g", "two-space"),
            ("-G1 -c", "compacting"),
            ("-c", "compacting"),
            ("-c60 -N2", "compacting"),
            ("-M1g", "compacting"),
            ("-N2", "parallel"),
            ("-N2 -qg1", "parallel"),
            ("-N2 -qg", "copying"),
            ("-N1", "copying"),
        ];
        for (words, collector) in cases {
            let flags = Flags::parse_words(&words.split_whitespace().collect::<Vec<_>>()).expect(words);
            assert_eq!(wanted_collector(&flags.config), collector, "{words}");
        }
    }
}
