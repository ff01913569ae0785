//! The plan: all runs of an experiment, in their order.
//!
//! Terms: a *round* is one pass over all configurations (collector, workload, arguments, flags).
//! There are `repeat` rounds, each in its own random order, so that machine drift affects all
//! configurations alike, and an experiment that is cut short still has whole rounds.
//!
//! The order is a function of the seed alone, on every machine and in every version: PCG XSL RR
//! 128/64 (`rand_pcg::Pcg64`, O'Neill 2014) with the seed as state and the round as stream, and a
//! Fisher-Yates shuffle of this module, because rand's own may change. [`ORDER`] names both and
//! goes into `plan.json`; a unit test pins an order. The first round takes ends and middles of
//! ranges first (`order`). `cells` determines which runs there are, `fingerprint` their ids.
//!
//! Heap profiles (`profiles`) are separate runs, one for each configuration and profile, in the
//! order of the file. So are event logs (`eventlog`), one for each configuration. They follow the
//! last round, so that no timed run moves.
//!
//! A shard takes whole groups, one for each round and workload, so that all runs that are compared
//! (collectors, flags) are measured on one machine. The profiles and event logs of a workload also
//! form a group.

mod adopt;
mod cells;
mod fingerprint;
mod order;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::str::FromStr;

use gclab_results::{Minimum, PlannedRun, Purpose};
use serde::Serialize;

use crate::experiment::Experiment;
use crate::run::{Combination, Run, describe};
use crate::text::counted;
use order::order;
pub(crate) use order::shuffle;

pub use adopt::adopt;
pub(crate) use adopt::why_other;
use cells::Cell;
pub(crate) use cells::{Variants, heap_bytes, heap_name, planned_points, programs_of, used_excludes};

/// The method that makes the order, for `plan.json`.
pub const ORDER: &str =
    "rounds shuffled by pcg64(seed, round) and fisher-yates; ends and middles of ranges first in the first round";

