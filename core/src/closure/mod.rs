//! Closures: the object model.
//!
//! A closure is one header word ([`Header`]) and a payload: pointers first, then everything else. A
//! closure of variable size carries its length in the first word of the payload. Therefore the
//! pointers of *every* closure are one contiguous run of slots. ONE function finds that run,
//! `ClosureRef::extent`; copying, marking, checking, traversing and profiling all use it.
//!
//! Terms: a *slot* is the address of a word that holds a pointer to a closure or null; the
//! *payload* is everything after the header; an *extent* is a closure's size and its run of slots.
//!
//! All functions here read raw memory. They are sound under the heap's invariant, which the checker
//! (`-DS`) tests: every non-null slot of a live closure holds the address of a closure that starts
//! with a header from [`Header::new`] and has the payload that its header describes.

mod closures;
mod field;
mod header;
mod info;
#[doc(hidden)]
pub mod layout;
mod range;
mod statics;

pub use closures::Closures;
pub use field::{Field, Mut, MutField, Plain, Ptr};
pub use gclab_derive::Closure;
pub use header::Header;
pub(crate) use info::VARIABLE;
pub use info::{Kind, TypeInfo};
pub(crate) use range::{ClosureRange, SlotRange};

use crate::sync::{Ordering, shared_word};
use crate::words::{Addr, Words};

/// A type whose values are closures in the heap.
///
/// # Safety
/// `INFO` must describe exactly the layout that the type's initialisers write and its accessors
/// read. The derive guarantees it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a closure type",
    note = "`#[derive(Closure)]` makes a struct one"
)]
pub unsafe trait Closure: 'static {
    /// The info table.
    const INFO: &'static TypeInfo;
}

/// The address of a word that holds a pointer to a closure, or null.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct Slot(pub(crate) *mut u64);

// SAFETY: a slot is an address. The methods that dereference it are unsafe and state their
// conditions.
unsafe impl Send for Slot {}

impl Slot {
    /// The address of the slot itself.
    #[inline(always)]
    pub fn addr(self) -> Addr {
        Addr(self.0 as usize)
    }

    /// Reads the pointer in the slot: a closure, or null.
    ///
    /// # Safety
    /// The slot lies in live heap or root memory, and no other thread writes it now.
    #[inline(always)]
    pub(crate) unsafe fn load(self) -> ClosureRef {
        // SAFETY: the caller vouches that the slot is readable.
        ClosureRef(unsafe { *self.0 } as *mut u64)
    }

    /// [`Slot::load`] while another thread may read or write the same slot: a slot that is
    /// remembered twice, which both threads update.
    ///
    /// # Safety
    /// The slot lies in live heap or root memory, and other threads write it only by
    /// [`Slot::store_shared`].
    #[inline(always)]
    pub(crate) unsafe fn load_shared(self) -> ClosureRef {
        // SAFETY: the caller vouches that the slot is readable. Relaxed: a closure's own header
        // says (with acquire) whether the closure was moved. The slot may hold the address of a
        // copy whose block's state is not visible yet; then the thread that stored it has
        // remembered the slot if need be.
        let word = unsafe { shared_word(self.0) }.load(Ordering::Relaxed);
        ClosureRef(word as *mut u64)
    }

    /// [`Slot::load`] concurrently with mutators, which may store to the slot. The closure is seen initialised,
    /// and so is the state of its block.
    ///
    /// # Safety
    /// As for [`Slot::load`], but mutators may write the slot.
    #[inline(always)]
    pub(crate) unsafe fn load_beside(self) -> ClosureRef {
        // Acquire: pairs with `publish`. (Where the world is stopped, it is a plain load on the
        // machines we know.)
        let acquire = mutant!("models/loaded-relaxed", Ordering::Acquire => Ordering::Relaxed);
        // SAFETY: the caller vouches that the slot is readable.
        ClosureRef(unsafe { shared_word(self.0) }.load(acquire) as *mut u64)
    }

    /// [`Slot::store`] by a mutator. Whoever loads the closure with acquire ([`Slot::load_beside`])
    /// sees it initialised, and the state of its block (race R14 of `docs/parallel-collection.md`).
    ///
    /// # Safety
    /// As for [`Slot::store`], but markers and other mutators may use the slot.
    #[inline(always)]
    pub(crate) unsafe fn publish(self, value: ClosureRef) {
        let release = mutant!("models/stored-relaxed", Ordering::Release => Ordering::Relaxed);
        // SAFETY: the caller vouches that the slot is writable.
        unsafe { shared_word(self.0) }.store(value.0 as u64, release);
    }

    /// Overwrites the pointer in the slot.
    ///
    /// # Safety
    /// As [`Slot::load`]; `value` is null or a closure of the same heap.
    #[inline(always)]
    pub(crate) unsafe fn store(self, value: ClosureRef) {
        // SAFETY: the caller vouches that the slot is writable.
        unsafe { *self.0 = value.0 as u64 };
    }

