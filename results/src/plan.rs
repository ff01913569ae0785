//! Configurations and planned runs.
//!
//! A configuration has a stable id, so that a plan can be continued, divided among machines and
//! matched with another one.

use crate::fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

/// Everything that could change the result of a run, and nothing else: no time limits, no labels.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Configuration {
    /// The workload's name.
    pub workload: String,
    /// The workload's arguments.
    pub args: Vec<String>,
    /// The collector's name.
    pub collector: String,
    /// The flags that are set, by their names in experiment files, with their values as text.
    pub flags: BTreeMap<String, String>,
    /// Identifies the command of a `[[program]]`: `Program.id` in `plan.json`. Absent for gclab's
    /// own workloads.
    pub program: Option<String>,
    /// The values of swept axes other than flags, by name: `build`, `env.NAME`, `args.NAME`. Absent
    /// if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl Configuration {
    /// A stable name of 16 hexadecimal digits, by which the results of several folders can be
    /// matched. (`PlannedRun::id` starts with a hash of everything that affects the result,
    /// including the build.)
    pub fn id(&self) -> String {
        let mut hash = Fingerprint::new();
        hash.part(&self.collector);
        hash.part(&self.workload);
        self.args.iter().for_each(|arg| hash.part(arg));
        hash.end_of_list();
        for (name, value) in &self.flags {
            hash.part(name);
            hash.part(value);
        }
        if let Some(program) = &self.program {
            hash.end_of_list();
            hash.part(program);
        }
        if !self.settings.is_empty() {
            hash.end_of_list();
            hash.end_of_list();
        }
        for (name, value) in &self.settings {
            hash.part(name);
            hash.part(value);
        }
        hash.text()
    }

    /// The collector, or a program's runtime if it has one.
    pub fn collector(&self) -> Option<&str> {
        let is_named = self.program.is_none() || self.collector != "none";
        is_named.then_some(self.collector.as_str())
    }

    /// The workload with its arguments, as on a command line.
    pub fn work(&self) -> String {
        let mut words = vec![self.workload.clone()];
        words.extend(self.args.iter().cloned());
        words.join(" ")
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.work())?;
        if let Some(collector) = self.collector() {
            write!(f, ", {collector}")?;
        }
        let all = self.flags.iter().chain(&self.settings);
        all.into_iter()
            .try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

/// One run of a plan. Runs are done in the order of `position`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Identifies the run: its fingerprint, `-`, and the round. The fingerprint is a hash of
    /// exactly what affects the result (see `docs/experiments.md`). Instead of the round, a
    /// profiled run has `p0`, `p1` and so on, by the number of the profile, and a run for an event
    /// log has `l`.
    pub id: String,
    /// Identifies the configuration: a hash of collector, workload, arguments, flags, program and
    /// settings.
    pub cell: String,
    /// Position in the order of all runs, from 0.
    pub position: u32,
    /// Number of the repetition of this configuration, from 0.
    pub round: u32,
    /// What runs.
    #[serde(flatten)]
    pub configuration: Configuration,
    /// `-M` as a multiple of the workload's reference minimum, in an experiment with `heap`.
    pub heap_multiple: Option<f64>,
    /// The flags of the heap profile, in a run for the experiment's `profiles`. Such a run is
    /// slower, and does not enter any statistics.
    pub profile_flags: Option<String>,
    /// Whether the run writes an event log, in an experiment with `eventlog`. Such a run does not
    /// enter any statistics either.
    pub eventlog: Option<bool>,
    /// The runtime of a `[[program]]`: `ghc`, `ocaml`, `jvm` or `none`; absent for gclab's own
    /// workloads.
    pub runtime: Option<String>,
}

/// A planned run is a configuration with a place in a plan.
impl Deref for PlannedRun {
    type Target = Configuration;

    fn deref(&self) -> &Configuration {
        &self.configuration
    }
}

impl PlannedRun {
    /// The run of `configuration` in `round` at `position`.
    pub fn new(configuration: Configuration, round: u32, position: u32) -> PlannedRun {
        let cell = configuration.id();
        PlannedRun {
            id: format!("{cell}-{round}"),
            cell,
            position,
            round,
            configuration,
            ..PlannedRun::default()
        }
    }

    /// The run of `configuration` with profile number `number`, from 0, and these flags.
    pub fn profiled(configuration: Configuration, flags: &str, number: usize, position: u32) -> PlannedRun {
        let run = PlannedRun::new(configuration, 0, position);
        PlannedRun {
            id: format!("{}-p{number}", run.cell),
            profile_flags: Some(flags.to_owned()),
            ..run
        }
    }

