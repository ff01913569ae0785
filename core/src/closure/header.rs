//! The header word of a closure.
//!
//! One word, eight bytes, in front of every payload:
//!
//! | bits  | meaning |
//! |-------|------|
//! | 0     | 1 = a header; 0 = the whole word is the forwarding address (closures are 8-aligned) |
//! | 1     | the closure stays where it is, while marking moves others |
//! | 2–3   | age (free for collectors that count collections survived) |
//! | 4–5   | spare |
//! | 6–47  | address of the [`TypeInfo`] (64-aligned, user address space of 47 bits) |
//! | 48–55 | number of pointers, 255 = variable: stored in the payload |
//! | 56–63 | words of payload, 255 = variable: stored in the payload |
//!
//! So a collector learns from the header alone how to copy and scan every closure of fixed layout,
//! without a second load that depends on the first. The same word leads profilers to names and
//! types. `docs/heap.md` has the measurement behind that choice.

use super::info::{Kind, TypeInfo};
use super::statics;

/// The header word of a closure; see the module for its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Header(pub(crate) u64);

const TAG: u64 = 1;
const STAYS: u64 = 1 << 1;
/// Bits that are clear outside collections.
const SPARE: u64 = 0x3e;
const INFO_MASK: u64 = 0x0000_ffff_ffff_ffc0;
const PTRS_SHIFT: u32 = 48;
const WORDS_SHIFT: u32 = 56;

impl Header {
    /// Makes the header of a closure that `info` describes.
    #[inline(always)]
    pub fn new(info: &'static TypeInfo) -> Header {
        Header::with_layout(info, Header::layout(info))
    }

    /// The bits of a header that do not depend on the address of `info`. Allocation computes them
    /// at compile time: otherwise a table that is another crate's static would be loaded for each
    /// closure.
    #[inline(always)]
    pub(crate) const fn layout(info: &TypeInfo) -> u64 {
        ((info.ptrs as u64) << PTRS_SHIFT) | ((info.words as u64) << WORDS_SHIFT) | TAG
    }

    /// The header of a closure described by `info`, whose [`Header::layout`] is `layout`.
    #[inline(always)]
    pub(crate) fn with_layout(info: &'static TypeInfo, layout: u64) -> Header {
        let address = std::ptr::from_ref(info) as u64;
        debug_assert_eq!(address & !INFO_MASK, 0, "info tables are 64-aligned and lie below 2^48");
        Header(address | layout)
    }

    /// Whether this word is a header, not a forwarding address.
    #[inline(always)]
    pub(crate) fn is_header(self) -> bool {
        self.0 & TAG != 0
    }

    /// Whether a moving marker has found no room for this closure, and leaves it in place.
    #[inline(always)]
    pub(crate) fn stays(self) -> bool {
        self.0 & (STAYS | TAG) == STAYS | TAG
    }

    /// The header of the same closure if it stays in place.
    #[inline(always)]
    pub(crate) fn staying(self) -> Header {
        Header(mutant!("models/stay-unsaid", self.0 | STAYS => self.0))
    }

    /// The header of the same closure after the collection.
    #[inline(always)]
    pub(crate) fn settled(self) -> Header {
        Header(self.0 & !STAYS)
    }

    /// Number of pointers, or `VARIABLE`.
    #[inline(always)]
    pub fn ptrs(self) -> u8 {
        (self.0 >> PTRS_SHIFT) as u8
    }

    /// Words of payload, or `VARIABLE`.
    #[inline(always)]
    pub fn words(self) -> u8 {
        (self.0 >> WORDS_SHIFT) as u8
    }

    /// Address of the info table.
    #[inline(always)]
    pub(crate) fn info_ptr(self) -> *const TypeInfo {
        (self.0 & INFO_MASK) as *const TypeInfo
    }

    /// Whether this looks like a word that [`Header::new`] made: it has only the tag, points to a
    /// static, and agrees with that static. For walks over a possibly damaged heap: nothing
    /// unreadable is read.
    pub(crate) fn is_sane(self) -> bool {
        let info = self.info_ptr();
        if !self.is_header() || self.0 & SPARE != 0 || !statics::have(info as usize, size_of::<TypeInfo>()) {
            return false;
        }
        // SAFETY: statics of this process can be read (info tables are never written). Every byte
        // pattern is a valid value of the types that are read here.
        let (kind, ptrs, words) = unsafe {
            (
                (&raw const (*info).kind).cast::<u8>().read(),
                (*info).ptrs,
                (*info).words,
            )
        };
        kind <= Kind::Record as u8 && (self.ptrs(), self.words()) == (ptrs, words)
    }

    /// The info table.
    ///
    /// # Safety
    /// [`Header::new`] made this word.
    #[inline(always)]
    pub(crate) unsafe fn info(self) -> &'static TypeInfo {
        // SAFETY: `new` stored the address of a `&'static TypeInfo`, and the caller vouches that
        // `new` made this word.
        unsafe { &*self.info_ptr() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static PAIR: TypeInfo = TypeInfo::fixed(Kind::Constr, "Pair", "test", 2, 3);

    #[test]
    fn a_header_round_trips_layout_and_info() {
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
        // Under Miri the process has no map of its statics, so every address passes.
        let poison = (!cfg!(miri)).then_some(poison);
        for damaged in [h.0 ^ TAG, h.0 + (1 << WORDS_SHIFT), 0].into_iter().chain(poison) {
            assert!(!Header(damaged).is_sane(), "{damaged:#x}");
        }
        // A flipped address bit must not cause an unreadable access. (Between statics there are
        // gaps, to which the tools object.)
        if !cfg!(any(miri, gclab_asan)) {
            (6..48).for_each(|bit| assert!(!Header(h.0 ^ 1 << bit).is_sane(), "bit {bit}"));
        }
    }

    #[test]
    fn an_aligned_address_is_not_a_header() {
        assert!(!Header(0x4200_0000_0018).is_header());
    }
}
