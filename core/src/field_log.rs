//! The log of stores to old closures: a *field-logging barrier* (Levanoni and Petrank's, LXR's).
//!
//! For collectors that count references. An *epoch* is the time between two pauses. The first store to a
//! slot of an old closure in an epoch notes the slot and the value that it overwrites. What comes between
//! that and the value that the next pause finds is not counted: one increment and one decrement are
//! enough for any number of stores.
//!
//! The slots are in the mutator's remembered set, each once, and the overwritten values here. A table has a
//! bit for each slot that has been noted, for all mutators: of those that store to a slot at the same time, one
//! sets the bit (race R18 of `docs/parallel-collection.md`). Memory is bounded as a [`RememberedSet`]'s is.
//! When there are so many values that they are bits, it is not known how often each was overwritten.

use crate::closure::{ClosureRef, Slot};
use crate::remembered::RememberedSet;
use crate::space::MarkBits;
use crate::sync::Arc;
use std::cell::RefCell;

/// The bit of the barrier word that is set while a barrier logs.
pub(crate) const LOGGING: u64 = 2;

/// The log of one mutator.
#[derive(Debug)]
pub struct FieldLog {
    /// A set of addresses of the heap, like the set of slots. A value may be in it repeatedly.
    overwritten: RememberedSet,
    /// While it logs: from the end of a pause to the next one.
    tables: RefCell<Option<LogTables>>,
}

/// The tables that the logs of all mutators share.
#[derive(Clone, Debug)]
pub struct LogTables {
    /// The slots that have been noted in this epoch. (Bits of other words mean nothing here.)
    pub noted: Arc<MarkBits>,
    /// The old closures, where young ones lie among them.
    pub old: Arc<MarkBits>,
}

/// An overwritten value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// In one slot.
    Once(ClosureRef),
    /// In some number of slots.
    Often(ClosureRef),
}

impl FieldLog {
    /// An empty log, in the heap of a remembered set.
    pub(crate) fn beside(remembered: &RememberedSet) -> Self {
        FieldLog {
            overwritten: remembered.another(),
            tables: RefCell::default(),
        }
    }

    /// Whether the store to a slot is the first of this epoch, and the slot is an old closure's. The caller
    /// has loaded the slot's value before.
    pub(crate) fn is_first(&self, slot: Slot, is_mixed: bool) -> bool {
        let tables = self.tables.borrow();
        let tables = tables.as_ref().expect("a barrier that logs has tables");
        let is_old = !is_mixed || tables.old.has_slot(slot);
        let is_old = mutant!("log/young-logged", is_old => true);
        mutant!("log/mixed-not-logged", is_old => !is_mixed) && tables.noted.set_shared(slot.addr())
    }

    /// Notes the value that the slot had.
    pub(crate) fn note(&self, old: ClosureRef) {
        self.overwritten.push(Slot(old.0));
    }

    /// An epoch begins: until it ends, the barrier logs in these tables.
    pub(crate) fn begin(&self, tables: LogTables) {
        self.tables.replace(Some(tables));
    }

    /// An epoch ends: gives the tables back. The slots in the mutator's set do not count as noted any more.
    pub(crate) fn end(&self, remembered: &RememberedSet) {
        if let Some(LogTables { noted, .. }) = self.tables.take() {
            let slots = remembered.slots();
            slots
                .filter(|_| !mutant!("log/slot-not-forgotten"))
                .for_each(|slot| noted.unset(slot.addr()));
        }
    }

    /// Calls `visit` for the values that were overwritten, and forgets them.
    pub fn take(&self, mut visit: impl FnMut(Replaced)) {
        let is_listed = self.overwritten.is_listed() || mutant!("log/often-counted-once");
        self.overwritten.take(|slot| {
            let old = ClosureRef(slot.0);
            visit(if is_listed {
                Replaced::Once(old)
            } else {
                Replaced::Often(old)
            });
        });
    }
}

