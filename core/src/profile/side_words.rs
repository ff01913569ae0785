//! Side words: one for each closure of a profiled heap, in a table outside it.

use super::biography::{Biographies, Spans};
use super::cost_centre::{CostCentre, StackCosts, StackId, Stacks};
use super::costs::Charges;
use super::followers::Followers;
use super::life::{LifeEvent, Reference};
use super::move_log::Moves;
use super::moves::SideWordsView;
use super::side_word::{LAST_ERA, SideWord};
use crate::closure::{ClosureRef, TypeInfo};
use crate::memory::{MemoryError, Table};
use crate::sync::{Arc, AtomicBool, AtomicU64, MappedU64, Mutex, Ordering::Relaxed};
use crate::words::{Addr, WORD, Words};

/// A value that proves that no mutator runs: it exists only while the world is stopped.
pub(crate) trait ProofOfStop {}

/// The side words of a heap, with the stacks and biographies that they refer to.
#[derive(Debug)]
pub struct SideWords {
    /// Accessed with relaxed order: all facts about one closure are in one word.
    words: Table<MappedU64>,
    base: Addr,
    /// The current era. Changed only while the world is stopped ([`ProofOfStop`]).
    era: AtomicU64,
    /// Whether an [`Eras`](super::Eras) exists. Relaxed: it guards no other memory.
    eras_taken: AtomicBool,
    stacks: Arc<Mutex<Stacks>>,
    /// `None` if no profile needs the times of uses.
    biographies: Option<Mutex<Biographies>>,
    /// `None` if no party follows closures.
    followers: Option<Followers>,
}

impl SideWords {
    /// Maps the side words of a heap of `reserved` bytes from `base`. `stacks` are its stacks of
    /// cost centres. `biographies`: record uses. `followers` learn of allocations and moves.
    ///
    /// # Errors
    /// If the system refuses the address space.
    pub(crate) fn new(
        base: Addr,
        reserved: usize,
        stacks: Arc<Mutex<Stacks>>,
        biographies: bool,
        followers: Option<Followers>,
    ) -> Result<SideWords, MemoryError> {
        Ok(SideWords {
            words: Table::new(reserved / WORD)?,
            base,
            era: AtomicU64::new(1),
            eras_taken: AtomicBool::new(false),
            stacks,
            biographies: biographies.then(Mutex::default),
            followers,
        })
    }

    /// The word of the closure at `at`, if it lies in the heap (statics do not).
    #[inline(always)]
    fn word(&self, at: Addr) -> Option<&MappedU64> {
        self.words.get(at.0.wrapping_sub(self.base.0) / WORD)
    }

