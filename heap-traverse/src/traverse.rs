//! The traversal: every closure that is reachable, once, depth first.
//!
//! It never recurses: open closures wait on a stack of its own, one cursor each, and a closure whose last slot has been
//! taken is not kept, so that a list of any length needs one entry. What has been visited stands in an [`AddrSet`]. It
//! writes nothing into the heap, so it may stop anywhere.
//!
//! Cost: time proportional to the closures and slots that are reached; memory 1/64 of the heap, and three words for each
//! closure that is open at one time.

use crate::AddrSet;
use gclab_core::world::{Children, ClosureView, Stopped};

/// What a visitor wants of the closure that it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// Go on to what it points to.
    Descend,
    /// Leave out what it points to (unless it is reached otherwise).
    Skip,
}

/// A traversal of one heap. It can be run again and again, and keeps its memory in between.
#[derive(Debug)]
pub struct Traversal {
    visited: AddrSet,
}

/// A closure that is open: what of it is still to be looked at.
struct Cursor<'a> {
    closure: ClosureView<'a>,
    children: Children<'a>,
}

impl Traversal {
    /// A traversal of the heap that `stopped` shows.
    pub fn new(stopped: &Stopped<'_>) -> Self {
        Traversal {
            visited: AddrSet::new(stopped.blocks().base()),
        }
    }

    /// Visit every closure that is reachable from `roots`, each once. `visit` gets it and the closure through which it was
    /// reached first (none for a root).
    ///
    /// The pointers of a closure are believed once `visit` said [`Visit::Descend`]: a visitor that does not trust the
    /// heap looks at its slots before.
    pub fn run<'a>(
        &mut self,
        roots: impl IntoIterator<Item = ClosureView<'a>>,
        mut visit: impl FnMut(ClosureView<'a>, Option<ClosureView<'a>>) -> Visit,
    ) {
        self.visited.clear();
        let mut open: Vec<Cursor<'a>> = Vec::new();
        for root in roots {
            self.arrive(root, None, &mut open, &mut visit);
            while let Some(mut cursor) = open.pop() {
                let parent = cursor.closure;
                if let Some(child) = cursor.children.next() {
                    if !cursor.children.is_finished() {
                        open.push(cursor);
                    }
                    self.arrive(child, Some(parent), &mut open, &mut visit);
                }
            }
        }
    }

    /// Whether the last run visited a closure at this address.
    pub fn visited(&self, closure: ClosureView<'_>) -> bool {
        self.visited.contains(closure.addr())
    }

    #[inline]
    fn arrive<'a>(
        &mut self,
        closure: ClosureView<'a>,
        parent: Option<ClosureView<'a>>,
        open: &mut Vec<Cursor<'a>>,
        visit: &mut impl FnMut(ClosureView<'a>, Option<ClosureView<'a>>) -> Visit,
    ) {
        if self.visited.insert(closure.addr()) && visit(closure, parent) == Visit::Descend {
            let children = closure.children();
            if !children.is_finished() {
                open.push(Cursor { closure, children });
            }
        }
    }
}
