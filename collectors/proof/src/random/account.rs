//! The words that a program has allocated, and the values outside the heap that its closures own.

use super::difference::differ;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// A value outside the heap that reports when it is dropped.
pub(super) struct Owned {
    number: u64,
    ledger: Arc<Mutex<Ledger>>,
}

impl Owned {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.ledger.lock().expect("sound").note_drop(self.number);
    }
}

/// Values and bytes outside the heap, as the statistics of a run have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    /// Values that closures have owned.
    pub closures: u64,
    /// The bytes of all of them.
    pub bytes: u64,
    /// The bytes of those that are not dropped.
    pub held: u64,
    /// Peak of these bytes.
    pub peak: u64,
}

/// The values of a program.
#[derive(Default)]
struct Ledger {
    /// By number: the bytes of each value that is not dropped, 0 until a closure owns it.
    held: HashMap<u64, u64>,
    /// The numbers of those that were dropped since the program last looked, and whether each was
    /// dropped before.
    dropped: Vec<(u64, bool)>,
    figures: Figures,
}

impl Ledger {
    fn note_drop(&mut self, number: u64) {
        let bytes = self.held.remove(&number);
        self.figures.held -= bytes.unwrap_or(0);
        self.dropped.push((number, bytes.is_none()));
    }
}

/// The words and the values of a program on one heap.
#[derive(Default)]
pub(super) struct Account {
    words: Cell<u64>,
    ledger: Arc<Mutex<Ledger>>,
}

impl Account {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("sound")
    }

    /// The number of words allocated.
    pub(super) fn words(&self) -> u64 {
        self.words.get()
    }

    /// Counts words that were allocated.
    pub(super) fn count(&self, words: u64) {
        self.words.set(self.words.get() + words);
    }

    /// Makes the value of this number, which no closure owns yet.
    pub(super) fn value(&self, number: u64) -> Owned {
        self.ledger().held.insert(number, 0);
        Owned {
            number,
            ledger: Arc::clone(&self.ledger),
        }
    }

    /// A closure owns the value, with this many bytes.
    pub(super) fn own(&self, number: u64, bytes: u64) {
        let mut ledger = self.ledger();
        if ledger.held.insert(number, bytes).is_none() {
            drop(ledger);
            differ(format!("value {number} was dropped before its closure was there"));
        }
        let figures = &mut ledger.figures;
        figures.closures += 1;
        figures.bytes += bytes;
        figures.held += bytes;
        figures.peak = figures.peak.max(figures.held);
    }

    /// The numbers of all values that are not dropped.
    pub(super) fn held(&self) -> Vec<u64> {
        self.ledger().held.keys().copied().collect()
    }

    /// Takes the numbers of the values that were dropped since the last call, and whether each was
    /// dropped before.
    pub(super) fn take_dropped(&self) -> Vec<(u64, bool)> {
        std::mem::take(&mut self.ledger().dropped)
    }

    pub(super) fn figures(&self) -> Figures {
        self.ledger().figures
    }
}
