//! The cells of a plan: every combination of works, collectors, builds and points, at every size of
//! the heap, without those that are left out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use gclab_results::{Configuration, Minimum};

use super::fingerprint::Fingerprints;
use super::order::Ranks;
use crate::axes::{ARGS, ENV, Exclude, FlagText, Names, Point, product};
use crate::build::Build;
use crate::experiment::{Entry, Experiment};
use crate::program::Program;
use crate::run::{Combination, Surroundings};
use crate::runtime;

/// All points of the flags of gclab's own workloads.
pub(crate) fn points(experiment: &Experiment) -> Vec<Point> {
    product(&experiment.flags, &experiment.sweeps)
}

/// The same of a program.
fn points_of(entry: &Entry) -> Vec<Point<runtime::Value>> {
    product(&entry.flags, &entry.sweeps)
}

/// A combination with the sizes of its heap.
pub(crate) struct Row {
    /// The combination, without a size of the heap.
    pub(crate) combination: Combination,
    /// The multiples of the least heap; `None` alone in an experiment without `heap`.
    heaps: Vec<Option<f64>>,
    /// The rank of its values in the first round.
    rank: u32,
}

/// The text of a multiple in a point.
pub(crate) fn heap_name(multiple: f64) -> String {
    multiple.to_string()
}

/// The multiples that a point may have, without those that are left out.
fn heaps<V: Clone + FlagText>(
    experiment: &Experiment,
    point: &Point<V>,
    excludes: &[Exclude],
    names: &Names<'_>,
    used: &mut [bool],
) -> Vec<Option<f64>> {
    let mut is_left_out = |names: &Names<'_>| {
        let mut is_left_out = false;
        // Each of them is looked at, since each must leave something out.
        for exclude in excludes.iter().filter(|exclude| exclude.takes(point, names)) {
            is_left_out = true;
            if let Some(used) = used.get_mut(exclude.number) {
                *used = true;
            }
        }
        is_left_out
    };
    if experiment.heap.is_empty() {
        return if is_left_out(names) { Vec::new() } else { vec![None] };
    }
    let stays = |multiple: &f64| {
        let text = heap_name(*multiple);
        let with_heap = [names, &[("heap", text.as_str())]].concat();
        point.is_for("heap", &text) && !is_left_out(&with_heap)
    };
    let stay = experiment.heap.iter().copied().filter(stays);
    stay.map(Some).collect()
}

/// All rows of an experiment: works × collectors × builds × points, then programs × their points.
pub(crate) fn rows(experiment: &Experiment) -> Vec<Row> {
    rows_and_used(experiment, &mut [])
}

/// Which of the first `count` tables of `exclude` leave something out.
pub(crate) fn used_excludes(experiment: &Experiment, count: usize) -> Vec<bool> {
    let mut used = vec![false; count];
    rows_and_used(experiment, &mut used);
    used
}

fn rows_and_used(experiment: &Experiment, used: &mut [bool]) -> Vec<Row> {
    let ranks = Ranks::new(&experiment.values(), &experiment.heap);
    let mut rows = Vec::new();
    of_workloads(experiment, &ranks, used, &mut rows);
    for entry in &experiment.programs {
        of_program(experiment, entry, &ranks, used, &mut rows);
    }
    rows
}

/// The rank of a point without its heap.
fn rank<V: Clone + FlagText>(ranks: &Ranks, point: &Point<V>) -> u32 {
    if ranks.is_empty() {
        return 0;
    }
    ranks.of(point.words(), None)
}

