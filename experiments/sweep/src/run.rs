//! Configurations and runs with flags of their types.
//!
//! A value of an experiment file becomes a [`FlagValue`] where its key is read, and stays one up to
//! the command line of the run's process. Plans and records have its text.

use std::fmt;
use std::sync::Arc;

use gclab_flags::{FlagValue, Flags};
use gclab_results::{Configuration, PlannedRun};

use crate::experiment::{self, Setting};

/// A configuration with flags of their types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Combination {
    /// The configuration as plans and records have it: its flags are the text of `setting`.
    configuration: Configuration,
    setting: Arc<Setting>,
}

impl Combination {
    /// The workload with its arguments, under this collector with these flags.
    pub fn new(workload: &str, args: &[String], collector: &str, setting: Setting) -> Combination {
        let flags = setting.iter();
        Combination {
            configuration: Configuration {
                workload: workload.to_owned(),
                args: args.to_owned(),
                collector: collector.to_owned(),
                flags: flags
                    .map(|(key, value)| ((*key).to_owned(), value.text().to_owned()))
                    .collect(),
            },
            setting: Arc::new(setting),
        }
    }

    /// The configuration as plans and records have it.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The flags of its setting, typed.
    pub fn flags(&self) -> Flags {
        experiment::flags(&self.setting)
    }

    /// Returns the same with this value of its flag.
    pub(crate) fn with(&self, value: FlagValue) -> Combination {
        let mut setting = (*self.setting).clone();
        setting.insert(value.key(), value);
        self.under(setting)
    }

    /// Returns the same without a value of the flag `key`.
    pub(crate) fn without(&self, key: &str) -> Combination {
        let mut setting = (*self.setting).clone();
        setting.remove(key);
        self.under(setting)
    }

    fn under(&self, setting: Setting) -> Combination {
        let Configuration {
            workload,
            args,
            collector,
            ..
        } = &self.configuration;
        Combination::new(workload, args, collector, setting)
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.configuration.fmt(f)
    }
}

/// A run of a plan, with flags of their types.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The run as `plan.json` has it.
    pub planned: PlannedRun,
    setting: Arc<Setting>,
}

impl Run {
    /// The run of `combination` in `round` at `position`.
    pub fn new(combination: &Combination, round: u32, position: u32) -> Run {
        Run {
            planned: PlannedRun::new(combination.configuration.clone(), round, position),
            setting: Arc::clone(&combination.setting),
        }
    }

    /// The run of `combination` with profile number `number`, from 0, whose flags are `flags`.
    pub(crate) fn profiled(combination: &Combination, flags: &str, number: usize, position: u32) -> Run {
        Run {
            planned: PlannedRun::profiled(combination.configuration.clone(), flags, number, position),
            setting: Arc::clone(&combination.setting),
        }
    }

    /// The run of `combination` that writes an event log.
    pub(crate) fn logged(combination: &Combination, position: u32) -> Run {
        Run {
            planned: PlannedRun::logged(combination.configuration.clone(), position),
            setting: Arc::clone(&combination.setting),
        }
    }

    /// The flags, without those of its heap profile or event log.
    pub(crate) fn flags(&self) -> Flags {
        experiment::flags(&self.setting)
    }
}
