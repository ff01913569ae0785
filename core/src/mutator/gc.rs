//! `Gc`: a pointer into a heap, good until the mutator may collect.

use super::NoGc;
use super::brand::Brand;
use crate::barrier::Barrier;
use crate::closure::Slot;
use crate::closure::{Closure, ClosureRef, TypeInfo};
use crate::kind::MutatorKind;
use crate::sync::{Ordering, Word, shared_word};
use std::marker::PhantomData;

/// A pointer to a closure of type `T` in heap `'h`, good until the mutator may collect (`'m`).
///
/// It is eight bytes, `Copy`, and not `Send`. Accessors of derived types are methods of a trait
/// that `#[derive(Closure)]` generates beside the type.
pub struct Gc<'m, 'h, T> {
    closure: std::ptr::NonNull<u64>,
    _type: PhantomData<&'m T>,
    _brand: Brand<'h>,
}

impl<T> Clone for Gc<'_, '_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Gc<'_, '_, T> {}

impl<T> PartialEq for Gc<'_, '_, T> {
    /// Whether both point to the same closure.
    fn eq(&self, other: &Self) -> bool {
        self.closure == other.closure
    }
}
impl<T> Eq for Gc<'_, '_, T> {}

impl<T: Closure> std::fmt::Debug for Gc<'_, '_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gc<{}>({:p})", T::INFO.name, self.closure)
    }
}

impl<'m, 'h, T> Gc<'m, 'h, T> {
    /// # Safety
    /// `word` is the address of a closure of type `T` in heap `'h` that no collection moves during
    /// `'m`.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_word(word: u64) -> Self {
        debug_assert!(word != 0 && word.is_multiple_of(8));
        // SAFETY: closures do not lie at address zero.
        let closure = unsafe { std::ptr::NonNull::new_unchecked(word as *mut u64) };
        Gc {
            closure,
            _type: PhantomData,
            _brand: PhantomData,
        }
    }

    /// # Safety
    /// As [`Gc::from_word`], or `word` is 0.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn option_from_word(word: u64) -> Option<Self> {
        if word == 0 {
            None
        } else {
            // SAFETY: the caller vouches for words that are not null.
            Some(unsafe { Gc::from_word(word) })
        }
    }

    /// The word that a slot holds for this pointer.
    #[doc(hidden)]
    #[inline(always)]
    pub fn to_word(self) -> u64 {
        self.closure.as_ptr() as u64
    }

    /// The word that a slot holds for this pointer or null.
    #[doc(hidden)]
    #[inline(always)]
    pub fn option_to_word(this: Option<Self>) -> u64 {
        this.map_or(0, Gc::to_word)
    }

    #[inline(always)]
    pub(crate) fn closure(self) -> ClosureRef {
        ClosureRef(self.closure.as_ptr())
    }

    /// Word `index` of the payload, as memory that several threads may read and write.
    ///
    /// # Safety
    /// The closure has more than `index` words of payload.
    #[inline(always)]
    pub(crate) unsafe fn payload(self, index: usize) -> &'m Word {
        // SAFETY: the word lies inside the closure, which does not move during `'m`; all accesses
        // that may race are atomic.
        unsafe { shared_word(self.closure.as_ptr().add(1 + index)) }
    }
}

