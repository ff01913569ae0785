//! Taking censuses, and the profile made from them.

use super::bands::Bands;
use super::biography::Biography;
use super::census::census;
use super::reach::Reach;
use super::retainers::{RetainerSet, Retainers};
use super::roots::roots;
use crate::traverse::Traversal;
use gclab_core::clock::Clock;
use gclab_core::config::{Breakdown, HeapProfile};
use gclab_core::events::{Event, EventKind, Listener, Look, Occasion};
use gclab_core::profile::{CostCentre, LAST_ERA};
use gclab_core::world::Stopped;
use gclab_eventlog::hp::HpWriter;
use std::cmp::Ordering;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One census of a heap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Census {
    /// CPU time of the mutators before it, in seconds.
    pub seconds: f64,
    /// When it was taken, in nanoseconds by the clock of the run's recorder.
    pub time_ns: u64,
    /// The name of the part of the program that begins here, if a marker caused the census.
    pub marker: Option<String>,
    /// Bytes by name, largest first, without empty bands. For a biography
    /// ([`Breakdown::Biography`]): all bands, in their order.
    pub bands: Vec<(String, u64)>,
    /// The bands for a table, if there are few named roots: all combinations, empty ones too.
    pub table: Option<Vec<(String, u64)>>,
    /// For a breakdown by cost centres: the bytes of each stack, whose innermost cost centre comes
    /// first. Absent in the censuses of a biography.
    pub stacks: Vec<(Vec<CostCentre>, u64)>,
    /// The work of the census.
    pub visits: Visits,
}

impl Census {
    /// The bytes of all bands together.
    pub fn bytes(&self) -> u64 {
        self.bands.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// The work of a census, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Visits {
    /// The number of closures that were reached.
    pub closures: u64,
    /// The number of visits to closures, where they were counted.
    pub visits: u64,
    /// The memory of the traversal's stack, in bytes.
    pub stack_bytes: u64,
}

/// A finished heap profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The breakdown of all censuses.
    pub breakdown: Breakdown,
    /// The censuses, in order.
    pub censuses: Vec<Census>,
    /// All sets of retainers that occurred, by their numbers.
    pub sets: Vec<RetainerSet>,
    /// CPU time of the mutators at the end, in seconds.
    pub seconds: f64,
    /// CPU time of all censuses, in seconds.
    pub census_seconds: f64,
}

impl Profile {
    /// The census that counted the most bytes, the first if there are several.
    pub fn peak(&self) -> Option<&Census> {
        self.censuses.iter().rev().max_by_key(|census| census.bytes())
    }
}

/// Counts a stopped heap by one breakdown. Keeps its memory and the numbers of sets from one census
/// to the next.
#[derive(Debug)]
pub struct Counter {
    breakdown: Breakdown,
    flags: HeapProfile,
    bands: Bands,
    retainers: Retainers,
    tables: Option<(Traversal, Reach)>,
    /// Set for a profile whose bands are known only at the end of the run.
    biography: Option<Biography>,
}

impl Counter {
    /// Makes a counter for the profile that the flags request, if any.
    pub fn new(flags: &HeapProfile) -> Option<Self> {
        let breakdown = flags.breakdown?;
        Some(Counter {
            breakdown,
            bands: Bands::new(breakdown, flags),
            retainers: Retainers::new(flags),
            flags: flags.clone(),
            tables: None,
            biography: flags.follows_uses().then(Biography::default),
        })
    }

