//! The heap of gclab: blocks, closures, the mutator API, the Collector trait and what collectors are made of

pub mod flags;
pub mod stats;
pub mod words;
