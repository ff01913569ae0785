//! Tests of the traversal, and of the checker on sound heaps. (The mutants of the collectors' tests
//! make unsound ones.)

mod biography;
mod checker;
mod dominators;
mod graphs;
mod large;
mod live;
mod map;
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

fn config(generations: u32) -> Config {
    Config {
        allocation_area: Bytes(64 << 10),
        reserve: Bytes(4 << 30),
        generations,
        ..Config::default()
    }
}
