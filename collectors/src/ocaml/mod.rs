//! `ocaml`: the memory manager of OCaml 4.14, over closures of GHC's kinds.
//!
//! New closures lie in the *minor heap*, in which mutators allocate by bumping. A minor collection
//! promotes all live closures: there is no ageing. The *major heap* is chunks with closures and
//! free blocks of any size. An allocation policy chooses the free block for each closure that is
//! promoted. A major collection marks the major heap and sweeps it; no closure moves.
//!
//! Words that were allocated in the major heap owe a share of a cycle of marking and sweeping,
//! according to the space overhead (module `pace`). When a whole cycle is owed, it is done at once.
//!
//! Memory at the worst: live data with the space overhead, the minor heap, and as much again, set
//! aside for promotion.

mod major;
mod pace;
mod policy;
mod settings;

pub use pace::{
    Compaction, CustomCharge, CustomRatios, Increment, LEAST_CHUNK, MOST_SHARE, MOST_WINDOW, Owed, Slice, Window,
    chunk_words, overhead_of_factor, share_of, slice_is_due, words_to_mark, words_to_sweep,
};
pub use policy::{BestFit, FirstFit, NextFit, Policy};
pub use settings::Settings;

use gclab_core::block::{BLOCK, OutOfMemory, Region};
use gclab_core::collector::{
    Bump, Capabilities, Capability, Cause, Collect, Collector, Cycle, Description, Due, GenerationalBarrier, NotBegun,
    Outcome, Pause, Refill, Work,
};
use gclab_core::config::Config;
use gclab_core::events::Phase;
use gclab_core::heap::Heap;
use gclab_core::space::Nursery;
use gclab_core::trace::Marked;
use gclab_core::words::{Addr, Bytes, Words};
use major::MajorHeap;

/// A minor heap and a major heap.
#[derive(Debug)]
pub struct Ocaml {
    nursery: Nursery,
    major: MajorHeap,
    settings: Settings,
    window: Window,
    /// The share of a cycle that is owed.
    owed: f64,
    /// Cycles that are over.
    cycles: u64,
    /// Memory is short: the minor heap is smaller than it should be.
    is_urgent: bool,
}

// SAFETY: a minor collection moves all closures of the nursery that roots and remembered slots lead
// to into free blocks; room for them was set aside before. The barrier remembers each slot of an
// old closure that is made to point to a young one. A major collection marks all closures that
// roots lead to, when none is young, and frees only the others.
unsafe impl Collector for Ocaml {
    const DESCRIPTION: Description = Description {
        name: "ocaml",
        summary: "OCaml 4.14's: a minor heap, and mark and sweep in free blocks of any size",
        moves: true,
        parallel: false,
        generations: (2, 2),
        honours: &[settings::HONOURED],
    };
    type Barrier = GenerationalBarrier;

    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory> {
        let settings = Settings::of(config);
        let least = least_area(config.capabilities);
        let nursery = Nursery::new(heap, least, config)?;
        let mut ocaml = Ocaml {
            nursery,
            major: MajorHeap::new(heap, &settings)?,
            window: Window::new(settings.window),
            settings,
            owed: 0.0,
            cycles: 0,
            is_urgent: false,
        };
        ocaml.set_area(heap, least)?;
        Ok(ocaml)
    }
}

/// The least minor heap: a block for each capability.
fn least_area(capabilities: u32) -> Bytes {
    Bytes(BLOCK.0 * capabilities as usize)
}

impl Collect for Ocaml {
    type Alloc = Bump;

    fn refill(&mut self, _: &mut Heap, capability: Capability<'_, Bump>, _: Words) -> Result<Refill, OutOfMemory> {
        Ok(self.nursery.refill(capability))
    }

    fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory> {
        if slice_is_due(self.major.taken().to_words_up(), self.settings.minor_heap.to_words_up()) {
            return Ok(None);
        }
        self.major.allocate_large(heap, words).map(Some)
    }

