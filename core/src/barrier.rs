//! Barriers: the code that runs when mutators overwrite pointers, and if a collector wants it, when
//! they load them.

use crate::block::{BlockState, FIRST_OLD_STEP};
use crate::capability::{Capabilities, Capability};
use crate::closure::{ClosureRef, Slot};
use crate::field_log::LOGGING;
use std::marker::PhantomData;

/// A barrier: the code that runs when the mutator overwrites a pointer, loads one or opens a weak
/// handle. `A` is the allocator of its capability: a barrier that works with every allocator
/// implements this for all of them, one that keeps its own state in its allocator for that one.
pub trait Barrier<A>: 'static {
    /// The mutator is about to overwrite `slot` of `object`, which holds `old`, with `new` (null or
    /// a closure). Inlined into every store; only a barrier that calls `old` loads it. It also
    /// runs before an exchange, which may fail, or find another value than `old`.
    fn write(capability: Capability<'_, A>, object: ClosureRef, slot: Slot, old: impl FnOnce() -> u64, new: ClosureRef);

    /// The mutator has loaded `closure` (or null) from `slot`, and gets what this returns: a collector
    /// that moves closures while mutators run returns their new places. It may update the slot if that
    /// still holds `closure`, which it does not after a swap. Not called for what collections update
    /// themselves (frames and handles). Inlined into every load of a pointer; by default it costs
    /// nothing. An exchange compares what the slot holds, and passes on what it found if it fails.
    #[inline(always)]
    fn read(capability: Capability<'_, A>, slot: Slot, closure: ClosureRef) -> ClosureRef {
        let _ = (capability, slot);
        closure
    }

    /// The mutator opens a weak handle and gets `closure`, which nothing else may keep alive. A
    /// barrier for a collector that marks while mutators run must show it to that collector. (Weak
    /// heap roots need no such hook: only profilers read them.)
    #[inline(always)]
    fn open_weak(capability: Capability<'_, A>, closure: ClosureRef) {
        let _ = (capability, closure);
    }
}

/// No barrier: for collectors that collect everything each time.
#[derive(Debug)]
pub struct NoBarrier;

impl<A> Barrier<A> for NoBarrier {
    #[inline(always)]
    fn write(_: Capability<'_, A>, _: ClosureRef, _: Slot, _: impl FnOnce() -> u64, _: ClosureRef) {}
}

/// The generational barrier: remembers slots of old closures that come to point to younger ones.
///
/// At most two loads from the state table, and one if the object is young, as nearly all written
/// objects are. It does not check whether the slot is already remembered: a collection removes
/// duplicates for free (`docs/heap.md`). In mixed blocks ([`BlockState::mixed`]) it remembers every
/// store.
///
/// It is also a [`SnapshotBarrier`], for collectors that start marking with an empty nursery. While
/// marking is on ([`SnapshotBarrier::set_marking`]), it notes the values that stores overwrite in
/// blocks of the snapshot ([`BlockState::in_snapshot`]), and the closures of weak handles that are
/// opened. The bit of these blocks makes them older than all steps, as for mixed blocks: each store
/// to them reaches the path that remembers slots, and only there the flag is tested. A store that
/// need not be remembered pays no instruction for it.
///
/// For collectors that count references it logs fields ([`FieldLog`](crate::collector::FieldLog)) on the
/// same path: all blocks of old closures have that bit then.
#[derive(Debug)]
pub struct GenerationalBarrier;

impl<A> Barrier<A> for GenerationalBarrier {
    #[inline(always)]
    fn write(
        capability: Capability<'_, A>,
        object: ClosureRef,
        slot: Slot,
        old: impl FnOnce() -> u64,
        new: ClosureRef,
    ) {
        let state = capability.state_of(object.addr());
        let state = mutant!("lines/log-left-out", state => BlockState::of_step(state.step()));
        let holder = state.age_of_holder();
        let is_old = holder >= FIRST_OLD_STEP && !mutant!("copy/no-write-barrier");
        if is_old && capability.state_of(new.addr()).step() < holder {
            if capability.barrier_word().get() != 0 {
                note_and_remember(capability, slot, old(), new);
            } else {
                capability.remember(slot);
            }
        }
    }

