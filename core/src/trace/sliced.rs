//! A trace in slices, between which the program runs.
//!
//! The order is the same as in [`live`](super::live). The trace finds all closures that were
//! reachable when it started, its *snapshot*. Slices are done in pauses or, by the background thread,
//! between them. So roots are traced once, at the start; afterwards
//! barriers show the marker what mutators overwrite ([`SnapshotBarrier`]). Closures that become
//! garbage meanwhile *float* until the next trace.

use super::drained::Progress;
use super::ephemerons::{AwaitedKeys, Awaiting};
use super::marker::{Grey, Marked, Marker};
use super::order::{Tracing, trace_values};
use crate::barrier::SnapshotBarrier;
use crate::closure::ClosureRef;
use crate::collector::Pause;
use crate::events::Phase;
use crate::overwritten::NoteQueue;
use crate::roots::handles::HandleTable;
use crate::space::Marks;
use crate::sync::Arc;
use crate::words::{Addr, Words};
use crate::workers::{Helpers, Stop};

/// Words of work between two looks whether a pause begins: some ten microseconds.
const BETWEEN_LOOKS: Words = Words(if cfg!(debug_assertions) { 64 } else { 1 << 12 });

/// Values of ephemerons between two such looks.
const MOST_VALUES: usize = BETWEEN_LOOKS.0 / 16;

/// Looks at some ephemerons, from number `from` on, for values that have no mark. Returns the number of the
/// next one; `None` after the last.
fn see_ephemerons(handles: &HandleTable, from: usize, marks: &impl Marks, keys: &AwaitedKeys<u64>) -> Option<usize> {
    let is_unmarked = |closure: &Addr| closure.0 != 0 && !marks.is_marked(*closure);
    handles.some_ephemerons(from, |[key, value]| {
        if is_unmarked(&Addr(value as usize)) {
            keys.add(Some(Addr(key as usize)).filter(is_unmarked), value);
        }
    })
}

/// Finds some values whose keys were reached. Returns how many.
fn find_values<M: Marks>(marker: &mut Marker<'_, M>, keys: Option<&AwaitedKeys<u64>>) -> usize {
    let values = std::iter::from_fn(|| keys?.next_value()).take(MOST_VALUES);
    values.map(|value| marker.noted(ClosureRef(value as *mut u64))).count()
}

/// Marks for every marker of a trace, so that the trace learns of all that is marked.
fn awaiting<'m, M: Marks>(marks: &'m M, keys: &'m AwaitedKeys<u64>) -> Awaiting<'m, M, u64> {
    let moves = false;
    Awaiting { marks, keys, moves }
}

/// A trace in progress, which a collector keeps from pause to pause.
#[derive(Debug)]
pub struct SlicedTrace {
    grey: Box<Grey>,
    /// Where mutators hand over notes while it advances concurrently.
    notes: Arc<NoteQueue>,
    handles: Arc<HandleTable>,
    /// The first ephemeron that it has not seen concurrently; `None` after the last. The keys were not
    /// marked when it saw them, and do not move until it is over; nor do the values.
    next_ephemeron: Option<usize>,
    /// None if there were no ephemerons when it began: the keys of later ones live.
    keys: Option<Box<AwaitedKeys<u64>>>,
    /// Whether it has looked at all tables concurrently.
    has_prescanned: bool,
    /// Finalisers that get their closures have been found.
    finalised: bool,
}

impl SlicedTrace {
    /// Starts a trace of everything: marks the referents of roots, and makes barriers record what
    /// mutators overwrite. The nursery, if the collector has one, is empty, and nothing that the
    /// trace should find is marked. Returns the trace and its results so far.
    pub fn begin<A, M: Marks>(pause: &mut Pause<'_, A>, marks: &M) -> (SlicedTrace, Marked) {
        let mut marker = Marker::resume(Grey::new(pause.heap), marks);
        // Many roots may fill the stack, but the pause does not mark what is behind them.
        marker.set_budget(BETWEEN_LOOKS);
        marker.roots(pause.roots);
        pause.roots.begin_trace_in_slices();
        if !mutant!("sliced/marking-not-said") {
            <SnapshotBarrier>::set_marking(pause.capabilities, true);
        }
        let (marked, grey) = marker.interrupt();
        pause.events.phase(Phase::RootsTraced);
        let first = pause.capabilities.iter().next().expect("a heap has capabilities");
        let has_ephemerons = pause.roots.handles().has_ephemerons();
        let trace = SlicedTrace {
            grey: Box::new(grey),
            notes: Arc::clone(first.overwritten().queue()),
            handles: Arc::clone(pause.roots.handles()),
            next_ephemeron: has_ephemerons.then_some(0),
            keys: has_ephemerons.then(Box::default),
            has_prescanned: false,
            finalised: false,
        };
        (trace, marked)
    }

