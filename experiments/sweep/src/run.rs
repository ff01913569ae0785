//! Configurations and runs, with what they run and with flags of their types.
//!
//! A value of an experiment file becomes a [`FlagValue`], or the value of a runtime's flag, where
//! the file is checked, and stays one up to the command line of the run's process. Plans and
//! records have its text.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use gclab_core::config::{LEAST_MAX_HEAP, SizingPolicy};
use gclab_flags::{FlagValue, Flags};
use gclab_results::{Configuration, PlannedRun};

use crate::axes::ENV;
use crate::build::Build;
use crate::experiment::{self, Entry, Setting};
use crate::program::Program;
use crate::runtime::{self, ADDRESS_SPACE_KEY};

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

/// The surroundings of a workload: everything around its run apart from flags.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Surroundings {
    /// The build of gclab that does the run, if it is not this one.
    pub(crate) build: Option<Arc<Build>>,
    /// Variables of the environment.
    pub(crate) env: BTreeMap<String, String>,
    /// The commands that prepare the run.
    pub(crate) prepare: Vec<Vec<String>>,
    /// The arguments in full, without defaults, if they are known.
    pub(crate) full_args: Option<Vec<String>>,
    /// Whether the run reads its performance counters at each pause.
    pub(crate) pause_counters: bool,
}

/// A configuration with flags of their types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Combination {
    /// The configuration as plans and records have it: its flags are the text of the subject's.
    configuration: Configuration,
    subject: Subject,
    surroundings: Arc<Surroundings>,
}

impl Combination {
    /// The workload with its arguments, under this collector with these flags.
    pub fn new(workload: &str, args: &[String], collector: &str, setting: Setting) -> Combination {
        let configuration = Configuration {
            workload: workload.to_owned(),
            args: args.to_owned(),
            collector: collector.to_owned(),
            ..Configuration::default()
        };
        Combination::made(configuration, Subject::Workload(Arc::new(setting)), Arc::default())
    }

    /// The same workload in these surroundings.
    #[must_use]
    pub(crate) fn within(mut self, surroundings: &Arc<Surroundings>) -> Combination {
        let settings = &mut self.configuration.settings;
        settings.extend(
            surroundings
                .build
                .iter()
                .map(|build| ("build".to_owned(), build.name.clone())),
        );
        let env = surroundings.env.iter();
        settings.extend(env.map(|(name, value)| (format!("{ENV}{name}"), value.clone())));
        self.surroundings = Arc::clone(surroundings);
        self
    }

    /// The work of `entry` by `program`, which is the one of the entry with the values of
    /// `settings`, with these flags.
    pub(crate) fn of_program(
        entry: &Entry,
        program: &Arc<Program>,
        settings: BTreeMap<String, String>,
        setting: runtime::Setting,
    ) -> Combination {
        let configuration = Configuration {
            workload: entry.workload.clone(),
            args: entry.args.clone(),
            collector: entry.collector.clone(),
            program: Some(program.description.id.clone()),
            settings,
            ..Configuration::default()
        };
        let subject = Subject::Program(Arc::clone(program), Arc::new(setting));
        Combination::made(configuration, subject, Arc::default())
    }

    /// The command, with its flags.
    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The surroundings of a workload.
    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
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

    /// Whether it is a workload of gclab's.
    pub fn is_own(&self) -> bool {
        self.program().is_none()
    }

    /// The limit of its memory, as people know it: `-M`, `-Xmx`, or `address-space`.
    pub fn limit_name(&self) -> &'static str {
        match self.program() {
            None => "-M",
            Some(program) => program.runtime.limit_name(),
        }
    }

    /// Whether the limit of its memory is one of the address space.
    pub(crate) fn is_limited_by_address_space(&self) -> bool {
        self.program()
            .is_some_and(|program| program.runtime.limit() == ADDRESS_SPACE_KEY)
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
        let Configuration {
            workload,
            args,
            collector,
            flags: _,
            program,
            settings,
        } = &self.configuration;
        let configuration = Configuration {
            workload: workload.clone(),
            args: args.clone(),
            collector: collector.clone(),
            flags: BTreeMap::new(),
            program: program.clone(),
            settings: settings.clone(),
        };
        Combination::made(configuration, subject, Arc::clone(&self.surroundings))
    }

    /// The work of a configuration without flags, with these.
    fn made(configuration: Configuration, subject: Subject, surroundings: Arc<Surroundings>) -> Combination {
        let pair = |key: &'static str, text: &str| (key.to_owned(), text.to_owned());
        let flags = match &subject {
            Subject::Workload(setting) => setting.iter().map(|(key, value)| pair(key, value.text())).collect(),
            Subject::Program(_, setting) => setting.iter().map(|(key, value)| pair(key, value.text())).collect(),
        };
        Combination {
            configuration: Configuration { flags, ..configuration },
            subject,
            surroundings,
        }
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
    pub(crate) surroundings: Arc<Surroundings>,
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
            surroundings: Arc::clone(&combination.surroundings),
        }
    }

    /// The configuration of the run, with what it runs.
    pub(crate) fn combination(&self) -> Combination {
        Combination {
            configuration: self.planned.configuration.clone(),
            subject: self.subject.clone(),
            surroundings: Arc::clone(&self.surroundings),
        }
    }

    /// The flags of a workload of gclab's, without the flags of its heap profile or event log.
    pub(crate) fn own_flags(&self) -> Flags {
        self.subject.own_flags()
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
    let mut text = configuration.collector.clone();
    for word in std::iter::once(&configuration.workload).chain(&configuration.args) {
        text.push(' ');
        text.push_str(word);
    }
    for (name, value) in configuration.flags.iter().chain(&configuration.settings) {
        let _ = write!(text, " {name}={value}");
    }
    if let Some(multiple) = heap {
        let _ = write!(text, " ({multiple}×)");
    }
    text
}
