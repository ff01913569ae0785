//! Makes the runs that are kept in memory of the records in a file: their figures as numbers, and
//! facts that many runs have once.
//!
//! Memory: a run takes 48 bytes ([`Run`]) and eight for each of its figures, and those go to a
//! temporary file when the [`Room`] is full. Single pauses are figures, too. If all runs together
//! have more of them than [`MOST_PAUSES`], or if there are more than [`MOST_LISTED`] runs, none are
//! kept, and the percentiles of each run take their place: so it is for a run with too many
//! collections for its record.

use crate::figures::{Figures, Room, Writer};
use crate::metric::{self, Metric};
use crate::run::{ASIDES, Aside, Facts, Kind, Known, NOWHERE, Places, Run, Shared, Single, ToldPauses, hash};
use gclab_results::{ResultsError, RunRecord, RunStats, time};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The most runs that a page lists one by one. More are no use to a reader, and would take a
/// browser gigabytes.
pub(crate) const MOST_LISTED: usize = 20_000;

/// The most single pauses of all runs of a folder that are kept: 32 MiB.
const MOST_PAUSES: usize = 1 << 22;

/// The facts of runs that a report asks for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The figures.
    pub(crate) figures: Vec<Metric>,
    /// Pauses, and the facts that few runs have.
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
    places: HashSet<Arc<Places>>,
    /// The shared facts by the id of the configuration: few of them differ in anything else.
    shared: HashMap<String, Vec<Arc<Shared>>>,
    /// The numbers of facts, by those of the configuration and the others.
    kinds: HashMap<(*const Shared, Arc<Kind>), usize>,
    /// All facts, each with the figures of its runs.
    facts: Vec<(Arc<Facts>, Figures)>,
    /// The values of the last record.
    row: Vec<f64>,
    room: Arc<Room>,
    writer: Option<Writer>,
    /// The number of runs.
    runs: usize,
    /// The number of single pauses that are kept.
    pauses: usize,
    most_pauses: usize,
}

impl Keeper {
    pub(super) fn new(wanted: Wanted, room: Arc<Room>) -> Keeper {
        Keeper {
            wanted,
            texts: HashSet::new(),
            places: HashSet::new(),
            shared: HashMap::new(),
            kinds: HashMap::new(),
            facts: Vec::new(),
            row: Vec::new(),
            room,
            writer: None,
            runs: 0,
            pauses: 0,
            most_pauses: MOST_PAUSES,
        }
    }

    #[cfg(test)]
    pub(super) fn with_most_pauses(self, most_pauses: usize) -> Keeper {
        Keeper { most_pauses, ..self }
    }

    /// The run of a record that begins at the byte `start` of the file in `folder`.
    ///
    /// # Errors
    /// If its figures cannot be written to a temporary file.
    pub(super) fn run(&mut self, mut record: RunRecord, folder: &Arc<Path>, start: u64) -> Result<Run, ResultsError> {
        self.runs += 1;
        let (kind, single) = self.kind(&mut record);
        let (round, position, hash) = (record.round, record.position, hash(&record.id));
        let shared = self.shared(record);
        let number = self.number(shared, kind, folder);
        let (facts, figures) = &mut self.facts[number];
        let run = Run {
            facts: Arc::clone(facts),
            row: figures.push(&self.row),
            round,
            position,
            hash,
            start,
            single,
        };
        if self.room.is_beyond(1.0) {
            self.put_away()?;
        }
        Ok(run)
    }

    /// Lets the runs see their figures, of which half of the room remains in memory.
    ///
    /// # Errors
    /// If they cannot be written to a temporary file.
    pub(super) fn finish(&mut self) -> Result<(), ResultsError> {
        if self.room.is_beyond(0.5) {
            self.put_away()?;
        }
        for (facts, figures) in self.facts.drain(..) {
            facts.figures.set(figures).expect("the end of reading is once");
        }
        self.kinds.clear();
        Ok(())
    }

