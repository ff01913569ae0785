//! Marking: finds live closures, and leaves them where they are or moves them.
//!
//! The marks are in a table ([`Marks`]) that belongs to the collector. [`mark_loop`] does the work.
//! With a [`Destination`] closures of condemned blocks move in the same pass ([`mover`]).
//!
//! **Memory is bounded.** The heap reserves 16 KiB for mark stacks. Beyond that they may take a
//! 64th of its memory, or 64 KiB if that is more. When a stack is full, or the system refuses
//! memory for it, spans are dropped and marked closures are scanned again, whatever the shape of
//! the heap. With debug assertions the bound is much smaller, so that tests exercise this all the
//! time.
//!
//! **It may stop and resume.** A thread that marks alone may have a budget
//! ([`Marker::set_budget`]). Once that is used up, what is left to scan is a value ([`Grey`]), from
//! which another marker resumes in a later pause.
//!
//! `-DS` checks this: an unmarked referent of a marked closure shows up as a pointer to where no
//! closure starts.

mod dropped;
mod grey;
mod mark_loop;
mod mover;
mod relocation;
mod span_stack;

pub use grey::Grey;
pub use relocation::relocate;

use super::drained::{Drained, Progress, UNBOUNDED};
use super::ephemerons::{AwaitedKeys, Awaiting};
use super::order::{RememberedTracing, Tracing};
use super::weak::{self, Moved};
use crate::capability::{Capabilities, Capability};
use crate::cause::Outcome;
use crate::closure::{ClosureRef, Slot};
use crate::heap::Heap;
use crate::overwritten::NoteQueue;
use crate::prefetch::prefetch_line;
use crate::profile::SideWords;
use crate::roots::{RootSlot, Roots};
use crate::space::{Destination, InPlace, Marks};
use crate::stats::{Counted, Cycle, Shared, Sharing, Work};
use crate::sync::Arc;
use crate::words::{Addr, Bytes, Words};
use crate::workers::{ParallelPhase, Stop, Workers};
use dropped::Dropped;
use grey::Left;
use mark_loop::MarkLoop;
use mover::Mover;
use span_stack::{FIRST, SpanStack, StackPool};

/// Words marked by one thread, or live words to slide, after which workers are woken: 256 KiB, as
/// in copying.
pub(super) const SHARE_AFTER: Words = Words(if cfg!(debug_assertions) { 1 << 7 } else { 1 << 15 });

/// Remembered slots between the prefetch of a slot and its use.
const SLOTS_AHEAD: usize = 16;

/// A marking in progress. Closures move to `D`, unless that is [`InPlace`].
#[derive(Debug)]
pub struct Marker<'m, M, D: Destination = InPlace> {
    marks: &'m M,
    /// The mark loop of the collecting thread.
    first: MarkLoop<'m, M, D>,
    pool: Arc<StackPool>,
    /// What earlier markers left.
    left: Left,
    workers: Option<Workers<'m>>,
    /// The results of the other workers, and how the work was shared.
    marked: Marked,
}

/// The results of a marking.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marked {
    /// How many closures were marked.
    pub closures: u64,
    /// The words of these closures.
    pub words: Words,
    /// Of these, words of large objects.
    pub large: Words,
    /// Of these, words of closures that moved.
    pub moved: Words,
    /// The work that one thread did, in words: of the closures that it marked, or for large objects
    /// of the slots that it scanned. Budgets are in these words.
    pub work: Words,
    /// The numbers that workers counted for the collection's record.
    pub counted: Counted,
    /// Peak memory of the mark stacks, beyond the room that each starts with.
    pub stack: Bytes,
    /// How workers shared the work. The bytes that each *copied* are those that it marked.
    pub shared: Shared,
}

/// Words of closures, which a collector adds up over a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// All of them.
    pub words: Words,
    /// Of these, words of large objects.
    pub large: Words,
}

impl Amount {
    /// Bytes of all of them.
    pub fn bytes(self) -> Bytes {
        self.words.to_bytes()
    }
}

