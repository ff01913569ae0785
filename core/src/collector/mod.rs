//! The Collector trait: what a collector is to the heap.
//!
//! A collector is a struct of spaces ([`crate::space`]) and one function, [`Collector::collect`], that reads like the
//! paper: phases in order, each announced. The rest of the trait says what it is, hands out memory to mutators and
//! shows what it manages. Everything here is generic, nothing is virtual on a mutator's path.

mod alloc;
mod capability;
mod cells;
mod list;
mod pause;

pub use alloc::{Alloc, Bump};
pub use capability::{Barrier, Capability, GenerationalBarrier, NoBarrier};
pub use cells::Cells;
pub use list::{CollectorList, CollectorVisitor};
pub use pause::{Capabilities, Pause, RootSlot, Roots, Since};

use crate::config::{Config, Parameter};
use crate::heap::{Heap, OutOfMemory};
use crate::space::{Region, Steps};
use crate::trace::{Evacuated, Marked};
use crate::words::{Addr, Bytes, Words};
use gclab_stats::Shared;

/// What a collector is, as data: from it the command line, the TOML names, the test matrix and the docs follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Description {
    /// The name that `--collector` takes.
    pub name: &'static str,
    /// One line for `gclab list collectors`.
    pub summary: &'static str,
    /// Whether it moves closures.
    pub moves: bool,
    /// Whether it collects with several threads.
    pub parallel: bool,
    /// The parameters that it honours, beyond those of every heap: groups of them, such as [`crate::config::AREA`].
    pub honours: &'static [&'static [Parameter]],
    /// The least and the most generations (`-G`) that it can have.
    pub generations: (u32, u32),
}

impl Description {
    /// Whether the collector honours `parameter`.
    pub fn honours(&self, parameter: Parameter) -> bool {
        self.honours.iter().any(|group| group.contains(&parameter))
    }

    /// The number of generations nearest to `generations` that the collector can have.
    pub fn fitting_generations(&self, generations: u32) -> u32 {
        let (least, most) = self.generations;
        generations.clamp(least, most)
    }
}

/// Why a collection happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The allocation area is used up, or as much was allocated in large objects.
    Allocation,
    /// The program asked for it; a major one if `major`.
    Asked {
        /// Whether everything is to be collected.
        major: bool,
    },
    /// `-DZ<n>`: the n-th allocation.
    Stress,
    /// The last collection of a run, which measures what is still live.
    Final,
}

impl Cause {
    pub(crate) fn asked(major: bool) -> Cause {
        Cause::Asked { major }
    }

    /// Whether everything is to be collected, whatever the collector's own policy says.
    pub fn forces_major(self) -> bool {
        matches!(self, Cause::Asked { major: true } | Cause::Final)
    }
}

/// The answer to a mutator whose allocator is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refill {
    /// The allocator has room again.
    Ready,
    /// A collection is due first.
    Collect,
}

/// What a collection did, beyond what the heap counts itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The collection did not begin: see [`Outcome::not_begun`].
    pub not_begun: bool,
    /// The oldest generation that was collected.
    pub generation: u32,
    /// Whether everything was collected.
    pub major: bool,
    /// Bytes that closures were copied (or moved) to.
    pub copied: Bytes,
    /// Of these, bytes copied into a generation that was not itself collected; none in a major collection.
    pub promoted: Bytes,
    /// What is live, as far as it is known: uncollected generations count whole.
    pub live: Bytes,
    /// Of the live, bytes of large objects.
    pub large: Bytes,
    /// Bytes of blocks that hold live closures beyond the closures themselves.
    pub slop: Bytes,
    /// The oldest generation will be collected where it lies, so no room for a copy of it need be kept.
    pub in_place: bool,
    /// Entries of remembered sets that were visited.
    pub remembered: u64,
    /// How several threads shared the work, if the collector can have that.
    pub shared: Shared,
}

