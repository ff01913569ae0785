//! Spaces: what collectors are made of.
//!
//! Memory that holds closures lies in *steps* (GHC's word). Step 0 is the [nursery](Nursery), where mutators allocate. What
//! survives a collection goes from step `s` to step `s + 1`, until the oldest. With generations, steps 0 and 1 are
//! generation 0 (so that a closure is copied once inside generation 0 before it is promoted: GHC's ageing), and step
//! `g + 1` is generation `g`. With one generation (`-G1`) step 1 is the oldest.
//!
//! Each block's step stands in the state table ([`crate::block`]), one byte a block: it is all that a write barrier
//! and an evacuation need to know of a closure's whereabouts.
//!
//! Each step after 0 keeps closures that have pointers and closures that have none in separate [`Lane`]s, so that the
//! latter are never scanned and keep the former dense. Large objects ([`LARGE_OBJECT`]) have block runs of their own and
//! are never copied: they change step by changing the state of their blocks.
//!
//! Those are the spaces of collectors that copy. For collectors that leave closures where they are: [`CellSpace`] has cells of
//! [size classes](SizeClass), [`LargeObjects`] what is too large for them, and [`MarkBits`] say of both what lives. Such a
//! space is of one step, 1 if everything is collected each time.

mod cells;
mod large;
mod live_map;
mod mark_bits;
mod marked_regions;
mod marks;
mod nursery;
mod size_class;
mod steps;

pub use cells::CellSpace;
pub use large::LargeObjects;
pub use live_map::LiveMap;
pub(crate) use live_map::{ENTRY, ENTRY_BYTES, LiveView};
pub use mark_bits::MarkBits;
pub(crate) use mark_bits::set_bits;
pub use marks::Marks;
pub use nursery::Nursery;
pub use size_class::SizeClass;
pub use steps::{Chunk, Lane, LargeObject, Step, Steps};

pub use crate::block::{FIRST_OLD_STEP, LARGE_OBJECT, Region};
