//! The parts of the collector `ocaml`.

mod pace;
mod policies;
mod probe;