    #[inline(always)]
    fn open_weak(capability: Capability<'_, A>, closure: ClosureRef) {
        if <SnapshotBarrier>::is_marking(capability) && !mutant!("ocaml/weak-not-noted") {
            <SnapshotBarrier>::note(capability, closure);
        }
    }
}

/// The generational barrier of a store while marking or logging is on, to a slot that holds `old`. All
/// blocks of a closure have the same state, so the slot has its closure's.
#[cold]
#[inline(never)]
fn note_and_remember<A>(capability: Capability<'_, A>, slot: Slot, old: u64, new: ClosureRef) {
    let state = capability.state_of(slot.addr());
    let old = ClosureRef(mutant!("ocaml/new-value-noted", old => new.0 as u64) as *mut u64);
    if capability.barrier_word().get() & LOGGING != 0 {
        log(capability, slot, old, state.is_mixed());
        return;
    }
    if state.is_in_snapshot() && !mutant!("ocaml/overwritten-not-noted") {
        <SnapshotBarrier>::note(capability, old);
    }
    let is_younger = capability.state_of(new.addr()).step() < state.in_snapshot(false).age_of_holder();
    if is_younger && !mutant!("concurrent/noted-not-remembered") {
        capability.remember(slot);
    }
}

/// Logs the store to a slot, if it is the first of the epoch.
#[inline(never)]
fn log<A>(capability: Capability<'_, A>, slot: Slot, old: ClosureRef, is_mixed: bool) {
    let log = capability.field_log();
    if !log.is_first(slot, is_mixed) {
        return;
    }
    if !mutant!("log/slot-not-remembered") {
        capability.remember(slot);
    }
    if !capability.state_of(old.addr()).is_outside() && !mutant!("log/overwritten-not-noted") {
        log.note(old);
    }
    if <SnapshotBarrier>::is_marking(capability) {
        <SnapshotBarrier>::note(capability, old);
    }
}

/// A barrier for a collector that marks a *snapshot* while mutators run: `B`, and while marking is
/// on ([`SnapshotBarrier::set_marking`]) it also notes each value that a store overwrites, and the
/// closure of each weak handle that is opened (GHC's update remembered set, OCaml's `caml_modify`).
///
/// The snapshot is everything reachable when marking began. A mutator can hide a closure of it only
/// by overwriting a pointer to it, and the marker finds those pointers here
/// ([`Marker::overwritten`](crate::trace::Marker::overwritten)). Closures allocated meanwhile are
/// not part of the snapshot: the collector must mark them when it allocates or promotes them.
/// Closures of the nursery (step 0) are not noted, since they move: marking begins with an empty
/// nursery, so they are new. A collector whose young closures have another step takes the notes
/// before anything moves, and drops the young ones.
///
/// The flag is a bit of the capability's [barrier word](Capability::barrier_word). When marking is off the
/// barrier costs the load of that word, and a branch.
#[derive(Debug)]
pub struct SnapshotBarrier<B = NoBarrier>(PhantomData<B>);

/// The bit of the barrier word that is set while marking is on.
const MARKING: u64 = 1;

impl<B> SnapshotBarrier<B> {
    /// Sets whether the barriers of all mutators record overwritten values from now on.
    pub fn set_marking<A>(capabilities: Capabilities<'_, A>, on: bool) {
        let threads = |each: &Capability<'_, A>| each.has_thread() || !mutant!("concurrent/free-not-marking");
        for capability in capabilities.iter().filter(threads) {
            let word = capability.barrier_word();
            word.set(word.get() & !MARKING | if on { MARKING } else { 0 });
            capability.overwritten().set_marking(on);
        }
    }

    #[inline(always)]
    fn is_marking<A>(capability: Capability<'_, A>) -> bool {
        capability.barrier_word().get() & MARKING != 0
    }

    #[cold]
    #[inline(never)]
    fn note<A>(capability: Capability<'_, A>, closure: ClosureRef) {
        let state = capability.state_of(closure.addr());
        let is_old = state.step() > 0 || mutant!("sliced/young-noted");
        if is_old && (!state.is_outside() || mutant!("concurrent/outside-noted")) {
            capability.overwritten().push(closure);
        }
    }
}

impl<A, B: Barrier<A>> Barrier<A> for SnapshotBarrier<B> {
    #[inline(always)]
    fn write(
        capability: Capability<'_, A>,
        object: ClosureRef,
        slot: Slot,
        old: impl FnOnce() -> u64,
        new: ClosureRef,
    ) {
        if Self::is_marking(capability) && !mutant!("sliced/overwritten-not-noted") {
            let old = mutant!("sliced/new-value-noted", old() => new.0 as u64);
            Self::note(capability, ClosureRef(old as *mut u64));
            B::write(capability, object, slot, || old, new);
        } else {
            B::write(capability, object, slot, old, new);
        }
    }

    #[inline(always)]
    fn read(capability: Capability<'_, A>, slot: Slot, closure: ClosureRef) -> ClosureRef {
        B::read(capability, slot, closure)
    }

    #[inline(always)]
    fn open_weak(capability: Capability<'_, A>, closure: ClosureRef) {
        if Self::is_marking(capability) {
            Self::note(capability, closure);
        }
        B::open_weak(capability, closure);
    }
}
