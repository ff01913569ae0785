//! Spaces: the parts that collectors are built from.
//!
//! Memory that holds closures belongs to *steps* (GHC's word). Step 0 is the [nursery](Nursery),
//! where mutators allocate. Survivors of a collection go from step `s` to step `s + 1`, until the
//! oldest. With generations, steps 0 and 1 are generation 0 (so that a closure is copied once
//! inside generation 0 before it is promoted: GHC's ageing), and step `g + 1` is generation `g`.
//! With one generation (`-G1`) step 1 is the oldest.
//!
//! Each block's step is in the state table ([`crate::block`]), one byte a block. A write barrier
//! and an evacuation need to know nothing else about a closure's place.
//!
//! Each step after 0 keeps closures that have pointers and closures that have none in separate
//! [`Lane`]s: the latter are never scanned, and the former stay dense. Large objects
//! ([`LARGE_OBJECT`](crate::block::LARGE_OBJECT)) are never copied: the state of their blocks changes
//! when they change step.
//!
//! Those are the spaces of collectors that copy. Collectors that leave closures in place use
//! [`CellSpace`] with cells of [size classes](crate::alloc::SizeClass), [`LineSpace`] with holes
//! between closures, or [`FreeSpace`] with free blocks of any size; [`LargeObjects`] for closures
//! that are too large for these; and [`MarkBits`], which say which closures live. A [`Destination`]
//! is memory to which closures of some of their blocks may move while the others are marked. If
//! everything is collected each time, all is in step 1. Else marked closures are in an older step,
//! and lie among unmarked ones in mixed blocks.

mod cells;
mod counts;
mod destination;
mod free;
mod incoming;
mod large;
mod lines;
mod live_map;
mod mark_bits;
mod marked_regions;
mod marks;
mod nursery;
mod references;
mod snapshot;
mod steps;

pub use cells::{CellPromotion, CellRoom, CellSpace};
pub use counts::{CountedMarks, Counts, Ledger, SideCounts};
pub use destination::{BumpRoom, Destination, InPlace, Room};
pub use free::{FreeBlock, FreeList, FreeMemory, FreeSpace, KnownClosures, Link, Piece, Promotion, Rest, Swept};
pub use incoming::{ChosenBlock, Incoming, Record};
pub use large::LargeObjects;
pub use lines::{LineSpace, Reserve};
pub use live_map::LiveMap;
pub(crate) use live_map::{ENTRY, ENTRY_BYTES, LiveView};
pub(crate) use mark_bits::set_bits;
#[cfg(all(test, gclab_loom))]
pub(crate) use mark_bits::set_first;
pub use mark_bits::{BothMarks, MarkBits};
pub use marks::Marks;
pub use nursery::Nursery;
pub use references::{Burial, References};
pub use snapshot::{Mixed, SnapshotMarks};
pub use steps::{Chunk, Lane, Step, Steps};
