//! Who reaches what: for each closure the set of labels that reach it, however many labels there are, in two visits of each.
//!
//! A root brings a label; a closure passes its set on to what it points to, or, if it is a *source*, one label in the place of that. The
//! set of a closure is the union of what roots and other closures pass to it: the least solution of these equations. Retainers are sources that pass
//! on themselves; named roots bring their names, and there are no sources. GHC's retainer profiler walks below a closure again for each retainer that
//! is added to it, its proposed root profiler for each root; here
//!
//! 1. the first traversal finds which closures are *shared*, reached more than once;
//! 2. the second divides the heap into *regions*. A shared closure begins one, and so do all that is passed one label by sources. A closure that is
//!    reached once belongs to the region of what reaches it, since it has that one's set. Pointers between regions are noted as *flows*, those that
//!    follow each other between the same two as one;
//! 3. sets are passed on along flows, once for each (`reach/spread.rs`), and regions that flow into each other in a circle have one (`reach/cycles.rs`). Sets
//!    are kept once each (`sets.rs`), so that most unions compare two numbers.
//!
//! So each closure is visited twice and each pointer followed twice, whatever the number of labels. Where there are no sources, what most roots reach in
//! common is found before that, and visited once (`reach/common.rs`). [`Reach::visits`] counts the visits, and tests hold it against the bounds. Memory: 2/64 of the heap for bits, 4 bytes
//! for each shared closure's word, and 24 bytes for each region, 12 for each flow, 4 more for each flow in a circle. Sets that occur are few; if every closure
//! had another one, they would be as large as the answer.

mod common;
mod cycles;
mod flow;
mod regions;
mod spread;

pub(super) use common::COMMON;
pub(super) use flow::Region;
pub(super) use regions::{Reach, Sources};
