//! Counting references to old closures, in epochs: what dies without a trace (deferred and coalescing, as
//! Levanoni and Petrank's and LXR's).
//!
//! An epoch is the time between two pauses. A pause counts the slots of what becomes old, the present
//! values of slots that were overwritten in the epoch, and the referents of frames; these for the next
//! epoch. A handle, a weak handle, an ephemeron or a finaliser makes the count of its closure stuck. Only then
//! are counts decremented: for the values that were overwritten, and for the frames of the pause before. So a closure
//! whose count becomes 0 is dead: nothing that is not young leads to it.
//!
//! Dead closures are *buried*: the references that they hold are subtracted. That needs no pause
//! ([`Burial`]).
//!
//! Memory: 8 bytes for each slot of a frame, and up to 16 for each block in which closures are buried;
//! neither counts under the heap limit. Dead closures wait in a small stack; if that is full, they are
//! looked for later, as those with marks and count 0.

use super::counts::{CountedMarks, Ledger, SideCounts};
use super::{MarkBits, Marks};
use crate::block::{BLOCK, LARGE_OBJECT, OutOfMemory};
use crate::capability::{Capabilities, Capability};
use crate::closure::{ClosureRef, Closures};
use crate::field_log::{LogTables, Replaced};
use crate::heap::Heap;
use crate::prefetch::{PrefetchRing, prefetch_closure};
use crate::profile::Reference;
use crate::roots::Roots;
use crate::sync::Arc;
use crate::trace::Amount;
use crate::words::{Addr, Bytes, Words};

/// Dead closures in the stack, at most: 64 KiB. Few in builds for tests.
const MOST_DEAD: usize = if cfg!(debug_assertions) { 8 } else { 1 << 13 };

/// Slots of a dead closure that are read in a row. Few in builds for tests.
const MOST_SLOTS: usize = if cfg!(debug_assertions) { 2 } else { 1 << 10 };

/// Memory that is searched for dead closures in a row. Little in builds for tests.
const SEARCHED: Bytes = if cfg!(debug_assertions) {
    Bytes::kib(4)
} else {
    Bytes::kib(256)
};

/// Closures between a prefetch and the use.
const AHEAD: usize = 16;

/// The references to old closures, which have marks, in counts of 2 bits.
#[derive(Debug)]
pub struct References {
    counts: Arc<SideCounts<2>>,
    /// Bits of three kinds that never meet: slots that were overwritten in this epoch; first words of
    /// closures that are buried, until the next pause begins; and those of closures that a marking has yet to scan.
    bits: Arc<MarkBits>,
    /// Referents of frames that were counted at the last pause.
    rooted: Vec<ClosureRef>,
    dead: Dead,
}

/// Dead closures whose references have yet to be subtracted.
#[derive(Debug, Default)]
struct Dead {
    stack: Vec<ClosureRef>,
    /// Where others lie that found no room: from the first to the last.
    others: Option<(Addr, Addr)>,
    /// A dead closure of which only the first slots have been subtracted, and how many.
    begun: Option<(ClosureRef, usize)>,
}

/// A burial of dead closures, beside the program or in a pause. Nothing else may use the counts meanwhile.
/// The closures keep their marks, so that nobody gets their memory.
#[derive(Debug)]
#[must_use = "without `References::end_burial` its closures stay until everything is marked"]
pub struct Burial {
    counts: Arc<SideCounts<2>>,
    marks: Arc<MarkBits>,
    bits: Arc<MarkBits>,
    closures: Closures,
    dead: Dead,
    /// What was buried.
    buried: Amount,
    /// The blocks where those closures begin, some of them repeatedly.
    blocks: Vec<Addr>,
}

impl Dead {
    fn is_empty(&self) -> bool {
        self.stack.is_empty() && self.others.is_none() && self.begun.is_none()
    }

    /// Subtracts a reference to `closure`. If that was the last one, it is dead.
    fn subtract(&mut self, counts: &SideCounts<2>, closure: ClosureRef, reference: Reference) {
        if counts.decrement::<false>(closure.addr(), reference) == 1 {
            self.push(closure);
        }
    }

    fn push(&mut self, closure: ClosureRef) {
        if self.stack.len() < MOST_DEAD {
            self.stack.push(closure);
        } else if !mutant!("counts/dead-forgotten") {
            let at = closure.addr();
            let (first, last) = self.others.unwrap_or((at, at));
            self.others = Some((first.min(at), last.max(at)));
        }
    }

