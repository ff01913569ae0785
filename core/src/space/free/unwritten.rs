//! Room for closures that mutators write themselves.

use super::{FreeList, FreeSpace};
use crate::closure::{Header, Kind, TypeInfo};
use crate::space::MarkBits;
use crate::words::{Addr, Words};

/// What a room contains until its closure is written: an array of bytes, or if the room is one word
/// a closure without a payload.
static BYTES: TypeInfo = TypeInfo::variable(Kind::ArrWords, "Room");
static WORD: TypeInfo = TypeInfo::fixed(Kind::Constr, "Room", module_path!(), 0, 0);

impl<L: FreeList> FreeSpace<L> {
    /// Takes room for a closure of `words` words, which starts there from now on: a mutator writes
    /// it later. Until then it is a closure without pointers, so that the chunk can be walked.
    /// Returns `None` if no block fits: the space has to grow.
    pub fn allocate(&mut self, starts: &mut MarkBits, marks: &mut MarkBits, words: Words) -> Option<Addr> {
        let at = self.take(words)?;
        // SAFETY: the list has handed these words out.
        unsafe { write_room(at, words) };
        starts.set(at);
        if self.is_black(at) {
            marks.set(at);
        }
        Some(at)
    }
}

/// Writes a closure of `words` words without pointers.
///
/// # Safety
/// The words belong to the caller.
pub(super) unsafe fn write_room(at: Addr, words: Words) {
    let info = if words == Words(1) { &WORD } else { &BYTES };
    // SAFETY: the caller vouches for the words.
    unsafe {
        let start = at.as_mut_ptr::<u64>();
        start.write(Header::new(info).0);
        if words > Words(1) {
            start.add(1).write((words - Words(2)).to_bytes().0 as u64);
        }
    }
}
