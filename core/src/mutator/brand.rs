//! The brand of a session: a lifetime that matches no other.

use std::marker::PhantomData;

/// Invariant in `'h`: the brand of one session in one heap.
pub(crate) type Brand<'h> = PhantomData<fn(&'h ()) -> &'h ()>;