impl From<&Marked> for Amount {
    fn from(marked: &Marked) -> Self {
        Amount {
            words: marked.words,
            large: marked.large,
        }
    }
}

impl std::ops::SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        self.words -= other.words;
        self.large -= other.large;
    }
}

impl std::ops::AddAssign<&Marked> for Amount {
    fn add_assign(&mut self, marked: &Marked) {
        self.words += marked.words;
        self.large += marked.large;
    }
}

impl<'m, M: Marks> Marker<'m, M> {
    /// Starts marking in `marks`. A closure whose mark is already set counts as marked: it is
    /// neither scanned nor in the results. So a collector that condemned every space marks
    /// everything live; one that kept the marks of old closures (*sticky* marks) marks the young
    /// ones, and must trace the slots of old closures that were written since
    /// ([`RememberedTracing`](super::RememberedTracing)). Both are part of the collector's promise
    /// (the safety of [`Collector`](crate::collector::Collector)).
    pub fn new(heap: &Heap, marks: &'m M) -> Self {
        Marker::moving(heap, marks, &InPlace)
    }
}

impl<'m, M: Marks, D: Destination> Marker<'m, M, D> {
    /// Starts marking in `marks` like [`Marker::new`], and moving closures to `destination`: those
    /// in condemned blocks, except large objects, as long as there is room. Every slot that points
    /// to one is updated, and a copy has a mark. A closure of a condemned block that has a mark
    /// stayed, and has a bit in its header, too, which [`LineSpace`](crate::space::LineSpace)
    /// clears after the marking. Slots of old closures that keep their marks must be remembered if
    /// they point into a condemned block.
    pub fn moving(heap: &Heap, marks: &'m M, destination: &'m D) -> Self {
        Marker::within(Grey::most(heap), heap, marks, destination)
    }

    /// Marks with at most `most` memory for mark stacks.
    fn within(most: Bytes, heap: &Heap, marks: &'m M, destination: &'m D) -> Self {
        let side_words = heap.side_words().cloned();
        Marker::going_on(Grey::within(most, heap), side_words, marks, destination)
    }

    /// Continues with what is grey.
    fn going_on(grey: Grey, side_words: Option<Arc<SideWords>>, marks: &'m M, destination: &'m D) -> Self {
        let Grey {
            stack,
            left,
            dropped,
            pool,
            states,
        } = grey;
        // SAFETY: a collector calls this in a pause, or concurrently as `resume` says, with marks
        // at closures only (`unsafe trait Collector`).
        let mut first = unsafe { MarkLoop::new(marks, Mover::new(states, side_words, destination), stack) };
        first.dropped = dropped;
        Marker {
            marks,
            first,
            pool,
            left,
            workers: None,
            marked: Marked::default(),
        }
    }

    /// From now on `workers` may help. Marking is shared with load balancing or not at all: no part
    /// of it belongs to a worker.
    pub fn share_with(&mut self, workers: Workers<'m>) {
        self.marked.shared.sharing = match workers.sharing_so_far() {
            so_far @ (Sharing::Younger | Sharing::TooLittle) if workers.is_balanced() || !workers.has_helpers() => {
                so_far
            }
            _ => Sharing::Alone,
        };
        self.workers = Some(workers).filter(Workers::is_balanced);
        if let Some(workers) = &self.workers {
            self.pool.share_between(workers.count());
            self.first.share_at = SHARE_AFTER;
        }
    }

