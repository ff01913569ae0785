//! The slots that lead into blocks that the end of a cycle is to empty, as markers find them.
//!
//! The blocks are chosen when a cycle begins ([`LineSpace::choose_for_cycle`]), and their state is that
//! of mixed blocks. So the barrier remembers each store of a pointer into them, and markers tell
//! such pointers by the state that they look at anyway. A slot is recorded by the marker that scans
//! its closure, in the snapshot or when it becomes old, or that finds it remembered. Closures that
//! are scanned live until the cycle is over, and so do their slots. The closures of the blocks
//! themselves are scanned when they have moved.
//!
//! A block with too many slots is not emptied, nor is one for whose slots there is no memory: its
//! closures are scanned where they are.
//!
//! [`LineSpace::choose_for_cycle`]: super::LineSpace::choose_for_cycle

use crate::block::{BlockRun, Charges, StateView};
use crate::closure::{ClosureRef, Slot};
use crate::heap::Heap;
use crate::sync::{Arc, AtomicBool, Mutex, Ordering::Relaxed};
use crate::words::Bytes;

/// Slots of a block for which memory is taken first, and at most.
const FIRST_SLOTS: usize = 32;
const MOST_SLOTS: usize = 512;

/// What a marker does with the slots that it scans, apart from marking.
pub trait Record: Sync {
    /// Whether it does anything now. That does not change while a marker marks.
    fn is_in_use(&self) -> bool;

    /// A slot of an old closure held `closure`.
    fn record(&self, slot: Slot, closure: ClosureRef);
}

/// Nothing.
impl Record for () {
    #[inline(always)]
    fn is_in_use(&self) -> bool {
        false
    }

    #[inline(always)]
    fn record(&self, _: Slot, _: ClosureRef) {}
}

impl<R: Record + Send> Record for Arc<R> {
    #[inline(always)]
    fn is_in_use(&self) -> bool {
        (**self).is_in_use()
    }

    #[inline(always)]
    fn record(&self, slot: Slot, closure: ClosureRef) {
        (**self).record(slot, closure);
    }
}

/// The slots that lead into chosen blocks.
#[derive(Debug)]
pub struct Incoming {
    states: StateView,
    charges: Charges,
    /// There are blocks.
    is_in_use: AtomicBool,
    /// By address.
    blocks: Mutex<Vec<ChosenBlock>>,
}

/// A block that is to be emptied.
#[derive(Debug)]
pub struct ChosenBlock {
    /// The block.
    pub run: BlockRun,
    /// Bytes that its closures took when it was chosen.
    pub full: Bytes,
    /// Slots that lead into it, some of them twice; none, if there are too many.
    slots: Option<Vec<Slot>>,
}

impl ChosenBlock {
    /// A block with `full` bytes of closures.
    pub(super) fn new(run: BlockRun, full: Bytes) -> Self {
        ChosenBlock {
            run,
            full,
            slots: Some(Vec::new()),
        }
    }

    /// Whether it can be emptied: all slots that lead into it are recorded.
    pub fn is_known(&self) -> bool {
        self.slots.is_some() || mutant!("chosen/emptied-without-slots")
    }

    /// The slots that lead into it.
    pub(crate) fn slots(&self) -> &[Slot] {
        self.slots.as_deref().unwrap_or_default()
    }

    fn charged(&self) -> Bytes {
        Bytes(self.slots.as_ref().map_or(0, Vec::capacity) * size_of::<Slot>())
    }

    /// Adds a slot, unless there are too many.
    fn push(&mut self, slot: Slot, charges: &Charges) {
        let Some(slots) = &mut self.slots else { return };
        if slots.len() == slots.capacity() && !mutant!("chosen/slots-unbounded") {
            let more = slots.len().max(FIRST_SLOTS);
            let charge = Bytes(more * size_of::<Slot>());
            if slots.len() >= MOST_SLOTS || charges.charge(charge).is_err() {
                charges.release(self.charged());
                self.slots = None;
                return;
            }
            slots.reserve_exact(more);
        }
        slots.push(slot);
    }
}

