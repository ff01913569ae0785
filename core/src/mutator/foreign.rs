//! Closures that own memory outside the heap (GHC's `ForeignPtr`, OCaml's custom blocks).
//!
//! A [`Foreign`] closure owns a value of any Rust type, outside the heap. The value is dropped once
//! a collection has found the closure dead: by a mutator, at its next slow path, or with the world.
//! The program says how many bytes the value takes. The heap counts them, and they may make the
//! collector work faster ([`Collect::foreign`](crate::collector::Collect::foreign)).

use super::{Gc, Init, Mutator, NoGc};
use crate::closure::{Closure, Kind, TypeInfo};
use crate::kind::MutatorKind;
use crate::sync::Arc;
use crate::words::Bytes;
use std::marker::PhantomData;

/// A closure that owns a value outside the heap.
#[derive(Debug)]
pub struct Foreign<V>(PhantomData<V>);

static FOREIGN: TypeInfo = TypeInfo::fixed(Kind::Constr, "Foreign", "gclab_core", 0, 1);

// SAFETY: `ForeignInit` writes one word that is not a pointer to a closure. (All values have this
// table, so the type is not `Distinct`: no other pointer becomes one of this type.)
unsafe impl<V: 'static> Closure for Foreign<V> {
    const INFO: &'static TypeInfo = &FOREIGN;
}

/// The address of the value.
struct ForeignInit<V>(u64, PhantomData<V>);

// SAFETY: it writes the one word of `FOREIGN`.
unsafe impl<V: 'static> Init<'_> for ForeignInit<V> {
    type Object = Foreign<V>;
    const WORDS: usize = 2;
    unsafe fn write(self, payload: *mut u64) {
        // SAFETY: there is room for a word.
        unsafe { payload.write(self.0) };
    }
}

impl<'h, M: MutatorKind> Mutator<'h, M> {
    /// Allocates a closure that owns `value`, which takes `bytes` bytes outside the heap. The value
    /// is dropped when its closure has died; it should own no handle that leads to the closure. May
    /// collect, as [`Mutator::alloc`].
    ///
    /// ```
    /// # use gclab_core::{mutator::MutatorKind, world::World};
    /// # fn program<M: MutatorKind>(world: &World<M>) -> Result<(), Box<dyn std::error::Error>> {
    /// use gclab_core::words::Bytes;
    ///
    /// world.enter(|m| {
    ///     let pixels = vec![0_u8; 1000];
    ///     let (view, picture) = m.with_view(|m| m.alloc_foreign(pixels, Bytes(1000)));
    ///     let picture = view.handle(picture);
    ///     assert_eq!(picture.open(m).value(m).len(), 1000);
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn alloc_foreign<'m, V: Send + Sync + 'static>(&'m mut self, value: V, bytes: Bytes) -> Gc<'m, 'h, Foreign<V>> {
        let value = Arc::new(value);
        let (world, session) = self.session();
        if world.foreign(session, bytes) {
            self.run_finalisers();
        }
        let address = Arc::as_ptr(&value).expose_provenance() as u64;
        let (m, closure) = self.alloc_with(|_| ForeignInit(address, PhantomData::<V>));
        // There has been no collection since, so the address is the closure's.
        m.world().own_foreign(closure.to_word(), value, bytes);
        closure
    }
}

impl<'m, 'h, V: Send + Sync + 'static> Gc<'m, 'h, Foreign<V>> {
    /// The value that the closure owns.
    pub fn value<M: MutatorKind>(self, m: &NoGc<'h, M>) -> &'m V {
        // SAFETY: the payload has one word, which is not a pointer to a closure.
        let address = unsafe { self.read_word::<M, false, false>(m, 0) };
        let value = std::ptr::with_exposed_provenance::<V>(address as usize);
        // SAFETY: the address of the `V` that was given to `alloc_foreign`. The world keeps it
        // until a collection has found the closure dead, and there is none for `'m`.
        unsafe { &*value }
    }
}
