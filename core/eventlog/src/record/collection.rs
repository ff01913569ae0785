//! Events of collections.

use crate::{Kind, Value, kinds};
use gclab_core::events::{CellsOfSize, Event, EventKind, GcThreadState, Kept};
use gclab_core::stats::{Collection, Cycle, Phase};
use gclab_core::words::Bytes;
use gclab_core::workers::Stretch;

use super::capability::Sessions;
use super::output::Output;

/// The heap's number as a capability set.
const HEAP: u64 = 0;

/// Times this far apart are not rounded into one by ThreadScope.
const APART_NS: u64 = 1000;

/// The concurrent work of a collector since its cycle began.
#[derive(Debug, Default)]
struct Concurrent {
    /// A phase that is not over. Marking goes on until its cycle ends, since a pause may find that
    /// something is left.
    open: Option<Phase>,
    /// When the thread last stopped, and the closures that it has marked in this cycle.
    stopped_ns: u64,
    marked: u64,
}

impl Concurrent {
    fn work(&mut self, stretch: Stretch, output: &mut Output) {
        let Stretch {
            worked,
            began_ns,
            times,
        } = stretch;
        if self.open != Some(worked.phase) {
            self.close(began_ns, output);
            self.open = Some(worked.phase);
            if worked.phase == Phase::Marked {
                output.put_global_unless_paused(&kinds::CONC_MARK_BEGIN, began_ns, &[]);
            } else {
                output.put_global_unless_paused(&kinds::CONC_SWEEP_BEGIN, began_ns, &[]);
            }
        }
        self.marked += worked.closures;
        self.stopped_ns = began_ns + times.elapsed_ns;
        if worked.is_over && worked.phase != Phase::Marked {
            self.close(self.stopped_ns, output);
        }
    }

    /// Ends the phase that is not over.
    fn close(&mut self, time_ns: u64, output: &mut Output) {
        match self.open.take() {
            Some(Phase::Marked) => {
                let objects = u32::try_from(std::mem::take(&mut self.marked)).unwrap_or(u32::MAX);
                output.put_global_unless_paused(&kinds::CONC_MARK_END, time_ns, &[u64::from(objects).into()]);
            }
            Some(_) => output.put_global_unless_paused(&kinds::CONC_SWEEP_END, time_ns, &[]),
            None => {}
        }
    }

    /// A pause from `start_ns` to `end_ns` has ended a cycle, after some of it was marked
    /// concurrently.
    fn end_cycle(&mut self, cycle: Cycle, start_ns: u64, end_ns: u64, output: &mut Output) {
        if !cycle.is_over() || self.open != Some(Phase::Marked) {
            return;
        }
        self.close(self.stopped_ns, output);
        if cycle == Cycle::Ended {
            output.put_global_unless_paused(&kinds::CONC_SYNC_BEGIN, start_ns, &[]);
            output.put_global_unless_paused(&kinds::CONC_SYNC_END, end_ns, &[]);
        }
    }
}

/// The collection under way.
#[derive(Debug, Default)]
pub(crate) struct Collecting {
    concurrent: Concurrent,
    leader: usize,
    start_ns: u64,
    /// Bytes allocated by each capability.
    allocated: Vec<u64>,
    /// The turns of GC threads, by their capabilities.
    turns: Vec<(usize, u64, GcThreadState)>,
    /// The memory that a major collection kept and returned, and when.
    kept: Option<(u64, Kept)>,
    /// What it left in cells, if the log is to say that.
    cells: Vec<CellsOfSize>,
}

impl Collecting {
    /// Writes an event, or keeps it until the end of the collection.
    pub(crate) fn event(&mut self, event: &Event<'_>, kind: EventKind<'_>, sessions: &Sessions, output: &mut Output) {
        match kind {
            EventKind::Start {
                requested_ns,
                parallel,
                allocated,
                ..
            } => {
                *self = Collecting {
                    concurrent: std::mem::take(&mut self.concurrent),
                    leader: event.capability.unwrap_or(0),
                    start_ns: event.time_ns,
                    allocated: allocated.to_vec(),
                    turns: Vec::new(),
                    kept: None,
                    cells: Vec::new(),
                };
                let request = if parallel {
                    &kinds::REQUEST_PAR_GC
                } else {
                    &kinds::REQUEST_SEQ_GC
                };
                output.put(self.leader, request, requested_ns, &[]);
            }
            // A log has no place for a GC thread without a capability.
            EventKind::GcThread { state, .. } => {
                let turn = event.capability.map(|cap| (cap, event.time_ns, state));
                self.turns.extend(turn);
            }
            EventKind::Returned(kept) => self.kept = Some((event.time_ns, kept)),
            EventKind::Cells(cells) => self.cells = cells.to_vec(),
            EventKind::Concurrent(stretch) => self.concurrent.work(stretch, output),
            EventKind::Recorded { collection, blocks } => {
                let cycle = collection.work.cycle;
                self.concurrent.end_cycle(cycle, self.start_ns, event.time_ns, output);
                self.write(event.time_ns, collection, blocks, sessions, output);
                for cells in self.cells.drain(..) {
                    output.put_global_unless_paused(&kinds::CENSUS_OF_9_10, event.time_ns, &census(cells));
                }
            }
            _ => {}
        }
    }