    /// The side words for a collection that moves closures.
    pub(crate) fn view(&self) -> SideWordsView<'_> {
        SideWordsView::new(&self.words, self.base, self.followers.as_ref())
    }

    /// The side word of the closure at `at`.
    #[inline]
    pub fn get(&self, at: Addr) -> SideWord {
        SideWord(self.word(at).map_or(0, |word| word.load(Relaxed)))
    }

    /// For a collector that moves closures by its own code: moves a closure's side word from its
    /// old place to its new one. (The tracers of [`crate::trace`] do this themselves.) Several
    /// threads may call it, each for its own closures.
    pub fn moves(&self, from: Addr, to: Addr) {
        if let (Some(old), Some(new)) = (self.word(from), self.word(to)) {
            new.store(old.load(Relaxed), Relaxed);
        }
    }

    /// Notes that a closure was allocated at `at`.
    #[inline(always)]
    pub(crate) fn born(&self, at: Addr, words: Words, info: &'static TypeInfo, stack: StackId) {
        if let Some(followers) = &self.followers {
            followers.born(at, words, info, stack);
        }
        if let Some(word) = self.word(at) {
            word.store(SideWord::new(stack, self.era.load(Relaxed)).0, Relaxed);
        }
    }

    /// Notes that a closure is used.
    ///
    /// # Safety
    /// `closure` is a closure with its header, and stays one during the call.
    #[inline(always)]
    pub(crate) unsafe fn used(&self, closure: ClosureRef) {
        if let (Some(biographies), Some(word)) = (&self.biographies, self.word(closure.addr())) {
            let (before, era) = (SideWord(word.load(Relaxed)), self.era.load(Relaxed));
            if before.0 & LAST_ERA == era {
                return;
            }
            if before.unexplained_since() == era {
                // No census has seen it since. Other threads that use it now store the same value,
                // so there is no harm in the race.
                word.store(before.used_in(era).0, Relaxed);
            } else {
                // SAFETY: the caller's promise.
                unsafe { first_use(biographies, closure, word, before, era) };
            }
        }
    }

    /// The number of the current era.
    pub fn era(&self) -> u64 {
        self.era.load(Relaxed)
    }

    /// Ends an era with a census and begins another, unless this era was the last ([`LAST_ERA`]).
    pub(crate) fn next_era(&self, _proof: &impl ProofOfStop) {
        self.era.store((self.era() + 1).min(LAST_ERA), Relaxed);
    }

    /// Notes that an [`Eras`](super::Eras) exists. Returns whether there was none.
    pub(super) fn take_eras(&self) -> bool {
        !self.eras_taken.swap(true, Relaxed)
    }

    /// Notes that the [`Eras`](super::Eras) is gone.
    pub(super) fn return_eras(&self) {
        self.eras_taken.store(false, Relaxed);
    }

    /// The cost centres of a stack, the innermost first.
    pub fn cost_centres(&self, stack: StackId) -> Vec<CostCentre> {
        self.stacks.lock().centres(stack)
    }

    /// A session has ended that allocated `charges`.
    pub(crate) fn charge(&self, charges: Charges) {
        self.stacks.lock().charge(&charges.into_words());
    }

    /// The costs of all stacks of cost centres, in the order of their numbers. Allocation is
    /// counted for a time profile only ([`crate::config::Config::time_profile`]).
    pub fn costs(&self) -> Vec<StackCosts> {
        self.stacks.lock().costs()
    }

    /// Takes the moves of closures since the last call. There are none unless the heap notes them
    /// ([`crate::config::Config::follow_moves`]).
    pub fn take_moves(&self) -> Moves {
        self.followers
            .as_ref()
            .map_or_else(Moves::default, Followers::take_moves)
    }

    /// Takes the events in the life of the closure that the heap follows, since the last call
    /// ([`crate::config::Config::follow_closure`]).
    pub fn take_life(&self) -> Vec<LifeEvent> {
        self.followers.as_ref().map_or_else(Vec::new, Followers::take_life)
    }

    /// Whether the life of a closure is followed.
    pub(crate) fn follow_life(&self) -> bool {
        self.followers.as_ref().is_some_and(Followers::follow_life)
    }

    /// Notes how a reference to the closure at `to` was counted.
    pub(crate) fn counted(&self, to: Addr, reference: Reference, counts: [Option<u8>; 2]) {
        if let Some(followers) = &self.followers {
            followers.counted(to, reference, counts);
        }
    }

    /// The closure that the heap follows was found dead: another one may lie at its address.
    pub fn end_life(&self) {
        if let Some(followers) = &self.followers {
            followers.end_life();
        }
    }

    /// The uses of closures that are known by now.
    pub fn spans(&self) -> Vec<Spans> {
        self.biographies
            .as_ref()
            .map_or_else(Vec::new, |biographies| biographies.lock().spans())
    }
}

/// Records the first use in an era of a closure that censuses have seen since its last use, unless
/// another thread is faster.
///
/// # Safety
/// `closure` is a closure with its header, and stays one during the call.
#[cold]
#[inline(never)]
unsafe fn first_use(
    biographies: &Mutex<Biographies>,
    closure: ClosureRef,
    word: &MappedU64,
    before: SideWord,
    era: u64,
) {
    let after = before.used_in(era);
    if word.compare_exchange(before.0, after.0, Relaxed).is_err() {
        return;
    }
    // SAFETY: the caller's promise.
    let (info, words) = unsafe { (closure.header().info(), closure.words()) };
    if info.kind.is_data() {
        biographies.lock().used(info, words, before, era);
    }
}
