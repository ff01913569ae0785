//! The slide: workers move closures to their places, and update slots on the way.
//!
//! The same code serves one worker and several. Slices of handles and of large objects come first,
//! then the chunks of each lane, by address ([`Turns`]). If a worker claims a chunk whose closures
//! go to chunks that other workers have not left yet, it does not just wait: it updates the chunk's
//! slots in place, which is most of the work, and moves the closures unchanged afterwards. So
//! workers can share even the slide of a dense heap, in which each chunk's closures go to the chunk
//! before it. A single worker never needs to.

use super::plan::PlannedLane;
use super::turns::Turns;
use crate::closure::{ClosureRef, Slot, SlotRange, VARIABLE};
use crate::heap::LargeObject;
use crate::space::{Chunk, ENTRY, ENTRY_BYTES, LiveView};
use crate::stats::{Shared, Sharing};
use crate::trace::marker::SHARE_AFTER;
use crate::words::{Addr, Words};
use crate::workers::{ParallelPhase, Tracer, WorkQueue, Workers};
use std::ops::{AddAssign, Range};

/// More pointer-free words than this are moved by a call.
const MANY: usize = 16;

/// Slots of handles or of a large object in one unit: as many as a chunk has words. Fewer in test
/// builds.
const SLICE: usize = if cfg!(debug_assertions) { 64 } else { 4096 };

/// The closures that a worker has slid.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slid {
    /// Words of live closures in chunks.
    pub words: Words,
    /// Of these, words of closures whose address has changed.
    pub moved: Words,
}

impl AddAssign for Slid {
    fn add_assign(&mut self, other: Slid) {
        self.words += other.words;
        self.moved += other.moved;
    }
}

/// Slots of handles, or of a large object.
#[derive(Clone, Copy, Debug)]
struct Slice {
    first: Slot,
    slots: usize,
}

/// One slide: see the module's text.
#[derive(Debug)]
pub(super) struct Slide<'a> {
    slices: Vec<Slice>,
    lanes: &'a [PlannedLane; 2],
    map: LiveView<'a>,
    turns: Turns,
}

impl<'a> Slide<'a> {
    /// The slide of these lanes, and of the slots of handles and of large objects.
    ///
    /// # Safety
    /// Every live closure is in `map`, with its destination, and where it was. `large` are live
    /// large objects, which are not moved. `handles` are slots of roots, and of weak roots that are
    /// null or whose referents live. The mutators are stopped until the slide is dropped, and
    /// nothing else touches the closures and the slots.
    pub(super) unsafe fn new(
        handles: Vec<SlotRange>,
        large: &[LargeObject],
        lanes: &'a [PlannedLane; 2],
        map: LiveView<'a>,
    ) -> Self {
        let slots_of = |large: &LargeObject| {
            // SAFETY: the caller's promise.
            let mut extent = unsafe { ClosureRef(large.start.as_mut_ptr()).extent() };
            if mutant!("compact/last-slice-forgotten") {
                extent.slots = extent.slots.saturating_sub(SLICE);
            }
            SlotRange::new(Slot(extent.first), extent.slots)
        };
        let handles = handles.into_iter().flat_map(|slots| {
            slots
                .slices(SLICE)
                .skip(usize::from(mutant!("weak/slide-forgets-a-slice")))
        });
        let slices: Vec<Slice> = handles
            .chain(large.iter().flat_map(|large| slots_of(large).slices(SLICE)))
            .map(|slots| Slice {
                first: slots.first(),
                slots: slots.len(),
            })
            .collect();
        let units = slices.len() + lanes.iter().map(|lane| lane.chunks.len()).sum::<usize>();
        Slide {
            slices,
            lanes,
            map,
            turns: Turns::new(units),
        }
    }

