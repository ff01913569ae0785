//! Watched closures: the table records which of them died, without keeping them alive.
//!
//! The world keeps a value for each, by number. A collection finds the dead ones after all tracing,
//! when weak handles are already cleared. The mutators learn of them on one of their next slow
//! paths, so no program code runs inside a collection.
//!
//! A closure is *new* until a user of the table has seen it survive.

use super::aged::{Aged, Visited};
use crate::closure::Slot;
use crate::sync::{AtomicBool, Mutex, Ordering};
use crate::words::{Addr, Bytes};
use std::collections::VecDeque;

/// A closure of the table.
#[derive(Debug)]
struct Watched {
    closure: u64,
    number: u64,
    /// Bytes that it owns outside the heap.
    bytes: Bytes,
    is_new: bool,
}

#[derive(Debug, Default)]
struct Closures {
    watched: Aged<Watched>,
    /// The numbers of dead ones, in the order of their registration.
    dead: VecDeque<u64>,
}

/// The watched closures of one heap, for one purpose.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    closures: Mutex<Closures>,
    /// Some have died.
    any_dead: AtomicBool,
}

impl Watch {
    /// Watches the closure at `closure` from now on, under this number. It owns `bytes` outside
    /// the heap.
    pub(crate) fn register(&self, closure: u64, number: u64, bytes: Bytes) {
        self.closures.lock().watched.push(Watched {
            closure,
            number,
            bytes,
            is_new: true,
        });
    }

    /// After all tracing: drops the dead closures, which `lives` tells by their slots, and notes
    /// their numbers.
    pub(crate) fn note_deaths(&self, visited: Visited, mut lives: impl FnMut(Slot) -> bool) {
        let mut closures = self.closures.lock();
        let Closures { watched, dead } = &mut *closures;
        watched.take_dead(visited, |watched| {
            let before = watched.closure;
            let lives = lives(Slot(&mut watched.closure));
            if !lives {
                dead.push_back(watched.number);
            }
            !lives || mutant!("foreign/moved-forgotten") && watched.closure != before
        });
        self.any_dead.store(!dead.is_empty(), Ordering::Relaxed);
    }

    /// A collection is over, after which `is_old` says whether closures are old.
    pub(super) fn settle(&self, is_old: impl Fn(u64) -> bool) {
        let mut closures = self.closures.lock();
        closures.watched.settle(|watched| is_old(watched.closure));
    }

    /// Calls `visit` for the slots of watched closures.
    pub(crate) fn for_each(&self, visited: Visited, mut visit: impl FnMut(Slot)) {
        let mut closures = self.closures.lock();
        let slot = |watched: &mut Watched| visit(Slot(&mut watched.closure));
        closures.watched.for_each(visited, slot);
    }

    /// A prescan of the closures begins, or is over.
    pub(super) fn set_prescan(&self, yes: bool) {
        self.closures.lock().watched.set_prescan(yes);
    }

    /// Looks at some of them. Returns whether it has seen all.
    pub(super) fn prescan(&self, is_settled: impl Fn(u64) -> bool) -> bool {
        let mut closures = self.closures.lock();
        closures.watched.prescan(|watched| is_settled(watched.closure))
    }

    /// Calls `is_new` with the address, the number and the bytes of each closure that is new. It
    /// stays new if the answer is true.
    pub(crate) fn for_each_new(&self, mut is_new: impl FnMut(Addr, u64, Bytes) -> bool) {
        let mut closures = self.closures.lock();
        closures.watched.for_each(Visited::All, |watched| {
            if watched.is_new {
                watched.is_new = is_new(Addr(watched.closure as usize), watched.number, watched.bytes);
            }
        });
    }

    /// Whether closures have died whose numbers have not been taken. (A thread that sees this late
    /// takes them late.)
    pub(crate) fn any_dead(&self) -> bool {
        self.any_dead.load(Ordering::Relaxed)
    }

    /// Takes the number of the next closure that has died.
    pub(crate) fn take_dead(&self) -> Option<u64> {
        let mut closures = self.closures.lock();
        let number = closures.dead.pop_front();
        self.any_dead.store(!closures.dead.is_empty(), Ordering::Relaxed);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_death_is_reported_once_and_survivors_are_new_once() {
        let watch = Watch::default();
        (1..=4).for_each(|number| watch.register(number * 8, 10 * number, Bytes(number as usize)));
        assert!(!watch.any_dead());
        // SAFETY: the slots belong to the table.
        watch.note_deaths(Visited::All, |slot| unsafe { slot.load() }.0.addr() != 16);
        let mut new = Vec::new();
        watch.for_each_new(|at, number, bytes| {
            new.push((at.0, number, bytes.0));
            number == 40
        });
        assert_eq!(new, [(8, 10, 1), (24, 30, 3), (32, 40, 4)]);
        assert!(watch.any_dead());
        assert_eq!((watch.take_dead(), watch.any_dead()), (Some(20), false));
        watch.note_deaths(Visited::All, |_| false);
        assert_eq!(
            [(); 4].map(|()| watch.take_dead()),
            [Some(10), Some(30), Some(40), None]
        );
    }
}
