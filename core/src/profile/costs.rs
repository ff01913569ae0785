//! The allocation of one mutator by stack of cost centres, for a time profile.

use super::cost_centre::StackId;
use std::cell::RefCell;

/// Words that one mutator allocated, by the number of the stack.
#[derive(Debug, Default)]
pub(crate) struct Charges(RefCell<Vec<u64>>);

impl Charges {
    /// Charges an allocation to a stack.
    #[inline]
    pub(crate) fn charge(&self, stack: StackId, words: u64) {
        let mut charges = self.0.borrow_mut();
        let number = stack.0 as usize;
        if number >= charges.len() {
            charges.resize(number + 1, 0);
        }
        charges[number] += words;
    }

    /// The words by stack.
    pub(crate) fn into_words(self) -> Vec<u64> {
        self.0.into_inner()
    }
}