    /// Looks through a part of `others` for dead closures: those with marks and count 0 that are not
    /// `buried`. The stack is empty. Returns how many closures it looked at.
    fn find(&mut self, counts: &SideCounts<2>, closures: Closures, marks: &MarkBits, buried: &MarkBits) -> usize {
        let Some((mut from, last)) = self.others.take() else {
            return 0;
        };
        let (end, mut seen) = ((from + SEARCHED).min(last + Words(1)), 0);
        while let Some(at) = marks.next_set_but(buried, from, end) {
            if self.stack.len() == MOST_DEAD {
                self.others = Some((at, last));
                return seen;
            }
            (from, seen) = (at + Words(1), seen + 1);
            if counts.is_zero(at) {
                self.stack.push(closures.at(at));
            }
        }
        if end <= last {
            self.others = Some((end, last));
        }
        seen
    }
}

impl Burial {
    /// Works until nothing is left or `more` returns false. `more` is told how many slots and closures
    /// were read since its last call: some thousands at most.
    pub fn advance(&mut self, mut more: impl FnMut(usize) -> bool) {
        let closures = self.closures;
        loop {
            if self.dead.stack.is_empty() && self.dead.begun.is_none() && self.dead.others.is_some() {
                let seen = self.dead.find(&self.counts, closures, &self.marks, &self.bits);
                if !more(seen + 1) {
                    return;
                }
                continue;
            }
            let ahead = self.dead.stack.len().checked_sub(AHEAD);
            if let Some(closure) = ahead.map(|ahead| self.dead.stack[ahead]) {
                prefetch_closure(closure.addr());
                self.bits.prefetch(closure.addr());
            }
            let next = || self.dead.stack.pop().map(|closure| (closure, 0));
            let Some((closure, first)) = self.dead.begun.take().or_else(next) else {
                return;
            };
            let slots = closures.slots(closure);
            let (len, until) = (slots.len(), slots.len().min(first + MOST_SLOTS));
            for slot in slots.take(until).skip(first) {
                let referent = closures.load(slot).filter(|to| closures.contain(to.addr()));
                if let Some(referent) = referent.filter(|_| !mutant!("counts/dead-kept-references")) {
                    let reference = Reference::Buried(slot.addr());
                    self.dead.subtract(&self.counts, referent, reference);
                }
            }
            if until < len && !mutant!("counts/half-buried") {
                self.dead.begun = Some((closure, mutant!("counts/buried-again", until => 0)));
            } else {
                self.bury(closure);
            }
            if !more(until - first + 1) {
                return;
            }
        }
    }

    /// Whether no dead closures are left.
    pub fn is_over(&self) -> bool {
        self.dead.is_empty()
    }

    /// The references of `closure` are subtracted.
    fn bury(&mut self, closure: ClosureRef) {
        let words = self.closures.words(closure);
        self.buried.words += words;
        if words >= LARGE_OBJECT {
            self.buried.large += words;
        }
        self.bits.set_shared(closure.addr());
        let block = Addr(closure.addr().0 / BLOCK.0 * BLOCK.0);
        if self.blocks.last() == Some(&block) {
            return;
        }
        if self.blocks.len() == self.blocks.capacity() {
            self.blocks.sort_unstable();
            self.blocks.dedup();
            self.blocks.reserve(self.blocks.len());
        }
        self.blocks.push(block);
    }
}

impl References {
    /// None, in `heap`.
    ///
    /// # Errors
    /// If the system has no addresses for the tables.
    pub fn new(heap: &Heap) -> Result<Self, OutOfMemory> {
        Ok(References {
            counts: Arc::new(SideCounts::new(heap)?),
            bits: Arc::new(MarkBits::beside_another(heap)?),
            rooted: Vec::new(),
            dead: Dead::default(),
        })
    }

    /// A pause is over: until the next one the barriers log stores to the closures that are marked in `old`.
    pub fn begin_epoch<A>(&self, capabilities: Capabilities<'_, A>, old: &Arc<MarkBits>) {
        let (noted, old) = (Arc::clone(&self.bits), Arc::clone(old));
        let tables = LogTables { noted, old };
        capabilities
            .iter()
            .for_each(|capability| capability.begin_log(tables.clone()));
    }

    /// A pause begins: barriers give the table of marks back.
    pub fn end_epoch<A>(&self, capabilities: Capabilities<'_, A>) {
        capabilities.iter().for_each(Capability::end_log);
    }

    /// A table that counts the edges that a marker finds: those of young closures, and of remembered slots;
    /// or of everything, after [`References::forget`].
    pub fn counting<'m, M: Marks>(&'m self, marks: &'m M) -> CountedMarks<'m, M, 2> {
        CountedMarks {
            marks,
            counts: &*self.counts,
            unscanned: &self.bits,
        }
    }

