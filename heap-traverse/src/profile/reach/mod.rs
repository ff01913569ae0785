//! Reachability by labels: for each closure the set of labels that reach it, however many labels
//! there are, in two visits of each closure.
//!
//! A root brings a label. A closure passes its set on to the closures that it points to. A *source*
//! passes on one label instead. The set of a closure is the union of the sets that roots and other
//! closures pass to it: the least solution of these equations. Retainers are sources that pass on
//! themselves. Named roots bring their names, and there are no sources. GHC's retainer profiler
//! walks below a closure again for each retainer that is added to it, and its proposed root
//! profiler for each root. Here
//!
//! 1. the first traversal finds the *shared* closures, which are reached more than once;
//! 2. the second divides the heap into *regions* (`regions.rs`). A shared closure begins a region.
//!    All closures that sources pass one label to are one region too. A closure that is reached
//!    once belongs to the region of the closure that reaches it, since both have one set. Pointers
//!    between regions are noted as *flows*. Pointers that follow each other between the same two
//!    regions are one flow;
//! 3. sets are passed on along flows, once for each flow (`spread.rs`). Regions that flow into each
//!    other in a cycle share one set (`cycles.rs`). Each set is kept once (`sets.rs`), so that most
//!    unions compare two numbers.
//!
//! So each closure is visited twice and each pointer followed twice, for any number of labels. If
//! there are no sources, the part that most roots reach in common is found first, and visited once
//! (`common.rs`). [`Reach::visits`] counts the visits, and tests compare it with the bounds.
//! Memory: 2/64 of the heap for bits, 4 bytes for each shared closure's word, 24 bytes for each
//! region, 12 for each flow, and 4 more for each flow in a cycle. Few sets occur. If every closure
//! had a different set, the sets would be as large as the answer.

mod common;
mod cycles;
mod flow;
mod regions;
mod spread;

pub(super) use common::COMMON;
pub(super) use flow::Region;
pub(super) use regions::{Reach, Sources};
