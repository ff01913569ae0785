//! The values outside the heap that closures own. Their closures are in a table beside the heap's
//! roots ([`crate::roots::watch`]).

use crate::mutator::ForeignValue;
use crate::roots::watch::Watch;
use crate::sync::Mutex;
use crate::words::Bytes;
use std::collections::HashMap;

/// The values by their numbers, and their bytes.
#[derive(Default)]
pub(super) struct Values(Mutex<Table>);

#[derive(Default)]
struct Table {
    values: HashMap<u64, (Bytes, ForeignValue)>,
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
    /// Most of these at one time.
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
        // No collection comes before: this thread runs.
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
            // Dropped without the lock: its code is the program's own. After its panic the others
            // are still there.
            let value = self.take(number);
            drop(value);
        }
    }

    pub(super) fn counts(&self) -> ForeignCounts {
        self.0.lock().counts
    }
}
