//! One side word: where a closure was allocated, and when it was created and last used.

use super::cost_centre::StackId;

/// Number of bits of an era.
const ERA: u32 = 20;

/// The last era that a side word can hold: some million censuses.
pub const LAST_ERA: u64 = (1 << ERA) - 1;

/// The facts about one closure: 24 bits of the stack that allocated it, 20 bits of the era of its
/// creation, 20 bits of the era of its last use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideWord(pub(super) u64);

impl SideWord {
    #[inline(always)]
    pub(super) fn new(stack: StackId, created: u64) -> SideWord {
        SideWord(u64::from(stack.0) << (2 * ERA) | created << ERA)
    }

    /// The stack of cost centres that allocated it.
    #[inline(always)]
    pub fn stack(self) -> StackId {
        StackId((self.0 >> (2 * ERA)) as u32)
    }

    /// The era of its creation; 0 if no profiled mutator allocated it.
    #[inline(always)]
    pub fn created(self) -> u64 {
        self.0 >> ERA & LAST_ERA
    }

    /// The era of its last use, if it has been used.
    #[inline(always)]
    pub fn last_used(self) -> Option<u64> {
        Some(self.0 & LAST_ERA).filter(|era| *era > 0)
    }

    /// The first era whose census, if there was one, saw the closure without knowing whether it
    /// would be used again.
    #[inline(always)]
    pub(super) fn unexplained_since(self) -> u64 {
        let next = u64::from(!mutant!("profiles/used-again-too-early"));
        self.last_used().map_or(self.created(), |last| last + next)
    }

    #[inline(always)]
    pub(super) fn used_in(self, era: u64) -> SideWord {
        SideWord(self.0 & !LAST_ERA | era)
    }
}
