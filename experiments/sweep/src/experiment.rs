//! An experiment: its collectors, workloads, flags and profiles, checked. `spec` makes one from a
//! file; `plan` turns it into runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gclab_flags::{FlagValue, Flags};

/// A swept flag and its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The flag's name in experiment files.
    pub flag: &'static str,
    /// The values, in the order of the file.
    pub values: Vec<FlagValue>,
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
    /// Every swept flag once, with all its values, in the order of the file.
    pub(crate) fn axes(&self) -> Vec<Axis> {
        let mut axes: Vec<Axis> = Vec::new();
        let mut seen = BTreeSet::new();
        for axis in self.sweeps.iter().flatten() {
            let place = axes.iter().position(|known| known.flag == axis.flag);
            let place = place.unwrap_or_else(|| {
                axes.push(Axis {
                    flag: axis.flag,
                    values: Vec::new(),
                });
                axes.len() - 1
            });
            for value in &axis.values {
                if seen.insert(value) {
                    axes[place].values.push(value.clone());
                }
            }
        }
        axes
    }
}