fn of_workloads(experiment: &Experiment, ranks: &Ranks, used: &mut [bool], rows: &mut Vec<Row>) {
    if experiment.workloads.is_empty() {
        return;
    }
    let points: Vec<(Point, u32)> = points(experiment)
        .into_iter()
        .map(|point| {
            let rank = rank(ranks, &point);
            (point, rank)
        })
        .collect();
    let builds: Vec<Option<&Arc<Build>>> = match &experiment.builds[..] {
        [] => vec![None],
        builds => builds.iter().map(Some).collect(),
    };
    for work in &experiment.workloads {
        let workload = &work.name;
        let mine = |(point, _): &&(Point, u32)| {
            point.is_for("workload", workload) && !point.only.contains_key("program") && point.args == work.swept_args
        };
        let mine: Vec<&(Point, u32)> = points.iter().filter(mine).collect();
        let mut surroundings: HashMap<(usize, &BTreeMap<String, String>), Arc<Surroundings>> = HashMap::new();
        for collector in &experiment.collectors {
            for (number, build) in builds.iter().enumerate() {
                let name = build.map(|build| build.name.as_str());
                let mut names = vec![("workload", workload.as_str()), ("collector", collector.as_str())];
                names.extend(name.map(|name| ("build", name)));
                let fits = |point: &Point| {
                    point.is_for("collector", collector) && name.is_none_or(|name| point.is_for("build", name))
                };
                for (point, rank) in mine.iter().copied().filter(|(point, _)| fits(point)) {
                    let heaps = heaps(experiment, point, &experiment.excludes, &names, used);
                    if heaps.is_empty() {
                        continue;
                    }
                    let around = surroundings.entry((number, &point.env)).or_insert_with(|| {
                        Arc::new(Surroundings {
                            build: build.cloned(),
                            env: point.env.clone(),
                            prepare: experiment.prepare.clone(),
                            full_args: work.full_args.clone(),
                            pause_counters: experiment.pause_counters,
                        })
                    });
                    let combination = Combination::new(workload, &work.args, collector, point.flags.clone());
                    rows.push(Row {
                        combination: combination.within(around),
                        heaps,
                        rank: *rank,
                    });
                }
            }
        }
    }
}

fn of_program(experiment: &Experiment, entry: &Entry, ranks: &Ranks, used: &mut [bool], rows: &mut Vec<Row>) {
    let mut variants = Variants::new(entry);
    for (point, heaps) in points_with_heaps(experiment, entry, used) {
        let program = variants.of(&point);
        let env = point
            .env
            .iter()
            .map(|(name, value)| (format!("{ENV}{name}"), value.clone()));
        let args = point
            .args
            .iter()
            .map(|(name, value)| (format!("{ARGS}{name}"), value.clone()));
        let rank = rank(ranks, &point);
        rows.push(Row {
            combination: Combination::of_program(entry, &program, env.chain(args).collect(), point.flags),
            heaps,
            rank,
        });
    }
}

/// A point of a program with its multiples, as [`Row::heaps`] has them.
type WithHeaps = (Point<runtime::Value>, Vec<Option<f64>>);

/// The points at which a program runs, without those that are left out.
fn points_with_heaps(experiment: &Experiment, entry: &Entry, used: &mut [bool]) -> Vec<WithHeaps> {
    let description = &entry.program.description;
    let names = [
        ("workload", entry.workload.as_str()),
        ("collector", entry.collector.as_str()),
        ("program", description.name.as_str()),
    ];
    let is_mine = |point: &Point<runtime::Value>| {
        names.iter().all(|(choice, name)| point.is_for(choice, name)) && !point.only.contains_key("build")
    };
    let points = points_of(entry).into_iter().filter(is_mine).map(|point| {
        let heaps = heaps(experiment, &point, &entry.excludes, &names, used);
        (point, heaps)
    });
    points.filter(|(_, heaps)| !heaps.is_empty()).collect()
}

/// The points at which a program runs.
pub(crate) fn planned_points(experiment: &Experiment, entry: &Entry) -> Vec<Point<runtime::Value>> {
    let points = points_with_heaps(experiment, entry, &mut []);
    points.into_iter().map(|(point, _)| point).collect()
}

/// The arguments and the environment of a program.
type Variant = (BTreeMap<String, String>, BTreeMap<String, String>);

/// The programs of an entry: one for each set of arguments and variables that its points have.
pub(crate) struct Variants<'e> {
    entry: &'e Entry,
    made: BTreeMap<Variant, Arc<Program>>,
}

