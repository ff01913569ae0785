//! Sweeps beyond one machine: scripts that start the shards of a plan, and `merge`, which joins
//! their folders.
//!
//! A shard is a `gclab run --shard I/N` in a folder of its own. It needs no scheduler and knows
//! none: the script of [`script`] names its command, and the same command again continues it.

pub mod merge;
mod parts;
pub mod script;
mod troubles;

#[cfg(test)]
mod tests;
