//! Counting references to old closures, in epochs: what dies without a trace (deferred and coalescing, as
//! Levanoni and Petrank's and LXR's).
//!
//! An epoch is the time between two pauses. A pause counts the slots of what becomes old, the present
//! values of slots that were overwritten in the epoch, and the referents of frames; these for the next
//! epoch. A handle, a weak handle, an ephemeron or a finaliser makes the count of its closure stuck. Only then
//! are counts decremented: for the values that were overwritten, and for the frames of the pause before. So a closure
//! whose count becomes 0 is dead: nothing that is not young leads to it.
//!
//! Memory: 8 bytes for each slot of a frame. Dead closures wait in a small stack; if that is full, they are
//! looked for later, as those with marks and count 0.

use super::counts::{CountedMarks, Ledger, SideCounts};
use super::{MarkBits, Marks};
use crate::block::{LARGE_OBJECT, OutOfMemory};
use crate::capability::{Capabilities, Capability};
use crate::closure::{ClosureRef, Closures};
use crate::field_log::{LogTables, Replaced};
use crate::heap::Heap;
use crate::roots::Roots;
use crate::sync::Arc;
use crate::trace::Amount;
use crate::words::{Addr, Words};

/// Dead closures in the stack, at most: 64 KiB. Few in builds for tests.
const MOST_DEAD: usize = if cfg!(debug_assertions) { 8 } else { 1 << 13 };

/// The references to old closures, which have marks, in counts of 2 bits.
#[derive(Debug)]
pub struct References {
    counts: SideCounts<2>,
    /// Slots that the program has overwritten in this epoch.
    noted: Arc<MarkBits>,
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
}

impl Dead {
    fn push(&mut self, closure: ClosureRef) {
        if self.stack.len() < MOST_DEAD {
            self.stack.push(closure);
        } else if !mutant!("counts/dead-forgotten") {
            let at = closure.addr();
            let (first, last) = self.others.unwrap_or((at, at));
            self.others = Some((first.min(at), last.max(at)));
        }
    }
}

impl References {
    /// None, in `heap`.
    ///
    /// # Errors
    /// If the system has no addresses for the tables.
    pub fn new(heap: &Heap) -> Result<Self, OutOfMemory> {
        Ok(References {
            counts: SideCounts::new(heap)?,
            noted: Arc::new(MarkBits::beside_another(heap)?),
            rooted: Vec::new(),
            dead: Dead::default(),
        })
    }

    /// A pause is over: until the next one the barriers log stores to the closures that are marked in `old`.
    pub fn begin_epoch<A>(&self, capabilities: Capabilities<'_, A>, old: &Arc<MarkBits>) {
        let (noted, old) = (Arc::clone(&self.noted), Arc::clone(old));
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
            counts: &self.counts,
            unscanned: &self.noted,
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
            rooted.extend(closure.inspect(|closure| _ = counts.increment::<false>(closure.addr())));
        });
        roots.for_each_elsewhere(|slot| {
            let closure = slot.get().filter(in_heap);
            if !mutant!("counts/handle-not-stuck") {
                closure.into_iter().for_each(|closure| counts.stick(closure.addr()));
            }
        });
        for closure in std::mem::replace(&mut self.rooted, rooted) {
            if !mutant!("counts/root-kept") {
                self.subtract(closure);
            }
        }
        for capability in capabilities.iter() {
            capability.field_log().take(|replaced| match replaced {
                Replaced::Once(closure) => self.subtract(closure),
                Replaced::Often(closure) => self.counts.stick(closure.addr()),
            });
        }
    }

    /// Subtracts one reference. If that was the last one, the closure is dead.
    fn subtract(&mut self, closure: ClosureRef) {
        if self.counts.decrement::<false>(closure.addr()) == 1 {
            self.dead.push(closure);
        }
    }

    /// Takes the marks of `most` dead closures at most, and of those that die with them; `died` is called with
    /// each. Returns what they were.
    pub fn bury(
        &mut self,
        closures: Closures,
        marks: &MarkBits,
        most: u64,
        mut died: impl FnMut(ClosureRef),
    ) -> Amount {
        let mut dead = Amount::default();
        let mut left = most;
        while left > 0 {
            let Some(closure) = self.dead.stack.pop() else {
                let Some(others) = self.dead.others.take() else { break };
                self.find_dead(closures, marks, others);
                continue;
            };
            left -= 1;
            let words = closures.words(closure);
            dead.words += words;
            if words >= LARGE_OBJECT {
                dead.large += words;
            }
            marks.unset(closure.addr());
            died(closure);
            for referent in closures.referents(closure).filter(|to| closures.contain(to.addr())) {
                if !mutant!("counts/dead-kept-references") {
                    self.subtract(referent);
                }
            }
        }
        dead
    }

    /// Finds dead closures that found no room in the stack, which is empty: marked ones with count 0.
    fn find_dead(&mut self, closures: Closures, marks: &MarkBits, (mut from, to): (Addr, Addr)) {
        while let Some(at) = marks.next_set(from, to + Words(1)) {
            if self.dead.stack.len() == MOST_DEAD {
                self.dead.others = Some((at, to));
                return;
            }
            from = at + Words(1);
            if self.counts.is_zero(at) {
                self.dead.stack.push(closures.at(at));
            }
        }
    }

    /// A trace has found that the closures in these `ranges` that are marked in `former` and not in `marks` are
    /// dead: subtracts their references to others, which it found alive. They are still intact.
    pub fn bury_unmarked(&mut self, closures: Closures, former: &MarkBits, marks: &MarkBits, ranges: &[(Addr, Addr)]) {
        self.dead.stack.retain(|closure| marks.get(closure.addr()));
        for &(mut from, to) in ranges {
            while let Some(at) = former.next_set_but(marks, from, to) {
                from = at + Words(1);
                self.counts.reset(at);
                for referent in closures
                    .referents(closures.at(at))
                    .filter(|to| closures.contain(to.addr()))
                {
                    if marks.get(referent.addr()) {
                        self.subtract(referent);
                    }
                }
            }
        }
    }

    /// Everything will be counted anew: forgets what the barriers logged, and which closures are dead. The counts are to be
    /// [cleared](References::clear), too.
    pub fn forget<A>(&mut self, capabilities: Capabilities<'_, A>) {
        for capability in capabilities.iter() {
            capability.field_log().take(|_| ());
            capability.remembered().take(|_| ());
        }
        self.rooted.clear();
        self.dead = Dead::default();
    }

    /// Forgets the counts of closures from `from` to `to`, which are ends of blocks.
    pub fn clear(&mut self, from: Addr, to: Addr) {
        self.counts.clear(from, to);
    }

    /// What was counted, for the checker.
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger {
            counts: &self.counts,
            others: &self.rooted,
        }
    }
}
