//! What the program attaches to closures and the world keeps: functions of finalisers, and values
//! outside the heap. The closures are in tables beside the heap's roots
//! ([`crate::roots::finalisers`], [`crate::roots::watch`]).

use crate::block::Charges;
use crate::roots::finalisers::{FinaliserTable, Occasion};
use crate::roots::watch::Watch;
use crate::sync::{Arc, Mutex};
use crate::words::Bytes;
use std::any::Any;
use std::collections::BTreeMap;

/// A finaliser's function: a box of the mutator's own function type.
pub(crate) type FinaliserFunction = Box<dyn Any + Send>;

/// A value that a closure owns.
pub(crate) type ForeignValue = Arc<dyn Any + Send + Sync>;

/// The memory of a finaliser without its function: an entry of the table of closures, and one of
/// the functions' map, both half full; and what two allocations cost the system.
const FINALISER: Bytes = Bytes(2 * (16 + 24) + 2 * 16);

/// Charges are made by as many bytes.
const CHARGED: Bytes = Bytes(16 << 10);

/// The functions of registered finalisers, by their numbers. They come and go in the order of the
/// numbers, nearly, so what a map in this order touches is in the cache. An alarm that is running
/// has none.
/// Their memory counts under the limit; no finaliser is refused for it.
pub(super) struct Functions(Mutex<Counted>);

struct Counted {
    functions: BTreeMap<u64, FinaliserFunction>,
    charges: Charges,
    /// Bytes of all functions, and those that are charged for them: at most `CHARGED` more or less.
    held: usize,
    charged: usize,
}

impl Counted {
    fn insert(&mut self, number: u64, function: FinaliserFunction) {
        self.held += FINALISER.0 + size_of_val(&*function);
        while self.held > self.charged {
            self.charges.charge_anyway(CHARGED);
            self.charged += CHARGED.0;
        }
        self.functions.insert(number, function);
    }

    fn remove(&mut self, number: u64) -> Option<FinaliserFunction> {
        let function = self.functions.remove(&number)?;
        self.held -= FINALISER.0 + size_of_val(&*function);
        while self.held + 2 * CHARGED.0 <= self.charged {
            self.charges.release(CHARGED);
            self.charged -= CHARGED.0;
        }
        Some(function)
    }
}

impl Functions {
    pub(super) fn new(charges: Charges) -> Functions {
        Functions(Mutex::new(Counted {
            functions: BTreeMap::new(),
            charges,
            held: 0,
            charged: 0,
        }))
    }

    pub(super) fn register(
        &self,
        table: &FinaliserTable,
        (occasion, closure): (Occasion, u64),
        function: FinaliserFunction,
    ) -> u64 {
        // No collection can make it ready before its function is there, since this thread is
        // running.
        let number = table.register(occasion, closure);
        self.0.lock().insert(number, function);
        number
    }

    pub(super) fn take(&self, number: u64) -> Option<FinaliserFunction> {
        self.0.lock().remove(number)
    }

    pub(super) fn put_alarm_back(&self, table: &FinaliserTable, number: u64, alarm: FinaliserFunction) {
        if table.has_alarm(number) {
            self.0.lock().insert(number, alarm);
        }
    }

    pub(super) fn remove_alarm(&self, table: &FinaliserTable, id: u64) {
        if let Some(number) = table.remove_alarm(id) {
            // Dropped without the lock: it may own anything.
            let function = self.0.lock().remove(number);
            drop(function);
        }
    }
}

/// The values by their numbers, and their bytes.
#[derive(Default)]
pub(super) struct Values(Mutex<Table>);

#[derive(Default)]
struct Table {
    values: BTreeMap<u64, (Bytes, ForeignValue)>,
    counts: ForeignCounts,
}

/// The figures of values outside the heap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ForeignCounts {
    /// Values so far.
    pub(super) closures: u64,
    /// Bytes of all values so far.
    pub(super) allocated: u64,
    /// Bytes of values that have not been dropped.
    pub(super) held: u64,
    /// Peak of these bytes.
    pub(super) peak: u64,
}

impl Values {
    pub(super) fn own(&self, watch: &Watch, closure: u64, value: ForeignValue, bytes: Bytes) {
        let mut table = self.0.lock();
        let Table { values, counts } = &mut *table;
        counts.closures += 1;
        counts.allocated += bytes.0 as u64;
        counts.held += bytes.0 as u64;
        counts.peak = counts.peak.max(counts.held);
        values.insert(counts.closures, (bytes, value));
        // No collection can come first: this thread is running.
        watch.register(closure, counts.closures, bytes);
    }

    /// Takes the value of a closure that has died.
    fn take(&self, number: u64) -> Option<ForeignValue> {
        let mut table = self.0.lock();
        let (bytes, value) = table.values.remove(&number)?;
        table.counts.held -= mutant!("foreign/counted-down-twice", bytes.0 as u64 => bytes.0 as u64 * 2);
        Some(value)
    }

    /// Drops the values of closures that have died, in the order in which they were allocated.
    pub(super) fn drop_dead(&self, watch: &Watch) {
        while let Some(number) = watch.take_dead() {
            // Dropped without the lock: it runs the program's code. If it panics, the others are
            // still there.
            let value = self.take(number);
            drop(value);
        }
    }

    pub(super) fn counts(&self) -> ForeignCounts {
        self.0.lock().counts
    }
}
