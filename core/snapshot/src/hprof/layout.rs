//! Sizes of objects as the JVM lays them out, and where the references are among an object's fields.
//!
//! **The rule** for sizes, since a dump has none: that of HotSpot with its usual options. With ids of 8 bytes a header is a mark word of 8 and a compressed
//! class pointer of 4, and references take 4 bytes if every id lies below 32 GiB, so that they can be compressed, else 8. With ids of 4 bytes
//! a header is 8 bytes, and references are 4. An array has 4 bytes more, its length. An object is its header and its fields (of all its classes), rounded up
//! to 8; a class is an object of `java.lang.Class` that has its static fields too. What a JVM was told otherwise (compact headers, other
//! alignment, no compressed class pointers) a dump does not say.

use crate::hprof::cursor::Basic;

/// Objects below can be referred to in 32 bits: 8-byte units.
const COMPRESSIBLE: u64 = 32 << 30;

/// What is alike for all objects of a dump.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    id_bytes: u32,
    header: u64,
    reference: u64,
}

impl Sizes {
    pub(super) fn new(id_bytes: u32, highest_id: u64) -> Self {
        let small = id_bytes == 4 || highest_id < COMPRESSIBLE;
        Sizes {
            id_bytes,
            header: if id_bytes == 4 { 8 } else { 12 },
            reference: if small { 4 } else { 8 },
        }
    }

    /// Bytes of a value in memory.
    pub(super) fn of(self, basic: Basic) -> u64 {
        match basic {
            Basic::Object => self.reference,
            _ => u64::from(basic.bytes(self.id_bytes)),
        }
    }

    /// Bytes of an object with fields of so many bytes.
    pub(super) fn object(self, fields: u64) -> u64 {
        (self.header + fields).next_multiple_of(8)
    }

    /// Bytes of an array.
    pub(super) fn array(self, of: Basic, count: u32) -> u64 {
        (self.header + 4 + self.of(of) * u64::from(count)).next_multiple_of(8)
    }
}

/// What is alike for all objects of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// Bytes of the fields in the dump.
    pub(super) dumped: u64,
    /// Bytes of the fields in memory.
    pub(super) fields: u64,
    /// References among the fields, in order: bytes of the dump before each, its string, and whether it is weak.
    pub(super) references: Vec<(u64, u32, bool)>,
    /// Which of them is the referent of a `java.lang.ref.Reference`.
    pub(super) referent: Option<usize>,
    /// Whether references of the class do not keep their referents alive.
    pub(super) weak: bool,
}
