//! Allocation: reserve, initialise, commit.
//!
//! The fast path is the collector's [`Alloc::reserve`] (for a bump allocator: load the cursor,
//! compare with the limit), the stores of header and payload, and [`Alloc::commit`]. Space is
//! reserved *before* the initialiser runs, and the initialiser sees only [`NoGc`], so nothing can
//! move under the pointers it reads. If it panics, nothing was committed and the heap is unchanged.

use super::{Gc, Mutator, NoGc};
use crate::alloc::Alloc;
use crate::block::poison;
use crate::closure::{Closure, Header, Kind};
use crate::heap::LargeRequest;
use crate::kind::MutatorKind;
use crate::words::{Addr, Words};

/// The initial value of a closure of fixed layout in heap `'h`. Written by the derive.
///
/// # Safety
/// `write` fills exactly the payload that `Object::INFO` describes, with pointers into heap `'h`
/// only, and `WORDS` is the closure's size with its header.
pub unsafe trait Init<'h> {
    /// The type of the closure that it initialises.
    type Object: Closure;
    /// Size of the closure in words, header included.
    const WORDS: usize;
    /// Writes the payload.
    ///
    /// # Safety
    /// `payload` has room for `WORDS - 1` words.
    unsafe fn write(self, payload: *mut u64);
}

impl<'h, M: MutatorKind> Mutator<'h, M> {
    /// Allocates the closure that `init` describes. May collect before `init` runs, not after.
    #[inline(always)]
    pub fn alloc<'m, I: Init<'h>>(&'m mut self, init: impl FnOnce(&'m NoGc<'h, M>) -> I) -> Gc<'m, 'h, I::Object> {
        self.alloc_with(init).1
    }

    /// Allocates, and also returns a view of the mutator, so that the new closure can be stored at
    /// once.
    #[inline(always)]
    pub fn alloc_with<'m, I: Init<'h>>(
        &'m mut self,
        init: impl FnOnce(&'m NoGc<'h, M>) -> I,
    ) -> (&'m NoGc<'h, M>, Gc<'m, 'h, I::Object>) {
        let words = Words(I::WORDS);
        let at = self.reserve(words);
        let view = &self.view;
        let value = init(view);
        let closure = at.0 as *mut u64;
        // SAFETY: `reserve` provided `WORDS` words that only this mutator owns, and `init`, which
        // cannot allocate, did not touch them.
        unsafe {
            closure.write(Header::with_layout(I::Object::INFO, const { Header::layout(I::Object::INFO) }).0);
            value.write(closure.add(1));
        }
        if !mutant!("profiles/birth-not-noted") {
            view.born(at, words, I::Object::INFO);
        }
        view.capability.alloc.commit(at, words);
        // SAFETY: the closure was just written, with the info table of its type.
        (view, unsafe { Gc::from_word(closure as u64) })
    }

    /// Runs `alloc`, which returns a new closure (or any other), and also returns a view of the
    /// mutator, so that the closure can be stored somewhere at once. [`Mutator::alloc_with`] does
    /// this for [`Mutator::alloc`]; this method serves every other function that allocates, as in
    /// `let (m, name) = m.with_view(|m| m.alloc_bytes(b"name"));`.
    #[inline(always)]
    pub fn with_view<'m, T: Closure>(
        &'m mut self,
        alloc: impl for<'a> FnOnce(&'a mut Self) -> Gc<'a, 'h, T>,
    ) -> (&'m NoGc<'h, M>, Gc<'m, 'h, T>) {
        let closure = alloc(self).to_word();
        // SAFETY: a closure of type `T` of this heap, which does not move: only through the mutator
        // could it be moved, and the mutator has been ours since `alloc` returned and is shared
        // from here on for `'m`.
        (&self.view, unsafe { Gc::from_word(closure) })
    }

    /// Space for a small closure; may collect.
    #[inline(always)]
    fn reserve(&mut self, words: Words) -> Addr {
        let at = match self.view.capability.alloc.reserve_any(words) {
            Some(at) => at,
            None => self.reserve_slow(words),
        };
        // SAFETY: `Alloc` promises that these words belong to this mutator alone.
        unsafe { poison::lend(at, words.to_bytes()) };
        at
    }

    #[cold]
    #[inline(never)]
    fn reserve_slow(&mut self, words: Words) -> Addr {
        self.view.follow_sampled();
        let (at, samples) = self.reserve_elsewhere(words);
        // Finalisers may have allocated, and their last closure may have sampled words.
        self.view.follow_sampled();
        self.view.note_sampled(at, words, samples);
        at
    }

    /// Space beyond the allocator's current room or limit. Also returns the sampled words of room
    /// from the world.
    fn reserve_elsewhere(&mut self, words: Words) -> (Addr, u32) {
        if let Some(at) = self.view.capability.alloc.reserve_elsewhere(words) {
            return (at, 0);
        }
        self.run_finalisers();
        let (world, session) = self.session();
        let at = world.refill(session, words);
        // The room's words have been drawn. If the room is given up, they are not drawn again.
        let samples = self.view.capability.alloc.take_samples();
        self.attend();
        if self.finaliser_is_due() {
            return (self.reserve_after_finalisers(words), samples);
        }
        (at, samples)
    }

    /// Like [`Mutator::reserve_slow`], after a collection that made finalisers ready. They run
    /// here, where all roots are in place, and may use up the reserved room.
    #[cold]
    #[inline(never)]
    fn reserve_after_finalisers(&mut self, words: Words) -> Addr {
        self.run_finalisers();
        if let Some(at) = self.view.capability.alloc.reserve(words) {
            return at;
        }
        let (world, session) = self.session();
        world.refill(session, words)
    }

    /// Allocates a closure that carries its size in its payload: `words` with the header. `write`
    /// fills the payload.
    ///
    /// Space for large ones comes from the collector's large objects; until `write` is done they
    /// are a byte array, so that a panic leaves a heap that can be walked.
    #[inline(always)]
    pub(super) fn alloc_variable<'m, T: Closure>(
        &'m mut self,
        words: Words,
        write: impl FnOnce(&'m NoGc<'h, M>, *mut u64),
    ) -> Gc<'m, 'h, T> {
        let large = words.0 >= crate::block::LARGE_OBJECT.0;
        let at = if large {
            let has_pointers = const { !matches!(T::INFO.kind, Kind::ArrWords) };
            self.reserve_large(LargeRequest { words, has_pointers })
        } else {
            self.reserve(words)
        };
        let view = &self.view;
        let closure = at.0 as *mut u64;
        write(view, closure.wrapping_add(1));
        // SAFETY: `at` is the start of `words` words that belong to this closure.
        unsafe { closure.write(Header::with_layout(T::INFO, const { Header::layout(T::INFO) }).0) };
        view.born(at, words, T::INFO);
        if !large {
            view.capability.alloc.commit(at, words);
        }
        // SAFETY: written just now.
        unsafe { Gc::from_word(closure as u64) }
    }

    #[cold]
    #[inline(never)]
    fn reserve_large(&mut self, request: LargeRequest) -> Addr {
        self.run_finalisers();
        let (world, session) = self.session();
        let (at, words) = (world.allocate_large(session, request), request.words);
        // SAFETY: the collector has just given these words to this mutator, for a large object.
        unsafe { super::bytes::write_filler(at, words) };
        self.view.note_large(at, words);
        at
    }
}
