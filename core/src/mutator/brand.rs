//! The brand of a stay: a lifetime that no other one fits.

use std::marker::PhantomData;

/// Invariant in `'h`: the brand of one stay in one heap.
pub(crate) type Brand<'h> = PhantomData<fn(&'h ()) -> &'h ()>;
