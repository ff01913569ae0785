//! An experiment: its collectors, workloads, programs, flags and profiles, checked. `spec` makes
//! one from a file; `plan` turns it into runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gclab_flags::{FlagValue, Flags};
use gclab_results as results;

pub use crate::axes::{Axis, Exclude, Point};
use crate::axes::{CHOICES, FlagText};
use crate::build::Build;
use crate::program::Program;
use crate::runtime;

/// A program of the file, with the runs that it is to have.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The command and its runtime.
    pub program: Arc<Program>,
    /// The name of the work that it does: its own, or a workload's.
    pub workload: String,
    /// The arguments of that work, as records have them; none but for a workload.
    pub args: Vec<String>,
    /// Its name among the collectors.
    pub collector: String,
    /// Flags of every run.
    pub flags: runtime::Setting,
    /// Its axes, as [`Experiment::sweeps`].
    pub sweeps: Vec<Vec<Axis<runtime::Value>>>,
    /// Its runs that are left out.
    pub excludes: Vec<Exclude>,
}

impl Entry {
    /// The file of the program, as a shell would find it.
    pub fn file(&self) -> Option<PathBuf> {
        self.program.file()
    }
}

/// A workload with its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// The workload's name.
    pub name: String,
    /// Its arguments as the file has them.
    pub args: Vec<String>,
    /// The arguments in full, without defaults, if they are known.
    pub full_args: Option<Vec<String>>,
    /// The values of arguments that are swept: only points with the same arguments are for it.
    pub swept_args: BTreeMap<String, String>,
    /// Flags of heap profiles. Each is one more run of each configuration.
    pub profiles: Vec<String>,
    /// Whether each configuration has one more run, with an event log.
    pub eventlog: bool,
}

impl Work {
    /// The workload with these arguments.
    pub fn new(name: &str, args: &[String]) -> Work {
        Work {
            name: name.to_owned(),
            args: args.to_owned(),
            ..Work::default()
        }
    }
}

/// A value for each flag that has one, by the flag's name in experiment files.
pub type Setting = BTreeMap<&'static str, FlagValue>;

/// The setting of these values. Of several values of a flag the last one counts.
pub(crate) fn setting<'v>(values: impl IntoIterator<Item = &'v FlagValue>) -> Setting {
    values.into_iter().map(|value| (value.key(), value.clone())).collect()
}

/// The flags of a setting.
pub(crate) fn flags(setting: &Setting) -> Flags {
    let mut flags = Flags::default();
    setting.values().for_each(|value| flags.apply(value));
    flags
}

/// A checked experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// The file's name without `.toml`.
    pub name: String,
    /// The file, word for word.
    pub text: String,
    /// The question that the experiment answers; empty if the file has none.
    pub question: String,
    /// Names of collectors.
    pub collectors: Vec<String>,
    /// Why each other collector of the program is left out, if the file asks for all.
    pub left_out: Vec<String>,
    /// The workloads with their arguments.
    pub workloads: Vec<Work>,
    /// Builds of gclab that do the runs of workloads; without any, this one does.
    pub builds: Vec<Arc<Build>>,
    /// The hash of this gclab, if it is known.
    pub executable: Option<String>,
    /// Programs that are not gclab's own.
    pub programs: Vec<Entry>,
    /// The number of runs of each configuration.
    pub repeat: u32,
    /// The precision at which the experiment is complete, as a share: of the mean time of each
    /// configuration.
    pub precision: Option<f64>,
    /// The seed of the order of runs.
    pub seed: u64,
    /// Time limit of one run.
    pub timeout: Duration,
    /// The commands that run before each run of a workload, untimed. Programs have their own, or
    /// the same.
    pub prepare: Vec<Vec<String>>,
    /// Whether runs of workloads read their performance counters at each pause.
    pub pause_counters: bool,
    /// Sizes of the heap, in multiples of the reference minimum of each workload; empty if the file
    /// has no `heap`.
    pub heap: Vec<f64>,
    /// Flags of every run.
    pub flags: Setting,
    /// The axes, in the order of the file: one list for each sweep. The runs are the product of
    /// each list; without a list, [`Experiment::flags`] alone.
    pub sweeps: Vec<Vec<Axis>>,
    /// The runs of workloads that are left out.
    pub excludes: Vec<Exclude>,
}

impl Experiment {
    /// Every axis that is a setting of runs, with the text of all its values, in the order of the
    /// file: builds, flags, variables of the environment, and arguments of programs.
    pub fn axes(&self) -> Vec<results::Axis> {
        let mut axes = Axes::default();
        for build in &self.builds {
            axes.add("build", &build.name);
        }
        for point in self.sweeps.iter().flatten().flat_map(|axis| &axis.points) {
            let words = point.words().filter(|(name, _)| !name.starts_with(crate::axes::ARGS));
            words.for_each(|(name, value)| axes.add(&name, value));
        }
        let of_programs = self.programs.iter().flat_map(|entry| entry.sweeps.iter().flatten());
        for point in of_programs.flat_map(|axis| &axis.points) {
            point.words().for_each(|(name, value)| axes.add(&name, value));
        }
        axes.all
    }

    /// The values of every axis, of settings and of works, by name.
    pub(crate) fn values(&self) -> BTreeMap<String, BTreeSet<String>> {
        fn add<V: Clone + FlagText>(to: &mut BTreeMap<String, BTreeSet<String>>, sweeps: &[Vec<Axis<V>>]) {
            for point in sweeps.iter().flatten().flat_map(|axis| &axis.points) {
                for (name, value) in point.words().filter(|(name, _)| !CHOICES.contains(&name.as_str())) {
                    to.entry(name).or_default().insert(value.to_owned());
                }
            }
        }
        let mut values = BTreeMap::new();
        add(&mut values, &self.sweeps);
        self.programs.iter().for_each(|entry| add(&mut values, &entry.sweeps));
        values
    }

    /// The works of the file, each once, in its order: workloads with their arguments, then
    /// programs.
    pub fn works(&self) -> Vec<(&str, &[String])> {
        let own = self
            .workloads
            .iter()
            .map(|own| (own.name.as_str(), own.args.as_slice()));
        let programs = self.programs.iter();
        let programs = programs.map(|entry| (entry.workload.as_str(), entry.args.as_slice()));
        let mut seen = BTreeSet::new();
        own.chain(programs).filter(|work| seen.insert(*work)).collect()
    }

    /// The collectors of the file, each once, and the names of programs that stand among them.
    pub fn columns(&self) -> Vec<&str> {
        let own = self
            .collectors
            .iter()
            .map(String::as_str)
            .filter(|_| !self.workloads.is_empty());
        let programs = self.programs.iter().map(|entry| entry.collector.as_str());
        let mut seen = BTreeSet::new();
        own.chain(programs).filter(|column| seen.insert(*column)).collect()
    }
}

/// Axes and their values, each once.
#[derive(Default)]
struct Axes {
    all: Vec<results::Axis>,
    seen: BTreeSet<(String, String)>,
}

impl Axes {
    fn add(&mut self, name: &str, value: &str) {
        if (CHOICES.contains(&name) && name != "build") || !self.seen.insert((name.to_owned(), value.to_owned())) {
            return;
        }
        let place = self.all.iter().position(|known| known.flag == name);
        let place = place.unwrap_or_else(|| {
            self.all.push(results::Axis {
                flag: name.to_owned(),
                values: Vec::new(),
            });
            self.all.len() - 1
        });
        self.all[place].values.push(value.to_owned());
    }
}
