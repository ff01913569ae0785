//! Roots: the slots from which a collection starts.
//!
//! A mutator's *frames* are a linked list on its thread's stack ([`frames`]). *Handles* are in a
//! table of the heap ([`handles`]): strong ones, weak ones, ephemerons, and *heap roots*, which have names.
//! Other tables list the closures of *finalisers* ([`finalisers`]), and closures whose death must
//! be noted ([`watch`]). A collection sees them all as [`Roots`].

mod aged;
pub(crate) mod finalisers;
pub(crate) mod frames;
pub(crate) mod handles;
mod prescan;
mod slots;
pub(crate) mod watch;

pub(crate) use aged::Visited;

use crate::closure::{ClosureRef, Slot};
use crate::sync::Arc;
use crate::words::{Addr, Bytes, Words};
use finalisers::FinaliserTable;
use frames::FrameHeader;
use handles::HandleTable;
use std::marker::PhantomData;

/// A root, strong or weak, of a world that stays stopped for `'a`. Only [`Roots`] makes root slots,
/// so a safe function that takes one may read and update the slot.
#[derive(Debug, Clone, Copy)]
pub struct RootSlot<'a>(Slot, PhantomData<&'a HandleTable>);

impl RootSlot<'_> {
    fn new(slot: Slot) -> Self {
        RootSlot(slot, PhantomData)
    }

    /// The plain slot.
    pub(crate) fn slot(self) -> Slot {
        self.0
    }

    /// The closure that it holds, if it holds one.
    pub fn get(self) -> Option<ClosureRef> {
        // SAFETY: a root of a stopped world.
        let closure = unsafe { self.0.load() };
        (!closure.is_null()).then_some(closure)
    }

    /// The address that it holds.
    pub(crate) fn closure(self) -> Addr {
        self.get().map_or(Addr::NULL, ClosureRef::addr)
    }
}

/// The place of a slot among the frames of mutators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FramePlace {
    /// The capability of the mutator's thread.
    pub capability: usize,
    /// The number of the frame; the innermost has 0.
    pub frame: usize,
    /// The number of the slot in the frame, from 0.
    pub slot: usize,
}

/// The roots of a stopped world: mutators' frames, handles and heap roots, and separately weak
/// handles.
#[derive(Debug, Clone, Copy)]
pub struct Roots<'a> {
    /// The innermost frame of each capability, in the order of their numbers.
    frames: &'a [*const FrameHeader],
    handles: &'a Arc<HandleTable>,
    /// The handles, finalisers and watched closures among them.
    visited: Visited,
    /// First finalisers keep their closures alive, so the trace makes none of them ready.
    keeps_finalised: bool,
}

impl<'a> Roots<'a> {
    /// # Safety
    /// `frames` are the innermost frames of mutators that stay stopped for `'a`.
    pub(crate) unsafe fn new(frames: &'a [*const FrameHeader], handles: &'a Arc<HandleTable>) -> Self {
        Roots {
            frames,
            handles,
            visited: Visited::All,
            keeps_finalised: false,
        }
    }

    /// The roots without handles, weak handles and finalisers of old closures.
    pub fn of_young(self) -> Self {
        Roots {
            visited: Visited::Young,
            ..self
        }
    }

    /// The roots without the handles, weak handles and finalisers whose closures have been seen marked
    /// since the sliced trace began, and stay where they are.
    pub(crate) fn of_doubtful(self) -> Self {
        Roots {
            visited: Visited::Doubtful,
            ..self
        }
    }

    /// The roots, including the closures of finalisers that get them ([`NoGc::finalise`]): these
    /// run after another trace.
    ///
    /// [`NoGc::finalise`]: crate::mutator::NoGc::finalise
    pub fn keeping_finalised(self) -> Self {
        Roots {
            keeps_finalised: true,
            ..self
        }
    }

    pub(crate) fn visited(self) -> Visited {
        self.visited
    }

