//! The description of an experiment: `plan.json`, which is written once, before the first run.
//!
//! It holds the question, the experiment file's text, the machine, the build, and all runs in their
//! order. A folder with a plan and no runs is a valid folder: an interrupted experiment continues
//! there.

use crate::fingerprint::Fingerprint;
use crate::plan::{Configuration, PlannedRun};
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// `plan.json`: the experiment, the machine, the build and the plan.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the gclab that wrote the file.
    pub gclab: String,
    /// The experiment's name: the name of its file without `.toml`.
    pub name: String,
    /// The question that the experiment answers.
    pub question: Option<String>,
    /// The experiment file, word for word.
    pub experiment: String,
    /// Seed of the order of runs.
    pub seed: u64,
    /// The generator and the shuffle that make the order of runs from the seed.
    pub order: Option<String>,
    /// The part of the whole plan that this folder holds, e.g. `1/4`; absent if it holds the
    /// whole plan.
    pub shard: Option<String>,
    /// Longest time of a run before it is killed and counts as a timeout, in seconds.
    pub timeout_seconds: Option<f64>,
    /// Number of runs of each configuration.
    pub repeat: u32,
    /// The precision at which the experiment is complete, also with fewer runs than `repeat`.
    /// It is the share of the mean time that its 95 % interval reaches to either side, for each
    /// configuration.
    pub precision: Option<f64>,
    /// The swept flags and other axes with their values, in the order of the file.
    pub sweep: Vec<Axis>,
    /// Sizes of the heap, in multiples of the reference minimum of each workload; empty for an
    /// experiment without `heap`.
    #[serde(default)]
    pub heap: Vec<f64>,
    /// The least heap of each configuration, which was found before the plan was made; empty
    /// without `heap`.
    #[serde(default)]
    pub minima: Vec<Minimum>,
    /// Whether runs of workloads read their performance counters at each pause
    /// (`pause_counters`); absent if they do not.
    pub pause_counters: Option<bool>,
    /// The builds of gclab that do the runs, if the experiment names several; empty if the
    /// gclab of `build` does them.
    #[serde(default)]
    pub builds: Vec<NamedBuild>,
    /// The commands of the experiment's `[[program]]` tables; empty without any.
    #[serde(default)]
    pub programs: Vec<Program>,
    /// The machine that runs the experiment.
    pub machine: Machine,
    /// The gclab that runs the experiment.
    pub build: Build,
    /// Start of the experiment: UTC, RFC 3339.
    pub started: String,
    /// The command that repeats the experiment.
    pub command: Vec<String>,
    /// All runs in their order.
    pub plan: Vec<PlannedRun>,
}

/// A build of gclab that an experiment names.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NamedBuild {
    /// Its name in the experiment: the value of `build` in the settings of its runs.
    pub name: String,
    /// The path of its file.
    pub file: String,
    /// Hash of the file's bytes (64 bits of SHA-256, hexadecimal).
    pub executable: String,
}

/// A swept flag, or another swept axis, with its values.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Axis {
    /// The flag's name in experiment files; or `build`, `env.NAME` or `args.NAME`.
    pub flag: String,
    /// The text of the values, in the order of the file.
    pub values: Vec<String>,
}

