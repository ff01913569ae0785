//! The parts of the collector `ocaml`.

mod exhausted;
mod pace;
mod policies;
mod probe;
mod slices;
