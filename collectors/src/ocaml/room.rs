//! Room for minor collections: the size of the minor heap, and memory for its promotion.

use super::Ocaml;
use super::course::Course;
use super::task::Major;
use gclab_core::block::{BLOCK, OutOfMemory};
use gclab_core::collector::{Bump, Cause, Cycle, NotBegun, Pause};
use gclab_core::heap::Heap;
use gclab_core::words::Bytes;

/// A minor heap smaller than its full size divided by this is never enough: then only full
/// collections keep free what a compaction may need.
const LEAST_SHARE: usize = 16;

impl Ocaml {
    /// There is no room for the smallest minor heap: frees what a whole cycle finds, and then what
    /// a compaction does.
    pub(super) fn last_resort(&mut self, pause: &mut Pause<'_, Bump>, course: &mut Course) {
        if course.cycle != Cycle::Whole {
            let (whole, more) = self.work(pause, Major::Everything);
            course.cycle = whole;
            course.done += more;
            if self.make_room(pause, course.cycle) {
                return;
            }
        }
        self.compact(pause, &mut course.done);
        self.make_room(pause, course.cycle);
    }

    /// After a minor collection: returns free chunks if a cycle is over and memory is short, and
    /// sizes the minor heap. Returns whether there is room for the smallest minor heap.
    pub(super) fn make_room(&mut self, pause: &mut Pause<'_, Bump>, cycle: Cycle) -> bool {
        let is_short = self.is_urgent || self.exhausted.is_some() || pause.cause == Cause::Shortage;
        if is_short && self.major.is_idle() {
            self.major.shrink_to_the_least(pause.heap);
            self.messages.heap(self.major.words());
        }
        if cycle == Cycle::Whole {
            // Another full collection would not free more.
            self.settled = Bytes::ZERO;
        }
        self.exhausted = self.set_area(pause.heap).err();
        if cycle == Cycle::Whole {
            self.settled = self.area;
        }
        self.exhausted.is_none()
    }

    /// Sizes the empty minor heap, and reserves room to promote all of it. If memory is short, it
    /// is smaller, down to a block for each capability that has a part of it.
    ///
    /// # Errors
    /// If there is not even room for that.
    pub(super) fn set_area(&mut self, heap: &mut Heap) -> Result<(), OutOfMemory> {
        let least = Bytes(BLOCK.0 * self.nursery.sharers());
        let mut area = self.settings.minor_heap.max(least);
        let enough = Bytes((self.settled.0 / 2).max(area.0 / LEAST_SHARE).min(area.0));
        loop {
            let resized = self.resize(heap, area);
            let size = self.minor_heap().to_words_up();
            let kept = resized.and_then(|()| self.major.space.keep_room(heap, size));
            if kept.is_err() {
                self.messages.no_room();
            }
            self.is_urgent = area < enough;
            match kept {
                Ok(()) => return Ok(()),
                Err(error) if area <= least => return Err(error),
                Err(_) => area = Bytes(area.0 / 2).max(least),
            }
        }
    }

    /// There is no room for a large object: frees a part of the minor heap that no mutator has
    /// started to use, and the room reserved for its promotion. The part is returned at the next
    /// collection. `None` if there is no such part.
    pub(super) fn give_way(&mut self, heap: &mut Heap) -> Option<()> {
        self.nursery.give_way(heap)?;
        (self.is_urgent, self.area) = (true, Bytes::ZERO);
        let size = self.minor_heap().to_words_up();
        // More is already reserved, so less cannot be refused.
        let _ = self.major.space.keep_room(heap, size);
        Some(())
    }

    /// Mutators leave the minor heap, and all of it has room to be promoted.
    ///
    /// # Errors
    /// If there is none, which happens only if none was reserved.
    pub(super) fn prepare(&mut self, pause: &mut Pause<'_, Bump>) -> Result<(), NotBegun> {
        self.nursery.leave(pause.capabilities);
        let words = self.nursery.words();
        self.major.space.prepare(pause.heap, words).map_err(NotBegun)
    }

    /// Gives a capability a part of the minor heap, as large as those of others, if it has none:
    /// until the next minor collection the minor heap is larger. Returns whether it has one. If not,
    /// that collection gives it one.
    pub(super) fn use_part(&mut self, heap: &mut Heap, number: usize) -> bool {
        let size = self.nursery.size();
        let has_part = self.nursery.use_area(heap, number);
        if has_part && self.nursery.size() > size {
            let kept = self.major.space.keep_room(heap, self.minor_heap().to_words_up());
            if kept.is_err() {
                self.nursery.give_up_area(heap, number);
            }
            return kept.is_ok();
        }
        has_part
    }

    /// Gives the minor heap the size `area`, in equal parts for the capabilities that have one.
    fn resize(&mut self, heap: &mut Heap, area: Bytes) -> Result<(), OutOfMemory> {
        if area != self.area || self.nursery.parts() > 1 {
            self.area = Bytes::ZERO;
            self.share = self.nursery.renew(heap, area)?;
            self.area = area;
        }
        Ok(())
    }

    /// The size of the minor heap. (The nursery has more, since some words are lost.)
    pub(super) fn minor_heap(&self) -> Bytes {
        Bytes(self.share.0 * self.nursery.sharers()).min(self.nursery.size())
    }
}