/// A part of a plan: part `index` of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Default for Shard {
    /// The whole plan.
    fn default() -> Self {
        Shard { index: 1, count: 1 }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
            _ => Err("a shard is I/N, with I from 1 to N: 1/4, 2/4, 3/4 and 4/4 share the work among four".into()),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Shard {
    /// Whether this is the whole plan.
    pub fn is_all(self) -> bool {
        self.count == 1
    }

    /// All parts of a plan that is divided into `count`.
    pub fn all(count: u32) -> impl Iterator<Item = Shard> {
        (1..=count).map(move |index| Shard { index, count })
    }

    /// The number of the part, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of parts.
    pub fn count(self) -> u32 {
        self.count
    }

    /// A suffix for file names; empty for the whole plan.
    pub(crate) fn suffix(self) -> String {
        if self.is_all() {
            String::new()
        } else {
            format!("-shard{}of{}", self.index, self.count)
        }
    }

    fn takes(self, group: usize) -> bool {
        group % self.count as usize == self.index as usize - 1
    }
}

/// All combinations of an experiment, without the size of the heap: works × collectors × builds ×
/// points, then programs × their points.
pub(crate) fn combinations(experiment: &Experiment) -> Vec<Combination> {
    let mut seen = HashSet::new();
    let all = cells::rows(experiment).into_iter().map(|row| row.combination);
    all.filter(|combination| seen.insert(combination.configuration().clone()))
        .collect()
}

/// The runs of an experiment, or of a shard, in their order.
#[derive(Debug)]
pub struct Plan {
    /// The runs. Where the least heap of a workload is not known yet, the id of a run with a
    /// multiple of it begins with `?`.
    pub runs: Vec<Run>,
    /// The number of configurations.
    pub configurations: usize,
}

/// Stands for the fingerprint of a run whose heap is not known yet.
const UNKNOWN: &str = "?";

impl Plan {
    /// The plan of `shard`. The positions of its runs are those in the whole plan, so that the runs
    /// of all shards can be put together again.
    pub fn new(experiment: &Experiment, minima: &[Minimum], shard: Shard) -> Plan {
        let cells = cells::cells(experiment, minima);
        // Works in the order of the file. The number of a group decides which shard takes it.
        let works = experiment.works();
        let numbers: HashMap<_, usize> = works.iter().copied().zip(0..).collect();
        let work_of = |cell: &Cell| {
            let of = cell.configuration();
            let work = (of.workload.as_str(), of.args.as_slice());
            numbers.get(&work).copied().unwrap_or(0)
        };
        let mut runs = Vec::new();
        let mut position = 0;
        let mut add = |cell: &Cell, group, run: &dyn Fn(u32) -> Run| {
            if shard.takes(group) {
                let mut run = run(position);
                let fingerprint = if cell.is_known { &cell.fingerprint } else { UNKNOWN };
                run.planned = run.planned.with_fingerprint(fingerprint);
                run.planned.heap_multiple = cell.heap;
                runs.push(run);
            }
            position += 1;
        };
        for round in 0..experiment.repeat {
            let mut order = order(cells.len(), experiment.seed, round);
            if round == 0 {
                order.sort_by_key(|index| cells[*index as usize].rank);
            }
            for cell in order.into_iter().map(|index| &cells[index as usize]) {
                let group = round as usize * works.len() + work_of(cell);
                add(cell, group, &|position| Run::new(&cell.combination, round, position));
            }
        }
        for cell in &cells {
            let (entry, combination) = (&experiment.entries[cell.entry], &cell.combination);
            let group = experiment.repeat as usize * works.len() + work_of(cell);
            for (number, flags) in entry.profiles.iter().enumerate() {
                add(cell, group, &|position| {
                    Run::profiled(combination, flags, number, position)
                });
            }
            if entry.eventlog {
                add(cell, group, &|position| Run::logged(combination, position));
            }
        }
        Plan {
            runs,
            configurations: cells.len(),
        }
    }

    /// The number of runs that are timed, of heap profiles, and of event logs.
    pub fn counts(&self) -> [usize; 3] {
        let count = |is_counted: fn(Purpose<'_>) -> bool| {
            let purposes = self.runs.iter().map(|run| run.planned.purpose());
            purposes.filter(|purpose| is_counted(*purpose)).count()
        };
        [
            count(|purpose| purpose.is_timed()),
            count(|purpose| matches!(purpose, Purpose::HeapProfile(_))),
            count(|purpose| purpose == Purpose::EventLog),
        ]
    }

    /// The first run of each configuration for each purpose.
    pub fn firsts(&self) -> Vec<&Run> {
        let mut seen = HashSet::new();
        let key = |run: &&Run| {
            let planned = &run.planned;
            let heap = planned.heap_multiple.map(f64::to_bits);
            (planned.cell.clone(), heap, planned.purpose().to_string())
        };
        self.runs.iter().filter(|run| seen.insert(key(run))).collect()
    }

    /// The works of the runs, each once.
    pub fn works(&self) -> HashSet<(String, Vec<String>)> {
        let works = self.runs.iter().map(|run| &run.planned);
        works.map(|run| (run.workload.clone(), run.args.clone())).collect()
    }

    /// Whether the heaps of all runs are known.
    pub fn is_known(&self) -> bool {
        !self.runs.iter().any(|run| run.planned.id.starts_with(UNKNOWN))
    }

    /// The plan as text: a line for each run, after lines that begin with `#`.
    pub fn lines(&self, experiment: &Experiment) -> String {
        let mut text = format!(
            "# {}: {} of {} in {}; seed {}: {ORDER}\n# {:<ID$} round  run\n",
            experiment.name,
            counted(self.runs.len(), "run"),
            counted(self.configurations, "configuration"),
            counted(experiment.repeat as usize, "round"),
            experiment.seed,
            "id",
        );
        for Run { planned, .. } in &self.runs {
            let round = match planned.purpose() {
                Purpose::Times => planned.round.to_string(),
                _ => "-".to_owned(),
            };
            let _ = writeln!(text, "{:<1$} {round:>5}  {2}", planned.id, ID + 2, describe(planned));
        }
        text
    }

    /// The plan as one JSON object. Its runs have the same keys as in `plan.json`.
    pub fn json(&self, experiment: &Experiment) -> String {
        #[derive(Serialize)]
        struct Json<'p> {
            name: &'p str,
            seed: u64,
            order: &'static str,
            rounds: u32,
            configurations: usize,
            runs: Vec<&'p PlannedRun>,
        }
        let json = Json {
            name: &experiment.name,
            seed: experiment.seed,
            order: ORDER,
            rounds: experiment.repeat,
            configurations: self.configurations,
            runs: self.runs.iter().map(|run| &run.planned).collect(),
        };
        serde_json::to_string_pretty(&json).expect("a plan has only string keys") + "\n"
    }
}

/// The column of the round begins here: an id is 16 digits, a dash, and a number.
const ID: usize = 21;

/// The runs of `shard`, in order.
pub fn plan(experiment: &Experiment, minima: &[Minimum], shard: Shard) -> Vec<Run> {
    Plan::new(experiment, minima, shard).runs
}

#[cfg(test)]
mod tests;
