//! Derived code does not depend on what the names around it mean.

#![no_implicit_prelude]
#![deny(warnings)]
#![allow(dead_code, non_camel_case_types, unreachable_pub, unused_imports, unused_macros)]

use ::gclab_core::closure::Closure;
use ::gclab_core::closure::{Mut, Ptr};

// Names that derived code uses, with another meaning here.
pub struct Option;
pub struct Some;
pub struct Gc;
pub struct Field;
pub struct NoGc;
pub struct Collector;
pub trait Copy {}
pub trait Init {}
pub type u64 = ();
pub type usize = ();
pub type bool = ();
macro_rules! stringify {
    () => {};
}
macro_rules! module_path {
    () => {};
}
pub(crate) use {module_path, stringify};

/// Fields named like methods that derived code calls.
#[derive(Closure)]
pub struct Names {
    pub words: ::core::primitive::u64,
    new: ::core::primitive::u64,
    word: ::core::primitive::u64,
    write: Mut<Names>,
    r#type: Mut<Names>,
    payload: Ptr<Names>,
    m: Mut<Names>,
    value: Mut<Names>,
    f: ::core::primitive::bool,
    index: ::core::option::Option<Ptr<Names>>,
}

#[derive(Closure)]
pub struct r#struct {
    r#fn: Mut<r#struct>,
}

#[derive(Closure)]
struct NoFields {}

#[derive(Closure)]
struct Unit;

// Named like a type parameter of derived code.
#[derive(Closure)]
pub struct C {
    next: Mut<C>,
}

mod private {
    use ::gclab_core::closure::Closure;

    #[derive(Closure)]
    pub(crate) struct InCrate {
        pub(super) field: ::core::primitive::u64,
    }

    #[derive(Closure)]
    pub(super) struct InModule {
        field: ::core::primitive::u64,
    }

    #[derive(Closure)]
    pub(in super::private) struct Here {
        field: ::core::primitive::u64,
    }
}

#[::core::prelude::v1::test]
fn derived_code_ignores_other_meanings_of_names() {
    let _ = private::InCrate::new(1);
    let _ = private::InModule::new(1);
    let _ = NoFields::new();
    let _ = Unit::new();
    // A Rust value of the type is harmless: no pointer leads to it, and nothing reads it as a
    // closure.
    let _ = NoFields {};
}