    /// Writes the events of a collection that ended at `end_ns`.
    fn write(&mut self, end_ns: u64, collection: &Collection, blocks: Bytes, sessions: &Sessions, output: &mut Output) {
        for cap in 0..self.allocated.len() {
            let allocated = [HEAP.into(), self.allocated[cap].into()];
            if cap == self.leader {
                output.put(cap, &kinds::GC_START, self.start_ns, &[]);
                output.put(cap, &kinds::HEAP_ALLOCATED, self.start_ns, &allocated);
                self.write_leader(end_ns, collection, output);
                continue;
            }
            let turns: Vec<(u64, GcThreadState)> = self.turns_of(cap).collect();
            if turns.is_empty() {
                output.put(cap, &kinds::HEAP_ALLOCATED, self.start_ns, &allocated);
                continue;
            }
            // From when its thread stopped: when the leader begins, all have. As in GHC, the figure
            // lies within the collection if the capability takes part.
            let stopped_ns = sessions.stopped_ns(cap).unwrap_or(self.start_ns).min(self.start_ns);
            output.put(cap, &kinds::GC_START, stopped_ns, &[]);
            output.put(cap, &kinds::HEAP_ALLOCATED, stopped_ns, &allocated);
            for (time_ns, state) in &turns {
                output.put(cap, turn(*state), (*time_ns).min(end_ns), &[]);
            }
            output.put(cap, &kinds::GC_END, end_ns, &[]);
        }
        let leader = self.leader;
        let mut size = |kind, bytes: Bytes| output.put(leader, kind, end_ns, &[HEAP.into(), (bytes.0 as u64).into()]);
        if collection.work.is_major() {
            size(&kinds::HEAP_LIVE, collection.work.live);
        }
        size(&kinds::HEAP_SIZE, collection.memory.in_use);
        size(&kinds::BLOCKS_SIZE, blocks);
    }

    /// The leader: `GC_GLOBAL_SYNC` soon after the beginning, `GC_STATS_GHC` soon before the end,
    /// the turns of its GC thread and the return of memory at their own times.
    fn write_leader(&self, end_ns: u64, collection: &Collection, output: &mut Output) {
        let sync_ns = (self.start_ns + APART_NS).min(end_ns);
        let stats_ns = end_ns.saturating_sub(APART_NS).max(sync_ns);
        let figures = figures(collection);
        let none: &[Value<'_>] = &[];
        let mut events: Vec<(u64, &'static Kind, &[Value<'_>])> = vec![(sync_ns, &kinds::GC_GLOBAL_SYNC, none)];
        events.extend(
            self.turns_of(self.leader)
                .map(|(time_ns, state)| (time_ns.min(end_ns), turn(state), none)),
        );
        let kept = self.kept.map(|(time_ns, kept)| (time_ns, returned(kept)));
        if let Some((time_ns, values)) = &kept {
            events.push(((*time_ns).clamp(sync_ns, stats_ns), &kinds::MEM_RETURN, values));
        }
        // In order of time; statistics come after other events at the same time.
        events.push((stats_ns, &kinds::GC_STATS_GHC, &figures));
        events.sort_by_key(|event| event.0);
        for (time_ns, kind, values) in events {
            output.put(self.leader, kind, time_ns, values);
        }
        output.put(self.leader, &kinds::GC_END, end_ns, &[]);
    }

    fn turns_of(&self, cap: usize) -> impl Iterator<Item = (u64, GcThreadState)> + '_ {
        let own = self.turns.iter().filter(move |(of, ..)| *of == cap);
        own.map(|(_, time_ns, state)| (*time_ns, *state))
    }
}

fn turn(state: GcThreadState) -> &'static Kind {
    match state {
        GcThreadState::Working => &kinds::GC_WORK,
        GcThreadState::Idle => &kinds::GC_IDLE,
        GcThreadState::Done => &kinds::GC_DONE,
    }
}

/// The payload of `MEM_RETURN`, in megablocks.
fn returned(kept: Kept) -> [Value<'static>; 4] {
    let [current, needed, returned] = [kept.current, kept.needed, kept.returned].map(u64::from);
    [HEAP.into(), current.into(), needed.into(), returned.into()]
}

/// The payload of `NONMOVING_HEAP_CENSUS`.
fn census(cells: CellsOfSize) -> [Value<'static>; 4] {
    let size = cells.size.0 as u64;
    [size, cells.active.into(), cells.filled.into(), cells.live.into()].map(Value::from)
}

/// The payload of `GC_STATS_GHC`. As in GHC, if one thread collected, the bytes copied by all
/// threads are those copied, and the other figures about threads are 0.
fn figures(collection: &Collection) -> [Value<'static>; 9] {
    let (work, memory) = (&collection.work, &collection.memory);
    let bytes = |size: Bytes| Value::from(size.0 as u64);
    let threads = collection.gc_threads().unwrap_or_default();
    // Threads that only marked have copied nothing.
    let by_threads: u64 = threads.iter().map(|thread| thread.copied).sum();
    let by_all = if by_threads > 0 {
        by_threads
    } else {
        work.copied.0 as u64
    };
    [
        HEAP.into(),
        u64::from(work.generation).into(),
        bytes(work.copied),
        bytes(work.slop),
        bytes(memory.fragmentation),
        u64::from(collection.threads()).into(),
        collection.par_max().unwrap_or(0).into(),
        by_all.into(),
        collection.par_balanced().unwrap_or(0).into(),
    ]
}