    /// After the marking: counts the roots, and then subtracts what led to closures before. `roots` are
    /// those of young closures, unless everything was marked.
    pub fn count<A>(&mut self, heap: &Heap, roots: Roots<'_>, capabilities: Capabilities<'_, A>) {
        let closures = heap.closures();
        let in_heap = |closure: &ClosureRef| closures.contain(closure.addr());
        let counts = &self.counts;
        let mut rooted = Vec::new();
        roots.for_each_in_frames(|slot| {
            let closure = slot.get().filter(in_heap);
            let closure = closure.filter(|_| !mutant!("counts/frame-not-counted"));
            let count = |closure: &ClosureRef| _ = counts.increment::<false>(closure.addr(), Reference::Frame);
            rooted.extend(closure.inspect(count));
        });
        roots.for_each_elsewhere(|slot| {
            let closure = slot.get().filter(in_heap);
            if !mutant!("counts/handle-not-stuck") {
                let stick = |closure: ClosureRef| counts.stick(closure.addr(), Reference::Handle);
                closure.into_iter().for_each(stick);
            }
        });
        for closure in std::mem::replace(&mut self.rooted, rooted) {
            if !mutant!("counts/root-kept") {
                self.dead.subtract(&self.counts, closure, Reference::FormerFrame);
            }
        }
        let mut ring = PrefetchRing::<_, AHEAD>::new();
        for capability in capabilities.iter() {
            capability.field_log().take(|replaced| match replaced {
                Replaced::Once(closure) => {
                    self.counts.prefetch(closure.addr());
                    if let Some(oldest) = ring.push(closure) {
                        self.dead.subtract(&self.counts, oldest, Reference::Overwritten);
                    }
                }
                Replaced::Often(closure) => self.counts.stick(closure.addr(), Reference::OftenOverwritten),
            });
        }
        while let Some(oldest) = ring.pop_oldest() {
            self.dead.subtract(&self.counts, oldest, Reference::Overwritten);
        }
    }

    /// Takes the dead closures, which are marked in `marks`, to bury them; `None` if there are none. Until
    /// [`References::end_burial`] nothing may be marked, counted or cleared.
    pub fn burial(&mut self, closures: Closures, marks: &Arc<MarkBits>) -> Option<Burial> {
        if self.dead.is_empty() {
            return None;
        }
        let dead = std::mem::take(&mut self.dead);
        // For the ledger.
        self.dead.begun = dead.begun;
        Some(Burial {
            counts: Arc::clone(&self.counts),
            marks: Arc::clone(marks),
            bits: Arc::clone(&self.bits),
            closures,
            dead,
            buried: Amount::default(),
            blocks: Vec::new(),
        })
    }

    /// Ends a burial, or breaks it off, before anything is marked: takes the marks of what was buried.
    /// Returns what that was, and the blocks where those closures begin, each once.
    ///
    /// # Panics
    /// If others use `marks`, which are those of the burial.
    pub fn end_burial(&mut self, burial: Burial, marks: &mut Arc<MarkBits>) -> (Amount, Vec<Addr>) {
        let Burial {
            marks: shared,
            dead,
            buried,
            mut blocks,
            ..
        } = burial;
        drop(shared);
        self.dead = dead;
        blocks.sort_unstable();
        blocks.dedup();
        let marks = Arc::get_mut(marks).expect("the marks of a pause");
        for &block in &blocks {
            if !mutant!("counts/buried-not-freed") {
                marks.clear_common(&self.bits, block, block + BLOCK);
            }
        }
        (buried, blocks)
    }

    /// A trace has found that the closures in these `ranges` that are marked in `former` and not in `marks` are
    /// dead: subtracts their references to others, which it found alive. They are still intact.
    pub fn bury_unmarked(&mut self, closures: Closures, former: &MarkBits, marks: &MarkBits, ranges: &[(Addr, Addr)]) {
        let lives = |closure: &ClosureRef| marks.get(closure.addr()) || mutant!("counts/dead-twice");
        self.dead.stack.retain(lives);
        let begun = self.dead.begun.take();
        for &(mut from, to) in ranges {
            while let Some(at) = former.next_set_but(marks, from, to) {
                from = at + Words(1);
                if !mutant!("counts/freed-not-reset") {
                    self.counts.reset(at);
                }
                let done = begun
                    .filter(|(closure, _)| closure.addr() == at)
                    .map_or(0, |(_, done)| done);
                let slots = closures.slots(closures.at(at)).skip(done);
                for slot in slots {
                    let referent = closures.load(slot).filter(|to| closures.contain(to.addr()));
                    if let Some(referent) = referent.filter(|to| marks.get(to.addr())) {
                        let reference = Reference::Buried(slot.addr());
                        self.dead.subtract(&self.counts, referent, reference);
                    }
                }
            }
        }
    }