    /// Calls `visit` for every slot that keeps its closure alive; slots may be null.
    pub fn for_each(&self, mut visit: impl FnMut(RootSlot<'a>)) {
        self.for_each_frame_slot(|slot| visit(RootSlot::new(slot)));
        self.handles
            .for_each_strong(self.visited, |slot| visit(RootSlot::new(slot)));
        if self.keeps_finalised {
            let finalisers = self.handles.finalisers();
            finalisers.for_each_first(self.visited, |slot| visit(RootSlot::new(slot)));
        }
    }

    /// Calls `visit` for every slot of the mutators' frames.
    pub fn for_each_in_frames(&self, mut visit: impl FnMut(RootSlot<'a>)) {
        self.for_each_frame_slot(|slot| visit(RootSlot::new(slot)));
    }

    /// Calls `visit` for every slot that is not in a frame: those of handles, weak handles, ephemerons and
    /// finalisers, and of closures that are watched. They lead to closures that a collector may not free
    /// before a trace, unless it knows what each of them means.
    pub fn for_each_elsewhere(&self, mut visit: impl FnMut(RootSlot<'a>)) {
        self.handles
            .for_each_strong(self.visited, |slot| visit(RootSlot::new(slot)));
        self.for_each_weak(visit);
    }

    /// Calls `visit` for every slot that does not keep its closure alive.
    pub fn for_each_weak(&self, mut visit: impl FnMut(RootSlot<'a>)) {
        self.handles
            .for_each_weak(self.visited, |slot| visit(RootSlot::new(slot)));
    }

    /// Calls `visit` with the slots of the key and the value of each ephemeron.
    pub(crate) fn for_each_ephemeron(&self, mut visit: impl FnMut(RootSlot<'a>, RootSlot<'a>)) {
        self.handles.for_each_ephemeron(self.visited, |[key, value]| {
            if *key != 0 {
                visit(RootSlot::new(Slot(key)), RootSlot::new(Slot(value)));
            }
        });
    }

    /// After all tracing: clears the ephemerons whose keys are dead.
    pub(crate) fn clear_ephemerons(&self, mut lives: impl FnMut(RootSlot<'a>) -> bool) {
        let mut lives = |word| lives(RootSlot::new(Slot(word)));
        self.handles.for_each_ephemeron(self.visited, |entry| {
            let [key, value] = entry;
            let both_live = lives(key) && lives(value);
            if !both_live && !mutant!("ephemerons/dead-kept") {
                *entry = [0; 2];
            }
        });
    }

    /// Calls `visit` with the bytes that each closure owns outside the heap
    /// ([`crate::mutator::Foreign`]), of those that have survived their first collection since the
    /// last call.
    pub fn for_each_foreign_survivor(&self, mut visit: impl FnMut(Bytes)) {
        self.handles.foreign().for_each_new(|_, _, bytes| {
            visit(bytes);
            false
        });
    }

    /// The words in the frames of all mutators: their stacks, as far as the heap knows them.
    pub fn frame_words(&self) -> Words {
        let mut words = 0;
        self.for_each_frame_slot(|_| words += 1);
        Words(words)
    }

    /// Calls `visit` for the slots of the mutators' frames only.
    pub(crate) fn for_each_frame_slot(&self, mut visit: impl FnMut(Slot)) {
        for &top in self.frames {
            // SAFETY: `new`'s caller promises that the mutators are stopped.
            unsafe { frames::for_each_frame_slot(top, &mut visit) };
        }
    }

    /// As [`Roots::for_each_frame_slot`], with the place of each slot.
    pub(crate) fn for_each_frame_place(&self, mut visit: impl FnMut(FramePlace, Slot)) {
        for (capability, &top) in self.frames.iter().enumerate() {
            let visit = |(frame, slot), at| {
                let place = FramePlace {
                    capability,
                    frame,
                    slot,
                };
                visit(place, at);
            };
            // SAFETY: `new`'s caller promises that the mutators are stopped.
            unsafe { frames::for_each_numbered_slot(top, visit) };
        }
    }

    pub(crate) fn handles(&self) -> &'a Arc<HandleTable> {
        self.handles
    }

    /// After tracing: makes ready the finalisers that get their closures, where `lives` says that a
    /// slot's closure is dead. Returns their slots, from which tracing must continue; `None` if
    /// there are none.
    pub(crate) fn finalise_first(&self, mut lives: impl FnMut(RootSlot<'a>) -> bool) -> Option<Finalised<'a>> {
        if mutant!("foreign/before-finalisers") {
            self.handles
                .foreign()
                .note_deaths(self.visited, |slot| lives(RootSlot::new(slot)));
        }
        if self.keeps_finalised {
            return None;
        }
        let table = self.handles.finalisers();
        let any = table.make_first_ready(self.visited, |slot| lives(RootSlot::new(slot)));
        any.then_some(Finalised(table))
    }

    /// A sliced trace starts: it finds the alarms that are not ready, and may prescan the tables
    /// concurrently.
    pub(crate) fn begin_trace_in_slices(&self) {
        self.handles.finalisers().begin_trace();
        self.handles.set_prescan(true);
    }

    /// A sliced trace is given up.
    pub(crate) fn abandon_trace_in_slices(&self) {
        self.handles.finalisers().abandon_trace();
        self.handles.set_prescan(false);
    }

    /// A sliced trace is over. This pause may still visit what is doubtful.
    pub(crate) fn end_trace_in_slices(&self) {
        self.handles.end_prescan();
    }

    /// After [`Roots::finalise_first`] of a trace in slices: makes the alarms ready, among the
    /// finalisers.
    pub(crate) fn ring_among_finalisers(&self) {
        self.handles.finalisers().ring_among_first();
    }

    /// After all tracing: makes ready the finalisers whose closures are gone for good, and notes
    /// which watched closures are.
    pub(crate) fn finalise_last(&self, mut lives: impl FnMut(RootSlot<'a>) -> bool) {
        let table = self.handles.finalisers();
        table.make_last_ready(self.visited, |slot| lives(RootSlot::new(slot)));
        for watch in [self.handles.foreign(), self.handles.sampled()] {
            watch.note_deaths(self.visited, |slot| lives(RootSlot::new(slot)));
        }
    }
}

/// The finalisers that the current collection has made ready.
pub(crate) struct Finalised<'a>(&'a FinaliserTable);

impl<'a> Finalised<'a> {
    /// Calls `visit` for the slots of their closures.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(RootSlot<'a>)) {
        self.0.for_each_added(|slot| visit(RootSlot::new(slot)));
    }
}
