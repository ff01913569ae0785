//! Derived code means the same whatever names and macros a program has.

use crate::basics::config;
use gclab_collectors::Copying;
use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::mutator::{ByteArray, Request};
use gclab_core::world::World;

/// Constants with the names of derived code, on every type. Derived code that looked a name up in a
/// type parameter would find these, and read or write arbitrary words. (It does not, so they are
/// unused.)
#[allow(dead_code)]
trait Misleading {
    const __PLACE: [usize; 2] = [1, 1];
    const PLACES: &'static [usize] = &[1, 1];
    const POINTERS: usize = 0;
}
impl<T> Misleading for T {}

/// Makes a test with structs of these names.
macro_rules! structs_of_the_names {
    ($($name:ident)*) => {
        $(
            #[derive(Closure)]
            #[allow(non_camel_case_types, dead_code, clippy::upper_case_acronyms)]
            struct $name {
                number: u64,
                bytes: Mut<ByteArray>,
            }
        )*

        #[test]
        fn a_struct_may_be_named_like_a_parameter_of_derived_code() {
            let world = World::new::<Copying>(&config::<Copying>(64 << 10)).expect("a small heap");
            let session = world.enter(|m| {
                $(
                    m.frame(|m, [bytes]| {
                        let bytes = bytes.put(m.alloc_bytes(b"hello"));
                        let (m, it) = m.alloc_with(|m| $name::new(0x4141_4141_4140, Some(bytes.get(m))));
                        assert!(it.bytes(m) == Some(bytes.get(m)), stringify!($name));
                        it.set_bytes(m, None);
                        assert_eq!((it.bytes(m), it.number(m)), (None, 0x4141_4141_4140), stringify!($name));
                    });
                )*
            });
            assert_eq!(session, Ok(()));
        }
    };
}

structs_of_the_names! { __C __M C M T Field Layout INFO }

macro_rules! pointer_to {
    ($what:ty) => {
        Ptr<$what>
    };
}

#[derive(Closure)]
#[allow(dead_code)]
struct Mixed {
    number: u64,
    bytes: pointer_to!(ByteArray),
}

#[test]
fn the_type_of_a_field_may_be_a_macro() {
    let world = World::new::<Copying>(&config::<Copying>(64 << 10)).expect("a small heap");
    let session = world.enter(|m| {
        m.frame(|m, [mixed]| {
            let mixed = m.frame(|m, [bytes]| {
                let bytes = bytes.put(m.alloc_bytes(b"hello"));
                mixed.put(m.alloc(|m| Mixed::new(7, bytes.get(m))))
            });
            m.collect(Request::Full);
            let mixed = mixed.get(m);
            assert_eq!((mixed.number(m), mixed.bytes(m).as_slice()), (7, &b"hello"[..]));
        });
    });
    assert_eq!(session, Ok(()));
}
