//! The plan: all runs of an experiment, in their order.
//!
//! Terms: a *round* is one pass over all configurations (collector, workload, arguments, flags).
//! There are `repeat` rounds, each in a random order of its own, so that drift of the machine falls
//! on all configurations alike, and an experiment that is cut short still has whole rounds.
//!
//! The order is a function of the seed alone, on every machine and in every version: PCG XSL RR
//! 128/64 (`rand_pcg::Pcg64`, O'Neill 2014) with the seed as state and the round as stream, and a
//! Fisher-Yates shuffle of this module, because rand's own may change. [`ORDER`] names both and
//! goes into `plan.json`; a unit test pins an order.
//!
//! Heap profiles (`profiles`) are runs of their own, one for each configuration and profile, in the
//! order of the file. So are event logs (`eventlog`), one for each configuration. They follow the
//! last round, so that no timed run moves.
//!
//! A shard takes whole groups, one for each round and workload, so that one machine measures all
//! runs that are compared (collectors, flags). The profiles and event logs of a workload are a
//! group too.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::str::FromStr;

use gclab_results::probe::reference;
use gclab_results::{Configuration, Minimum};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

use crate::experiment::{Axis, Entry, Experiment, Setting};
use crate::run::{Combination, Run};
use crate::runtime;

/// The method that makes the order, for `plan.json`.
pub const ORDER: &str = "rounds shuffled by pcg64(seed, round) and fisher-yates";

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

/// All settings of the flags: the fixed flags with the cross product of the swept ones, the last
/// axis varying fastest; several sweeps one after the other. A setting of two sweeps occurs once.
pub(crate) fn settings(experiment: &Experiment) -> Vec<Setting> {
    all_settings(&experiment.flags, &experiment.sweeps)
}

/// The same of a program.
pub(crate) fn settings_of(entry: &Entry) -> Vec<runtime::Setting> {
    all_settings(&entry.flags, &entry.sweeps)
}

/// A value for each flag that has one, of any type of flags.
type Values<V> = BTreeMap<&'static str, V>;

fn all_settings<V: Clone + Ord>(fixed: &Values<V>, sweeps: &[Vec<Axis<V>>]) -> Vec<Values<V>> {
    if sweeps.is_empty() {
        return vec![fixed.clone()];
    }
    let mut seen = BTreeSet::new();
    let all = sweeps.iter().flat_map(|axes| cross_product(fixed, axes));
    all.filter(|setting| seen.insert(setting.clone())).collect()
}

fn cross_product<V: Clone>(fixed: &Values<V>, axes: &[Axis<V>]) -> Vec<Values<V>> {
    let with = |setting: &Values<V>, flag: &'static str, value: &V| {
        let mut setting = setting.clone();
        setting.insert(flag, value.clone());
        setting
    };
    axes.iter().fold(vec![fixed.clone()], |settings, axis| {
        settings
            .iter()
            .flat_map(|setting| axis.values.iter().map(|value| with(setting, axis.flag, value)))
            .collect()
    })
}

/// All combinations of an experiment, without the size of the heap: workloads × collectors ×
/// settings, then programs × their settings.
pub(crate) fn combinations(experiment: &Experiment) -> Vec<Combination> {
    let settings = settings(experiment);
    let mut combinations = Vec::new();
    for (workload, args) in &experiment.workloads {
        for collector in &experiment.collectors {
            let under = |setting: &Setting| Combination::new(workload, args, collector, setting.clone());
            combinations.extend(settings.iter().map(under));
        }
    }
    for entry in &experiment.programs {
        let settings = settings_of(entry).into_iter();
        combinations.extend(settings.map(|setting| Combination::of_program(entry, setting)));
    }
    combinations
}

/// A combination, and its `-M` as a multiple of the reference minimum if the experiment has `heap`.
#[derive(Clone, Debug, PartialEq)]
struct Cell {
    /// Everything that may change the result.
    combination: Combination,
    /// The multiple of the reference minimum.
    heap: Option<f64>,
}

impl Cell {
    fn configuration(&self) -> &Configuration {
        self.combination.configuration()
    }
}