impl<'m, 'h, T: Closure> Gc<'m, 'h, T> {
    /// The info table of the closure: its kind, name and module.
    pub fn info(self) -> &'static TypeInfo {
        // SAFETY: a `Gc` points to a closure, and the mutator never sees a forwarded one.
        unsafe { self.closure().header().info() }
    }

    /// The same closure without its type.
    #[inline(always)]
    pub fn erase(self) -> Gc<'m, 'h, Any> {
        Gc {
            closure: self.closure,
            _type: PhantomData,
            _brand: PhantomData,
        }
    }

    /// Word `index` of the payload as the derive's accessors read it.
    ///
    /// # Safety
    /// `index` is the index of a field that `T::INFO` describes.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn read_word<M: MutatorKind, const MUTABLE: bool, const POINTER: bool>(
        self,
        m: &NoGc<'h, M>,
        index: usize,
    ) -> u64 {
        if !mutant!("profiles/reading-not-noted") {
            // SAFETY: a `Gc` leads to a closure.
            unsafe { m.used(self.closure()) };
        }
        // SAFETY: the caller vouches for the index.
        let word = unsafe { self.payload(index) };
        let loaded = if MUTABLE {
            // Acquire: a closure that another thread stored (with release) is seen initialised.
            word.load(Ordering::Acquire)
        } else {
            // Relaxed: written once, before the closure was published.
            word.load(Ordering::Relaxed)
        };
        if POINTER { read(m, word, loaded) } else { loaded }
    }

    /// Overwrites pointer `index` of the payload through the collector's write barrier.
    ///
    /// # Safety
    /// `index` is the index of a mutable pointer field of `T`, and `value` points to a closure of that
    /// field's type.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn write_pointer<M: MutatorKind, U>(self, m: &NoGc<'h, M>, index: usize, value: Option<Gc<'_, 'h, U>>) {
        // SAFETY: the caller vouches for the index.
        let word = unsafe { self.payload(index) };
        if !mutant!("profiles/writing-not-noted") {
            // SAFETY: a `Gc` leads to a closure.
            unsafe { m.used(self.closure()) };
        }
        let new = ClosureRef(Gc::option_to_word(value) as *mut u64);
        let slot = slot_of(word);
        if mutant!("concurrent/stored-before-noted") {
            word.store(new.0 as u64, Ordering::Release);
        }
        M::Barrier::write(
            m.capability(),
            self.closure(),
            slot,
            || word.load(Ordering::Relaxed),
            new,
        );
        // SAFETY: a slot of a closure; the value is null or a closure.
        unsafe { slot.publish(new) };
    }

    /// Atomically overwrites pointer `index` of the payload with `new` if it is `current`;
    /// otherwise returns the pointer.
    ///
    /// # Safety
    /// `index` is the index of a mutable pointer field of `T` to `U`s.
    #[inline(always)]
    pub(crate) unsafe fn compare_exchange_pointer<M: MutatorKind, U>(
        self,
        m: &'m NoGc<'h, M>,
        index: usize,
        current: Option<Gc<'_, 'h, U>>,
        new: Option<Gc<'_, 'h, U>>,
    ) -> Result<(), Option<Gc<'m, 'h, U>>> {
        // SAFETY: the caller vouches for the index.
        let word = unsafe { self.payload(index) };
        let (current, new) = (Gc::option_to_word(current), Gc::option_to_word(new));
        self.exchanging(m, word, new, || word.load(Ordering::Relaxed));
        // Release: as in `Slot::publish`. Acquire: the other closure is seen initialised, and a
        // thread whose exchange succeeds sees the writes before the closure was stored.
        match word.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            // SAFETY: every writer stores null or a pointer to a `U`.
            Err(found) => Err(unsafe { Gc::option_from_word(read(m, word, found)) }),
        }
    }

    /// Atomically overwrites pointer `index` of the payload and returns the old pointer.
    ///
    /// # Safety
    /// As [`Gc::compare_exchange_pointer`].
    #[inline(always)]
    pub(crate) unsafe fn swap_pointer<M: MutatorKind, U>(
        self,
        m: &'m NoGc<'h, M>,
        index: usize,
        new: Option<Gc<'_, 'h, U>>,
    ) -> Option<Gc<'m, 'h, U>> {
        // SAFETY: the caller vouches for the index.
        let word = unsafe { self.payload(index) };
        let new = Gc::option_to_word(new);
        if !mutant!("worlds/exchanged-first") {
            self.exchanging(m, word, new, || word.load(Ordering::Relaxed));
        }
        // Release and acquire: as in `compare_exchange_pointer`.
        let old = word.swap(new, Ordering::AcqRel);
        if mutant!("worlds/exchanged-first") {
            self.exchanging(m, word, new, || old);
        }
        // SAFETY: every writer stores null or a pointer to a `U`.
        unsafe { Gc::option_from_word(read(m, word, old)) }
    }

    /// Runs the write barrier before an exchange, as before a store: whoever logs the field first has the value
    /// from before. Another thread may exchange it in between. A value that it stores meanwhile is neither part of
    /// the snapshot nor the first of the epoch, and it ran the barrier itself. If the exchange fails, nothing
    /// changes.
    #[inline(always)]
    fn exchanging<M: MutatorKind>(self, m: &NoGc<'h, M>, word: &Word, new: u64, old: impl FnOnce() -> u64) {
        // SAFETY: a `Gc` leads to a closure.
        unsafe { m.used(self.closure()) };
        M::Barrier::write(
            m.capability(),
            self.closure(),
            slot_of(word),
            || mutant!("concurrent/exchange-not-noted", old() => new),
            ClosureRef(new as *mut u64),
        );
    }
}

/// The pointer that a mutator gets when it has loaded this one from `word`.
#[inline(always)]
fn read<M: MutatorKind>(m: &NoGc<'_, M>, word: &Word, loaded: u64) -> u64 {
    let closure = ClosureRef(loaded as *mut u64);
    M::Barrier::read(m.capability(), slot_of(word), closure).0 as u64
}

#[inline(always)]
fn slot_of(word: &Word) -> Slot {
    Slot(std::ptr::from_ref(word).cast::<u64>().cast_mut())
}

/// A closure whose type is not known statically.
#[derive(Debug)]
pub struct Any(());

static ANY: TypeInfo = TypeInfo::fixed(crate::closure::Kind::Constr, "Any", "gclab_core", 0, 0);

// SAFETY: nothing allocates an `Any` or reads a payload through it; the table only names it.
unsafe impl Closure for Any {
    const INFO: &'static TypeInfo = &ANY;
}

/// A type that its info table identifies: no other Rust type has that table.
///
/// # Safety
/// `is_described_by` is true of the tables in headers of this type's closures, and of no table of
/// another type.
pub unsafe trait Distinct: Closure {
    /// Whether closures with this table have exactly this type: an array of trees is not an array
    /// of [`Any`], in which anything could be stored.
    #[inline(always)]
    fn is_described_by(info: &'static TypeInfo) -> bool {
        std::ptr::eq(info, Self::INFO)
    }
}

// SAFETY: no other type has this table. (No closure has it either; tables of arrays of anything
// name it.)
unsafe impl Distinct for Any {}

impl<'m, 'h> Gc<'m, 'h, Any> {
    /// The closure as a `T`, if that is the type it was made with, which is never `Any`.
    #[inline]
    pub fn downcast<T: Distinct>(self) -> Option<Gc<'m, 'h, T>> {
        T::is_described_by(self.info()).then_some(Gc {
            closure: self.closure,
            _type: PhantomData,
            _brand: PhantomData,
        })
    }
}
