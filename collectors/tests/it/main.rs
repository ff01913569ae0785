//! Tests of every collector of the registry.

mod basics;
mod causes;
mod compacting;
mod derived_names;
mod exchange;
mod faults;
mod measured;
mod memory;
mod misuse;
mod mutants;
mod parallel;
mod random;
mod sizing;
mod small;
mod stress;
mod threads;
mod two_threads;