    /// Counts the heap, at a time given by the caller. The bands of a biography are added by
    /// [`Counter::finish`].
    pub fn census(&mut self, stopped: &Stopped<'_>, seconds: f64, marker: Option<&str>) -> Census {
        let base = stopped.blocks().base();
        let (traversal, reach) = self
            .tables
            .get_or_insert_with(|| (Traversal::new(stopped), Reach::new(base)));
        let only = &self.flags.only.retainers;
        let mut table = None;
        let by_band = |bands: &Bands, bytes: Vec<u64>| bands.names().iter().cloned().zip(bytes).collect::<Vec<_>>();
        let mut bands = match (&mut self.biography, self.breakdown) {
            (Some(biography), _) => {
                biography.census(stopped, traversal, &mut self.bands);
                Vec::new()
            }
            (_, Breakdown::NamedRoots) => {
                let found = roots(stopped, (traversal, reach), &mut self.bands);
                table = found.table();
                found.bands()
            }
            (_, Breakdown::Retainer) => self
                .retainers
                .census(stopped, (traversal, reach), &mut self.bands, only),
            _ if !only.is_empty() => {
                let bytes = self
                    .retainers
                    .restricted(stopped, (traversal, reach), &mut self.bands, only);
                by_band(&self.bands, bytes)
            }
            _ => {
                let bytes = census(stopped, traversal, &mut self.bands);
                by_band(&self.bands, bytes)
            }
        };
        let stacks = self
            .bands
            .stacks(&bands, stopped.side_words().map(|side_words| &**side_words));
        sort(&mut bands);
        Census {
            seconds,
            time_ns: stopped.time_ns(),
            stacks,
            marker: marker.map(str::to_owned),
            bands,
            table,
            visits: Visits {
                closures: reach.closures,
                visits: reach.visits,
                stack_bytes: traversal.stack().0 as u64,
            },
        }
    }

    /// Adds the bands that are known only at the end of the run. `censuses` must be all censuses of
    /// this counter, in order.
    pub fn finish(&mut self, censuses: &mut [Census]) {
        let Some(biography) = &self.biography else { return };
        let bands = biography.bands(&mut self.bands, self.breakdown, &self.flags.only.biographies);
        for (census, mut bands) in censuses.iter_mut().zip(bands) {
            if self.breakdown != Breakdown::Biography {
                sort(&mut bands);
            }
            census.bands = bands;
        }
    }

    /// Why no further census can be counted after `before` of them, if so. A biography has at most
    /// [`LAST_ERA`] censuses, and is the only one of its heap.
    fn refusal(&mut self, stopped: &Stopped<'_>, before: usize) -> Option<String> {
        let biography = self.biography.as_mut()?;
        if before as u64 >= LAST_ERA {
            return Some(format!(
                "a biography has at most {LAST_ERA} censuses: take fewer (-i<seconds>)"
            ));
        }
        (!biography.begin(stopped))
            .then(|| "another biography of this heap is being taken, or its mutators do not note uses".to_owned())
    }
}

/// Sorts bands by size, the largest first, and removes empty ones. Merges bands of the same name:
/// names cut short (`-L`) may be equal.
fn sort(bands: &mut Vec<(String, u64)>) {
    bands.retain(|(_, bytes)| *bytes > 0);
    // Both sorts have comparators of one type, so that the sort is compiled once.
    type Compare = fn(&(String, u64), &(String, u64)) -> Ordering;
    let (by_name, largest_first): (Compare, Compare) = (|a, b| a.0.cmp(&b.0), |a, b| b.1.cmp(&a.1));
    bands.sort_by(by_name);
    bands.dedup_by(|next, first| {
        let same = next.0 == first.0;
        first.1 += if same { next.1 } else { 0 };
        same
    });
    // The sort is stable: equal sizes stay in the order of names.
    bands.sort_by(largest_first);
}

/// Takes the censuses of a run. Clones share their state: one listens to the world, another returns
/// the profile at the end.
#[derive(Clone)]
pub struct HeapProfiler(Arc<Mutex<Inner>>);

/// Receives censuses.
type Receiver = Box<dyn FnMut(&Census) + Send>;

struct Inner {
    counter: Counter,
    each_collection: bool,
    /// Receives each census when its bands are known.
    receiver: Option<Receiver>,
    hp: Option<HpWriter<Box<dyn Write + Send>>>,
    /// The first error in writing.
    error: Option<io::Error>,
    censuses: Vec<Census>,
    /// CPU time of the censuses so far.
    census_ns: u64,
}

impl std::fmt::Debug for HeapProfiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HeapProfiler({} censuses)", self.lock().censuses.len())
    }
}

