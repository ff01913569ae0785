//! The reader against small snapshots made here, one real snapshot, and damage of all kinds.

mod build;
mod damage;
mod ghc;
mod hprof;
mod interpret;
mod random;
mod real;
mod versions;
