//! Makes the runs that are kept in memory of the records in a file: their figures as numbers, texts
//! that many runs have once.
//!
//! Memory: a run takes some hundred bytes and eight for each of its figures. Single pauses are
//! figures, too. If all runs together have more of them than [`MOST_PAUSES`], none are kept, and
//! the percentiles of each run take their place: so it is for a run with too many collections for
//! its record.

use crate::metric::{self, Metric};
use crate::run::{Columns, More, NOWHERE, Pauses, Run, Shared, ToldPauses};
use gclab_results::{RunRecord, RunStats};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// The most single pauses of all runs that are kept: 64 MiB.
const MOST_PAUSES: usize = 1 << 23;

/// The facts of runs that a report asks for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The figures.
    pub(crate) figures: Vec<Metric>,
    /// Single pauses, and the facts of [`More`].
    pub(crate) details: bool,
    /// The starts of the processes.
    pub(crate) starts: bool,
    /// The runs of the plan that a page lists.
    pub(crate) planned: bool,
}

impl Wanted {
    /// The facts that a page or a table of a folder shows.
    pub(crate) fn for_report() -> Wanted {
        Wanted {
            figures: metric::all().collect(),
            details: true,
            starts: false,
            planned: true,
        }
    }

    /// The facts that the table of all runs has.
    pub(crate) fn for_table() -> Wanted {
        Wanted {
            starts: true,
            planned: false,
            ..Wanted::for_report()
        }
    }

    /// The facts that comparisons judge.
    pub(crate) fn for_comparison() -> Wanted {
        let judged = metric::COMPARED.iter().chain(metric::COMPARED_PARALLEL);
        Wanted {
            figures: judged.chain([&metric::PAR_GCS]).copied().collect(),
            details: false,
            starts: false,
            planned: false,
        }
    }
}

/// Makes runs of records.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) wanted: Wanted,
    texts: HashSet<Arc<str>>,
    /// The shared facts by the id of the configuration: few of them differ in anything else.
    shared: HashMap<String, Vec<Arc<Shared>>>,
    /// The columns that runs have, by their places.
    columns: HashMap<Box<[u16]>, Arc<Columns>>,
    disturbances: HashSet<Arc<Vec<String>>>,
    machine_changes: HashSet<Arc<BTreeMap<String, String>>>,
    /// The number of single pauses that are kept.
    pauses: usize,
    most_pauses: usize,
}

/// The one `value` among `all` that is equal to this.
fn once<T: Eq + std::hash::Hash>(all: &mut HashSet<Arc<T>>, value: T) -> Arc<T> {
    if let Some(known) = all.get(&value) {
        return Arc::clone(known);
    }
    let made = Arc::new(value);
    all.insert(Arc::clone(&made));
    made
}

impl Keeper {
    pub(super) fn new(wanted: Wanted) -> Keeper {
        Keeper {
            wanted,
            texts: HashSet::new(),
            shared: HashMap::new(),
            columns: HashMap::new(),
            disturbances: HashSet::new(),
            machine_changes: HashSet::new(),
            pauses: 0,
            most_pauses: MOST_PAUSES,
        }
    }

    #[cfg(test)]
    pub(super) fn with_most_pauses(self, most_pauses: usize) -> Keeper {
        Keeper { most_pauses, ..self }
    }

