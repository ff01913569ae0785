//! Should collections be parallel, and from which generation? The answer of a sweep over `-qg` or
//! `-N`.
//!
//! Terms: the *sharing flags* (`-qg -qb -qn`) say how collections are shared among threads and
//! nothing else. A *family* is the configurations of a workload that differ only in these. Its
//! *base* is the one with parallel collection off, or, where the sweep has none, that with one
//! capability (which for programs with several threads measures their threads, too). The other
//! configurations are *on*. A configuration that is on may share no collection at all: that is its
//! own choice, and its result counts. `docs/parallel-collection.md` explains the figures to users.

mod advice;
mod charts;
mod effect;
mod families;

#[cfg(test)]
pub(crate) use advice::Advice;
pub(crate) use advice::{Case, advice};
pub(crate) use charts::charts;
#[cfg(test)]
pub(crate) use effect::Effect;
pub(crate) use families::{SHARING_FLAGS, decisions, is_on, time_shares};
