//! The collectors of gclab, one folder each, and their registry.
//!
//! A collector is a struct of spaces and one function `collect`, written against
//! [`gclab_core::collector::Collector`]. To register one, put it into [`All`]: the command line,
//! the names in experiment files, the tests and the docs follow.

mod compacting;
pub mod concurrent;
mod copying;
mod immix;
mod mark_sweep;
pub mod nonmoving;
pub mod ocaml;
mod two_space;

pub use compacting::Compacting;
pub use copying::{Copying, Generational, Parallel};
pub use immix::{Concurrent, GenImmix, Immix, Lxr, StickyImmix};
pub use mark_sweep::MarkSweep;
pub use nonmoving::Nonmoving;
pub use ocaml::Ocaml;
pub use two_space::TwoSpace;

/// Every collector.
pub type All = (
    TwoSpace,
    (
        Copying,
        (
            Parallel,
            (
                Compacting,
                (
                    MarkSweep,
                    (
                        Immix,
                        (StickyImmix, (GenImmix, (Concurrent, (Lxr, (Nonmoving, (Ocaml, ())))))),
                    ),
                ),
            ),
        ),
    ),
);
