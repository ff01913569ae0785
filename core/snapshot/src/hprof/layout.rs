//! Sizes of objects in the JVM's memory, and the places of references among an object's fields.
//!
//! **The rule** for sizes, since a dump has none, is HotSpot's with its usual options. With
//! ids of 8 bytes, a header is a mark word of 8 and a compressed class pointer of 4. References
//! take 4 bytes if every id lies below 32 GiB, so that they can be compressed, else 8. With ids of
//! 4 bytes a header is 8 bytes, and references are 4. An array has 4 more bytes for its length. An
//! object is its header and its fields (of all its classes), rounded up to 8. A class is an object
//! of `java.lang.Class` that has its static fields too. A dump does not record other options of the
//! JVM (compact headers, other alignment, no compressed class pointers).

use crate::hprof::cursor::Basic;

/// Objects below this address can be referred to in 32 bits, in units of 8 bytes.
const COMPRESSIBLE: u64 = 32 << 30;

/// The sizes that all objects of a dump share.
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

    /// The bytes of a value in memory.
    pub(super) fn of(self, basic: Basic) -> u64 {
        match basic {
            Basic::Object => self.reference,
            _ => u64::from(basic.bytes(self.id_bytes)),
        }
    }

    /// The bytes of an object whose fields take `fields` bytes.
    pub(super) fn object(self, fields: u64) -> u64 {
        (self.header + fields).next_multiple_of(8)
    }

    /// The bytes of an array of `count` elements.
    pub(super) fn array(self, of: Basic, count: u32) -> u64 {
        (self.header + 4 + self.of(of) * u64::from(count)).next_multiple_of(8)
    }
}

/// The layout that all objects of a class share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    /// The bytes of the fields in the dump.
    pub(super) dumped: u64,
    /// The bytes of the fields in memory.
    pub(super) fields: u64,
    /// The nearest class that declares references: this one, or one above it.
    pub(super) nearest: Option<usize>,
    /// Whether references of the class do not keep their referents alive.
    pub(super) weak: bool,
}

/// The references among the fields of a class's objects. They are found when the first object of
/// the class comes: its fields in the dump take at least half as many bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct References {
    /// In order: the bytes of the dump before each reference, and its string.
    pub(super) fields: Vec<(u32, u32)>,
    /// The index of the one that does not keep its target alive.
    pub(super) weak: Option<usize>,
}