    fn due(&mut self, cause: Cause, _: Capabilities<'_, Bump>) -> Option<Due> {
        // The words that are promoted may make a cycle due, too: they are not known yet.
        let major = cause.forces_major() || self.is_urgent;
        Some(Due {
            generation: u32::from(major),
            major,
        })
    }

    fn collect(&mut self, pause: &mut Pause<'_, Bump>) -> Result<Outcome, NotBegun> {
        // A program may go on after there was no room for the next promotion. There may be by now;
        // if not, few young closures may live.
        _ = self.major.prepare(pause.heap, self.nursery.size().to_words_up());
        let direct = self.major.taken().to_words_up();
        self.nursery.leave(pause.capabilities);
        pause.events.phase(Phase::Condemned);
        let before = self.major.chunk_words();
        let promoted = self.major.promote(pause);
        self.nursery.reset();
        let fresh = self.nursery.take_fresh(pause.heap);
        self.nursery
            .replace(fresh)
            .into_iter()
            .for_each(|run| pause.heap.free(run));
        self.major.grow_on(pause.heap, &self.settings, before);

        self.note_allocated(direct + promoted.moved);
        let major = pause.due.is_some_and(|due| due.major) || self.owed >= 1.0;
        let marked = major.then(|| self.major.collect(pause));
        pause.events.phase(Phase::Released);
        if major {
            self.owed = 0.0;
            self.cycles += 1;
            if self.is_urgent || pause.cause == Cause::Shortage {
                self.major.shrink_to_the_least(pause.heap);
            } else {
                self.major.shrink(pause.heap, &self.settings, self.cycles);
            }
        }
        let least = least_area(pause.capabilities.iter().len() as u32);
        let exhausted = self.set_area(pause.heap, least).err();
        Ok(Outcome {
            exhausted,
            ..self.outcome(&promoted, marked)
        })
    }

    fn for_each_region(&self, capabilities: Capabilities<'_, Bump>, visit: &mut dyn FnMut(Region)) {
        self.nursery.for_each_region(capabilities, visit);
        self.major.for_each_region(visit);
    }
}

impl Ocaml {
    /// Adds to the work that is owed: `words` words were allocated in the major heap.
    fn note_allocated(&mut self, words: Words) {
        let owed = Owed {
            allocated: words,
            ..Owed::default()
        };
        let (heap, overhead) = (self.major.words(), self.settings.space_overhead);
        self.window.tick(1.0);
        let share = owed.share(heap.max(Words(1)), overhead);
        self.owed += self.window.begin(share, Slice::Automatic, heap.max(Words(1)), overhead);
    }

    /// Gives the empty minor heap its size, and sets room aside for the promotion of all of it.
    /// Where there is too little memory, it is smaller, down to `least`.
    ///
    /// # Errors
    /// If there is not even room for that.
    fn set_area(&mut self, heap: &mut Heap, least: Bytes) -> Result<(), OutOfMemory> {
        let mut area = self.settings.minor_heap.max(least);
        self.is_urgent = false;
        loop {
            let resized = self.nursery.resize(heap, area);
            let size = self.nursery.size().to_words_up();
            match resized.and_then(|()| self.major.prepare(heap, size)) {
                Ok(()) => return Ok(()),
                Err(error) if area <= least => return Err(error),
                Err(_) => {
                    area = Bytes(area.0 / 2).max(least);
                    self.is_urgent = true;
                }
            }
        }
    }

    /// The outcome of a collection that promoted `promoted`, and then marked `marked` if it was a
    /// major one.
    fn outcome(&self, promoted: &Marked, marked: Option<Marked>) -> Outcome {
        let live = self.major.live();
        let mut counted = promoted.counted;
        let major = marked.is_some();
        counted += marked.map(|marked| marked.counted).unwrap_or_default();
        Outcome {
            in_place: true,
            ..Outcome::from(Work {
                generation: u32::from(major),
                cycle: Cycle::whole_if(major),
                copied: promoted.moved.to_bytes(),
                promoted: promoted.words.to_bytes(),
                live,
                large: self.major.large_live(),
                slop: self.major.held() - live,
                counted,
                ..Work::default()
            })
        }
    }
}
