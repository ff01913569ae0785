//! The programs that are compiled with this crate: every workload of gclab, for each kind of
//! mutators that gclab's collectors have.
//!
//! A crate with a list of collectors finds these programs here. It compiles only what is missing:
//! its own workloads, and every workload for a kind that is not here. No collector is known here,
//! so changing a collector recompiles no program.
//!
//! This works because the large functions ([`crate::execute`]) are `#[inline(never)]`: rustc does
//! not compile such a function again if an upstream crate has done so for the same types.
//! `.ci/programs` counts the programs of the `gclab` command.

use gclab_core::collector::{Bump, Cells, Chosen, Direct, GenerationalBarrier, NoBarrier, Observed};
use gclab_core::mutator::MutatorKind;

use crate::execute::{Start, by_name};

/// All workloads of gclab for mutators of kind `M`.
const fn all<M: MutatorKind>() -> Start<Chosen<M>> {
    by_name::<M, gclab_workloads::All>
}

/// Collectors that need no barrier.
#[used]
static WITHOUT_BARRIER: Start<Chosen<Direct<Bump, NoBarrier>>> = all();

/// Collectors with generations.
#[used]
static GENERATIONAL: Start<Chosen<Direct<Bump, GenerationalBarrier>>> = all();

/// Collectors that leave closures in cells, and collect everything each time.
#[used]
static IN_CELLS: Start<Chosen<Direct<Cells, NoBarrier>>> = all();

/// Profiled runs under any collector.
#[used]
static OBSERVED: Start<Chosen<Observed>> = all();
