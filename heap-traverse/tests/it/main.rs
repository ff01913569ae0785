//! Tests of the traversal, and of the checker on sound heaps. (The mutants in the collectors' tests
//! make unsound ones.)

mod biography;
mod checker;
mod dominators;
mod graphs;
mod large;
mod life;
mod live;
mod map;
#[path = "../../../docs/examples/mark_sweep/src/mark_sweep.rs"]
mod mark_sweep;
mod profiles;
mod random;
mod side_words;
mod time_profile;
mod traversal;

use gclab_core::closure::{Closure, Mut};
use gclab_core::config::Config;
use gclab_core::words::Bytes;

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    value: u64,
    left: Mut<Node>,
    right: Mut<Node>,
}

/// Every collector of gclab, and one that moves nothing and leaves holes before its closures.
type Collectors = (mark_sweep::MarkSweep, gclab_collectors::All);

fn config(generations: u32) -> Config {
    Config {
        allocation_area: Bytes(64 << 10),
        reserve: Bytes(4 << 30),
        generations,
        ..Config::default()
    }
}
