//! The heap of gclab: blocks, closures, the mutator API, the Collector trait and what collectors are made of

pub mod block;
pub mod flags;
pub mod memory;
pub mod stats;
pub mod words;
