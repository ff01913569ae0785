//! Records: closures whose shape is known only at run time (`RECORD`), such as the nodes of a heap
//! snapshot.

use super::gc::{Any, Distinct};
use super::{Gc, Mutator, NoGc};
use crate::closure::{Closure, Kind, RecordShape, TypeInfo};
use crate::kind::MutatorKind;
use crate::sync::Ordering;
use crate::sync::data::AtomicU64;

/// Mutable pointers to closures of any type, and words of data.
#[derive(Debug)]
pub struct Record(());

static RECORD: TypeInfo = TypeInfo::variable(Kind::Record, "Record");

// SAFETY: `alloc_record` writes the shape and as many pointers and words; the accessors below keep
// inside.
unsafe impl Closure for Record {
    const INFO: &'static TypeInfo = &RECORD;
}
// SAFETY: no other type has this table.
unsafe impl Distinct for Record {}

impl<'h, M: MutatorKind> Mutator<'h, M> {
    /// Allocates a record of `shape`, all null and zero.
    pub fn alloc_record<'m>(&'m mut self, shape: RecordShape) -> Gc<'m, 'h, Record> {
        self.alloc_variable(shape.words(), |_, payload| {
            // SAFETY: `alloc_variable` provided room for the shape and for the words that it
            // counts.
            unsafe {
                payload.write(shape.to_word());
                payload.add(1).write_bytes(0, shape.words().0 - 2);
            }
        })
    }
}

impl<'m, 'h> Gc<'m, 'h, Record> {
    /// Its number of pointers and of bytes.
    #[inline(always)]
    pub fn shape(self) -> RecordShape {
        // SAFETY: the first word of the payload is the shape.
        RecordShape::from_word(unsafe { self.payload(0) }.load(Ordering::Relaxed))
    }

    /// The referent of pointer `index`.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    pub fn get<M: MutatorKind>(self, m: &NoGc<'h, M>, index: usize) -> Option<Gc<'m, 'h, Any>> {
        assert!(
            index < self.shape().pointers as usize,
            "pointer {index} of a record of {:?}",
            self.shape()
        );
        // SAFETY: in bounds; every writer stores null or a pointer to a closure.
        unsafe { Gc::option_from_word(self.read_word::<M, true, true>(m, 1 + index)) }
    }

    /// Makes pointer `index` point to `value`.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    pub fn set<M: MutatorKind>(self, m: &NoGc<'h, M>, index: usize, value: Option<Gc<'_, 'h, Any>>) {
        assert!(
            index < self.shape().pointers as usize,
            "pointer {index} of a record of {:?}",
            self.shape()
        );
        // SAFETY: in bounds; any closure may be stored there.
        unsafe { self.write_pointer(m, 1 + index, value) }
    }

    /// The whole words after the pointers, as memory that several threads may read and write.
    #[inline(always)]
    pub fn data(self) -> &'m [AtomicU64] {
        let shape = self.shape();
        let first = self
            .closure()
            .0
            .wrapping_add(2 + shape.pointers as usize)
            .cast::<AtomicU64>();
        // SAFETY: as many bytes follow the pointers and stay where they are for `'m`; all accesses
        // are atomic.
        unsafe { std::slice::from_raw_parts(first, shape.bytes as usize / 8) }
    }
}