    /// [`Slot::store`] while another thread may store the same value to the same slot.
    ///
    /// # Safety
    /// As for [`Slot::load_shared`]; `value` as for [`Slot::store`].
    #[inline(always)]
    pub(crate) unsafe fn store_shared(self, value: ClosureRef) {
        // SAFETY: the caller vouches that the slot is writable. Relaxed: as for `load_shared`.
        unsafe { shared_word(self.0) }.store(value.0 as u64, Ordering::Relaxed);
    }
}

/// The address of a closure. Its methods read memory and are therefore private to core; safe views
/// are in [`crate::world::Stopped`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct ClosureRef(pub(crate) *mut u64);

// SAFETY: an address, as a slot is.
unsafe impl Send for ClosureRef {}

/// A closure's size and its run of slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Words, header included.
    pub words: Words,
    /// The first slot.
    pub(crate) first: *mut u64,
    /// Number of slots.
    pub slots: usize,
}

impl ClosureRef {
    /// The address of the closure's header.
    #[inline(always)]
    pub fn addr(self) -> Addr {
        Addr(self.0 as usize)
    }

    /// Whether this is null: no closure.
    #[inline(always)]
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The first slot of a closure of fixed layout that has pointers.
    #[inline(always)]
    pub(crate) fn first_slot(self) -> Slot {
        Slot(self.0.wrapping_add(1))
    }

    /// The header word, which may be a forwarding address.
    ///
    /// # Safety
    /// A closure starts at this address.
    #[inline(always)]
    pub(crate) unsafe fn header(self) -> Header {
        // SAFETY: closures start with their header word.
        Header(unsafe { *self.0 })
    }

    /// The header word while several threads may be forwarding the closure. After a forwarding
    /// address is returned, the copy at that address can be read.
    ///
    /// # Safety
    /// As for [`ClosureRef::header`].
    #[inline(always)]
    pub(crate) unsafe fn shared_header(self) -> Header {
        if mutant!("tsan/header-not-atomic") {
            // SAFETY: the caller's promise. The fault is that this load may race.
            return unsafe { self.header() };
        }
        let ordering = mutant!("models/header-not-acquired", Ordering::Acquire => Ordering::Relaxed);
        // SAFETY: closures start with their header word. Acquire: pairs with the release of
        // `forward_shared`.
        Header(unsafe { shared_word(self.0) }.load(ordering))
    }

    /// Replaces `header` by the forwarding address `to`. If another thread was faster, its address
    /// is the error (race R7 of
    /// `docs/parallel-collection.md`).
    ///
    /// # Safety
    /// A closure with this header, forwarded or not, starts here, and its copy is at `to`.
    #[inline(always)]
    pub(crate) unsafe fn forward_shared(self, header: Header, to: ClosureRef) -> Result<(), ClosureRef> {
        // SAFETY: passed on.
        unsafe { self.replace_header(header, Header(to.0 as u64)) }.map_err(|other| ClosureRef(other.0 as *mut u64))
    }

    /// Replaces `header` by `new`, a forwarding address or a header of the same closure. If another
    /// thread was faster, its word is the error (race R12 of `docs/parallel-collection.md`).
    ///
    /// # Safety
    /// A closure with this header, forwarded or not, starts here. If `new` is a forwarding address,
    /// the closure's copy is there.
    #[inline(always)]
    pub(crate) unsafe fn replace_header(self, header: Header, new: Header) -> Result<(), Header> {
        // SAFETY: closures start with their header word. Release: a thread that follows the address
        // sees the copy and the state of its block. Acquire: this thread sees those of the other's
        // copy.
        let word = unsafe { shared_word(self.0) };
        let release = mutant!("models/forward-relaxed", Ordering::Release => Ordering::Relaxed);
        let acquire = mutant!("models/other-not-acquired", Ordering::Acquire => Ordering::Relaxed);
        word.compare_exchange(header.0, new.0, release, acquire)
            .map(drop)
            .map_err(Header)
    }

    /// Clears the bit of a closure that stayed in place ([`Header::staying`]).
    ///
    /// # Safety
    /// As for [`ClosureRef::header`]; no other thread uses the closure.
    pub(crate) unsafe fn settle(self) {
        // SAFETY: closures start with their header word.
        unsafe { *self.0 = self.header().settled().0 };
    }

    /// Size and slots of the closure that starts here: the only code that walks a closure.
    ///
    /// # Safety
    /// A closure that is not forwarded starts here.
    #[inline(always)]
    pub(crate) unsafe fn extent(self) -> Extent {
        // SAFETY: the caller vouches for the closure. A header of fixed layout holds everything;
        // `variable_extent` reads the first word of payload, which every other closure has.
        unsafe { self.extent_from(self.header()) }
    }

