//! The kinds of mutators that programs are compiled for.
//!
//! A program is compiled once for each way of allocating and storing, not once for each collector.
//! Such a way is a [`MutatorKind`]: the types on its hot paths. The collector itself is an object
//! behind slow paths ([`crate::collector::Collect`]), so collectors with the same allocator and
//! barrier share one compiled program.
//!
//! * [`Direct`] is an allocator and a barrier, inlined. Collectors of one generation share
//!   `Direct<Bump, NoBarrier>`, those of several `Direct<Bump, GenerationalBarrier>`. A collector
//!   that allocates in cells has `Direct<Cells, NoBarrier>`.
//! * [`crate::collector::Observed`] serves every collector, for profiles: reads and writes are
//!   recorded, and the chosen collector's allocator and barrier are called through pointers.

use crate::alloc::Alloc;
use crate::barrier::Barrier;
use std::marker::PhantomData;

/// A way of allocating and storing, for which programs are compiled.
pub trait MutatorKind: 'static {
    /// The allocator of mutators.
    type Alloc: Alloc;
    /// The code that runs when mutators overwrite pointers.
    type Barrier: Barrier<Self::Alloc>;
    /// Whether mutators note where closures are allocated and when they are used
    /// ([`crate::profile::SideWords`]).
    const OBSERVED: bool;
}

/// Allocator `A` and barrier `B`, inlined, and no observer.
#[derive(Debug)]
pub struct Direct<A, B>(PhantomData<fn() -> (A, B)>);

impl<A: Alloc, B: Barrier<A>> MutatorKind for Direct<A, B> {
    type Alloc = A;
    type Barrier = B;
    const OBSERVED: bool = false;
}