impl Outcome {
    /// The figures of a collection by copying that left `steps`; generation and major are the caller's to say.
    pub fn of(done: &Evacuated, steps: &Steps) -> Outcome {
        Outcome {
            copied: done.copied.to_bytes(),
            promoted: done.promoted.to_bytes(),
            remembered: done.remembered,
            shared: done.shared.clone(),
            live: steps.words().to_bytes(),
            large: steps.large_words().to_bytes(),
            slop: steps.slop(),
            ..Outcome::default()
        }
    }

    /// A collection that did not begin, since there is no memory for it ([`Heap::prepare`]): nothing was condemned, and the error is given back beside this.
    /// It is not counted.
    pub fn not_begun() -> Outcome {
        Outcome {
            not_begun: true,
            ..Outcome::default()
        }
    }

    /// The figures of a collection of everything by marking, after which closures take blocks of `held` bytes; nothing was
    /// moved.
    pub fn of_marking(marked: &Marked, held: Bytes) -> Outcome {
        let live = marked.words.to_bytes();
        Outcome {
            major: true,
            in_place: true,
            live,
            large: marked.large.to_bytes(),
            slop: Bytes(held.0 - live.0),
            shared: marked.shared.clone(),
            ..Outcome::default()
        }
    }
}

/// A garbage collector.
///
/// # Safety
/// After `collect` every closure that was reachable from the roots is intact, and every root and every pointer of such a
/// closure leads to it; also those pointers that the `Barrier`, which is chosen here, was shown. Memory that `refill` and `allocate_large` hand out is
/// committed, of this heap, as large as was asked for, and overlaps no such closure. The regions of `for_each_region` are memory of this heap,
/// in which closures that live lie one behind the other. Collectors that
/// are made of [`crate::space`] and [`crate::trace`] have it from there, as long as they trace every kind of root.
///
/// A mutator's [`Alloc`], the [`Heap`] to write and the slots of roots are shown to its collector alone, by these methods; so
/// what is done with them is part of this promise, and their methods are safe to call.
pub unsafe trait Collector: Sized + Send + 'static {
    /// What it is.
    const DESCRIPTION: Description;
    /// Whether its mutators write side words, for profiles: those of [`crate::profile::Profiled`] do, nobody else's.
    const PROFILED: bool = false;
    /// What mutators allocate with.
    type Alloc: Alloc;
    /// What runs when mutators overwrite pointers.
    type Barrier: Barrier;

    /// A collector for `heap`, with its first allocation area.
    ///
    /// # Errors
    /// If the heap cannot hold even that.
    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory>;

    /// The capability's allocator has no room for `words` words (fewer than [`crate::block::LARGE_OBJECT`]): give it some, or
    /// ask for a collection. Straight after a collection it must give some or fail.
    ///
    /// # Errors
    /// If there is no memory and a collection would not help.
    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: &Capability<Self::Alloc>,
        words: Words,
    ) -> Result<Refill, OutOfMemory>;

    /// Space for one large object of `words` words, or `None`: a collection is due first. Straight after a collection it
    /// must give some or fail.
    ///
    /// # Errors
    /// If there is no memory and a collection would not help.
    fn allocate_large(&mut self, heap: &mut Heap, words: Words) -> Result<Option<Addr>, OutOfMemory>;

    /// Collect. All mutators are stopped; `pause` has their roots, allocators and remembered sets. Gives what the collection
    /// did, and whether there is room to go on: an error says that the heap, though intact, is exhausted.
    ///
    /// It must not unwind once anything has moved (the process is aborted if it does).
    fn collect(&mut self, pause: &mut Pause<'_, Self::Alloc>) -> (Outcome, Result<(), OutOfMemory>);

    /// Every region that holds closures, in no particular order, for who walks the heap while it is stopped. What mutators have
    /// of it is in `capabilities`.
    fn for_each_region(&self, capabilities: Capabilities<'_, Self::Alloc>, visit: &mut dyn FnMut(Region));
}