/// The machine of the runs. Facts that could not be found out are absent.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The machine's name.
    pub host: Option<String>,
    /// The processor's model, as the kernel names it.
    pub cpu: Option<String>,
    /// Number of logical processors that the process may use.
    pub logical_cpus: Option<u32>,
    /// Number of physical cores.
    pub cores: Option<u32>,
    /// Caches, one text for each, e.g. `L2 unified 2 MiB`.
    pub caches: Vec<String>,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The kernel's name and release.
    pub kernel: Option<String>,
    /// Transparent huge pages: the setting in force (`always`, `madvise`, `never`).
    pub transparent_huge_pages: Option<String>,
    /// The processor's frequency governor.
    pub governor: Option<String>,
    /// The kind of virtual machine, e.g. `kvm`, or `none`.
    pub virtualisation: Option<String>,
    /// Mitigations of processor faults in force, one text for each.
    #[serde(default)]
    pub mitigations: Vec<String>,
    /// Whether processors may exceed their nominal frequency (boost, turbo).
    pub boost: Option<bool>,
    /// Threads of one core that run at the same time (`on`, `off`, `notsupported`).
    pub smt: Option<String>,
    /// Randomisation of addresses: `off`, `partial` or `full`.
    pub address_randomisation: Option<String>,
    /// When the kernel compacts memory to make huge pages (`always`, `defer`, `madvise`, ...).
    pub huge_page_defrag: Option<String>,
    /// Swap space in bytes.
    pub swap_bytes: Option<u64>,
    /// Processors that the control group may use at a time; absent without a limit.
    pub cpu_limit: Option<f64>,
    /// Bytes of memory that the control group may use; absent without a limit.
    pub memory_limit_bytes: Option<u64>,
    /// The source of power: `mains` or `battery`.
    pub power: Option<String>,
    /// The kernel's limit on performance counters (`perf_event_paranoid`).
    pub perf_event_paranoid: Option<i32>,
    /// The performance counters that runs have, by their keys in records.
    #[serde(default)]
    pub counters: Vec<String>,
    /// Why runs lack performance counters; absent if they have all of them.
    pub counters_absent: Option<String>,
    /// Cautions for readers of the figures, e.g. `governor is powersave`.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The gclab of the runs, as far as it is known.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Build {
    /// Commit of the source tree.
    pub git_commit: Option<String>,
    /// Whether the source tree had changes that are in no commit.
    pub git_dirty: Option<bool>,
    /// The compiler, as printed by `rustc --version`.
    pub rustc: Option<String>,
    /// The cargo profile: `release` or `debug`.
    pub profile: Option<String>,
    /// Hash of the executable's bytes (64 bits of SHA-256, hexadecimal): a folder never has
    /// results of two builds.
    pub executable: Option<String>,
}

impl Manifest {
    /// The reference minimum of a workload, in bytes: the least of the minima of its
    /// configurations. Heaps are multiples of it.
    pub fn reference(&self, workload: &str, args: &[String]) -> Option<u64> {
        Minimum::least(self.minima.iter().filter(|m| m.workload == workload && m.args == args))
    }

    /// Whether both hold parts of one plan, run by the same executable on the same kind of
    /// processor.
    pub fn is_part_beside(&self, other: &Manifest) -> bool {
        let key = |m: &Manifest| {
            (
                m.name.clone(),
                m.experiment.clone(),
                m.seed,
                m.order.clone(),
                m.build.executable.clone(),
                m.machine.cpu.clone(),
            )
        };
        // Multiples of different minima are different heaps.
        self.shard.is_some() && other.shard.is_some() && key(self) == key(other) && self.minima == other.minima
    }

    /// A manifest of this version with an empty plan.
    pub fn new(name: &str) -> Manifest {
        Manifest {
            gclab: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            ..Manifest::default()
        }
    }
}

/// A `[[program]]` of an experiment file.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Names the program in the records of its runs: the hash of its command, folder,
    /// environment, standard input (its path and its content) and preparation.
    pub id: String,
    /// The name in the experiment file.
    pub name: String,
    /// The runtime of the program: `ghc`, `ocaml`, `jvm` or `none`.
    pub runtime: String,
    /// The words of the command, without the flags of its runtime.
    pub command: Vec<String>,
    /// The folder in which it runs; absent for the current one.
    pub dir: Option<String>,
    /// Variables of its environment, in addition to those that `gclab run` has.
    pub env: BTreeMap<String, String>,
    /// The file that is its standard input; absent for none.
    pub stdin: Option<String>,
    /// Commands that run before each run, untimed.
    pub prepare: Vec<Vec<String>>,
    /// The end and the output that the program should have.
    pub expect: Expectation,
    /// Regular expressions, each with one group, which take figures from the output.
    pub stats: BTreeMap<String, String>,
    /// Units of figures of `stats`, by the name of the figure; absent if none has one.
    pub units: Option<BTreeMap<String, String>>,
    /// The figures of `stats` of which more is better.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub more_is_better: BTreeSet<String>,
    /// Whether each configuration has one more run, untimed, with an event log.
    pub eventlog: bool,
    /// Hash of the file that runs (64 bits of SHA-256, hexadecimal): a folder never has results of
    /// two builds of a program. Absent if the file cannot be read.
    pub executable: Option<String>,
    /// Hash of the file that is its standard input, as for `executable`: a folder never has
    /// results of two inputs. Absent if there is none, or if it is not a regular file.
    pub input: Option<String>,
    /// The version of its runtime, as the runtime or the file reports it; absent if neither does.
    pub runtime_version: Option<String>,
}

