//! Weak handles after tracing: each is updated if its closure lives, and cleared if not.
//!
//! The slots of weak handles are contiguous in the heap's table. With load balancing, workers share
//! them if there are at least [`SHARE_FROM`]: a work item is a slice of the table. Slices do not
//! overlap, and no worker writes a closure, so workers are independent. Without load balancing one
//! thread does all of them, since they belong to no capability. Named weak roots are few, and
//! always left to the leader.
//!
//! The order in which slots are visited does not matter: it has no effect on a closure, and a
//! program cannot see it.

use crate::block::StateView;
use crate::closure::{ClosureRef, Slot, SlotRange};
use crate::prefetch::{PrefetchRing, prefetch_line};
use crate::roots::Roots;
use crate::roots::handles::Strength;
use crate::space::Marks;
use crate::stats::{Shared, Sharing};
use crate::workers::{ParallelPhase, Tracer, WorkQueue, Workers};

/// The number of weak-handle slots that makes waking workers worthwhile: with half as many, two
/// threads took as long as one, or longer (`collectors/benches/weak.rs`). Fewer in test builds.
const SHARE_FROM: usize = 1 << if cfg!(debug_assertions) { 7 } else { 17 };

/// Slots in one work item. Fewer in test builds.
const SLICE: usize = if cfg!(debug_assertions) { 64 } else { 4096 };

/// Slots between the prefetch of a referent and the update of its slot.
const QUEUED_SLOTS: usize = 16;

/// The result of a trace for single closures: whether a closure lives, and where.
pub(super) trait Survivors: Copy + Send {
    /// Whether a slot that holds `closure` needs no work: it is null, or was not collected. Does
    /// not read the closure. (In a minor collection most closures of weak handles are old.)
    fn is_settled(self, closure: ClosureRef) -> bool;

    /// Prefetches the words that [`Survivors::find`] reads.
    fn prefetch(self, closure: ClosureRef);

    /// Returns where `closure` is now, or `None` if it is dead.
    ///
    /// # Safety
    /// The trace is over. A closure was at this address before it, which is not
    /// [settled](Survivors::is_settled).
    unsafe fn find(self, closure: ClosureRef) -> Option<ClosureRef>;
}

/// After copying: a closure in a condemned block lives if it is forwarded.
impl Survivors for StateView {
    #[inline(always)]
    fn is_settled(self, closure: ClosureRef) -> bool {
        !self.of(closure.addr()).is_condemned()
    }

    #[inline(always)]
    fn prefetch(self, closure: ClosureRef) {
        prefetch_line(closure.addr());
    }

    #[inline(always)]
    unsafe fn find(self, closure: ClosureRef) -> Option<ClosureRef> {
        // SAFETY: the caller's promise; from-space exists until the collection ends.
        let forwarded = unsafe { closure.header() }.forwarded_to();
        mutant!("copy/weak-handle-kept", forwarded => forwarded.or(Some(closure)))
    }
}

/// After marking: a closure lives, where it is, if it is marked.
impl<M: Marks> Survivors for &M {
    #[inline(always)]
    fn is_settled(self, closure: ClosureRef) -> bool {
        closure.is_null()
    }

    #[inline(always)]
    fn prefetch(self, closure: ClosureRef) {
        Marks::prefetch(self, closure.addr());
    }

    #[inline(always)]
    unsafe fn find(self, closure: ClosureRef) -> Option<ClosureRef> {
        (self.is_marked(closure.addr()) || mutant!("mark/weak-kept")).then_some(closure)
    }
}

/// After marking with moves: a closure lives if it is forwarded, or marked where it is.
#[derive(Debug)]
pub(super) struct Moved<'m, M>(pub(super) &'m M);

impl<M> Clone for Moved<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Moved<'_, M> {}

impl<M: Marks> Survivors for Moved<'_, M> {
    #[inline(always)]
    fn is_settled(self, closure: ClosureRef) -> bool {
        closure.is_null()
    }

    #[inline(always)]
    fn prefetch(self, closure: ClosureRef) {
        prefetch_line(closure.addr());
        Survivors::prefetch(self.0, closure);
    }

    #[inline(always)]
    unsafe fn find(self, closure: ClosureRef) -> Option<ClosureRef> {
        // SAFETY: the caller's promise; no memory is freed before the collection ends.
        unsafe {
            let copy = closure
                .header()
                .forwarded_to()
                .filter(|_| !mutant!("evacuate/weak-cleared"));
            copy.or_else(|| self.0.find(closure))
        }
    }
}

/// Updates the weak slots whose referents live, and clears the others: with `workers` if there are
/// enough slots to share. Returns how they were shared.
///
/// # Safety
/// The trace that produced `survivors` is over.
pub(super) unsafe fn update(roots: Roots<'_>, survivors: impl Survivors, workers: Option<&mut Workers<'_>>) -> Shared {
    let handles = roots.handles();
    // SAFETY: slots of a stopped world, which no other thread uses; the caller's promise.
    handles.for_each_weak_heap_root(|slot| unsafe { update_slot(slot, survivors) });
    let visited = roots.visited();
    // SAFETY: as above.
    unsafe {
        let others = handles.visit_handles(Strength::Weak, visited, |slot| update_slot(slot, survivors));
        update_shared(others, survivors, workers)
    }
}