    /// Wakes the workers, and marks with them until nothing is left except closures that were
    /// dropped.
    #[cold]
    #[inline(never)]
    fn share(&mut self) {
        let Some(workers) = &mut self.workers else {
            unreachable!("nothing is worth sharing without workers to share it with");
        };
        let (marks, pool, first) = (self.marks, &self.pool, &mut self.first);
        let beside = |first: &MarkLoop<'m, M, D>| {
            let stack = SpanStack::new(FIRST, Arc::clone(pool));
            // SAFETY: as in `within`.
            let mut another = unsafe { MarkLoop::new(marks, first.mover.another(), stack) };
            another.stop = first.stop;
            another
        };
        let phase = ParallelPhase::new(workers, Vec::new(), |queue| {
            first.share::<false>(queue);
            let absent = beside(first);
            let leader = std::mem::replace(first, absent);
            let others: Vec<_> = (1..workers.count()).map(|_| beside(&leader)).collect();
            std::iter::once(leader).chain(others).collect()
        });
        let (loops, figures, parallel_ns) = phase.run(workers);
        let shared = &mut self.marked.shared;
        shared.sharing = Sharing::Balanced;
        shared.parallel_ns += parallel_ns;
        shared.threads.resize(figures.len(), Default::default());
        for (number, (mut marker, figures)) in loops.into_iter().zip(figures).enumerate() {
            let sum = &mut self.marked.shared.threads[number];
            *sum += &figures;
            self.left.spans.append(&mut marker.left);
            if number == 0 {
                *first = marker;
                continue;
            }
            marker.mover.leave();
            sum.copied += marker.words.to_bytes().0 as u64;
            self.marked.add(&marker);
            if !mutant!("shared/dropped-by-others") {
                first.dropped.join(marker.dropped);
            }
            while let Some(span) = marker.stack.pop() {
                if let Err(span) = first.stack.push(span) {
                    self.left.spans.push(span);
                    self.left.stacks.push(marker.stack);
                    break;
                }
            }
        }
        // A rescan may find as much again.
        first.share_at = first.words + SHARE_AFTER;
    }

    /// Ends the marking, and returns its results.
    pub fn finish(self) -> Marked {
        debug_assert!(
            self.first.stack.len() == 0 && self.left.is_empty() && self.first.dropped.is_none(),
            "marking is not over"
        );
        self.results()
    }

    fn results(mut self) -> Marked {
        self.first.mover.leave();
        self.marked.counted += self.first.counted;
        if let Some(thread) = self.marked.shared.threads.first_mut() {
            thread.copied = self.first.words.to_bytes().0 as u64;
        }
        Marked {
            closures: self.marked.closures + self.first.closures,
            words: self.marked.words + self.first.words,
            large: self.marked.large + self.first.large,
            moved: self.marked.moved + self.first.mover.moved,
            work: self.first.work(),
            counted: self.marked.counted,
            stack: self.pool.taken(),
            shared: self.marked.shared,
        }
    }
}

impl<'m, M: Marks> Marker<'m, M> {
    /// Resumes a marking that was [interrupted](Marker::interrupt), with the same marks: in a pause,
    /// or on the [background thread](crate::workers::BackgroundThread). In between and meanwhile, no
    /// closure that `marks` may mark moves or is freed, and the values that mutators overwrote are
    /// [found](Marker::overwritten) before the marking ends. Both are part of the collector's
    /// promise.
    pub fn resume(grey: Grey, marks: &'m M) -> Self {
        Marker::going_on(grey, None, marks, &InPlace)
    }

    /// From now on one thread marks, and [`Marker::trace_some`] stops after `budget` words of work
    /// ([`Marked::work`]), or a little later.
    pub fn set_budget(&mut self, budget: Words) {
        self.workers = None;
        self.pool.share_between(1);
        self.first.share_at = UNBOUNDED;
        self.first.set_budget(budget);
    }

    /// The same, but once there is enough work, `workers` share it until `stop` is asked for.
    pub(crate) fn share_until(&mut self, workers: Option<Workers<'m>>, stop: &'m Stop) {
        if let Some(workers) = workers {
            self.share_with(workers);
            self.first.stop = Some(stop);
        }
    }

    /// From now on the marking stops after `budget` words of work, unless workers share it.
    pub(crate) fn extend_budget(&mut self, budget: Words) {
        self.first.set_budget(budget);
    }

    /// Marks what is reachable from the closures found so far, as far as the budget goes.
    pub fn trace_some(&mut self) -> Progress {
        self.advance()
    }