    /// Straight after a trace, a closure is moved, with its mark.
    pub fn moved(&mut self, from: Addr, to: Addr) {
        let count = self.counts.reset(from);
        if mutant!("counts/left-behind") {
            return;
        }
        self.counts.set(to, count);
        if count == 0 && !mutant!("counts/dead-left-behind") {
            self.dead.push(ClosureRef(to.as_mut_ptr()));
        }
    }

    /// All closures that were to be moved are, and their old places are not free yet.
    pub fn all_moved(&mut self, closures: Closures) {
        let has_stayed = |closure: &ClosureRef| closures.place(*closure) == *closure;
        self.dead.stack.retain(has_stayed);
        let rooted = self.rooted.iter_mut().filter(|_| !mutant!("counts/root-not-followed"));
        rooted.for_each(|closure| *closure = closures.place(*closure));
    }

    /// Everything will be counted anew: forgets what the barriers logged, and which closures are dead. The counts are to be
    /// [cleared](References::clear), too.
    pub fn forget<A>(&mut self, capabilities: Capabilities<'_, A>) {
        for capability in capabilities.iter() {
            capability.field_log().take(|_| ());
            capability.remembered().take(|_| ());
        }
        self.rooted.clear();
        self.dead = mutant!("counts/dead-remembered", Dead::default() => std::mem::take(&mut self.dead));
    }

    /// Forgets the counts of closures from `from` to `to`, which are ends of blocks.
    ///
    /// # Panics
    /// If there is a burial.
    pub fn clear(&mut self, from: Addr, to: Addr) {
        let counts = Arc::get_mut(&mut self.counts).expect("no burial is under way");
        if !mutant!("counts/not-cleared") {
            counts.clear(from, to);
        }
    }

    /// What was counted, for the checker.
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger {
            counts: &*self.counts,
            others: &self.rooted,
            begun: self.dead.begun,
        }
    }
}

#[cfg(all(test, debug_assertions, not(any(gclab_loom, gclab_shuttle))))]
mod tests {
    use super::*;
    use crate::block::{BlockState, FIRST_OLD_STEP};
    use crate::closure::{Header, Kind, TypeInfo};
    use crate::config::Config;

    static WIDE: TypeInfo = TypeInfo::fixed(Kind::Constr, "Wide", "test", 30, 30);

    /// More closures are dead than the stack has room for. However short the steps, each is buried once.
    #[test]
    fn a_burial_stops_whenever_it_is_asked_to() {
        const CLOSURES: usize = MOST_DEAD * 20;
        let config = Config {
            reserve: Bytes::mib(8),
            ..Config::default()
        };
        let mut heap = Heap::new(&config).expect("a small heap");
        let mut references = References::new(&heap).expect("small tables");
        let mut marks = Arc::new(MarkBits::new(&heap).expect("a small table"));
        let run = heap
            .allocate(255, 255, BlockState::of_step(FIRST_OLD_STEP))
            .expect("room");
        let words = Words(31);
        let size = words.to_bytes().0;
        // The first and the last one are far apart.
        let far = run.bytes().0 / size - 1;
        for number in (0..CLOSURES).chain([far]) {
            let at = run.start() + Bytes(number * size);
            // SAFETY: the words are in a run of this heap.
            unsafe { at.as_mut_ptr::<u64>().write_bytes(0, words.0) };
            // SAFETY: as above.
            unsafe { at.as_mut_ptr::<u64>().write(Header::new(&WIDE).0) };
            marks.set_shared(at);
            references.dead.push(ClosureRef(at.as_mut_ptr()));
        }
        let (mut steps, mut total) = (0, Words(0));
        while let Some(mut burial) = references.burial(heap.closures(), &marks) {
            burial.advance(|read| {
                assert!(read < 1000, "{read} at once");
                false
            });
            assert!(steps > 0 || !burial.is_over());
            let (buried, blocks) = references.end_burial(burial, &mut marks);
            assert_eq!(blocks.is_empty(), buried.words == Words(0));
            total += buried.words;
            steps += 1;
        }
        assert_eq!(total, Words(words.0 * (CLOSURES + 1)));
        assert!(marks.next_set(run.start(), run.end()).is_none());
        // Each closure has several steps.
        assert!(steps > CLOSURES * 30 / MOST_SLOTS, "{steps} steps");
    }
}
