//! Cells as the destination of the closures of a nursery.
//!
//! A thread has holes of each size class, as a mutator has with [`Cells`](crate::alloc::Cells). What
//! it does not use is handed out first by the next promotion.

use super::CellSpace;
use crate::alloc::SizeClass;
use crate::block::poison;
use crate::cause::NotBegun;
use crate::heap::Heap;
use crate::space::{Destination, MarkBits, Room};
use crate::sync::Mutex;
use crate::words::{Addr, Words};

/// A [`CellSpace`] to which closures of a nursery move, each into a cell.
#[derive(Debug)]
pub struct CellPromotion<'s> {
    space: Mutex<Growing<'s>>,
    marks: &'s MarkBits,
}

/// A space that grows by a segment where a class has no free cell.
#[derive(Debug)]
struct Growing<'s> {
    space: &'s mut CellSpace,
    heap: &'s mut Heap,
}

impl CellSpace {
    /// Guarantees that the promotion that begins has room for small closures of `words` words in
    /// total, until [`Heap::end_promotion`]. The collector has said that it copies into cells
    /// ([`Heap::copy_into_cells`]). Returns the number of threads for which there is room.
    ///
    /// # Errors
    /// If there is too little.
    pub fn prepare(heap: &mut Heap, words: Words) -> Result<usize, NotBegun> {
        heap.prepare_to_copy(words, 0).map_err(NotBegun)
    }

    /// The space as a destination, which has been [prepared](CellSpace::prepare). Its closures are
    /// those with `marks`.
    pub fn promotion<'s>(&'s mut self, heap: &'s mut Heap, marks: &'s MarkBits) -> CellPromotion<'s> {
        let space = Mutex::new(Growing { space: self, heap });
        CellPromotion { space, marks }
    }
}

impl CellPromotion<'_> {
    /// Calls `call` with the heap.
    pub fn with_heap<R>(&self, call: impl FnOnce(&Heap) -> R) -> R {
        call(self.space.lock().heap)
    }
}

impl Growing<'_> {
    /// Moves holes of `class` to `holes`.
    fn take(&mut self, class: SizeClass, marks: &MarkBits, holes: &mut Vec<(Addr, Addr)>) {
        let cells = &mut self.space.classes[class.index()];
        // One at a time: no thread opens a segment while another has two that are partly filled.
        if let Some(hole) = mutant!("cells/spare-twice", cells.spare.pop() => cells.spare.last().copied()) {
            return holes.push(hole);
        }
        while !cells.next_holes(marks, class, holes) {
            // An empty segment need not be freed now, since it is used at once.
            let run = cells.unswept.pop().unwrap_or_else(|| {
                let run = self.heap.allocate_chunk(1);
                self.space.held += run.bytes().0;
                self.heap.set_state(run, self.space.state);
                run
            });
            cells.segments.push(run);
        }
    }
}

// SAFETY: a hole is between closures or behind them, in a segment, and belongs to one thread.
unsafe impl Destination for CellPromotion<'_> {
    type Room = CellRoom;

    fn refill(&self, room: &mut CellRoom, words: Words) -> bool {
        let class = SizeClass::of(words);
        let own = &mut room.0[class.index()];
        if own.more.is_empty() {
            self.space.lock().take(class, self.marks, &mut own.more);
        }
        (own.free, own.limit) = own.more.pop().expect("a class has a hole, or gets a segment");
        // SAFETY: free memory of this space, which is this thread's now.
        unsafe { poison::lend(own.free, own.limit - own.free) };
        true
    }

    fn leave(&self, room: CellRoom) {
        let mut growing = self.space.lock();
        for (own, cells) in room.0.into_iter().zip(&mut growing.space.classes) {
            let rest = (own.free < own.limit).then_some((own.free, own.limit));
            cells.spare.extend(own.more.into_iter().chain(rest));
        }
    }
}

/// The cells of one thread.
#[derive(Debug)]
pub struct CellRoom(Vec<Holes>);

/// The hole of a class in which copies go, and those that wait.
#[derive(Clone, Debug)]
struct Holes {
    free: Addr,
    limit: Addr,
    more: Vec<(Addr, Addr)>,
}

impl Default for CellRoom {
    fn default() -> Self {
        let none = Holes {
            free: Addr::NULL,
            limit: Addr::NULL,
            more: Vec::new(),
        };
        CellRoom(vec![none; SizeClass::COUNT])
    }
}

impl Room for CellRoom {
    #[inline]
    fn reserve(&self, words: Words) -> Option<Addr> {
        let class = SizeClass::of(words);
        let own = &self.0[class.index()];
        (own.limit - own.free >= class.cell().to_bytes()).then_some(own.free)
    }

    #[inline]
    fn commit(&mut self, at: Addr, words: Words) {
        let class = SizeClass::of(words);
        self.0[class.index()].free = at + class.cell();
    }
}