impl Incoming {
    /// No blocks, of `heap`.
    pub fn new(heap: &Heap) -> Self {
        Incoming {
            states: heap.states(),
            charges: heap.charges(),
            is_in_use: AtomicBool::new(false),
            blocks: Mutex::new(Vec::new()),
        }
    }

    /// From now on the slots that lead into these blocks are recorded, and no others.
    pub fn choose(&self, mut chosen: Vec<ChosenBlock>) {
        chosen.sort_unstable_by_key(|block| block.run.start());
        self.take();
        // Relaxed, here and below: in a pause, for which markers stop.
        self.is_in_use.store(!chosen.is_empty(), Relaxed);
        *self.blocks.lock() = chosen;
    }

    /// Forgets all blocks, and returns them.
    pub fn take(&self) -> Vec<ChosenBlock> {
        self.is_in_use.store(false, Relaxed);
        let blocks = std::mem::take(&mut *self.blocks.lock());
        blocks.iter().for_each(|block| self.charges.release(block.charged()));
        blocks
    }

    #[cold]
    #[inline(never)]
    fn push(&self, slot: Slot, closure: ClosureRef) {
        let mut blocks = self.blocks.lock();
        let number = blocks.partition_point(|block| block.run.end() <= closure.addr());
        let block = blocks.get_mut(number);
        if let Some(block) = block.filter(|block| block.run.start() <= closure.addr()) {
            block.push(slot, &self.charges);
        }
    }
}

impl Record for Incoming {
    #[inline(always)]
    fn is_in_use(&self) -> bool {
        self.is_in_use.load(Relaxed)
    }

    #[inline(always)]
    fn record(&self, slot: Slot, closure: ClosureRef) {
        if self.states.of(closure.addr()).is_mixed() && !self.states.of(slot.addr()).is_mixed() {
            self.push(slot, closure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockState;
    use crate::config::Config;
    use crate::words::Words;

    #[test]
    fn a_block_with_too_many_slots_is_not_emptied_and_its_memory_is_given_back() {
        let config = Config {
            reserve: Bytes::mib(8),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a small heap");
        let mut block = |state| heap.allocate(8, 8, state).expect("room");
        let old = BlockState::of_step(2);
        let (holder, blocks) = (
            block(old),
            [
                block(old),
                block(BlockState::AGED.mixed()),
                block(BlockState::AGED.mixed()),
            ],
        );
        let incoming = Incoming::new(&heap);
        let before = heap.charges().taken();
        incoming.choose(
            blocks[1..]
                .iter()
                .map(|&run| ChosenBlock::new(run, Bytes::ZERO))
                .collect(),
        );
        let slot = |number: usize| Slot((holder.start() + Words(number)).as_mut_ptr());
        for (number, &run) in [1, MOST_SLOTS, MOST_SLOTS + 1].iter().zip(&blocks) {
            (0..*number).for_each(|number| incoming.record(slot(number), ClosureRef(run.start().as_mut_ptr())));
        }
        assert_eq!(heap.charges().taken() - before, Bytes(MOST_SLOTS * size_of::<Slot>()));
        let taken = incoming.take();
        assert_eq!(
            taken
                .iter()
                .map(|block| (block.run, block.is_known()))
                .collect::<Vec<_>>(),
            [(blocks[1], true), (blocks[2], false)]
        );
        assert!(taken[0].slots().iter().copied().eq((0..MOST_SLOTS).map(slot)));
        assert_eq!(heap.charges().taken(), before);
        // The slots of their own closures are found when these have moved.
        incoming.choose(
            taken
                .iter()
                .map(|block| ChosenBlock::new(block.run, Bytes::ZERO))
                .collect(),
        );
        incoming.record(
            Slot(blocks[2].start().as_mut_ptr()),
            ClosureRef(blocks[1].start().as_mut_ptr()),
        );
        assert!(incoming.take()[0].slots().is_empty());
    }
}
