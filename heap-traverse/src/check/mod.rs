//! The checker (`-DS`): checks the whole heap after every collection.
//!
//! It is a listener. At each [`EventKind::End`] it compares five things: the regions of the
//! collector, the blocks that the block allocator has handed out, the state table, the pointers,
//! and the figures of the collection. It recounts the references that a collector counts. The first
//! disagreement is a panic that names the address, closure, region and slot. Each kind of
//! disagreement has a name ([`Check`]), so that a test can
//! say which check finds which fault.
//!
//! Cost: four passes over the heap and one over the reachable closures, two in a profiled heap;
//! memory 3/64 of the heap.

mod counts;
mod fault;
mod pointers;
mod regions;
mod remembered;
mod snapshot;

pub use fault::{Check, Fault};

use crate::addr_set::AddrSet;
use crate::traverse::Traversal;
use crate::walk;
use gclab_core::block::Region;
use gclab_core::collector::Description;
use gclab_core::events::{Event, EventKind, Listener, Look, Occasion};
use gclab_core::mutator::MutatorKind;
use gclab_core::stats::{Collection, Cycle};
use gclab_core::words::{Bytes, Words};
use gclab_core::world::{Stopped, StoppedRegion, World};
use snapshot::Snapshot;

/// Checks the whole heap after each collection, and panics at the first fault.
#[derive(Debug)]
pub struct Checker {
    collector: &'static str,
    moves: bool,
    exact: bool,
    collections: u64,
    tables: Option<Tables>,
    /// The snapshot being marked.
    snapshot: Option<Snapshot>,
}

/// Tables kept between collections to reuse their memory.
#[derive(Debug)]
struct Tables {
    starts: AddrSet,
    remembered: AddrSet,
    traversal: Traversal,
}

impl Checker {
    /// A checker for a heap under `collector`.
    pub fn new(collector: &Description) -> Self {
        Checker {
            collector: collector.name,
            moves: collector.moves,
            exact: false,
            collections: 0,
            tables: None,
            snapshot: None,
        }
    }

    /// Also checks that a major collection in one pause left nothing but reachable closures.
    pub fn exact(mut self) -> Self {
        self.exact = true;
        self
    }

    /// Checks the heap of `world` after each collection from now on.
    pub fn install<M: MutatorKind>(world: &mut World<M>) {
        world.listen(Box::new(Checker::new(world.collector())));
    }

    /// Checks the heap now. `collection` is the record of the collection that ended just before, if
    /// there was one. Its figures are then compared with the heap.
    ///
    /// # Errors
    /// If the heap is not sound: the first fault.
    pub fn check(&mut self, stopped: &Stopped<'_>, collection: Option<&Collection>) -> Result<(), Fault> {
        let base = stopped.blocks().base();
        let tables = self.tables.get_or_insert_with(|| Tables {
            starts: AddrSet::new(base),
            remembered: AddrSet::new(base),
            traversal: Traversal::new(stopped),
        });
        let regions = walk::regions(stopped);
        regions::blocks(stopped, &regions)?;
        regions::states(stopped, &regions, self.moves)?;
        regions::closures(stopped, &regions, &mut tables.starts)?;
        pointers::roots(stopped, &tables.starts)?;
        let reached = pointers::reachable(stopped, &tables.starts, &mut tables.traversal)?;
        pointers::side_words(stopped, &mut tables.traversal)?;
        remembered::complete(stopped, &regions, &mut tables.remembered)?;
        pointers::kept(stopped, &regions, &tables.starts)?;
        if let Some(ledger) = stopped.ledger().filter(|_| collection.is_some()) {
            counts::agree(stopped, &regions, ledger)?;
        }
        if let Some(Collection { work, .. }) = collection {
            let (starts, traversal) = (&tables.starts, &mut tables.traversal);
            Snapshot::check(&mut self.snapshot, stopped, work, starts, traversal)?;
        }
        collection.map_or(Ok(()), |collection| {
            statistics(collection, &regions)?;
            if self.exact && collection.work.cycle == Cycle::Whole {
                nothing_floats(&regions, reached)?;
            }
            Ok(())
        })
    }
}

impl Listener for Checker {
    fn look(&self, occasion: Occasion) -> Option<Look> {
        (occasion == Occasion::Collection).then_some(Look::Check)
    }

    fn event(&mut self, event: &Event<'_>) {
        if let EventKind::End { collection, stopped } = event.kind {
            self.collections += 1;
            if let Err(fault) = self.check(stopped, Some(collection)) {
                panic!(
                    "{}, collection {} (generation {}): {fault}",
                    self.collector, self.collections, collection.work.generation
                );
            }
        }
    }
}

/// Bytes of closures in regions that `take` accepts.
fn bytes(regions: &[StoppedRegion<'_>], take: impl Fn(&Region) -> bool) -> Bytes {
    regions
        .iter()
        .filter(|region| take(region))
        .map(|region| region.end - region.start)
        .sum()
}

/// Checks that the collection's figures fit the heap.
fn statistics(collection: &Collection, regions: &[StoppedRegion<'_>]) -> Result<(), Fault> {
    let live = bytes(regions, |region| region.step > 0);
    let large = bytes(regions, |region| region.step > 0 && region.large);
    let mut old: Vec<_> = regions.iter().filter(|region| region.step > 0).collect();
    old.dedup_by_key(|region| region.run);
    // A large object in a slab ends in a block that is not its own.
    let taken = old.into_iter().map(|region| match region.large {
        true => region.run.end().max(region.end) - region.start,
        false => region.run.bytes(),
    });
    let slop = taken.sum::<Bytes>() - live;
    for (name, reported, found) in [
        ("live", collection.work.live, live),
        ("large", collection.work.large, large),
        ("slop", collection.work.slop, slop),
    ] {
        if reported != found {
            return Err(Fault::new(
                Check::Statistics,
                format!(
                    "the collection reports {} bytes {name}, but the heap has {}",
                    reported.0, found.0
                ),
            ));
        }
    }
    Ok(())
}

/// Checks that everything in the heap is reachable.
fn nothing_floats(regions: &[StoppedRegion<'_>], reached: Words) -> Result<(), Fault> {
    let (all, reached) = (bytes(regions, |_| true), reached.to_bytes());
    if all == reached {
        return Ok(());
    }
    Err(Fault::new(
        Check::Exact,
        format!(
            "a major collection left {} bytes, of which only {} are reachable",
            all.0, reached.0
        ),
    ))
}
