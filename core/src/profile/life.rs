//! The life of one closure (`-DT`): where it is allocated, and where it moves.
//!
//! Whether it is alive is checked after each collection, by a look at the stopped heap. This module
//! records only what such a look cannot see.

use super::cost_centre::StackId;
use crate::closure::TypeInfo;
use crate::sync::{AtomicU64, Mutex, Ordering::Relaxed};
use crate::words::{Addr, Words};

/// The closure whose life is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// The n-th one that is allocated, from 1.
    Allocation(u64),
    /// The first one that is allocated at this address or moves there.
    Address(Addr),
}

/// An event in the life of the closure.
#[derive(Clone, Copy, Debug)]
pub enum LifeEvent {
    /// It was allocated.
    Allocated {
        /// The number of the allocation, from 1.
        number: u64,
        /// The address of its header.
        at: Addr,
        /// The step of its block.
        step: u8,
        /// The size, header included.
        words: Words,
        /// Its info table.
        info: &'static TypeInfo,
        /// The stack of cost centres that allocated it.
        stack: StackId,
    },
    /// It moved.
    Moved {
        /// The address that it left.
        from: Addr,
        /// The address that it went to.
        to: Addr,
    },
    /// It was dead: another closure took its place.
    Replaced {
        /// The address of both.
        at: Addr,
    },
    /// The collector counted a reference to it, or no longer counts it.
    Counted {
        /// The reference.
        reference: Reference,
        /// The count before and afterwards; `None`: it is stuck.
        counts: [Option<u8>; 2],
    },
}

/// A reference to a closure, as a collector counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// In this slot.
    Slot(Addr),
    /// In this slot of a closure that is dead.
    Buried(Addr),
    /// In a slot that was overwritten.
    Overwritten,
    /// In slots that were overwritten, it is not known how often.
    OftenOverwritten,
    /// In a frame.
    Frame,
    /// In a frame, at the last collection.
    FormerFrame,
    /// In a handle, weak handle, ephemeron or finaliser.
    Handle,
}

/// No address: the closure is still to come.
const TO_COME: u64 = 0;
/// No address: the closure is dead, and another one may lie where it was.
const DEAD: u64 = u64::MAX;

/// The life of a closure, as mutators and GC threads write it.
#[derive(Debug)]
pub(crate) struct Life {
    followed: Followed,
    allocations: AtomicU64,
    /// The address of the closure, or none. Mutators write it on allocation, and collections on
    /// moves.
    at: AtomicU64,
    events: Mutex<Vec<LifeEvent>>,
}

impl Life {
    /// A life that has not started.
    pub(super) fn new(followed: Followed) -> Life {
        Life {
            followed,
            allocations: AtomicU64::new(0),
            at: AtomicU64::new(TO_COME),
            events: Mutex::default(),
        }
    }

    /// Notes an allocation, at an address and in a step.
    pub(super) fn born(&self, (at, step): (Addr, u8), words: Words, info: &'static TypeInfo, stack: StackId) {
        let number = self.allocations.fetch_add(1, Relaxed) + 1;
        self.takes_place(at);
        let begins = match self.followed {
            Followed::Allocation(wanted) => number == wanted,
            Followed::Address(wanted) => at == wanted && self.is_to_come(),
        };
        if begins {
            self.at.store(at.0 as u64, Relaxed);
            self.events.lock().push(LifeEvent::Allocated {
                number,
                at,
                step,
                words,
                info,
                stack,
            });
        }
    }

    /// Whether the closure at the address is still to come.
    fn is_to_come(&self) -> bool {
        self.at.load(Relaxed) == TO_COME
    }

    /// Notes a move.
    pub(super) fn moves(&self, from: Addr, to: Addr) {
        let arrives = self.followed == Followed::Address(to) && self.is_to_come();
        if arrives || self.at.load(Relaxed) == from.0 as u64 {
            self.at.store(to.0 as u64, Relaxed);
            self.events.lock().push(LifeEvent::Moved { from, to });
        } else {
            self.takes_place(to);
        }
    }

    /// Notes how a reference to the closure at an address was counted.
    pub(super) fn counted(&self, at: Addr, reference: Reference, counts: [Option<u8>; 2]) {
        if self.at.load(Relaxed) == at.0 as u64 && counts[0] != counts[1] {
            self.events.lock().push(LifeEvent::Counted { reference, counts });
        }
    }

    /// Another closure is placed at an address. If the followed one was there, it is dead: a
    /// compaction slid another one over it, or a mutator allocated where it was.
    fn takes_place(&self, at: Addr) {
        if self.at.load(Relaxed) == at.0 as u64 {
            self.ends();
            self.events.lock().push(LifeEvent::Replaced { at });
        }
    }

    /// Takes the events since the last call, in their order.
    pub(super) fn take(&self) -> Vec<LifeEvent> {
        std::mem::take(&mut self.events.lock())
    }

    /// The closure was found dead.
    pub(super) fn ends(&self) {
        self.at.store(DEAD, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closure::Kind;

    static BYTES: TypeInfo = TypeInfo::variable(Kind::ArrWords, "BYTES");

    fn born(life: &Life, at: usize) {
        life.born((Addr(at), 0), Words(2), &BYTES, StackId(0));
    }

    /// Where each event left the closure, 0 for dead.
    fn places(life: &Life) -> Vec<usize> {
        let place = |event: &LifeEvent| match event {
            LifeEvent::Allocated { at, .. } => at.0,
            LifeEvent::Moved { to, .. } => to.0,
            LifeEvent::Replaced { .. } | LifeEvent::Counted { .. } => 0,
        };
        life.take().iter().map(place).collect()
    }

    #[test]
    fn the_second_closure_is_followed_until_another_one_takes_its_place() {
        let life = Life::new(Followed::Allocation(2));
        born(&life, 80);
        life.moves(Addr(80), Addr(800));
        born(&life, 80);
        born(&life, 96);
        life.moves(Addr(96), Addr(160));
        life.moves(Addr(80), Addr(240));
        assert_eq!(places(&life), [80, 240]);
        life.moves(Addr(80), Addr(320));
        born(&life, 240);
        life.moves(Addr(240), Addr(400));
        assert_eq!(places(&life), [0]);
    }

    #[test]
    fn the_first_closure_at_an_address_is_followed() {
        let life = Life::new(Followed::Address(Addr(80)));
        life.moves(Addr(160), Addr(80));
        life.moves(Addr(80), Addr(160));
        born(&life, 80);
        life.moves(Addr(240), Addr(80));
        assert_eq!(places(&life), [80, 160]);
        life.ends();
        born(&life, 160);
        born(&life, 80);
        assert_eq!(places(&life), [0; 0]);
    }
}