/// All cells of an experiment: its combinations; with `heap`, each at every multiple of the
/// workload's reference minimum. All collectors get the same bytes. (A workload without a minimum,
/// or with a multiple that is no legal `-M`, gets none: a plan shows it, but it cannot run.)
fn cells(experiment: &Experiment, minima: &[Minimum]) -> Vec<Cell> {
    let combinations = combinations(experiment).into_iter();
    if experiment.heap.is_empty() {
        return combinations
            .map(|combination| Cell {
                combination,
                heap: None,
            })
            .collect();
    }
    let mut of_work: HashMap<_, Vec<&Minimum>> = HashMap::new();
    for minimum in minima {
        of_work
            .entry((&minimum.workload, &minimum.args))
            .or_default()
            .push(minimum);
    }
    let at = |combination: &Combination, multiple: f64| {
        let configuration = combination.configuration();
        let works = of_work.get(&(&configuration.workload, &configuration.args));
        let limit = reference(works.into_iter().flatten().copied())
            .and_then(|least| combination.with_heap(heap_bytes(multiple, least)).ok());
        Cell {
            combination: limit.unwrap_or_else(|| combination.clone()),
            heap: Some(multiple),
        }
    };
    combinations
        .flat_map(|combination| {
            experiment
                .heap
                .iter()
                .map(|multiple| at(&combination, *multiple))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// `multiple` times the reference minimum, in bytes.
pub(crate) fn heap_bytes(multiple: f64, reference: u64) -> u64 {
    (multiple * reference as f64).round() as u64
}

/// The runs of `shard`, in order. Their positions are those in the whole plan, so that the runs of
/// all shards can be put together again.
pub fn plan(experiment: &Experiment, minima: &[Minimum], shard: Shard) -> Vec<Run> {
    let cells = cells(experiment, minima);
    // Works in the order of the file. The number of a group decides which shard takes it.
    let works = experiment.works();
    let numbers: HashMap<_, usize> = works.iter().copied().zip(0..).collect();
    let work_of = |of: &Configuration| {
        let work = (of.workload.as_str(), of.args.as_slice());
        numbers.get(&work).copied().unwrap_or(0)
    };
    let mut runs = Vec::new();
    let mut position = 0;
    for round in 0..experiment.repeat {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        shuffle(
            &mut order,
            &mut Pcg64::new(u128::from(experiment.seed), u128::from(round)),
        );
        for cell in order.into_iter().map(|index| &cells[index]) {
            let group = round as usize * works.len() + work_of(cell.configuration());
            if shard.takes(group) {
                let mut run = Run::new(&cell.combination, round, position);
                run.planned.heap_multiple = cell.heap;
                runs.push(run);
            }
            position += 1;
        }
    }
    for cell in &cells {
        let work = work_of(cell.configuration());
        // A program may do the work of a workload, but has no profile, and its own wish for a log.
        let program = cell.combination.program();
        let profiles = experiment.profiles.get(work).filter(|_| program.is_none());
        let profiles = profiles.map_or(&[][..], Vec::as_slice);
        let group = experiment.repeat as usize * works.len() + work;
        let profiled = profiles.iter().enumerate();
        let profiled = profiled.map(|(number, flags)| Run::profiled(&cell.combination, flags, number, 0));
        let of_workload = || experiment.eventlogs.get(work) == Some(&true);
        let is_logged = program.map_or_else(of_workload, |program| program.description.eventlog);
        let logged = is_logged.then(|| Run::logged(&cell.combination, 0));
        for mut run in profiled.chain(logged) {
            if shard.takes(group) {
                run.planned.position = position;
                run.planned.heap_multiple = cell.heap;
                runs.push(run);
            }
            position += 1;
        }
    }
    runs
}

/// Shuffles by Fisher-Yates, from the last place down.
fn shuffle(items: &mut [usize], random: &mut Pcg64) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1, random) as usize);
    }
}

/// A number below `bound`, each equally likely. Draws from the incomplete last span of the 64-bit
/// range are rejected.
fn below(bound: u64, random: &mut Pcg64) -> u64 {
    let whole = u64::MAX - u64::MAX % bound;
    loop {
        let draw = random.next_u64();
        if draw < whole {
            return draw % bound;
        }
    }
}

#[cfg(test)]
mod tests;
