//! An experiment: its collectors, workloads, programs, flags and profiles, checked. `spec` makes
//! one from a file; `plan` turns it into runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use gclab_flags::{FlagValue, Flags};

use crate::program::Program;
use crate::runtime;

/// A swept flag and its values: those of gclab's own flags, or of a runtime's.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis<V = FlagValue> {
    /// The flag's name in experiment files.
    pub flag: &'static str,
    /// The values, in the order of the file.
    pub values: Vec<V>,
}

/// A program of the file, with the runs that it is to have.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The command and its runtime.
    pub program: Arc<Program>,
    /// The name of the work that it does: its own, or that of a workload.
    pub workload: String,
    /// The arguments of that work, as records have them; none but for a workload.
    pub args: Vec<String>,
    /// Its name among the collectors.
    pub collector: String,
    /// Flags of every run.
    pub flags: runtime::Setting,
    /// Swept flags, as [`Experiment::sweeps`].
    pub sweeps: Vec<Vec<Axis<runtime::Value>>>,
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
    /// Names of workloads with their arguments.
    pub workloads: Vec<(String, Vec<String>)>,
    /// Programs that are not gclab's own.
    pub programs: Vec<Entry>,
    /// Flags of heap profiles, for each of [`Experiment::workloads`] in their order. Each profile
    /// is one more run of each configuration. The list may be shorter than that of workloads.
    pub profiles: Vec<Vec<String>>,
    /// Whether each configuration of a workload has one more run, with an event log; for each of
    /// [`Experiment::workloads`] in their order. The list may be shorter than that of workloads.
    pub eventlogs: Vec<bool>,
    /// The number of runs of each configuration.
    pub repeat: u32,
    /// The precision at which the experiment is complete, as a share: that of the mean time of each
    /// configuration.
    pub precision: Option<f64>,
    /// The seed of the order of runs.
    pub seed: u64,
    /// Time limit of one run.
    pub timeout: Duration,
    /// Sizes of the heap, in multiples of the reference minimum of each workload; empty if the file
    /// has no `heap`.
    pub heap: Vec<f64>,
    /// Flags of every run.
    pub flags: Setting,
    /// Swept flags, in the order of the file: one list for each sweep. The runs are the cross
    /// product of each list; without a list, [`Experiment::flags`] alone.
    pub sweeps: Vec<Vec<Axis>>,
}

impl Experiment {
    /// Every swept flag once, with the text of all its values, in the order of the file.
    pub fn axes(&self) -> Vec<Axis<String>> {
        let own = self.sweeps.iter().flatten();
        let own = own.flat_map(|axis| axis.values.iter().map(|value| (axis.flag, value.text())));
        let programs = self.programs.iter().flat_map(|entry| entry.sweeps.iter().flatten());
        let programs = programs.flat_map(|axis| axis.values.iter().map(|value| (axis.flag, value.text())));
        let mut axes: Vec<Axis<String>> = Vec::new();
        let mut seen = BTreeSet::new();
        for (flag, text) in own.chain(programs) {
            if !seen.insert((flag, text)) {
                continue;
            }
            let place = axes.iter().position(|known| known.flag == flag);
            let place = place.unwrap_or_else(|| {
                axes.push(Axis {
                    flag,
                    values: Vec::new(),
                });
                axes.len() - 1
            });
            axes[place].values.push(text.to_owned());
        }
        axes
    }

    /// The works of the file, each once, in its order: workloads with their arguments, then
    /// programs.
    pub fn works(&self) -> Vec<(&str, &[String])> {
        let own = self
            .workloads
            .iter()
            .map(|(name, args)| (name.as_str(), args.as_slice()));
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
