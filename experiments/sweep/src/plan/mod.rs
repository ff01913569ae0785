//! The plan: all runs of an experiment, in their order.
//!
//! Terms: a *round* is one pass over all configurations (collector, workload, arguments, flags).
//! There are `repeat` rounds, each in a random order of its own, so that drift of the machine falls
//! on all configurations alike, and an experiment that is cut short still has whole rounds.
//!
//! The order is a function of the seed alone, on every machine and in every version: PCG XSL RR
//! 128/64 (`rand_pcg::Pcg64`, O'Neill 2014) with the seed as state and the round as stream, and a
//! Fisher-Yates shuffle of this module, because rand's own may change. [`ORDER`] names both and
//! goes into `plan.json`; a unit test pins an order. The first round takes ends and middles of
//! ranges first (`order`). Which runs there are is said by `cells`, their ids by `fingerprint`.
//!
//! Heap profiles (`profiles`) are runs of their own, one for each configuration and profile, in the
//! order of the file. So are event logs (`eventlog`), one for each configuration. They follow the
//! last round, so that no timed run moves.
//!
//! A shard takes whole groups, one for each round and workload, so that one machine measures all
//! runs that are compared (collectors, flags). The profiles and event logs of a workload are a
//! group too.

mod adopt;
#[cfg(test)]
mod axes_tests;
mod cells;
mod fingerprint;
mod lines;
mod order;

use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use gclab_results::{Configuration, Minimum, Purpose};

use crate::experiment::Experiment;
use crate::run::{Combination, Run};
use order::order;
pub(crate) use order::shuffle;

pub use adopt::adopt;
pub(crate) use adopt::why_other;
pub use cells::Cell;
pub(crate) use cells::{Variants, heap_bytes, heap_name, planned_points, points, programs_of, used_excludes};

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

/// The purpose of a run of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Times,
    /// The heap profile of this number.
    Profile(u32),
    EventLog,
}

/// A run of a schedule: few bytes, since there may be a million of them.
#[derive(Clone, Copy, Debug)]
struct Slot {
    cell: u32,
    round: u32,
    position: u32,
    kind: Kind,
}

/// The runs of one cell and purpose in a schedule.
#[derive(Clone, Copy, Debug)]
pub struct RunKind<'s> {
    schedule: &'s Schedule,
    first: &'s Slot,
    /// The number of these runs.
    pub count: usize,
}

impl<'s> RunKind<'s> {
    /// The configuration of these runs.
    pub fn configuration(&self) -> &'s Configuration {
        self.cell().configuration()
    }

    /// The `-M` of these runs as a multiple of the reference minimum, if the experiment has `heap`.
    pub fn heap(&self) -> Option<f64> {
        self.cell().heap
    }

    /// Whether these runs are timed.
    pub fn is_timed(&self) -> bool {
        self.first.kind == Kind::Times
    }

    /// The purpose of these runs.
    pub fn purpose(&self) -> Purpose<'s> {
        match self.first.kind {
            Kind::Times => Purpose::Times,
            Kind::Profile(number) => Purpose::HeapProfile(self.schedule.profile(self.first.cell, number)),
            Kind::EventLog => Purpose::EventLog,
        }
    }

    /// Makes the first of these runs. It has a copy of the configuration: for a hundred thousand
    /// kinds this takes most of a second.
    pub fn run(&self) -> Run {
        self.schedule.run(self.first)
    }

    fn cell(&self) -> &'s Cell {
        &self.schedule.cells[self.first.cell as usize]
    }
}

/// The runs of an experiment, or of a shard, in their order. A cell is held once, however often it
/// runs.
#[derive(Debug)]
pub struct Schedule {
    cells: Vec<Cell>,
    slots: Vec<Slot>,
    /// The flags of the heap profiles of each cell's work, by the number of the work.
    profiles: Vec<Vec<String>>,
    /// The number of each cell's work.
    works: Vec<u32>,
}

