//! `gclab exec`: one run in this process.
//!
//! Everything is checked before a heap exists: flags, workload, arguments, collector, and that the
//! record can be written. Then the run's checksum goes to standard output, and statistics go where
//! the flags say. Exit status: 0; 2 when the request is refused; 251 when the heap is exhausted. A
//! panic (101) or a signal is a crash.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use gclab_core::block::{OutOfMemory, Shortage};
use gclab_core::collector::Description;
use gclab_core::config::{Compact, Config, FromGeneration};
use gclab_core::heap::EXIT_HEAP_EXHAUSTED;
use gclab_core::stats::render;
use gclab_flags::{FlagValue, Flags, Given, help};
use gclab_programs::{Done, Ended, Executor, Request, end_by};
use gclab_results::{Collections, Configuration, PlannedRun, RunRecord, RunStats, Status};
use gclab_sweep::counters::pauses::PauseCounters;
use gclab_sweep::record::{heap_profile, latency};
use gclab_sweep::registry::Registry;
use gclab_sweep::suggest::suggest;
use gclab_sweep::{machine, tell};
use gclab_workloads::{Args, WorkloadDescription};

use crate::common::{self, EXIT_PANIC, fail, print, refuse};
use crate::exhausted::exhausted;
use crate::given::{given, notes, with_letters};
use crate::record_file::RecordFile;
use crate::settings::Settings;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Flags stand between +RTS and -RTS: `gclab exec +RTS -?` explains them, `+RTS --info` describes this program."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// Write the run's record, one line of JSON, to this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write the heap profile to STEM.hp, and its retainer sets to STEM.prof [default: the
    /// workload's name, here]
    #[arg(long, value_name = "STEM")]
    profile: Option<PathBuf>,
    /// Read the performance counters at each pause, to count the mutator and collections separately
    /// in the record
    #[arg(long, requires = "record")]
    pause_counters: bool,
}

/// The workload, its arguments and the collector of a run.
#[derive(Debug, ClapArgs)]
pub(crate) struct Selection {
    /// The workload; `gclab list workloads` shows them
    workload: Option<String>,
    /// Its arguments; `-` stands for the default, and trailing ones may be omitted
    #[arg(allow_hyphen_values = false)]
    pub(crate) args: Vec<String>,
    /// The collector; without it the flags decide, as with GHC
    #[arg(long, value_name = "NAME")]
    collector: Option<String>,
    /// OCaml's settings as letters, such as s=64k,o=80: the same as `+RTS --ocaml=LETTERS`
    #[arg(long, value_name = "LETTERS")]
    ocaml: Vec<String>,
}

impl Selection {
    /// The flags of the run: its letters, then the words after `+RTS`.
    pub(crate) fn words(&self, words: &[String]) -> Vec<String> {
        with_letters(&self.ocaml, words)
    }
}

/// The end of a message about the file of a profile.
const NO_PROFILE: &str = "no flag asks for one: -p -hT -hy -hr and others (`gclab exec +RTS -?`)";

pub(crate) fn exec(
    arguments: &Arguments,
    words: &[String],
    registry: &Registry,
    executor: &dyn Executor,
    settings: &Settings,
) -> ExitCode {
    let words = &arguments.selection.words(words);
    let given = match given(words, settings) {
        Ok(given) => given,
        Err(message) => return refuse(message),
    };
    let flags = given.flags();
    if flags.help {
        return print(&help());
    }
    if flags.info {
        let more = [
            ("Collectors", registry.collector_names().join(" ")),
            ("Workloads", registry.workload_names().join(" ")),
        ];
        return print(&render::info(settings.with_rtsopts, &more));
    }
    // In the environment it applies only to runs with a profile.
    if let Some(word) = words.iter().find(|word| word.starts_with("-po"))
        && !flags.makes_profile()
    {
        return refuse(format!("{word} says where a profile goes, but {NO_PROFILE}"));
    }
    match checked("exec", &arguments.selection, &given, registry) {
        Ok(checked) => {
            // As in GHC, files name the flags of all sources.
            let before = given.words_before().map(str::to_owned);
            let words: Vec<String> = before.chain(words.iter().cloned()).collect();
            run(arguments, &checked, &words, executor, settings)
        }
        Err(message) => refuse(message),
    }
}

/// A run whose names, arguments and flags are valid.
pub(crate) struct Checked {
    pub(crate) workload: &'static WorkloadDescription,
    pub(crate) args: Args,
    pub(crate) collector: &'static Description,
    /// The flags, fitted to this collector.
    pub(crate) flags: Flags,
}

