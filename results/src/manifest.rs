//! The description of an experiment: `plan.json`, which is written once, before the first run.
//!
//! It has the question, the text of the experiment file, the machine, the build, and all runs in
//! order. A folder with a plan but no runs is valid: an interrupted experiment continues there.

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
    /// The random generator and the shuffle that turn the seed into the order of runs.
    pub order: Option<String>,
    /// The part of the plan in this folder, e.g. `1/4`; absent if it has the whole plan.
    pub shard: Option<String>,
    /// Time limit for a run, in seconds; a run that exceeds it is killed and counts as a timeout.
    pub timeout_seconds: Option<f64>,
    /// Number of runs of each configuration.
    pub repeat: u32,
    /// The precision at which the experiment is complete, even with fewer runs than `repeat`: the
    /// half-width of the 95 % interval as a share of the mean time, for each configuration.
    pub precision: Option<f64>,
    /// The swept flags and other axes with their values, in the order of the file.
    pub sweep: Vec<Axis>,
    /// Heap sizes as multiples of the reference minimum of each workload; empty for an experiment
    /// without `heap`.
    #[serde(default)]
    pub heap: Vec<f64>,
    /// The limits on pauses for which the report names a collector, in seconds, ascending; empty for
    /// an experiment without `pause`.
    #[serde(default)]
    pub pause: Vec<f64>,
    /// The least heap of each configuration, found before the plan was made; empty without `heap`.
    #[serde(default)]
    pub minima: Vec<Minimum>,
    /// Whether runs of workloads read their performance counters at each pause (`pause_counters`);
    /// absent if not.
    pub pause_counters: Option<bool>,
    /// The builds of gclab that do the runs, if the experiment lists several; empty if the gclab in
    /// `build` does them.
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
    /// All runs in order.
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

/// A swept flag, or another swept axis, and its values.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Axis {
    /// The flag's name in experiment files; or `build`, `env.NAME` or `args.NAME`.
    pub flag: String,
    /// The values as text, in the order of the file.
    pub values: Vec<String>,
}

/// The machine of the runs. Facts that could not be determined are absent.
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
    /// Whether cores run several threads at a time (`on`, `off`, `notsupported`).
    pub smt: Option<String>,
    /// Address space randomisation: `off`, `partial` or `full`.
    pub address_randomisation: Option<String>,
    /// When the kernel compacts memory to make huge pages (`always`, `defer`, `madvise`, ...).
    pub huge_page_defrag: Option<String>,
    /// Swap space in bytes.
    pub swap_bytes: Option<u64>,
    /// How many processors the control group may use at a time; absent without a limit.
    pub cpu_limit: Option<f64>,
    /// How many bytes of memory the control group may use; absent without a limit.
    pub memory_limit_bytes: Option<u64>,
    /// The source of power: `mains` or `battery`.
    pub power: Option<String>,
    /// The kernel's limit on performance counters (`perf_event_paranoid`).
    pub perf_event_paranoid: Option<i32>,
    /// The performance counters available to runs, by their keys in records.
    #[serde(default)]
    pub counters: Vec<String>,
    /// Why runs lack performance counters; absent if they have all of them.
    pub counters_absent: Option<String>,
    /// Warnings for readers of the results, e.g. `governor is powersave`.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The gclab of the runs, as far as it is known.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Build {
    /// Commit of the sources that were built. A build outside `git` has none, and neither has a
    /// debug build.
    pub git_commit: Option<String>,
    /// Whether the sources differed from that commit.
    pub git_dirty: Option<bool>,
    /// The compiler, as printed by `rustc --version`.
    pub rustc: Option<String>,
    /// The cargo profile: `release` or `debug`.
    pub profile: Option<String>,
    /// Hash of the executable's bytes (64 bits of SHA-256, hexadecimal): a folder never mixes
    /// results of two builds.
    pub executable: Option<String>,
}

impl Manifest {
    /// A workload's reference minimum, in bytes: the lowest minimum of its configurations. Heaps
    /// are multiples of it.
    pub fn reference(&self, workload: &str, args: &[String]) -> Option<u64> {
        Minimum::least(self.minima.iter().filter(|m| m.workload == workload && m.args == args))
    }

    /// Whether both have parts of the same plan, run by the same executable on the same kind of
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

/// A `[[program]]` in an experiment file.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Identifies the program in the records of its runs: a hash of its command, folder,
    /// environment, standard input (path and content) and preparation.
    pub id: String,
    /// The name in the experiment file.
    pub name: String,
    /// The program's runtime: `ghc`, `ocaml`, `jvm` or `none`.
    pub runtime: String,
    /// The words of the command, without flags for its runtime.
    pub command: Vec<String>,
    /// The folder in which it runs; absent for the current one.
    pub dir: Option<String>,
    /// Environment variables, on top of those of `gclab run`.
    pub env: BTreeMap<String, String>,
    /// The file that is its standard input; absent for none.
    pub stdin: Option<String>,
    /// Commands that run before each run, untimed.
    pub prepare: Vec<Vec<String>>,
    /// How the program should end, and what it should print.
    pub expect: Expectation,
    /// Regular expressions, each with one group, that extract metrics from the output.
    pub stats: BTreeMap<String, String>,
    /// Units of metrics in `stats`, by name; absent if none has one.
    pub units: Option<BTreeMap<String, String>>,
    /// The metrics in `stats` for which more is better.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub more_is_better: BTreeSet<String>,
    /// Whether each configuration has an extra run, untimed, with an event log.
    pub eventlog: bool,
    /// Hash of the program's file (64 bits of SHA-256, hexadecimal): a folder never mixes results
    /// of two builds of a program. Absent if the file cannot be read.
    pub executable: Option<String>,
    /// Hash of the file that is its standard input, like `executable`: a folder never mixes results
    /// for two inputs. Absent if there is none, or if it is not a regular file.
    pub input: Option<String>,
    /// The version of its runtime, as reported by the runtime or the file; absent if neither
    /// reports it.
    pub runtime_version: Option<String>,
}

/// How a program should end, and what it should print on standard output.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Expectation {
    /// The exit status.
    pub status: i32,
    /// SHA-256 of the whole output, in hexadecimal.
    pub checksum: Option<String>,
    /// A regular expression that matches somewhere in the output. If it has a group, the group's
    /// text is the run's checksum.
    pub pattern: Option<String>,
}

impl Program {
    /// The unit of a metric in `stats`, if the experiment gives one.
    pub fn unit(&self, figure: &str) -> Option<&str> {
        self.units.as_ref()?.get(figure).map(String::as_str)
    }

    /// Whether more is better for a metric in `stats`.
    pub fn more_is_better(&self, figure: &str) -> bool {
        self.more_is_better.contains(figure)
    }

    /// The id: a hash of everything in a program, apart from flags, that could change the result of
    /// a run.
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

/// The least heap of a configuration, found by a search.
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
    /// Number of runs in the search.
    pub probes: u32,
    /// A remark on the search: a run crashed, or failed with more memory than another one that
    /// completed.
    pub note: Option<String>,
}

impl Deref for Minimum {
    type Target = Configuration;

    fn deref(&self) -> &Configuration {
        &self.configuration
    }
}

impl Minimum {
    /// The lowest of some minima, in bytes: the reference minimum, if all belong to one workload.
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
        // A key that only judges a run does not affect the id.
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
