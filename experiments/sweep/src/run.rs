//! Configurations and runs, with what they run and with typed flags.
//!
//! A value of an experiment file becomes a [`Value`](crate::runtime::Value) of its runtime when the
//! file is checked, and stays one up to the command line of the run's process. Plans and records
//! have its text.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use gclab_flags::Flags;
use gclab_results::{Configuration, PlannedRun, printable};

use crate::experiment::Entry;
use crate::program::Program;
use crate::runtime::{ADDRESS_SPACE_KEY, Setting, gclab};

/// A configuration with typed flags.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// The configuration as plans and records have it: its flags are the text of the setting's.
    configuration: Configuration,
    program: Arc<Program>,
    setting: Arc<Setting>,
}

impl Combination {
    /// The workload with its arguments, under this collector with these flags.
    pub fn of_workload(workload: &str, args: &[String], collector: &str, setting: Setting) -> Combination {
        let entry = Entry::of_workload(workload, args, collector);
        Combination::new(&entry, &entry.program, BTreeMap::new(), setting)
    }

    /// The work of `entry` by `program`, which is that of the entry with the values of `settings`,
    /// with these flags.
    pub(crate) fn new(
        entry: &Entry,
        program: &Arc<Program>,
        settings: BTreeMap<String, String>,
        setting: Setting,
    ) -> Combination {
        let configuration = Configuration {
            workload: entry.workload.clone(),
            args: entry.args.clone(),
            collector: entry.collector.clone(),
            program: (!program.is_own()).then(|| program.description.id.clone()),
            settings,
            flags: texts(&setting),
        };
        Combination {
            configuration,
            program: Arc::clone(program),
            setting: Arc::new(setting),
        }
    }

    /// The configuration as plans and records have it.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The program that it runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The flags.
    pub(crate) fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The flags of a workload of gclab's.
    pub fn flags(&self) -> Flags {
        gclab::flags(&self.setting)
    }

    /// Whether its memory limit is on address space.
    pub(crate) fn is_limited_by_address_space(&self) -> bool {
        self.program.runtime.limit() == ADDRESS_SPACE_KEY
    }

    /// Returns the same with a heap of at most these bytes.
    ///
    /// # Errors
    /// If they are fewer or more than a heap may have.
    pub(crate) fn with_heap(&self, bytes: u64) -> Result<Combination, String> {
        let limit = self.program.limit(bytes)?;
        let mut setting = Setting::clone(&self.setting);
        setting.insert(limit.key(), limit);
        Ok(self.under(setting))
    }

    /// Returns the same with all of the machine's memory.
    pub(crate) fn with_generous_heap(&self) -> Combination {
        self.under(self.program.runtime.without_limit(&self.setting))
    }

    /// The same work with other flags.
    fn under(&self, setting: Setting) -> Combination {
        Combination {
            configuration: Configuration {
                flags: texts(&setting),
                ..self.configuration.clone()
            },
            program: Arc::clone(&self.program),
            setting: Arc::new(setting),
        }
    }
}

/// The texts of a setting.
fn texts(setting: &Setting) -> BTreeMap<String, String> {
    let texts = setting.iter();
    texts
        .map(|(key, value)| ((*key).to_owned(), value.text().to_owned()))
        .collect()
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.configuration.fmt(f)
    }
}

/// A run of a plan, with what it runs and with typed flags.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The run as `plan.json` has it.
    pub planned: PlannedRun,
    pub(crate) program: Arc<Program>,
    pub(crate) setting: Arc<Setting>,
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
        let program = &combination.program;
        let runtime = (!program.is_own()).then(|| program.description.runtime.clone());
        Run {
            planned: PlannedRun { runtime, ..planned },
            program: Arc::clone(program),
            setting: Arc::clone(&combination.setting),
        }
    }

    /// The configuration of the run, with what it runs.
    pub(crate) fn combination(&self) -> Combination {
        Combination {
            configuration: self.planned.configuration.clone(),
            program: Arc::clone(&self.program),
            setting: Arc::clone(&self.setting),
        }
    }
}

/// A run in one line: `two-space binary_trees 12 A=1m`.
pub fn describe(run: &PlannedRun) -> String {
    let mut text = describe_configuration(&run.configuration, run.heap_multiple);
    if !run.purpose().is_timed() {
        text.push(' ');
        text.push_str(&run.purpose().to_string());
    }
    text
}

/// A configuration in one line.
pub(crate) fn describe_configuration(configuration: &Configuration, heap: Option<f64>) -> String {
    let mut text = configuration.work();
    if let Some(collector) = configuration.collector() {
        text.insert_str(0, &format!("{collector} "));
    }
    for (name, value) in configuration.flags.iter().chain(&configuration.settings) {
        let _ = write!(text, " {name}={value}");
    }
    if let Some(multiple) = heap {
        let _ = write!(text, " ({multiple}×)");
    }
    // An argument or a variable may have any text, and this is one line, which a bar prints raw.
    printable(&text).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::{Configuration, describe_configuration};

    #[test]
    fn a_variable_cannot_drive_the_terminal_of_a_bar() {
        let settings = [("env.W".to_owned(), "a\n\u{1b}[31m\u{202e}".to_owned())].into();
        let configuration = Configuration {
            settings,
            ..Configuration::default()
        };
        let text = describe_configuration(&configuration, None);
        assert!(text.ends_with(r" env.W=a\n\u001b[31m\u202e"), "{text}");
    }
}
