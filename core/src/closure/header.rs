//! The header word of a closure.
//!
//! One word, eight bytes, in front of every payload:
//!
//! | bits  | what |
//! |-------|------|
//! | 0     | 1 = a header; 0 = the whole word is the forwarding address (closures are 8-aligned) |
//! | 1     | mark (free for collectors that mark in the header) |
//! | 2–3   | age (free for collectors that count collections survived) |
//! | 4–5   | spare |
//! | 6–47  | address of the [`TypeInfo`] (64-aligned, user address space of 47 bits) |
//! | 48–55 | number of pointers, 255 = variable: ask the payload |
//! | 56–63 | words of payload, 255 = variable: ask the payload |
//!
//! So a collector learns from the header alone how to copy and scan every closure of fixed layout, without a second
//! load that depends on the first; profilers get from the same word to names and types. `docs/heap.md` has the
//! measurement behind that choice.

use super::info::TypeInfo;

/// The header word of a closure; see the module for its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Header(pub(crate) u64);

const TAG: u64 = 1;
const INFO_MASK: u64 = 0x0000_ffff_ffff_ffc0;
const PTRS_SHIFT: u32 = 48;
const WORDS_SHIFT: u32 = 56;

/// The count that means "variable: ask the payload".
pub const VARIABLE: u8 = 255;

impl Header {
    /// The header of a closure described by `info`.
    #[inline(always)]
    pub fn new(info: &'static TypeInfo) -> Header {
        let layout = ((info.ptrs as u64) << PTRS_SHIFT) | ((info.words as u64) << WORDS_SHIFT) | TAG;
        let address = std::ptr::from_ref(info) as u64;
        debug_assert_eq!(address & !INFO_MASK, 0, "info tables are 64-aligned and lie below 2^48");
        Header(address | layout)
    }

    /// Whether this word is a header, and not a forwarding address.
    #[inline(always)]
    pub(crate) fn is_header(self) -> bool {
        self.0 & TAG != 0
    }

    /// Number of pointers, or [`VARIABLE`].
    #[inline(always)]
    pub fn ptrs(self) -> u8 {
        (self.0 >> PTRS_SHIFT) as u8
    }

    /// Words of payload, or [`VARIABLE`].
    #[inline(always)]
    pub fn words(self) -> u8 {
        (self.0 >> WORDS_SHIFT) as u8
    }

    /// Address of the info table.
    #[inline(always)]
    pub(crate) fn info_ptr(self) -> *const TypeInfo {
        (self.0 & INFO_MASK) as *const TypeInfo
    }

    /// Whether this looks like a word that [`Header::new`] made: it has the tag, leads to where info tables lie, and says the
    /// same as its table. For who walks a heap that may be damaged.
    pub(crate) fn is_sane(self) -> bool {
        // Info tables are statics, and all statics of a program lie within 2 GiB (the code model that Rust compiles for):
        // an address out of that range is not believed, let alone read.
        const STATICS: usize = 2 << 30;
        static HERE: u8 = 0;
        let address = self.info_ptr() as usize;
        if !self.is_header() || address.abs_diff(&raw const HERE as usize) >= STATICS {
            return false;
        }
        // SAFETY: in an intact heap it is an info table. In a damaged one this is a guess: another static, which is likely to
        // disagree, or, seldom, an address between the statics that is not mapped, and then the process ends here.
        let (ptrs, words) = unsafe { ((*self.info_ptr()).ptrs, (*self.info_ptr()).words) };
        (self.ptrs(), self.words()) == (ptrs, words)
    }

    /// The info table.
    ///
    /// # Safety
    /// The word must be a header made by [`Header::new`].
    #[inline(always)]
    pub(crate) unsafe fn info(self) -> &'static TypeInfo {
        // SAFETY: `new` stored the address of a `&'static TypeInfo`, and the caller vouches that `new` made this word.
        unsafe { &*self.info_ptr() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closure::Kind;

    static PAIR: TypeInfo = TypeInfo::fixed(Kind::Constr, "Pair", "test", 2, 3);

    #[test]
    fn a_header_gives_back_layout_and_info() {
        let h = Header::new(&PAIR);
        assert!(h.is_header());
        assert_eq!((h.ptrs(), h.words()), (2, 3));
        // SAFETY: made by `new` above.
        assert!(std::ptr::eq(unsafe { h.info() }, &PAIR));
    }

    #[test]
    fn only_what_agrees_with_its_table_is_sane() {
        let h = Header::new(&PAIR);
        assert!(h.is_sane());
        let poison = u64::from_ne_bytes([crate::block::POISON; 8]);
        for damaged in [h.0 ^ TAG, h.0 + (1 << WORDS_SHIFT), h.0 ^ (1 << 46), 0, poison] {
            assert!(!Header(damaged).is_sane(), "{damaged:#x}");
        }
    }

    #[test]
    fn an_aligned_address_is_no_header() {
        assert!(!Header(0x4200_0000_0018).is_header());
    }
}