impl Checked {
    /// The command line's words without flags, with the file name of the program.
    pub(crate) fn program(&self, command: &str, selection: &Selection) -> Vec<String> {
        let own = std::env::args_os().next().map(PathBuf::from);
        let own = own.as_deref().and_then(Path::file_name).unwrap_or("gclab".as_ref());
        let mut program = vec![own.to_string_lossy().into_owned(), command.to_owned()];
        program.push(self.workload.name.to_owned());
        program.extend(selection.args.iter().cloned());
        let collector = selection.collector.iter();
        program.extend(collector.flat_map(|name| ["--collector".to_owned(), name.clone()]));
        program
    }

    /// The flags as given, by their names in experiment files, without the number of generations
    /// that the collector chose.
    fn given(&self) -> BTreeMap<String, String> {
        let mut given = self.flags.as_toml();
        if !self.flags.given.contains_key("G") {
            given.remove("G");
        }
        let text = |(key, value): (&str, FlagValue)| (key.to_owned(), value.text().to_owned());
        given.into_iter().map(text).collect()
    }

    pub(crate) fn request<'r>(&'r self, program: &'r [String], words: &'r [String]) -> Request<'r> {
        Request {
            workload: self.workload.name,
            args: &self.args,
            collector: self.collector.name,
            flags: &self.flags,
            program,
            words,
            profile: None,
            record: None,
            interruptible: !self.flags.leave_signals && self.flags.keeps_figures(),
        }
    }

    /// Prints that the heap is exhausted, and the remedies, or the program's own message.
    pub(crate) fn tell_exhausted(&self, error: &OutOfMemory, settings: &Settings) {
        let hook = match error.cause {
            Shortage::System(_) => settings.malloc_fail,
            Shortage::Limit | Shortage::Thrashing(_) | Shortage::Reservation => settings.out_of_heap,
        };
        match hook {
            Some(hook) => tell!("{}", hook(error)),
            None => tell!("{}", exhausted(error, &self.flags, self.collector)),
        }
    }

    /// Prints that the collector has damaged the heap; returns the exit status of a crash.
    pub(crate) fn tell_damaged(&self, problem: &str) -> ExitCode {
        tell!("gclab: {} under {}: {problem}", self.workload.name, self.collector.name);
        ExitCode::from(EXIT_PANIC)
    }
}

/// Looks up the names and checks arguments and flags, for this command of `gclab`.
///
/// # Errors
/// A message about the first fault.
pub(crate) fn checked(
    command: &str,
    selection: &Selection,
    given: &Given,
    registry: &Registry,
) -> Result<Checked, String> {
    let name = selection.workload.as_deref().ok_or_else(|| {
        let names = suggest("", "workloads", &registry.workload_names());
        format!("{command}: which workload? {names}")
    })?;
    let workload = common::workload(name, registry)?;
    let args = common::arguments(workload, &selection.args)?;
    let (collector, fitted) = match &selection.collector {
        Some(name) => {
            let collector = common::collector(name, registry)?;
            (collector, given.fit(collector, &registry.collectors))
        }
        None => {
            let collector = collector_by_flags(given.flags(), registry)?;
            let flags = registry.fit(collector, given.flags());
            (collector, flags.map(|flags| (flags, Vec::new())))
        }
    };
    let (flags, overridden) = fitted.map_err(|error| error.to_string())?;
    notes(&overridden);
    if flags.config.time_profile.is_some() && flags.config.tick().is_none() {
        notes(&["-V0 turns the timer off, so the time profile (-p) has no samples".to_owned()]);
    }
    Ok(Checked {
        workload,
        args,
        collector,
        flags,
    })
}

/// The name of the collector that a configuration asks for, whether or not this program has it.
/// `-xn` asks for nonmoving; `-G1` for two-space (with `-M` too); `-c` (with `-G1` too, where GHC
/// ignores it) and `-M` ask for compacting; `-N2` and more for parallel, unless bare `-qg` turns that
/// off; everything else for copying.
fn wanted_collector(config: &Config) -> &'static str {
    if config.nonmoving {
        "nonmoving"
    } else if config.compact != Compact::Never {
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

/// The collector that the flags ask for. `-M` alone asks for compacting; if this program lacks it,
/// copying will do, since both stay within the limit.
fn collector_by_flags(flags: &Flags, registry: &Registry) -> Result<&'static Description, String> {
    let wanted = wanted_collector(&flags.config);
    let substitute = if wanted == "compacting" && !flags.given.contains_key("c") {
        registry.collector("copying")
    } else {
        None
    };
    registry.collector(wanted).or(substitute).ok_or_else(|| {
        format!(
            "these flags ask for the {wanted} collector, which this gclab does not have; --collector names another: {}",
            registry.collector_names().join(", ")
        )
    })
}

