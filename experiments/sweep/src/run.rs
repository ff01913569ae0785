//! Configurations and runs, with what they run and with flags of their types.
//!
//! A value of an experiment file becomes a [`FlagValue`], or the value of a runtime's flag, where
//! the file is checked, and stays one up to the command line of the run's process. Plans and
//! records have its text.

use std::fmt;
use std::sync::Arc;

use gclab_core::config::{LEAST_MAX_HEAP, SizingPolicy};
use gclab_flags::{FlagValue, Flags};
use gclab_results::{Configuration, PlannedRun};

use crate::experiment::{self, Entry, Setting};
use crate::program::Program;
use crate::runtime;

/// The command of a configuration, with its flags.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Subject {
    /// A workload of this program, under one of its collectors.
    Workload(Arc<Setting>),
    /// Another program, under its runtime.
    Program(Arc<Program>, Arc<runtime::Setting>),
}

impl Default for Subject {
    fn default() -> Self {
        Subject::Workload(Arc::default())
    }
}

impl Subject {
    fn own_flags(&self) -> Flags {
        match self {
            Subject::Workload(setting) => experiment::flags(setting),
            Subject::Program(..) => Flags::default(),
        }
    }
}

/// A configuration with flags of their types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Combination {
    /// The configuration as plans and records have it: its flags are the text of the subject's.
    configuration: Configuration,
    subject: Subject,
}

impl Combination {
    /// The workload with its arguments, under this collector with these flags.
    pub fn new(workload: &str, args: &[String], collector: &str, setting: Setting) -> Combination {
        Combination {
            configuration: Configuration {
                workload: workload.to_owned(),
                args: args.to_owned(),
                collector: collector.to_owned(),
                ..Configuration::default()
            },
            subject: Subject::default(),
        }
        .under(Subject::Workload(Arc::new(setting)))
    }

    /// The program of `entry` with these flags.
    pub(crate) fn of_program(entry: &Entry, setting: runtime::Setting) -> Combination {
        Combination {
            configuration: Configuration {
                workload: entry.workload.clone(),
                args: entry.args.clone(),
                collector: entry.collector.clone(),
                program: Some(entry.program.description.id.clone()),
                ..Configuration::default()
            },
            subject: Subject::default(),
        }
        .under(Subject::Program(Arc::clone(&entry.program), Arc::new(setting)))
    }

    /// The configuration as plans and records have it.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The flags of a workload of gclab's, typed; none of another program.
    pub fn flags(&self) -> Flags {
        self.subject.own_flags()
    }

    /// The program, if it is not gclab's own.
    pub(crate) fn program(&self) -> Option<&Program> {
        match &self.subject {
            Subject::Workload(_) => None,
            Subject::Program(program, _) => Some(program),
        }
    }

    /// Returns the same with a heap of at most these bytes.
    ///
    /// # Errors
    /// If they are fewer or more than a heap may have.
    pub(crate) fn with_heap(&self, bytes: u64) -> Result<Combination, String> {
        let text = bytes.to_string();
        Ok(self.under(match &self.subject {
            Subject::Workload(setting) => {
                let limit = FlagValue::read("M", &text).map_err(|error| error.to_string())?;
                let mut setting = Setting::clone(setting);
                setting.insert(limit.key(), limit);
                Subject::Workload(Arc::new(setting))
            }
            Subject::Program(program, setting) => {
                let limit = program.limit(bytes).ok_or_else(|| {
                    format!(
                        "{}: {bytes} bytes are more than a heap may have",
                        program.description.name
                    )
                })?;
                let mut setting = runtime::Setting::clone(setting);
                setting.insert(limit.flag().key, limit);
                Subject::Program(Arc::clone(program), Arc::new(setting))
            }
        }))
    }

    /// Returns the same with the memory of the machine. A heap of fixed size takes its size from
    /// `-M`; the default policy finds how much the program needs.
    pub(crate) fn with_generous_heap(&self) -> Combination {
        match &self.subject {
            Subject::Workload(setting) if experiment::flags(setting).config.sizing == SizingPolicy::Fixed => {
                let mut setting = Setting::clone(setting);
                setting.remove("sizing");
                self.under(Subject::Workload(Arc::new(setting)))
            }
            _ => self.clone(),
        }
    }

    /// The fewest bytes of a heap that [`Combination::with_heap`] takes.
    pub(crate) fn least_heap(&self) -> u64 {
        match &self.subject {
            Subject::Workload(_) => LEAST_MAX_HEAP.0 as u64,
            Subject::Program(..) => 1,
        }
    }

    /// The same work with other flags.
    fn under(&self, subject: Subject) -> Combination {
        let pair = |key: &'static str, text: &str| (key.to_owned(), text.to_owned());
        let flags = match &subject {
            Subject::Workload(setting) => setting.iter().map(|(key, value)| pair(key, value.text())).collect(),
            Subject::Program(_, setting) => setting.iter().map(|(key, value)| pair(key, value.text())).collect(),
        };
        let configuration = Configuration {
            flags,
            ..self.configuration.clone()
        };
        Combination { configuration, subject }
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.configuration.fmt(f)
    }
}

/// A run of a plan, with what it runs and with flags of their types.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The run as `plan.json` has it.
    pub planned: PlannedRun,
    pub(crate) subject: Subject,
}

impl Run {
    /// The run of `combination` in `round` at `position`.
    pub fn new(combination: &Combination, round: u32, position: u32) -> Run {
        Run::of(
            combination,
            PlannedRun::new(combination.configuration.clone(), round, position),
        )
    }

    /// The run of `combination` with profile number `number`, from 0, whose flags are `flags`.
    pub(crate) fn profiled(combination: &Combination, flags: &str, number: usize, position: u32) -> Run {
        Run::of(
            combination,
            PlannedRun::profiled(combination.configuration.clone(), flags, number, position),
        )
    }

    /// The run of `combination` that writes an event log.
    pub(crate) fn logged(combination: &Combination, position: u32) -> Run {
        Run::of(
            combination,
            PlannedRun::logged(combination.configuration.clone(), position),
        )
    }

    fn of(combination: &Combination, planned: PlannedRun) -> Run {
        let runtime = combination.program().map(|program| program.description.runtime.clone());
        Run {
            planned: PlannedRun { runtime, ..planned },
            subject: combination.subject.clone(),
        }
    }

    /// The flags of a workload of gclab's, without those of its heap profile or event log.
    pub(crate) fn own_flags(&self) -> Flags {
        self.subject.own_flags()
    }
}
