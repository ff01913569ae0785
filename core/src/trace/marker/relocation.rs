//! Moves marked closures after a marking, if all slots that lead to them are known.

use super::SLOTS_AHEAD;
use super::mover::Mover;
use crate::closure::{ClosureRef, Slot, SlotRange};
use crate::heap::Heap;
use crate::prefetch::prefetch_line;
use crate::roots::Roots;
use crate::space::{ChosenBlock, Destination, MarkBits};
use crate::words::{Addr, Words};

/// Moves the marked closures of those `blocks` that are condemned to `destination`, with their marks.
/// If it has no room for one, that stays, and has a bit in its header as in a marking
/// ([`Marker::moving`](super::Marker::moving)). Updates roots, weak handles, finalisers, the slots of
/// the closures of `blocks`, and those that lead there from elsewhere, which the blocks know. Calls
/// `moved` with the old and the new place of each closure. Returns the words that moved.
///
/// The nursery is empty, no slot is remembered, and every slot with a closure holds a marked one.
pub fn relocate(
    heap: &Heap,
    roots: Roots<'_>,
    marks: &mut MarkBits,
    blocks: &[ChosenBlock],
    destination: &impl Destination,
    mut moved: impl FnMut(Addr, Addr),
) -> Words {
    let mut mover = Mover::new(heap.states(), heap.side_words().cloned(), destination);
    for block in blocks {
        marks.prefetch_marked(block.run.start(), block.run.end());
        for_each(marks, block, |marks, at| {
            let mut word = at.0 as u64;
            // SAFETY: a slot of this function, with a closure of the stopped heap.
            let place = unsafe { mover.place::<false>(Slot(&raw mut word)) };
            place.into_iter().for_each(|place| _ = marks.set(place.addr()));
        });
    }
    for block in blocks {
        for_each(marks, block, |marks, at| {
            let closure = ClosureRef(at.as_mut_ptr());
            // SAFETY: the closure stays, or this is its copy. Its slots hold null or closures of the
            // heap, and no other thread uses them.
            unsafe {
                let copy = closure.header().forwarded_to();
                let slots = SlotRange::of(copy.unwrap_or(closure).extent());
                if !mutant!("chosen/copy-not-scanned") {
                    slots.into_iter().for_each(|slot| mover.follow(slot));
                }
                copy.into_iter().for_each(|copy| moved(at, copy.addr()));
                if copy.is_some() || mutant!("chosen/freed-early") {
                    marks.clear(at, at + Words(1));
                }
            }
        });
    }
    for slots in blocks.iter().map(ChosenBlock::slots) {
        for (index, &slot) in slots.iter().enumerate() {
            slots
                .get(index + SLOTS_AHEAD)
                .into_iter()
                .for_each(|slot| prefetch_line(slot.addr()));
            // SAFETY: a slot of a closure that lives.
            unsafe { mover.follow(slot) };
        }
    }
    let roots = roots.of_doubtful();
    // SAFETY: roots of the stopped world.
    let follow = |slot: Slot| unsafe { mover.follow(slot) };
    if !mutant!("chosen/root-not-updated") {
        roots.for_each(|root| follow(root.slot()));
    }
    if !mutant!("chosen/weak-not-updated") {
        roots.for_each_weak(|root| follow(root.slot()));
    }
    mover.leave();
    mover.moved
}

/// Calls `visit` for each closure of `block` that was marked before. `visit` may move its mark.
fn for_each(marks: &mut MarkBits, block: &ChosenBlock, mut visit: impl FnMut(&mut MarkBits, Addr)) {
    let (mut from, end) = (block.run.start(), block.run.end());
    while let Some(at) = marks.next_set(from, end) {
        from = at + Words(1);
        visit(marks, at);
    }
}
