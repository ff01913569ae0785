//! Frames: the roots of running code.
//!
//! A frame is a fixed number of slots on the Rust stack, linked to the frame below it; a collection
//! walks the links. Opening one costs two stores, one store per slot and a link; closing it one
//! store. It closes when its closure returns or unwinds, so frames always nest like calls.
//!
//! While a thread is in [`Mutator::blocking`], collections read and write its slots. So every
//! method that touches a slot takes a view of the mutator, or a pointer from such a view: both
//! borrow the mutator, which `blocking` borrows exclusively. Nothing else protects the slots there;
//! a method without a view would be unsound.

use super::brand::Brand;
use super::{Gc, Mutator, NoGc};
use crate::closure::Closure;
use crate::kind::MutatorKind;
use crate::profile::{CostCentre, StackId};
use crate::roots::frames::FrameHeader;
use crate::session::Participant;
use std::cell::Cell;
use std::marker::PhantomData;

/// A frame of `N` slots.
#[repr(C)]
struct Frame<const N: usize> {
    header: FrameHeader,
    slots: [Cell<u64>; N],
}

/// An empty slot of a frame; [`FrameSlot::put`] makes it a typed root.
#[derive(Debug)]
pub struct FrameSlot<'f, 'h> {
    slot: &'f Cell<u64>,
    _brand: Brand<'h>,
}

/// A root: a slot of a frame that holds a pointer to a `T` and that collections update.
pub struct Root<'f, 'h, T> {
    slot: &'f Cell<u64>,
    _type: PhantomData<fn(T) -> T>,
    _brand: Brand<'h>,
}

/// A root that may be empty.
pub struct OptionRoot<'f, 'h, T> {
    slot: &'f Cell<u64>,
    _type: PhantomData<fn(T) -> T>,
    _brand: Brand<'h>,
}

impl<T: Closure> std::fmt::Debug for Root<'_, '_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Root<{}>", T::INFO.name)
    }
}

impl<T: Closure> std::fmt::Debug for OptionRoot<'_, '_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OptionRoot<{}>", T::INFO.name)
    }
}

impl<'f, 'h> FrameSlot<'f, 'h> {
    /// Roots `gc` in this slot.
    #[inline(always)]
    pub fn put<T>(self, gc: Gc<'_, 'h, T>) -> Root<'f, 'h, T> {
        self.slot.set(gc.to_word());
        Root {
            slot: self.slot,
            _type: PhantomData,
            _brand: PhantomData,
        }
    }

    /// Roots `gc`, or nothing yet, in this slot.
    #[inline(always)]
    pub fn put_option<T>(self, m: &NoGc<'h, impl MutatorKind>, gc: Option<Gc<'_, 'h, T>>) -> OptionRoot<'f, 'h, T> {
        m.expect_running();
        self.slot.set(Gc::option_to_word(gc));
        OptionRoot {
            slot: self.slot,
            _type: PhantomData,
            _brand: PhantomData,
        }
    }
}

impl<'h, T> Root<'_, 'h, T> {
    /// Roots another closure here instead.
    #[inline(always)]
    pub fn set<M: MutatorKind>(&self, m: &NoGc<'h, M>, gc: Gc<'_, 'h, T>) {
        m.expect_running();
        self.slot.set(gc.to_word());
    }

    /// The closure, good until the mutator may collect.
    #[inline(always)]
    pub fn get<'m, M: MutatorKind>(&self, m: &'m NoGc<'h, M>) -> Gc<'m, 'h, T> {
        m.expect_running();
        // SAFETY: `put` and `set` store pointers to `T`s of heap `'h`, collections update them, and
        // none runs while the mutator is borrowed for `'m`.
        unsafe { Gc::from_word(self.slot.get()) }
    }
}