    /// Slides with one worker, or with `workers` if there is enough to share.
    pub(super) fn run(&self, workers: Option<&mut Workers<'_>>) -> (Slid, Shared) {
        let live: usize = self.lanes.iter().map(|lane| lane.words.0).sum();
        let slots: usize = self.slices.iter().map(|slice| slice.slots).sum();
        let Some(workers) = workers.filter(|_| Words(live + slots) >= SHARE_AFTER) else {
            return (self.work(), Shared::default());
        };
        let slider = || Slider {
            slide: self,
            slid: Slid::default(),
        };
        let phase = ParallelPhase::new(workers, Vec::new(), |queue| {
            (1..workers.count()).for_each(|_| queue.push(CallForHelp));
            (0..workers.count()).map(|_| slider()).collect()
        });
        let (sliders, mut threads, parallel_ns) = phase.run(workers);
        let mut all = Slid::default();
        for (slider, figures) in sliders.iter().zip(&mut threads) {
            all += slider.slid;
            figures.copied = slider.slid.words.to_bytes().0 as u64;
        }
        let shared = Shared {
            sharing: Sharing::Balanced,
            threads,
            parallel_ns,
        };
        (all, shared)
    }

    /// Does units until all are claimed.
    fn work(&self) -> Slid {
        // SAFETY: `new`'s caller promises that the plan is whole and that nothing else touches the
        // closures.
        unsafe { slide_with_popcnt(self) }
    }

    /// The chunk of this number, counting all lanes, and the earlier units that its closures go to.
    #[inline(always)]
    fn chunk(&self, number: usize) -> (Chunk, Range<usize>) {
        let [scanned, flat] = self.lanes;
        let first_flat = scanned.chunks.len();
        let (lane, first) = if number < first_flat {
            (scanned, 0)
        } else {
            (flat, first_flat)
        };
        let into = lane.into[number - first].clone();
        let first_unit = self.slices.len() + first;
        let before =
            (first_unit + into.start as usize)..(first_unit + into.end as usize).min(self.slices.len() + number);
        (lane.chunks[number - first], before)
    }
}

/// The work item of a slide: the worker that takes it claims units, like the others.
#[derive(Debug)]
struct CallForHelp;

/// One worker of a slide.
struct Slider<'a> {
    slide: &'a Slide<'a>,
    slid: Slid,
}

// SAFETY: what it refers to belongs to a stopped world, and workers take turns in it (`Turns`).
unsafe impl Tracer for Slider<'_> {
    type Item = CallForHelp;
    type Task = ();

    fn trace_shared(&mut self, _: Option<CallForHelp>, queue: WorkQueue<'_, CallForHelp>) {
        self.slid += self.slide.work();
        // Calls that no worker has answered: nothing is left to help with.
        while queue.pop().is_some() {}
    }

    fn begin(&mut self, (): &()) {}
}

/// Makes a slot point to where its referent goes.
///
/// # Safety
/// The slot is a live one of a stopped world, which no other thread uses. It is null, or its
/// referent is marked and planned.
#[inline(always)]
pub(super) unsafe fn update(slot: Slot, map: LiveView<'_>) {
    // SAFETY: the caller's promise.
    unsafe {
        let closure = slot.load();
        if !closure.is_null() {
            slot.store(map.forward(closure));
        }
    }
}

/// [`slide_units`] with the machine's popcount instruction, if it has one. Each slot takes one
/// count, and the baseline target lacks the instruction.
///
/// # Safety
/// As for [`slide_units`].
unsafe fn slide_with_popcnt(slide: &Slide<'_>) -> Slid {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        /// # Safety
        /// As for [`slide_units`], and the machine has the instruction.
        #[target_feature(enable = "popcnt")]
        unsafe fn with_popcnt(slide: &Slide<'_>) -> Slid {
            // SAFETY: passed on.
            unsafe { slide_units(slide) }
        }
        // SAFETY: the machine has the instruction; the rest is passed on.
        return unsafe { with_popcnt(slide) };
    }
    // SAFETY: passed on.
    unsafe { slide_units(slide) }
}

/// Claims units and does them until none is left.
///
/// # Safety
/// As for [`Slide::new`].
#[inline(always)]
unsafe fn slide_units(slide: &Slide<'_>) -> Slid {
    let map = slide.map;
    let mut slid = Slid::default();
    while let Some(unit) = slide.turns.claim() {
        if let Some(slice) = slide.slices.get(unit) {
            for slot in SlotRange::new(slice.first, slice.slots) {
                // SAFETY: a slot of a root or of a live large object, in a unit of this worker.
                unsafe { update(slot, map) };
            }
        } else {
            let (chunk, into) = slide.chunk(unit - slide.slices.len());
            // SAFETY: the chunk is this worker's, and its closures go to chunks that have been
            // left, or to where closures of the chunk were that have been moved.
            slid += unsafe {
                if slide.turns.have_left(into.clone()) || mutant!("compact/slid-too-early") {
                    slide_chunk::<true>(chunk, map)
                } else {
                    if !mutant!("compact/waits-without-update") {
                        update_chunk(chunk, map);
                    }
                    slide.turns.wait_for(into);
                    slide_chunk::<false>(chunk, map)
                }
            };
        }
        slide.turns.leave(unit);
    }
    slid
}

