//! The traits of a collector.
//!
//! A collector is a struct of spaces ([`crate::space`]) and one function, [`Collect::collect`],
//! that reads like the paper: phases in order, each announced. It has two sides:
//!
//! * [`Collector`] is known at compile time: the description, the mutators' allocator and barrier,
//!   and how the collector is made. Nothing on a mutator's path is virtual.
//! * [`Collect`] is an object behind a world's lock: it refills allocators, collects, and lists its
//!   regions.
//!
//! Collectors with the same allocator and barrier share compiled programs (`core/src/kind.rs`).

mod chosen;
mod list;
mod observed;
mod pause;

pub use crate::alloc::{Alloc, Bump, Cells, Sampling, SizeClass};
pub use crate::barrier::{Barrier, GenerationalBarrier, NoBarrier, SnapshotBarrier};
pub use crate::capability::{Capabilities, Capability};
pub use crate::cause::{Cause, Due, NotBegun, Outcome, Refill, Request};
pub use crate::field_log::{FieldLog, LogTables, Replaced};
pub use crate::kind::Direct;
pub use crate::overwritten::Overwritten;
pub use crate::roots::{RootSlot, Roots};
pub use crate::stats::{Counted, Cycle, Work};
pub use chosen::Chosen;
pub use list::{CollectorList, CollectorVisitor};
pub use observed::Observed;
pub use pause::{Pause, Since};

use crate::block::{OutOfMemory, Region, Units};
use crate::config::{Config, OwnFlag, Parameter};
use crate::heap::{Heap, LargeRequest};
use crate::space::Ledger;
use crate::words::{Addr, Bytes, Words};
use std::any::Any;

/// A collector as data: the command line, the TOML names, the test matrix and the docs follow from
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Description {
    /// The name that `--collector` takes.
    pub name: &'static str,
    /// One line for `gclab list collectors`.
    pub summary: &'static str,
    /// Whether each major collection moves the closures that it collects, and so needs room for
    /// their copies. (A collector that moves only some of them, if there is room, or only young
    /// ones, needs none.)
    pub moves: bool,
    /// Whether it collects with several threads.
    pub parallel: bool,
    /// The parameters that it honours beyond those of every heap, in groups such as
    /// [`crate::config::AREA`].
    pub honours: &'static [&'static [Parameter]],
    /// The smallest and largest number of generations (`-G`) that it can have.
    pub generations: (u32, u32),
}

impl Description {
    /// Whether the collector honours `parameter`.
    pub fn honours(&self, parameter: Parameter) -> bool {
        self.honours.iter().any(|group| group.contains(&parameter))
    }

    /// The collector's own flags.
    pub fn own_flags(&self) -> impl Iterator<Item = &'static OwnFlag> {
        let honoured = self.honours.iter().copied().flatten();
        honoured.filter_map(|parameter| match parameter {
            Parameter::Own(flag) => Some(*flag),
            _ => None,
        })
    }

    /// The number of generations nearest to `generations` that the collector can have.
    pub fn fitting_generations(&self, generations: u32) -> u32 {
        let (least, most) = self.generations;
        generations.clamp(least, most)
    }
}

/// A collector, as programs are compiled for it: its description, how its mutators allocate and
/// store, and how it is made.
///
/// # Safety
/// After [`Collect::collect`] every closure that was reachable from the roots is intact, and every
/// root and every pointer in such a closure leads to it, including pointers that
/// [`Collector::Barrier`] was shown. Memory that `refill` and `allocate_large` hand out is
/// committed, belongs to this heap, has the requested size, and overlaps no such closure. The
/// regions of `for_each_region` are memory of this heap that is filled with adjacent closures. Some
/// may be dead, and observers read those too ([`crate::world::Stopped::closures`]): as long as a
/// dead closure is in a region, it keeps its header and size, and each of its slots holds null or
/// the address of an intact closure. So a collector may free or move a closure only if no closure
/// that stays in a region has a slot with its old address. A dead closure leaves its region, or its
/// slots are cleared or updated, or their referents stay. (The generational collectors do the
/// latter: the remembered slots of an old closure keep their referents, whether the closure lives
/// or not, until its own generation is collected and it leaves.) Collectors built from
/// [`crate::space`] and [`crate::trace`] get all this from there, as long as they trace every kind
/// of root ([`crate::trace::live`] does).
///
/// Only the methods of [`Collect`] give a collector its mutators' [`Alloc`]s, the writable [`Heap`]
/// and the root slots. Their use there is part of this promise, so their own methods are safe to
/// call.
pub unsafe trait Collector: Collect<Alloc: Alloc + Default> + Sized {
    /// Its name, flags and abilities.
    const DESCRIPTION: Description;
    /// The code that runs when mutators overwrite pointers.
    type Barrier: Barrier<Self::Alloc>;

