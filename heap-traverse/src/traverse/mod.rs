//! The traversal: every closure that is reachable, once, in the order that its client asks for.
//!
//! A [`Client`] says what it wants by its constants and types, and pays for nothing else: each combination is a program of its own.
//! There are two orders:
//!
//! * [`Order::Any`], the fast one: what is found waits in a ring of [`RING`] until its header and its bit have come into the cache. Memory: the
//!   ring, and one entry (16 bytes, the client's `Parent` and `Data` beside it) for each closure of which some slots have been taken and others not.
//!   Such closures are taken newest first, so that there are about as many as paths of the heap are long, whatever a closure's size: a list or
//!   an array of any length needs one or two. There are never more than closures with two slots and more.
//! * [`Order::DepthFirst`], a closure before what it points to, first slots first, and [`Client::leave`] after all that, to add up what is below. Memory: a
//!   level of at most 24 bytes (two words and the client's `Data` and `Sum`; more is refused by the compiler) for each closure on the path from a root to where the
//!   traversal is, without those whose last slot has been taken if there is no `leave`: a list of any length needs one level then.
//!
//! Neither recurses. What has been visited stands in an [`AddrSet`], which is emptied in O(1), is 1/64 of the heap, and lies beside it: nothing is
//! written into a closure, so a traversal may start anywhere, leave out what it likes and stop at any time.
//!
//! ```
//! use gclab_core::{closure::Kind, flags::Config, mutator::Any, world::World};
//! use gclab_heap_traverse::{Traversal, Visit};
//!
//! let world = World::<gclab_collectors::Copying>::new(&Config::default())?;
//! let _kept = world.enter(|m| {
//!     m.frame(|m, [array]| {
//!         let array = array.put(m.alloc_array::<Any>(3, |_| None));
//!         m.handle(array.get(m))
//!     })
//! })?;
//! let arrays = world.inspect(|stopped| {
//!     let mut arrays = 0;
//!     Traversal::new(stopped).each(stopped.root_closures(), |closure| {
//!         arrays += u32::from(closure.kind() == Kind::MutArrPtrs);
//!         Visit::Descend(())
//!     });
//!     arrays
//! })?;
//! assert_eq!(arrays, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Time is proportional to the closures and slots that are reached. The traversal is checked against a plain search on random heaps
//! (`tests/it/random.rs`).

mod any;
mod client;
mod depth_first;
mod levels;

pub use client::{Client, Lineage, Order, Visit};

use crate::addr_set::AddrSet;
use client::Each;
use gclab_core::words::Bytes;
use gclab_core::world::{ClosureView, Stopped};

/// The most bytes of a level of a depth-first traversal.
const LEVEL: usize = 24;

/// A traversal of one heap. It can be run again and again, and keeps its memory in between.
#[derive(Debug)]
pub struct Traversal {
    visited: AddrSet,
    stack: Bytes,
}

impl Traversal {
    /// A traversal of the heap that `stopped` shows.
    pub fn new(stopped: &Stopped<'_>) -> Self {
        Traversal {
            visited: AddrSet::new(stopped.blocks().base()),
            stack: Bytes::ZERO,
        }
    }

    /// Go through all that is reachable from `roots`, each given with the data that the client's `visit` gets for it. What an earlier run visited
    /// counts for nothing.
    ///
    /// The pointers of a closure are believed once `visit` said [`Visit::Descend`]: a client that does not trust the
    /// heap looks at its slots before.
    #[inline]
    pub fn run<'a, C: Client<'a>>(
        &mut self,
        roots: impl IntoIterator<Item = (ClosureView<'a>, C::Data)>,
        client: &mut C,
    ) {
        self.begin();
        self.go_on(roots, client);
    }

    /// Let nothing have been visited.
    pub(crate) fn begin(&mut self) {
        self.visited.clear();
    }

    /// [`Traversal::run`], but what the last run (and those that went on from it) visited is not visited for the first time again.
    #[inline]
    pub fn go_on<'a, C: Client<'a>>(
        &mut self,
        roots: impl IntoIterator<Item = (ClosureView<'a>, C::Data)>,
        client: &mut C,
    ) {
        const {
            match C::ORDER {
                Order::Any => assert!(!C::LEAVE, "only a depth-first traversal leaves closures"),
                Order::DepthFirst => assert!(
                    depth_first::level_bytes::<C::Data, C::Sum>() <= LEVEL,
                    "a level takes 24 bytes at most: 8 for the client's data and sum"
                ),
            }
        }
        let roots = roots.into_iter();
        self.stack = match C::ORDER {
            Order::Any => any::run(&mut self.visited, roots, client),
            Order::DepthFirst => depth_first::run(&mut self.visited, roots, client),
        };
    }

    /// The memory that the stack of the last run took at the most.
    pub fn stack(&self) -> Bytes {
        self.stack
    }

    /// Calls `visit` for every closure that is reachable from `roots`, once, in any order.
    #[inline]
    pub fn each<'a>(
        &mut self,
        roots: impl IntoIterator<Item = ClosureView<'a>>,
        visit: impl FnMut(ClosureView<'a>) -> Visit<()>,
    ) {
        self.run(roots.into_iter().map(|root| (root, ())), &mut Each(visit));
    }

    /// What has been visited since the last run began.
    pub(crate) fn all_visited(&self) -> &AddrSet {
        &self.visited
    }

    /// Let `visited` be what has been visited, as if a run had done it.
    pub(crate) fn begin_with(&mut self, visited: &AddrSet) {
        self.visited.copy(visited);
    }

    /// Whether a closure has been visited since the last run began.
    #[inline]
    pub fn visited(&self, closure: ClosureView<'_>) -> bool {
        self.visited.contains(closure.addr())
    }
}