/// A model for loom (`.ci/loom`).
#[cfg(all(test, gclab_loom))]
mod models {
    use super::*;
    use crate::space::set_first;
    use crate::sync::AtomicU64;
    use crate::sync::Ordering::Relaxed;
    use crate::workers::models::model;
    use loom::thread;

    /// Two threads store to a slot. One notes it, and the value that it had before.
    #[test]
    fn one_thread_notes_the_first_value() {
        const FIRST: u64 = 8;
        struct Field {
            slot: AtomicU64,
            bits: AtomicU64,
        }
        impl Field {
            /// The value that the thread notes.
            fn write(&self, new: u64) -> Option<u64> {
                let old = self.slot.load(Relaxed);
                // SAFETY: the atomics represent an entry of a table, and a slot.
                let is_first = unsafe { set_first((&raw const self.bits).cast(), 1) };
                let slot = Slot((&raw const self.slot).cast_mut().cast());
                // SAFETY: as above.
                unsafe { slot.publish(ClosureRef(new as *mut u64)) };
                is_first.then_some(old)
            }
        }
        model(None, || {
            let field = Arc::new(Field {
                slot: AtomicU64::new(FIRST),
                bits: AtomicU64::new(0),
            });
            let other = {
                let field = Arc::clone(&field);
                thread::spawn(move || field.write(16))
            };
            let noted = [field.write(24), other.join().unwrap()];
            assert!(noted == [Some(FIRST), None] || noted == [None, Some(FIRST)]);
        });
    }
}

#[cfg(all(test, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;
    use crate::block::{BlockState, FIRST_OLD_STEP};
    use crate::closure::{Header, Kind, TypeInfo};
    use crate::config::Config;
    use crate::heap::Heap;
    use crate::words::{Bytes, Words};

    static HUNDRED: TypeInfo = TypeInfo::fixed(Kind::Constr, "Hundred", "test", 100, 100);

    /// A value that was overwritten in many slots is not forgotten, nor is it known how many they were.
    #[test]
    fn many_values_become_a_set() {
        let config = Config {
            reserve: Bytes::mib(64),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a heap");
        let table = || Arc::new(MarkBits::new(&heap).expect("a table"));
        let tables = LogTables {
            noted: table(),
            old: table(),
        };
        let base = heap.blocks().base();
        let remembered = RememberedSet::of_heap(base, heap.charges());
        let log = FieldLog::beside(&remembered);
        let run = heap
            .allocate(255, 255, BlockState::of_step(FIRST_OLD_STEP))
            .expect("room");
        let old = ClosureRef(run.start().as_mut_ptr());
        for (count, is_known) in [(3, true), (if cfg!(miri) { 1000 } else { 1_000_000 }, false), (3, true)] {
            log.begin(tables.clone());
            for number in (0..count).chain(0..count) {
                let slot = Slot((run.start() + Words(number)).as_mut_ptr());
                if log.is_first(slot, false) {
                    remembered.push(slot);
                    log.note(old);
                }
            }
            assert_eq!(remembered.slots().count(), count);
            let mut found = Vec::new();
            log.end(&remembered);
            log.take(|replaced| found.push(replaced));
            if is_known {
                assert_eq!(found, vec![Replaced::Once(old); count]);
            } else {
                found.dedup();
                assert_eq!(found, [Replaced::Often(old)]);
            }
            let is_clear = (0..count).all(|number| !tables.noted.get(run.start() + Words(number)));
            assert!(is_clear && Arc::strong_count(&tables.noted) == 1);
            remembered.take(|_| ());
        }
        // In a mixed block only marked closures are old.
        log.begin(tables.clone());
        let slot = |words| Slot((old.addr() + Words(words)).as_mut_ptr());
        assert!(!log.is_first(slot(1), true));
        // SAFETY: the word is in a run of this heap.
        unsafe { old.0.write(Header::new(&HUNDRED).0) };
        tables.old.set_shared(old.addr());
        assert!([1, 2, 100].iter().all(|&words| log.is_first(slot(words), true)));
        assert!(!log.is_first(slot(101), true));
    }
}