    /// Continues concurrently, on the background thread, until `stop` is asked for or nothing
    /// is left but what mutators overwrite from now on: they have handed over their notes, unless one
    /// has come to no safepoint. Returns the rest of the trace, and the results.
    pub fn advance_concurrently<M: Marks>(
        mut self,
        marks: &M,
        stop: &Stop,
        helpers: &mut Helpers,
    ) -> (SlicedTrace, Marked) {
        let Some(keys) = self.keys.take() else {
            return self.mark_concurrently(marks, None, stop, helpers);
        };
        let (mut trace, marked) = self.mark_concurrently(&awaiting(marks, &keys), Some(&keys), stop, helpers);
        trace.keys = Some(keys);
        (trace, marked)
    }

    fn mark_concurrently<M: Marks>(
        self,
        marks: &M,
        keys: Option<&AwaitedKeys<u64>>,
        stop: &Stop,
        helpers: &mut Helpers,
    ) -> (SlicedTrace, Marked) {
        let mut marker = Marker::resume(*self.grey, marks);
        marker.share_until(helpers.workers(), stop);
        self.notes.set_open(true);
        let (mut next_ephemeron, mut has_prescanned, mut has_asked) = (self.next_ephemeron, self.has_prescanned, false);
        while !stop.is_asked() {
            let before = marker.closures();
            marker.extend_budget(BETWEEN_LOOKS);
            marker.flushed(&self.notes);
            let found = find_values(&mut marker, keys);
            let progress = marker.trace_some();
            if progress == Progress::More || marker.closures() > before || found > 0 {
                has_asked = false;
            } else if let (Some(next), Some(keys)) = (next_ephemeron, keys) {
                next_ephemeron = see_ephemerons(&self.handles, next, marks, keys);
            } else if !has_prescanned {
                has_prescanned = self.handles.prescan(|closure| marker.is_settled(closure));
            } else if has_asked {
                break;
            } else {
                let chunks = self.notes.ask(|| stop.is_asked());
                (0..chunks)
                    .take_while(|_| !stop.is_asked())
                    .for_each(|_| marker.flushed(&self.notes));
                has_asked = true;
            }
        }
        self.notes.set_open(false);
        let (marked, grey) = marker.interrupt();
        let trace = SlicedTrace {
            grey: Box::new(grey),
            next_ephemeron,
            has_prescanned,
            ..self
        };
        (trace, marked)
    }

    /// Does in a pause what the background thread would do in about `budget` words of work, so that it
    /// can be repeated.
    pub fn advance_as_if_concurrently<M: Marks>(self, marks: &M, budget: Words) -> (SlicedTrace, Marked) {
        let looks = budget.0.div_ceil(BETWEEN_LOOKS.0);
        self.advance_concurrently(marks, &Stop::after(looks as u64), &mut Helpers::default())
    }

    /// Notes what mutators overwrote before anything moves in this pause, for a collector whose
    /// barriers note closures that may move. Returns the trace, and the results.
    pub fn note_overwritten<A, M: Marks>(mut self, pause: &mut Pause<'_, A>, marks: &M) -> (SlicedTrace, Marked) {
        let Some(keys) = self.keys.take() else {
            return self.mark_overwritten(pause, marks);
        };
        let (mut trace, marked) = self.mark_overwritten(pause, &awaiting(marks, &keys));
        trace.keys = Some(keys);
        (trace, marked)
    }

    fn mark_overwritten<A, M: Marks>(self, pause: &mut Pause<'_, A>, marks: &M) -> (SlicedTrace, Marked) {
        let mut marker = Marker::resume(*self.grey, marks);
        marker.set_budget(BETWEEN_LOOKS);
        if !mutant!("concurrent/noted-too-late") {
            marker.overwritten(pause.capabilities);
        }
        let (marked, grey) = marker.interrupt();
        (
            SlicedTrace {
                grey: Box::new(grey),
                ..self
            },
            marked,
        )
    }