    /// Moves the figures of all runs to the temporary file.
    fn put_away(&mut self) -> Result<(), ResultsError> {
        self.write().map_err(|source| ResultsError::Io {
            action: "write the figures of many runs to a temporary file here (TMPDIR names another folder)",
            path: std::env::temp_dir(),
            source,
        })
    }

    fn write(&mut self) -> io::Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(Writer::new(&self.room)?),
        };
        for (_, figures) in &mut self.facts {
            figures.put_away(writer)?;
        }
        writer.flush()
    }

    /// The number of these facts among all.
    fn number(&mut self, shared: Arc<Shared>, kind: Kind, folder: &Arc<Path>) -> usize {
        let kind = Arc::new(kind);
        let (facts, room) = (&mut self.facts, &self.room);
        let number = self.kinds.entry((Arc::as_ptr(&shared), Arc::clone(&kind)));
        *number.or_insert_with(|| {
            let made = Facts {
                shared,
                kind,
                folder: Arc::clone(folder),
                figures: OnceLock::new(),
            };
            facts.push((Arc::new(made), Figures::new(self.row.len(), room)));
            facts.len() - 1
        })
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let made: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&made));
        made
    }

    /// The kind of a run, and its single pauses. Its values are in `row` then.
    fn kind(&mut self, record: &mut RunRecord) -> (Kind, Single) {
        self.row.clear();
        let (pauses, single, told) = self.pauses(record);
        let columns = self.columns(record);
        let (asides, odd_start) = self.asides(record, told.as_ref());
        let named = self.named(record);
        let own = self.own(record);
        let sharing = self.sharing(record);
        let mut conditions = record.conditions.as_mut();
        let disturbances = conditions.as_mut().and_then(|during| during.disturbances.take());
        let conditions = conditions.filter(|_| self.wanted.details);
        let machine_changes = conditions.and_then(|during| during.machine_changes.take());
        let latency = record.latency.as_ref().filter(|_| self.wanted.details);
        let stem = record.id.strip_suffix(&format!("-{}", record.round)).map(str::to_owned);
        let kind = Kind {
            outcome: record.outcome.clone(),
            checksum: record.checksum.take().map(|text| self.text(&text)),
            stem: stem.map(|text| self.text(&text)),
            has_phases: record.stats.as_ref().map(|stats| stats.phases.is_some()),
            pauses,
            odd_start,
            rate_per_second: latency.and_then(|latency| latency.rate_per_second),
            disturbances,
            machine_changes,
            places: self.places(Places { columns, asides }),
            named,
            own,
            sharing,
        };
        (kind, single)
    }

    /// The places that are equal to these, which are in memory once.
    fn places(&mut self, places: Places) -> Arc<Places> {
        if let Some(known) = self.places.get(&places) {
            return Arc::clone(known);
        }
        let made = Arc::new(places);
        self.places.insert(Arc::clone(&made));
        made
    }

    /// Adds a value to the row, and returns its place.
    fn place(&mut self, value: Option<f64>) -> u16 {
        let Some(value) = value else { return NOWHERE };
        self.row.push(value);
        (self.row.len() - 1) as u16
    }

    fn columns(&mut self, record: &RunRecord) -> Box<[u16]> {
        let mut places = vec![NOWHERE; metric::columns()];
        for number in 0..self.wanted.figures.len() {
            let metric = self.wanted.figures[number];
            places[usize::from(metric.column)] = self.place(metric.read(record));
        }
        places.into()
    }

    /// The places of asides, and whether the start of the process is an unusual text.
    fn asides(&mut self, record: &RunRecord, told: Option<&ToldPauses>) -> ([u16; ASIDES], bool) {
        let start = record.started.as_deref().filter(|_| self.wanted.starts);
        let seconds = start.and_then(time::seconds_of);
        let mut known = vec![(Aside::Started, 0, seconds)];
        if let Some(told) = told {
            known.push((Aside::Pauses, 0, Some(told.count)));
            known.push((Aside::LongestPause, 0, told.max_ns));
            let percentiles = told.percentiles.iter().enumerate();
            known.extend(percentiles.map(|(number, percentile)| (Aside::Percentile, number, *percentile)));
        }
        if self.wanted.details {
            let requests = record.latency.as_ref().map(|latency| latency.requests);
            known.push((Aside::Requests, 0, requests));
            let times = thread_times(record).into_iter().flatten().enumerate();
            known.extend(times.map(|(number, time)| (Aside::ThreadTime, number, Some(time))));
        }
        let mut places = [NOWHERE; ASIDES];
        for (aside, further, value) in known {
            places[aside as usize + further] = self.place(value.map(|value| value as f64));
        }
        (places, start.is_some() && seconds.is_none())
    }

    /// The names of figures of a program's output. Their values are added to the row.
    fn named(&mut self, record: &RunRecord) -> Vec<Arc<str>> {
        let figures = record.figures.as_ref().filter(|_| self.wanted.details);
        let mut names = Vec::new();
        for (name, value) in figures.into_iter().flatten() {
            names.push(self.text(name));
            self.row.push(*value);
        }
        names
    }

    /// The names of figures that only some collectors have. Their values are added to the row.
    fn own(&mut self, record: &RunRecord) -> Vec<Arc<str>> {
        let stats = record.stats.as_ref().filter(|_| self.wanted.details);
        let mut names = Vec::new();
        for (name, value) in stats.and_then(|stats| stats.figures.as_ref()).into_iter().flatten() {
            names.push(self.text(name));
            self.row.push(*value as f64);
        }
        names
    }

    /// The ways to share work. Their numbers are added to the row.
    fn sharing(&mut self, record: &RunRecord) -> Vec<(usize, Arc<str>)> {
        let stats = record.stats.as_ref().filter(|_| self.wanted.details);
        let mut ways = Vec::new();
        for (number, generation) in stats.into_iter().flat_map(|stats| &stats.generations).enumerate() {
            for (name, count) in generation.sharing.iter().flatten() {
                ways.push((number, self.text(name)));
                self.row.push(*count as f64);
            }
        }
        ways
    }

    /// The pauses that are known, single and as figures.
    fn pauses(&mut self, record: &RunRecord) -> (Known, Single, Option<ToldPauses>) {
        let Some(stats) = record.stats.as_ref().filter(|_| self.wanted.details) else {
            return (Known::Nothing, None, None);
        };
        if let Some(told) = only_told(stats) {
            return (Known::Figures, None, told);
        }
        let pauses = stats.measured_collections().iter();
        let mut sorted: Vec<u64> = pauses.map(|p| p.sync_ns.unwrap_or(0) + p.elapsed_ns).collect();
        sorted.sort_unstable();
        self.pauses += sorted.len();
        let told = Some(ToldPauses::of_single(&sorted));
        let known = match stats.pauses {
            Some(_) => Known::SingleAndFigures,
            None => Known::Single,
        };
        sorted.shrink_to_fit();
        let single = (!self.has_too_many_pauses()).then(|| Box::new(sorted));
        (known, single, told)
    }

    /// Whether single pauses are too many, or those of too many runs.
    pub(super) fn has_too_many_pauses(&self) -> bool {
        self.pauses > self.most_pauses || self.runs > MOST_LISTED
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

/// The figures of pauses, if the record does not have single ones.
fn only_told(stats: &RunStats) -> Option<Option<ToldPauses>> {
    let told = stats.pauses.as_ref();
    let not_single = told.is_some_and(|pauses| pauses.single_pauses_absent.is_some());
    let figures = || {
        told.map(|pauses| ToldPauses {
            count: pauses.count,
            max_ns: pauses.max_ns,
            percentiles: [pauses.p50_ns, pauses.p90_ns, pauses.p99_ns, pauses.p99_9_ns],
        })
    };
    (stats.collections_absent.is_some() || not_single).then(figures)
}

/// The times of all threads together in parallel collections.
fn thread_times(record: &RunRecord) -> Option<[u64; 4]> {
    let threads = record.stats.as_ref()?.gc_threads.as_ref()?;
    let mut sums = [0; 4];
    for thread in threads {
        let times = [thread.work_ns, thread.start_ns, thread.idle_ns, thread.termination_ns];
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
    }
    Some(sums)
}