impl Schedule {
    /// The schedule of `shard`. The positions of its runs are those in the whole plan, so that the
    /// runs of all shards can be put together again.
    pub fn new(experiment: &Experiment, minima: &[Minimum], shard: Shard) -> Schedule {
        let cells = cells::cells(experiment, minima);
        // Works in the order of the file. The number of a group decides which shard takes it.
        let works = experiment.works();
        let numbers: HashMap<_, usize> = works.iter().copied().zip(0..).collect();
        let work_of = |of: &Configuration| {
            let work = (of.workload.as_str(), of.args.as_slice());
            numbers.get(&work).copied().unwrap_or(0)
        };
        let work_of: Vec<usize> = cells.iter().map(|cell| work_of(cell.configuration())).collect();
        let mut slots = Vec::new();
        let mut position = 0;
        let mut add = |cell: usize, round, group, kind| {
            if shard.takes(group) {
                slots.push(Slot {
                    cell: u32::try_from(cell).expect("at most a million runs"),
                    round,
                    position,
                    kind,
                });
            }
            position += 1;
        };
        for round in 0..experiment.repeat {
            let mut order = order(cells.len(), experiment.seed, round);
            if round == 0 {
                order.sort_by_key(|index| cells[*index as usize].rank);
            }
            for cell in order.into_iter().map(|index| index as usize) {
                let group = round as usize * works.len() + work_of[cell];
                add(cell, round, group, Kind::Times);
            }
        }
        for (index, cell) in cells.iter().enumerate() {
            let work = work_of[index];
            // A program may do the work of a workload, but has no profile, and its own wish for a
            // log.
            let program = cell.combination.program();
            let profiles = experiment.profiles.get(work).filter(|_| program.is_none());
            let group = experiment.repeat as usize * works.len() + work;
            for number in 0..profiles.map_or(0, Vec::len) {
                add(index, 0, group, Kind::Profile(number as u32));
            }
            let of_workload = || experiment.eventlogs.get(work) == Some(&true);
            if program.map_or_else(of_workload, |program| program.description.eventlog) {
                add(index, 0, group, Kind::EventLog);
            }
        }
        Schedule {
            works: work_of.into_iter().map(|work| work as u32).collect(),
            profiles: experiment.profiles.clone(),
            cells,
            slots,
        }
    }

    /// The number of runs.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no run.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The number of runs that are timed, of heap profiles, and of event logs.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for slot in &self.slots {
            let of = match slot.kind {
                Kind::Times => 0,
                Kind::Profile(_) => 1,
                Kind::EventLog => 2,
            };
            counts[of] += 1;
        }
        counts
    }

    fn run(&self, slot: &Slot) -> Run {
        let cell = &self.cells[slot.cell as usize];
        let combination = &cell.combination;
        let mut run = match slot.kind {
            Kind::Times => Run::new(combination, slot.round, slot.position),
            Kind::Profile(number) => {
                let flags = self.profile(slot.cell, number);
                Run::profiled(combination, flags, number as usize, slot.position)
            }
            Kind::EventLog => Run::logged(combination, slot.position),
        };
        run.planned = run.planned.with_fingerprint(&cell.fingerprint);
        run.planned.heap_multiple = cell.heap;
        run
    }

    /// The flags of the heap profile of this number of a cell.
    fn profile(&self, cell: u32, number: u32) -> &str {
        &self.profiles[self.works[cell as usize] as usize][number as usize]
    }

    /// The runs, in order.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        self.slots.iter().map(|slot| self.run(slot))
    }

    /// Each cell and purpose, in the order of their first runs.
    pub fn kinds(&self) -> Vec<RunKind<'_>> {
        let mut timed: Vec<Option<usize>> = vec![None; self.cells.len()];
        let mut untimed: HashMap<(u32, &str), usize> = HashMap::new();
        let mut kinds: Vec<RunKind<'_>> = Vec::new();
        for slot in &self.slots {
            let add = || {
                kinds.push(RunKind {
                    schedule: self,
                    first: slot,
                    count: 0,
                });
                kinds.len() - 1
            };
            let place = match slot.kind {
                Kind::Times => *timed[slot.cell as usize].get_or_insert_with(add),
                Kind::Profile(number) => {
                    let flags = self.profile(slot.cell, number);
                    *untimed.entry((slot.cell, flags)).or_insert_with(add)
                }
                Kind::EventLog => *untimed.entry((slot.cell, "event log")).or_insert_with(add),
            };
            kinds[place].count += 1;
        }
        kinds
    }

    /// The works of the runs, each once.
    pub fn works(&self) -> HashSet<(String, Vec<String>)> {
        let mut seen = HashSet::new();
        let mut works = HashSet::new();
        for slot in &self.slots {
            if seen.insert(self.works[slot.cell as usize]) {
                let configuration = self.cells[slot.cell as usize].configuration();
                works.insert((configuration.workload.clone(), configuration.args.clone()));
            }
        }
        works
    }
}

/// The runs of `shard`, in order.
pub fn plan(experiment: &Experiment, minima: &[Minimum], shard: Shard) -> Vec<Run> {
    Schedule::new(experiment, minima, shard).runs().collect()
}

#[cfg(test)]
mod tests;