    /// Whether nothing is left to trace, except from finalisers and what mutators overwrote.
    pub fn is_dry(&self) -> bool {
        self.grey.is_empty() && self.has_prescanned && self.keys.as_ref().is_none_or(|keys| keys.is_dry())
    }

    /// Gives the trace up: turns the barriers off, and forgets what they noted.
    pub fn abandon<A>(self, pause: &mut Pause<'_, A>) {
        pause.roots.abandon_trace_in_slices();
        <SnapshotBarrier>::set_marking(pause.capabilities, mutant!("concurrent/abandoned-barrier-on"));
        let capabilities = pause.capabilities.iter().filter(|_| !mutant!("concurrent/notes-kept"));
        capabilities.for_each(|capability| capability.overwritten().take(|_| ()));
    }

    /// Continues for about `budget` words of work ([`Marked::work`]). If nothing is left, makes
    /// finalisers ready, updates weak handles and turns the barriers off; whatever is unmarked then
    /// is garbage. Returns the rest of the trace, `None` if it is over, and the results of this
    /// slice.
    ///
    /// If the nursery is not empty, young closures count as marked in `marks`
    /// ([`SnapshotMarks`](crate::space::SnapshotMarks)), since they are new. Slots that are remembered then
    /// are of closures that live: a program that wrote them after the trace began could reach them.
    pub fn advance<A, M: Marks>(
        mut self,
        pause: &mut Pause<'_, A>,
        marks: &M,
        budget: Words,
    ) -> (Option<SlicedTrace>, Marked) {
        let Some(keys) = self.keys.take() else {
            return self.mark(pause, marks, None, budget);
        };
        let (left, marked) = self.mark(pause, &awaiting(marks, &keys), Some(&keys), budget);
        let with_keys = |trace| SlicedTrace {
            keys: Some(keys),
            ..trace
        };
        (left.map(with_keys), marked)
    }

    fn mark<A, M: Marks>(
        self,
        pause: &mut Pause<'_, A>,
        marks: &M,
        keys: Option<&AwaitedKeys<u64>>,
        budget: Words,
    ) -> (Option<SlicedTrace>, Marked) {
        let mut finalised = self.finalised;
        let roots = pause.roots.of_doubtful();
        let mut marker = Marker::resume(*self.grey, marks);
        marker.set_budget(budget);
        let mut progress = marker.trace_some();
        if progress == Progress::Done {
            // Most of them are marked by now. If they came before the others, they might fill the
            // mark stack.
            marker.overwritten(pause.capabilities);
            progress = marker.trace_some();
        }
        let mut next_ephemeron = self.next_ephemeron;
        while progress == Progress::Done {
            if find_values(&mut marker, keys) > 0 {
                progress = marker.trace_some();
            } else if let (Some(next), Some(keys)) = (next_ephemeron, keys) {
                next_ephemeron = see_ephemerons(&self.handles, next, marks, keys);
            } else {
                // Of keys that the program reached after they were seen.
                trace_values(&mut marker, roots);
                break;
            }
        }
        pause.events.phase(Phase::HeapTraced);
        if progress == Progress::Done && !finalised {
            finalised = true;
            if let Some(ready) = roots.finalise_first(|slot| marker.lives(slot)) {
                if !mutant!("sliced/finalised-not-traced") {
                    ready.for_each(|slot| marker.root(slot));
                }
                progress = marker.trace_some();
                if progress == Progress::Done {
                    trace_values(&mut marker, roots);
                }
                pause.events.phase(Phase::FinalisersTraced);
            }
            roots.ring_among_finalisers();
        }
        if progress == Progress::More && mutant!("sliced/last-too-early") {
            roots.finalise_last(|slot| marker.lives(slot));
        }
        if progress == Progress::More && mutant!("concurrent/weak-too-early") {
            marker.weak_handles(roots);
        }
        if progress == Progress::Done {
            marker.weak_handles(roots);
            roots.clear_ephemerons(|slot| marker.lives(slot));
            roots.finalise_last(|slot| marker.lives(slot));
            roots.end_trace_in_slices();
            <SnapshotBarrier>::set_marking(pause.capabilities, mutant!("concurrent/barrier-left-on"));
            pause.events.phase(Phase::WeakProcessed);
        }
        let (marked, grey) = marker.interrupt();
        let is_over = progress == Progress::Done || mutant!("concurrent/ended-early");
        let left = (!is_over).then_some(SlicedTrace {
            grey: Box::new(grey),
            next_ephemeron,
            finalised,
            ..self
        });
        (left, marked)
    }
}
