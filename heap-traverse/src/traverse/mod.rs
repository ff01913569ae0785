//! The traversal: visits every reachable closure once, in the order that its client requests.
//!
//! A [`Client`] states its needs by constants and types, and pays for nothing else: each
//! combination is compiled separately. There are two orders:
//!
//! * [`Order::Any`], the fast one. A found closure waits in a ring (32 places) until its header and
//!   its bit are in the cache. Memory: the ring, and one entry for each closure of which some slots
//!   have been taken and others not. An entry is 16 bytes and the client's `Parent` and `Data`.
//!   Such closures are taken newest first, so their number is about the length of the heap's paths,
//!   for closures of any size: a list or an array of any length needs one or two. There are never
//!   more of them than closures with two slots or more.
//! * [`Order::DepthFirst`]: a closure before the closures that it points to, first slots first, and
//!   [`Client::leave`] after all that, to add up sums from below. Memory: a level of at most 24
//!   bytes (two words and the client's `Data` and `Sum`; the compiler refuses more) for each
//!   closure on the path from a root to the current one. Without `leave`, closures whose last slot
//!   has been taken need no level, so a list of any length needs one level.
//!
//! Neither recurses. The visited closures are members of an [`AddrSet`], which is emptied in O(1),
//! takes 1/64 of the heap, and lies outside it. Nothing is written into a closure, so a traversal
//! may start anywhere, leave out any part and stop at any time.
//!
//! ```
//! use gclab_core::{closure::Kind, config::Config, mutator::Any, world::World};
//! use gclab_heap_traverse::{Traversal, Visit};
//!
//! let world = World::new::<gclab_collectors::Copying>(&Config::default())?;
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
//! Time is proportional to the closures and slots that are reached. The traversal is checked
//! against a plain search on random heaps (`tests/it/random.rs`).

mod any;
mod client;
mod depth_first;
mod levels;

pub use client::{Client, Lineage, Order, Visit};

use crate::addr_set::AddrSet;
use client::Each;
use gclab_core::words::Bytes;
use gclab_core::world::{ClosureView, Stopped};

/// The largest size of a level of a depth-first traversal, in bytes.
const LEVEL: usize = 24;

/// A traversal of one heap. It can be run many times, and keeps its memory in between.
#[derive(Debug)]
pub struct Traversal {
    visited: AddrSet,
    stack: Bytes,
}

impl Traversal {
    /// Makes a traversal of the heap that `stopped` shows.
    pub fn new(stopped: &Stopped<'_>) -> Self {
        Traversal {
            visited: AddrSet::new(stopped.blocks().base()),
            stack: Bytes::ZERO,
        }
    }

    /// Visits every closure that is reachable from `roots`. Each root comes with the data passed to
    /// the client's `visit`. Visits of an earlier run do not count.
    ///
    /// The pointers of a closure are followed once `visit` returned [`Visit::Descend`]. A client
    /// that does not trust the heap checks the slots before that.
    #[inline]
    pub fn run<'a, C: Client<'a>>(
        &mut self,
        roots: impl IntoIterator<Item = (ClosureView<'a>, C::Data)>,
        client: &mut C,
    ) {
        self.begin();
        self.go_on(roots, client);
    }

    /// Marks all closures as not visited.
    pub(crate) fn begin(&mut self) {
        self.visited.clear();
    }

    /// As [`Traversal::run`], but closures visited in the last run, or in calls of this function
    /// since then, count as visited.
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
        let roots = &mut roots.into_iter();
        // A constant condition: the other order is not compiled.
        self.stack = if const { matches!(C::ORDER, Order::Any) } {
            any::run(&mut self.visited, roots, client)
        } else {
            depth_first::run(&mut self.visited, roots, client)
        };
    }

    /// The peak memory of the last run's stack.
    pub fn stack(&self) -> Bytes {
        self.stack
    }

    /// Calls `visit` once for every closure reachable from `roots`, in any order.
    #[inline]
    pub fn each<'a>(
        &mut self,
        roots: impl IntoIterator<Item = ClosureView<'a>>,
        visit: impl FnMut(ClosureView<'a>) -> Visit<()>,
    ) {
        self.run(roots.into_iter().map(|root| (root, ())), &mut Each(visit));
    }

    /// As [`Traversal::each`], but closures visited since the last run began count as visited.
    pub(crate) fn each_further<'a>(
        &mut self,
        roots: impl IntoIterator<Item = ClosureView<'a>>,
        visit: impl FnMut(ClosureView<'a>) -> Visit<()>,
    ) {
        self.go_on(roots.into_iter().map(|root| (root, ())), &mut Each(visit));
    }

    /// The closures that were visited since the last run began.
    pub(crate) fn all_visited(&self) -> &AddrSet {
        &self.visited
    }

    /// The closures that were visited in the last run.
    pub(crate) fn into_visited(self) -> AddrSet {
        self.visited
    }

    /// Marks exactly the closures in `visited` as visited, as if a run had done it.
    pub(crate) fn begin_with(&mut self, visited: &AddrSet) {
        self.visited.copy(visited);
    }

    /// Whether a closure has been visited since the last run began.
    #[inline]
    pub fn visited(&self, closure: ClosureView<'_>) -> bool {
        self.visited.contains(closure.addr())
    }
}