impl<'h, T> OptionRoot<'_, 'h, T> {
    /// Roots another closure, or nothing, here instead.
    #[inline(always)]
    pub fn set<M: MutatorKind>(&self, m: &NoGc<'h, M>, gc: Option<Gc<'_, 'h, T>>) {
        m.expect_running();
        self.slot.set(Gc::option_to_word(gc));
    }

    /// The closure, if there is one, good until the mutator may collect.
    #[inline(always)]
    pub fn get<'m, M: MutatorKind>(&self, m: &'m NoGc<'h, M>) -> Option<Gc<'m, 'h, T>> {
        m.expect_running();
        // SAFETY: as for `Root::get`, or the slot is empty.
        unsafe { Gc::option_from_word(self.slot.get()) }
    }
}

/// Restores the value of a cell when it goes out of scope, even by unwinding.
struct Restore<'a, T: Copy> {
    cell: &'a Cell<T>,
    before: T,
}

impl<T: Copy> Drop for Restore<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if size_of::<T>() == size_of::<usize>() || !mutant!("profiles/cost-centre-not-left") {
            self.cell.set(self.before);
        }
    }
}

/// Publishes the stack of cost centres that was left, when it goes out of scope.
struct Published<'a, A>(&'a Participant<A>, StackId);

impl<A> Drop for Published<'_, A> {
    fn drop(&mut self) {
        if !mutant!("profiles/left-centre-not-published") {
            self.0.set_stack(self.1);
        }
    }
}

impl<'h, M: MutatorKind> Mutator<'h, M> {
    /// Opens a frame of `N` slots for the duration of `body`. The slots are empty;
    /// [`FrameSlot::put`] makes each a typed root.
    ///
    /// `body` may return a pointer: it is valid as long as the mutator stays borrowed.
    #[inline(always)]
    pub fn frame<'m, R, const N: usize>(
        &'m mut self,
        body: impl for<'f> FnOnce(&'m mut Mutator<'h, M>, [FrameSlot<'f, 'h>; N]) -> R,
    ) -> R {
        let top: *const Cell<*const FrameHeader> = &self.view.capability.common.frames;
        // SAFETY: the cell lies in the mutator, which does not move while it is borrowed for `'m`,
        // and only its thread uses it. `top` is used before and after `body`, never while it runs.
        // The mutator that `body` had, and may return, is a younger `&mut` to the same mutator:
        // mutators are not `Unpin`, so that reference does not claim exclusive access to the cell.
        let top = unsafe { &*top };
        let below = top.get();
        let frame: Frame<N> = Frame {
            header: FrameHeader { below, slots: N },
            slots: [const { Cell::new(0) }; N],
        };
        // The pointer is made from the whole frame, so that it may access the slots after the
        // header.
        top.set((&raw const frame).cast());
        let _close = Restore {
            cell: top,
            before: below,
        };
        let slots = std::array::from_fn(|i| FrameSlot {
            slot: &frame.slots[i],
            _brand: PhantomData,
        });
        body(self, slots)
    }

    /// Runs `body` as a named part of the program: profiles (`-hc`, `-hr`) and Memprof attribute
    /// its allocations to that name and to those of the enclosing parts.
    ///
    /// `body` may return a pointer, as in [`Mutator::frame`]. Entering a part takes a lock and a
    /// table look-up, so a part should be more than a few allocations.
    #[inline(always)]
    pub fn cost_centre<'m, R>(&'m mut self, centre: CostCentre, body: impl FnOnce(&'m mut Mutator<'h, M>) -> R) -> R {
        let before = self.cost_centres.get();
        let inner = self.world().stacks.lock().enter(before, centre);
        self.cost_centres.set(inner);
        let cell: *const Cell<StackId> = &self.cost_centres;
        // SAFETY: as for the cell of frames.
        let cell = unsafe { &*cell };
        let _leave = Restore { cell, before };
        let _published = M::OBSERVED.then(|| {
            // SAFETY: `begin`'s caller promises that the participant is valid as long as the mutator.
            let participant = unsafe { &*self.participant };
            participant.set_stack(inner);
            Published(participant, before)
        });
        body(self)
    }
}
