//! The `send_wrapper` crate makes any type `Send` without `unsafe` on the user's part. The roots
//! would be set during a collection.

use gclab_core::mutator::{Any, Mutator, MutatorKind};

/// As in that crate, the value is used on its own thread only, so the promise holds.
struct SendWrapper<T>(T);
// SAFETY: see above.
unsafe impl<T> Send for SendWrapper<T> {}

fn misuse<M: MutatorKind>(m: &mut Mutator<'_, M>) {
    m.frame(|m, slots: [_; 64]| {
        let slots = slots.map(|slot| slot.put_option::<Any>(m, None));
        let wrapped = SendWrapper((&slots, &*m));
        m.blocking(move || {
            let SendWrapper((slots, view)) = wrapped;
            slots.iter().for_each(|slot| slot.set(view, None));
        });
    });
}

fn main() {}