/// Calls `visit` for each live closure of a chunk, with its destination. `visit` returns its size.
#[inline(always)]
pub(super) fn for_each_live(chunk: Chunk, map: LiveView<'_>, mut visit: impl FnMut(ClosureRef, ClosureRef) -> Words) {
    let mut at = chunk.run.start();
    while at < chunk.end {
        let (mut bits, _, to) = map.beginning(at);
        let mut to = ClosureRef(to.as_mut_ptr());
        while bits != 0 {
            let first = bits.trailing_zeros() as usize;
            let words = visit(ClosureRef(Addr(at.0 + first * 8).as_mut_ptr()), to);
            to = ClosureRef(to.0.wrapping_add(words.0));
            let behind = first + words.0;
            bits = if behind < ENTRY { bits >> behind << behind } else { 0 };
        }
        at.0 += ENTRY_BYTES;
    }
}

/// Updates the slots of a chunk's closures in place.
///
/// # Safety
/// As for [`Slide::new`]; no other worker has claimed the chunk, and none writes to it.
#[inline(always)]
unsafe fn update_chunk(chunk: Chunk, map: LiveView<'_>) {
    for_each_live(chunk, map, |closure, _| {
        // SAFETY: live closures start where bits start, in order. Their slots are this worker's.
        unsafe {
            let extent = closure.extent();
            for slot in extent.slots() {
                update(slot, map);
            }
            extent.words
        }
    });
}

/// Moves the closures of a chunk. Updates their slots if that is still to be done.
///
/// # Safety
/// As for [`Slide::new`]; no other worker has claimed the chunk. Its closures go to chunks that
/// have been left, or to lower addresses in the chunk.
#[inline(always)]
unsafe fn slide_chunk<const UPDATE: bool>(chunk: Chunk, map: LiveView<'_>) -> Slid {
    let mut slid = Slid::default();
    for_each_live(chunk, map, |closure, to| {
        // SAFETY: live closures start where bits start, in order.
        let words = unsafe { slide_closure::<UPDATE>(closure, to, map) };
        slid.words += words;
        slid.moved.0 += if to == closure { 0 } else { words.0 };
        words
    });
    slid
}

/// Moves a closure to `to`, with its slots updated if that is still to be done. Returns its size.
///
/// # Safety
/// A closure is at `closure`, whose referents are marked and planned. `to` is in an earlier chunk,
/// or not at a higher address. Closures that this overwrites have been moved.
#[inline(always)]
unsafe fn slide_closure<const UPDATE: bool>(closure: ClosureRef, to: ClosureRef, map: LiveView<'_>) -> Words {
    // SAFETY: the caller's promise. Words are read before anything is written at or after them,
    // since `to` is in another chunk, or not after the closure.
    unsafe {
        let to = to.0;
        let header = closure.header();
        let extent = closure.extent_from(header);
        let words = extent.words.0;
        to.write(header.0);
        let mut done = 1;
        if header.words() == VARIABLE {
            to.add(1).write(closure.0.add(1).read());
            done = 2;
        }
        let slots_end = if UPDATE { done + extent.slots } else { done };
        while done < slots_end {
            let referent = Slot(closure.0.add(done)).load();
            let moved = if referent.is_null() {
                referent
            } else {
                map.forward(referent)
            };
            Slot(to.add(done)).store(moved);
            done += 1;
        }
        if words - done > MANY {
            std::ptr::copy(closure.0.add(done), to.add(done), words - done);
        } else {
            while done < words {
                // Volatile, since the compiler would turn the loop into a call, for a word or two.
                to.add(done).write_volatile(closure.0.add(done).read_volatile());
                done += 1;
            }
        }
        extent.words
    }
}