    /// Makes a collector for `heap`, with its first allocation area.
    ///
    /// # Errors
    /// If the heap cannot hold even that.
    fn new(heap: &mut Heap, config: &Config) -> Result<Self, OutOfMemory>;
}

/// The kind of the mutators of collector `C`.
pub type KindOf<C> = Direct<<C as Collect>::Alloc, <C as Collector>::Barrier>;

/// A collector at work, as its world calls it: an object behind the world's lock.
pub trait Collect: Send + 'static {
    /// The allocator of mutators.
    type Alloc: Alloc;

    /// The capability's allocator has no room for `words` words (fewer than
    /// [`crate::block::LARGE_OBJECT`]): gives it room, or asks for a collection. Right after a
    /// collection it may ask for one more; after that it must give room or fail.
    ///
    /// # Errors
    /// If there is no memory and a collection would not help.
    fn refill(
        &mut self,
        heap: &mut Heap,
        capability: Capability<'_, Self::Alloc>,
        words: Words,
    ) -> Result<Refill, OutOfMemory>;

    /// Returns space for one large object, or `None` if a collection is due first.
    /// Right after a collection it must return space or fail.
    ///
    /// # Errors
    /// If there is no memory and a collection would not help.
    fn allocate_large(&mut self, heap: &mut Heap, request: LargeRequest) -> Result<Option<Addr>, OutOfMemory>;

    /// Says which generations are due, before anything is collected: listeners learn of it when the
    /// collection starts, and [`Collect::collect`] finds it in the pause. No allocator is in use,
    /// so the collector may take the nursery back here. `None` from a collector that decides only
    /// in `collect`.
    fn due(&mut self, cause: Cause, capabilities: Capabilities<'_, Self::Alloc>) -> Option<Due> {
        let _ = (cause, capabilities);
        None
    }

    /// Collects. All mutators are stopped; `pause` has their roots, allocators and remembered sets.
    /// Returns the collection's figures, and whether there is room to continue
    /// ([`Outcome::exhausted`]).
    ///
    /// It must not unwind once anything has moved (the process aborts if it does).
    ///
    /// # Errors
    /// If there is no memory to start the collection. The heap is unchanged. Unless everything was
    /// to be collected, the world calls once more, with [`Cause::Shortage`].
    fn collect(&mut self, pause: &mut Pause<'_, Self::Alloc>) -> Result<Outcome, NotBegun>;

    /// Calls `visit` for every region that holds closures, in no particular order; the heap is
    /// stopped. Parts of regions held by mutators are found through `capabilities`.
    fn for_each_region(&self, capabilities: Capabilities<'_, Self::Alloc>, visit: &mut dyn FnMut(Region));

    /// A mutator is about to allocate a closure that owns `bytes` of memory outside the heap
    /// ([`crate::mutator::Foreign`]). `Collect` makes a collection come first. A collector that
    /// ignores such memory, as GHC does, need not implement this.
    fn foreign(&mut self, bytes: Bytes) -> Refill {
        let _ = bytes;
        Refill::Ready
    }

    /// Mutators are about to run ready finalisers or, if `are_over`, have run them. A collector
    /// that does not report this need not implement it.
    fn finalisers(&mut self, are_over: bool) {
        let _ = are_over;
    }

    /// Answers a message that only this collector understands, such as a query for its figures or a
    /// change of its settings ([`crate::mutator::Mutator::ask_collector`]). The world is stopped;
    /// nothing is collected, and no closure moves. The pause has no cause. Returns whether it
    /// understands the message.
    fn answer(&mut self, pause: &mut Pause<'_, Self::Alloc>, message: &mut dyn Any) -> bool {
        let _ = (pause, message);
        false
    }

    /// Calls `figure` at the end of a run with the name and value of each figure that is specific
    /// to this collector: statistics, records and reports list them under these names.
    fn figures(&self, figure: &mut dyn FnMut(&'static str, u64)) {
        let _ = figure;
    }

    /// Calls `visit` for every run that is handed out in lines or cells, with their size, so that a
    /// map of the heap can show how many are free. None by default.
    fn for_each_units(&self, visit: &mut dyn FnMut(Units)) {
        let _ = visit;
    }

    /// If it counts references: what it has counted, right after a collection.
    fn ledger(&self) -> Option<Ledger<'_>> {
        None
    }

    /// The names of its steps on a map of the heap, from step 0; empty for a step that it lacks.
    /// GHC's names by default.
    fn step_names(&self) -> &'static [&'static str] {
        &[]
    }
}
