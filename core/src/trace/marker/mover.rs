//! How one thread of a marking moves closures, in addition to marking.
//!
//! A closure of a condemned block moves to the [`Destination`], or stays where it is if there is no
//! room. Threads may disagree about that, so the first thread to replace the closure's header
//! decides: it becomes the address of the copy, or gets the bit of closures that stay
//! ([`Header::staying`]). Either way, the closure is marked and scanned where it then lies, like
//! any other. So only copies and closures that stay have marks. The bit is cleared when the marking
//! is over (by the space, which knows the condemned blocks).
//!
//! A slot belongs to the thread that scans it, and only that thread updates it. A thread may scan
//! the slots of a staying closure while another is still making a useless copy of it, so in
//! parallel both use atomics (race R12 of `docs/parallel-collection.md`).

use crate::block::StateView;
use crate::closure::{ClosureRef, Header, Slot};
use crate::profile::{MoveSideWords, SideWords};
use crate::space::{Destination, Room};
use crate::sync::{Arc, Ordering::Relaxed, shared_word};
use crate::trace::copier::copy_run;
use crate::words::{Addr, Words};

/// One thread's state for moving closures.
#[derive(Debug)]
pub(super) struct Mover<'m, D: Destination> {
    destination: &'m D,
    pub states: StateView,
    side_words: Option<Arc<SideWords>>,
    /// The thread's room for copies.
    room: D::Room,
    /// The words that this thread moved.
    pub moved: Words,
}

impl<'m, D: Destination> Mover<'m, D> {
    /// A mover without room.
    pub(super) fn new(states: StateView, side_words: Option<Arc<SideWords>>, destination: &'m D) -> Self {
        Mover {
            destination,
            states,
            side_words,
            room: D::Room::default(),
            moved: Words(0),
        }
    }

    /// A mover for another thread.
    pub(super) fn another(&self) -> Self {
        Mover::new(self.states, self.side_words.clone(), self.destination)
    }

    /// Exchanges the rooms of two movers of one thread, so that it fills one at a time.
    pub(super) fn exchange_rooms(&mut self, other: &mut Mover<'_, D>) {
        std::mem::swap(&mut self.room, &mut other.room);
    }

    /// Returns the rest of the room.
    pub(super) fn leave(&mut self) {
        let room = std::mem::take(&mut self.room);
        if !mutant!("evacuate/rest-lost") {
            self.destination.leave(room);
        }
    }

    /// Finds the place of the closure that `slot` holds, moves it there, and updates the slot.
    /// Returns the closure if it has to be marked there.
    ///
    /// # Safety
    /// The slot holds a closure of the stopped heap, or the former address of one that has moved.
    /// No other thread uses the slot, and none writes the closure except as this function does.
    #[inline(always)]
    pub(super) unsafe fn place<const PARALLEL: bool>(&mut self, slot: Slot) -> Option<ClosureRef> {
        // SAFETY: the caller's promise, here and below.
        unsafe {
            let closure = slot.load();
            let state = self.states.of(closure.addr());
            if !state.is_condemned() || state.is_large() {
                return Some(closure);
            }
            let header = if PARALLEL {
                closure.shared_header()
            } else {
                closure.header()
            };
            if header.stays() {
                return Some(closure);
            }
            let (place, is_new) = match header.forwarded_to() {
                Some(copy) => (copy, false),
                None => self.decide::<PARALLEL>(closure, header),
            };
            if place != closure && !mutant!("evacuate/slot-not-updated") {
                update::<PARALLEL>(slot, place);
            }
            is_new.then_some(place)
        }
    }

    /// Updates `slot` if its closure has moved.
    ///
    /// # Safety
    /// As for [`Mover::place`]; the slot may hold null.
    #[inline(always)]
    pub(super) unsafe fn follow(&self, slot: Slot) {
        // SAFETY: the caller's promise.
        unsafe {
            let closure = slot.load();
            if self.states.of(closure.addr()).is_condemned()
                && let Some(copy) = closure.header().forwarded_to()
            {
                slot.store(copy);
            }
        }
    }