    /// Marks the values that mutators overwrote, and those of weak handles that they opened, since
    /// the marking began ([`SnapshotBarrier`](crate::collector::SnapshotBarrier)). Goes further
    /// only where they would fill the mark stack, and the budget is not used up.
    pub fn overwritten<A>(&mut self, capabilities: Capabilities<'_, A>) {
        let most = mutant!("concurrent/one-buffer-taken", usize::MAX => 1);
        let threads = |each: &Capability<'_, A>| each.has_thread() || !mutant!("concurrent/free-not-flushed");
        for capability in capabilities.iter().take(most).filter(threads) {
            capability.overwritten().take(|closure| self.noted(closure));
        }
    }

    /// The same for some of the notes that mutators handed over, while they run.
    pub(crate) fn flushed(&mut self, queue: &NoteQueue) {
        queue.take_chunk(|closure| self.noted(closure));
    }

    pub(super) fn noted(&mut self, closure: ClosureRef) {
        let mut word = closure.0 as u64;
        // SAFETY: a slot of this function, with a closure of the heap: the barrier found it there, and
        // no closure has moved or was freed since.
        unsafe { self.first.found::<false>(Slot(&raw mut word)) };
        if self.first.stack.is_half_full() && !self.first.has_used_budget() {
            self.first.trace::<false>(None);
        }
    }

    /// Whether a slot with this closure need not be visited when the marking ends: the closure is
    /// marked, or new, and will not move.
    pub(crate) fn is_settled(&self, closure: u64) -> bool {
        let at = Addr(closure as usize);
        let stays = |at| !self.first.mover.states.of(at).is_mixed() || mutant!("concurrent/mixed-settled");
        closure == 0 || self.marks.is_marked(at) && stays(at)
    }

    /// Closures that were marked since it began or resumed.
    pub(crate) fn closures(&self) -> u64 {
        self.marked.closures + self.first.closures
    }

    /// Interrupts the marking. Returns the results since it started or resumed, and what is left.
    pub fn interrupt(mut self) -> (Marked, Grey) {
        if !mutant!("sliced/ring-not-emptied") {
            self.first.empty_ring::<false>();
        }
        if mutant!("concurrent/span-lost") {
            self.first.stack.pop();
        }
        let pool = Arc::clone(&self.pool);
        let stack = std::mem::replace(&mut self.first.stack, SpanStack::new(FIRST, Arc::clone(&pool)));
        let dropped = mutant!("concurrent/dropped-forgotten", self.first.dropped => Dropped::NONE);
        let states = self.first.mover.states;
        let left = std::mem::take(&mut self.left);
        let grey = Grey {
            stack,
            left,
            dropped,
            pool,
            states,
        };
        (self.results(), grey)
    }
}

impl<M: Marks, D: Destination> Marker<'_, M, D> {
    /// Continues marking when the stack is full: many roots and remembered slots need no more room
    /// than each needs alone.
    #[inline(always)]
    fn drain_full_stack(&mut self) {
        if self.first.stack.is_full() {
            self.first.trace::<false>(None);
        }
    }

    /// Marks everything reachable from the closures found so far, as far as the budget goes.
    fn advance(&mut self) -> Progress {
        loop {
            match self.first.trace::<false>(None) {
                Drained::WorthSharing => self.share(),
                Drained::BudgetUsed => return Progress::More,
                Drained::All if !self.left.is_empty() => self.left.refill(&mut self.first.stack),
                Drained::All if self.first.dropped.is_none() => return Progress::Done,
                Drained::All if self.first.has_used_budget() => return Progress::More,
                Drained::All => self.first.rescan(),
            }
        }
    }
}