    /// The run of `configuration` that writes an event log.
    pub fn logged(configuration: Configuration, position: u32) -> PlannedRun {
        let run = PlannedRun::new(configuration, 0, position);
        PlannedRun {
            id: format!("{}-l", run.cell),
            eventlog: Some(true),
            ..run
        }
    }

    /// This run, with a fingerprint in its id instead of the configuration's hash.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: &str) -> PlannedRun {
        let number = self.id.rsplit_once('-').map_or("", |(_, number)| number);
        PlannedRun {
            id: format!("{fingerprint}-{number}"),
            ..self
        }
    }

    /// The purpose of the run.
    pub fn purpose(&self) -> Purpose<'_> {
        match (&self.profile_flags, self.eventlog) {
            (Some(flags), _) => Purpose::HeapProfile(flags),
            (None, Some(true)) => Purpose::EventLog,
            (None, _) => Purpose::Times,
        }
    }

    /// The name, without an extension, of the files of its heap profile or event log: the workload
    /// and its arguments, the collector, its flags and the profile's, in letters that need no
    /// quotes, and the run's id: `hash_churn-1000-copying-A1m-hy-i0-13d7dc4df6839229-p0`.
    pub fn file_stem(&self) -> String {
        let mut words = vec![self.workload.clone()];
        words.extend(self.args.iter().cloned());
        words.push(self.collector.clone());
        words.extend(self.flags.iter().map(|(name, value)| format!("{name}{value}")));
        words.extend(
            self.profile_flags
                .iter()
                .flat_map(|flags| flags.split_whitespace())
                .map(str::to_owned),
        );
        let mut stem = String::new();
        for word in &words {
            let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            if !word.is_empty() {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "._,-".contains(c);
                stem.extend(word.chars().map(|c| if is_plain(c) { c } else { '_' }));
                stem.push('-');
            }
        }
        stem.truncate(LONGEST_STEM);
        format!("{}-{}", stem.trim_end_matches('-'), self.id)
    }
}

/// The maximum length of the words in the name of a run's files; the run's id follows them.
const LONGEST_STEM: usize = 100;

/// The purpose of a run. Only timed runs enter statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose<'r> {
    /// The run is timed.
    Times,
    /// The run writes the heap profile with these flags.
    HeapProfile(&'r str),
    /// The run writes an event log.
    EventLog,
}

impl Purpose<'_> {
    /// Whether the run is timed.
    pub fn is_timed(self) -> bool {
        self == Purpose::Times
    }
}

/// Writes a profile's flags, or a word.
impl fmt::Display for Purpose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Purpose::Times => "timed",
            Purpose::HeapProfile(flags) => flags,
            Purpose::EventLog => "event log",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program without a runtime does not have a collector to name.
    #[test]
    fn only_a_collector_that_exists_is_named() {
        let of = |collector: &str, program: Option<&str>| Configuration {
            workload: "p".to_owned(),
            collector: collector.to_owned(),
            flags: [("A".to_owned(), "1m".to_owned())].into(),
            program: program.map(str::to_owned),
            ..Configuration::default()
        };
        assert_eq!(of("none", Some("f29d")).to_string(), "p A=1m");
        assert_eq!(of("ghc", Some("f29d")).to_string(), "p, ghc A=1m");
        assert_eq!(of("copying", None).to_string(), "p, copying A=1m");
    }

    #[test]
    fn files_are_named_after_what_runs() {
        let configuration = Configuration {
            workload: "hash_churn".to_owned(),
            args: vec!["1000".to_owned(), "../a b/ü".to_owned(), "-".to_owned()],
            collector: "copying".to_owned(),
            flags: [("A".to_owned(), "1m".to_owned())].into(),
            ..Configuration::default()
        };
        let plain = Configuration {
            workload: "hsc_env".to_owned(),
            args: Vec::new(),
            ..configuration.clone()
        };
        let logged = PlannedRun::logged(plain, 8);
        assert_eq!(logged.file_stem(), format!("hsc_env-copying-A1m-{}-l", logged.cell));
        let mut planned = PlannedRun::profiled(configuration, "-hr -R0 -hyByteArray,Entry -i0", 2, 7);
        let words = "hash_churn-1000-a_b-copying-A1m-hr-R0-hyByteArray,Entry-i0";
        assert_eq!(planned.file_stem(), format!("{words}-{}", planned.id));
        planned.configuration.args = vec!["x".repeat(5000)];
        assert!(planned.file_stem().len() < 150 && planned.file_stem().ends_with(&planned.id));
    }
}
