//! The types used inside a world are neither `Send` nor `Sync`; handles are both. (`check` is
//! ambiguous for a type that has the property.)

#![allow(dead_code)]

use gclab_core::closure::Closure;
use gclab_core::closure::Ptr;
use gclab_core::mutator::{FrameSlot, Gc, Handle, MutVar, Mutator, MutatorKind, NoGc, OptionRoot, Root, WeakHandle};

trait NotSend<A> {
    fn check() {}
}
impl<T: ?Sized> NotSend<()> for T {}
impl<T: ?Sized + Send> NotSend<u8> for T {}

trait NotSync<A> {
    fn check() {}
}
impl<T: ?Sized> NotSync<()> for T {}
impl<T: ?Sized + Sync> NotSync<u8> for T {}

fn both<T: Send + Sync>() {}

#[derive(Closure)]
struct Tree {
    left: Option<Ptr<Tree>>,
}

macro_rules! neither {
    ($($t:ty),*) => {$( <$t as NotSend<_>>::check(); <$t as NotSync<_>>::check(); )*};
}

fn of_a_session<M: MutatorKind>() {
    neither! {
        Mutator<'_, M>, NoGc<'_, M>, Gc<'_, '_, Tree>, FrameSlot<'_, '_>, Root<'_, '_, Tree>,
        OptionRoot<'_, '_, Tree>, TreeInit<'_, '_>, Gc<'_, '_, MutVar<Tree>>
    }
}

fn handles_cross_threads() {
    both::<Handle<Tree>>();
    both::<WeakHandle<Tree>>();
}