impl HeapProfiler {
    /// Makes a profiler for the profile that the flags request, if any. It writes to `hp`.
    pub fn new(flags: &HeapProfile, hp: Option<HpWriter<Box<dyn Write + Send>>>) -> Option<Self> {
        Some(HeapProfiler(Arc::new(Mutex::new(Inner {
            counter: Counter::new(flags)?,
            each_collection: flags.interval == 0.0,
            receiver: None,
            hp,
            error: None,
            censuses: Vec::new(),
            census_ns: 0,
        }))))
    }

    /// Why it looks at the heap: statistics report the time of profiles by retainers separately.
    pub fn look(&self) -> Look {
        match self.lock().counter.breakdown {
            Breakdown::Retainer => Look::Retainers,
            _ => Look::Census,
        }
    }

    /// From now on `receiver` gets each census as soon as its bands are known: when it was taken,
    /// or at the end of a biography. It is called once for each, in order.
    pub fn tell(&self, receiver: Box<dyn FnMut(&Census) + Send>) {
        self.lock().receiver = Some(receiver);
    }

    /// Takes a census now.
    pub fn census(&self, stopped: &Stopped<'_>) {
        self.lock().census(stopped, None);
    }

    /// Returns the profile, and the error if writing the file failed. A census taken later is in no
    /// profile. `seconds` is the CPU time of the run's mutators.
    pub fn finish(&self, seconds: f64) -> (Profile, io::Result<()>) {
        let mut inner = self.lock();
        let mut censuses = std::mem::take(&mut inner.censuses);
        if inner.counter.biography.is_some() {
            inner.counter.finish(&mut censuses);
            censuses.iter().for_each(|census| inner.write(census));
        }
        let written = inner.hp.take().map_or(Ok(()), |hp| hp.finish(seconds).map(drop));
        let result = inner.error.take().map_or(written, Err);
        let profile = Profile {
            breakdown: inner.counter.breakdown,
            censuses,
            sets: inner.counter.retainers.sets(),
            seconds,
            census_seconds: inner.census_ns as f64 / 1e9,
        };
        (profile, result)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A census that panicked has added nothing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn census(&mut self, stopped: &Stopped<'_>, marker: Option<&str>) {
        if let Some(why) = self.counter.refusal(stopped, self.censuses.len()) {
            self.error.get_or_insert(io::Error::other(why));
            return;
        }
        let start_ns = Clock::process_cpu_ns();
        let seconds = stopped.mutator_seconds();
        let census = self.counter.census(stopped, seconds, marker);
        if self.counter.biography.is_none() {
            self.write(&census);
        }
        self.censuses.push(census);
        self.census_ns += Clock::process_cpu_ns() - start_ns;
    }

    /// Writes a census to the file, if there is one, and shows it to the receiver.
    fn write(&mut self, census: &Census) {
        if let Some(receiver) = &mut self.receiver {
            receiver(census);
        }
        if let Some(hp) = &mut self.hp {
            let mark = census.marker.as_ref().map_or(Ok(()), |_| hp.mark(census.seconds));
            if let Err(error) = mark.and_then(|()| hp.sample(census.seconds, &census.bands)) {
                self.error.get_or_insert(error);
                self.hp = None;
            }
        }
    }
}

impl Listener for HeapProfiler {
    /// A census at each marker, and at each collection if no timer takes them.
    fn look(&self, occasion: Occasion) -> Option<Look> {
        let takes = occasion == Occasion::Marker || self.lock().each_collection;
        takes.then(|| HeapProfiler::look(self))
    }

    fn event(&mut self, event: &Event<'_>) {
        let mut inner = self.lock();
        match event.kind {
            EventKind::End { stopped, .. } => inner.census(stopped, None),
            EventKind::Marker { name, stopped } => inner.census(stopped, Some(name)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record has bands by name. When `-L1` cut several names to `(`, it kept only one of the
    /// bands.
    #[test]
    fn bands_of_the_same_name_are_merged() {
        let bands =
            |all: &[(&str, u64)]| -> Vec<_> { all.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect() };
        let mut some = bands(&[("b", 8), ("(", 16), ("none", 0), ("a", 8), ("(", 24), ("c", 48)]);
        sort(&mut some);
        assert_eq!(some, bands(&[("c", 48), ("(", 40), ("a", 8), ("b", 8)]));
    }
}
