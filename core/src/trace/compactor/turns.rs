//! Turns: which worker slides which part of a heap, and when a place is free to be overwritten.
//!
//! A slide has ordered *units*: slices of large objects, and chunks. A chunk's closures go to that
//! chunk and to chunks before it. Workers *claim* units in this order. A worker *leaves* a chunk
//! when it has moved the chunk's closures. Until then no other worker writes to the chunk (R11 of
//! `docs/parallel-collection.md`).
//!
//! No worker waits forever: the first unit that is claimed but not left waits for none.

use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicBool, AtomicUsize, spin_loop, yield_now};
use std::ops::Range;

/// Failed checks of a unit before the worker yields. A chunk takes some tens of microseconds, and a
/// check about a hundredth of one.
const SPINS: u32 = if cfg!(any(gclab_loom, gclab_shuttle)) { 0 } else { 1000 };

/// The units of a slide, as far as workers must know of each other.
#[derive(Debug)]
pub(in crate::trace) struct Turns {
    /// The first unit that no worker has claimed.
    next: AtomicUsize,
    /// For each unit, whether its worker has left it.
    left: Vec<AtomicBool>,
}

impl Turns {
    /// The turns of `units` units, none of which is claimed.
    pub(in crate::trace) fn new(units: usize) -> Self {
        Turns {
            next: AtomicUsize::new(0),
            left: (0..units).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// The next unit, which is the caller's alone. `None` if all are claimed.
    pub(in crate::trace) fn claim(&self) -> Option<usize> {
        // Relaxed: units have not changed since before any worker was woken.
        let unit = self.next.fetch_add(1, Relaxed);
        (unit < self.left.len()).then_some(unit)
    }

    /// The caller, which has claimed `unit`, has moved everything that was in it.
    pub(in crate::trace) fn leave(&self, unit: usize) {
        // R11. Release: a worker that sees this may overwrite what the caller has read.
        let ordering = mutant!("models/left-relaxed", Release => Relaxed);
        self.left[unit].store(true, ordering);
    }

    /// Whether the workers of all these units have left them.
    pub(in crate::trace) fn have_left(&self, mut units: Range<usize>) -> bool {
        // R11: the counterpart of the release above.
        let ordering = mutant!("models/left-not-acquired", Acquire => Relaxed);
        units.all(|unit| self.left[unit].load(ordering))
    }

    /// Waits until the workers of all these units have left them. All precede a unit that the
    /// caller has claimed.
    pub(in crate::trace) fn wait_for(&self, units: Range<usize>) {
        let mut tries = 0;
        while !self.have_left(units.clone()) && !mutant!("models/left-not-awaited") {
            if tries < SPINS {
                tries += 1;
                spin_loop();
            } else {
                yield_now();
            }
        }
    }
}
