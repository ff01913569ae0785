//! gclab's own workloads: `gclab exec` with flags between `+RTS` and `-RTS`, which writes a record.
//!
//! Each run is a process like any other program's, except that checksum, statistics and counters
//! come from the record that it wrote.

use std::path::Path;

use gclab_core::config::{HeapHint, LEAST_MAX_HEAP, SizingPolicy};
use gclab_core::heap::EXIT_HEAP_EXHAUSTED;
use gclab_flags::{ENVIRONMENT, FLAGS, FlagError, FlagValue, Flags, GHC_ENVIRONMENT, OCAML_ENVIRONMENT, Scope};
use gclab_results::{PlannedRun, Purpose, RunRecord};

use super::adapter::{BadFlag, Command, Ended, Failure, Runtime, Start, Task};
use super::flag::{Flag, Setting, Value};
use super::ghc::with_words;
use super::space::{TunableFlag, tried};

/// The adapter.
#[derive(Debug)]
pub(super) struct Gclab;

/// The exit status of a run that was refused.
pub(crate) const EXIT_USAGE: i32 = 2;

/// The flag of a run that writes an event log.
pub(crate) const LOG_FLAG: &str = "-l";

/// The option of a run whose record has its performance counters of each part.
pub(crate) const PAUSE_COUNTERS: &str = "--pause-counters";

const TRIED: &[TunableFlag] = &[
    tried("A", &["512k", "1m", "", "16m", "64m"]),
    tried("F", &["1.5", "", "4"]),
    tried("G", &["", "3"]),
];

/// The flags of a setting.
pub(crate) fn flags(setting: &Setting) -> Flags {
    let mut flags = Flags::default();
    for value in setting.values() {
        flags.apply(&FlagValue::read(value.key(), value.text()).expect("a value that was read before"));
    }
    flags
}

/// The setting of these flags.
pub fn setting(flags: &Flags) -> Setting {
    let values = flags.as_toml().into_values();
    values.map(|value| (value.key(), value_of(&value))).collect()
}

fn value_of(value: &FlagValue) -> Value {
    Value::new(value.key(), value.text(), value.meaning().join(" "))
}

/// The words of `gclab exec` for a workload under a collector, without flags.
pub(crate) fn exec(file: &Path, workload: &str, args: &[String], collector: &str) -> Vec<String> {
    let work = || std::iter::once(workload).chain(args.iter().map(String::as_str));
    let file = file.display().to_string();
    let collector = ["--collector", collector];
    // An argument that looks like an option goes behind `--`, where no word is an option. (A dash
    // alone stays: it asks for the default.)
    let is_odd = work().any(|word| word != "-" && word.starts_with(['-', '+']));
    let words: Vec<&str> = if is_odd {
        [&file, "exec"]
            .into_iter()
            .chain(collector)
            .chain(["--"])
            .chain(work())
            .collect()
    } else {
        [&file, "exec"].into_iter().chain(work()).chain(collector).collect()
    };
    words.into_iter().map(str::to_owned).collect()
}

fn bad(error: &FlagError) -> BadFlag {
    let bad = |label: &str, help: String| BadFlag {
        is_value: label == "not a legal value",
        message: error.to_string(),
        label: label.to_owned(),
        help,
    };
    match error {
        FlagError::Unknown { .. } => {
            // Flags of heap profiles are only allowed in `profiles`.
            let names = FLAGS.iter().filter(|flag| flag.scope != Scope::Profile);
            let names: Vec<&str> = names.filter_map(|flag| flag.toml).collect();
            bad("not a flag of experiment files", format!("flags: {}", names.join(", ")))
        }
        FlagError::NotYet { flag, .. } | FlagError::CommandLineOnly { flag, .. } => {
            let help = match flag.as_str() {
                "-l" | "-ol" => {
                    "for one more run of each configuration, with an event log: eventlog = true, before the first table of the file"
                }
                _ => "",
            };
            bad("not a flag of experiment files", help.to_owned())
        }
        _ => bad("not a legal value", String::new()),
    }
}