impl<'e> Variants<'e> {
    pub(crate) fn new(entry: &'e Entry) -> Variants<'e> {
        Variants {
            entry,
            made: BTreeMap::new(),
        }
    }

    /// The program of a point.
    pub(crate) fn of(&mut self, point: &Point<runtime::Value>) -> Arc<Program> {
        if point.args.is_empty() && point.env.is_empty() {
            return Arc::clone(&self.entry.program);
        }
        let made = self.made.entry((point.args.clone(), point.env.clone()));
        Arc::clone(made.or_insert_with(|| Arc::new(self.entry.program.with(&point.args, &point.env))))
    }
}

/// The programs of an entry that its points have, each once, in the order of the points.
pub(crate) fn programs_of(entry: &Entry) -> Vec<Arc<Program>> {
    let mut variants = Variants::new(entry);
    let mut programs: Vec<Arc<Program>> = Vec::new();
    let mut seen = HashSet::new();
    for point in points_of(entry) {
        let program = variants.of(&point);
        if seen.insert(program.description.id.clone()) {
            programs.push(program);
        }
    }
    programs
}

/// A configuration, and its `-M` as a multiple of the reference minimum if the experiment has
/// `heap`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    /// Everything that may change the result.
    pub(crate) combination: Combination,
    /// The multiple of the reference minimum.
    pub(crate) heap: Option<f64>,
    /// The hash of exactly those facts that affect the result.
    pub fingerprint: String,
    /// Whether the size of the heap is known. Without it the fingerprint stands for the multiple.
    pub is_known: bool,
    /// The place of its values in the first round.
    pub(super) rank: u32,
}

impl Cell {
    /// The configuration as plans and records have it.
    pub(super) fn configuration(&self) -> &Configuration {
        self.combination.configuration()
    }
}

/// `multiple` times the reference minimum, in bytes.
pub(crate) fn heap_bytes(multiple: f64, reference: u64) -> u64 {
    (multiple * reference as f64).round() as u64
}

/// The arguments of a program, which make another work of it: heaps are compared among runs with
/// the same.
fn arguments<'s>(settings: impl IntoIterator<Item = (&'s String, &'s String)>) -> Vec<(&'s String, &'s String)> {
    let settings = settings.into_iter();
    settings.filter(|(name, _)| name.starts_with(ARGS)).collect()
}

/// All cells of an experiment: its rows; with `heap`, each at its multiples of the workload's
/// reference minimum. All collectors get the same bytes. (A workload without a minimum, or with a
/// multiple that is not a legal `-M`, gets none: a plan shows it, but it cannot run.) Of several cells
/// with one fingerprint the first stays.
pub(super) fn cells(experiment: &Experiment, minima: &[Minimum]) -> Vec<Cell> {
    let mut of_work: HashMap<_, Vec<&Minimum>> = HashMap::new();
    for minimum in minima {
        let work = (&minimum.workload, &minimum.args, arguments(&minimum.settings));
        of_work.entry(work).or_default().push(minimum);
    }
    let least: HashMap<_, u64> = of_work
        .into_iter()
        .filter_map(|(work, minima)| Some((work, Minimum::least(minima)?)))
        .collect();
    let heap_ranks = Ranks::new(&BTreeMap::new(), &experiment.heap);
    let mut fingerprints = Fingerprints::new(experiment);
    let mut seen = HashSet::new();
    let mut cells = Vec::new();
    for row in rows(experiment) {
        let mut whole = row.combination;
        let last = row.heaps.len().saturating_sub(1);
        for (number, heap) in row.heaps.into_iter().enumerate() {
            let at = |multiple| {
                let configuration = whole.configuration();
                let work = (
                    &configuration.workload,
                    &configuration.args,
                    arguments(&configuration.settings),
                );
                let least = least.get(&work)?;
                whole.with_heap(heap_bytes(multiple, *least)).ok()
            };
            let limited = heap.and_then(at);
            let is_known = heap.is_none() || limited.is_some();
            let combination = match limited {
                Some(limited) => limited,
                None if number == last => std::mem::take(&mut whole),
                None => whole.clone(),
            };
            let fingerprint = fingerprints.of(&combination, heap.filter(|_| !is_known));
            if seen.insert(fingerprint.clone()) {
                cells.push(Cell {
                    combination,
                    heap,
                    fingerprint,
                    is_known,
                    rank: row.rank.max(heap_ranks.of(std::iter::empty(), heap)),
                });
            }
        }
    }
    cells
}