    /// The run of a record that begins at the byte `start` of the file in `folder`.
    pub(super) fn run(&mut self, mut record: RunRecord, folder: &Arc<Path>, start: u64) -> Run {
        let (columns, values) = self.figures(&record);
        let checksum = record.checksum.take();
        Run {
            columns,
            values,
            pauses: self.pauses(&record),
            has_phases: record.stats.as_ref().map(|stats| stats.phases.is_some()),
            more: self.more(&mut record),
            id: std::mem::take(&mut record.id).into(),
            started: record.started.take().filter(|_| self.wanted.starts).map(Into::into),
            round: record.round,
            position: record.position,
            outcome: record.outcome.clone(),
            checksum: checksum.map(|text| self.text(&text)),
            folder: Arc::clone(folder),
            start,
            shared: self.shared(record),
        }
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let made: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&made));
        made
    }

    fn figures(&mut self, record: &RunRecord) -> (Arc<Columns>, Box<[f64]>) {
        let mut values = Vec::with_capacity(self.wanted.figures.len());
        let mut places = vec![NOWHERE; metric::columns()];
        for metric in &self.wanted.figures {
            if let Some(value) = metric.read(record) {
                places[usize::from(metric.column)] = values.len() as u16;
                values.push(value);
            }
        }
        let columns = match self.columns.get(places.as_slice()) {
            Some(known) => Arc::clone(known),
            None => {
                let places: Box<[u16]> = places.into();
                let made = Arc::new(Columns { places: places.clone() });
                self.columns.insert(places, Arc::clone(&made));
                made
            }
        };
        (columns, values.into())
    }

    fn pauses(&mut self, record: &RunRecord) -> Pauses {
        let Some(stats) = record.stats.as_ref().filter(|_| self.wanted.details) else {
            return Pauses::Unknown;
        };
        let told = stats.pauses.as_ref();
        let not_single = told.is_some_and(|pauses| pauses.single_pauses_absent.is_some());
        if stats.collections_absent.is_some() || not_single {
            return Pauses::Told(stats.pauses.as_ref().map(|pauses| {
                Box::new(ToldPauses {
                    count: pauses.count,
                    max_ns: pauses.max_ns,
                    percentiles: [pauses.p50_ns, pauses.p90_ns, pauses.p99_ns, pauses.p99_9_ns],
                })
            }));
        }
        let pauses = stats.measured_collections().iter();
        let mut single: Box<[u64]> = pauses.map(|p| p.sync_ns.unwrap_or(0) + p.elapsed_ns).collect();
        single.sort_unstable();
        self.pauses += single.len();
        let single = Pauses::Single(single, stats.pauses.is_some());
        if self.has_too_many_pauses() {
            return without_single(&single);
        }
        single
    }

    /// Whether the runs have more single pauses than can be kept.
    pub(super) fn has_too_many_pauses(&self) -> bool {
        self.pauses > self.most_pauses
    }

    fn more(&mut self, record: &mut RunRecord) -> Option<Box<More>> {
        if !self.wanted.details {
            return None;
        }
        let latency = record.latency.as_ref();
        let mut more = More {
            requests: latency.map(|latency| latency.requests),
            rate_per_second: latency.and_then(|latency| latency.rate_per_second),
            ..More::default()
        };
        for (name, value) in record.figures.iter().flatten() {
            more.named.push((self.text(name), *value));
        }
        if let Some(during) = &mut record.conditions {
            let disturbances = during.disturbances.take();
            more.disturbances = disturbances.map(|names| once(&mut self.disturbances, names));
            let changes = during.machine_changes.take();
            more.machine_changes = changes.map(|changes| once(&mut self.machine_changes, changes));
        }
        if let Some(stats) = &record.stats {
            self.of_stats(stats, &mut more);
        }
        (more != More::default()).then(|| Box::new(more))
    }

    fn of_stats(&mut self, stats: &RunStats, more: &mut More) {
        for (number, generation) in stats.generations.iter().enumerate() {
            for (name, count) in generation.sharing.iter().flatten() {
                more.sharing.push((number, self.text(name), *count));
            }
        }
        more.thread_times = stats.gc_threads.as_ref().map(|threads| {
            let mut sums = [0; 4];
            for thread in threads {
                let times = [thread.work_ns, thread.start_ns, thread.idle_ns, thread.termination_ns];
                sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
            }
            sums
        });
    }

    fn shared(&mut self, record: RunRecord) -> Arc<Shared> {
        let mut made = shared(record);
        if !self.wanted.details {
            made.command = Vec::new();
        }
        let of_cell = self.shared.entry(made.cell.clone()).or_default();
        // The newest first: records of one configuration that differ come one after the other.
        if let Some(known) = of_cell.iter().rev().take(SIMILAR).find(|known| ***known == made) {
            return Arc::clone(known);
        }
        let made = Arc::new(made);
        of_cell.push(Arc::clone(&made));
        made
    }
}

/// The most facts of one configuration that a new run is compared with. All runs of most
/// configurations have the same.
const SIMILAR: usize = 8;

/// The facts of a record that other runs of its configuration have as well.
pub(super) fn shared(record: RunRecord) -> Shared {
    Shared {
        configuration: record.configuration(),
        cell: record.cell,
        heap_multiple: record.heap_multiple,
        profile_flags: record.profile_flags,
        eventlog: record.eventlog,
        command: record.command,
    }
}

/// The figures of pauses in the place of the single ones.
pub(super) fn without_single(pauses: &Pauses) -> Pauses {
    match pauses {
        Pauses::Single(sorted, _) => Pauses::Told(Pauses::Single(sorted.clone(), true).told().map(Box::new)),
        other => other.clone(),
    }
}