impl Runtime for Gclab {
    fn name(&self) -> &'static str {
        "gclab"
    }

    fn flags(&self) -> &'static [Flag] {
        &[]
    }

    fn read(&self, key: &str, text: &str) -> Result<Value, BadFlag> {
        FlagValue::read(key, text)
            .map(|value| value_of(&value))
            .map_err(|error| bad(&error))
    }

    fn limit(&self) -> &'static str {
        "M"
    }

    fn limit_name(&self) -> &'static str {
        "-M"
    }

    fn least_limit(&self) -> u64 {
        LEAST_MAX_HEAP.0 as u64
    }

    /// A heap of fixed size takes its size from `-M`; the default policy finds how much the program
    /// needs.
    fn without_limit(&self, setting: &Setting) -> Setting {
        let mut setting = setting.clone();
        if flags(&setting).config.sizing == SizingPolicy::Fixed {
            setting.remove("sizing");
        }
        setting
    }

    fn is_size(&self, flag: &Value) -> bool {
        let alone = [(flag.key(), flag.clone())].into();
        flag.key() == "M" || matches!(flags(&alone).config.heap_hint, HeapHint::Size(_))
    }

    fn tried(&self) -> &'static [TunableFlag] {
        TRIED
    }

    fn variables(&self) -> &'static [&'static str] {
        &[ENVIRONMENT, OCAML_ENVIRONMENT, GHC_ENVIRONMENT]
    }

    fn has_event_log(&self) -> bool {
        true
    }

    fn start(&self, command: Command<'_>, setting: &Setting, task: Task<'_>) -> Start {
        let mut words = flags(setting).to_words();
        match task.purpose {
            Purpose::Times => {}
            Purpose::HeapProfile(flags) => words.extend(flags.split_whitespace().map(str::to_owned)),
            Purpose::EventLog => words.push(LOG_FLAG.to_owned()),
        }
        let mut options = Vec::new();
        if let Some(files) = task.files {
            options.extend(["--record".to_owned(), files.statistics.display().to_string()]);
            if files.pause_counters {
                options.push(PAUSE_COUNTERS.to_owned());
            }
            match task.purpose {
                Purpose::Times => {}
                Purpose::HeapProfile(_) => {
                    options.extend(["--profile".to_owned(), files.profile.display().to_string()]);
                }
                Purpose::EventLog => words.push(format!("-ol{}", files.eventlog.display())),
            }
        }
        let mut start = with_words(command, words);
        let flags = start
            .words
            .iter()
            .position(|word| ["+RTS", "--"].contains(&word.as_str()));
        let at = flags.unwrap_or(start.words.len());
        start.words.splice(at..at, options);
        // Not needed at the end of the line.
        start.words.pop_if(|last| last == "-RTS");
        start
    }

    fn failure(&self, ended: &Ended<'_>) -> Option<Failure> {
        match ended.status {
            // Even without a record: if the system refuses memory in the middle of a collection,
            // the run cannot return to write one.
            Some(EXIT_HEAP_EXHAUSTED) => Some(Failure::Exhausted),
            Some(EXIT_USAGE) => Some(Failure::Refused),
            _ => None,
        }
    }

    fn figures(&self, ended: &Ended<'_>) -> RunRecord {
        let own = ended.statistics.and_then(|line| serde_json::from_str(line).ok());
        own.unwrap_or_default()
    }

    /// A run is ok only if its exit status, its record and its output agree.
    fn agrees(&self, run: &PlannedRun, ended: &Ended<'_>, own: &RunRecord) -> Result<(), String> {
        if own.gclab.is_empty() {
            return Err("exit status 0, but no record was written".to_owned());
        }
        let recorded = own
            .checksum
            .as_deref()
            .ok_or("exit status 0, but the record has no checksum")?;
        let expected = format!("{} checksum={recorded}", run.workload);
        if !ended.stdout.lines().any(|line| line == expected) {
            return Err(format!("exit status 0, but standard output has no line `{expected}`"));
        }
        if !own.outcome.is_ok() {
            return Err(format!("exit status 0, but the record says {}", own.outcome));
        }
        if (&own.collector, &own.workload, &own.args) != (&run.collector, &run.workload, &run.args) {
            return Err(format!(
                "the record is of {} under {}, not of {} under {}",
                own.workload, own.collector, run.workload, run.collector
            ));
        }
        Ok(())
    }
}
