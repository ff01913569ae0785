//! The cells of a plan: every combination of works, collectors, builds and points, at every size of
//! the heap, without those that are left out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use gclab_results::{Configuration, Minimum};

use super::fingerprint::Fingerprints;
use super::order::Ranks;
use crate::axes::{ARGS, ENV, Names, Point};
use crate::experiment::{Entry, Experiment};
use crate::program::Program;
use crate::run::Combination;

/// A combination with the sizes of its heap.
pub(crate) struct Row {
    /// The number of its entry.
    entry: usize,
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
fn heaps(experiment: &Experiment, entry: &Entry, point: &Point, used: &mut [bool]) -> Vec<Option<f64>> {
    let names = &entry.names()[..];
    let mut is_left_out = |names: &Names<'_>| {
        let mut is_left_out = false;
        // Each of them is looked at, since each must leave something out.
        for exclude in entry.excludes.iter().filter(|exclude| exclude.takes(point, names)) {
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
    for (number, entry) in experiment.entries.iter().enumerate() {
        let mut variants = Variants::new(entry);
        for point in entry.points() {
            let heaps = heaps(experiment, entry, &point, used);
            if heaps.is_empty() {
                continue;
            }
            let rank = if ranks.is_empty() {
                0
            } else {
                ranks.of(point.words(), None)
            };
            let program = variants.of(&point);
            rows.push(Row {
                entry: number,
                combination: Combination::new(entry, &program, settings(&program, &point), point.flags),
                heaps,
                rank,
            });
        }
    }
    rows
}

/// The settings of a point that are not flags: the build, variables of the environment, and the
/// arguments of a program. (Those of a workload are a part of its work.)
fn settings(program: &Program, point: &Point) -> BTreeMap<String, String> {
    let build = program.own.iter().flat_map(|own| &own.build);
    let build = build.map(|build| ("build".to_owned(), build.name.clone()));
    let env = point
        .env
        .iter()
        .map(|(name, value)| (format!("{ENV}{name}"), value.clone()));
    let args = point.args.iter().filter(|_| !program.is_own());
    let args = args.map(|(name, value)| (format!("{ARGS}{name}"), value.clone()));
    build.chain(env).chain(args).collect()
}

/// The points at which a command runs.
pub(crate) fn planned_points(experiment: &Experiment, entry: &Entry) -> Vec<Point> {
    let is_planned = |point: &Point| !heaps(experiment, entry, point, &mut []).is_empty();
    entry.points().into_iter().filter(is_planned).collect()
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
    pub(crate) fn of(&mut self, point: &Point) -> Arc<Program> {
        if point.env.is_empty() && (point.args.is_empty() || self.entry.is_own()) {
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
    for point in entry.points() {
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
    /// The number of its entry.
    pub(super) entry: usize,
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
    let fingerprints = Fingerprints::new(experiment);
    let mut seen = HashSet::new();
    let mut cells = Vec::new();
    for row in rows(experiment) {
        let whole = row.combination;
        for heap in row.heaps {
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
            let combination = limited.unwrap_or_else(|| whole.clone());
            let fingerprint = fingerprints.of(&combination, heap.filter(|_| !is_known));
            if seen.insert(fingerprint.clone()) {
                cells.push(Cell {
                    entry: row.entry,
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