/// The end that a program should have, and its text on standard output.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Expectation {
    /// The exit status.
    pub status: i32,
    /// SHA-256 of the whole output, in hexadecimal.
    pub checksum: Option<String>,
    /// A regular expression that matches somewhere in the output. The text of its group, if it
    /// has one, is the run's checksum.
    pub pattern: Option<String>,
}

impl Program {
    /// The unit of a figure of `stats`, if the experiment gives it one.
    pub fn unit(&self, figure: &str) -> Option<&str> {
        self.units.as_ref()?.get(figure).map(String::as_str)
    }

    /// Whether more of a figure of `stats` is better.
    pub fn more_is_better(&self, figure: &str) -> bool {
        self.more_is_better.contains(figure)
    }

    /// The id of these parts: all of a program that could change the result of a run, apart from
    /// flags.
    pub fn identity(&self) -> String {
        let mut hash = Fingerprint::new();
        let mut list = |words: &mut dyn Iterator<Item = &String>| {
            words.for_each(|word| hash.part(word));
            hash.end_of_list();
        };
        list(&mut [&self.runtime].into_iter());
        list(&mut self.command.iter());
        list(&mut self.dir.iter());
        list(&mut self.env.iter().flat_map(|(name, value)| [name, value]));
        list(&mut self.stdin.iter().chain(&self.input));
        self.prepare.iter().for_each(|command| list(&mut command.iter()));
        hash.text()
    }
}

/// The least heap of one configuration: the result of a search.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Minimum {
    /// The configuration, without `-M`.
    #[serde(flatten)]
    pub configuration: Configuration,
    /// The least `-M` with which all runs completed, in bytes; absent if no run completed.
    pub minimum_bytes: Option<u64>,
    /// The largest `-M` below the minimum with which a run did not complete, in bytes; absent if
    /// none was found.
    pub too_small_bytes: Option<u64>,
    /// Number of runs of the search.
    pub probes: u32,
    /// Remark on the search: a run crashed, or failed with more memory than another one completed
    /// with.
    pub note: Option<String>,
}

impl Deref for Minimum {
    type Target = Configuration;

    fn deref(&self) -> &Configuration {
        &self.configuration
    }
}

impl Minimum {
    /// The least of some minima, in bytes: the reference minimum, if all are of one workload.
    pub fn least<'m>(minima: impl IntoIterator<Item = &'m Minimum>) -> Option<u64> {
        minima.into_iter().filter_map(|minimum| minimum.minimum_bytes).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_that_may_change_a_result_changes_the_id() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let plain = Program {
            runtime: "none".into(),
            command: words("prog a b"),
            ..Program::default()
        };
        let others = [
            Program {
                runtime: "ghc".into(),
                ..plain.clone()
            },
            Program {
                command: words("prog ab"),
                ..plain.clone()
            },
            Program {
                dir: Some("b".into()),
                ..plain.clone()
            },
            Program {
                env: [("a".to_owned(), "b".to_owned())].into(),
                ..plain.clone()
            },
            Program {
                stdin: Some("b".into()),
                ..plain.clone()
            },
            Program {
                stdin: Some("b".into()),
                input: Some("0123456789abcdef".into()),
                ..plain.clone()
            },
            Program {
                prepare: vec![words("b")],
                ..plain.clone()
            },
            Program {
                prepare: vec![words("b"), words("c")],
                ..plain.clone()
            },
            Program {
                prepare: vec![words("b c")],
                ..plain.clone()
            },
        ];
        let mut ids: Vec<String> = others.iter().map(Program::identity).collect();
        ids.push(plain.identity());
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), others.len() + 1);
        // A key that only judges a run is not part of it.
        let judged = Program {
            expect: Expectation {
                status: 3,
                ..Expectation::default()
            },
            ..plain.clone()
        };
        assert_eq!(judged.identity(), plain.identity());
    }
}
