//! `#[derive(Closure)]`: layouts of heap closures from Rust structs.
//!
//! For a struct `Tree` with named fields, each a `Field` of `gclab_core::closure`, the derive
//! writes
//!
//! - `impl Closure for Tree`, with an info table that has the numbers of pointers and words, and
//!   names;
//! - `TreeInit`, the initial value of a `Tree`, and `Tree::new(...)` that makes one from all fields
//!   in order;
//! - a trait `TreeFields`, implemented for `Gc<Tree>`. It has a method per field that reads it and,
//!   for each `Mut` field, a method `set_<field>` that writes it through the collector's barrier.
//!   Each takes a view of the mutator, `&NoGc`, first.
//!
//! Pointers come first in the payload, for any order of the fields. The struct itself never exists
//! as a Rust value. `#[closure(name = "...")]` sets another name for profiles than the struct's.
//!
//! The written code contains `unsafe`. `docs/safety.md` states the assumption behind its promise.

#![forbid(unsafe_code)]

mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct a type of heap closures. The crate's documentation has the details.
#[proc_macro_derive(Closure, attributes(closure))]
pub fn derive_closure(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