    /// [`ClosureRef::extent`] for a header that was already read.
    ///
    /// # Safety
    /// As [`ClosureRef::extent`]; `header` is that closure's.
    #[inline(always)]
    pub(crate) unsafe fn extent_from(self, header: Header) -> Extent {
        if header.words() != VARIABLE {
            let first = self.0.wrapping_add(1);
            return Extent {
                words: Words(1 + header.words() as usize),
                first,
                slots: header.ptrs() as usize,
            };
        }
        // SAFETY: as for `extent`.
        unsafe { self.variable_extent(header) }
    }

    /// [`ClosureRef::extent_from`] for a closure that has pointers and is not a large object:
    /// without reading the info table. An array's length word reads like the shape of a record
    /// without bytes, since the array has less than 2^32 pointers.
    ///
    /// # Safety
    /// As [`ClosureRef::extent_from`]; the closure has pointers, and lies in a block of small
    /// closures.
    #[inline(always)]
    pub(crate) unsafe fn extent_with_pointers(self, header: Header) -> Extent {
        let first = self.0.wrapping_add(1);
        let extent = if header.words() == VARIABLE {
            // SAFETY: closures of variable size have a first word of payload, their size.
            let shape = RecordShape::from_word(unsafe { *first });
            Extent {
                words: shape.words(),
                first: first.wrapping_add(1),
                slots: shape.pointers as usize,
            }
        } else {
            Extent {
                words: Words(1 + usize::from(header.words())),
                first,
                slots: usize::from(header.ptrs()),
            }
        };
        // SAFETY: the caller's promise.
        debug_assert_eq!(extent, unsafe { self.extent_from(header) });
        extent
    }

    /// The extent of a closure that carries its size in the first word of its payload.
    ///
    /// # Safety
    /// As [`ClosureRef::extent_from`], for a header whose words are [`VARIABLE`].
    #[inline]
    unsafe fn variable_extent(self, header: Header) -> Extent {
        // SAFETY: closures of variable size have a first word of payload, their size.
        let size = unsafe { *self.0.add(1) };
        let first = self.0.wrapping_add(2);
        // SAFETY: the caller vouches for the header.
        match unsafe { header.info() }.kind {
            Kind::ArrWords => Extent {
                words: byte_array_words(size as usize),
                first,
                slots: 0,
            },
            Kind::MutArrPtrs => Extent {
                words: pointer_array_words(size as usize),
                first,
                slots: size as usize,
            },
            Kind::Record => {
                let shape = RecordShape::from_word(size);
                Extent {
                    words: shape.words(),
                    first,
                    slots: shape.pointers as usize,
                }
            }
            Kind::Constr | Kind::MutConstr | Kind::MutVar => {
                unreachable!("closures of fixed layout say so in their header")
            }
        }
    }

    /// Size in words of the closure that starts here.
    ///
    /// # Safety
    /// As [`ClosureRef::extent`].
    #[inline(always)]
    pub(crate) unsafe fn words(self) -> Words {
        // SAFETY: as for `extent`.
        unsafe { self.extent() }.words
    }
}

impl Header {
    /// Where the closure was copied to, if this word is a forwarding address.
    #[inline(always)]
    pub(crate) fn forwarded_to(self) -> Option<ClosureRef> {
        (!self.is_header()).then_some(ClosureRef(self.0 as *mut u64))
    }
}

impl Extent {
    /// The slots, first to last.
    #[inline(always)]
    pub fn slots(self) -> impl ExactSizeIterator<Item = Slot> {
        let first = self.first;
        (0..self.slots).map(move |i| Slot(first.wrapping_add(i)))
    }
}

/// Words of a byte array of `bytes` bytes, header and length included.
#[inline(always)]
pub(crate) fn byte_array_words(bytes: usize) -> Words {
    Words(2 + bytes.div_ceil(8))
}

/// Words of an array of `len` pointers, header and length included.
#[inline(always)]
pub(crate) fn pointer_array_words(len: usize) -> Words {
    Words(len.saturating_add(2))
}

/// The numbers of pointers and bytes of a record, 32 bits each: the second word of the closure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordShape {
    /// Number of pointers.
    pub pointers: u32,
    /// Bytes in addition to the pointers; the closure is rounded up to whole words.
    pub bytes: u32,
}

impl RecordShape {
    /// Words of such a record, header and shape included.
    #[inline(always)]
    pub fn words(self) -> Words {
        Words(2 + self.pointers as usize + (self.bytes as usize).div_ceil(8))
    }

    pub(crate) fn to_word(self) -> u64 {
        self.pointers as u64 | (self.bytes as u64) << 32
    }

    pub(crate) fn from_word(word: u64) -> RecordShape {
        RecordShape {
            pointers: word as u32,
            bytes: (word >> 32) as u32,
        }
    }
}