impl<M: Marks, D: Destination> Tracing for Marker<'_, M, D> {
    #[inline]
    fn root(&mut self, slot: RootSlot<'_>) {
        // SAFETY: a root of a stopped world holds null or a closure, and no other thread uses it.
        unsafe { self.first.found::<false>(slot.slot()) };
        self.drain_full_stack();
    }

    /// Marks everything reachable from the closures found so far.
    fn trace(&mut self) {
        while self.advance() == Progress::More {
            self.first.set_budget(UNBOUNDED);
        }
    }

    fn trace_from(&mut self, keys: &AwaitedKeys<RootSlot<'_>>) {
        let marks = Awaiting {
            marks: self.marks,
            keys,
            moves: D::MOVES,
        };
        let stack = SpanStack::new(FIRST, Arc::clone(&self.pool));
        // SAFETY: as in `going_on`.
        let mut marker = unsafe { MarkLoop::new(&marks, self.first.mover.another(), stack) };
        marker.mover.exchange_rooms(&mut self.first.mover);
        let mut next = keys.next_root();
        while next.is_some() {
            while let Some(value) = next.filter(|_| !marker.stack.is_full()) {
                // SAFETY: as for `root`.
                unsafe { marker.found::<false>(value.slot()) };
                next = keys.next_root();
            }
            marker.trace::<false>(None);
            while !marker.dropped.is_none() {
                marker.rescan();
                marker.trace::<false>(None);
            }
            next = next.or_else(|| keys.next_root());
        }
        marker.mover.exchange_rooms(&mut self.first.mover);
        self.marked.add(&marker);
    }

    fn lives(&mut self, slot: RootSlot<'_>) -> bool {
        // SAFETY: everything has been marked, and no other thread uses the slot.
        unsafe {
            if D::MOVES && !mutant!("evacuate/finaliser-early") {
                weak::lives(slot.slot(), Moved(self.marks))
            } else {
                weak::lives(slot.slot(), self.marks)
            }
        }
    }

    fn weak_handles(&mut self, roots: Roots<'_>) {
        let workers = self.workers.as_mut();
        // SAFETY: everything has been marked.
        self.marked.shared += unsafe {
            if D::MOVES {
                weak::update(roots, Moved(self.marks), workers)
            } else {
                weak::update(roots, self.marks, workers)
            }
        };
    }
}

impl<M: Marks, D: Destination> RememberedTracing for Marker<'_, M, D> {
    /// Old closures have marks.
    fn spares_old(&self) -> bool {
        true
    }

    /// Traces the referents of the remembered slots, and empties the sets. Slots of closures that
    /// have died count as well: their referents live until the next full collection.
    fn remembered<A>(&mut self, capabilities: Capabilities<'_, A>) {
        if mutant!("mark/remembered-forgotten") {
            return;
        }
        for capability in capabilities.iter() {
            capability.remembered().drain(|_, slots| {
                for (index, &slot) in slots.iter().enumerate() {
                    if let Some(&ahead) = slots.get(index + SLOTS_AHEAD) {
                        prefetch_line(ahead.addr());
                    }
                    // SAFETY: a slot of a closure of the stopped heap that was in place when the
                    // slot was written, and no memory was freed or handed out again since: a
                    // collection empties the sets before it sweeps.
                    unsafe { self.first.found_by_old(slot) };
                    self.drain_full_stack();
                }
            });
        }
    }
}

impl Marked {
    /// Adds what a loop beside the first has marked.
    fn add<M: Marks, D: Destination>(&mut self, marker: &MarkLoop<'_, M, D>) {
        self.closures += marker.closures;
        self.words += marker.words;
        self.large += marker.large;
        self.moved += marker.mover.moved;
        self.counted += marker.counted;
    }

    /// The outcome of a full collection by marking, after which closures occupy blocks of `held`
    /// bytes.
    pub fn outcome(&self, held: Bytes) -> Outcome {
        let live = self.words.to_bytes();
        Outcome {
            in_place: true,
            ..Outcome::from(Work {
                cycle: Cycle::Whole,
                copied: self.moved.to_bytes(),
                live,
                large: self.large.to_bytes(),
                slop: held.saturating_sub(live),
                counted: self.counted,
                shared: self.shared.clone(),
                ..Work::default()
            })
        }
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests;