/// Updates `slots` with `workers`, if there are enough to share.
///
/// # Safety
/// As for [`update_range`].
unsafe fn update_shared(slots: SlotRange, survivors: impl Survivors, workers: Option<&mut Workers<'_>>) -> Shared {
    let Some(workers) = workers.filter(|workers| workers.is_balanced() && slots.len() >= SHARE_FROM) else {
        // SAFETY: passed on.
        unsafe { update_range(slots, survivors) };
        return Shared::default();
    };
    let phase = ParallelPhase::new(workers, Vec::new(), |queue| {
        let skipped = usize::from(mutant!("weak/slice-forgotten"));
        slots.slices(SLICE).skip(skipped).for_each(|slice| queue.push(slice));
        (0..workers.count()).map(|_| Updater(survivors)).collect()
    });
    let (_, threads, parallel_ns) = phase.run(workers);
    Shared {
        sharing: Sharing::Balanced,
        threads,
        parallel_ns,
    }
}

/// One worker of a shared update.
struct Updater<S>(S);

// SAFETY: it may be sent, and nothing in it depends on the thread.
unsafe impl<S: Survivors> Tracer for Updater<S> {
    type Item = SlotRange;
    type Task = ();

    fn trace_shared(&mut self, item: Option<SlotRange>, queue: WorkQueue<'_, SlotRange>) {
        let stolen = item.filter(|_| !mutant!("weak/stolen-slice-forgotten"));
        for slots in stolen.into_iter().chain(std::iter::from_fn(|| queue.pop())) {
            // SAFETY: a slice belongs to the worker that has taken it. The rest is the promise of
            // `update_shared`'s caller.
            unsafe { update_range(slots, self.0) };
        }
    }

    fn begin(&mut self, (): &()) {}
}

/// Updates `slots`.
///
/// # Safety
/// They are weak slots of a stopped world, which no other thread uses. The trace that produced
/// `survivors` is over.
unsafe fn update_range(slots: SlotRange, survivors: impl Survivors) {
    let mut ring = PrefetchRing::<Slot, QUEUED_SLOTS>::new();
    for slot in slots {
        // SAFETY: the caller's promise.
        unsafe {
            let closure = slot.load();
            if survivors.is_settled(closure) {
                continue;
            }
            survivors.prefetch(closure);
            if let Some(slot) = ring.push(slot) {
                update_slot(slot, survivors);
            }
        }
    }
    while let Some(slot) = ring.pop_oldest() {
        // SAFETY: the caller's promise.
        unsafe { update_slot(slot, survivors) };
    }
}

/// Updates one slot.
///
/// # Safety
/// As for [`update_range`].
#[inline(always)]
unsafe fn update_slot(slot: Slot, survivors: impl Survivors) {
    // SAFETY: the caller's promise. A weak slot holds null or a closure; null may be stored.
    unsafe {
        if !lives(slot, survivors) {
            slot.store(ClosureRef(std::ptr::null_mut()));
        }
    }
}

/// Whether the slot's closure is live (true for a null slot). Updates the slot if so.
///
/// # Safety
/// As for [`update_range`].
#[inline(always)]
pub(super) unsafe fn lives(slot: Slot, survivors: impl Survivors) -> bool {
    // SAFETY: the caller's promise. A weak slot holds null or a closure.
    unsafe {
        let closure = slot.load();
        if survivors.is_settled(closure) {
            return true;
        }
        let Some(now) = survivors.find(closure) else {
            return false;
        };
        if now != closure {
            slot.store(now);
        }
        true
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;
    use crate::workers::GcThreads;

    /// Every third closure is dead, and the others have moved by a word.
    #[derive(Clone, Copy)]
    struct Thirds;

    impl Survivors for Thirds {
        fn is_settled(self, closure: ClosureRef) -> bool {
            closure.is_null()
        }

        fn prefetch(self, _: ClosureRef) {}

        unsafe fn find(self, closure: ClosureRef) -> Option<ClosureRef> {
            let number = closure.addr().0 / 16;
            (!number.is_multiple_of(3)).then(|| ClosureRef(closure.0.wrapping_add(1)))
        }
    }

    /// Enough slots that the other workers wake in time to steal some.
    const MANY: usize = if cfg!(miri) { 1 << 9 } else { 1 << 18 };

    #[test]
    fn each_slot_is_visited_once_by_any_number_of_workers() {
        let mut gc_threads = GcThreads::default();
        let sizes = [
            (0, 2),
            (5, 2),
            (SHARE_FROM - 1, 2),
            (SHARE_FROM, 2),
            (MANY, 2),
            (MANY + 7, 3),
            (MANY + 7, 3),
        ];
        for (count, workers) in sizes {
            // Every fifth slot is vacant.
            let before: Vec<u64> = (1..=count as u64)
                .map(|n| if n.is_multiple_of(5) { 0 } else { n * 16 })
                .collect();
            let mut words = before.clone();
            let slots = SlotRange::new(Slot(words.as_mut_ptr()), count);
            let mut workers = Workers::balanced(&mut gc_threads, workers);
            // SAFETY: the slots are this test's, and `Thirds` reads no closure.
            let shared = unsafe { update_shared(slots, Thirds, Some(&mut workers)) };
            let expected = |&word: &u64| {
                let dead = word == 0 || (word / 16).is_multiple_of(3);
                if dead { 0 } else { word + 8 }
            };
            assert!(words.iter().copied().eq(before.iter().map(expected)), "{count} slots");
            let threads = if count < SHARE_FROM { 0 } else { workers.count() };
            assert_eq!(
                (shared.sharing.is_parallel(), shared.threads.len()),
                (threads > 0, threads)
            );
        }
    }
}
