//! The right to end the eras of a biographical profile.

use super::side_words::SideWords;
use crate::sync::Arc;

/// The right to end the eras of a heap. A heap has at most one such value at a time
/// ([`crate::world::Stopped::eras`]): a census belongs to the era that it ends, so a second party
/// ending eras would distort the first one's figures.
#[derive(Debug)]
pub struct Eras(Arc<SideWords>);

impl Eras {
    /// Takes the right, if no other value holds it.
    pub(crate) fn take(side_words: &Arc<SideWords>) -> Option<Eras> {
        side_words.take_eras().then(|| Eras(Arc::clone(side_words)))
    }

    /// The side words of the heap.
    pub fn side_words(&self) -> &SideWords {
        &self.0
    }

    /// Whether the eras belong to this heap.
    pub(crate) fn are_of(&self, side_words: &Arc<SideWords>) -> bool {
        Arc::ptr_eq(&self.0, side_words)
    }
}

impl Drop for Eras {
    fn drop(&mut self) {
        self.0.return_eras();
    }
}