fn run(
    arguments: &Arguments,
    checked: &Checked,
    words: &[String],
    executor: &dyn Executor,
    settings: &Settings,
) -> ExitCode {
    if arguments.profile.is_some() && !checked.flags.makes_profile() {
        return refuse(format!("--profile says where a profile goes, but {NO_PROFILE}"));
    }
    // The file is made before the run: a run that cannot be recorded need not start.
    let record = match arguments.record.as_ref().map(RecordFile::create).transpose() {
        Ok(record) => record,
        Err(message) => return refuse(message),
    };
    let name = checked.workload.name;
    let program = checked.program("exec", &arguments.selection);
    let request = Request {
        profile: arguments.profile.as_deref(),
        record: record.as_ref().map(|record| (&record.file, record.path.as_path())),
        ..checked.request(&program, words)
    };
    // Opened while this is the only thread: the others inherit them.
    let counters = arguments.pause_counters.then(PauseCounters::open);
    if let Some(absent) = counters.as_ref().and_then(PauseCounters::absent) {
        notes(&[format!("--pause-counters: {absent}")]);
    }
    let listeners = counters.iter().map(PauseCounters::listener).collect();
    let Done {
        ended,
        statistics,
        cut_area,
        profile,
        unwritten,
        unlogged,
    } = executor.execute(&request, listeners);
    if !matches!(ended, Ended::Refused(_))
        && let Some(Err(message)) = record.as_ref().map(RecordFile::empty)
    {
        return fail(message);
    }
    let config = &checked.flags.config;
    let asking = if config.asked_area() > config.allocation_area {
        "H"
    } else {
        "A"
    };
    if let Some((area, flag)) = cut_area.zip(checked.flags.given.get(asking)) {
        notes(&[format!(
            "{flag} does not fit into memory: each allocation area has {area}"
        )]);
    }
    if let Some(profile) = &profile {
        print(&profile.table);
    }
    let (code, outcome, checksum, measured) = match ended {
        Ended::Checksum(checksum, measured) => (0, Status::Ok, Some(checksum.to_string()), measured),
        Ended::Exhausted(error) => {
            checked.tell_exhausted(&error, settings);
            (EXIT_HEAP_EXHAUSTED, Status::HeapExhausted, None, None)
        }
        Ended::Refused(problem) => {
            if let Some(record) = record {
                record.leave();
            }
            return refuse(problem);
        }
        Ended::Broken(problem) => return checked.tell_damaged(&problem),
        Ended::Interrupted(_) | Ended::Panicked => {
            if let Some(problem) = profile.and_then(|profile| profile.unwritten).or(unwritten).or(unlogged) {
                tell!("gclab: {problem}");
            }
            return ExitCode::from(match ended {
                Ended::Interrupted(signal) => end_by(signal),
                _ => EXIT_PANIC,
            });
        }
    };
    if let Some(checksum) = &checksum
        && print(&format!("{name} checksum={checksum}\n")) != ExitCode::SUCCESS
    {
        return ExitCode::FAILURE;
    }
    if let Some(record) = record {
        let configuration = Configuration {
            workload: name.to_owned(),
            args: arguments.selection.args.clone(),
            collector: checked.collector.name.to_owned(),
            flags: checked.given(),
            ..Configuration::default()
        };
        let (mut_counters, gc_counters) = counters.as_ref().map_or((None, None), PauseCounters::split);
        let pause_counters_absent = counters.as_ref().and_then(PauseCounters::absent);
        let rts = (!words.is_empty()).then(|| "+RTS".to_owned());
        let command = program.into_iter().chain(rts).chain(words.iter().cloned()).collect();
        let line = RunRecord {
            outcome,
            checksum,
            max_rss_bytes: machine::peak_resident(),
            pause_counters: arguments.pause_counters.then_some(true),
            pause_counters_absent,
            mut_counters,
            gc_counters,
            latency: measured.as_ref().map(latency),
            stats: statistics.as_ref().map(RunStats::from),
            collections: statistics
                .as_ref()
                .and_then(|statistics| Collections::of("", statistics)),
            profile: profile.as_ref().map(|profile| heap_profile(&profile.profile)),
            command,
            ..RunRecord::planned(&PlannedRun::new(configuration, 0, 0), 0)
        };
        if let Err(message) = record.write(&line) {
            return fail(message);
        }
    }
    if let Some(problem) = profile.and_then(|profile| profile.unwritten).or(unwritten).or(unlogged) {
        // The run is valid and recorded; only a profile or its log is incomplete, which the user
        // learns last.
        tell!("gclab: {problem}");
        if code == 0 {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
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
            ("-xn -M1g -N2", "nonmoving"),
            ("--nonmoving-gc", "nonmoving"),
        ];
        for (words, collector) in cases {
            let flags = Flags::parse_words(&words.split_whitespace().collect::<Vec<_>>()).expect(words);
            assert_eq!(wanted_collector(&flags.config), collector, "{words}");
        }
    }
}