    /// Moves a closure, or makes it stay, unless another thread is faster. Returns its place, and
    /// whether it may still need marking there.
    ///
    /// # Safety
    /// As for [`Mover::place`]; the closure had this header a moment ago.
    #[inline(always)]
    unsafe fn decide<const PARALLEL: bool>(&mut self, closure: ClosureRef, header: Header) -> (ClosureRef, bool) {
        // SAFETY: the caller's promise. In parallel the first word may have changed by now, so it
        // is not read again; the size in the second does not change.
        unsafe {
            let words = closure.extent_from(header).words;
            let copy = self.copy::<PARALLEL>(closure, header, words);
            let new = copy.map_or(header.staying(), |copy| Header(copy.0 as u64));
            match decide::<PARALLEL>(closure, header, new) {
                Ok(()) => {
                    if let Some(copy) = copy {
                        self.room.commit(copy.addr(), words);
                        self.moved += words;
                        self.move_side_word(closure, copy, words);
                    }
                    (copy.unwrap_or(closure), true)
                }
                // The other thread marks its copy.
                Err(other) => other.forwarded_to().map_or((closure, true), |copy| (copy, false)),
            }
        }
    }

    /// Copies a closure to a place in the thread's room without claiming that. `None` if there is
    /// no room.
    ///
    /// # Safety
    /// As for [`Mover::decide`], for a closure of `words` words.
    #[inline(always)]
    unsafe fn copy<const PARALLEL: bool>(
        &mut self,
        closure: ClosureRef,
        header: Header,
        words: Words,
    ) -> Option<ClosureRef> {
        let at = match self.room.reserve(words) {
            Some(at) => at,
            None => self.refill(words)?,
        };
        let copy = at.as_mut_ptr::<u64>();
        // SAFETY: the destination's memory is this thread's, and no closure lies there. The caller
        // vouches for the closure.
        unsafe {
            copy.write(header.0);
            if PARALLEL {
                for word in 1..words.0 {
                    // Relaxed: values that a scanning thread writes are read only for a discarded
                    // copy.
                    copy.add(word).write(shared_word(closure.0.add(word)).load(Relaxed));
                }
            } else {
                copy_run(closure.0.add(1), copy.add(1), words.0 - 1);
            }
        }
        Some(ClosureRef(copy))
    }

    /// Takes more room, and a place there for `words` words. `None` if there is none.
    #[inline(never)]
    fn refill(&mut self, words: Words) -> Option<Addr> {
        self.destination.refill(&mut self.room, words).then_some(())?;
        self.room.reserve(words)
    }

    fn move_side_word(&self, from: ClosureRef, to: ClosureRef, words: Words) {
        if let Some(side_words) = self.side_words.as_ref().filter(|_| !mutant!("evacuate/side-word-left")) {
            // SAFETY: both places lie in the heap.
            unsafe { side_words.view().moves(from.addr(), to.addr(), words) };
        }
    }
}

/// Replaces the header of a closure, if no other thread has done so.
///
/// # Safety
/// As for [`ClosureRef::replace_header`]; only this thread does so unless `PARALLEL`.
#[inline(always)]
unsafe fn decide<const PARALLEL: bool>(closure: ClosureRef, header: Header, new: Header) -> Result<(), Header> {
    if !new.is_header() && mutant!("evacuate/not-forwarded") {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe {
        if PARALLEL {
            return closure.replace_header(header, new);
        }
        *closure.0 = new.0;
    }
    Ok(())
}

/// Updates a slot, of which another thread may be making a useless copy if `PARALLEL`.
///
/// # Safety
/// As for [`Slot::store`].
unsafe fn update<const PARALLEL: bool>(slot: Slot, closure: ClosureRef) {
    // SAFETY: passed on.
    unsafe {
        if PARALLEL {
            slot.store_shared(closure);
        } else {
            slot.store(closure);
        }
    }
}
