//! Tests of every collector of the registry.

mod basics;
mod mutants;
mod misuse;
mod random;
